//! The words of the HTTP API, as both sides and `conclave status --json` use them.
//!
//! Times in milliseconds, nodes from 1. A session id is secret: others see a label and a hash.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// `POST /v1/sessions`
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewSession {
    /// It ends when nothing is heard of it for so long: 1,000 to 3,600,000; 10,000 if not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl_ms: Option<u64>,
    /// What people see of it: up to 128 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// A repeat with the same id gets the same session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

/// The answer to it, and to `POST /v1/sessions/{id}/keepalive`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// The secret: 32 hexadecimal digits.
    pub session: String,
    /// How long it lives without a keepalive: perhaps less than was asked for.
    pub ttl_ms: u64,
    /// The node that keeps it. It is known nowhere else.
    pub node: u32,
    /// The cluster's random id.
    pub cluster_id: String,
}

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
    /// The place in line that it had.
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
    /// Its place in the line of its node, from 1.
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

/// `PUT /v1/values/{name}`
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewValue {
    /// What it is to be.
    pub value: serde_json::Value,
    /// The fence of the writer: one smaller than an earlier one is refused.
    pub fence: u64,
}

/// The answer to it, and to `GET /v1/values/{name}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Value {
    /// Its name.
    pub name: String,
    /// What it is.
    pub value: serde_json::Value,
    /// The largest fence it was written with.
    pub fence: u64,
    /// The node that keeps it.
    pub node: u32,
    /// Whether it would survive that node: never, with a classic engine.
    pub replicated: bool,
}

/// `GET /v1/cluster`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
    pub node: u32,
    /// How long it has been up.
    pub uptime_ms: u64,
    /// The node that leads, as far as this one knows.
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
pub struct Node {
    /// Its number.
    pub id: u32,
    /// Where other nodes reach it.
    pub address: String,
    /// Where its API is.
    pub api: String,
    /// `self`, `up`, `suspected` (the detector thinks it is down) or `unreachable` (no link).
    pub state: String,
    /// For how long.
    pub for_ms: u64,
    /// Messages it has yet to acknowledge.
    pub unacknowledged: u64,
}

/// Every answer that is no success.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// What went wrong.
    pub error: ErrorBody,
    /// Acquire: who holds it, as far as this node knows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub holders: Vec<Holder>,
    /// Acquire: the place in line it had.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<u32>,
    /// Acquire: how long it waited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waited_ms: Option<u64>,
    /// Acquire: how long it might still have taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub eta_ms: Option<u64>,
    /// Acquire: what the lock waits for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked_on: Option<Blocked>,
    /// Elections: where to go instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leading_api: Option<String>,
}

/// What went wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorBody {
    /// For programs: `timeout`, `held`, `no_session`, `not_holder`, `stale_fence`, `blocked`,
    /// `not_leader`, `withdrawn`, `granted`, `unsupported`, `bad_request`, `too_many`,
    /// `not_found`, `forbidden`, `unavailable`, `internal`.
    pub code: String,
    /// For people.
    pub message: String,
    /// Whether the same request may succeed later.
    pub retry: bool,
}

/// One line of `GET /v1/events`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LiveEvent {
    /// Milliseconds since 1970, by this node's clock.
    pub at_ms: u64,
    /// The node that tells.
    pub node: u32,
    /// `granted`, `released`, `expired`, `queued`, `cancelled`, `leader`, `suspected`, `trusted`,
    /// `connected`, `disconnected`, `session_opened`, `session_closed`, `forced`.
    pub kind: String,
    /// The lock or election, if it is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// In words.
    pub message: String,
}
