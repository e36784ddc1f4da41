//! Logical clocks at work (Lamport, vector, matrix, hybrid): what came first.

pub mod example;
pub mod hybrid;
pub mod lamport;
pub mod matrix;
pub mod timekeeper;
pub mod vector;
