//! Messages of the centralised algorithm with failover; the table of the algorithm says by whom, to
//! whom and when.

use crate::mutex::epoch::Epoch;
use conclave_core::Named;
use serde::{Deserialize, Serialize};

/// What is said between clients and the coordinator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the table of the algorithm names what is carried")]
pub enum Message {
    /// Let me in.
    Request { epoch: Epoch, seq: u32, beat: u32 },
    /// Wait; this is your place among all who ever waited.
    Queued { epoch: Epoch, seq: u32, ticket: u64 },
    /// I still wait.
    Keepalive { epoch: Epoch, seq: u32, beat: u32 },
    /// Enter, unless this beat is too old by now.
    Grant { epoch: Epoch, seq: u32, beat: u32, fence: u64 },
    /// I am out, or no longer want in.
    Release { epoch: Epoch, seq: u32 },
    /// Are you still inside?
    Ping { epoch: Epoch, seq: u32 },
    /// I am.
    Pong { epoch: Epoch, seq: u32 },
    /// I coordinate; what do you want, what do you have?
    NewCoord { epoch: Epoch, known: u32, over: u32 },
    /// This. The number is the ticket of a waiter, the fence of a holder, the last fence of others.
    State { epoch: Epoch, seq: u32, beat: u32, status: Status, number: u64 },
    /// You were replaced.
    Stale { epoch: Epoch },
    /// I know nothing; tell me that you coordinate.
    Join { epoch: Epoch },
    /// The resource is somebody else's.
    Revoke { epoch: Epoch, fence: u64 },
}

impl Message {
    pub(super) fn epoch(&self) -> Epoch {
        match *self {
            Self::Request { epoch, .. }
            | Self::Queued { epoch, .. }
            | Self::Keepalive { epoch, .. }
            | Self::Grant { epoch, .. }
            | Self::Release { epoch, .. }
            | Self::Ping { epoch, .. }
            | Self::Pong { epoch, .. }
            | Self::NewCoord { epoch, .. }
            | Self::State { epoch, .. }
            | Self::Stale { epoch }
            | Self::Join { epoch }
            | Self::Revoke { epoch, .. } => epoch,
        }
    }
}

impl Named for Message {
    fn name(&self) -> &'static str {
        match self {
            Self::Request { .. } => "REQUEST",
            Self::Queued { .. } => "QUEUED",
            Self::Keepalive { .. } => "KEEPALIVE",
            Self::Grant { .. } => "GRANT",
            Self::Release { .. } => "RELEASE",
            Self::Ping { .. } => "PING",
            Self::Pong { .. } => "PONG",
            Self::NewCoord { .. } => "NEW_COORD",
            Self::State { .. } => "STATE",
            Self::Stale { .. } => "STALE",
            Self::Join { .. } => "JOIN",
            Self::Revoke { .. } => "REVOKE",
        }
    }
}

/// What a client is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Status {
    /// Nothing.
    Idle,
    /// It wants to enter.
    Waiting,
    /// It is inside.
    Inside,
}
