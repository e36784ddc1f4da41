//! Locks: granted once, first come first served, with fences that rise, at whichever node.

use crate::common::{Client, Cluster, admin, call, fence, numbered, waiters};
use serde_json::json;

const JSON: (&str, &str) = ("content-type", "application/json");

#[tokio::test(flavor = "multi_thread")]
async fn one_node_alone_is_a_cluster() {
    let cluster = Cluster::start(1).await;
    let address = cluster.first();
    let client = Client::open(address, "the client").await;
    let first = client.acquire("team%2Fbuild").await;
    let seen = call(address, "GET /v1/locks/team%2Fbuild", &[], "").await.json();
    assert_eq!((&seen["name"], &seen["state"]), (&json!("team/build"), &json!("held")));
    assert_eq!(seen["holders"][0]["label"], "the client");
    assert_eq!(client.release("team%2Fbuild", first).await.status, 200);
    let again = client.release("team%2Fbuild", first).await;
    assert_eq!(again.failure(), (409, "not_holder".into()));
    let second = client.acquire("team%2Fbuild").await;
    assert!(second > first, "{second} after {first}");
    let session = format!("/v1/sessions/{}", client.session);
    let kept = call(address, &format!("POST {session}/keepalive"), &[], "").await.json();
    assert_eq!((&kept["holds"][0]["fence"], &kept["scope"]), (&json!(second), &json!("cluster")));
    assert_eq!(call(address, &format!("DELETE {session}"), &[], "").await.status, 204);
    let gone = call(address, &format!("POST {session}/keepalive"), &[], "").await;
    assert_eq!(gone.failure(), (404, "no_session".into()));
    let free = call(address, "GET /v1/locks/team%2Fbuild", &[], "").await.json();
    assert_eq!(free["state"], "free");
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_the_same_at_every_node() {
    let cluster = Cluster::start(3).await;
    let client = Client::open(cluster.nodes[0], "wanderer").await;
    let held = client.at(cluster.nodes[1]).acquire("a").await;
    let other = Client::open(cluster.nodes[2], "other").await;
    let refused = other.ask("a", json!({})).await;
    assert_eq!(refused.failure(), (409, "held".into()));
    assert_eq!(refused.json()["holders"][0]["label"], "wanderer");
    assert_eq!(client.at(cluster.nodes[2]).release("a", held).await.status, 200);
    let next = other.at(cluster.nodes[0]).acquire("a").await;
    assert!(next > held);
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn first_come_first_served_across_all_nodes() {
    let cluster = Cluster::start(3).await;
    let holder = Client::open(cluster.nodes[0], "holder").await;
    let held = holder.acquire("a").await;
    let mut waiting = Vec::new();
    for index in 0..6 {
        let client = Client::open(cluster.nodes[index % 3], &format!("waiter {index}")).await;
        let asked = client.queue("a", numbered(1, 15_000)).await;
        waiting.push((client, asked));
    }
    assert_eq!(holder.release("a", held).await.status, 200);
    let mut before = held;
    for (client, asked) in waiting {
        let granted = fence(&asked.await.expect("answered"));
        assert!(granted > before, "in the order in which they came");
        before = granted;
        assert_eq!(client.release("a", granted).await.status, 200);
    }
    assert_eq!(waiters(cluster.first(), "a").await, 0);
    cluster.stop().await;
}

/// What a node has just been told is over must not be valid at any other node.
#[tokio::test(flavor = "multi_thread")]
async fn verify_is_linearizable_at_every_node() {
    let cluster = Cluster::start(3).await;
    let client = Client::open(cluster.nodes[0], "client").await;
    for round in 0..20 {
        let held = client.at(cluster.nodes[round % 3]).acquire("a").await;
        let verify = json!({ "fence": held }).to_string();
        for (when, valid) in [("held", true), ("released", false)] {
            if !valid {
                let released = client.at(cluster.nodes[round % 3]).release("a", held).await;
                assert_eq!(released.status, 200);
            }
            for node in &cluster.nodes {
                let told = call(*node, "POST /v1/locks/a/verify", &[JSON], &verify).await.json();
                assert_eq!((&told["valid"], &told["scope"]), (&json!(valid), &json!("cluster")));
                assert_eq!(told["valid"], valid, "{when}");
            }
        }
    }
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn force_tells_the_holder_first_unless_it_must_be_now() {
    let cluster = Cluster::start(1).await;
    let address = cluster.first();
    let client = Client::open(address, "holder").await;
    let held = client.acquire("a").await;
    let force = "DELETE /v1/locks/a/holders";
    let revoked = admin(address, force, json!({ "reason": "its host is gone" })).await.json();
    assert_eq!((&revoked["safety"], &revoked["holder"]["fence"]), (&json!("lease"), &json!(held)));
    assert!(revoked["ends_in_ms"].as_u64().is_some_and(|ms| ms <= 60_000));
    let keep = format!("POST /v1/sessions/{}/keepalive", client.session);
    let kept = call(address, &keep, &[], "").await.json();
    assert_eq!(kept["holds"][0]["revoked"], true);
    let now = admin(address, force, json!({ "reason": "now", "now": true })).await.json();
    assert_eq!(now["safety"], "fence-only");
    let none = admin(address, force, json!({ "reason": "again" })).await;
    assert_eq!(none.failure(), (404, "not_found".into()));
    let without = call(address, force, &[JSON], &json!({ "reason": "no token" }).to_string()).await;
    assert_eq!(without.status, 401);
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_value_takes_no_stale_fence_at_any_node() {
    let cluster = Cluster::start(3).await;
    let client = Client::open(cluster.nodes[0], "writer").await;
    let first = client.acquire("config").await;
    let put = |value: u32, fence: u64| json!({ "value": { "v": value }, "fence": fence });
    let path = "PUT /v1/values/config";
    let written = call(cluster.nodes[1], path, &[JSON], &put(1, first).to_string()).await;
    assert_eq!((written.status, &written.json()["replicated"]), (200, &json!(true)));
    client.release("config", first).await;
    let second = client.acquire("config").await;
    let written = call(cluster.nodes[2], path, &[JSON], &put(2, second).to_string()).await;
    assert_eq!(written.status, 200);
    let late = call(cluster.nodes[0], path, &[JSON], &put(1, first).to_string()).await;
    assert_eq!(late.failure(), (409, "stale_fence".into()));
    for node in &cluster.nodes {
        let read = call(*node, "GET /v1/values/config", &[], "").await.json();
        assert_eq!(read["value"], json!({ "v": 2 }));
    }
    let emptied = admin(cluster.nodes[1], "DELETE /v1/values/config", json!({})).await.json();
    assert_eq!((&emptied["value"], &emptied["fence"]), (&json!(null), &json!(second)));
    cluster.stop().await;
}
