//! Elections by name: what a leader proclaims, and views. Candidates send [`crate::Acquire`].

#[cfg(test)]
use crate::described;
use crate::{Holder, Waiter, whole};
use serde::{Deserialize, Serialize};

/// `POST /v1/elections/{name}/proclaim`: the leader changes what it is known by.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Proclaim {
    /// The session that leads.
    #[cfg_attr(test, schemars(with = "described::SessionId"))]
    pub session: String,
    /// The fence it leads with.
    #[serde(deserialize_with = "whole::number")]
    #[cfg_attr(test, schemars(with = "described::Fence"))]
    pub fence: u64,
    /// What it is known by from now on.
    #[cfg_attr(test, schemars(with = "described::Proclaimed"))]
    pub value: String,
}

/// `GET /v1/elections/{name}`: as the answering node knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Election {
    /// Its name.
    #[cfg_attr(test, schemars(with = "described::Name"))]
    pub name: String,
    /// Who leads, if a session of this node does. All leaders are sessions of the leading node.
    pub leader: Option<Holder>,
    /// What the leader wants to be known by.
    #[cfg_attr(test, schemars(with = "Option<described::Proclaimed>"))]
    pub value: Option<String>,
    /// Who else stands at this node, in order.
    pub candidates: Vec<Waiter>,
    /// The node that leads the cluster, where candidates should go.
    #[cfg_attr(test, schemars(with = "Option<described::NodeNumber>"))]
    pub leading_node: Option<u32>,
    /// Where its API is.
    pub leading_api: Option<String>,
    /// The term of its leadership.
    pub term: u64,
}

/// `GET /v1/elections`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Elections {
    /// The elections that the answering node knows, by name: all, or a page of them.
    pub elections: Vec<Election>,
    /// If there are more: the last name of this page, for `after`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "described::Name"))]
    pub next: Option<String>,
}
