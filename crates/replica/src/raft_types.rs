//! The types of the consensus engine: what its log holds, who its nodes are, what applying answers.

use conclave_table::{Applied, Change, LeaseTime};
use serde::{Deserialize, Serialize};
use std::fmt;

openraft::declare_raft_types!(
    /// Raft as Conclave uses it.
    pub TypeConfig:
        D = Stamped,
        R = Option<Applied>,
        NodeId = u64,
        Node = MemberNode,
        AsyncRuntime = crate::raft::runtime::Runtime,
);

/// A change of the table with the lease clock of the leader that proposed it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamped {
    /// The lease clock.
    pub lease_time: LeaseTime,
    /// The change.
    pub change: Change,
}

impl fmt::Display for Stamped {
    /// Not the change itself: what is printed ends up in logs, and sessions are secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a change at {}", self.lease_time.0)
    }
}

/// A member as the replicated membership has it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct MemberNode {
    /// The random number of its disk.
    pub disk: u128,
    /// `host:port` of its links.
    pub peer: String,
    /// `host:port` of its API.
    pub api: String,
}

impl fmt::Display for MemberNode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.peer)
    }
}
