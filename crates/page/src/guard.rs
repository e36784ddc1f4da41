//! Checks and headers around everything that is served: Host and Origin, and what a browser is
//! told not to do with the answer (Content-Security-Policy and the like).

use crate::access;
use crate::problem::Problem;
use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use std::sync::Arc;

/// Nothing but what this server itself has; no inline script or style.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    img-src 'self' blob: data:; connect-src 'self'; manifest-src 'self'; base-uri 'none'; \
    form-action 'none'; frame-ancestors 'none'";

const HEADERS: [(HeaderName, &str); 4] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// The router with its checks, its headers, and answers for what it does not have. `own` has the
/// addresses, as `host:port`, under which the server is known, loopback aside.
pub fn guarded(router: Router, own: Vec<String>) -> Router {
    router
        .fallback(|| async { Problem::new(StatusCode::NOT_FOUND, "no such route") })
        .method_not_allowed_fallback(|| async {
            Problem::new(StatusCode::METHOD_NOT_ALLOWED, "this route has other methods")
        })
        .layer(from_fn_with_state(Arc::new(own), check))
}

/// The router with the headers alone: for a server that has checks of its own.
pub fn with_headers(router: Router) -> Router {
    router.layer(from_fn(|request: Request, next: Next| async move {
        let mut answer = next.run(request).await;
        add_headers(&mut answer);
        answer
    }))
}

async fn check(State(own): State<Arc<Vec<String>>>, request: Request, next: Next) -> Response {
    let mut answer = match access::check(request.headers(), &own) {
        Ok(()) => next.run(request).await,
        Err(denied) => Problem::new(denied.status, denied.words).into_response(),
    };
    add_headers(&mut answer);
    answer
}

fn add_headers(answer: &mut Response) {
    for (name, value) in HEADERS {
        answer.headers_mut().insert(name, HeaderValue::from_static(value));
    }
}
