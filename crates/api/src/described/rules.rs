//! Rules between the fields of a request, added to its schema. What is missing and what is null
//! mean the same.
//!
//! Two rules cannot be expressed, and are answered with 422: `lowest_open` is at most the request's
//! own number, and `locks` has no name twice.

use schemars::Schema;
use serde_json::{Value, json};

/// A lock is shared by all, or has permits, not both.
pub fn shared_or_permits(schema: &mut Schema) {
    either(schema, [exclusively(), by_one()]);
}

/// Neither is it shared, nor has it permits.
pub fn exclusive(schema: &mut Schema) {
    let acquire = schema.remove("$ref").map(|acquire| json!({ "$ref": acquire }));
    let all: Vec<Value> = acquire.into_iter().chain([exclusively(), by_one()]).collect();
    schema.insert("allOf".to_string(), json!(all));
}

/// Whoever says which requests are open says as of when.
pub fn open_as_of(schema: &mut Schema) {
    either(schema, [said("request_id"), unsaid(&["open"])]);
}

/// The numbers of a request are those of a session's.
pub fn numbers_of_session(schema: &mut Schema) {
    either(schema, [said("session"), unsaid(&["request_id", "lowest_open"])]);
}

/// None is there twice. Of names this says less than it should.
pub fn no_repeats(schema: &mut Schema) {
    schema.insert("uniqueItems".to_string(), true.into());
}

fn exclusively() -> Value {
    json!({ "properties": { "mode": { "enum": ["exclusive", null] } } })
}

fn by_one() -> Value {
    json!({ "properties": { "permits": { "enum": [1, null] } } })
}

fn either(schema: &mut Schema, ways: [Value; 2]) {
    schema.insert("anyOf".to_string(), json!(ways));
}

fn said(field: &str) -> Value {
    json!({ "required": [field], "properties": { field: { "type": "string" } } })
}

fn unsaid(fields: &[&str]) -> Value {
    let null = |field: &&str| (field.to_string(), json!({ "type": "null" }));
    json!({ "properties": fields.iter().map(null).collect::<serde_json::Map<_, _>>() })
}
