//! The data directory of a replicated node: what it keeps, and what it refuses.
#![allow(clippy::unwrap_used, reason = "the helpers of tests may fail like tests")]

mod directory;
mod full;
mod kit;
mod machine;
mod measure;
mod model;
mod snapshot;
mod suite;
mod torn;
