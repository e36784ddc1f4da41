//! Who asks travels to the leader: sessions are bound to it, and the audit log knows it.

use crate::common::{Cluster, TOKEN, admin, by, call, session_of, until};
use crate::streams::attach_by;
use serde_json::{Value, json};
use std::net::SocketAddr;

/// Longer than any test: no session ends by itself.
const LONG_MS: u64 = 600_000;

#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_of_use_to_who_opened_it_alone_at_every_node() {
    let cluster = Cluster::guarded(3).await;
    let words = json!({ "request_id": "0123456789abcdef", "label": "mine" });
    let session = session_of("ci", cluster.nodes[0], words.clone()).await;
    assert_eq!(session_of("ci", cluster.nodes[1], words.clone()).await, session, "a repeat");
    assert_ne!(session_of("rival", cluster.nodes[1], words).await, session, "per principal");
    for node in &cluster.nodes {
        let take = json!({ "session": session });
        let stolen = by("rival", *node, "POST /v1/locks/builds%2Fa/acquire", take.clone()).await;
        assert_eq!(stolen.failure(), (404, "no_session".into()));
        let all = json!({ "session": session, "locks": [{ "name": "builds/a" }] });
        let stolen = by("rival", *node, "POST /v1/acquire", all).await;
        assert_eq!(stolen.failure(), (404, "no_session".into()));
        let keep = format!("POST /v1/sessions/{session}/keepalive");
        let stolen = by("rival", *node, &keep, Value::Null).await;
        assert_eq!(stolen.failure(), (404, "no_session".into()));
        let end = format!("DELETE /v1/sessions/{session}");
        let stolen = by("rival", *node, &end, Value::Null).await;
        assert_eq!(stolen.failure(), (404, "no_session".into()));
        let held = by("ci", *node, "POST /v1/locks/builds%2Fa/acquire", take).await;
        let back = json!({ "session": session, "fence": held.json()["fence"] });
        let release = "POST /v1/locks/builds%2Fa/release";
        let stolen = by("rival", *node, release, back.clone()).await;
        assert_eq!(stolen.failure(), (404, "no_session".into()));
        assert_eq!(by("ci", *node, release, back).await.status, 200);
    }
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_numbered_write_and_a_stream_take_a_session_of_ones_own() {
    let cluster = Cluster::guarded(3).await;
    let none = (404, "no_session".to_string());
    let session = session_of("ci", cluster.first(), json!({ "ttl_ms": LONG_MS })).await;
    for (index, node) in (1..).zip(&cluster.nodes) {
        let write = "PUT /v1/values/builds%2Fv";
        let words = json!({
            "value": index, "fence": index, "session": session, "request_id": index.to_string(),
        });
        assert_eq!(by("rival", *node, write, words.clone()).await.failure(), none);
        assert_eq!(by("ci", *node, write, words.clone()).await.status, 200);
        let refused = by("ci", *node, "PUT /v1/values/rival%2Fv", words).await;
        assert_eq!(refused.failure(), (403, "forbidden".into()));
        assert_eq!(stream_of_rival(*node, &session).await, none);
        let stream = attach_by("ci", *node, &session, index).await;
        let ping = json!({ "session": session, "stream": index });
        assert_eq!(by("rival", *node, "POST /v1/session/ping", ping.clone()).await.failure(), none);
        assert_eq!(by("ci", *node, "POST /v1/session/ping", ping).await.status, 204);
        drop(stream);
    }
    cluster.stop().await;
}

async fn stream_of_rival(node: SocketAddr, session: &str) -> (u16, String) {
    let token = ("authorization", "Bearer rival");
    let headers = [token, ("conclave-session", session), ("conclave-stream", "9")];
    call(node, "GET /v1/session/stream", &headers, "").await.failure()
}

