//! The cluster and its nodes, as one node sees them.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The fields of these types; see [`crate::schema`].
#[cfg(feature = "schema")]
pub(crate) const SCHEMAS: &[(&str, &str)] = &[
    (
        "Cluster",
        "cluster:string cluster_id:string version:string engine:string parameters:{string} \
         election:string detector:string node:integer uptime_ms:integer leader:integer|null \
         term:integer nodes:[Node] locks:integer locks_max:integer sessions:integer",
    ),
    (
        "Node",
        "id:integer address:string api:string state:string for_ms:integer unacknowledged:integer",
    ),
];

/// `GET /v1/cluster`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cluster {
    /// Its name.
    pub cluster: String,
    /// Its random id.
    pub cluster_id: String,
    /// The program's version.
    pub version: String,
    /// The engine: the id of an algorithm.
    pub engine: String,
    /// Its parameters, those at their defaults included.
    pub parameters: BTreeMap<String, String>,
    /// The algorithm that elects the leading node.
    pub election: String,
    /// The failure detector.
    pub detector: String,
    /// The node whose view this is.
    pub node: u32,
    /// How long it has been up.
    pub uptime_ms: u64,
    /// The node that leads, as far as this one knows.
    pub leader: Option<u32>,
    /// In which term.
    pub term: u64,
    /// All nodes, in order.
    pub nodes: Vec<Node>,
    /// How many locks it knows.
    pub locks: u64,
    /// How many it may know at most.
    pub locks_max: u64,
    /// How many sessions it keeps.
    pub sessions: u64,
}

/// One node, as another sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    /// Its number.
    pub id: u32,
    /// Where other nodes reach it.
    pub address: String,
    /// Where its API is.
    pub api: String,
    /// `self`, `up`, `suspected` (the detector thinks it is down) or `unreachable` (no link).
    pub state: String,
    /// For how long.
    pub for_ms: u64,
    /// Messages it has yet to acknowledge.
    pub unacknowledged: u64,
}
