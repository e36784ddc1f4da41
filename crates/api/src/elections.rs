//! Elections by name: what a leader proclaims, and views. Candidates send [`crate::Acquire`].

use crate::{Holder, Waiter};
use serde::{Deserialize, Serialize};

/// The fields of these types; see [`crate::schema`].
#[cfg(feature = "schema")]
pub(crate) const SCHEMAS: &[(&str, &str)] = &[
    ("Proclaim", "session:string fence:integer value:string"),
    (
        "Election",
        "name:string leader:Holder|null value:string|null candidates:[Waiter] \
         leading_node:integer|null leading_api:string|null term:integer",
    ),
    ("Elections", "elections:[Election]"),
];

/// `POST /v1/elections/{name}/proclaim`: the leader changes what it is known by.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Proclaim {
    /// The session that leads.
    pub session: String,
    /// The fence it leads with.
    pub fence: u64,
    /// What it is known by from now on.
    pub value: String,
}

/// `GET /v1/elections/{name}`: as the answering node knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Election {
    /// Its name.
    pub name: String,
    /// Who leads, if a session of this node does. All leaders are sessions of the leading node.
    pub leader: Option<Holder>,
    /// What the leader wants to be known by.
    pub value: Option<String>,
    /// Who else stands at this node, in order.
    pub candidates: Vec<Waiter>,
    /// The node that leads the cluster, where candidates should go.
    pub leading_node: Option<u32>,
    /// Where its API is.
    pub leading_api: Option<String>,
    /// The term of its leadership.
    pub term: u64,
}

/// `GET /v1/elections`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Elections {
    /// All elections that the answering node knows, by name.
    pub elections: Vec<Election>,
}
