//! Sessions: a session is a lease on being alive, kept by keepalives and ended by silence.

use serde::{Deserialize, Serialize};

/// The fields of these types; see [`crate::schema`].
#[cfg(feature = "schema")]
pub(crate) const SCHEMAS: &[(&str, &str)] = &[
    ("NewSession", "ttl_ms?:integer label?:string request_id?:string"),
    ("Session", "session:string ttl_ms:integer node:integer cluster_id:string"),
];

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
