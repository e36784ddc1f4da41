//! Clients of the API that are wrong, foreign, slow or many.

use super::http::{Answer, acquire, call, connect, raw, release, request, session};
use super::kit::{Cluster, until};
use super::steady::Steady;
use conclave_client::{Client, Error, Wanted};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread::sleep;
use std::time::Duration;

const ACQUIRE: &str = "POST /v1/locks/x/acquire";
const BODY: &str = r#"{"session":"00000000000000000000000000000000"}"#;

/// A request, its headers and its body, and what it gets.
type Bad<'a> = (&'a str, &'a [(&'a str, &'a str)], &'a str, u16, &'a str);

const TABLE: &[Bad] = &[
    (ACQUIRE, &[], "{\"session\":", 400, "bad_request"),
    (ACQUIRE, &[], "[[[[[[[[[[", 400, "bad_request"),
    (ACQUIRE, &[("content-type", "text/plain")], BODY, 415, "bad_request"),
    (ACQUIRE, &[("host", "evil.example")], BODY, 403, "forbidden"),
    (ACQUIRE, &[("origin", "http://evil.example")], BODY, 403, "forbidden"),
    (ACQUIRE, &[], BODY, 404, "no_session"),
    ("POST /v1/locks/a%2Fb/acquire", &[], BODY, 404, "no_session"),
    ("POST /v1/locks/a/b/acquire", &[], BODY, 404, "not_found"),
    ("POST /v1/locks/a%00b/acquire", &[], BODY, 400, "bad_request"),
    ("POST /v1/locks/a%0Ab/acquire", &[], BODY, 400, "bad_request"),
    ("POST /v1/locks/%/acquire", &[], BODY, 400, "bad_request"),
    ("POST /v1/locks/%FF%FE/acquire", &[], BODY, 400, "bad_request"),
    ("POST /v1/locks//acquire", &[], BODY, 400, "bad_request"),
    ("GET /v1/../../etc/passwd", &[], "", 404, "not_found"),
    ("GET /v1/locks/..%2F..%2Fetc%2Fpasswd", &[], "", 404, "not_found"),
    ("GET //v1/locks", &[], "", 404, "not_found"),
    ("TRACE /v1/locks", &[], "", 405, "bad_request"),
];

fn expect(answer: &Answer, status: u16, code: &str, line: &str) {
    let line: String = line.chars().take(80).collect();
    assert_eq!((answer.status, answer.code().as_str()), (status, code), "{line}: {answer:?}");
}

#[test]
fn bad_requests_get_a_status_and_change_nothing() {
    let mut cluster = Cluster::new(3, "central-failover").start();
    let steady = Steady::start(&cluster.apis());
    let api = cluster.members[1].api;
    for (line, headers, body, status, code) in TABLE {
        expect(&call(api, line, headers, body), *status, code, line);
    }
    let long = format!("POST /v1/locks/{}/acquire", "x".repeat(300));
    expect(&call(api, &long, &[], BODY), 400, "bad_request", &long);
    let huge = format!("{{\"session\":\"{}\"}}", "x".repeat(10_000_000));
    expect(&call(api, ACQUIRE, &[], &huge), 413, "too_large", "a huge body");
    let deep = "[".repeat(60_000);
    expect(&call(api, ACQUIRE, &[], &deep), 400, "bad_request", "a deep body");
    strange_heads(api);
    steady.goes_on();
    let locks = call(api, "GET /v1/locks", &[], "").json();
    let names: Vec<&str> =
        locks["locks"].as_array().unwrap().iter().filter_map(|l| l["name"].as_str()).collect();
    assert_eq!(names, ["steady"], "nothing was made by any of these");
    steady.finish();
    assert!(cluster.members.iter_mut().all(super::kit::Member::runs));
}

