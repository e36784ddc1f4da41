//! The replicated lock table: a consensus log (Raft, by openraft), snapshots, leases and members.
//!
//! This is the only crate that names openraft. Its face is [`Replica`]: start, propose, renew,
//! read, call, members.

mod agreement;
mod backup;
pub mod disk;
mod face;
mod founding;
mod host;
mod lease;
mod members;
mod node;
mod numbers;
mod quick_election;
mod raft;
pub mod raft_types;
mod replica;
pub mod state_hashes;
pub mod state_machine;
mod status;
mod watches;

pub use backup::{Restore, is_undated, restore};
pub use face::{
    Call, CallError, Committed, Entry, Founder, Member, NotChanged, NotProposed, Observer,
    ReplicaConfig, ReplicaError, Role, Server, Status, Timing,
};
pub use host::{Clock, Host, Reading};
pub use numbers::{Health, Numbers, SnapshotNumbers};
pub use replica::{Boxed, Replica};
