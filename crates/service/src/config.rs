//! The configuration of one node.

use conclave_core::NodeId;
use conclave_lab::Usage;
use conclave_lab::machines::{Chosen, Machines, Settings};
use conclave_net::Fingerprint;
use conclave_replica::disk;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// The name of the replicated engine, where a classic one has that of its algorithm.
pub const REPLICATED: &str = "replicated";

/// One node of a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// The name of the cluster: nodes of another one are refused.
    pub cluster: String,
    /// The number of this node, from 1.
    pub id: u32,
    /// All nodes, this one included, in order of their numbers 1 to n.
    pub nodes: Vec<Address>,
    /// Where it listens for other nodes.
    pub listen: SocketAddr,
    /// Where it serves its API.
    pub http: SocketAddr,
    /// Where its disk is.
    pub data: PathBuf,
    /// What grants its locks.
    pub engine: Engine,
    /// Certificates for the links; without, they are plain.
    pub tls: Option<Tls>,
    /// Where to write down every event.
    pub record: Option<PathBuf>,
    /// Who may use its API, and how.
    pub access: ApiAccess,
    /// Whether its page has the lab.
    pub lab: bool,
}

impl Config {
    /// The number of this node, from 0.
    pub fn me(&self) -> NodeId {
        NodeId(self.id - 1)
    }

    /// Whether a node can be made of this choice of engine.
    pub fn check(&self) -> Result<(), Usage> {
        match &self.engine {
            Engine::Replicated => Ok(()),
            Engine::Classic { .. } => self.machines().map(drop),
        }
    }

    /// The machines of a node with a classic engine; an error if no node can be made of this choice
    /// of algorithms, or the engine is another.
    pub fn machines(&self) -> Result<Machines, Usage> {
        let Engine::Classic { engine, election, detector } = self.engine.clone() else {
            return Err(Usage("the replicated engine has no machines".to_string()));
        };
        let nodes = self.nodes.len() as u32;
        Machines::new(&Settings { nodes, engine, election, detector }, self.me())
    }
}

/// What grants the locks of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Engine {
    /// The lock table, replicated by consensus.
    Replicated,
    /// A textbook algorithm: one state machine per lock between the nodes.
    Classic {
        /// The lock algorithm.
        engine: Chosen,
        /// The election.
        election: Chosen,
        /// The failure detector.
        detector: Chosen,
    },
}

impl Engine {
    /// What people call it.
    pub fn name(&self) -> &str {
        match self {
            Self::Replicated => REPLICATED,
            Self::Classic { engine, .. } => &engine.id,
        }
    }

    /// Whether a node with an engine of this kind has used this directory as its disk.
    pub fn made(&self, data: &Path) -> bool {
        let kind = match self {
            Self::Replicated => disk::Engine::Replicated,
            Self::Classic { .. } => disk::Engine::Classic,
        };
        disk::engine_of(data) == Some(kind)
    }
}

/// Who may use the API of a node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ApiAccess {
    /// Whoever shows this may do everything.
    pub admin_token: Option<String>,
    /// The file that says who may do what; without, everybody may do all that needs no admin token.
    pub tokens: Option<PathBuf>,
    /// Certificates; without, the API is plain HTTP.
    pub tls: Option<ApiCertificates>,
    /// Where to write down who did what.
    pub audit: Option<PathBuf>,
}

/// Certificates of the API, as files in PEM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiCertificates {
    /// Of the authority that signed those of all APIs and clients.
    pub authority: PathBuf,
    /// Of this node's API, good for its hosts.
    pub certificate: PathBuf,
    /// The key that belongs to it.
    pub key: PathBuf,
    /// Whether clients must show a certificate.
    pub required: bool,
    /// Certificates that are refused although the authority has signed them.
    pub deny: Vec<Fingerprint>,
}

/// Where a node is, for the others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// `host:port` of its links.
    pub peer: String,
    /// `host:port` of its API.
    pub api: String,
}

/// Certificates, as files in PEM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tls {
    /// Of the authority that signed those of all nodes.
    pub authority: PathBuf,
    /// Of this node.
    pub certificate: PathBuf,
    /// The key that belongs to it.
    pub key: PathBuf,
    /// Certificates that are refused although the authority has signed them.
    pub deny: Vec<Fingerprint>,
}
