//! Locks: acquire and release with a fencing token (the fence), withdraw, force, verify, and views.
//! Elections use the same words for candidates and leaders.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The fields of these types; see [`crate::schema`].
#[cfg(feature = "schema")]
pub(crate) const SCHEMAS: &[(&str, &str)] = &[
    (
        "Acquire",
        "session:string wait_ms?:integer mode?:string permits?:integer request_id?:string \
         value?:string",
    ),
    (
        "Grant",
        "name:string fence:integer cluster_id:string node:integer holds:integer \
         waited_ms:integer term?:integer released:boolean",
    ),
    ("Release", "session:string fence:integer request_id?:string"),
    ("Released", "name:string fence:integer holds:integer"),
    ("Withdraw", "session:string"),
    ("Withdrawn", "name:string position:integer"),
    ("Force", "reason:string"),
    ("Forced", "name:string holder:Holder safety:string"),
    ("Verify", "fence:integer"),
    ("Verified", "name:string valid:boolean latest:integer|null scope:string"),
    ("Holder", "label:string session:string node:integer fence:integer held_ms:integer"),
    (
        "Waiter",
        "label:string session:string position:integer waited_ms:integer eta_ms:integer|null",
    ),
    ("Blocked", "nodes:[integer] for_ms:integer message:string"),
    (
        "Lock",
        "name:string state:string holder:Holder|null waiters:[Waiter] blocked_on:Blocked|null \
         entries:integer messages:{integer} node:integer",
    ),
    ("Locks", "locks:[Lock]"),
];

/// `POST /v1/locks/{name}/acquire`, and `POST /v1/elections/{name}/campaign`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Acquire {
    /// The session that will hold it.
    pub session: String,
    /// How long to wait at most; 0 or nothing: not at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait_ms: Option<u64>,
    /// `exclusive` if not said; a classic engine has no other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// How many may hold it at once; a classic engine takes 1 only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permits: Option<u32>,
    /// A repeat with the same id is the same request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// Elections: what the leader wants to be known by, up to 4,096 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
}

/// The answer to a request that was granted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// Which lock or election.
    pub name: String,
    /// The number of this entry: larger than at every earlier one, whoever made it.
    pub fence: u64,
    /// The cluster whose fences these are.
    pub cluster_id: String,
    /// The node that holds it for the session.
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
#[serde(deny_unknown_fields)]
pub struct Release {
    /// The session that holds it.
    pub session: String,
    /// The fence it was granted with.
    pub fence: u64,
    /// A repeat with the same id is the same request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

/// The answer to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Released {
    /// Which lock or election.
    pub name: String,
    /// The fence that was given back.
    pub fence: u64,
    /// How often the session still holds it.
    pub holds: u32,
}

/// `DELETE /v1/locks/{name}/waiters/{request_id}`; for an election, `candidates`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Withdraw {
    /// The session that waits.
    pub session: String,
}

/// The answer to it; that to the request itself is `withdrawn`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Withdrawn {
    /// Which lock or election.
    pub name: String,
    /// The place in the queue that it had.
    pub position: u32,
}

/// `DELETE /v1/locks/{name}/holders`: takes a lock from whoever holds it. Needs the admin token.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Force {
    /// Why, for the record: 1 to 256 characters.
    pub reason: String,
}

/// The answer to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Forced {
    /// Which lock.
    pub name: String,
    /// Who held it.
    pub holder: Holder,
    /// `fence-only`: the holder may still believe that it is inside.
    pub safety: String,
}

/// `POST /v1/locks/{name}/verify`
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Verify {
    /// The fence to look at.
    pub fence: u64,
}

/// The answer to it: true at that instant, and perhaps no longer when it arrives.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verified {
    /// Which lock.
    pub name: String,
    /// Whether a session of this node holds the lock with this fence.
    pub valid: bool,
    /// The largest fence that this node has seen.
    pub latest: Option<u64>,
    /// Whose knowledge this is: `node` for a classic engine.
    pub scope: String,
}

/// Who holds or leads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// The label of the session.
    pub label: String,
    /// A short hash of the session.
    pub session: String,
    /// The node that keeps the session.
    pub node: u32,
    /// With which fence.
    pub fence: u64,
    /// For how long already.
    pub held_ms: u64,
}

/// Who waits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiter {
    /// The label of the session.
    pub label: String,
    /// A short hash of it.
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
pub struct Blocked {
    /// The nodes that seem to be down.
    pub nodes: Vec<u32>,
    /// For how long the first of them.
    pub for_ms: u64,
    /// In words: `blocked on node 3, down 40 s`.
    pub message: String,
}

/// `GET /v1/locks/{name}`: as the answering node knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lock {
    /// Its name.
    pub name: String,
    /// `free`, `waiting` (this node has asked), or `held` (by a session of this node).
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
    pub node: u32,
}

/// `GET /v1/locks`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Locks {
    /// All locks that the answering node knows, by name.
    pub locks: Vec<Lock>,
}
