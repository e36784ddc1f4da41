//! Requests: carried out once however often they come, and ended by nothing but what ends them.

use crate::common::{Client, Cluster, call, fence, numbered, until, waiters};
use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

const JSON: (&str, &str) = ("content-type", "application/json");

/// Rule 3: the answer was lost, and the client asks again, at another node.
#[tokio::test(flavor = "multi_thread")]
async fn a_repeat_gets_the_answer_of_the_first_at_every_node() {
    let cluster = Cluster::start(3).await;
    let client = Client::open(cluster.nodes[0], "client").await;
    let granted = fence(&client.ask("a", numbered(1, 1_000)).await);
    for node in &cluster.nodes {
        assert_eq!(fence(&client.at(*node).ask("a", numbered(1, 1_000)).await), granted);
    }
    let other = client.ask("b", numbered(1, 1_000)).await;
    assert_eq!(other.failure(), (422, "conflict".into()));
    let release = json!({ "fence": granted, "request_id": "2", "hold": "1" });
    for node in &cluster.nodes {
        let released = client.at(*node).post("/v1/locks/a/release", release.clone()).await;
        assert_eq!(released.status, 200, "{released:?}");
    }
    let again = client.ask("a", numbered(1, 1_000)).await;
    assert_eq!(again.failure(), (409, "withdrawn".into()), "a grant that has ended is none");
    let mut marked = numbered(9, 1_000);
    marked["lowest_open"] = json!("9");
    let later = fence(&client.ask("a", marked).await);
    assert!(later > granted);
    let forgotten = client.ask("a", numbered(1, 1_000)).await;
    assert_eq!(forgotten.failure(), (410, "conflict".into()));
    cluster.stop().await;
}

/// Rule 3: a time-out is answered only when the request has left the line for good.
#[tokio::test(flavor = "multi_thread")]
async fn whoever_was_told_of_a_time_out_is_granted_nothing_later() {
    let cluster = Cluster::start(3).await;
    let holder = Client::open(cluster.nodes[0], "holder").await;
    let held = holder.acquire("a").await;
    let waiter = Client::open(cluster.nodes[1], "waiter").await;
    let late = waiter.ask("a", numbered(1, 50)).await;
    assert_eq!(late.failure(), (409, "timeout".into()));
    let late = late.json();
    assert_eq!((&late["position"], &late["holders"][0]["label"]), (&json!(1), &json!("holder")));
    assert_eq!(waiters(cluster.first(), "a").await, 0);
    assert_eq!(holder.release("a", held).await.status, 200);
    let again = waiter.ask("a", numbered(1, 50)).await;
    assert_eq!(again.failure(), (409, "timeout".into()), "the answer is kept");
    let seen = call(cluster.nodes[2], "GET /v1/locks/a", &[], "").await.json();
    assert_eq!(seen["state"], "free");
    cluster.stop().await;
}

/// Rule 2: a waiter leaves by cancel, never by a closed connection.
#[tokio::test(flavor = "multi_thread")]
async fn a_closed_connection_does_not_end_a_wait_that_can_be_asked_for_again() {
    let cluster = Cluster::start(3).await;
    let holder = Client::open(cluster.nodes[0], "holder").await;
    let held = holder.acquire("a").await;
    let waiter = Client::open(cluster.nodes[1], "waiter").await;
    let asked = waiter.queue("a", numbered(1, 60_000)).await;
    asked.abort();
    let _ = asked.await;
    assert_eq!(holder.release("a", held).await.status, 200);
    let granted = fence(&waiter.at(cluster.nodes[2]).ask("a", numbered(1, 60_000)).await);
    assert!(granted > held);
    cluster.stop().await;
}

