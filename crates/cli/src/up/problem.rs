//! Error responses of `up` itself, in the words of the API.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use conclave_client::api::{Code, Failure};

/// A refusal with the status of its code.
pub fn problem(code: Code, message: impl Into<String>) -> Response {
    let status = StatusCode::from_u16(code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    problem_at(status, code, message)
}

/// A refusal with another status.
pub fn problem_at(status: StatusCode, code: Code, message: impl Into<String>) -> Response {
    let mut response = (status, Json(Failure::new(code, message))).into_response();
    let headers = response.headers_mut();
    match status {
        StatusCode::SERVICE_UNAVAILABLE => {
            headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        StatusCode::UNAUTHORIZED => {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        _ => {}
    }
    response
}
