//! Small values that refuse a write with a stale fencing token (fence).

#[cfg(test)]
use crate::described;
use crate::whole;
use serde::{Deserialize, Serialize};

/// `PUT /v1/values/{name}`
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(transform = described::rules::numbers_of_session))]
#[serde(deny_unknown_fields)]
pub struct NewValue {
    /// What it is to be.
    pub value: serde_json::Value,
    /// The fence of the writer: one smaller than an earlier one is refused.
    #[serde(deserialize_with = "whole::number")]
    #[cfg_attr(test, schemars(with = "described::Fence"))]
    pub fence: u64,
    /// Replicated engine: the session of the writer, whose request this is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<described::SessionId>"))]
    pub session: Option<String>,
    /// The number of this request of the session: a repeat, or one that comes late, does not undo a
    /// later write.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<described::RequestId>"))]
    pub request_id: Option<String>,
    /// The session's lowest request without an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<described::RequestId>"))]
    pub lowest_open: Option<String>,
}

/// The answer to it, and to `GET /v1/values/{name}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Value {
    /// Its name.
    #[cfg_attr(test, schemars(with = "described::Name"))]
    pub name: String,
    /// What it is.
    pub value: serde_json::Value,
    /// The largest fence it was written with.
    #[cfg_attr(test, schemars(with = "described::Fence"))]
    pub fence: u64,
    /// The node that keeps it; with the replicated engine, that which answers.
    #[cfg_attr(test, schemars(with = "described::NodeNumber"))]
    pub node: u32,
    /// Whether it would survive that node: never, with a classic engine.
    pub replicated: bool,
}