/// Rule 2: without a number nobody could ask for it again.
#[tokio::test(flavor = "multi_thread")]
async fn a_request_without_a_number_leaves_with_its_connection() {
    let cluster = Cluster::start(3).await;
    for node in &cluster.nodes {
        let holder = Client::open(cluster.nodes[0], "holder").await;
        let held = holder.acquire("a").await;
        let waiter = Client::open(*node, "waiter").await;
        let body = json!({ "session": waiter.session, "wait_ms": 60_000 }).to_string();
        let mut stream = TcpStream::connect(*node).await.expect("it listens");
        let text = format!(
            "POST /v1/locks/a/acquire HTTP/1.1\r\nhost: {node}\r\ncontent-type: application/json\
             \r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(text.as_bytes()).await.expect("it reads");
        until(async || waiters(*node, "a").await == 1).await;
        drop(stream);
        until(async || waiters(*node, "a").await == 0).await;
        assert_eq!(holder.release("a", held).await.status, 200);
    }
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_is_withdrawn_waits_no_longer_and_never_will() {
    let cluster = Cluster::start(3).await;
    let holder = Client::open(cluster.nodes[0], "holder").await;
    let held = holder.acquire("a").await;
    let waiter = Client::open(cluster.nodes[1], "waiter").await;
    let asked = waiter.queue("a", numbered(5, 60_000)).await;
    let session = json!({ "session": waiter.session }).to_string();
    let leave = "DELETE /v1/locks/a/waiters/5";
    let left = call(cluster.nodes[2], leave, &[JSON], &session).await;
    assert_eq!(left.status, 200, "{left:?}");
    let told = asked.await.expect("answered");
    assert_eq!(told.failure(), (409, "withdrawn".into()));
    let never = call(cluster.nodes[0], "DELETE /v1/locks/a/waiters/6", &[JSON], &session).await;
    assert_eq!(never.status, 200, "{never:?}");
    assert_eq!(holder.release("a", held).await.status, 200);
    let late = waiter.ask("a", numbered(6, 60_000)).await;
    assert_eq!(late.failure(), (409, "withdrawn".into()), "its cancel came first");
    let numbered = json!({ "session": waiter.session, "request_id": "6" }).to_string();
    let other = call(cluster.nodes[0], "DELETE /v1/locks/a/waiters/4", &[JSON], &numbered).await;
    assert_eq!(other.failure(), (409, "withdrawn".into()), "whatever has that number");
    cluster.stop().await;
}

/// Rule 3: a keepalive that does not name a request gives back what came of it.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_client_does_not_know_of_is_given_back_by_its_keepalive() {
    let cluster = Cluster::start(3).await;
    let client = Client::open(cluster.nodes[0], "client").await;
    for (name, id) in [("a", 1), ("b", 2), ("c", 9)] {
        fence(&client.ask(name, numbered(id, 1_000)).await);
    }
    let keep = format!("POST /v1/sessions/{}/keepalive", client.session);
    let words = json!({ "request_id": "5", "open": ["2"] }).to_string();
    let kept = call(cluster.nodes[1], &keep, &[JSON], &words).await.json();
    let names: Vec<&str> = kept["holds"]
        .as_array()
        .expect("holds")
        .iter()
        .filter_map(|it| it["name"].as_str())
        .collect();
    assert_eq!(names, ["b", "c"], "the first is unknown, the last is later than the keepalive");
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_lock_of_who_is_silent_for_its_ttl_goes_to_the_next() {
    let cluster = Cluster::start(3).await;
    let silent = Client::open_for(cluster.nodes[0], "silent", 1_000).await;
    let held = silent.acquire("a").await;
    let waiter = Client::open(cluster.nodes[1], "waiter").await;
    let granted = fence(&waiter.ask("a", numbered(1, 18_000)).await);
    assert!(granted > held);
    let late = silent.release("a", held).await;
    assert_eq!(late.failure(), (404, "no_session".into()));
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_breaks_a_rule_is_refused_by_a_clear_line() {
    let cluster = Cluster::start(1).await;
    let address = cluster.first();
    let client = Client::open(address, "client").await;
    for words in [
        json!({ "request_id": "first" }),
        json!({ "mode": "sometimes" }),
        json!({ "mode": "shared", "permits": 2 }),
        json!({ "permits": 0 }),
    ] {
        let refused = client.ask("a", words.clone()).await;
        assert_eq!(refused.failure(), (400, "bad_request".into()), "{words}");
    }
    let nobody = Client { address, session: "f".repeat(32) };
    assert_eq!(nobody.ask("a", json!({})).await.failure(), (404, "no_session".into()));
    let short = json!({ "ttl_ms": 10, "label": "x" }).to_string();
    let opened = call(address, "POST /v1/sessions", &[JSON], &short).await;
    assert_eq!(opened.failure(), (400, "bad_request".into()));
    let id = "0123456789abcdef0123456789abcdef";
    let once = json!({ "ttl_ms": 5_000, "label": "x", "request_id": id }).to_string();
    let first = call(address, "POST /v1/sessions", &[JSON], &once).await.json();
    let again = call(address, "POST /v1/sessions", &[JSON], &once).await.json();
    assert_eq!(first["session"], again["session"]);
    cluster.stop().await;
}

/// Rule 3: a write that comes late, by another node, does not undo a later one with the same fence.
#[tokio::test(flavor = "multi_thread")]
async fn a_numbered_write_is_carried_out_once() {
    let cluster = Cluster::start(3).await;
    let client = Client::open(cluster.nodes[0], "writer").await;
    let fence = fence(&client.ask("a", numbered(1, 0)).await);
    let put = async |node: usize, request: u64, value: &str| {
        let words = json!({
            "value": value, "fence": fence, "session": client.session,
            "request_id": request.to_string(),
        });
        call(cluster.nodes[node], "PUT /v1/values/a", &[JSON], &words.to_string()).await
    };
    assert_eq!(put(1, 2, "first").await.status, 200);
    assert_eq!(put(1, 3, "second").await.status, 200);
    assert_eq!(put(0, 2, "first").await.status, 200, "the answer of then");
    assert_eq!(put(0, 2, "other").await.failure(), (422, "conflict".into()));
    let now = call(cluster.nodes[2], "GET /v1/values/a", &[], "").await.json();
    assert_eq!(now["value"], "second");
    let words = json!({ "value": 1, "fence": fence, "request_id": "4" }).to_string();
    let nobodys = call(cluster.nodes[0], "PUT /v1/values/a", &[JSON], &words).await;
    assert_eq!(nobodys.failure(), (400, "bad_request".into()));
    cluster.stop().await;
}
