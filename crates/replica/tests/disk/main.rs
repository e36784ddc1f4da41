//! The data directory of a replicated node: what it keeps, and what it refuses.

mod directory;
mod full;
mod kit;
mod machine;
mod measure;
mod model;
mod snapshot;
mod suite;
mod torn;
