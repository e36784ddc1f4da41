//! The cluster and its nodes, as one node sees them.

#[cfg(test)]
use crate::described;
use crate::members::Member;
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
    /// The engine: `replicated`, or the id of an algorithm.
    pub engine: String,
    /// Its parameters, those at their defaults included.
    pub parameters: BTreeMap<String, String>,
    /// Classic engine: the algorithm that elects the leading node.
    pub election: Option<String>,
    /// Classic engine: the failure detector.
    pub detector: Option<String>,
    /// The node whose view this is.
    #[cfg_attr(test, schemars(with = "described::NodeNumber"))]
    pub node: u32,
    /// How long it has been up.
    pub uptime_ms: u64,
    /// The node that leads, as far as this one knows. One that leads and hears of no majority does
    /// not count, in its own eyes either.
    #[cfg_attr(test, schemars(with = "Option<described::NodeNumber>"))]
    pub leader: Option<u32>,
    /// In which term.
    pub term: u64,
    /// All nodes, in order.
    pub nodes: Vec<Node>,
    /// How many locks it knows.
    pub locks: u64,
    /// Classic engine: how many it may know at most.
    pub locks_max: Option<u64>,
    /// How many sessions it knows.
    pub sessions: u64,
    /// Whose locks and sessions these are: `node` for a classic engine, `cluster` for the
    /// replicated one.
    #[serde(default = "at_one_node")]
    #[cfg_attr(test, schemars(with = "described::Scope"))]
    pub scope: String,
    /// Replicated engine: which life of the cluster this is. A restored backup begins the next.
    #[serde(default)]
    pub generation: Option<u64>,
    /// Replicated engine: `leader`, `follower`, `candidate` or `learner`.
    #[serde(default)]
    #[cfg_attr(test, schemars(with = "Option<described::Role>"))]
    pub role: Option<String>,
    /// Replicated engine, of a node whose role is `leader`: whether it hears of a majority. Without
    /// one it decides nothing, and another may lead already.
    #[serde(default)]
    pub majority: Option<bool>,
    /// Replicated engine: the index of the last change in this node's table.
    #[serde(default)]
    pub applied: Option<u64>,
    /// Replicated engine: the index of the last change that a majority has, as far as this node
    /// knows.
    #[serde(default)]
    pub committed: Option<u64>,
    /// Replicated engine: how many changes this node has yet to apply, as far as it knows.
    #[serde(default)]
    pub lag: Option<u64>,
    /// Replicated engine: who belongs to it.
    #[serde(default)]
    pub members: Option<Vec<Member>>,
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

fn at_one_node() -> String {
    "node".to_string()
}
