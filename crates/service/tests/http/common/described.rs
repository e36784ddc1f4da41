//! What the API answers is what its OpenAPI document says: every answer of every test is looked up.

use serde_json::Value;
use std::sync::LazyLock;

static DOCUMENT: LazyLock<Value> = LazyLock::new(|| {
    let text = conclave_service::http::openapi(true);
    serde_json::from_slice(&text).expect("the document is JSON")
});

/// Panics unless this request may be answered with this status and code.
pub fn check(request: &str, status: u16, body: &str) {
    let (method, target) = request.split_once(' ').unwrap_or((request, ""));
    let path = target.split('?').next().unwrap_or_default();
    let paths = DOCUMENT["paths"].as_object().expect("paths");
    let Some((_, operations)) = paths.iter().find(|(known, _)| is_of(path, known)) else {
        assert_eq!(status, 404, "{request}: no such route is described");
        return;
    };
    let Some(operation) = operations.get(method.to_lowercase()) else {
        assert_eq!(status, 405, "{request}: no such method is described");
        return;
    };
    let described = &operation["responses"][status.to_string()];
    assert!(described.is_object(), "{request}: answered with {status}, which is not described");
    if status >= 400 {
        let answer: Value = serde_json::from_str(body).expect("a failure is JSON");
        let codes = "/content/application~1json/schema/allOf/1/properties/error/properties/code";
        let codes = described.pointer(&format!("{codes}/enum")).and_then(Value::as_array);
        let code = &answer["error"]["code"];
        let known = codes.is_some_and(|codes| codes.contains(code));
        assert!(known, "{request}: {status} {code} is not described");
    }
}

/// Whether a path is of a route, whose parameters are in braces.
fn is_of(path: &str, route: &str) -> bool {
    let parts = |path: &str| path.split('/').map(str::to_string).collect::<Vec<_>>();
    let path = parts(path);
    let route = parts(route);
    let same = |(part, known): (&String, &String)| known.starts_with('{') || part == known;
    path.len() == route.len() && path.iter().zip(&route).all(same)
}
