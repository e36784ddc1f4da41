//! Who may do what: tokens, rights by prefix, and sessions that belong to who opened them.

use crate::common::{Cluster, TOKEN, by, call, patient, raw, session_of};
use conclave_net::ApiTls;
use conclave_service::http::HttpLimits;
use serde_json::{Value, json};

#[tokio::test(flavor = "multi_thread")]
async fn who_is_not_known_is_told_so_and_health_is_free() {
    let cluster = Cluster::guarded(1, "central").await;
    let address = cluster.first();
    for free in ["GET /healthz", "GET /openapi.json"] {
        assert_eq!(call(address, free, &[], "").await.status, 200, "{free}");
    }
    let routes = ["GET /v1/locks", "GET /v1/cluster", "GET /metrics", "GET /v1/locks/builds%2Fa"];
    for route in routes.into_iter().chain(["GET /v1/values/v", "DELETE /v1/locks/a/holders"]) {
        let none = call(address, route, &[], "").await;
        assert_eq!(none.failure(), (401, "unauthorized".into()), "{route}");
        assert!(none.head.to_lowercase().contains("www-authenticate: bearer"), "{}", none.head);
        for wrong in ["Bearer nobody", "Bearer ", "Basic Y2k6Y2k=", "ci"] {
            let wrong = call(address, route, &[("authorization", wrong)], "").await;
            assert_eq!(wrong.failure(), (401, "unauthorized".into()), "{route}");
        }
    }
    let twice = [("authorization", "Bearer ci"), ("authorization", "Bearer watcher")];
    assert_eq!(call(address, "GET /v1/locks", &twice, "").await.status, 401);
    assert_eq!(by("ci", address, "GET /v1/cluster", Value::Null).await.status, 200);
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn rights_end_with_the_prefix() {
    let cluster = Cluster::guarded(1, "central").await;
    let address = cluster.first();
    let session = session_of("ci", address, json!({})).await;
    let take =
        |name: &str| (format!("POST /v1/locks/{name}/acquire"), json!({ "session": session }));
    let (request, body) = take("builds%2Fa");
    let held = by("ci", address, &request, body).await;
    assert_eq!(held.status, 200, "{held:?}");
    for name in ["shared%2Fa", "other", "builds", "rival%2Fa"] {
        let (request, body) = take(name);
        let refused = by("ci", address, &request, body).await;
        assert_eq!(refused.failure(), (403, "forbidden".into()), "{name}");
    }
    let fence = json!({ "fence": held.json()["fence"] });
    for (who, name, status) in
        [("ci", "builds%2Fa", 200), ("watcher", "builds%2Fa", 200), ("ci", "rival%2Fa", 403)]
    {
        let seen = by(who, address, &format!("POST /v1/locks/{name}/verify"), fence.clone()).await;
        assert_eq!(seen.status, status, "{who} {name}");
    }
    let value = json!({ "value": 1, "fence": held.json()["fence"] });
    for (who, status) in [("watcher", 403), ("ci", 200)] {
        let put = by(who, address, "PUT /v1/values/builds%2Fa", value.clone()).await;
        assert_eq!(put.status, status, "{who}: {put:?}");
    }
    let force = "DELETE /v1/locks/builds%2Fa/holders";
    let reason = json!({ "reason": "it hangs" });
    for (who, status) in [("ci", 403), ("watcher", 403), ("operator", 200)] {
        assert_eq!(by(who, address, force, reason.clone()).await.status, status, "{who}");
    }
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_of_use_to_who_opened_it_alone() {
    let cluster = Cluster::guarded(1, "central").await;
    let address = cluster.first();
    let words = json!({ "request_id": "0123456789abcdef", "label": "mine" });
    let session = session_of("ci", address, words.clone()).await;
    assert_eq!(session_of("ci", address, words.clone()).await, session, "a repeat");
    assert_ne!(session_of("rival", address, words).await, session, "ids are per principal");
    let take = json!({ "session": session });
    let stolen = by("rival", address, "POST /v1/locks/builds%2Fa/acquire", take.clone()).await;
    assert_eq!(stolen.failure(), (404, "no_session".into()));
    for request in
        [format!("POST /v1/sessions/{session}/keepalive"), format!("DELETE /v1/sessions/{session}")]
    {
        let stolen = by("rival", address, &request, Value::Null).await;
        assert_eq!(stolen.failure(), (404, "no_session".into()), "{request}");
    }
    let held = by("ci", address, "POST /v1/locks/builds%2Fa/acquire", take).await;
    let back = json!({ "session": session, "fence": held.json()["fence"] });
    let release = "POST /v1/locks/builds%2Fa/release";
    let stolen = by("rival", address, release, back.clone()).await;
    assert_eq!(stolen.failure(), (404, "no_session".into()));
    assert_eq!(by("ci", address, release, back).await.status, 200);
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_events_and_metrics_show_what_one_may_read() {
    let cluster = Cluster::guarded(1, "central").await;
    let address = cluster.first();
    for (who, name) in [("ci", "builds%2Fa"), ("rival", "rival%2Fa"), ("rival", "builds%2Fb")] {
        let take = json!({ "session": session_of(who, address, json!({})).await });
        let held = by(who, address, &format!("POST /v1/locks/{name}/acquire"), take).await;
        assert_eq!(held.status, 200, "{held:?}");
    }
    let names = async |who: &str, page: &str| -> (Vec<String>, Value) {
        let list = by(who, address, &format!("GET /v1/locks{page}"), Value::Null).await.json();
        let locks = list["locks"].as_array().expect("a list").iter();
        let names = locks.map(|lock| lock["name"].as_str().expect("a name").to_string());
        (names.collect(), list["next"].clone())
    };
    assert_eq!(names("ci", "").await.0, ["builds/a", "builds/b"]);
    assert_eq!(names("watcher", "").await.0, ["builds/a", "builds/b", "rival/a"]);
    let paged = names("ci", "?limit=2").await;
    assert_eq!((paged.0.len(), paged.1), (2, Value::Null), "what follows is not even hinted at");
    for (who, status) in [("ci", 403), ("watcher", 200), (TOKEN, 200)] {
        assert_eq!(by(who, address, "GET /metrics", Value::Null).await.status, status, "{who}");
    }
    for (who, sees) in [("ci", false), ("watcher", true)] {
        let request = format!(
            "GET /v1/events HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {who}\r\n\r\n"
        );
        let events = first_events(address, &request, "builds/b").await;
        assert!(events.contains("builds/a"), "{events}");
        assert_eq!(events.contains("rival/a"), sees, "{who}: {events}");
        assert_eq!(events.contains("session_opened"), sees, "{who}: {events}");
    }
    cluster.stop().await;
}

/// Reads a stream until these words have come.
async fn first_events(address: std::net::SocketAddr, request: &str, until: &str) -> String {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let mut stream = tokio::net::TcpStream::connect(address).await.expect("it listens");
    stream.write_all(request.as_bytes()).await.expect("sent");
    let mut heard = String::new();
    let reading = async {
        let mut bytes = [0; 4096];
        while !heard.contains(until) {
            let count = stream.read(&mut bytes).await.expect("it goes on");
            assert!(count > 0, "the stream ended: {heard}");
            heard += &String::from_utf8_lossy(&bytes[..count]);
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(20), reading).await.expect("it hangs");
    heard
}

#[tokio::test(flavor = "multi_thread")]
async fn values_are_asked_for_at_node_1_in_the_name_of_whoever_asks() {
    let cluster = Cluster::guarded(3, "central").await;
    let other = cluster.nodes[2];
    let value = json!({ "value": "x", "fence": 1 });
    let put = by("ci", other, "PUT /v1/values/builds%2Fv", value.clone()).await;
    assert_eq!(put.status, 200, "{put:?}");
    let refused = by("watcher", other, "PUT /v1/values/builds%2Fv", value).await;
    assert_eq!(refused.failure(), (403, "forbidden".into()));
    let seen = by("watcher", other, "GET /v1/values/builds%2Fv", Value::Null).await;
    assert_eq!(seen.json()["value"], "x");
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn plain_http_where_tls_is_spoken_is_told_so() {
    let cluster = Cluster::certified("central", patient()).await;
    let address = cluster.first();
    let answer = raw(address, b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n").await;
    assert!(answer.starts_with("HTTP/1.1 400 ") && answer.contains("takes https://"), "{answer}");
    cluster.stop().await;
}

/// All of an answer, by TLS.
async fn by_tls(tls: &ApiTls, address: std::net::SocketAddr, request: &str) -> String {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let stream = tokio::net::TcpStream::connect(address).await.expect("it listens");
    let mut stream = tls.connect("localhost", stream).await.expect("a handshake");
    let head = format!("{request} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).await.expect("sent");
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await; // Whether TLS says goodbye is no matter.
    String::from_utf8(answer).expect("text")
}

#[tokio::test(flavor = "multi_thread")]
async fn metrics_tell_when_the_certificate_of_the_api_ends() {
    let cluster = Cluster::certified("central", patient()).await;
    let tls = cluster.tls.clone().expect("it has certificates");
    let end = tls.end().duration_since(std::time::UNIX_EPOCH).expect("it is later").as_secs();
    let page = by_tls(&tls, cluster.first(), "GET /metrics").await;
    let line = format!("\nconclave_api_certificate_end_timestamp_seconds {end}\n");
    assert!(page.contains(&line), "{line} in {page}");
    let of_links = "\nconclave_certificate_end_timestamp_seconds ";
    assert!(!page.contains(of_links), "its links have none");
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_begins_a_handshake_and_does_not_go_on_is_let_go() {
    let head = std::time::Duration::from_millis(100);
    let cluster = Cluster::certified("central", HttpLimits { head, ..patient() }).await;
    // The beginning of a handshake, and nothing else: returns when the other side has closed.
    for begun in [&b"\x16\x03\x01"[..], b""] {
        assert_eq!(raw(cluster.first(), begun).await, "", "no answer");
    }
    cluster.stop().await;
}
