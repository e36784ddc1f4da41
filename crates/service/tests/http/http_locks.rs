//! Locks, sessions and elections over HTTP, with the real algorithms below.

use crate::common::{Client, Cluster, TOKEN, call, patient};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

const JSON: (&str, &str) = ("content-type", "application/json");

#[tokio::test(flavor = "multi_thread")]
async fn a_lock_is_taken_seen_and_given_back() {
    let cluster = Cluster::start(1, "ricart-agrawala", patient()).await;
    let address = cluster.first();
    let client = Client::open(address, "the client").await;
    let fence = client.acquire("team%2Fbuild").await;
    let seen = call(address, "GET /v1/locks/team%2Fbuild", &[], "").await.json();
    assert_eq!((&seen["name"], &seen["state"]), (&json!("team/build"), &json!("held")));
    assert_eq!(seen["holder"]["label"], "the client");
    let verify = json!({ "fence": fence }).to_string();
    let path = "POST /v1/locks/team%2Fbuild/verify";
    assert_eq!(call(address, path, &[JSON], &verify).await.json()["valid"], true);
    assert_eq!(client.release("team%2Fbuild", fence).await.status, 200);
    assert_eq!(client.release("team%2Fbuild", fence).await.failure(), (409, "not_holder".into()));
    assert_eq!(call(address, path, &[JSON], &verify).await.json()["valid"], false);
    let all = call(address, "GET /v1/locks", &[], "").await;
    assert_eq!(all.json()["locks"].as_array().map(Vec::len), Some(1));
    assert!(!all.body.contains(&client.session));
    let session = format!("/v1/sessions/{}", client.session);
    assert_eq!(call(address, &format!("POST {session}/keepalive"), &[], "").await.status, 200);
    assert_eq!(call(address, &format!("DELETE {session}"), &[], "").await.status, 204);
    let gone = call(address, &format!("POST {session}/keepalive"), &[], "").await;
    assert_eq!(gone.failure(), (404, "no_session".into()));
    cluster.stop().await;
}

