//! What nodes on Chang and Roberts' ring say.

use conclave_core::{Named, NodeId};
use serde::{Deserialize, Serialize};

/// What a node tells the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Message {
    /// Is anybody greater?
    Election {
        /// The id that seeks its way home.
        id: u64,
        /// How many hops it has made, this one included.
        hops: u32,
        /// The number of this election.
        round: u32,
    },
    /// Nobody is.
    Elected {
        /// Who leads.
        leader: NodeId,
        /// The number of this election.
        round: u32,
    },
}

impl Named for Message {
    fn name(&self) -> &'static str {
        match self {
            Self::Election { .. } => "ELECTION",
            Self::Elected { .. } => "ELECTED",
        }
    }
}
