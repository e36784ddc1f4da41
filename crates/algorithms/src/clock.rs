//! What came first: logical clocks at work.

pub mod example;
pub mod hybrid;
pub mod lamport;
pub mod matrix;
pub mod timekeeper;
pub mod vector;
