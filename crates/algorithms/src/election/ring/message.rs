//! What the nodes of a ring election say.

use conclave_core::{Named, NodeId};
use serde::{Deserialize, Serialize};

/// What nodes say.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Message {
    /// Who is alive?
    Election {
        /// The greatest number of a round that the list has met.
        counter: u64,
        /// Those it has passed, in order.
        list: Box<[NodeId]>,
    },
    /// Somebody leads.
    Coordinator(Announcement),
}

impl Named for Message {
    fn name(&self) -> &'static str {
        match self {
            Self::Election { .. } => "ELECTION",
            Self::Coordinator(_) => "COORDINATOR",
        }
    }
}

/// The result of a round.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Announcement {
    /// The number of the round.
    pub round: u64,
    /// Who leads.
    pub leader: NodeId,
    /// Who closed the round.
    pub origin: NodeId,
    /// Those that were found alive.
    pub list: Box<[NodeId]>,
}
