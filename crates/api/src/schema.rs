//! OpenAPI schemas: the types of the API, described for programs. They are derived from the types
//! by a test, which keeps `schemas.json`: see `described.rs`.

use serde_json::{Map, Value, json};

/// All types as JSON schemas, by name: the `components` of an OpenAPI document.
pub fn components() -> Map<String, Value> {
    serde_json::from_str(include_str!("schemas.json")).unwrap_or_default()
}

/// A reference to the schema of this name.
pub fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}
