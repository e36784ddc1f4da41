//! The token, the messages and the timers of the ring that makes lost tokens anew.

use crate::mutex::epoch::Epoch;
use conclave_core::Named;
use serde::{Deserialize, Serialize};

/// The right to enter. Of all that were ever made, the greatest counts.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Token {
    /// Who made it, and when.
    pub epoch: Epoch,
    /// How often it was passed on.
    pub hop: u64,
    /// How many entries there have been in its term.
    pub entries: u32,
}

/// What goes round, and what is said when it does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the table of the algorithm names what is carried")]
pub enum Message {
    /// Your turn.
    Token(Token),
    /// It came.
    TokenAck { epoch: Epoch, hop: u64 },
    /// It had been replaced.
    Fenced { epoch: Epoch },
    /// I wait in vain.
    Probe { epoch: Epoch },
    /// Obey no older token; are you inside?
    Freeze { epoch: Epoch },
    /// I obey none. The fence is the largest I know.
    FreezeAck { epoch: Epoch, inside: bool, fence: u64 },
    /// You were replaced.
    Stale { epoch: Epoch },
}

impl Named for Message {
    fn name(&self) -> &'static str {
        match self {
            Self::Token(_) => "TOKEN",
            Self::TokenAck { .. } => "TOKEN_ACK",
            Self::Fenced { .. } => "FENCED",
            Self::Probe { .. } => "PROBE",
            Self::Freeze { .. } => "FREEZE",
            Self::FreezeAck { .. } => "FREEZE_ACK",
            Self::Stale { .. } => "STALE",
        }
    }
}

/// What runs out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Timer {
    /// The first token leaves the first node.
    Departure,
    /// A token that was passed on was not acknowledged.
    Retry,
    /// The token has not come for so long that it seems lost.
    Loss,
    /// A leader asks again those that did not answer.
    Round,
    /// What the silent may hold has lapsed.
    Lease,
}
