//! The OpenAPI 3.1 document: the API described for programs.

use super::routes::{Gives, Route};
use conclave_api::schema;
use serde_json::{Map, Value, json};

/// The whole document.
pub fn document(routes: &[Route]) -> Value {
    let mut paths = Map::new();
    for route in routes {
        let path = paths.entry(route.path).or_insert_with(|| json!({}));
        if let Some(path) = path.as_object_mut() {
            path.insert(route.method.to_string(), operation(route));
        }
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Conclave",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Locks and leaderships. Hand the fence of a grant to the resource, and \
                            have it refuse a smaller one: to verify and then write is not safe. A \
                            '/' in a name is written %2F.",
        },
        "paths": paths,
        "components": {
            "schemas": schema::components(),
            "securitySchemes": { "admin": { "type": "http", "scheme": "bearer" } },
        },
    })
}

fn operation(route: &Route) -> Value {
    let (status, description) = match route.gives {
        Gives::Nothing => ("204", "Done."),
        Gives::Json(_) | Gives::Text | Gives::Stream(_) => ("200", "Done."),
    };
    let mut success = json!({ "description": description });
    match route.gives {
        Gives::Json(name) => success["content"] = content("application/json", name),
        Gives::Text => success["content"] = json!({ "text/plain": {} }),
        Gives::Stream(name) => success["content"] = content("text/event-stream", name),
        Gives::Nothing => {}
    }
    let failure = json!({
        "description": "What went wrong, and whether to try again.",
        "content": content("application/json", "Failure"),
    });
    let mut operation = json!({
        "summary": route.summary,
        "responses": { status: success, "default": failure },
    });
    if let Some(name) = route.takes {
        let body = json!({ "required": true, "content": content("application/json", name) });
        operation["requestBody"] = body;
    }
    let kind = json!({ "type": "string" });
    let parameter = |name| json!({ "name": name, "in": "path", "required": true, "schema": kind });
    let parameters: Vec<Value> = parameters(route.path).map(parameter).collect();
    if !parameters.is_empty() {
        operation["parameters"] = json!(parameters);
    }
    if route.path.ends_with("/holders") {
        operation["security"] = json!([{ "admin": [] }]);
    }
    operation
}

/// The names between the braces of a path.
fn parameters(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'))
}

fn content(kind: &str, name: &str) -> Value {
    json!({ kind: { "schema": schema::of(name) } })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::routes::table;

    fn references(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Object(map) => {
                found.extend(map.get("$ref").and_then(Value::as_str).map(str::to_string));
                map.values().for_each(|inner| references(inner, found));
            }
            Value::Array(list) => list.iter().for_each(|inner| references(inner, found)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    #[test]
    fn every_reference_leads_somewhere_and_every_schema_is_used() {
        let document = document(&table());
        let mut found = Vec::new();
        references(&document, &mut found);
        for (name, _) in schema::all() {
            let name = format!("#/components/schemas/{name}");
            assert!(found.contains(&name), "{name} is used nowhere");
        }
        for reference in found {
            let pointer = reference.trim_start_matches('#');
            assert!(document.pointer(pointer).is_some(), "{reference} leads nowhere");
        }
    }

    #[test]
    fn every_route_is_described_once() {
        let routes = table();
        let document = document(&routes);
        let paths = document["paths"].as_object().expect("paths");
        let described: usize =
            paths.values().map(|path| path.as_object().map_or(0, Map::len)).sum();
        assert_eq!(described, routes.len());
        for route in &routes {
            let operation = &document["paths"][route.path][route.method];
            assert_eq!(operation["summary"], route.summary);
            let parameters = operation["parameters"].as_array().map_or(0, Vec::len);
            assert_eq!(parameters, route.path.matches('{').count(), "{}", route.path);
        }
    }
}
