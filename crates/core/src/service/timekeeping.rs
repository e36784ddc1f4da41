//! Logical time: when things happened, as far as nodes can tell from each other's messages.

mod monitor;

pub use monitor::{Monitor, Pairs, Record};

use crate::clock::{Refusal, Time};
use crate::{NodeId, Service};
use serde::{Deserialize, Serialize};

/// The timekeeping service: every event of a node gets a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Timekeeping {}

/// What may be asked of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Request {
    /// Something happens here.
    Happen,
    /// Tell another node.
    Tell(NodeId),
}

/// What it tells.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Indication {
    /// An event of this node got its time.
    Stamped {
        /// What kind of event.
        kind: Kind,
        /// Its time.
        time: Time,
    },
    /// The clock moved on by itself, as a physical clock does, and now reads this. No event.
    Ticked {
        /// Its reading.
        time: Time,
    },
    /// A message came whose time was not believed. No event.
    Refused {
        /// From whom.
        from: NodeId,
        /// Why.
        why: Refusal,
    },
}

/// What kind of event. A node's events are counted from 1, each of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Kind {
    /// Something happened here.
    Local,
    /// A message left.
    Send {
        /// To whom.
        to: NodeId,
    },
    /// A message came.
    Receive {
        /// From whom.
        from: NodeId,
        /// Which of its sender's events it was.
        sent: u32,
    },
}

impl Service for Timekeeping {
    type Request = Request;
    type Indication = Indication;
}
