//! What the nodes of a bully election say, and what they wait for.

use conclave_core::Named;
use serde::{Deserialize, Serialize};

/// What nodes say. The counter is the greatest its sender knows, but for an announcement, a
/// candidacy and a vote that was given: there it is that of the leadership in question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Message {
    /// Is anybody better alive?
    Election {
        /// The greatest counter known.
        counter: u64,
    },
    /// I am; wait.
    Ok {
        /// The greatest counter known.
        counter: u64,
    },
    /// I lead.
    Coordinator {
        /// The counter of this leadership.
        counter: u64,
    },
    /// I would lead.
    Candidate {
        /// The counter of the leadership.
        counter: u64,
    },
    /// You may, or may not.
    Vote {
        /// The counter of the candidacy; if refused, the greatest known.
        counter: u64,
        /// Whether the vote is given.
        granted: bool,
    },
}

impl Named for Message {
    fn name(&self) -> &'static str {
        match self {
            Self::Election { .. } => "ELECTION",
            Self::Ok { .. } => "OK",
            Self::Coordinator { .. } => "COORDINATOR",
            Self::Candidate { .. } => "CANDIDATE",
            Self::Vote { .. } => "VOTE",
        }
    }
}

/// What runs out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Timer {
    /// The time for an answer, or for votes.
    Answer,
    /// The time for whoever answered to announce itself.
    Announcement,
    /// A candidate without a majority waits before it tries again.
    BackOff,
    /// A node that came back lets the leader be for a while.
    Hysteresis,
    /// A leader should by now know which better nodes are dead.
    Recheck,
    /// A leader that is suspected should by now be trusted again.
    Doubt,
}
