//! Bodies of requests: what their schemas say, and what no schema can say, is what is answered.

use crate::common::{Client, Cluster, Response, admin, call, numbered, post, until};
use conclave_api::limits::{BODY_MAX, FENCE_END, KEEPALIVE_MAX, NAMED_MAX, STREAM_MAX};
use conclave_core::NodeId;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::time::Instant;

const JSON: (&str, &str) = ("content-type", "application/json");

async fn keep(client: &Client, words: &Value) -> Response {
    let keepalive = format!("POST /v1/sessions/{}/keepalive", client.session);
    call(client.address, &keepalive, &[JSON], &words.to_string()).await
}

async fn put(address: SocketAddr, words: Value) -> Response {
    call(address, "PUT /v1/values/v", &[JSON], &words.to_string()).await
}

/// A session that holds much names all of it, or would lose what it does not name.
#[tokio::test(flavor = "multi_thread")]
async fn a_keepalive_may_name_as_many_requests_as_is_promised() {
    let cluster = Cluster::start(3).await;
    let client = Client::open(cluster.nodes[cluster.follower().await], "client").await;
    client.ask("a", numbered(1, 0)).await;
    let naming = |many: usize| {
        let mut open = vec![(FENCE_END - 1).to_string(); many];
        open[0] = "1".to_string();
        json!({ "request_id": "2", "open": open })
    };
    let most = naming(NAMED_MAX);
    assert!(most.to_string().len() > BODY_MAX, "longer than other bodies may be");
    let kept = keep(&client, &most).await;
    assert_eq!(kept.status, 200, "{}", kept.body);
    assert_eq!(kept.json()["holds"][0]["name"], "a", "it is named, and kept");
    let more = keep(&client, &naming(NAMED_MAX + 1)).await;
    assert_eq!(more.failure(), (400, "bad_request".into()));
    let long = keep(&client, &json!({ "request_id": "x".repeat(KEEPALIVE_MAX) })).await;
    assert_eq!(long.failure(), (413, "too_large".into()));
    cluster.stop().await;
}

