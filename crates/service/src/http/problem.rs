//! Error responses: a refusal with its HTTP status and headers.

use crate::desk::refusal::{self, Refusal};
use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use conclave_api::Code;

/// An answer that is no success.
pub struct Problem {
    status: StatusCode,
    refusal: Refusal,
}

/// What a handler answers.
pub type Outcome<T> = Result<Json<T>, Problem>;

/// What a handler answers that writes its answer down itself.
pub type Listed = Result<Response, Problem>;

impl Problem {
    /// The request is wrong in a way for which HTTP has a status of its own.
    pub fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, refusal: refusal::bad(message) }
    }

    /// Nobody knows who asks.
    pub fn unauthorized(message: impl Into<String>) -> Self {
        let refusal = refusal::refuse(Code::Unauthorized, message);
        Self { status: StatusCode::UNAUTHORIZED, refusal }
    }

    /// Who asks may not.
    pub fn forbidden(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, refusal: refusal::refuse(Code::Forbidden, message) }
    }
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        let status = StatusCode::from_u16(refusal.status());
        let status = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        Self { status, refusal }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let retry = self.refusal.error.retry;
        let code = self.refusal.error.code;
        let mut response = (self.status, Json(*self.refusal)).into_response();
        response.extensions_mut().insert(code); // It is counted on its way out.
        let headers = response.headers_mut();
        match self.status {
            StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS if retry => {
                headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
            }
            StatusCode::UNAUTHORIZED => {
                headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            _ => {}
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_time_helps_against_says_when_to_come_back() {
        for (refusal, expected) in
            [(refusal::too_many("a crowd"), true), (refusal::used_up("all names"), false)]
        {
            let response = Problem::from(refusal).into_response();
            assert_eq!(response.status(), StatusCode::TOO_MANY_REQUESTS);
            assert_eq!(response.headers().contains_key(header::RETRY_AFTER), expected);
        }
    }
}
