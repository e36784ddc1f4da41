//! What came first: logical clocks, as plain values.

mod lamport;
mod vector;

pub use lamport::{Lamport, Stamp};
pub use vector::Vector;
