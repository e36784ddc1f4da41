//! Live events, as the stream of server-sent events carries them.

use serde::{Deserialize, Serialize};

/// The fields of these types; see [`crate::schema`].
#[cfg(feature = "schema")]
pub(crate) const SCHEMAS: &[(&str, &str)] =
    &[("LiveEvent", "at_ms:integer node:integer kind:string name?:string message:string")];

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