/// Long bodies have room for so many; whoever sends the next asks another node.
#[tokio::test(flavor = "multi_thread")]
async fn slow_clients_with_long_keepalives_take_no_more_than_their_room() {
    let cluster = Cluster::start(1).await;
    let client = Client::open(cluster.first(), "client").await;
    let head = format!(
        "POST /v1/sessions/{}/keepalive HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\n\
         content-length: {KEEPALIVE_MAX}\r\n\r\n",
        client.session, client.address
    );
    let begin = async || {
        let mut stream = TcpStream::connect(client.address).await.expect("it listens");
        stream.write_all(head.as_bytes()).await.expect("it reads");
        stream
    };
    let mut slow = Vec::new();
    for _ in 0..256 {
        slow.push(begin().await);
    }
    let long = json!({ "request_id": "1", "open": vec![(FENCE_END - 1).to_string(); 4_000] });
    let is_refused = async || keep(&client, &long).await.status == 503;
    // One that is tried takes a place for itself, and may keep a slow one out.
    until(async || {
        slow.push(begin().await);
        is_refused().await
    })
    .await;
    assert_eq!(keep(&client, &json!({})).await.status, 200, "a short one has its room");
    drop(slow);
    until(async || !is_refused().await).await;
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_keepalive_says_as_of_when_it_names_requests() {
    let cluster = Cluster::start(1).await;
    let client = Client::open(cluster.first(), "client").await;
    for words in [json!({}), json!({ "open": null }), json!({ "request_id": "1", "open": [] })] {
        assert_eq!(keep(&client, &words).await.status, 200, "{words}");
    }
    let wrong = [json!({ "open": [] }), json!({ "open": [], "request_id": null }), json!([])];
    for words in wrong.into_iter().chain([json!(["1", []])]) {
        assert_eq!(keep(&client, &words).await.failure(), (400, "bad_request".into()), "{words}");
    }
    cluster.stop().await;
}

/// Each field is fine by itself, so a schema has nothing to say; then the status is another one.
#[tokio::test(flavor = "multi_thread")]
async fn what_no_schema_can_express_has_a_status_of_its_own() {
    let cluster = Cluster::start(1).await;
    let address = cluster.first();
    let client = Client::open(address, "client").await;
    let together = (422, "bad_request".to_string());
    let mark = json!({ "request_id": "3", "lowest_open": "4" });
    assert_eq!(client.ask("a", mark).await.failure(), together);
    let twice = json!({ "locks": [{ "name": "a" }, { "name": "a", "mode": "shared" }] });
    assert_eq!(client.post("/v1/acquire", twice).await.failure(), together);
    let future = put(address, json!({ "value": 1, "fence": FENCE_END - 1 })).await;
    assert_eq!(future.failure(), together, "nobody was granted this fence yet");
    let large = (413, "too_large".to_string());
    let long = put(address, json!({ "value": "x".repeat(4_095), "fence": 0 })).await;
    assert_eq!(long.failure(), large, "4,097 bytes, with the quotes");
    let known_by = json!({ "value": "é".repeat(2_049) });
    assert_eq!(client.post("/v1/elections/e/campaign", known_by).await.failure(), large);
    let opening = json!({ "request_id": "0123456789abcdef", "ttl_ms": 5_000 });
    assert_eq!(post(address, "/v1/sessions", &opening).await.status, 200);
    let other = json!({ "request_id": "0123456789abcdef", "ttl_ms": 6_000 });
    let other = post(address, "/v1/sessions", &other).await;
    assert_eq!(other.failure(), (422, "conflict".into()), "and this is described");
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_field_that_breaks_its_schema_is_refused_even_where_it_is_not_used() {
    let cluster = Cluster::start(1).await;
    let address = cluster.first();
    let client = Client::open(address, "client").await;
    let refused = (400, "bad_request".to_string());
    let unseen = json!({ "value": "\u{84}" });
    assert_eq!(client.ask("a", unseen).await.failure(), refused, "no leader, no value");
    let verify = async |session: &str| {
        let words = json!({ "fence": 1, "session": session });
        post(address, "/v1/locks/a/verify", &words).await
    };
    assert_eq!(verify("somebody").await.failure(), refused);
    let nobody = verify(&"f".repeat(32)).await;
    assert_eq!((nobody.status, nobody.json()["valid"].as_bool()), (200, Some(false)));
    let shared = json!({ "mode": "shared" });
    let lead = client.post("/v1/elections/e/campaign", shared).await;
    assert_eq!(lead.failure(), refused, "there is one leader");
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn numbers_of_nodes_and_streams_end_where_their_schemas_do() {
    let cluster = Cluster::start(1).await;
    let address = cluster.first();
    let client = Client::open(address, "client").await;
    let refused = (400, "bad_request".to_string());
    for id in [0, 1_u64 << 32] {
        let promoted = admin(address, "POST /v1/cluster/promote", json!({ "id": id })).await;
        assert_eq!(promoted.failure(), refused, "{id}");
        let remove = format!("DELETE /v1/cluster/members/{id}");
        assert_eq!(admin(address, &remove, json!({})).await.failure(), refused, "{id}");
    }
    let unknown = admin(address, "DELETE /v1/cluster/members/4294967295", json!({})).await;
    assert_eq!(unknown.failure(), (404, "not_found".into()));
    let ping =
        async |stream: u64| client.post("/v1/session/ping", json!({ "stream": stream })).await;
    assert_eq!(ping(STREAM_MAX).await.failure(), (404, "not_found".into()));
    assert_eq!(ping(STREAM_MAX + 1).await.failure(), refused);
    let number = (STREAM_MAX + 1).to_string();
    let headers = [("conclave-session", &*client.session), ("conclave-stream", &*number)];
    let stream = call(address, "GET /v1/session/stream", &headers, "").await;
    assert_eq!(stream.failure(), refused);
    cluster.stop().await;
}

/// A node with a genuine key need not have looked at what its clients send.
#[tokio::test(flavor = "multi_thread")]
async fn the_leader_looks_anew_at_what_another_node_sends_on() {
    let cluster = Cluster::start(3).await;
    let leader = NodeId(cluster.leader().await as u32);
    let liar = cluster.member(cluster.follower().await);
    let replica = liar.engine.replica().expect("it has started");
    // As nodes write it: the format, "a value as it is now", and its name.
    let value_of = async |name: &[u8]| {
        let bytes = [&[1, 5, name.len() as u8], name].concat();
        let deadline = Instant::now() + Duration::from_secs(20);
        replica.call(leader, bytes, deadline).await.expect("it answers")
    };
    let known = value_of(b"a").await;
    assert_eq!(known[..2], [1, 5], "a value, or none");
    let refused = value_of(b"a\nb").await;
    assert_eq!(refused[..2], [1, 7], "it cannot be carried out");
    assert!(String::from_utf8_lossy(&refused).contains("a name has 1 to 256"), "{refused:?}");
    cluster.stop().await;
}
