//! Shared locks, permits, several locks at once, re-entry, and deadlocks.

use crate::common::{Client, Cluster, call, fence, numbered};
use serde_json::{Value, json};

fn with(request_id: u64, wait_ms: u64, more: Value) -> Value {
    let mut words = numbered(request_id, wait_ms);
    for (name, value) in more.as_object().expect("an object") {
        words[name] = value.clone();
    }
    words
}

#[tokio::test(flavor = "multi_thread")]
async fn all_who_share_a_lock_have_its_fence_and_who_wants_it_alone_waits() {
    let cluster = Cluster::start(3).await;
    let shared = json!({ "mode": "shared" });
    let mut readers = Vec::new();
    for node in &cluster.nodes {
        let reader = Client::open(*node, "reader").await;
        let granted = fence(&reader.ask("a", with(1, 1_000, shared.clone())).await);
        readers.push((reader, granted));
    }
    let period = readers[0].1;
    assert!(readers.iter().all(|(_, fence)| *fence == period));
    let writer = Client::open(cluster.nodes[1], "writer").await;
    let asked = writer.queue("a", numbered(1, 15_000)).await;
    let late = Client::open(cluster.nodes[2], "late reader").await;
    let refused = late.ask("a", with(1, 0, shared)).await;
    assert_eq!(refused.failure(), (409, "held".into()), "nobody overtakes who waits");
    for (reader, fence) in readers {
        assert_eq!(reader.release("a", fence).await.status, 200);
    }
    assert!(fence(&asked.await.expect("answered")) > period);
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn permits_have_slots_and_a_fixed_number() {
    let cluster = Cluster::start(1).await;
    let client = Client::open(cluster.first(), "client").await;
    let mut slots = Vec::new();
    for id in 1..=2 {
        let granted = client.ask("pool", with(id, 0, json!({ "permits": 2 }))).await.json();
        slots.push(granted["slot"].as_u64().expect("a slot"));
    }
    assert_eq!(slots, [0, 1]);
    let third = client.ask("pool", with(3, 0, json!({ "permits": 2 }))).await;
    assert_eq!(third.failure(), (409, "held".into()));
    let other = client.ask("pool", with(4, 0, json!({ "permits": 3 }))).await;
    assert_eq!(other.failure(), (409, "mode_conflict".into()));
    let seen = call(cluster.first(), "GET /v1/locks/pool", &[], "").await.json();
    assert_eq!((&seen["permits"], &seen["mode"]), (&json!(2), &json!("permits")));
    assert_eq!(seen["holders"].as_array().map(Vec::len), Some(2));
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn several_locks_are_granted_together_or_not_at_all() {
    let cluster = Cluster::start(3).await;
    let holder = Client::open(cluster.nodes[0], "holder").await;
    let held = holder.acquire("b").await;
    let client = Client::open(cluster.nodes[1], "client").await;
    let locks = json!([{ "name": "a" }, { "name": "b" }, { "name": "c", "mode": "shared" }]);
    let at_once = json!({ "locks": locks, "request_id": "1" });
    let refused = client.post("/v1/acquire", at_once).await;
    assert_eq!(refused.failure(), (409, "held".into()));
    let seen = call(cluster.nodes[2], "GET /v1/locks/a", &[], "").await.json();
    assert_eq!(seen["state"], "free", "it holds nothing until it can hold all");
    let waits = json!({ "locks": locks, "request_id": "2", "wait_ms": 15_000 });
    let asked = tokio::spawn({
        let client = client.clone();
        async move { client.post("/v1/acquire", waits).await }
    });
    while crate::common::waiters(cluster.nodes[0], "b").await == 0 {
        tokio::task::yield_now().await;
    }
    let explained = call(cluster.nodes[0], "GET /v1/locks/a?explain=true", &[], "").await.json();
    let explanation = &explained["explanation"];
    assert_eq!(explanation["waits"][0]["blocked_by"][0]["lock"], "b", "{explanation}");
    let remedy = explanation["unblocked_by"][0].as_str().expect("a sentence");
    assert!(remedy.contains("also waits for 'b'"), "{remedy}");
    assert_eq!(holder.release("b", held).await.status, 200);
    let granted = asked.await.expect("answered").json();
    let names: Vec<&str> = granted["grants"]
        .as_array()
        .expect("grants")
        .iter()
        .filter_map(|grant| grant["name"].as_str())
        .collect();
    assert_eq!(names, ["a", "b", "c"]);
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_request_that_would_close_a_circle_is_refused_and_told_why() {
    let cluster = Cluster::start(3).await;
    let one = Client::open(cluster.nodes[0], "one").await;
    let two = Client::open(cluster.nodes[1], "two").await;
    fence(&one.ask("a", numbered(1, 1_000)).await);
    let held = fence(&two.ask("b", numbered(1, 1_000)).await);
    let asked = one.queue("b", numbered(2, 15_000)).await;
    let refused = two.at(cluster.nodes[2]).ask("a", numbered(2, 15_000)).await;
    assert_eq!(refused.failure(), (409, "deadlock".into()));
    let cycle = refused.json()["cycle"].as_array().cloned().expect("a circle");
    let labels: Vec<&str> = cycle.iter().filter_map(|link| link["label"].as_str()).collect();
    assert!(labels.contains(&"one") && labels.contains(&"two"), "{cycle:?}");
    assert_eq!(two.release("b", held).await.status, 200);
    fence(&asked.await.expect("answered"));
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn only_an_owner_enters_again_and_gives_back_as_often() {
    let cluster = Cluster::start(1).await;
    let client = Client::open(cluster.first(), "client").await;
    let owned = |id| with(id, 0, json!({ "owner": "thread 1" }));
    let first = client.ask("a", owned(1)).await;
    let again = client.ask("a", owned(2)).await;
    assert_eq!(fence(&first), fence(&again));
    assert_eq!(again.json()["holds"], 2);
    let alien = client.ask("a", with(3, 0, json!({ "owner": "thread 2" }))).await;
    assert_eq!(alien.failure(), (409, "held".into()));
    for (hold, left) in [("2", 1), ("1", 0)] {
        let id = if left == 1 { "4" } else { "5" };
        let words = json!({ "fence": fence(&first), "hold": hold, "request_id": id });
        let released = client.post("/v1/locks/a/release", words).await.json();
        assert_eq!(released["holds"], left);
    }
    cluster.stop().await;
}
