//! The OpenAPI 3.1 document: the API described for programs. Paths come from the table of routes,
//! schemas from the types of the API.

use super::route_table::table;
use super::routes::{Gives, Need, Parameter, Route, Takes};
use axum::body::Bytes;
use conclave_api::schema;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::LazyLock;

static CLASSIC: LazyLock<Bytes> =
    LazyLock::new(|| document(&table(), schemas(false)).to_string().into());
static REPLICATED: LazyLock<Bytes> =
    LazyLock::new(|| document(&table(), schemas(true)).to_string().into());

/// The document as it is served. It never changes.
pub fn document_of(replicated: bool) -> Bytes {
    if replicated { REPLICATED.clone() } else { CLASSIC.clone() }
}

/// The types of the API. To the replicated engine the id of a request is a number. A classic one
/// takes any text, and lacks what it refuses as `unsupported`.
fn schemas(replicated: bool) -> Map<String, Value> {
    let mut all = Value::Object(schema::components());
    let numbered = all.as_object_mut().and_then(|all| all.remove("NumberedId"));
    if replicated {
        all["RequestId"] = numbered.unwrap_or_default();
    } else {
        all["AskedMode"]["enum"] = json!(["exclusive"]);
        all["Permits"]["maximum"] = json!(1);
        all["Acquire"]["properties"]["owner"] = json!({ "type": "null" });
        all["NewSession"]["properties"]["on_disconnect"] = json!({ "type": "null" });
    }
    if let Value::Object(all) = all { all } else { Map::new() }
}

fn document(routes: &[Route], schemas: Map<String, Value>) -> Value {
    let mut paths = Map::new();
    for route in routes {
        let path = paths.entry(route.path).or_insert_with(|| json!({}));
        path[route.method] = operation(route);
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
            "schemas": schemas,
            "securitySchemes": {
                "token": { "type": "http", "scheme": "bearer" },
                "certificate": { "type": "mutualTLS" },
            },
        },
        // Without a file of tokens nobody has to say who asks, but for what needs the admin token.
        "security": [{ "token": [] }, { "certificate": [] }, {}],
    })
}

fn operation(route: &Route) -> Value {
    let mut operation = json!({ "summary": route.summary, "responses": responses(route) });
    if let Takes::Json(name) | Takes::Maybe(name) = route.takes {
        let required = matches!(route.takes, Takes::Json(_));
        let content = content("application/json", name);
        operation["requestBody"] = json!({ "required": required, "content": content });
    }
    let mut parameters: Vec<Value> = parameters(route.path).map(parameter).collect();
    parameters.extend(route.also.iter().map(also));
    if !parameters.is_empty() {
        operation["parameters"] = json!(parameters);
    }
    if route.need == Need::Nothing {
        operation["security"] = json!([]);
    } else if route.need.is_admin() {
        operation["security"] = json!([{ "token": [] }, { "certificate": [] }]);
    }
    operation
}

/// All answers by status.
fn responses(route: &Route) -> Map<String, Value> {
    let (status, content) = match route.gives {
        Gives::Nothing => (204, json!({})),
        Gives::Json(name) => (200, content("application/json", name)),
        Gives::AnyJson => (200, json!({ "application/json": {} })),
        Gives::Text => (200, json!({ "text/plain": { "schema": { "type": "string" } } })),
        Gives::Stream(name) => (200, stream(name)),
        Gives::Bytes => (200, json!({ "application/octet-stream": {} })),
    };
    let mut done = json!({ "description": "Done." });
    if route.gives != Gives::Nothing {
        done["content"] = content;
    }
    let mut all = BTreeMap::from([(status, done)]);
    let mut codes: BTreeMap<u16, Vec<&str>> = BTreeMap::new();
    for (status, code) in route.refusals() {
        codes.entry(status).or_default().push(code.as_str());
    }
    for (status, codes) in codes {
        all.insert(status, failure(&codes));
    }
    all.into_iter().map(|(status, answer)| (status.to_string(), answer)).collect()
}

/// A failure with one of these codes.
fn failure(codes: &[&str]) -> Value {
    let code = json!({ "properties": { "code": { "enum": codes } } });
    let narrowed = json!({ "properties": { "error": code } });
    let schema = json!({ "allOf": [schema::reference("Failure"), narrowed] });
    json!({
        "description": codes.join(", "),
        "content": { "application/json": { "schema": schema } },
    })
}

