//! Membership of a replicated cluster: which nodes keep its log, and which of them have a vote.
//! Whoever changes it needs the admin token.

#[cfg(test)]
use crate::described;
use crate::whole;
use serde::{Deserialize, Serialize};

/// A node that belongs to a replicated cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Member {
    /// Its number.
    #[cfg_attr(test, schemars(with = "described::NodeNumber"))]
    pub id: u32,
    /// The beginning of the random number of its disk: 8 hexadecimal digits. A node that comes with
    /// another one is refused.
    #[cfg_attr(test, schemars(with = "described::DiskBeginning"))]
    pub disk: String,
    /// Where other nodes reach it.
    pub peer: String,
    /// Where its API is.
    pub api: String,
    /// `voter`, which counts for majorities, or `learner`.
    #[cfg_attr(test, schemars(with = "described::Vote"))]
    pub vote: String,
    /// Whether it leads, as far as the answering node knows.
    pub leads: bool,
    /// How many entries of the log it has yet to get, if the answering node leads.
    pub lag: Option<u64>,
}

/// `GET /v1/cluster/members`, and the answer to whoever changes them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Members {
    /// All, by their numbers.
    pub members: Vec<Member>,
    /// The index in the log up to which this was known.
    pub as_of_index: u64,
}

/// `POST /v1/cluster/members`: takes a node with an empty disk in, as a learner.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct NewMember {
    /// Its number: one that no member has.
    #[serde(deserialize_with = "whole::number")]
    #[cfg_attr(test, schemars(with = "described::NodeNumber"))]
    pub id: u32,
    /// `host:port` of its links.
    #[cfg_attr(test, schemars(with = "described::Address"))]
    pub peer: String,
    /// `host:port` of its API.
    #[cfg_attr(test, schemars(with = "described::Address"))]
    pub api: String,
    /// The random number of its disk, which it prints when it starts. Nothing: it is asked for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<described::DiskId>"))]
    pub disk: Option<String>,
}

/// `POST /v1/cluster/promote`: a learner becomes a voter.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Promote {
    /// Which.
    #[serde(deserialize_with = "whole::number")]
    #[cfg_attr(test, schemars(with = "described::NodeNumber"))]
    pub id: u32,
}

/// `POST /v1/cluster/transfer`: another node is to lead.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Transfer {
    /// Which; nothing: the voter that is least behind.
    #[serde(default, deserialize_with = "whole::optional")]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<described::NodeNumber>"))]
    pub to: Option<u32>,
}
