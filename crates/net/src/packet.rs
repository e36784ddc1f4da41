//! Packets, orders and news: what passes between a node's host and its links.

use conclave_core::NodeId;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The name of a machine, the same on every node: `detector`, `election`, `lock/NAME`.
pub type Key = Arc<str>;

/// The longest name of a machine, in bytes. A lock's name has 256 at most.
pub const KEY_MAX: usize = 512;

/// What a link promises of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Lane {
    /// Exactly once and in order, across reconnects and restarts of either side. The sender's disk
    /// keeps it until the receiver says that its own disk has what came of it.
    Durable,
    /// At most once and in order. Kept for a second when the connection drops, so that a short
    /// interruption loses nothing; lost with a crash of either side.
    Transient,
}

/// A message of a machine on its way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Packet {
    /// How it travels.
    pub lane: Lane,
    /// Its number on this lane from its sender to its receiver: it only rises, also over restarts
    /// (transient ones are above [`Packet::transient_from`]).
    pub number: u64,
    /// For which machine it is.
    pub key: Key,
    /// The message.
    pub bytes: Vec<u8>,
}

impl Packet {
    /// The number before the first transient message of a node in this start. It leaves
    /// 2^40 numbers for one start, which last for years at ten thousand messages a second, and room
    /// for 2^24 starts. With 2^32 a busy node would reach its next start's numbers within weeks,
    /// and then be taken for one that repeats itself.
    pub fn transient_from(incarnation: u32) -> u64 {
        u64::from(incarnation) << 40
    }
}

/// What the links tell the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum News {
    /// A message came. A durable one is to be acknowledged when it is on disk.
    Arrived {
        /// From whom.
        from: NodeId,
        /// The message.
        packet: Packet,
    },
    /// This peer has all durable messages up to this number on its disk.
    Acknowledged {
        /// Who.
        by: NodeId,
        /// Up to which.
        number: u64,
    },
    /// The link to this peer stands.
    Connected {
        /// To whom.
        to: NodeId,
    },
    /// It does not any more; it is tried again and again.
    Disconnected {
        /// To whom.
        to: NodeId,
        /// Why, for people.
        reason: String,
    },
    /// This peer was met for the first time, or for the first time since it started anew: that is
    /// to be remembered.
    Met {
        /// Who.
        peer: NodeId,
        /// The random number that it made on its first start and keeps on its disk.
        identity: u128,
        /// How many times it has started.
        incarnation: u32,
        /// The random number that it made on this start.
        nonce: u64,
    },
    /// A peer knows this node under another identity: this one has lost its disk, or is a second
    /// one of the same name. It must not go on.
    Disowned {
        /// By whom.
        by: NodeId,
        /// What it said.
        reason: String,
    },
    /// A peer remembers more of this node than its disk does: that is an old copy, and the node has
    /// forgotten what it promised since. It must not go on.
    OldCopy {
        /// Which peer.
        by: NodeId,
        /// What it remembers, and what the disk knows.
        reason: String,
    },
}

/// What the host tells the links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Order {
    /// Send this.
    Send {
        /// To whom.
        to: NodeId,
        /// What.
        packet: Packet,
    },
    /// All durable messages from this peer up to this number are on disk.
    Acknowledge {
        /// Whose.
        from: NodeId,
        /// Up to which.
        number: u64,
    },
}
