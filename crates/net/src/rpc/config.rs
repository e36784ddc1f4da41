//! The configuration of remote procedure calls: who this node is, limits and time-outs.

use crate::{LinkError, TEXT_MAX, Tls};
use conclave_core::NodeId;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::net::SocketAddr;
use std::time::Duration;

/// The longest text of [`RpcServer::about`](super::RpcServer::about), in bytes.
pub const ABOUT_MAX: usize = 1024;

/// The head of a frame is at most so long, once the greeting is over.
pub(super) const HEAD_MAX: usize = 32;

/// All that the calls of a node need to know.
#[derive(Clone, Debug)]
pub struct RpcConfig {
    /// The name of the cluster; nodes of another one are refused.
    pub cluster: String,
    /// This node.
    pub me: NodeId,
    /// The random id of this node's disk.
    pub disk: u128,
    /// Where to listen for the other nodes.
    pub listen: SocketAddr,
    /// Certificates, when the cluster uses them.
    pub tls: Option<Tls>,
    /// How much and how long.
    pub limits: RpcLimits,
}

/// What a connection is for. Each purpose has one of its own, so that heartbeats never wait behind
/// a snapshot or a flood of forwarded requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Purpose {
    /// Votes, log entries and heartbeats of the consensus engine.
    Raft,
    /// Snapshots, in chunks.
    Bulk,
    /// Requests of clients that another node forwards.
    Service,
}

impl fmt::Display for Purpose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Raft => "raft",
            Self::Bulk => "bulk",
            Self::Service => "service",
        })
    }
}

/// Where a peer is, and which disk it has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeerAddress {
    /// Which node.
    pub id: NodeId,
    /// `host:port`. A name is looked up on every attempt to connect.
    pub address: String,
    /// The random id of its disk. If it is known, the peer must have it.
    pub disk: Option<u128>,
}

/// How much and how long. The defaults are those of a real cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RpcLimits {
    /// The longest request or answer of [`Purpose::Raft`]: 4 MiB.
    pub raft_max: usize,
    /// The longest request or answer of [`Purpose::Bulk`]: a chunk of 2 MiB and 64 KiB around it.
    pub bulk_max: usize,
    /// The longest request or answer of [`Purpose::Service`]: 4 MiB.
    pub service_max: usize,
    /// The longest frame of a greeting: 4 KiB.
    pub greeting_max: usize,
    /// How many requests may be under way on one connection: 16,384.
    pub requests_max: usize,
    /// How many bytes may wait to be written on one connection, and how many bytes of requests may
    /// be worked on for it: 64 MiB each.
    pub bytes_max: usize,
    /// How long a greeting may take in all, from the connection on: 5 s.
    pub handshake: Duration,
    /// How long a frame may take from its first byte to its last: 10 s.
    pub frame: Duration,
    /// After how long without a single byte a connection is taken for dead: 3 s.
    pub silence: Duration,
    /// After how long without anything to say a ping is sent: 1 s.
    pub ping: Duration,
    /// How long a probe waits for an answer: 1 s.
    pub probe: Duration,
    /// The first pause between two attempts to connect: 20 ms. It doubles each time.
    pub pause_min: Duration,
    /// The longest such pause: 500 ms.
    pub pause_max: Duration,
    /// The pause after a refusal: 1 s.
    pub refused: Duration,
    /// How many connections may be in the middle of their greeting: 128.
    pub strangers: usize,
}

impl Default for RpcLimits {
    fn default() -> Self {
        Self {
            raft_max: 4 << 20,
            bulk_max: (2 << 20) + (64 << 10),
            service_max: 4 << 20,
            greeting_max: 4 << 10,
            requests_max: 16_384,
            bytes_max: 64 << 20,
            handshake: Duration::from_secs(5),
            frame: Duration::from_secs(10),
            silence: Duration::from_secs(3),
            ping: Duration::from_secs(1),
            probe: Duration::from_secs(1),
            pause_min: Duration::from_millis(20),
            pause_max: Duration::from_millis(500),
            refused: Duration::from_secs(1),
            strangers: 128,
        }
    }
}

impl RpcLimits {
    /// The longest request or answer of this purpose.
    pub fn body_max(&self, purpose: Purpose) -> usize {
        match purpose {
            Purpose::Raft => self.raft_max,
            Purpose::Bulk => self.bulk_max,
            Purpose::Service => self.service_max,
        }
    }

    /// The longest frame of this purpose.
    pub(super) fn frame_max(&self, purpose: Purpose) -> usize {
        self.body_max(purpose) + HEAD_MAX
    }
}

impl RpcConfig {
    /// Whether these settings can work.
    pub(super) fn check(&self) -> Result<(), LinkError> {
        if self.cluster.len() > TEXT_MAX {
            let problem = format!("the cluster name is longer than {TEXT_MAX} bytes");
            return Err(LinkError::Settings(problem));
        }
        let limits = &self.limits;
        let longest = limits.raft_max.max(limits.bulk_max).max(limits.service_max);
        if limits.bytes_max < longest + HEAD_MAX {
            let problem = format!("a request of {longest} bytes would never find room");
            return Err(LinkError::Settings(problem));
        }
        Ok(())
    }
}
