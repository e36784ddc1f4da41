//! Leases: the replicated lease clock, and the leader's loop that stamps, renews and expires.

mod agenda;
mod answers;
mod clock;
mod proposer;
mod settled;

pub use clock::Reading;
pub use proposer::{Leading, Proposer, Proposing};
