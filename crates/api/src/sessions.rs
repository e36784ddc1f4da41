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
    /// The node that keeps it. It is known nowhere else.
    #[cfg_attr(test, schemars(with = "described::NodeNumber"))]
    pub node: u32,
    /// The cluster's random id.
    pub cluster_id: String,
}
