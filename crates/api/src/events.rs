//! Live events, as the stream of server-sent events carries them.

#[cfg(test)]
use crate::described;
use serde::{Deserialize, Serialize};

/// One line of `GET /v1/events`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LiveEvent {
    /// Milliseconds since 1970, by this node's clock.
    pub at_ms: u64,
    /// The node that tells.
    #[cfg_attr(test, schemars(with = "described::NodeNumber"))]
    pub node: u32,
    /// `session_opened`, `session_closed`, `expired`, `queued`, `cancelled`, `granted`, `released`,
    /// `lost`, `revoked`, `forced`, `leader`, `suspected`, `trusted`, `connected`, `disconnected`,
    /// `member`.
    #[cfg_attr(test, schemars(with = "described::EventKind"))]
    pub kind: String,
    /// The lock or election, if it is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<described::Name>"))]
    pub name: Option<String>,
    /// In words.
    pub message: String,
    /// Replicated engine: the label of the session that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<described::Label>"))]
    pub label: Option<String>,
    /// Replicated engine: the fence of a grant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<described::Fence>"))]
    pub fence: Option<u64>,
    /// Replicated engine: the place in the queue of who waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<u32>,
}
