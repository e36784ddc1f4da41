//! Sessions that belong to a cluster: they move from node to node, and keep what they hold and
//! their places in line.

use crate::support::DEADLINE;
use crate::table::{Mood, Nodes};
use conclave_client::api::WantedLock;
use conclave_client::{Client, Error, Lease, Loss, Wanted};
use std::thread;
use std::time::Duration;

const ACQUIRE: &str = "POST /v1/locks/build/acquire";
const OPEN: &str = "POST /v1/sessions";

/// A session of 1 s: its keepalives come quickly.
const TTL: Duration = Duration::from_secs(1);
/// A session whose node may be away for a while.
const LONG: Duration = Duration::from_secs(60);

fn client(nodes: &Nodes) -> Client {
    Client::new(nodes.addresses()).unwrap()
}

fn lease(nodes: &Nodes, ttl: Duration) -> Lease {
    client(nodes).open(ttl, None).unwrap()
}

fn patient() -> Wanted {
    Wanted { wait: Some(DEADLINE), ..Wanted::default() }
}

fn wanted(name: &str) -> WantedLock {
    WantedLock { name: name.to_string(), ..WantedLock::default() }
}

/// Somebody waits for 'build' behind who holds it; the node at which it waits gets into this mood.
fn wait_at_a_node_that_is(mood: Mood, ttl: Duration) {
    let nodes = Nodes::start(3);
    let holder = lease(&nodes, LONG).acquire("build", &patient()).unwrap();
    let asked_before = nodes.fakes.iter().map(|fake| fake.bodies(ACQUIRE).len());
    let asked_before: Vec<usize> = asked_before.collect();
    let other = client(&nodes);
    let first = thread::spawn(move || {
        let wanted = Wanted { ttl, ..patient() };
        other.lock("build", &wanted).map(|guard| (guard.fence(), guard))
    });
    nodes.wait_until("one waits", |table| table.queue.len() == 1);
    let place = nodes.change(|table| table.queue[0].0.clone());
    let asked = |node: usize| nodes.fakes[node].bodies(ACQUIRE).len();
    let its = (0..3).find(|node| asked(*node) > asked_before[*node]).unwrap();
    nodes.change(|table| table.moods[its] = mood);
    // Somebody asks the others for what it waits for, under the same number.
    let others: Vec<usize> = (0..3).filter(|node| *node != its).collect();
    let again = |nodes: &Nodes| {
        let bodies = others.iter().flat_map(|node| nodes.fakes[*node].bodies(ACQUIRE));
        bodies.filter(|body| body["session"] == *place.0).count()
    };
    nodes.wait_until("another node is asked", |_| again(&nodes) > 0);
    assert_eq!(nodes.change(|table| table.queue[0].0.clone()), place, "it kept its place");
    assert_eq!(nodes.change(|table| table.sessions.len()), 2, "and its session");
    holder.release().unwrap();
    let (fence, guard) = first.join().unwrap().unwrap();
    assert_eq!((fence, guard.lost()), (2, None));
    let asked = nodes.bodies(ACQUIRE).into_iter().filter(|body| body["session"] == *place.0);
    let asked: Vec<_> = asked.collect();
    assert_eq!(asked[0]["request_id"], place.1.to_string());
    assert!(asked.iter().all(|body| *body == asked[0]), "the same words: {asked:?}");
}

#[test]
fn a_wait_whose_node_dies_goes_on_at_another_in_the_same_place() {
    wait_at_a_node_that_is(Mood::Dead, LONG);
}

#[test]
fn a_wait_whose_node_stands_still_goes_on_at_another_in_the_same_place() {
    wait_at_a_node_that_is(Mood::Still, Duration::from_secs(8));
}

#[test]
fn what_is_held_outlives_its_node() {
    let nodes = Nodes::start(3);
    let lease = lease(&nodes, TTL);
    let guard = lease.acquire("build", &patient()).unwrap();
    let session = nodes.change(|table| table.session());
    let keepalive = format!("POST /v1/sessions/{session}/keepalive");
    let its = nodes.asked(OPEN);
    nodes.change(|table| table.moods[its] = Mood::Dead);
    let next = (its + 1) % 3;
    nodes.fakes[next].wait_for(&keepalive, 2);
    nodes.change(|table| table.moods[next] = Mood::Dead);
    nodes.fakes[(its + 2) % 3].wait_for(&keepalive, 2);
    assert_eq!((guard.lost(), lease.watch().lost()), (None, None));
    assert!(guard.release().is_ok());
    assert!(nodes.change(|table| table.holds.is_empty()));
}

#[test]
fn a_hold_that_is_revoked_is_lost_and_no_other() {
    let nodes = Nodes::start(1);
    let lease = lease(&nodes, TTL);
    let taken = lease.acquire("taken", &patient()).unwrap();
    let kept = lease.acquire("kept", &patient()).unwrap();
    nodes.change(|table| table.revoked.insert("taken".to_string()));
    let force = Loss::Told("it was taken away by force".to_string());
    assert_eq!(taken.watch().wait(), Some(force));
    assert_eq!((kept.lost(), lease.watch().lost()), (None, None));
    drop(taken); // It is given back all the same, so that the next one need not wait.
    nodes.wait_until("given back", |table| !table.holds.contains_key("taken"));
}

