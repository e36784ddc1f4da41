//! The quorum calculator: how likely two are let in when coordinators forget, by formula and from
//! runs of the real algorithm.

mod case;
mod window;

pub use case::Case;
pub use window::{Estimate, estimate, is_violated};
