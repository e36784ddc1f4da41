//! What the nodes of an election by majority say, and what they wait for.

use conclave_core::Named;
use serde::{Deserialize, Serialize};

/// What nodes say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Message {
    /// May I lead?
    RequestVote {
        /// In this term.
        term: u64,
    },
    /// You may, or may not.
    Vote {
        /// The term of the voter.
        term: u64,
        /// Whether the vote is given.
        granted: bool,
    },
    /// I lead.
    Heartbeat {
        /// In this term.
        term: u64,
        /// Which of this term it is, from 1.
        number: u32,
    },
    /// I follow; or, in a greater term: you do not lead any more.
    HeartbeatAck {
        /// The term of the follower.
        term: u64,
        /// The number of what it answers.
        number: u32,
    },
    /// Would you vote for me?
    RequestPreVote {
        /// In this term, which has not begun.
        term: u64,
    },
    /// I would, or would not.
    PreVote {
        /// If so, the term in question; if not, that of the voter.
        term: u64,
        /// Whether the vote would be given.
        granted: bool,
    },
    /// I lead no longer: stand at once.
    TimeoutNow {
        /// The term in which the sender led.
        term: u64,
    },
}

impl Message {
    /// The term that its sender has entered; none where it only speaks of one that may come.
    pub(super) fn term(self) -> Option<u64> {
        match self {
            Self::RequestVote { term }
            | Self::Vote { term, .. }
            | Self::Heartbeat { term, .. }
            | Self::HeartbeatAck { term, .. }
            | Self::PreVote { term, granted: false }
            | Self::TimeoutNow { term } => Some(term),
            Self::RequestPreVote { .. } | Self::PreVote { granted: true, .. } => None,
        }
    }
}

impl Named for Message {
    fn name(&self) -> &'static str {
        match self {
            Self::RequestVote { .. } => "REQUEST_VOTE",
            Self::Vote { .. } => "VOTE",
            Self::Heartbeat { .. } => "HEARTBEAT",
            Self::HeartbeatAck { .. } => "HEARTBEAT_ACK",
            Self::RequestPreVote { .. } => "REQUEST_PREVOTE",
            Self::PreVote { .. } => "PREVOTE",
            Self::TimeoutNow { .. } => "TIMEOUT_NOW",
        }
    }
}

/// What runs out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Timer {
    /// A follower has not heard of a leader, or whoever asked has not got enough votes.
    Election,
    /// A leader shows itself again.
    Heartbeat,
    /// Too few have answered a leader for too long.
    Quorum,
}