/// Heads that are no heads, or far too long ones.
fn strange_heads(api: SocketAddr) {
    let header = "x".repeat(1_000_000);
    let answer = raw(api, request("GET /healthz", &[("x-long", &header)], "").as_bytes());
    assert!(answer.contains(" 431 "), "a long header: {answer}");
    let many: Vec<(&str, &str)> = (0..500).map(|_| ("x-many", "1")).collect();
    let answer = raw(api, request("GET /healthz", &many, "").as_bytes());
    assert!(answer.contains(" 431 "), "many headers: {answer}");
    let path = format!("GET /{}", "x".repeat(100_000));
    let answer = raw(api, request(&path, &[], "").as_bytes());
    assert!(answer.contains(" 414 ") || answer.contains(" 431 "), "a long path: {answer}");
    let garbage = raw(api, &[0xA5; 4_000]);
    assert!(garbage.is_empty() || garbage.contains(" 400 "), "garbage: {garbage}");
    let cluster = raw(api, b"CONCLAVE\x02\0\0\0\x05hello\r\n\r\n");
    assert!(cluster.is_empty() || cluster.contains(" 400 "), "a node: {cluster}");
    let smuggled = "POST /v1/sessions HTTP/1.1\r\nhost: localhost\r\ncontent-length: 5\r\n\
                    transfer-encoding: chunked\r\ncontent-length: 7\r\n\r\n0\r\n\r\n";
    let answer = raw(api, smuggled.as_bytes());
    assert!(!answer.contains(" 200 "), "two lengths: {answer}");
}

#[test]
fn slow_and_idle_clients_hold_up_nobody() {
    let cluster = Cluster::new(3, "central-failover").start();
    let steady = Steady::start(&cluster.apis());
    let second = &cluster.members[1];
    let mut slow: Vec<TcpStream> = (0..50).map(|_| connect(second.api)).collect();
    for stream in &mut slow {
        stream.write_all(b"GET /healthz HT").unwrap();
    }
    let idle: Vec<TcpStream> = (0..500).map(|_| connect(second.api)).collect();
    steady.goes_on();
    trickle(second.api);
    second.line("closed: the head of a request did not come in time");
    for mut stream in slow {
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        assert!(answer.is_empty(), "{}", String::from_utf8_lossy(&answer));
    }
    let lines = second.count("the head of a request did not come in time");
    assert_eq!(lines, 1, "{lines} lines about 51 slow clients");
    drop(idle);
    steady.finish();
}

/// Sends a request byte by byte until the other side has had enough.
fn trickle(api: SocketAddr) {
    let mut stream = connect(api);
    for byte in b"GET /".iter().chain(&[b'x'; 2_000]) {
        if stream.write_all(&[*byte]).is_err() {
            return;
        }
        sleep(Duration::from_millis(50)); // This is the attack.
    }
    panic!("a client may be as slow as it likes");
}

#[test]
fn more_clients_than_there_is_room_for_are_sent_away_and_room_comes_back() {
    let cluster = Cluster::new(1, "central").start();
    let only = &cluster.members[0];
    let holder = session(only.api, 60_000);
    let held = acquire(only.api, "held", &holder, 10_000).json();
    // Who was served once may stay for longer than it takes all others to come.
    let stay = |_| {
        let mut stream = connect(only.api);
        let _ = stream.write_all(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n");
        stream
    };
    let crowd: Vec<TcpStream> = (0..1_500).map(stay).collect();
    only.line("1024 connections are open");
    let lines = only.count("1024 connections are open");
    assert_eq!(lines, 1, "{lines} lines about 476 clients too many");
    let keepalive = format!("POST /v1/sessions/{holder}/keepalive");
    assert_eq!(call(only.api, &keepalive, &[], "{}").status, 200, "a holder is heard all the same");
    let released = release(only.api, "held", &holder, held["fence"].as_u64().unwrap());
    assert_eq!(released.status, 200, "{released:?}");
    drop(crowd);
    until("there is room again", || {
        super::http::try_call(only.api, "GET /healthz", &[], "").filter(|a| a.status == 200)
    });
    let session = session(only.api, 10_000);
    assert_eq!(acquire(only.api, "a", &session, 10_000).status, 200);
}

#[test]
fn many_who_wait_in_vain_are_all_told_so_by_some_node() {
    let cluster = Cluster::new(3, "central-failover").start();
    let servers: Vec<String> = cluster.apis().iter().map(ToString::to_string).collect();
    let held = Client::new(&servers).unwrap().lock("hot", &Wanted::default()).unwrap();
    let wait = Some(Duration::from_secs(3));
    let waiting: Vec<_> = (0..200)
        .map(|_| {
            let client = Client::new(&servers).unwrap();
            let wanted = Wanted { wait, ..Wanted::default() };
            std::thread::spawn(move || client.lock("hot", &wanted).unwrap_err())
        })
        .collect();
    for waiter in waiting {
        let error = waiter.join().unwrap();
        assert!(error.retry() && !matches!(error, Error::Unreachable(_)), "{error}");
    }
    assert_eq!(held.lost(), None);
}
