//! The configuration of one node.

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

/// Where a node is, for the others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// `host:port` of its links.
    pub peer: String,
    /// `host:port` of its API.
    pub api: String,
}

/// An algorithm with parameters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chosen {
    /// Its id in the catalogue.
    pub id: String,
    /// Parameters as `(name, value)`; where one takes a file, the text of it.
    pub set: Vec<(String, String)>,
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
}
