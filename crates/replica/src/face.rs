//! The face of the replicated state machine: what a node may ask of it.

use crate::host::Host;
use conclave_core::NodeId;
use conclave_net::Tls;
use conclave_table::{Applied, Change, LeaseTime, Table};
use std::future::Future;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::pin::Pin;
use std::time::Duration;
use thiserror::Error;
use tokio::time::Instant;

/// All that a replica must know to start.
#[derive(Clone, Debug)]
pub struct ReplicaConfig {
    /// The name of the cluster: nodes of another one are refused.
    pub cluster: String,
    /// This node.
    pub me: NodeId,
    /// The nodes of a new cluster, this one included, each as `peer` and `api` address. Once a
    /// cluster exists its log says who belongs to it. A cluster of several is founded when all of
    /// them are there and all their disks are empty.
    pub founders: Vec<Founder>,
    /// Where to listen for other nodes.
    pub listen: SocketAddr,
    /// This node's disk.
    pub data: PathBuf,
    /// Certificates for the links.
    pub tls: Option<Tls>,
    /// Time-outs.
    pub timing: Timing,
    /// The machine that it runs on.
    pub host: Host,
}

/// A node as the configuration names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Founder {
    /// Which.
    pub id: NodeId,
    /// `host:port` of its links.
    pub peer: String,
    /// `host:port` of its API.
    pub api: String,
}

/// Time-outs of the consensus engine, and how often it makes a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// How often a leader is heard of: 100 ms.
    pub heartbeat: Duration,
    /// A leader that was not heard of for so long may be replaced: 500 ms to 1 s.
    pub election: (Duration, Duration),
    /// Keepalives are gathered for so long: 50 ms.
    pub renewals: Duration,
    /// A snapshot is made after so many entries.
    pub snapshot_entries: u64,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            heartbeat: Duration::from_millis(100),
            election: (Duration::from_millis(500), Duration::from_millis(1_000)),
            renewals: Duration::from_millis(50),
            snapshot_entries: 50_000,
        }
    }
}

/// A member of the cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Which.
    pub id: NodeId,
    /// The random number of its disk.
    pub disk: u128,
    /// `host:port` of its links.
    pub peer: String,
    /// `host:port` of its API.
    pub api: String,
    /// Whether it counts for majorities; one that does not is a learner.
    pub voter: bool,
}

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It orders all changes.
    Leader,
    /// It follows the leader.
    Follower,
    /// It wants to lead.
    Candidate,
    /// It follows, and has no vote.
    Learner,
}

/// The replica as it is now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// What this node is.
    pub role: Role,
    /// The term.
    pub term: u64,
    /// Who leads, as far as this node knows; one that it has not heard of since it started does
    /// not count.
    pub leader: Option<NodeId>,
    /// Of the leader: whether it hears of a majority. Of all others: whether they know who leads.
    pub quorum: bool,
    /// The index of the last change in this node's table.
    pub applied: u64,
    /// The index of the last entry that a majority has, as far as this node knows.
    pub committed: u64,
    /// The index of the last entry of this node's log.
    pub last: u64,
    /// Of the leader: how far each other member is behind its log, as far as it has heard.
    pub lag: Vec<(NodeId, u64)>,
    /// Who belongs to the cluster.
    pub members: Vec<Member>,
    /// The random id of the cluster, once it exists: fences of other clusters do not compare.
    pub cluster_id: Option<u128>,
    /// Which life of the cluster this is: a backup that is restored begins a later one.
    pub generation: Option<u64>,
}

impl Status {
    /// Whether this node leads and hears of no majority: it decides nothing, and another may lead
    /// already.
    pub fn is_deaf(&self) -> bool {
        self.role == Role::Leader && !self.quorum
    }

    /// Who leads, as people are told: a leader that hears of no majority does not.
    pub fn sure_leader(&self) -> Option<NodeId> {
        self.leader.filter(|_| !self.is_deaf())
    }
}

/// A change that a majority has on disk and this node has applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Committed {
    /// Its index in the log.
    pub index: u64,
    /// What came of it.
    pub applied: Applied,
}

/// Why a change was not answered.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NotProposed {
    /// This node does not lead, and the change is not in the log.
    #[error("this node does not lead")]
    NotLeader {
        /// Who does, as far as this node knows.
        leader: Option<NodeId>,
    },
    /// This node stopped leading meanwhile: the change may or may not take effect.
    #[error("this node stopped leading before it knew")]
    Unknown,
    /// The replica has stopped.
    #[error("this node is stopping")]
    Stopped,
}

/// Why the members, or the leader, stay as they are.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NotChanged {
    /// The leader has to be asked, or it is not known what came of it.
    #[error(transparent)]
    NotProposed(#[from] NotProposed),
    /// A line for people.
    #[error("{0}")]
    Refused(String),
}

/// One entry of the log, as an [`Observer`] sees it applied.
#[derive(Debug)]
pub struct Entry<'a> {
    /// Its index.
    pub index: u64,
    /// The lease clock that it came with.
    pub lease_time: LeaseTime,
    /// The change.
    pub change: &'a Change,
    /// What came of it.
    pub applied: &'a Applied,
    /// The table after it.
    pub table: &'a Table,
}

/// Sees every entry that this node applies, in order, before whoever proposed it is answered.
/// Must be quick: the next entry waits for it.
pub trait Observer: Send + 'static {
    /// An entry was applied.
    fn applied(&mut self, entry: &Entry<'_>);
    /// The table was replaced as a whole: on start, or by a snapshot.
    fn installed(&mut self, table: &Table);
}

/// A request from another node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Who asks.
    pub from: NodeId,
    /// When nobody waits for the answer any more.
    pub deadline: Instant,
    /// What it asks.
    pub request: Vec<u8>,
}

/// Answers requests of other nodes.
pub trait Server: Send + Sync + 'static {
    /// Answers one. It is dropped when whoever asked is gone.
    fn serve(&self, call: Call) -> Pin<Box<dyn Future<Output = Vec<u8>> + Send>>;
}

/// Why there is no answer from another node.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CallError {
    /// It was never sent.
    #[error("node {0} cannot be reached")]
    Unreachable(NodeId),
    /// It was sent, and the link broke or the time ran out: it may have taken effect.
    #[error("node {0} did not answer")]
    Unanswered(NodeId),
}

/// Why a replica cannot start, or had to stop.
#[derive(Debug, Error)]
pub enum ReplicaError {
    /// A line for people.
    #[error("{0}")]
    Refused(String),
}
