//! The data directory of a replicated node: what it keeps, and what it refuses.

mod kit;
mod model;
mod suite;
mod torn;
