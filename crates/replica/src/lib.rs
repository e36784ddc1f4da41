//! The replicated lock table: a consensus log (Raft, by openraft), snapshots, leases and members.
//!
//! This is the only crate that names openraft. Its face is [`Replica`]: start, propose, renew, read,
//! call, members.

mod face;
pub mod raft_types;

pub use face::{
    Call, CallError, Committed, Entry, Founder, Member, NotProposed, Observer, Replica,
    ReplicaConfig, ReplicaError, Role, Server, Status, Timing,
};
