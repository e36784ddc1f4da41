//! The replicated lock table: a consensus log (Raft, by openraft), snapshots, leases and members.
//!
//! This is the only crate that names openraft. Its face is [`Replica`]: start, propose, renew, read,
//! call, members.

pub mod disk;
mod face;
pub mod raft_types;
pub mod state_hashes;
pub mod state_machine;

pub use face::{
    Call, CallError, Committed, Entry, Founder, Member, NotProposed, Observer, Replica,
    ReplicaConfig, ReplicaError, Role, Server, Status, Timing,
};
