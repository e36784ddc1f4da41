//! The cluster and its nodes, as one node sees them.

#[cfg(test)]
use crate::described;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// `GET /v1/cluster`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
    #[cfg_attr(test, schemars(with = "described::NodeNumber"))]
    pub node: u32,
    /// How long it has been up.
    pub uptime_ms: u64,
    /// The node that leads, as far as this one knows.
    #[cfg_attr(test, schemars(with = "Option<described::NodeNumber>"))]
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
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Node {
    /// Its number.
    #[cfg_attr(test, schemars(with = "described::NodeNumber"))]
    pub id: u32,
    /// Where other nodes reach it.
    pub address: String,
    /// Where its API is.
    pub api: String,
    /// `self`, `up`, `suspected` (the detector thinks it is down) or `unreachable` (no link).
    #[cfg_attr(test, schemars(with = "described::NodeState"))]
    pub state: String,
    /// For how long.
    pub for_ms: u64,
    /// Messages it has yet to acknowledge.
    pub unacknowledged: u64,
}
