//! Connections: how long they last, and who is served when there are too many.

use crate::common::{Client, Cluster, call, patient};
use conclave_service::http::HttpLimits;
use serde_json::json;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Two connections, and one more for what is urgent.
fn scarce() -> HttpLimits {
    HttpLimits { connections: 2, reserved: 1, ..patient() }
}

fn keepalive(client: &Client) -> String {
    format!("POST /v1/sessions/{}/keepalive", client.session)
}

/// One answer, as far as its body.
async fn answer(stream: &mut TcpStream) -> String {
    let mut text = String::new();
    let mut buffer = [0; 4_096];
    while !text.contains("}") {
        let read = stream.read(&mut buffer).await.expect("an answer");
        assert_ne!(read, 0, "closed after {text:?}");
        text += &String::from_utf8_lossy(&buffer[..read]);
    }
    text
}

#[tokio::test(flavor = "multi_thread")]
async fn keepalives_with_a_body_keep_their_connection() {
    let cluster = Cluster::start(1, "ricart-agrawala", patient()).await;
    let client = Client::open(cluster.first(), "keeps on").await;
    let mut stream = TcpStream::connect(cluster.first()).await.expect("it listens");
    stream.set_nodelay(true).expect("a socket");
    let head = keepalive(&client) + " HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\n\r\n";
    for _ in 0..100 {
        stream.write_all(head.as_bytes()).await.expect("open");
        stream.write_all(b"{}").await.expect("open");
        let answer = answer(&mut stream).await;
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
        assert!(!answer.contains("connection: close"), "{answer}");
    }
    cluster.stop().await;
}

/// A connection on which the head of a request was sent, with JSON of so many bytes announced.
async fn asked(address: SocketAddr, request: &str, headers: &str, length: usize) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.expect("it listens");
    let length = format!("content-length: {length}\r\n");
    let head = format!("{request} HTTP/1.1\r\nhost: localhost\r\n{headers}{length}\r\n");
    stream.write_all(head.as_bytes()).await.expect("open");
    stream
}

