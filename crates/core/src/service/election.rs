//! Leader election: who leads, and in which term.

mod monitor;

pub use monitor::Monitor;

use crate::{NodeId, Oracle, Service};
use serde::{Deserialize, Serialize};

/// The leader election service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Election {}

/// What may be asked of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Request {
    /// Hold an election.
    Campaign,
}

/// What it tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Indication {
    /// This node leads. Terms are never reused and order all leaderships.
    Elected {
        /// Who.
        leader: NodeId,
        /// In which term.
        term: u64,
    },
    /// Passed on from the detector below: this node seems to have crashed.
    Suspect(NodeId),
    /// Passed on from the detector below: it does not any more.
    Trust(NodeId),
    /// This very node led in that term, and must no longer act as if it did: a majority may follow
    /// somebody else by now.
    Deposed {
        /// The term in which it led.
        term: u64,
    },
}

impl Service for Election {
    type Request = Request;
    type Indication = Indication;
}

impl Oracle for Election {
    fn suspect(node: NodeId) -> Option<Indication> {
        Some(Indication::Suspect(node))
    }
    fn trust(node: NodeId) -> Option<Indication> {
        Some(Indication::Trust(node))
    }
    fn elected(leader: NodeId, term: u64) -> Option<Indication> {
        Some(Indication::Elected { leader, term })
    }
}

/// How an oracle that knows everything picks leaders, in place of a real election.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Rule {
    /// As an election by majority would: a leader is replaced only when a majority of all nodes
    /// suspect it, and only a node that this majority can reach replaces it.
    Majority,
    /// As bully and ring do: each node follows the highest node that it does not suspect, so
    /// suspicions that differ make leaders that differ.
    Highest,
}
