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
    /// A repeat with the same id is the same request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<described::RequestId>"))]
    pub request_id: Option<String>,
    /// Replicated engine: the lowest request of this session whose answer its client still awaits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<described::RequestId>"))]
    pub lowest_open: Option<String>,
}

/// `POST /v1/elections/{name}/hand-over`, replicated engine: the leader lets a candidate lead next,
/// ahead of the queue.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct HandOver {
    /// The session that leads.
    #[cfg_attr(test, schemars(with = "described::SessionId"))]
    pub session: String,
    /// The fence it leads with.
    #[serde(deserialize_with = "whole::number")]
    #[cfg_attr(test, schemars(with = "described::Fence"))]
    pub fence: u64,
    /// The label of the candidate's session; of several, the first in line.
    #[cfg_attr(test, schemars(with = "described::Label"))]
    pub to: String,
    /// A repeat with the same id is the same request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<described::RequestId>"))]
    pub request_id: Option<String>,
    /// Replicated engine: the lowest request of this session whose answer its client still awaits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<described::RequestId>"))]
    pub lowest_open: Option<String>,
}

/// The answer to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct HandedOver {
    /// Which election.
    #[cfg_attr(test, schemars(with = "described::Name"))]
    pub name: String,
    /// The fence that was given back.
    #[cfg_attr(test, schemars(with = "described::Fence"))]
    pub fence: u64,
    /// The label of who leads now.
    #[cfg_attr(test, schemars(with = "described::Label"))]
    pub to: String,
}

/// `GET /v1/elections/{name}`: as the answering node knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Election {
    /// Its name.
    #[cfg_attr(test, schemars(with = "described::Name"))]
    pub name: String,
    /// Who leads. With a classic engine, if a session of this node does: all leaders are sessions
    /// of the leading node.
    pub leader: Option<Holder>,
    /// What the leader wants to be known by.
    #[cfg_attr(test, schemars(with = "Option<described::Proclaimed>"))]
    pub value: Option<String>,
    /// Who else stands, in order: with a classic engine, at this node.
    pub candidates: Vec<Waiter>,
    /// The node that leads the cluster: with a classic engine, candidates go there.
    #[cfg_attr(test, schemars(with = "Option<described::NodeNumber>"))]
    pub leading_node: Option<u32>,
    /// Where its API is.
    pub leading_api: Option<String>,
    /// The term of its leadership.
    pub term: u64,
    /// Replicated engine: the index in the log up to which this was known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_of_index: Option<u64>,
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
    /// Replicated engine: the index in the log up to which this was known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_of_index: Option<u64>,
}
