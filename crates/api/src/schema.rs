//! OpenAPI schemas: the types of the API, described for programs.
//!
//! A type is described beside its definition, by its fields: `name:type`, with `?` after the name
//! where it may be missing. Types are `string`, `integer`, `boolean`, `any`, another type's name,
//! `[type]` for a list, `{type}` for a map from text, and `type|null`.

use crate::{cluster, elections, error, events, locks, sessions, values};
use serde_json::{Map, Value, json};

/// All types, by name.
pub fn all() -> impl Iterator<Item = (&'static str, &'static str)> {
    let topics = [
        sessions::SCHEMAS,
        locks::SCHEMAS,
        elections::SCHEMAS,
        values::SCHEMAS,
        cluster::SCHEMAS,
        error::SCHEMAS,
        events::SCHEMAS,
    ];
    topics.into_iter().flatten().copied()
}

/// All types as JSON schemas, by name: the `components` of an OpenAPI document.
pub fn components() -> Map<String, Value> {
    all().map(|(name, fields)| (name.to_string(), object(fields))).collect()
}

/// The JSON schema of a type, as one is written among the fields of another.
pub fn of(kind: &str) -> Value {
    let within = |open, close| kind.strip_prefix(open)?.strip_suffix(close);
    if let Some(some) = kind.strip_suffix("|null") {
        json!({ "anyOf": [of(some), { "type": "null" }] })
    } else if let Some(item) = within('[', ']') {
        json!({ "type": "array", "items": of(item) })
    } else if let Some(item) = within('{', '}') {
        json!({ "type": "object", "additionalProperties": of(item) })
    } else {
        match kind {
            "any" | "Any" => json!({}),
            "string" | "integer" | "boolean" => json!({ "type": kind }),
            name => json!({ "$ref": format!("#/components/schemas/{name}") }),
        }
    }
}

fn object(fields: &str) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for (name, kind) in fields.split_whitespace().filter_map(|field| field.split_once(':')) {
        let bare = name.trim_end_matches('?');
        properties.insert(bare.to_string(), of(kind));
        if bare == name {
            required.push(bare);
        }
    }
    json!({ "type": "object", "properties": properties, "required": required })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate as api;

    /// What is written about a type must be what serde makes of it.
    fn agrees<T: serde::Serialize + serde::de::DeserializeOwned>(name: &str, full: &Value) {
        let (_, fields) = all().find(|(known, _)| *known == name).expect(name);
        let of = |field: &str| field.split([':', '?']).next().unwrap_or_default().to_string();
        let mut written: Vec<String> = fields.split_whitespace().map(of).collect();
        let value: T = serde_json::from_value(full.clone()).expect(name);
        let value = serde_json::to_value(value).expect(name);
        let mut known: Vec<String> = value.as_object().expect(name).keys().cloned().collect();
        written.sort();
        known.sort();
        assert_eq!(written, known, "{name}");
        for field in fields.split_whitespace() {
            let mut without = full.clone();
            without.as_object_mut().expect(name).remove(&of(field));
            // An option may be missing for serde even where it is always sent.
            let optional = field.contains("?:") || field.ends_with("|null");
            let optional = optional || field == "released:boolean";
            let missing = serde_json::from_value::<T>(without);
            assert_eq!(missing.is_ok(), optional, "{name}: {field}");
        }
    }

    #[test]
    fn requests_are_described_as_they_are() {
        agrees::<api::NewSession>(
            "NewSession",
            &json!({"ttl_ms": 1, "label": "", "request_id": ""}),
        );
        agrees::<api::Acquire>(
            "Acquire",
            &json!({"session": "", "wait_ms": 1, "mode": "", "permits": 1, "request_id": "",
                    "value": ""}),
        );
        agrees::<api::Release>("Release", &json!({"session": "", "fence": 1, "request_id": ""}));
        agrees::<api::Withdraw>("Withdraw", &json!({"session": ""}));
        agrees::<api::Force>("Force", &json!({"reason": ""}));
        agrees::<api::Proclaim>("Proclaim", &json!({"session": "", "fence": 1, "value": ""}));
        agrees::<api::Verify>("Verify", &json!({"fence": 1}));
        agrees::<api::NewValue>("NewValue", &json!({"value": 1, "fence": 1}));
    }

    #[test]
    fn answers_are_described_as_they_are() {
        let holder = json!({"label": "", "session": "", "node": 1, "fence": 1, "held_ms": 1});
        let waiter = json!({"label": "", "session": "", "position": 1, "waited_ms": 1,
                            "eta_ms": 1});
        let blocked = json!({"nodes": [1], "for_ms": 1, "message": ""});
        let error = json!({"code": "timeout", "message": "", "retry": true});
        let node = json!({"id": 1, "address": "", "api": "", "state": "", "for_ms": 1,
                          "unacknowledged": 1});
        let session = json!({"session": "", "ttl_ms": 1, "node": 1, "cluster_id": ""});
        agrees::<api::Session>("Session", &session);
        agrees::<api::Holder>("Holder", &holder);
        agrees::<api::Waiter>("Waiter", &waiter);
        agrees::<api::Blocked>("Blocked", &blocked);
        agrees::<api::ErrorBody>("ErrorBody", &error);
        agrees::<api::Node>("Node", &node);
        let grant = json!({"name": "", "fence": 1, "cluster_id": "", "node": 1, "holds": 1,
                           "waited_ms": 1, "term": 1, "released": false});
        agrees::<api::Grant>("Grant", &grant);
        agrees::<api::Released>("Released", &json!({"name": "", "fence": 1, "holds": 1}));
        agrees::<api::Withdrawn>("Withdrawn", &json!({"name": "", "position": 1}));
        agrees::<api::Forced>("Forced", &json!({"name": "", "holder": holder, "safety": ""}));
        let verified = json!({"name": "", "valid": true, "latest": 1, "scope": ""});
        agrees::<api::Verified>("Verified", &verified);
        let value = json!({"name": "", "value": 1, "fence": 1, "node": 1, "replicated": false});
        agrees::<api::Value>("Value", &value);
        agrees::<api::Failure>(
            "Failure",
            &json!({"error": error, "holders": [holder], "position": 1, "waited_ms": 1,
                    "eta_ms": 1, "blocked_on": blocked, "leading_api": ""}),
        );
        let event = json!({"at_ms": 1, "node": 1, "kind": "", "name": "", "message": ""});
        agrees::<api::LiveEvent>("LiveEvent", &event);
    }

    #[test]
    fn views_are_described_as_they_are() {
        let lock = json!({"name": "", "state": "", "holder": null, "waiters": [],
                          "blocked_on": null, "entries": 1, "messages": {}, "node": 1});
        agrees::<api::Lock>("Lock", &lock);
        agrees::<api::Locks>("Locks", &json!({"locks": [lock]}));
        let election = json!({"name": "", "leader": null, "value": null, "candidates": [],
                              "leading_node": null, "leading_api": null, "term": 1});
        agrees::<api::Election>("Election", &election);
        agrees::<api::Elections>("Elections", &json!({"elections": [election]}));
        agrees::<api::Cluster>(
            "Cluster",
            &json!({"cluster": "", "cluster_id": "", "version": "", "engine": "",
                    "parameters": {}, "election": "", "detector": "", "node": 1, "uptime_ms": 1,
                    "leader": null, "term": 1, "nodes": [], "locks": 1, "locks_max": 1,
                    "sessions": 1}),
        );
    }
}
