//! `conclave lock`, `elect` and `cluster` against fake nodes of a replicated cluster.

use crate::fake_cluster::{Mood, Nodes};
use crate::running_command::Running;
use crate::support::{Done, conclave};
use rustix::process::Signal;
use serde_json::json;

const OPEN: &str = "POST /v1/sessions";
/// A command that says when it runs, and ends with code 7 when it is asked to.
const WAITS: &str = "trap 'kill $!; exit 7' TERM; echo in; sleep 600 & wait";

fn typed(nodes: &Nodes, arguments: &[&str], command: &[&str]) -> Done {
    let servers = nodes.addresses().join(",");
    conclave(&[arguments, &["--server", &servers, "--"], command].concat())
}

#[test]
fn several_locks_are_held_all_or_none_with_a_fence_each() {
    let nodes = Nodes::start(3);
    let shown = "echo $CONCLAVE_LOCK $CONCLAVE_FENCE, $CONCLAVE_LOCKS $CONCLAVE_FENCES, \
                 $CONCLAVE_FENCE_2 $CONCLAVE_SLOT";
    let done = typed(&nodes, &["lock", "a", "b", "c", "--shared"], &["sh", "-c", shown]);
    assert_eq!(done.stdout, "a 1, a b c 1 1 1, 1 0\n", "{}", done.stderr);
    let asked = &nodes.bodies("POST /v1/acquire")[0]["locks"];
    assert_eq!(asked[1], json!({"name": "b", "mode": "shared"}));
    assert!(nodes.change(|table| table.holds.is_empty() && table.sessions.is_empty()));
    let twice = typed(&nodes, &["lock", "a", "a"], &["true"]);
    assert_eq!((twice.stderr.as_str(), twice.code), ("error: a: is named twice\n", 2));
}

#[test]
fn permits_are_asked_for_and_the_command_knows_which_it_has() {
    let nodes = Nodes::start(1);
    let done =
        typed(&nodes, &["lock", "a", "--permits", "3"], &["sh", "-c", "echo $CONCLAVE_SLOT"]);
    assert_eq!(done.stdout, "0\n", "{}", done.stderr);
    assert_eq!(nodes.bodies("POST /v1/locks/a/acquire")[0]["permits"], 3);
}

#[test]
fn a_command_is_not_disturbed_when_its_nodes_die_one_after_the_other() {
    let nodes = Nodes::start(3);
    let servers = nodes.addresses().join(",");
    let lock = ["lock", "build", "--ttl", "4s", "--server", &servers, "--", "sh", "-c", WAITS];
    let mut running = Running::start(&lock);
    assert_eq!(running.line(), "in");
    let keepalive = format!("POST /v1/sessions/{}/keepalive", nodes.change(|it| it.session()));
    let its = nodes.asked(OPEN);
    for mood in [Mood::Dead, Mood::Still] {
        let at = (its + usize::from(mood == Mood::Still)) % 3;
        nodes.change(|table| table.moods[at] = mood);
        nodes.fakes[(at + 1) % 3].wait_for(&keepalive, 2);
    }
    assert!(nodes.change(|table| table.holds.contains_key("build")));
    running.signal(Signal::TERM);
    assert_eq!(running.code(), Some(7), "the command's own");
}

#[test]
fn a_lock_that_was_taken_away_by_force_stops_the_command_and_is_given_back() {
    let nodes = Nodes::start(1);
    let servers = nodes.addresses().join(",");
    let lock = ["lock", "build", "--ttl", "1s", "--server", &servers, "--", "sh", "-c", WAITS];
    let mut running = Running::start(&lock);
    assert_eq!(running.line(), "in");
    nodes.change(|table| table.revoked.insert("build".to_string()));
    assert_eq!(running.code(), Some(76));
    assert!(nodes.change(|table| table.holds.is_empty()));
}

#[test]
fn when_no_node_answers_any_more_the_command_is_stopped_and_the_lock_is_lost() {
    let nodes = Nodes::start(5);
    let servers = nodes.addresses().join(",");
    let lock = ["lock", "build", "--ttl", "1s", "--server", &servers, "--", "sh", "-c", WAITS];
    let mut running = Running::start(&lock);
    assert_eq!(running.line(), "in");
    nodes.change(|table| table.moods.fill(Mood::Still));
    assert_eq!(running.code(), Some(76));
}

#[test]
fn a_leader_whose_command_has_ended_hands_over() {
    let nodes = Nodes::start(1);
    let done = typed(&nodes, &["elect", "boss", "--hand-over", "green"], &["sh", "-c", "exit 3"]);
    assert_eq!(done.code, 3, "{}", done.stderr);
    let handed = &nodes.bodies("POST /v1/elections/boss/hand-over")[0];
    assert_eq!((&handed["to"], &handed["fence"]), (&json!("green"), &json!(1)));
    assert!(nodes.bodies("POST /v1/elections/boss/resign").is_empty());
}

#[test]
fn what_changes_the_members_shows_its_token_and_mistakes_are_told() {
    let nodes = Nodes::start(1);
    let server = &nodes.addresses()[0];
    let add = ["cluster", "add", "4", "--api", "x:1", "--server", server];
    let done = conclave(&[&add[..], &["--peer", "x"]].concat());
    assert_eq!((done.stderr.as_str(), done.code), ("error: peer is host:port\n", 2));
    let missing = ["cluster", "remove", "3", "--admin-token-file", "no-such-file"];
    let done = conclave(&[&missing[..], &["--server", server]].concat());
    assert_eq!(done.code, 1);
    assert!(done.stderr.contains("--admin-token-file no-such-file: cannot be read"));
    let restore = ["cluster", "restore", "no-such-backup", "--data", "x", "--api", "x:1"];
    let done = conclave(&[&restore[..], &["--peer", "x:2"]].concat());
    assert!(done.stderr.starts_with("error: no-such-backup: cannot be read"), "{}", done.stderr);
}
