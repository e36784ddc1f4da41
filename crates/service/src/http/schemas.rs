//! The types of the API in a few words each, for the OpenAPI document.
//!
//! A type is its fields: `name:type`, with `?` after the name where it may be missing. Types are
//! `string`, `integer`, `boolean`, `any`, another type's name, `[type]` for a list, `{type}` for a
//! map from text, and `type|null`.

/// All types, by name.
pub const SCHEMAS: &[(&str, &str)] = &[
    ("NewSession", "ttl_ms?:integer label?:string request_id?:string"),
    ("Session", "session:string ttl_ms:integer node:integer cluster_id:string"),
    (
        "Acquire",
        "session:string wait_ms?:integer mode?:string permits?:integer request_id?:string \
         value?:string",
    ),
    (
        "Grant",
        "name:string fence:integer cluster_id:string node:integer holds:integer \
         waited_ms:integer term?:integer released:boolean",
    ),
    ("Release", "session:string fence:integer request_id?:string"),
    ("Released", "name:string fence:integer holds:integer"),
    ("Withdraw", "session:string"),
    ("Withdrawn", "name:string position:integer"),
    ("Force", "reason:string"),
    ("Forced", "name:string holder:Holder safety:string"),
    ("Proclaim", "session:string fence:integer value:string"),
    ("Verify", "fence:integer"),
    ("Verified", "name:string valid:boolean latest:integer|null scope:string"),
    ("Holder", "label:string session:string node:integer fence:integer held_ms:integer"),
    (
        "Waiter",
        "label:string session:string position:integer waited_ms:integer eta_ms:integer|null",
    ),
    ("Blocked", "nodes:[integer] for_ms:integer message:string"),
    (
        "Lock",
        "name:string state:string holder:Holder|null waiters:[Waiter] blocked_on:Blocked|null \
         entries:integer messages:{integer} node:integer",
    ),
    ("Locks", "locks:[Lock]"),
    (
        "Election",
        "name:string leader:Holder|null value:string|null candidates:[Waiter] \
         leading_node:integer|null leading_api:string|null term:integer",
    ),
    ("Elections", "elections:[Election]"),
    ("NewValue", "value:any fence:integer"),
    ("Value", "name:string value:any fence:integer node:integer replicated:boolean"),
    (
        "Cluster",
        "cluster:string cluster_id:string version:string engine:string parameters:{string} \
         election:string detector:string node:integer uptime_ms:integer leader:integer|null \
         term:integer nodes:[Node] locks:integer locks_max:integer sessions:integer",
    ),
    (
        "Node",
        "id:integer address:string api:string state:string for_ms:integer unacknowledged:integer",
    ),
    (
        "Failure",
        "error:ErrorBody holders?:[Holder] position?:integer waited_ms?:integer eta_ms?:integer \
         blocked_on?:Blocked leading_api?:string",
    ),
    ("ErrorBody", "code:string message:string retry:boolean"),
    ("LiveEvent", "at_ms:integer node:integer kind:string name?:string message:string"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use conclave_client::api;
    use serde_json::{Value, json};

    /// What is written about a type must be what serde makes of it.
    fn agrees<T: serde::Serialize + serde::de::DeserializeOwned>(name: &str, full: &Value) {
        let (_, fields) = SCHEMAS.iter().find(|(known, _)| *known == name).expect(name);
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
        let error = json!({"code": "", "message": "", "retry": true});
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
