//! Streams of sessions: who asked for it ends soon after its stream does.

use crate::common::{Client, Cluster, FOR_EVER, admin, call, numbered, post, until};
use conclave_service::http::HttpLimits;
use serde_json::json;
use std::net::SocketAddr;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

async fn attach(address: SocketAddr, session: &str, stream: u64) -> TcpStream {
    attach_by("nobody", address, session, stream).await
}

/// The stream of a session of somebody, by a token that is the name.
pub async fn attach_by(who: &str, address: SocketAddr, session: &str, stream: u64) -> TcpStream {
    let mut connection = TcpStream::connect(address).await.expect("it listens");
    let request = format!(
        "GET /v1/session/stream HTTP/1.1\r\nhost: {address}\r\nconclave-session: {session}\r\n\
         conclave-stream: {stream}\r\nauthorization: Bearer {who}\r\n\r\n"
    );
    connection.write_all(request.as_bytes()).await.expect("it reads");
    let mut told = String::new();
    let reading = async {
        let mut buffer = [0; 1_024];
        let begun = format!("event: attached\ndata: {{\"stream\":{stream}}}\n\n");
        while !told.contains(&begun) {
            let read = connection.read(&mut buffer).await.expect("it goes on");
            assert!(read > 0, "it ended: {told}");
            told.push_str(&String::from_utf8_lossy(&buffer[..read]));
        }
    };
    timeout(FOR_EVER, reading).await.expect("it is attached");
    connection
}

/// A session that ends soon after its stream.
async fn watched(address: SocketAddr) -> Client {
    let words = json!({
        "label": "watched", "ttl_ms": 600_000, "on_disconnect": { "grace_ms": 200 },
    });
    let opened = post(address, "/v1/sessions", &words).await.json();
    let session = opened["session"].as_str().expect("an id").to_string();
    Client { address, session }
}

