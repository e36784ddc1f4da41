//! Small values that refuse a write with a stale fencing token (fence).

use serde::{Deserialize, Serialize};

/// The fields of these types; see [`crate::schema`].
#[cfg(feature = "schema")]
pub(crate) const SCHEMAS: &[(&str, &str)] = &[
    ("NewValue", "value:any fence:integer"),
    ("Value", "name:string value:any fence:integer node:integer replicated:boolean"),
];

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
