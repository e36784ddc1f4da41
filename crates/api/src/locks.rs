//! Locks: acquire and release with a fencing token (the fence), withdraw, force, verify, and views.
//! Elections use the same words for candidates and leaders.

#[cfg(test)]
use crate::described;
use crate::whole;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// `POST /v1/locks/{name}/acquire`, and `POST /v1/elections/{name}/campaign`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Acquire {
    /// The session that will hold it.
    #[cfg_attr(test, schemars(with = "described::SessionId"))]
    pub session: String,
    /// How long to wait at most; 0 or nothing: not at all.
    #[serde(default, deserialize_with = "whole::optional")]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<described::Wait>"))]
    pub wait_ms: Option<u64>,
    /// `exclusive` if not said; a classic engine has no other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<described::Mode>"))]
    pub mode: Option<String>,
    /// How many may hold it at once; a classic engine takes 1 only.
    #[serde(default, deserialize_with = "whole::optional")]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<described::Permits>"))]
    pub permits: Option<u32>,
    /// A repeat with the same id is the same request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<described::RequestId>"))]
    pub request_id: Option<String>,
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
    /// The number of this entry: larger than at every earlier one, whoever made it.
    #[cfg_attr(test, schemars(with = "described::Fence"))]
    pub fence: u64,
    /// The cluster whose fences these are.
    pub cluster_id: String,
    /// The node that holds it for the session.
    #[cfg_attr(test, schemars(with = "described::NodeNumber"))]
    pub node: u32,
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

/// `POST /v1/locks/{name}/release`, and `POST /v1/elections/{name}/resign`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Release {
    /// The session that holds it.
    #[cfg_attr(test, schemars(with = "described::SessionId"))]
    pub session: String,
    /// The fence it was granted with.
    #[serde(deserialize_with = "whole::number")]
    #[cfg_attr(test, schemars(with = "described::Fence"))]
    pub fence: u64,
    /// A repeat with the same id is the same request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<described::RequestId>"))]
    pub request_id: Option<String>,
}

/// The answer to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Released {
    /// Which lock or election.
    #[cfg_attr(test, schemars(with = "described::Name"))]
    pub name: String,
    /// The fence that was given back.
    #[cfg_attr(test, schemars(with = "described::Fence"))]
    pub fence: u64,
    /// How often the session still holds it.
    pub holds: u32,
}

/// `DELETE /v1/locks/{name}/waiters/{request_id}`; for an election, `candidates`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Withdraw {
    /// The session that waits.
    #[cfg_attr(test, schemars(with = "described::SessionId"))]
    pub session: String,
}

/// The answer to it; that to the request itself is `withdrawn`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Withdrawn {
    /// Which lock or election.
    #[cfg_attr(test, schemars(with = "described::Name"))]
    pub name: String,
    /// The place in the queue that it had.
    pub position: u32,
}

/// `DELETE /v1/locks/{name}/holders`: takes a lock from whoever holds it. Needs the admin token.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Force {
    /// Why, for the record: 1 to 256 characters.
    #[cfg_attr(test, schemars(with = "described::Reason"))]
    pub reason: String,
}

/// The answer to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Forced {
    /// Which lock.
    #[cfg_attr(test, schemars(with = "described::Name"))]
    pub name: String,
    /// Who held it.
    pub holder: Holder,
    /// `fence-only`: the holder may still believe that it is inside.
    #[cfg_attr(test, schemars(with = "described::Safety"))]
    pub safety: String,
}

/// `POST /v1/locks/{name}/verify`
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Verify {
    /// The fence to look at.
    #[serde(deserialize_with = "whole::number")]
    #[cfg_attr(test, schemars(with = "described::Fence"))]
    pub fence: u64,
}

/// The answer to it: true at that instant, and perhaps no longer when it arrives.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Verified {
    /// Which lock.
    #[cfg_attr(test, schemars(with = "described::Name"))]
    pub name: String,
    /// Whether a session of this node holds the lock with this fence.
    pub valid: bool,
    /// The largest fence that this node has seen.
    #[cfg_attr(test, schemars(with = "Option<described::Fence>"))]
    pub latest: Option<u64>,
    /// Whose knowledge this is: `node` for a classic engine.
    #[cfg_attr(test, schemars(with = "described::Scope"))]
    pub scope: String,
}

/// Who holds or leads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Holder {
    /// The label of the session.
    #[cfg_attr(test, schemars(with = "described::Label"))]
    pub label: String,
    /// A short hash of the session.
    #[cfg_attr(test, schemars(with = "described::SessionHash"))]
    pub session: String,
    /// The node that keeps the session.
    #[cfg_attr(test, schemars(with = "described::NodeNumber"))]
    pub node: u32,
    /// With which fence.
    #[cfg_attr(test, schemars(with = "described::Fence"))]
    pub fence: u64,
    /// For how long already.
    pub held_ms: u64,
}

/// Who waits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Waiter {
    /// The label of the session.
    #[cfg_attr(test, schemars(with = "described::Label"))]
    pub label: String,
    /// A short hash of it.
    #[cfg_attr(test, schemars(with = "described::SessionHash"))]
    pub session: String,
    /// Its place in the queue of its node, from 1.
    pub position: u32,
    /// For how long already.
    pub waited_ms: u64,
    /// How long it may still take, if all before it hold it as long as was usual here.
    pub eta_ms: Option<u64>,
}

/// What a lock waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Blocked {
    /// The nodes that seem to be down.
    #[cfg_attr(test, schemars(with = "Vec<described::NodeNumber>"))]
    pub nodes: Vec<u32>,
    /// For how long the first of them.
    pub for_ms: u64,
    /// In words: `blocked on node 3, down 40 s`.
    pub message: String,
}

/// `GET /v1/locks/{name}`: as the answering node knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Lock {
    /// Its name.
    #[cfg_attr(test, schemars(with = "described::Name"))]
    pub name: String,
    /// `free`, `waiting` (this node has asked), or `held` (by a session of this node).
    #[cfg_attr(test, schemars(with = "described::LockState"))]
    pub state: String,
    /// Who holds it, if a session of this node does.
    pub holder: Option<Holder>,
    /// Who waits at this node, in order.
    pub waiters: Vec<Waiter>,
    /// What it waits for, if it cannot go on.
    pub blocked_on: Option<Blocked>,
    /// Entries of this node's sessions since it started.
    pub entries: u64,
    /// Messages this node sent for it since it started, by kind.
    pub messages: BTreeMap<String, u64>,
    /// The node whose knowledge this is.
    #[cfg_attr(test, schemars(with = "described::NodeNumber"))]
    pub node: u32,
}

/// Which part of a list: in the query of `GET /v1/locks` and `GET /v1/elections`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Page {
    /// How many at most: 1 to 1,000; 1,000 if not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "described::PageLimit"))]
    pub limit: Option<u64>,
    /// Those whose names come after this one: the `next` of the page before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "described::Name"))]
    pub after: Option<String>,
}

/// `GET /v1/locks`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Locks {
    /// The locks that the answering node knows, by name: all, or a page of them.
    pub locks: Vec<Lock>,
    /// If there are more: the last name of this page, for `after`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "described::Name"))]
    pub next: Option<String>,
}
