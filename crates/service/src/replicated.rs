//! The replicated engine: locks and leaderships on a consensus log, the same at every node.
//!
//! A request comes to any node. It becomes a [`conclave_table::Change`] (`words`), which the node
//! that leads puts into the log (`execute`); from another node it takes one hop to there (`hop`),
//! and is looked at anew (`vetting`). Whoever has to wait is parked at the leader (`waits`) until
//! the table, as this node applies the log (`observer`), says what became of it. Answers are the
//! table's, in the words of the API (`answers`); what people look at is in `views` and `explain`.
//!
//! Nothing here decides anything: who gets what is decided by the table alone.

mod acquire;
mod answers;
mod audited;
mod caller;
mod commands;
mod deserted;
mod engine;
mod events;
mod execute;
mod explain;
mod hop;
mod members;
mod metrics;
mod observer;
mod peers;
mod questions;
mod ready;
mod sights;
mod stream;
mod vetting;
mod views;
mod waits;
mod words;

pub use engine::{EngineConfig, ReplicatedEngine};
