//! Logical clocks (Lamport, vector, matrix, hybrid), as plain values: what came first.

mod hybrid;
mod lamport;
mod matrix;
mod stamp;
mod vector;

pub use hybrid::Hybrid;
pub use lamport::{Lamport, Stamp};
pub use matrix::Matrix;
pub use stamp::{Refusal, Time};
pub use vector::Vector;

/// No honest clock gets this far. A message that claims so is refused, and what is left of the
/// numbers is enough for all events of one's own.
pub const LIMIT: u64 = 1 << 62;