fn parameter(name: &str) -> Value {
    let schema = match name {
        "name" => "Name",
        "request_id" => "RequestId",
        "member" => "NodeNumber",
        _ => "SessionId",
    };
    json!({ "name": name, "in": "path", "required": true, "schema": schema::reference(schema) })
}

fn also(parameter: &Parameter) -> Value {
    let Parameter { name, place, schema } = *parameter;
    let schema = match schema {
        "boolean" => json!({ "type": schema }),
        named => schema::reference(named),
    };
    json!({ "name": name, "in": place, "required": place == "header", "schema": schema })
}

/// The names between the braces of a path.
fn parameters(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'))
}

fn content(kind: &str, name: &str) -> Value {
    json!({ kind: { "schema": schema::reference(name) } })
}

/// Server-sent events whose data is JSON of this schema.
fn stream(name: &str) -> Value {
    let schema = json!({
        "type": "string",
        "description": "Server-sent events; the data of each is JSON.",
        "contentMediaType": "application/json",
        "contentSchema": schema::reference(name),
    });
    json!({ "text/event-stream": { "schema": schema } })
}

#[cfg(test)]
mod tests {
    use super::*;
    use conclave_api::Code;

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
        let document = document(&table(), schemas(true));
        let mut found = Vec::new();
        references(&document, &mut found);
        let schemas = schemas(true);
        assert!(!schemas.is_empty(), "the kept schemas cannot be read");
        for name in schemas.keys() {
            let name = format!("#/components/schemas/{name}");
            assert!(found.contains(&name), "{name} is used nowhere");
        }
        for reference in found {
            let pointer = reference.trim_start_matches('#');
            assert!(document.pointer(pointer).is_some(), "{reference} leads nowhere");
        }
    }

    #[test]
    fn the_id_of_a_request_is_a_number_where_the_engine_wants_one() {
        let pattern = |replicated| schemas(replicated)["RequestId"]["pattern"].to_string();
        assert!(pattern(true).starts_with("\"^(9007199254740991|[1-9][0-9]{0,14}|"));
        assert!(!pattern(false).contains("0-9"), "{}", pattern(false));
        assert_eq!(schemas(false)["AskedMode"]["enum"], json!(["exclusive"]));
        // Of an answer that explains who waits, and of a request that says how long.
        assert_eq!(schemas(true)["WaitMs"]["type"], "integer");
        assert_eq!(schemas(true)["Wait"]["type"], "object");
    }

    #[test]
    fn every_route_is_described_once() {
        let routes = table();
        let document = document(&routes, schemas(false));
        let paths = document["paths"].as_object().expect("paths");
        let described: usize =
            paths.values().map(|path| path.as_object().map_or(0, Map::len)).sum();
        assert_eq!(described, routes.len());
        for route in &routes {
            let operation = &document["paths"][route.path][route.method];
            assert_eq!(operation["summary"], route.summary);
            let parameters = operation["parameters"].as_array().map_or(0, Vec::len);
            let others = route.also.len();
            assert_eq!(parameters, route.path.matches('{').count() + others, "{}", route.path);
        }
    }

    #[test]
    fn a_body_that_is_too_large_has_a_described_answer() {
        let document = document(&table(), schemas(true));
        for route in table() {
            let operation = &document["paths"][route.path][route.method];
            let described = operation["responses"]["413"]["description"] == "too_large";
            assert_eq!(described, route.takes != Takes::Nothing, "{} {}", route.method, route.path);
        }
    }

    #[test]
    fn numbers_of_nodes_and_streams_have_an_end() {
        assert_eq!(schemas(true)["NodeNumber"]["maximum"], u32::MAX);
        assert_eq!(schemas(true)["StreamNumber"]["maximum"], conclave_api::limits::STREAM_MAX);
    }

    #[test]
    fn every_route_is_told_of_in_the_manual() {
        let manual = include_str!("../../../../docs/api.md").replace("%2F", "/");
        for route in table() {
            let last = route.path.rsplit('/').find(|part| !part.starts_with('{'));
            let last = last.unwrap_or_default();
            assert!(manual.contains(last), "docs/api.md lacks {} {}", route.method, route.path);
        }
    }

    #[test]
    fn every_code_is_described_with_a_status_that_fits() {
        let routes = table();
        let all: Vec<(u16, Code)> = routes.iter().flat_map(Route::refusals).collect();
        for code in Code::ALL {
            let status = code.status();
            assert!(all.contains(&(status, *code)), "no route answers {status} {code}");
        }
        for (status, code) in all {
            let fits = status == code.status() || (400..500).contains(&status);
            assert!(fits, "{status} {code}");
        }
    }
}