const JSON: &str = "content-type: application/json\r\n";

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_before_the_body_says_that_the_connection_ends() {
    let cluster = Cluster::guarded(1, "central").await;
    let ci = &format!("{JSON}authorization: Bearer ci\r\n");
    let no_json = "content-type: text/plain\r\nauthorization: Bearer ci\r\n";
    for (request, headers, length, status) in [
        ("POST /v1/sessions", JSON, 2, 401),
        ("POST /v1/locks/other/acquire", ci, 2, 403),
        ("POST /v1/nothing", ci, 2, 404),
        ("PUT /v1/sessions", ci, 2, 405),
        ("POST /v1/sessions", ci, 1 << 30, 413),
        ("POST /v1/sessions", no_json, 2, 415),
        ("GET /v1/cluster", ci, 2, 200),
    ] {
        let mut stream = asked(cluster.first(), request, headers, length).await;
        let answer = answer(&mut stream).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{request}: {answer}");
        assert!(answer.contains("\r\nconnection: close\r\n"), "{request}: {answer}");
    }
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_after_the_body_keeps_the_connection_whatever_it_says() {
    let cluster = Cluster::guarded(1, "central").await;
    let ci = &format!("{JSON}authorization: Bearer ci\r\n");
    let mut stream = TcpStream::connect(cluster.first()).await.expect("it listens");
    for (request, headers, body, status) in [
        ("POST /v1/sessions", ci, "{}", 200),
        ("POST /v1/sessions", ci, "[]", 400),
        ("POST /v1/nothing", ci, "", 404),
        ("GET /v1/cluster", ci, "", 200),
        ("POST /v1/sessions", &String::new(), "", 401),
        ("POST /v1/sessions", ci, "{}", 200),
    ] {
        let length = body.len();
        let head = format!("{request} HTTP/1.1\r\nhost: localhost\r\n{headers}");
        let head = format!("{head}content-length: {length}\r\n\r\n");
        stream.write_all(head.as_bytes()).await.expect("open");
        stream.write_all(body.as_bytes()).await.expect("open");
        let answer = answer(&mut stream).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{request}: {answer}");
        assert!(!answer.contains("connection: close"), "{request}: {answer}");
    }
    cluster.stop().await;
}

/// A connection on which a request is being served. Whoever was here before may not have left yet.
async fn busy(address: SocketAddr) -> TcpStream {
    for _ in 0..1_000 {
        let mut stream = TcpStream::connect(address).await.expect("it listens");
        let request = b"GET /v1/events HTTP/1.1\r\nhost: localhost\r\n\r\n";
        stream.write_all(request).await.expect("sent");
        if answer(&mut stream).await.starts_with("HTTP/1.1 200 ") {
            return stream;
        }
    }
    panic!("there is no usual place");
}

#[tokio::test(flavor = "multi_thread")]
async fn among_busy_connections_what_is_urgent_is_served_and_nothing_else() {
    let cluster = Cluster::start(1, "ricart-agrawala", scarce()).await;
    let address = cluster.first();
    let holder = Client::open(address, "holds").await;
    let fence = holder.acquire("x").await;
    let crowd = [busy(address).await, busy(address).await];
    assert_eq!(call(address, &keepalive(&holder), &[], "{}").await.status, 200);
    let sent_away = call(address, "GET /v1/locks", &[], "").await;
    assert_eq!(sent_away.failure(), (503, "unavailable".into()));
    assert!(sent_away.head.contains("retry-after: 1"), "{}", sent_away.head);
    let opened = holder.post("/v1/locks/y/acquire", json!({})).await;
    assert_eq!(opened.failure(), (503, "unavailable".into()));
    assert_eq!(call(address, "GET /readyz", &[], "").await.status, 200);
    assert_eq!(holder.release("x", fence).await.status, 200);
    drop(crowd);
    for _ in 0..1_000 {
        if call(address, "GET /v1/locks", &[], "").await.status == 200 {
            return cluster.stop().await;
        }
    }
    panic!("there is room again, but nobody is served");
}

#[tokio::test(flavor = "multi_thread")]
async fn idle_connections_shut_nobody_out() {
    let cluster = Cluster::start(1, "ricart-agrawala", scarce()).await;
    let address = cluster.first();
    let holder = Client::open(address, "holds").await;
    let fence = holder.acquire("x").await;
    let mut crowd = Vec::new();
    for _ in 0..50 {
        crowd.push(TcpStream::connect(address).await.expect("it listens"));
        assert_eq!(call(address, &keepalive(&holder), &[], "{}").await.status, 200);
    }
    assert_eq!(holder.release("x", fence).await.status, 200);
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn among_too_many_event_streams_the_oldest_ends() {
    let limits = HttpLimits { streams: 2, ..patient() };
    let cluster = Cluster::start(1, "ricart-agrawala", limits).await;
    let address = cluster.first();
    let client = Client::open(address, "makes events").await;
    let mut crowd = Vec::new();
    for _ in 0..5 {
        crowd.push(busy(address).await);
    }
    let last = crowd.split_off(3);
    for mut old in crowd {
        let mut rest = String::new();
        let reading = old.read_to_string(&mut rest);
        let read = tokio::time::timeout(Duration::from_secs(20), reading).await;
        read.expect("it ends, and its connection with it").expect("in good order");
    }
    client.acquire("x").await;
    for mut stream in last {
        let seen = answer(&mut stream).await;
        assert!(seen.contains("granted"), "{seen}");
    }
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_never_reads_is_let_go() {
    let limits = HttpLimits { write: Duration::from_millis(200), ..patient() };
    let cluster = Cluster::start(1, "ricart-agrawala", limits).await;
    let mut stream = TcpStream::connect(cluster.first()).await.expect("it listens");
    let request = b"GET /openapi.json HTTP/1.1\r\nhost: localhost\r\n\r\n";
    // When the answers fill what the system keeps of them, no more requests are taken.
    let asking = async { while stream.write_all(request).await.is_ok() {} };
    let asked = tokio::time::timeout(Duration::from_secs(20), asking).await;
    asked.expect("the connection is closed");
    assert_eq!(call(cluster.first(), "GET /v1/locks", &[], "").await.status, 200);
    cluster.stop().await;
}
