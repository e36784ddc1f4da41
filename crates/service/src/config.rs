//! The configuration of one node.

use conclave_core::NodeId;
use conclave_lab::Usage;
use conclave_lab::machines::{Chosen, Machines, Settings};
use conclave_net::Fingerprint;
use std::net::SocketAddr;
use std::path::PathBuf;

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
    /// The lock algorithm.
    pub engine: Chosen,
    /// The election.
    pub election: Chosen,
    /// The failure detector.
    pub detector: Chosen,
    /// Certificates for the links; without, they are plain.
    pub tls: Option<Tls>,
    /// Where to write down every event.
    pub record: Option<PathBuf>,
    /// What a caller must show to use force.
    pub admin_token: Option<String>,
}

impl Config {
    /// The number of this node, from 0.
    pub fn me(&self) -> NodeId {
        NodeId(self.id - 1)
    }

    /// The machines of this node; an error if no node can be made of this choice of algorithms.
    pub fn machines(&self) -> Result<Machines, Usage> {
        let Self { engine, election, detector, .. } = self.clone();
        let nodes = self.nodes.len() as u32;
        Machines::new(&Settings { nodes, engine, election, detector }, self.me())
    }
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
