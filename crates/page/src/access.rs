//! Access control by `Host` and `Origin` (DNS rebinding, cross-site requests): whether a request
//! names this server, and comes from no foreign page.
//! Loopback is not trust: a web page that the user visits can have his browser ask, under a name
//! that points here.

use axum::http::{HeaderMap, StatusCode, header};
use std::net::IpAddr;

/// Where a browser says whose page a request comes from.
const FETCH_SITE: &str = "sec-fetch-site";

/// Why a request is sent away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Denied {
    /// 400 where it is malformed, 403 where it is another's.
    pub status: StatusCode,
    /// In words.
    pub words: &'static str,
}

/// Lets a request pass that names this server and comes from no foreign page. `own` has the
/// addresses, as `host:port`, under which it is known, loopback aside.
pub fn check(headers: &HeaderMap, own: &[String]) -> Result<(), Denied> {
    if headers.get_all(header::HOST).iter().count() > 1 {
        return Err(malformed("the request names more than one Host"));
    }
    let Some(host) = text(headers, header::HOST) else {
        return Err(malformed("the request names no Host"));
    };
    if !is_this_server(host, own) {
        return Err(forbidden("Host is neither loopback nor an address of this node"));
    }
    // A browser says so even where it sends no Origin, as with an image.
    if headers.get_all(FETCH_SITE).iter().any(|site| site == "cross-site") {
        return Err(forbidden("the request comes from another site's page"));
    }
    match headers.get(header::ORIGIN) {
        None => Ok(()),
        Some(_) if text(headers, header::ORIGIN).is_some_and(|it| is_same(it, host)) => Ok(()),
        Some(_) => Err(forbidden("Origin is another site than Host")),
    }
}

fn malformed(words: &'static str) -> Denied {
    Denied { status: StatusCode::BAD_REQUEST, words }
}

fn forbidden(words: &'static str) -> Denied {
    Denied { status: StatusCode::FORBIDDEN, words }
}

/// A header, if it is there and plain text.
pub fn text(headers: &HeaderMap, name: header::HeaderName) -> Option<&str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

fn is_this_server(host: &str, own: &[String]) -> bool {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_and_own_addresses_are_this_server() {
        let own = ["node1:7070".to_string(), "10.0.0.1:7070".to_string()];
        let good =
            ["localhost", "LOCALHOST:1", "127.0.0.1:7070", "127.9.9.9", "[::1]:80", "node1:7070"];
        for host in good {
            assert!(is_this_server(host, &own), "{host}");
        }
        for host in ["evil.example", "node1:7071", "node1", "10.0.0.1", "localhost.evil:80", ""] {
            assert!(!is_this_server(host, &own), "{host}");
        }
    }

    #[test]
    fn an_origin_is_the_same_only_with_the_same_port() {
        assert!(is_same("http://localhost:7070", "localhost:7070"));
        for origin in ["null", "http://localhost:3000", "http://evil.example", "localhost:7070"] {
            assert!(!is_same(origin, "localhost:7070"), "{origin}");
        }
    }
}
