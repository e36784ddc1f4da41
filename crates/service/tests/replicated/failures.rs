//! Failures: a leader that dies, a node that stops, a majority that is gone.

use crate::common::{Client, Cluster, FOR_EVER, call, fence, numbered, until};
use serde_json::json;
use tokio::time::timeout;

/// Rule 9: whoever waits when the leader dies is asked for again by its node, and granted once.
#[tokio::test(flavor = "multi_thread")]
async fn a_wait_outlives_the_leader_and_is_granted_once() {
    let mut cluster = Cluster::start(3).await;
    let leader = cluster.leader().await;
    let others: Vec<usize> = (0..3).filter(|index| *index != leader).collect();
    let holder = Client::open(cluster.nodes[others[0]], "holder").await;
    let held = fence(&holder.ask("a", numbered(1, 1_000)).await);
    let waiter = Client::open(cluster.nodes[others[1]], "waiter").await;
    let asked = waiter.queue("a", numbered(1, 18_000)).await;
    cluster.kill(leader).await;
    let release = json!({ "fence": held, "request_id": "2" });
    let released = insist(&holder, "/v1/locks/a/release", &release).await;
    assert_eq!(released, 200);
    let granted = fence(&asked.await.expect("answered"));
    assert!(granted > held);
    let again = fence(&waiter.ask("a", numbered(1, 18_000)).await);
    assert_eq!(again, granted, "granted once");
    let seen = call(cluster.nodes[others[0]], "GET /v1/locks/a", &[], "").await.json();
    assert_eq!(seen["holders"].as_array().map(Vec::len), Some(1));
    cluster.stop().await;
}

/// Rule 9: what nobody numbered is not asked for twice, and leaves nothing behind.
#[tokio::test(flavor = "multi_thread")]
async fn a_wait_without_a_number_ends_with_its_leader_and_leaves_the_line() {
    let mut cluster = Cluster::start(3).await;
    let leader = cluster.leader().await;
    let others: Vec<usize> = (0..3).filter(|index| *index != leader).collect();
    let holder = Client::open(cluster.nodes[others[0]], "holder").await;
    fence(&holder.ask("a", numbered(1, 1_000)).await);
    let waiter = Client::open(cluster.nodes[others[1]], "waiter").await;
    let asked = waiter.queue("a", json!({ "wait_ms": 18_000 })).await;
    cluster.kill(leader).await;
    let given_up = asked.await.expect("answered");
    assert_eq!(given_up.failure(), (503, "unavailable".into()), "{given_up:?}");
    let address = cluster.nodes[others[0]];
    until(async || {
        let seen = call(address, "GET /v1/locks/a", &[], "").await;
        seen.status == 200 && seen.json()["waiters"] == json!([])
    })
    .await;
    cluster.stop().await;
}

/// What was acknowledged by a leader that dies is there afterwards.
#[tokio::test(flavor = "multi_thread")]
async fn holds_outlive_the_node_that_led_and_the_node_they_came_by() {
    let mut cluster = Cluster::start(3).await;
    let leader = cluster.leader().await;
    let client = Client::open(cluster.nodes[leader], "client").await;
    let held = client.acquire("a").await;
    cluster.kill(leader).await;
    let other = cluster.nodes[(leader + 1) % 3];
    let client = client.at(other);
    let verify = json!({ "fence": held });
    let path = "/v1/locks/a/verify";
    let told = timeout(FOR_EVER, async {
        loop {
            let told = crate::common::post(other, path, &verify).await;
            if told.status == 200 {
                return told.json();
            }
        }
    });
    assert_eq!(told.await.expect("a new leader")["valid"], true);
    let keep = format!("POST /v1/sessions/{}/keepalive", client.session);
    let kept = call(other, &keep, &[], "").await.json();
    assert_eq!(kept["holds"][0]["fence"], held);
    cluster.stop().await;
}

/// Rule 9: without a leader 503 with retry-after, never a hang.
#[tokio::test(flavor = "multi_thread")]
async fn without_a_majority_the_answer_is_no_leader() {
    let mut cluster = Cluster::start(3).await;
    let client = Client::open(cluster.nodes[0], "client").await;
    let leader = cluster.leader().await;
    let left = (leader + 1) % 3;
    cluster.kill((leader + 2) % 3).await;
    cluster.kill(leader).await;
    let client = client.at(cluster.nodes[left]);
    for _ in 0..2 {
        let refused = client.ask("a", numbered(1, 0)).await;
        assert_eq!(refused.failure(), (503, "no_leader".into()), "{refused:?}");
        assert!(refused.head.to_lowercase().contains("retry-after: 1"), "{}", refused.head);
        assert!(refused.json()["retry_after_ms"].as_u64().is_some());
    }
    let address = cluster.nodes[left];
    let read = call(address, "GET /v1/locks/a", &[], "").await;
    assert_eq!(read.status, 503, "{read:?}");
    let stale = call(address, "GET /v1/locks?stale=true", &[], "").await;
    assert_eq!(stale.status, 200, "what it knows itself it can tell");
    assert_eq!(call(address, "GET /v1/cluster", &[], "").await.status, 200);
    assert_eq!(call(address, "GET /readyz", &[], "").await.status, 503);
    assert_eq!(call(address, "GET /healthz", &[], "").await.status, 200);
    cluster.stop().await;
}

/// A node that is told to stop hands over first; who waits there goes to another node at once.
#[tokio::test(flavor = "multi_thread")]
async fn a_leader_that_stops_hands_over_and_sends_away_who_waits() {
    let cluster = Cluster::start(3).await;
    let leader = cluster.leader().await;
    let next = (leader + 1) % 3;
    let holder = Client::open(cluster.nodes[next], "holder").await;
    let held = fence(&holder.ask("a", numbered(1, 1_000)).await);
    let here = Client::open(cluster.nodes[leader], "at the one that stops").await;
    let there = Client::open(cluster.nodes[next], "at another").await;
    let at_stopping = here.queue("a", numbered(1, 18_000)).await;
    let at_other = there.queue("a", numbered(1, 18_000)).await;
    cluster.member(leader).hand_over().await;
    let sent_away = at_stopping.await.expect("answered");
    assert_eq!(sent_away.failure(), (503, "unavailable".into()));
    assert_eq!(sent_away.json()["stopping"], true);
    assert_ne!(cluster.leader().await, leader, "another leads");
    assert_eq!(call(cluster.nodes[leader], "GET /readyz", &[], "").await.status, 503);
    let moved = here.at(cluster.nodes[next]);
    let again = tokio::spawn(async move { moved.ask("a", numbered(1, 18_000)).await });
    assert_eq!(
        insist(&holder, "/v1/locks/a/release", &json!({ "fence": held, "request_id": "2" })).await,
        200
    );
    let first = fence(&again.await.expect("answered"));
    assert_eq!(here.at(cluster.nodes[next]).release("a", first).await.status, 200);
    let second = fence(&at_other.await.expect("answered"));
    assert!(held < first && first < second, "places in line are kept");
    cluster.stop().await;
}

/// Asks again, with the same number, while nobody leads: as a client does.
async fn insist(client: &Client, path: &str, words: &serde_json::Value) -> u16 {
    let asked = async {
        loop {
            let answer = client.post(path, words.clone()).await;
            if answer.status != 503 {
                return answer.status;
            }
        }
    };
    timeout(FOR_EVER, asked).await.expect("somebody leads again")
}