/// What is answered to a request for a stream that is refused.
async fn refused(address: SocketAddr, session: &str, stream: u64) -> (u16, String) {
    let headers = [("conclave-session", session), ("conclave-stream", &*stream.to_string())];
    call(address, "GET /v1/session/stream", &headers, "").await.failure()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_ends_soon_after_its_stream_unless_another_comes() {
    let cluster = Cluster::start(3).await;
    let address = cluster.nodes[1];
    let client = watched(address).await;
    let session = client.session.clone();
    let held = client.acquire("a").await;
    let first = attach(address, &session, 1).await;
    let second = attach(cluster.nodes[2], &session, 2).await;
    let ping = |stream: u64| json!({ "session": session, "stream": stream });
    assert_eq!(post(cluster.nodes[2], "/v1/session/ping", &ping(2)).await.status, 204);
    assert_eq!(post(cluster.nodes[2], "/v1/session/ping", &ping(1)).await.status, 404);
    drop(first);
    let waiter = Client::open(cluster.nodes[0], "waiter").await;
    let asked = waiter.queue("a", numbered(1, 18_000)).await;
    let verify = json!({ "fence": held });
    let told = post(address, "/v1/locks/a/verify", &verify).await.json();
    assert_eq!(told["valid"], true, "a later stream stands");
    drop(second);
    let granted = crate::common::fence(&asked.await.expect("answered"));
    assert!(granted > held);
    let keep = format!("POST /v1/sessions/{session}/keepalive");
    let gone = call(address, &keep, &[], "").await;
    assert_eq!(gone.failure(), (404, "no_session".into()));
    cluster.stop().await;
}

/// The stream that is there is never ended to make room: a client that runs would lose its session.
#[tokio::test(flavor = "multi_thread")]
async fn the_next_stream_is_refused_and_the_first_session_lives_on() {
    let cluster = Cluster::limited(1, HttpLimits { streams: 1, ..HttpLimits::default() }).await;
    let address = cluster.first();
    let first = watched(address).await;
    let stream = attach(address, &first.session, 1).await;
    let second = watched(address).await;
    let full = (429, "too_many".to_string());
    assert_eq!(refused(address, &second.session, 1).await, full);
    let ping = json!({ "session": first.session, "stream": 1 });
    assert_eq!(post(address, "/v1/session/ping", &ping).await.status, 204);
    drop(stream); // Its place is free again, and the second session was not held against.
    until(async || {
        let attached = refused_or_attached(address, &second.session).await;
        attached == 200
    })
    .await;
    cluster.stop().await;
}

/// The status that a request for a stream is answered with.
async fn refused_or_attached(address: SocketAddr, session: &str) -> u16 {
    let mut connection = TcpStream::connect(address).await.expect("it listens");
    let request = format!(
        "GET /v1/session/stream HTTP/1.1\r\nhost: {address}\r\nconclave-session: {session}\r\n\
         conclave-stream: 2\r\n\r\n"
    );
    connection.write_all(request.as_bytes()).await.expect("it reads");
    let mut head = [0; 12];
    connection.read_exact(&mut head).await.expect("it answers");
    String::from_utf8_lossy(&head[9..]).parse().expect("a status")
}

/// All that a stream still says until its end.
async fn rest(mut stream: TcpStream) -> String {
    let mut told = Vec::new();
    let reading = async {
        let mut buffer = [0; 1_024];
        while !told.ends_with(b"\r\n0\r\n\r\n") {
            let read = stream.read(&mut buffer).await.expect("it goes on");
            assert!(read > 0, "it was cut: {}", String::from_utf8_lossy(&told));
            told.extend_from_slice(&buffer[..read]);
        }
    };
    timeout(FOR_EVER, reading).await.expect("it ends");
    String::from_utf8(told).expect("text")
}

/// A client knows at once, at whichever node its stream is, and why.
#[tokio::test(flavor = "multi_thread")]
async fn a_stream_ends_with_its_session_and_says_why() {
    let cluster = Cluster::start(3).await;
    for node in cluster.nodes.clone() {
        let closed = watched(node).await;
        let stream = attach(node, &closed.session, 1).await;
        let end = format!("DELETE /v1/sessions/{}", closed.session);
        assert_eq!(call(cluster.first(), &end, &[], "").await.status, 204);
        let told = rest(stream).await;
        assert!(told.contains("event: ended\ndata: {\"reason\":\"closed\"}\n\n"), "{told}");
    }
    let silent = Client::open_for(cluster.first(), "silent", 3_000).await;
    let told = rest(attach(cluster.nodes[2], &silent.session, 1).await).await;
    assert!(told.contains("event: ended\ndata: {\"reason\":\"expired\"}\n\n"), "{told}");
    cluster.stop().await;
}

/// The stream that counts is gone; an earlier one at another node hears what came of that.
#[tokio::test(flavor = "multi_thread")]
async fn an_earlier_stream_hears_that_its_session_has_lapsed() {
    let cluster = Cluster::start(3).await;
    let client = watched(cluster.first()).await;
    let earlier = attach(cluster.nodes[1], &client.session, 1).await;
    drop(attach(cluster.nodes[2], &client.session, 2).await);
    let told = rest(earlier).await;
    assert!(told.contains("event: ended\ndata: {\"reason\":\"lapsed\"}\n\n"), "{told}");
    cluster.stop().await;
}

/// Force takes a lock, and not the session that held it.
#[tokio::test(flavor = "multi_thread")]
async fn a_stream_outlives_what_is_taken_by_force() {
    let cluster = Cluster::start(1).await;
    let client = watched(cluster.first()).await;
    client.acquire("a").await;
    let _stream = attach(cluster.first(), &client.session, 1).await;
    let force = json!({ "reason": "a test", "now": true });
    let forced = admin(cluster.first(), "DELETE /v1/locks/a/holders", force).await;
    assert_eq!(forced.status, 200, "{forced:?}");
    let ping = json!({ "session": client.session, "stream": 1 });
    assert_eq!(post(cluster.first(), "/v1/session/ping", &ping).await.status, 204);
    cluster.stop().await;
}

/// That a stream is not its session's latest is told, and not taken for one that counts.
#[tokio::test(flavor = "multi_thread")]
async fn a_stream_of_an_earlier_number_is_refused() {
    let cluster = Cluster::start(1).await;
    let client = watched(cluster.first()).await;
    let _stream = attach(cluster.first(), &client.session, 7).await;
    let late = refused(cluster.first(), &client.session, 6).await;
    assert_eq!(late, (409, "conflict".to_string()));
    let twice = refused(cluster.first(), &client.session, 7).await;
    assert_eq!(twice, (409, "conflict".to_string()), "numbers rise");
    cluster.stop().await;
}