/// A node without tokens among others that have them is no way around these.
#[tokio::test(flavor = "multi_thread")]
async fn who_has_no_name_has_no_session_of_somebody_with_one() {
    let cluster = Cluster::guarded(3).await;
    let session = session_of("ci", cluster.first(), json!({})).await;
    for index in 0..3 {
        assert!(!cluster.member(index).nobody_keeps(&session).await, "node {}", index + 1);
        let keep = format!("POST /v1/sessions/{session}/keepalive");
        assert_eq!(by("ci", cluster.nodes[index], &keep, Value::Null).await.status, 200);
    }
    cluster.stop().await;
}

/// Tokens were introduced, or taken away, while the node was down: who had no name before is not
/// whoever has one now, and the other way round. Nobody is stuck: the session ends by itself.
#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_nobodys_after_a_restart_that_changes_who_has_a_name() {
    let none = (404, "no_session".to_string());
    let acquire = "POST /v1/locks/builds%2Fa/acquire";
    for guarded in [true, false] {
        let mut cluster = if guarded { Cluster::start(1).await } else { Cluster::guarded(1).await };
        let opening = json!({ "request_id": "0123456789abcdef", "ttl_ms": 6_000 });
        let session = session_of("ci", cluster.first(), opening.clone()).await;
        let held = by("ci", cluster.first(), acquire, json!({ "session": session })).await;
        assert_eq!(held.status, 200, "{held:?}");
        cluster.restart(guarded).await;
        let node = cluster.first();
        let look = async || by("watcher", node, "GET /v1/locks/builds%2Fa", Value::Null).await;
        until(async || look().await.status == 200).await; // It leads again.
        let kept = look().await.json();
        assert_eq!(kept["holders"][0]["fence"], held.json()["fence"], "a restart costs nobody");
        for who in ["ci", "rival", TOKEN] {
            let keep = format!("POST /v1/sessions/{session}/keepalive");
            assert_eq!(by(who, node, &keep, Value::Null).await.failure(), none, "{who}");
            let end = format!("DELETE /v1/sessions/{session}");
            assert_eq!(by(who, node, &end, Value::Null).await.failure(), none, "{who}");
            let back = json!({ "session": session, "fence": held.json()["fence"] });
            let given = by(who, node, "POST /v1/locks/builds%2Fa/release", back).await;
            assert_eq!(given.failure(), none, "{who}");
        }
        let own = session_of("ci", node, opening).await;
        assert_ne!(own, session, "the same request_id, and not the same one who asks");
        let keep = format!("POST /v1/sessions/{own}/keepalive");
        assert_eq!(by("ci", node, &keep, Value::Null).await.status, 200);
        let last = session_of("ci", node, json!({ "ttl_ms": LONG_MS })).await;
        let granted = by("ci", node, acquire, json!({ "session": last, "wait_ms": 18_000 })).await;
        assert!(granted.json()["fence"].as_u64() > held.json()["fence"].as_u64(), "{granted:?}");
        cluster.stop().await;
    }
}

/// What a node does by itself for a session, it does in the name of whoever opened that.
#[tokio::test(flavor = "multi_thread")]
async fn a_node_withdraws_and_ends_what_its_clients_left_whoever_they_are() {
    let cluster = Cluster::guarded(3).await;
    let acquire = "POST /v1/locks/builds%2Fa/acquire";
    let rival = session_of("rival", cluster.first(), json!({ "ttl_ms": LONG_MS })).await;
    for node in cluster.nodes.clone() {
        let watched = json!({ "ttl_ms": LONG_MS, "on_disconnect": { "grace_ms": 200 } });
        let session = session_of("ci", node, watched).await;
        let held = by("ci", node, acquire, json!({ "session": session })).await;
        assert_eq!(held.status, 200, "{held:?}");
        let stream = attach_by("ci", node, &session, 1).await;
        let waits = json!({ "session": rival, "wait_ms": 100_000 });
        let first = waits.clone();
        let asked = tokio::spawn(async move { by("rival", node, acquire, first).await });
        until(async || waiting(node).await == 1).await;
        asked.abort(); // Its connection ends, and the request has no number.
        until(async || waiting(node).await == 0).await;
        let asked = tokio::spawn(async move { by("rival", node, acquire, waits).await });
        drop(stream);
        let granted = asked.await.expect("answered");
        assert_eq!(granted.status, 200, "the session of the stream ended: {granted:?}");
        let back = json!({ "session": rival, "fence": granted.json()["fence"] });
        assert_eq!(by("rival", node, "POST /v1/locks/builds%2Fa/release", back).await.status, 200);
    }
    cluster.stop().await;
}

