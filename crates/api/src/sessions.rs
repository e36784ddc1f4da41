//! Sessions: a session is a lease on being alive, kept by keepalives and ended by silence.

#[cfg(test)]
use crate::described;
use crate::whole;
use serde::{Deserialize, Serialize};

/// `POST /v1/sessions`
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct NewSession {
    /// It ends when nothing is heard of it for so long: 1,000 to 3,600,000; 10,000 if not said.
    #[serde(default, deserialize_with = "whole::optional")]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<described::TimeToLive>"))]
    pub ttl_ms: Option<u64>,
    /// What people see of it: up to 128 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<described::Label>"))]
    pub label: Option<String>,
    /// A repeat with the same id gets the same session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<described::OpeningId>"))]
    pub request_id: Option<String>,
    /// Replicated engine: ends the session soon after its stream does; see [`SESSION_HEADER`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_disconnect: Option<OnDisconnect>,
}

/// When a session ends whose stream is gone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct OnDisconnect {
    /// How long it outlives its stream.
    #[serde(deserialize_with = "whole::number")]
    #[cfg_attr(test, schemars(with = "described::Grace"))]
    pub grace_ms: u64,
}

/// The answer to it, and to `POST /v1/sessions/{id}/keepalive`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Session {
    /// The secret: 32 hexadecimal digits.
    #[cfg_attr(test, schemars(with = "described::SessionId"))]
    pub session: String,
    /// How long it lives without a keepalive: perhaps less than was asked for.
    pub ttl_ms: u64,
    /// The node that keeps it; with the replicated engine, that which answers.
    #[cfg_attr(test, schemars(with = "described::NodeNumber"))]
    pub node: u32,
    /// The cluster's random id.
    pub cluster_id: String,
    /// Where it is known: `node`, only at that one, or `cluster`, at any.
    #[serde(default = "at_one_node")]
    #[cfg_attr(test, schemars(with = "described::Scope"))]
    pub scope: String,
    /// Replicated engine: which life of the cluster this is. A restored backup begins the next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generation: Option<u64>,
    /// Replicated engine, in the answer to a keepalive: all that the session holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holds: Option<Vec<Hold>>,
}

impl Session {
    /// Whether any node of the cluster knows it.
    pub fn is_of_cluster(&self) -> bool {
        self.scope == "cluster"
    }
}

/// Which sessions: in the query of `GET /v1/sessions`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SessionPage {
    /// How many at most: 1 to 1,000; 1,000 if not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "described::PageLimit"))]
    pub limit: Option<u64>,
    /// Those with this in their labels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "described::Label"))]
    pub search: Option<String>,
    /// Replicated engine: as the answering node knows them, which may be behind.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stale: bool,
}

/// `GET /v1/sessions`
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Sessions {
    /// Sessions that the answering node knows, in no order that means anything.
    pub sessions: Vec<SessionSeen>,
    /// How many there are that were asked for, shown or not.
    pub total: u64,
    /// Replicated engine: the index in the log up to which this was known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_of_index: Option<u64>,
}

/// A session as others see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SessionSeen {
    /// Its label.
    #[cfg_attr(test, schemars(with = "described::Label"))]
    pub label: String,
    /// A short hash of it.
    #[cfg_attr(test, schemars(with = "described::SessionHash"))]
    pub session: String,
    /// The node that keeps it; with the replicated engine, where it was last heard of.
    #[cfg_attr(test, schemars(with = "described::NodeNumber"))]
    pub node: u32,
    /// How long it lives without a keepalive.
    pub ttl_ms: u64,
    /// How much of that is left.
    pub lease_ms: u64,
    /// How many locks and elections it holds.
    pub holds: u64,
    /// How many of its requests wait.
    pub waits: u64,
}

/// `POST /v1/sessions/{id}/keepalive`. A classic engine ignores the body, which may be missing. It
/// may be longer than others, so that a session can name all that it holds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(transform = described::rules::open_as_of))]
#[serde(deny_unknown_fields)]
pub struct KeepAlive {
    /// The number of the keepalive itself: nothing is said of later requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<described::RequestId>"))]
    pub request_id: Option<String>,
    /// All requests that the client still knows: those unanswered, and those by which it holds
    /// something. What others were granted is given back. Nothing: it does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<described::OpenRequests>"))]
    pub open: Option<Vec<String>>,
}

/// A hold as its own session is told of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Hold {
    /// Which lock or election.
    #[cfg_attr(test, schemars(with = "described::Name"))]
    pub name: String,
    /// `lock` or `election`: the two share no names.
    #[cfg_attr(test, schemars(with = "described::Kind"))]
    pub kind: String,
    /// With which fence.
    #[cfg_attr(test, schemars(with = "described::Fence"))]
    pub fence: u64,
    /// The id of the request that was granted.
    #[cfg_attr(test, schemars(with = "described::GrantedId"))]
    pub request_id: String,
    /// Whether it was taken away and ends soon: this keepalive gave it no more time.
    pub revoked: bool,
}

/// The header that names the session of `GET /v1/session/stream`: a secret, so in no address.
pub const SESSION_HEADER: &str = "conclave-session";
/// The header with the number of that stream, which rises from one of a session to its next.
pub const STREAM_HEADER: &str = "conclave-stream";

/// The first event of `GET /v1/session/stream`, `attached`: the stream counts from now on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StreamBegun {
    /// Its number.
    #[cfg_attr(test, schemars(with = "described::StreamNumber"))]
    pub stream: u64,
}

/// `POST /v1/session/ping`, replicated engine: asks the node with the stream whether it still has
/// it. The grace counts from when a ping was sent that was answered.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Ping {
    /// Whose stream.
    #[cfg_attr(test, schemars(with = "described::SessionId"))]
    pub session: String,
    /// Its number.
    #[serde(deserialize_with = "whole::number")]
    #[cfg_attr(test, schemars(with = "described::StreamNumber"))]
    pub stream: u64,
}

/// The last event, `ended`, of `GET /v1/session/stream`: its session has ended, and with it all
/// that it held.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SessionEnded {
    /// `closed` (its client said so), `expired` (it was silent for its time to live), `lapsed` (its
    /// stream was gone for its grace), or `unknown` (it ended while this node was behind).
    #[cfg_attr(test, schemars(with = "described::EndReason"))]
    pub reason: String,
}

fn at_one_node() -> String {
    "node".to_string()
}
