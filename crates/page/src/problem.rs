//! Error responses of the page: one line for people, and which field it is about.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

/// An answer that is no success.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What HTTP calls it.
    pub status: StatusCode,
    /// One line, for people.
    pub error: String,
    /// Which part of the question is wrong, if one is.
    pub field: Option<&'static str>,
}

#[derive(Serialize)]
struct Told<'a> {
    error: &'a str,
    field: Option<&'static str>,
}

impl Problem {
    /// A problem with no field of its own.
    pub fn new(status: StatusCode, error: impl Into<String>) -> Self {
        Self { status, error: error.into(), field: None }
    }

    /// A problem with one field of the question.
    pub fn of(field: &'static str, error: impl Into<String>) -> Self {
        Self { status: StatusCode::BAD_REQUEST, error: error.into(), field: Some(field) }
    }

    /// Too much is under way; it helps to ask again.
    pub fn busy(error: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, error)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let told = Told { error: &self.error, field: self.field };
        let mut response = (self.status, Json(told)).into_response();
        if self.status == StatusCode::SERVICE_UNAVAILABLE {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        response
    }
}
