//! What the nodes of an ad hoc network tell each other, and the waves that they speak of.

use crate::election::rank::Rank;
use conclave_core::{Named, NodeId};
use serde::{Deserialize, Serialize};

/// What the nodes tell each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Message {
    /// Join this wave.
    Election(Wave),
    /// The answer to an `ELECTION`.
    Ack {
        /// The number of the wave.
        number: u32,
        /// Its source.
        source: NodeId,
        /// The best rank among the sender and those it brought into the wave; none if it is no
        /// child of the receiver.
        best: Option<Rank>,
        /// The greatest counter of a term that they know.
        counter: u32,
    },
    /// The wave is over, and this node leads.
    Leader {
        /// The number of the wave.
        number: u32,
        /// Its source.
        source: NodeId,
        /// The leader.
        leader: Rank,
        /// The counter of its term.
        counter: u32,
    },
}

impl Named for Message {
    fn name(&self) -> &'static str {
        match self {
            Self::Election(_) => "ELECTION",
            Self::Ack { .. } => "ACK",
            Self::Leader { .. } => "LEADER",
        }
    }
}

/// A wave, in the order in which waves are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Wave {
    /// One more than its source had met.
    pub number: u32,
    /// The node that began it.
    pub source: Rank,
}
