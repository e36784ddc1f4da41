//! Leader election: who leads, and in which term.

mod monitor;

pub use monitor::Monitor;

use crate::{NodeId, Service, detector};
use serde::{Deserialize, Serialize};

/// The leader election service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Election {}

/// What may be asked of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Request {
    /// Hold an election.
    Campaign,
    /// This node is about to leave. If it leads, it hands over to another at once; an election in
    /// which nobody can do so passes it over, and the others elect when they miss the leader.
    Resign,
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

/// What a detector below says, passed on.
impl From<detector::Indication> for Indication {
    fn from(told: detector::Indication) -> Self {
        match told {
            detector::Indication::Suspect(node) => Self::Suspect(node),
            detector::Indication::Trust(node) => Self::Trust(node),
        }
    }
}

impl Service for Election {
    type Request = Request;
    type Indication = Indication;
}
