//! `/readyz` means that a node can serve now; if not, the answer names every check that fails.
//! `/healthz` means that the process lives.

use crate::common::{Client, Cluster, call, until};
use conclave_service::http::HttpLimits;
use serde_json::{Value, json};
use std::net::SocketAddr;

/// Waits until just these checks fail; nothing: until the node is ready.
async fn until_failing(address: SocketAddr, expected: &[&str]) {
    until(async || failing(address).await == expected).await;
    let status = if expected.is_empty() { 200 } else { 503 };
    let ready = call(address, "GET /readyz", &[], "").await;
    assert_eq!(ready.status, status, "{ready:?}");
    assert_eq!(call(address, "GET /healthz", &[], "").await.status, 200, "it lives");
    let page = call(address, "GET /metrics", &[], "").await.body;
    assert!(
        page.contains(&format!("conclave_ready {}\n", u8::from(expected.is_empty()))),
        "{page}"
    );
    for check in expected {
        let line = format!("conclave_ready_check{{check=\"{check}\"}} 0\n");
        assert!(page.contains(&line), "{line} in {page}");
    }
}

/// The checks that fail, as the answer names them.
async fn failing(address: SocketAddr) -> Vec<String> {
    let ready = call(address, "GET /readyz", &[], "").await;
    if ready.status == 200 {
        return Vec::new();
    }
    let answer = ready.json();
    assert_eq!((ready.status, &answer["error"]["retry"]), (503, &true.into()), "{ready:?}");
    let named = answer["not_ready"].as_array().expect("it names them");
    named.iter().map(|name| name.as_str().expect("a name").to_string()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn all_nodes_of_a_sound_cluster_are_ready() {
    let cluster = Cluster::start(3).await;
    for node in &cluster.nodes {
        until_failing(*node, &[]).await;
    }
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_has_met_no_other_belongs_to_no_cluster() {
    let cluster = Cluster::begin(3, 1, HttpLimits::default()).await;
    until_failing(cluster.first(), &["member", "leader", "majority"]).await;
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_has_lost_leader_and_majority_is_not_ready() {
    let mut cluster = Cluster::start(3).await;
    let leader = cluster.leader().await;
    let left = (leader + 1) % 3;
    cluster.kill((leader + 2) % 3).await;
    cluster.kill(leader).await;
    until_failing(cluster.nodes[left], &["leader", "majority"]).await;
    let (role, majority) = does_not_lead(cluster.nodes[left]).await;
    assert!(role != "leader" && majority.is_null(), "{role}, {majority}");
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_leader_without_a_majority_is_not_ready() {
    let mut cluster = Cluster::start(3).await;
    let leader = cluster.leader().await;
    for other in (0..3).filter(|index| *index != leader) {
        cluster.kill(other).await;
    }
    let left = cluster.nodes[leader];
    until_failing(left, &["leader", "majority"]).await;
    assert_eq!(does_not_lead(left).await, ("leader".to_string(), json!(false)));
    cluster.stop().await;
}

/// All that a node says of who leads: nobody does, though its role is that of a leader, or it
/// followed one.
async fn does_not_lead(address: SocketAddr) -> (String, Value) {
    let seen = call(address, "GET /v1/cluster", &[], "").await.json();
    assert_eq!(seen["leader"], json!(null), "{seen}");
    let members = call(address, "GET /v1/cluster/members", &[], "").await.json();
    let leads = members["members"].as_array().expect("a list").iter().any(|it| it["leads"] == true);
    assert!(!leads, "{members}");
    let page = call(address, "GET /metrics", &[], "").await.body;
    for line in ["conclave_leads 0\n", "conclave_leader 0\n"] {
        assert!(page.contains(line), "{line} in {page}");
    }
    (seen["role"].as_str().expect("a role").to_string(), seen["majority"].clone())
}

/// One that is far from its leader, and hears others.
#[tokio::test(flavor = "multi_thread")]
async fn who_follows_is_ready_again_when_another_leads() {
    let mut cluster = Cluster::start(3).await;
    let leader = cluster.leader().await;
    cluster.kill(leader).await;
    for other in (0..3).filter(|index| *index != leader) {
        until_failing(cluster.nodes[other], &[]).await;
    }
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_stops_sends_everybody_elsewhere() {
    let cluster = Cluster::start(1).await;
    until_failing(cluster.first(), &[]).await;
    cluster.member(0).hand_over().await;
    until_failing(cluster.first(), &["running"]).await;
    let answer = call(cluster.first(), "GET /readyz", &[], "").await.json();
    assert_eq!(answer["stopping"], true);
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_whose_disk_vanished_is_not_ready() {
    let cluster = Cluster::start(1).await;
    until_failing(cluster.first(), &[]).await;
    cluster.member(0).facts.data.vanish();
    until_failing(cluster.first(), &["disk"]).await;
    let client = Client::open(cluster.first(), "it still answers").await;
    client.acquire("a").await;
    cluster.stop().await;
}