/// Clients of all nodes take the same lock again and again.
async fn nobody_meets_anybody(engine: &str) {
    let cluster = Cluster::start(3, engine, patient()).await;
    let inside = Arc::new(AtomicU32::new(0));
    let mut clients = Vec::new();
    for number in 0..6 {
        let client = Client::open(cluster.nodes[number % 3], "one of six").await;
        let inside = Arc::clone(&inside);
        clients.push(tokio::spawn(async move {
            let mut fences = Vec::new();
            for _ in 0..10 {
                let fence = client.acquire("x").await;
                assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0, "two at once");
                tokio::task::yield_now().await;
                inside.fetch_sub(1, Ordering::SeqCst);
                fences.push(fence);
                assert_eq!(client.release("x", fence).await.status, 200);
            }
            assert!(fences.is_sorted(), "{fences:?}");
            fences
        }));
    }
    let mut fences = BTreeSet::new();
    for client in clients {
        fences.extend(client.await.expect("no client fails"));
    }
    assert_eq!(fences.len(), 60, "every entry has a fence of its own");
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_meets_anybody_with_ricart_agrawala() {
    nobody_meets_anybody("ricart-agrawala").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_meets_anybody_with_suzuki_kasami() {
    nobody_meets_anybody("suzuki-kasami").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_meets_anybody_with_the_token_ring() {
    nobody_meets_anybody("token-ring").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_of_a_node_are_served_in_order() {
    let cluster = Cluster::start(2, "lamport", patient()).await;
    let address = cluster.first();
    let first = Client::open(address, "first").await;
    let fence = first.acquire("x").await;
    let mut waiting = Vec::new();
    for number in 1..=5 {
        let client = Client::open(address, "waits").await;
        waiting.push(tokio::spawn(async move {
            let fence = client.acquire("x").await;
            client.release("x", fence).await;
            fence
        }));
        wait_for_line(address, number).await;
    }
    first.release("x", fence).await;
    let mut fences = vec![fence];
    for one in waiting {
        fences.push(one.await.expect("no client fails"));
    }
    assert!(fences.is_sorted_by(|a, b| a < b), "{fences:?}");
    cluster.stop().await;
}

/// Waits until so many wait for lock `x`.
async fn wait_for_line(address: std::net::SocketAddr, length: usize) {
    for _ in 0..1_000 {
        let lock = call(address, "GET /v1/locks/x", &[], "").await.json();
        if lock["waiters"].as_array().map(Vec::len) == Some(length) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("never {length} in line");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_waits_in_vain_is_told_who_holds() {
    let cluster = Cluster::start(1, "maekawa", patient()).await;
    let holder = Client::open(cluster.first(), "the holder").await;
    let fence = holder.acquire("x").await;
    let other = Client::open(cluster.first(), "the other").await;
    for (wait, code) in [(0, "held"), (300, "timeout")] {
        let answer = other.post("/v1/locks/x/acquire", json!({ "wait_ms": wait })).await;
        assert_eq!(answer.failure(), (409, code.to_string()));
        assert_eq!(answer.json()["holders"][0]["label"], "the holder");
        assert_eq!(answer.json()["position"], 1);
    }
    let again = holder.post("/v1/locks/x/acquire", json!({})).await.json();
    assert_eq!((&again["fence"], &again["holds"]), (&json!(fence), &json!(2)));
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_hung_up_finds_its_grant_again() {
    let cluster = Cluster::start(1, "central", patient()).await;
    let address = cluster.first();
    let holder = Client::open(address, "the holder").await;
    let fence = holder.acquire("x").await;
    let other = Client::open(address, "hangs up").await;
    let body = json!({ "session": other.session, "wait_ms": 9_000, "request_id": "r" });
    let body = body.to_string();
    let mut stream = TcpStream::connect(address).await.expect("it listens");
    let head = "POST /v1/locks/x/acquire HTTP/1.1\r\nhost: localhost\r\n";
    let rest = format!("content-type: application/json\r\ncontent-length: {}", body.len());
    let request = format!("{head}{rest}\r\n\r\n{body}");
    stream.write_all(request.as_bytes()).await.expect("sent");
    wait_for_line(address, 1).await;
    drop(stream);
    holder.release("x", fence).await;
    let path = "POST /v1/locks/x/acquire";
    let found = call(address, path, &[JSON], &body).await.json();
    assert!(found["fence"].as_u64() > Some(fence), "{found}");
    assert_eq!((&found["holds"], &found["released"]), (&json!(1), &json!(false)));
    other.release("x", found["fence"].as_u64().expect("a fence")).await;
    let old = call(address, path, &[JSON], &body).await.json();
    assert_eq!((&old["fence"], &old["released"]), (&found["fence"], &json!(true)));
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn force_needs_the_token_and_a_reason() {
    let cluster = Cluster::start(1, "raymond", patient()).await;
    let address = cluster.first();
    let holder = Client::open(address, "the holder").await;
    holder.acquire("x").await;
    let force = "DELETE /v1/locks/x/holders";
    let reason = json!({ "reason": "it hangs" }).to_string();
    let shown = format!("Bearer {TOKEN}");
    let token = ("authorization", &*shown);
    let none = call(address, force, &[JSON], &reason).await;
    assert_eq!(none.failure(), (401, "unauthorized".into()));
    let wrong = call(address, force, &[JSON, ("authorization", "Bearer no")], &reason).await;
    assert_eq!(wrong.failure(), (401, "unauthorized".into()));
    let silent = call(address, force, &[JSON, token], r#"{"reason":""}"#).await;
    assert_eq!(silent.failure(), (400, "bad_request".into()));
    let done = call(address, force, &[JSON, token], &reason).await;
    assert_eq!((done.status, &done.json()["safety"]), (200, &json!("fence-only")));
    assert_eq!(call(address, "GET /v1/locks/x", &[], "").await.json()["state"], "free");
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn leaders_are_found_at_the_node_that_leads() {
    let cluster = Cluster::start(3, "ricart-agrawala", patient()).await;
    let mut led = None;
    for _ in 0..2_000 {
        let seen = call(cluster.first(), "GET /v1/cluster", &[], "").await.json();
        led = seen["leader"].as_u64();
        if led.is_some() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let leader = cluster.nodes[led.expect("somebody is elected") as usize - 1];
    let other = cluster.nodes.iter().find(|node| **node != leader).expect("three nodes");
    let stranger = Client::open_for(*other, "elsewhere", 3_000).await;
    let sent = stranger.post("/v1/elections/e/campaign", json!({})).await;
    assert_eq!(sent.failure(), (409, "not_leader".into()));
    assert_eq!(sent.json()["leading_api"], leader.to_string());
    let one = Client::open_for(leader, "leads", 3_000).await;
    let won = one.post("/v1/elections/e/campaign", json!({ "value": "v1" })).await.json();
    let fence = won["fence"].as_u64().expect("a fence");
    assert_eq!(Some(fence >> 26), won["term"].as_u64());
    let new = json!({ "fence": fence, "value": "v2" });
    assert_eq!(one.post("/v1/elections/e/proclaim", new).await.json()["value"], "v2");
    let seen = call(leader, "GET /v1/elections/e", &[], "").await.json();
    assert_eq!((&seen["leader"]["label"], &seen["value"]), (&json!("leads"), &json!("v2")));
    let resigned = one.post("/v1/elections/e/resign", json!({ "fence": fence })).await;
    assert_eq!(resigned.status, 200);
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn values_live_on_node_1_wherever_they_are_asked_for() {
    let cluster = Cluster::start(2, "ricart-agrawala", patient()).await;
    let second = cluster.nodes[1];
    let put = |fence: u64| json!({ "value": { "n": fence }, "fence": fence }).to_string();
    let path = "/v1/values/a%2Fb";
    assert_eq!(call(second, &format!("GET {path}"), &[], "").await.status, 404);
    let set = call(second, &format!("PUT {path}"), &[JSON], &put(7)).await;
    assert_eq!((set.status, &set.json()["node"]), (200, &json!(1)));
    for address in &cluster.nodes {
        let value = call(*address, &format!("GET {path}"), &[], "").await.json();
        assert_eq!((&value["value"]["n"], &value["replicated"]), (&json!(7), &json!(false)));
    }
    let stale = call(second, &format!("PUT {path}"), &[JSON], &put(6)).await;
    assert_eq!(stale.failure(), (409, "stale_fence".into()));
    let lost = call(second, &format!("GET {path}"), &[("x-conclave-hop", "1")], "").await;
    assert_eq!(lost.failure(), (503, "unavailable".into()));
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_come_in_pages() {
    let cluster = Cluster::start(1, "ricart-agrawala", patient()).await;
    let client = Client::open(cluster.first(), "lister").await;
    for name in ["a", "team%2Fb", "team%2Fc"] {
        client.acquire(name).await;
    }
    let first = call(cluster.first(), "GET /v1/locks?limit=2", &[], "").await.json();
    assert_eq!(first["next"], "team/b");
    let next = "GET /v1/locks?limit=2&after=team%2Fb";
    let last = call(cluster.first(), next, &[], "").await.json();
    assert_eq!((&last["locks"][0]["name"], &last["next"]), (&json!("team/c"), &Value::Null));
    cluster.stop().await;
}
