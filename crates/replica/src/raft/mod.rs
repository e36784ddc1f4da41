//! Raft: the consensus engine (openraft), its settings, its network and its server.

mod commits;
pub mod config;
pub mod message;
pub mod network;
pub mod pacing;
pub mod rollback;
pub mod runtime;
mod sent;
pub mod serve;
pub mod snapshots;
pub mod vetting;

use crate::raft_types::TypeConfig;
use crate::state_machine::StateMachine;
use openraft::type_config::alias::{LogIdOf, VoteOf};

/// The consensus engine of this node.
pub type Raft = openraft::Raft<TypeConfig, StateMachine>;
/// The place of an entry: term, leader, index.
pub type LogId = LogIdOf<TypeConfig>;
/// A vote, and whether a majority gave it.
pub type Vote = VoteOf<TypeConfig>;
