//! Acquire: to be let in, to one lock or to several at once, with a fencing token (the fence) for
//! each. Elections use the same words for candidates.

#[cfg(test)]
use crate::described;
use crate::whole;
use serde::{Deserialize, Serialize};

/// `POST /v1/locks/{name}/acquire`, and `POST /v1/elections/{name}/campaign`: there, exclusive.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(transform = described::rules::shared_or_permits))]
#[serde(deny_unknown_fields)]
pub struct Acquire {
    /// The session that will hold it.
    #[cfg_attr(test, schemars(with = "described::SessionId"))]
    pub session: String,
    /// How long to wait at most; 0 or nothing: not at all.
    #[serde(default, deserialize_with = "whole::optional")]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<described::WaitMs>"))]
    pub wait_ms: Option<u64>,
    /// `exclusive` if not said, or `shared`; a classic engine has only the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<described::AskedMode>"))]
    pub mode: Option<String>,
    /// How many may hold it at once: all who ask say the same number. A classic engine takes only
    /// 1.
    #[serde(default, deserialize_with = "whole::optional")]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<described::Permits>"))]
    pub permits: Option<u32>,
    /// A repeat with the same id is the same request. With the replicated engine, a number
    /// as text, which rises from request to request of a session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<described::RequestId>"))]
    pub request_id: Option<String>,
    /// Replicated engine: the lowest request of this session whose answer its client still awaits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<described::RequestId>"))]
    pub lowest_open: Option<String>,
    /// Replicated engine: the thread of control that asks. It may enter again what it holds; a
    /// request without one waits for itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<described::Owner>"))]
    pub owner: Option<String>,
    /// Elections: what the leader wants to be known by, up to 4,096 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<described::Proclaimed>"))]
    pub value: Option<String>,
}

/// The answer to a request that was granted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Grant {
    /// Which lock or election.
    #[cfg_attr(test, schemars(with = "described::Name"))]
    pub name: String,
    /// The number of this entry: larger than at every earlier one, whoever made it. All who share a
    /// lock at once have the same.
    #[cfg_attr(test, schemars(with = "described::Fence"))]
    pub fence: u64,
    /// The cluster whose fences these are: those of another do not compare.
    pub cluster_id: String,
    /// Replicated engine: which life of the cluster this is. A restored backup begins the next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generation: Option<u64>,
    /// The node that holds it for the session; with the replicated engine, that which answers.
    #[cfg_attr(test, schemars(with = "described::NodeNumber"))]
    pub node: u32,
    /// Replicated engine: which of the permits it is, from 0. A resource keeps the largest fence of
    /// each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slot: Option<u32>,
    /// How often the session holds it: a holder that asks again gets the same fence.
    pub holds: u32,
    /// How long it waited.
    pub waited_ms: u64,
    /// Elections: the term of the node's leadership.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub term: Option<u64>,
    /// Whether this request was granted and given back before: the answer to a repeat.
    #[serde(default)]
    pub released: bool,
}

/// `POST /v1/acquire`, replicated engine: several locks at once, all or none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct AcquireAll {
    /// The session that will hold them.
    #[cfg_attr(test, schemars(with = "described::SessionId"))]
    pub session: String,
    /// Which: 1 to 16, none of them twice.
    #[cfg_attr(test, schemars(with = "described::WantedLocks"))]
    pub locks: Vec<WantedLock>,
    /// How long to wait at most; 0 or nothing: not at all.
    #[serde(default, deserialize_with = "whole::optional")]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<described::WaitMs>"))]
    pub wait_ms: Option<u64>,
    /// A repeat with the same id is the same request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<described::RequestId>"))]
    pub request_id: Option<String>,
    /// Replicated engine: the lowest request of this session whose answer its client still awaits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<described::RequestId>"))]
    pub lowest_open: Option<String>,
    /// The thread of control that asks. It may enter again what it holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<described::Owner>"))]
    pub owner: Option<String>,
}

/// One of several locks that a request asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(transform = described::rules::shared_or_permits))]
#[serde(deny_unknown_fields)]
pub struct WantedLock {
    /// Its name.
    #[cfg_attr(test, schemars(with = "described::Name"))]
    pub name: String,
    /// `exclusive` if not said, or `shared`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<described::AskedMode>"))]
    pub mode: Option<String>,
    /// How many may hold it at once.
    #[serde(default, deserialize_with = "whole::optional")]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<described::Permits>"))]
    pub permits: Option<u32>,
}

/// The answer to a request for several locks that was granted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Grants {
    /// One for each lock, in the order of the request.
    pub grants: Vec<Grant>,
}