#[test]
fn a_hold_that_the_cluster_does_not_know_is_lost() {
    let nodes = Nodes::start(1);
    let guard = lease(&nodes, TTL).acquire("build", &patient()).unwrap();
    nodes.change(|table| table.holds.clear());
    let gone = Loss::Told("the cluster holds it for this session no longer".to_string());
    assert_eq!(guard.watch().wait(), Some(gone));
}

#[test]
fn a_grant_whose_answer_got_lost_is_asked_for_again_by_its_number() {
    let nodes = Nodes::start(2);
    let lease = lease(&nodes, LONG);
    let its = nodes.asked(OPEN);
    nodes.change(|table| table.moods[its] = Mood::Deaf);
    let guard = lease.acquire("build", &patient()).unwrap();
    assert_eq!(guard.fence(), 1, "it was let in once");
    let asked = nodes.bodies(ACQUIRE);
    assert_eq!((asked.len(), &asked[0]), (2, &asked[1]));
    guard.release().unwrap();
    assert!(nodes.change(|table| table.holds.is_empty()));
}

#[test]
fn what_was_granted_to_nobody_who_knows_of_it_is_given_back() {
    let nodes = Nodes::start(1);
    let lease = lease(&nodes, LONG);
    nodes.change(|table| table.moods[0] = Mood::Deaf);
    let error = lease.acquire("build", &Wanted::default()).unwrap_err();
    assert!(matches!(error, Error::Unreachable(_)), "{error}");
    nodes.change(|table| table.moods[0] = Mood::Well);
    nodes.wait_until("given back", |table| table.holds.is_empty());
    assert_eq!(lease.watch().lost(), None);
}

#[test]
fn another_cluster_at_a_known_address_is_refused() {
    for other in [Mood::Elsewhere("c2", 2), Mood::Elsewhere("c1", 1)] {
        let nodes = Nodes::start(2);
        let client = client(&nodes);
        let lease = client.open(TTL, None).unwrap();
        let guard = lease.acquire("build", &patient()).unwrap();
        let its = nodes.asked(OPEN);
        nodes.change(|table| table.moods[its] = other);
        // It knows of no such session, which means nothing: the rest of the cluster does.
        nodes.fakes[its].wait_for("GET /v1/cluster", 1);
        let session = nodes.change(|table| table.session());
        nodes.fakes[1 - its].wait_for(&format!("POST /v1/sessions/{session}/keepalive"), 2);
        assert_eq!(guard.lost(), None);
        nodes.change(|table| table.moods = vec![other; 2]);
        let error = client.open(TTL, None).unwrap_err();
        assert!(matches!(error, Error::OtherCluster { .. }), "{error}");
    }
}

#[test]
fn several_locks_are_one_guard_with_a_fence_each() {
    let nodes = Nodes::start(1);
    let client = client(&nodes);
    let holder = client.lock("b", &patient()).unwrap();
    let other = client.clone();
    let all = thread::spawn(move || {
        let shared = WantedLock { mode: Some("shared".to_string()), ..wanted("b") };
        other.lock_all(&[wanted("a"), shared], &patient())
    });
    nodes.wait_until("it waits", |table| table.queue.len() == 1);
    assert!(!nodes.change(|table| table.holds.contains_key("a")), "nothing until all");
    holder.release().unwrap();
    let guard = all.join().unwrap().unwrap();
    let names: Vec<&str> = guard.grants().iter().map(|grant| &*grant.name).collect();
    assert_eq!((names, guard.name()), (vec!["a", "b"], "a"));
    assert_eq!(nodes.bodies("POST /v1/acquire")[0]["locks"][1]["mode"], "shared");
    drop(guard);
    assert!(nodes.change(|table| table.holds.is_empty()));
}

#[test]
fn a_leader_hands_over_and_a_candidate_keeps_the_ttl_that_it_wants() {
    let nodes = Nodes::start(2);
    let mut leader = client(&nodes).lead("boss", &Wanted { ttl: LONG, ..patient() }).unwrap();
    assert_eq!(nodes.bodies(OPEN)[0]["ttl_ms"], 60_000);
    let handed = leader.hand_over("worker 8").unwrap();
    assert_eq!((handed.to.as_str(), handed.fence), ("worker 8", 1));
    let said = &nodes.bodies("POST /v1/elections/boss/hand-over")[0];
    assert!(said["request_id"].is_string() && said["lowest_open"].is_string());
}

#[test]
fn numbers_rise_and_the_mark_follows() {
    let nodes = Nodes::start(1);
    let lease = lease(&nodes, LONG);
    for _ in 0..3 {
        lease.acquire("build", &patient()).unwrap().release().unwrap();
    }
    let number = |value: &serde_json::Value| value.as_str().unwrap().parse::<u64>().unwrap();
    let acquired = nodes.bodies(ACQUIRE);
    let released = nodes.bodies("POST /v1/locks/build/release");
    let all = acquired.iter().zip(&released).flat_map(|(one, other)| [one, other]);
    let mut last = 0;
    for body in all {
        assert!(number(&body["request_id"]) > last, "{body}");
        assert_eq!(body["lowest_open"], body["request_id"], "all before are answered");
        last = number(&body["request_id"]);
    }
    for (acquired, released) in acquired.iter().zip(&released) {
        assert_eq!(released["hold"], acquired["request_id"]);
    }
}
