//! Locks: release with a fencing token (the fence), withdraw, force, verify, and views. Elections
//! use the same words for candidates and leaders.

#[cfg(test)]
use crate::described;
use crate::{Explanation, whole};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

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
    /// Replicated engine: the id of the request that was granted. If nothing is said, the latest of
    /// those with this fence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<described::RequestId>"))]
    pub hold: Option<String>,
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
    /// Replicated engine: the id of this very request, by which it may be repeated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<described::RequestId>"))]
    pub request_id: Option<String>,
    /// Replicated engine: the lowest request of this session whose answer its client still awaits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<described::RequestId>"))]
    pub lowest_open: Option<String>,
}

/// The answer to it; that to the request itself is `withdrawn`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Withdrawn {
    /// Which lock or election.
    #[cfg_attr(test, schemars(with = "described::Name"))]
    pub name: String,
    /// The place in the queue that it had; 0 for one that did not wait.
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
    /// Replicated engine: at once, though a holder may still believe that it is inside. Otherwise
    /// holders are told by their keepalives, and lose it when their leases would have ended.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub now: bool,
}

/// The answer to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Forced {
    /// Which lock.
    #[cfg_attr(test, schemars(with = "described::Name"))]
    pub name: String,
    /// Who held it; of several, the first.
    pub holder: Holder,
    /// All who held it.
    #[serde(default)]
    pub holders: Vec<Holder>,
    /// `fence-only`: a holder may still believe that it is inside. `lease`: nobody else is let in
    /// before every holder that runs knows.
    #[cfg_attr(test, schemars(with = "described::Safety"))]
    pub safety: String,
    /// With `lease`: when the last of them has lost it, at the latest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ends_in_ms: Option<u64>,
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
    /// Replicated engine: whose hold, where several share a fence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<described::SessionId>"))]
    pub session: Option<String>,
}

/// The answer to it: true at that instant, and perhaps no longer when it arrives.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Verified {
    /// Which lock.
    #[cfg_attr(test, schemars(with = "described::Name"))]
    pub name: String,
    /// Whether somebody holds the lock with this fence: with a classic engine, a session of this
    /// node.
    pub valid: bool,
    /// The largest fence that is known of it.
    #[cfg_attr(test, schemars(with = "Option<described::Fence>"))]
    pub latest: Option<u64>,
    /// Whose knowledge this is: `node` for a classic engine, `cluster` for the replicated one.
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
    /// The node that keeps the session; with the replicated engine, where it was last heard of, if
    /// the answering node knows that.
    #[cfg_attr(test, schemars(with = "Option<described::NodeNumber>"))]
    pub node: Option<u32>,
    /// With which fence.
    #[cfg_attr(test, schemars(with = "described::Fence"))]
    pub fence: u64,
    /// For how long already.
    pub held_ms: u64,
    /// Replicated engine: how it holds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<described::Mode>"))]
    pub mode: Option<String>,
    /// Replicated engine: which of the permits it has, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slot: Option<u32>,
    /// Replicated engine: how long its session lives without another keepalive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease_ms: Option<u64>,
    /// Whether it was taken away by force, and ends soon.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub revoked: bool,
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
    /// Its place in the queue, from 1: with a classic engine, in that of its node.
    pub position: u32,
    /// For how long already.
    pub waited_ms: u64,
    /// How long it may still take, if all before it hold it as long as was usual here.
    pub eta_ms: Option<u64>,
    /// Replicated engine: how it wants to hold it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<described::Mode>"))]
    pub mode: Option<String>,
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
    /// `free`, `waiting` (this node has asked), or `held`: with a classic engine, by a session of
    /// this node.
    #[cfg_attr(test, schemars(with = "described::LockState"))]
    pub state: String,
    /// Who holds it; of several, the first.
    pub holder: Option<Holder>,
    /// All who hold it: with a classic engine, if a session of this node does.
    #[serde(default)]
    pub holders: Vec<Holder>,
    /// Who waits, in order: with a classic engine, at this node.
    pub waiters: Vec<Waiter>,
    /// What it waits for, if it cannot go on.
    pub blocked_on: Option<Blocked>,
    /// Classic engine: entries of this node's sessions since it started.
    pub entries: Option<u64>,
    /// Classic engine: messages this node sent for it since it started, by kind.
    pub messages: Option<BTreeMap<String, u64>>,
    /// The node whose knowledge this is.
    #[cfg_attr(test, schemars(with = "described::NodeNumber"))]
    pub node: u32,
    /// Replicated engine: `exclusive`, `shared` or `permits`, as it is held or waited for now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<described::Mode>"))]
    pub mode: Option<String>,
    /// Replicated engine: how many may hold it at once, if it is one of permits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permits: Option<u32>,
    /// Replicated engine: the index in the log up to which this was known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_of_index: Option<u64>,
    /// Who is in whose way, if that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explanation: Option<Explanation>,
}

/// In the query of `GET /v1/locks/{name}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Look {
    /// Replicated engine: say who is in whose way, and what would help.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub explain: bool,
    /// Replicated engine: as the answering node knows it, which may be behind.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stale: bool,
    /// Only one who holds it, and one who waits: with many of them, a short answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub brief: bool,
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
    /// Replicated engine: as the answering node knows them, which may be behind.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stale: bool,
    /// Those with this in their names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "described::Name"))]
    pub search: Option<String>,
    /// Which come first. But for `name`, there is one page only.
    #[serde(default)]
    pub sort: Order,
}

/// In which order a list is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// By name.
    #[default]
    Name,
    /// Those for which most wait first.
    Waiters,
    /// Those that are held for longest first.
    Held,
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
    /// Replicated engine: the index in the log up to which this was known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_of_index: Option<u64>,
}