/// How many wait for the lock.
async fn waiting(node: SocketAddr) -> usize {
    let lock = by("watcher", node, "GET /v1/locks/builds%2Fa", Value::Null).await.json();
    lock["waiters"].as_array().map_or(0, Vec::len)
}

#[tokio::test(flavor = "multi_thread")]
async fn several_locks_take_the_right_to_each() {
    let cluster = Cluster::guarded(1).await;
    let node = cluster.first();
    let session = session_of("ci", node, json!({})).await;
    let both = |other: &str| {
        let locks = json!([{ "name": "builds/a" }, { "name": other }]);
        json!({ "session": session, "locks": locks })
    };
    let refused = by("ci", node, "POST /v1/acquire", both("rival/a")).await;
    assert_eq!(refused.failure(), (403, "forbidden".into()));
    assert_eq!(by("ci", node, "POST /v1/acquire", both("builds/b")).await.status, 200);
    let list = by("rival", node, "GET /v1/locks?limit=1", Value::Null).await.json();
    assert_eq!(list["locks"][0]["name"], "builds/a");
    for (who, status) in [("ci", 403), ("operator", 403), (TOKEN, 200)] {
        let taken = by(who, node, "POST /v1/cluster/snapshot", json!({})).await.status;
        assert_eq!(taken, status, "{who}: the whole cluster is nobody's prefix");
    }
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_node_writes_down_who_held_what_once() {
    let cluster = Cluster::guarded(3).await;
    let node = cluster.nodes[1];
    let session = session_of("ci", node, json!({ "label": "a build" })).await;
    let take = json!({ "session": session });
    let held = by("ci", node, "POST /v1/locks/builds%2Fa/acquire", take.clone()).await.json();
    let back = json!({ "session": session, "fence": held["fence"] });
    by("ci", node, "POST /v1/locks/builds%2Fa/release", back).await;
    let again = by("ci", node, "POST /v1/locks/builds%2Fa/acquire", take).await.json();
    let force = json!({ "reason": "its host burns", "now": true });
    let forced = admin(node, "DELETE /v1/locks/builds%2Fa/holders", force).await;
    assert_eq!(forced.status, 200, "{forced:?}");
    let expected = [
        ("granted".to_string(), held["fence"].clone()),
        ("released".to_string(), held["fence"].clone()),
        ("granted".to_string(), again["fence"].clone()),
        ("forced".to_string(), again["fence"].clone()),
    ];
    for index in 0..3 {
        until(async || told(&cluster.audited(index)).len() >= expected.len()).await;
        let lines = cluster.audited(index);
        assert_eq!(told(&lines), expected, "node {}", index + 1);
        for line in lines.iter().filter(|line| line["event"] != "force") {
            assert_eq!((&line["principal"], &line["label"]), (&json!("ci"), &json!("a build")));
            assert_eq!(line["session"].as_str().map(str::len), Some(8));
        }
        let force: Vec<_> = lines.iter().filter(|line| line["event"] == "force").collect();
        let [force] = force[..] else { panic!("node {}: {lines:?}", index + 1) };
        assert_eq!((&force["principal"], &force["fence"]), (&json!("admin"), &again["fence"]));
        assert_eq!(force["reason"], "its host burns");
        let text = lines.iter().map(Value::to_string).collect::<String>();
        assert!(!text.contains(&session) && !text.contains(TOKEN), "{text}");
    }
    cluster.stop().await;
}

/// What happened to holds, and to which.
fn told(lines: &[Value]) -> Vec<(String, Value)> {
    let of_holds = lines.iter().filter(|line| line["event"] != "force");
    let event = |line: &Value| line["event"].as_str().unwrap_or_default().to_string();
    of_holds.map(|line| (event(line), line["fence"].clone())).collect()
}
