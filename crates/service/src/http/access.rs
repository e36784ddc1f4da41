//! Access control: `Host`, `Origin` (DNS rebinding, cross-site requests), and who is served when
//! there is hardly room. Who asks, and may do what, is `authorize`.
//! Loopback is not trust: a web page that the user visits can have his browser ask, under a name
//! that points here.

use super::Api;
use super::places::Room;
use super::problem::Problem;
use crate::desk::refusal;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::net::IpAddr;

/// Where a browser says whose page a request comes from.
const FETCH_SITE: &str = "sec-fetch-site";

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
    if headers.get_all(header::HOST).iter().count() > 1 {
        return Err(Problem::new(StatusCode::BAD_REQUEST, "the request names more than one Host"));
    }
    let Some(host) = text(headers, header::HOST) else {
        return Err(Problem::new(StatusCode::BAD_REQUEST, "the request names no Host"));
    };
    if !is_this_node(host, own) {
        let words = "Host is neither loopback nor an address of this node";
        return Err(Problem::forbidden(StatusCode::FORBIDDEN, words));
    }
    // A browser says so even where it sends no Origin, as with an image.
    if headers.get_all(FETCH_SITE).iter().any(|site| site == "cross-site") {
        let words = "the request comes from another site's page";
        return Err(Problem::forbidden(StatusCode::FORBIDDEN, words));
    }
    match headers.get(header::ORIGIN) {
        None => Ok(()),
        Some(_) if text(headers, header::ORIGIN).is_some_and(|it| is_same(it, host)) => Ok(()),
        Some(_) => {
            let words = "Origin is another site than Host";
            Err(Problem::forbidden(StatusCode::FORBIDDEN, words))
        }
    }
}

pub(super) fn text(headers: &HeaderMap, name: header::HeaderName) -> Option<&str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

fn is_this_node(host: &str, own: &[String]) -> bool {
    let bare = without_port(host);
    let ip = bare.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    bare.eq_ignore_ascii_case("localhost")
        || ip.is_ok_and(|ip| ip.is_loopback())
        || own.iter().any(|own| own.eq_ignore_ascii_case(host))
}

fn is_same(origin: &str, host: &str) -> bool {
    let authority = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
    authority.is_some_and(|authority| authority.eq_ignore_ascii_case(host))
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((bare, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => bare,
        _ => host,
    }
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
    fn only_loopback_and_own_addresses_are_this_node() {
        let own = ["node1:7070".to_string(), "10.0.0.1:7070".to_string()];
        let good =
            ["localhost", "LOCALHOST:1", "127.0.0.1:7070", "127.9.9.9", "[::1]:80", "node1:7070"];
        for host in good {
            assert!(is_this_node(host, &own), "{host}");
        }
        for host in ["evil.example", "node1:7071", "node1", "10.0.0.1", "localhost.evil:80", ""] {
            assert!(!is_this_node(host, &own), "{host}");
        }
    }

    #[test]
    fn an_origin_is_the_same_only_with_the_same_port() {
        assert!(is_same("http://localhost:7070", "localhost:7070"));
        for origin in ["null", "http://localhost:3000", "http://evil.example", "localhost:7070"] {
            assert!(!is_same(origin, "localhost:7070"), "{origin}");
        }
    }

    #[test]
    fn a_token_is_right_only_as_a_whole() {
        assert!(is_token("abc", "abc"));
        for wrong in ["", "ab", "abcd", "abd"] {
            assert!(!is_token(wrong, "abc"), "{wrong}");
        }
    }
}
