//! Access control: `Host`, `Origin` (DNS rebinding, cross-site requests), as the page checks them,
//! too; and who is served when there is hardly room. Who asks, and may do what, is `authorize`.

use super::Api;
use super::places::Room;
use super::problem::Problem;
use crate::desk::refusal;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

/// Lets a request pass that names this node and comes from no foreign page.
pub async fn check_request(State(api): State<Api>, request: Request, next: Next) -> Response {
    let answer = match check(request.headers(), &api.config.own) {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into_response(),
    };
    api.metrics.answered(&answer);
    answer
}

/// Sends a request away that came on a reserved place and is not urgent.
pub async fn check_room(request: Request, next: Next) -> Response {
    if request.extensions().get::<Room>() == Some(&Room::Reserved) {
        let words = "too many connections are open at this node";
        return Problem::from(refusal::unavailable(words)).into_response();
    }
    next.run(request).await
}

fn check(headers: &HeaderMap, own: &[String]) -> Result<(), Problem> {
    conclave_page::access::check(headers, own).map_err(|denied| match denied.status {
        StatusCode::FORBIDDEN => Problem::forbidden(denied.status, denied.words),
        status => Problem::new(status, denied.words),
    })
}

/// Whether this is the admin token. It takes as long for a wrong one as for the right one.
pub fn is_token(shown: &str, token: &str) -> bool {
    let differ = shown.bytes().zip(token.bytes()).fold(0, |differ, (a, b)| differ | (a ^ b));
    shown.len() == token.len() && differ == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_right_only_as_a_whole() {
        assert!(is_token("abc", "abc"));
        for wrong in ["", "ab", "abcd", "abd"] {
            assert!(!is_token(wrong, "abc"), "{wrong}");
        }
    }
}
