//! Locks and leaderships of a Conclave cluster, from Rust.

pub mod api;
