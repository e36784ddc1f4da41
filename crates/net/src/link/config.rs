//! The configuration of the links: addresses, identity, limits and time-outs.

use super::error::LinkError;
use crate::Tls;
use conclave_core::NodeId;
use std::net::SocketAddr;
use std::time::Duration;

/// The longest text (cluster name, algorithm) that a greeting carries, in bytes. A refusal quotes
/// two of them and still fits into a frame of [`Limits::greeting_max`].
pub const TEXT_MAX: usize = 1024;

/// All that the links of a node need to know.
#[derive(Clone, Debug)]
pub struct LinkConfig {
    /// The name of the cluster; nodes of another one are refused.
    pub cluster: String,
    /// This node.
    pub me: NodeId,
    /// How many nodes there are.
    pub n: u32,
    /// The random number that this node made on its first start.
    pub identity: u128,
    /// How many times this node has started.
    pub incarnation: u32,
    /// The random number that it made on this start.
    pub nonce: u64,
    /// Where to listen for the other nodes.
    pub listen: SocketAddr,
    /// Where the nodes are, `host:port` by index. Names are looked up on every attempt.
    pub peers: Vec<String>,
    /// Engine, election, detector and all their parameters; nodes with another text are refused.
    pub algorithm: String,
    /// What the disk knows of each node, by index. May be empty when it knows nothing.
    pub past: Vec<Past>,
    /// Certificates, when the cluster uses them.
    pub tls: Option<Tls>,
    /// How much and how long.
    pub limits: Limits,
}

/// What the disk of this node knows of another one. Messages that it has yet to receive are no part
/// of this: the host orders them, as it does all others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Past {
    /// Its identity, once it was met.
    pub identity: Option<u128>,
    /// The latest of its starts that was seen.
    pub incarnation: u32,
    /// The random number that it made on that start, if this disk has it.
    pub nonce: Option<u64>,
    /// The number of the last durable message from it that is on this disk.
    pub received: u64,
    /// The number of the last durable message to it.
    pub sent: u64,
    /// Up to which number it is known to have acknowledged those: it may have been more.
    pub acknowledged: u64,
}

/// How much and how long. The defaults are those of a real cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The longest frame once a peer is known: 64 KiB. The longest message of any algorithm, a
    /// token with a number per node, has less than 1 KiB; and a peer that means harm can make this
    /// node hold some 1,500 frames, as many as wait for its host and are taken by it at a time.
    pub frame_max: usize,
    /// The longest frame before that: 4 KiB.
    pub greeting_max: usize,
    /// How long a greeting may take in all, from the connection on: 5 s.
    pub handshake: Duration,
    /// How long a frame may take from its first byte to its last: 10 s.
    pub frame: Duration,
    /// After how long without a single byte a connection is taken for dead: 3 s.
    pub silence: Duration,
    /// After how long without anything to say a ping is sent: 1 s.
    pub ping: Duration,
    /// The first pause between two attempts to connect: 50 ms. It doubles each time.
    pub pause_min: Duration,
    /// The longest such pause: 2 s.
    pub pause_max: Duration,
    /// The pause after a refusal: 5 s.
    pub refused: Duration,
    /// How long a transient message is kept for a peer that is away: 1 s.
    pub transient_age: Duration,
    /// How many transient messages are kept for a peer; the oldest gives way: 1,024.
    pub transient_packets: usize,
    /// How many connections may be in the middle of their greeting: 128.
    pub strangers: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            frame_max: 64 << 10,
            greeting_max: 4 << 10,
            handshake: Duration::from_secs(5),
            frame: Duration::from_secs(10),
            silence: Duration::from_secs(3),
            ping: Duration::from_secs(1),
            pause_min: Duration::from_millis(50),
            pause_max: Duration::from_secs(2),
            refused: Duration::from_secs(5),
            transient_age: Duration::from_secs(1),
            transient_packets: 1024,
            strangers: 128,
        }
    }
}

impl LinkConfig {
    /// Whether these settings fit together.
    pub(super) fn check(&self) -> Result<(), LinkError> {
        let n = self.n as usize;
        if self.me.0 >= self.n {
            return Err(LinkError::Settings(format!("node {} of {n} nodes", self.me)));
        }
        if self.peers.len() != n {
            let given = self.peers.len();
            return Err(LinkError::Settings(format!("{given} addresses for {n} nodes")));
        }
        if self.past.len() > n {
            let given = self.past.len();
            return Err(LinkError::Settings(format!("the disk knows {given} nodes, not {n}")));
        }
        for (name, text) in [("cluster name", &self.cluster), ("algorithm", &self.algorithm)] {
            if text.len() > TEXT_MAX {
                let problem = format!("the {name} is longer than {TEXT_MAX} bytes");
                return Err(LinkError::Settings(problem));
            }
        }
        Ok(())
    }
}
