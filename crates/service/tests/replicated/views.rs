//! Views: lists in pages, the cluster, events and metrics, without any secret.

use crate::common::{Client, Cluster, FOR_EVER, admin, call, numbered, until};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

#[tokio::test(flavor = "multi_thread")]
async fn lists_come_in_pages_and_say_how_far_they_know() {
    let cluster = Cluster::start(3).await;
    let client = Client::open(cluster.nodes[0], "client").await;
    for name in ["a", "b", "c"] {
        client.acquire(name).await;
    }
    client.post("/v1/elections/e/campaign", json!({ "value": "v" })).await;
    for node in &cluster.nodes {
        let page = call(*node, "GET /v1/locks?limit=2", &[], "").await;
        assert!(!page.body.contains(&client.session));
        let page = page.json();
        assert_eq!((names(&page["locks"]), &page["next"]), (vec!["a", "b"], &json!("b")));
        assert!(page["as_of_index"].as_u64().is_some_and(|index| index > 0));
        let rest = call(*node, "GET /v1/locks?limit=2&after=b", &[], "").await.json();
        assert_eq!((names(&rest["locks"]), &rest["next"]), (vec!["c"], &json!(null)));
        let elections = call(*node, "GET /v1/elections", &[], "").await.json();
        assert_eq!(names(&elections["elections"]), ["e"]);
    }
    let stale = call(cluster.nodes[2], "GET /v1/locks?stale=true", &[], "").await;
    assert_eq!(stale.status, 200);
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_holds_is_told_in_brief_however_many_wait() {
    let cluster = Cluster::start(3).await;
    let holder = Client::open(cluster.nodes[0], "holder").await;
    let fence = holder.acquire("a").await;
    let mut waiting = Vec::new();
    for number in 1..=3 {
        let waiter = Client::open(cluster.nodes[1], &format!("waiter {number}")).await;
        waiting.push(waiter.queue("a", numbered(1, 15_000)).await);
    }
    for node in &cluster.nodes {
        let look = async |query: &str| {
            call(*node, &format!("GET /v1/locks/a?{query}"), &[], "").await.json()
        };
        until(async || look("stale=true").await["waiters"].as_array().map(Vec::len) == Some(3))
            .await;
        for query in ["brief=true", "brief=true&stale=true"] {
            let brief = look(query).await;
            assert_eq!(
                (&brief["state"], &brief["holder"]["fence"]),
                (&json!("held"), &json!(fence))
            );
            let first = brief["waiters"].as_array().expect("a list");
            assert_eq!((first.len(), &first[0]["label"]), (1, &json!("waiter 1")), "{query}");
        }
    }
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_are_searched_and_sorted_and_sessions_are_listed_without_their_ids() {
    let cluster = Cluster::start(3).await;
    let client = Client::open(cluster.nodes[0], "client").await;
    for name in ["x", "team%2Fb", "a"] {
        client.acquire(name).await;
    }
    let other = Client::open(cluster.nodes[1], "other").await;
    let _waits = other.queue("team%2Fb", numbered(1, 15_000)).await;
    for node in &cluster.nodes {
        let list = async |query: &str| {
            let list = call(*node, &format!("GET /v1/locks?{query}"), &[], "").await;
            assert_eq!(list.status, 200, "{query}: {list:?}");
            list.json()
        };
        assert_eq!(names(&list("search=am/").await["locks"]), ["team/b"]);
        assert_eq!(names(&list("sort=held").await["locks"]), ["x", "team/b", "a"]);
        let longest = list("sort=waiters&limit=1").await;
        assert_eq!((names(&longest["locks"]), &longest["next"]), (vec!["team/b"], &Value::Null));
        let listed = call(*node, "GET /v1/sessions?search=client", &[], "").await;
        assert!(!listed.body.contains(&client.session));
        let listed = listed.json();
        let one = &listed["sessions"][0];
        assert_eq!((&listed["total"], &one["label"]), (&json!(1), &json!("client")));
        assert_eq!((&one["holds"], &one["waits"], &one["node"]), (&json!(3), &json!(0), &json!(1)));
        let all = call(*node, "GET /v1/sessions?limit=1", &[], "").await.json();
        assert_eq!((all["sessions"].as_array().map(Vec::len), &all["total"]), (Some(1), &json!(2)));
    }
    for wrong in ["locks?sort=size", "locks?search=a%20b", "sessions?limit=0", "sessions?after=a"] {
        let refused = call(cluster.first(), &format!("GET /v1/{wrong}"), &[], "").await;
        assert_eq!(refused.failure(), (400, "bad_request".into()), "{wrong}");
    }
    cluster.stop().await;
}

fn names(list: &Value) -> Vec<&str> {
    list.as_array().expect("a list").iter().filter_map(|one| one["name"].as_str()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_cluster_tells_what_this_engine_has() {
    let cluster = Cluster::start(3).await;
    let leader = cluster.leader().await;
    let seen = call(cluster.nodes[leader], "GET /v1/cluster", &[], "").await.json();
    assert_eq!((&seen["engine"], &seen["scope"]), (&json!("replicated"), &json!("cluster")));
    assert_eq!((&seen["role"], &seen["leader"]), (&json!("leader"), &json!(leader + 1)));
    assert_eq!(seen["majority"], true);
    assert_eq!((&seen["election"], &seen["locks_max"]), (&json!(null), &json!(null)));
    assert_eq!(seen["members"].as_array().map(Vec::len), Some(3));
    assert!(seen["applied"].as_u64().is_some() && seen["committed"].as_u64().is_some());
    until(async || call(cluster.nodes[leader], "GET /readyz", &[], "").await.status == 200).await;
    let members = call(cluster.nodes[0], "GET /v1/cluster/members", &[], "").await.json();
    assert_eq!(members["members"].as_array().map(Vec::len), Some(3));
    let to = (leader + 1) % 3 + 1;
    let moved =
        admin(cluster.nodes[leader], "POST /v1/cluster/transfer", json!({ "to": to })).await;
    assert_eq!(moved.status, 200, "{moved:?}");
    let backup = admin(cluster.nodes[leader], "POST /v1/cluster/snapshot", json!({})).await;
    assert_eq!(backup.status, 200);
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn metrics_have_the_numbers_of_the_log_and_histograms() {
    let cluster = Cluster::start(1).await;
    let client = Client::open(cluster.first(), "client").await;
    let held = client.acquire("a").await;
    client.release("a", held).await;
    client.ask("a", json!({ "request_id": "first" })).await;
    let page = call(cluster.first(), "GET /metrics", &[], "").await.body;
    for line in [
        "conclave_leads 1\n",
        "conclave_sessions 1\n",
        "conclave_acquire_seconds_count 2\n",
        "conclave_hold_seconds_count 1\n",
        "conclave_refusals_total{code=\"bad_request\"} 1\n",
    ] {
        assert!(page.contains(line), "{line} in {page}");
    }
    assert!(!page.contains(&client.session));
    cluster.stop().await;
}

/// Every node tells what happens, as it applies the log.
#[tokio::test(flavor = "multi_thread")]
async fn events_are_told_at_every_node_without_session_ids() {
    let cluster = Cluster::start(3).await;
    let follower = cluster.follower().await;
    let address = cluster.nodes[follower];
    let mut stream = TcpStream::connect(address).await.expect("it listens");
    let request = format!("GET /v1/events HTTP/1.1\r\nhost: {address}\r\n\r\n");
    stream.write_all(request.as_bytes()).await.expect("it reads");
    let client = Client::open(cluster.nodes[0], "the client").await;
    let held = client.ask("a", numbered(1, 0)).await.json()["fence"].as_u64().expect("a fence");
    client.release("a", held).await;
    let mut told = String::new();
    let reading = async {
        let mut buffer = [0; 4_096];
        while !told.contains("event: released") {
            let read = stream.read(&mut buffer).await.expect("it goes on");
            assert!(read > 0, "it ended: {told}");
            told.push_str(&String::from_utf8_lossy(&buffer[..read]));
        }
    };
    timeout(FOR_EVER, reading).await.expect("all is told");
    assert!(told.contains("event: session_opened") && told.contains("event: granted"), "{told}");
    assert!(told.contains(&format!("has it with fence {held}")), "{told}");
    assert!(!told.contains(&client.session), "a session id is a secret");
    cluster.stop().await;
}
