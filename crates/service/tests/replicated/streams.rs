//! Streams of sessions: who asked for it ends soon after its stream does.

use crate::common::{Client, Cluster, FOR_EVER, call, numbered, post};
use serde_json::json;
use std::net::SocketAddr;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

async fn attach(address: SocketAddr, session: &str, stream: u64) -> TcpStream {
    let mut connection = TcpStream::connect(address).await.expect("it listens");
    let request = format!(
        "GET /v1/session/stream HTTP/1.1\r\nhost: {address}\r\nconclave-session: {session}\r\n\
         conclave-stream: {stream}\r\n\r\n"
    );
    connection.write_all(request.as_bytes()).await.expect("it reads");
    let mut told = String::new();
    let reading = async {
        let mut buffer = [0; 1_024];
        while !told.contains("attached") {
            let read = connection.read(&mut buffer).await.expect("it goes on");
            assert!(read > 0, "it ended: {told}");
            told.push_str(&String::from_utf8_lossy(&buffer[..read]));
        }
    };
    timeout(FOR_EVER, reading).await.expect("it is attached");
    connection
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_ends_soon_after_its_stream_unless_another_comes() {
    let cluster = Cluster::start(3).await;
    let address = cluster.nodes[1];
    let words = json!({
        "label": "watched", "ttl_ms": 600_000, "on_disconnect": { "grace_ms": 200 },
    });
    let opened = post(address, "/v1/sessions", &words).await.json();
    let session = opened["session"].as_str().expect("an id").to_string();
    let client = Client { address, session: session.clone() };
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
