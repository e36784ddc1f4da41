//! Nodes that are killed, and what goes on without them.

use super::cluster::{Place, Running, Up, gone};
use rustix::process::Signal;
use serde_json::json;
use std::fs;

#[test]
fn without_its_leader_the_cluster_elects_and_goes_on() {
    let place = Place::new("leader");
    let mut up = Up::start(&place, &[]);
    let before = place.fence(&["demo"]);
    let victim = up.leader().clone();
    victim.kill();
    let again = up.again(&victim);
    up.running.wait_for(" leads, in term ");
    let after = place.fence(&["demo"]);
    assert!(after > before, "{before} {after}");
    assert!(place.fence(&["never-used-before"]) > 0);
    let status = place.status();
    assert_eq!(status["silent"], json!([victim.id]));
    assert_ne!(status["cluster"]["leader"], victim.id);
    let mut back = Running::start(&place, place.shell(&format!("exec {again}")));
    up.running.wait_for(&format!("node {} is back", victim.id));
    let server = up.nodes[victim.id as usize - 1].api.clone();
    assert!(place.fence(&["demo", "--server", &server]) > after, "it takes part again");
    back.signal(Signal::TERM);
    assert_eq!(back.code(), Some(0), "{}", back.errors());
}

/// The lease is so long that whoever waited for one to run out would wait in vain here.
#[test]
fn a_leader_that_is_told_to_stop_hands_over_and_nobody_waits_for_a_lease() {
    let place = Place::new("told");
    let record = place.path("record");
    let up = Up::start(&place, &["--nodes", "3", "--set", "lease=3600s", "--record", &record]);
    let leader = up.leader().clone();
    let mut others = up.nodes.iter().filter(|node| !node.leads).map(|node| node.api.as_str());
    let one = others.next().unwrap();
    let other = others.next().unwrap();
    let before = place.fence(&["free", "--server", one]);
    let lock = |server, script| {
        let lock = ["lock", "held", "--wait", "170s", "--server", server, "--", "sh", "-c", script];
        Running::start(&place, place.command(&lock))
    };
    let mut holder = lock(one, "echo inside; while :; do sleep 0.05; done");
    assert_eq!(holder.line(), "inside");
    let mut waiter = lock(other, "echo next");
    leader.signal(Signal::TERM);
    gone(leader.pid);
    assert!(place.fence(&["free", "--server", other]) > before);
    assert_eq!(holder.child.try_wait().unwrap(), None, "what others hold they still hold");
    holder.signal(Signal::TERM);
    assert_eq!(waiter.line(), "next");
    assert_eq!((holder.code(), waiter.code()), (Some(143), Some(0)));
    up.end(Signal::INT);
    let files = fs::read_dir(&record).unwrap().map(|file| file.unwrap().path());
    let files: Vec<String> = files.map(|file| file.to_str().unwrap().to_string()).collect();
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let judged = place.conclave(&[&["replay"], &files[..]].concat());
    assert_eq!(judged.code, Some(0), "{}{}", judged.stdout, judged.stderr);
}

#[test]
fn the_cluster_is_found_without_its_first_node() {
    let place = Place::new("first");
    let mut up = Up::start(&place, &["--nodes", "3"]);
    let first = up.nodes[0].clone();
    first.kill();
    up.again(&first);
    let status = place.status();
    assert_eq!(status["silent"], json!([1]));
    assert!(place.fence(&["demo"]) > 0);
    let text = place.conclave(&["status"]).stdout;
    assert!(
        text.lines().any(|line| line.starts_with("1 ") && line.contains("no answer")),
        "{text}"
    );
}

/// The node that knows the session is killed: its client cannot know what the others do.
fn cut_off(engine: &str) {
    let place = Place::new(engine);
    let up = Up::start(&place, &["--nodes", "3", "--engine", engine]);
    let file = place.path("story");
    let script = format!(
        "trap 'echo out >> {file}; exit' TERM; echo in >> {file}; echo inside; \
         while :; do sleep 0.05; done"
    );
    let servers = [&up.nodes[0].api, &up.nodes[1].api];
    let lock = ["lock", "demo", "--wait", "170s", "--server"];
    let hold = [&lock[..], &[servers[0], "--", "sh", "-c", &script]].concat();
    let mut holder = Running::start(&place, place.command(&hold));
    assert_eq!(holder.line(), "inside");
    up.nodes[0].kill();
    let next = format!("echo next >> {file}");
    let done = place.conclave(&[&lock[..], &[servers[1], "--", "sh", "-c", &next]].concat());
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    assert_eq!(holder.code(), Some(76), "{}", holder.errors());
    assert_eq!(fs::read_to_string(&file).unwrap(), "in\nout\nnext\n", "never two at once");
}

#[test]
fn who_loses_its_node_is_stopped_before_another_is_let_in() {
    cut_off("central-failover");
}

#[test]
fn who_loses_its_node_loses_the_token_only_then() {
    cut_off("token-ring-regenerating");
}

#[test]
fn a_lock_that_needs_the_dead_says_for_whom_it_waits() {
    let place = Place::new("blocked");
    let mut up = Up::start(&place, &["--nodes", "3", "--engine", "ricart-agrawala"]);
    let before = place.fence(&["demo"]);
    let victim = up.nodes[2].clone();
    victim.kill();
    let again = up.again(&victim);
    let refused = place.conclave(&["lock", "demo", "--wait", "4s", "--", "true"]);
    assert_eq!(refused.code, Some(75), "{}", refused.stderr);
    let said = "demo: the lock could not be had in time: blocked on node 3, down ";
    assert!(refused.stderr.contains(said), "{}", refused.stderr);
    let lock = ["lock", "demo", "--wait", "600s", "--", "sh", "-c", "echo $CONCLAVE_FENCE"];
    let mut waiter = Running::start(&place, place.command(&lock));
    let blocked = |status: &serde_json::Value| {
        let locks = status["locks"].as_array().unwrap();
        locks.iter().any(|lock| lock["blocked_on"]["nodes"] == json!([3]))
    };
    place.status_until("a lock is blocked on node 3", blocked);
    let text = place.conclave(&["status"]).stdout;
    let blocked = |node| text.contains(&format!("demo at node {node}: blocked on node 3, down "));
    assert!(blocked(1) || blocked(2), "{text}");
    let mut back = Running::start(&place, place.shell(&format!("exec {again}")));
    assert!(waiter.line().parse::<u64>().unwrap() > before, "it is granted when the node is back");
    assert_eq!(waiter.code(), Some(0));
    back.signal(Signal::TERM);
    assert_eq!(back.code(), Some(0), "{}", back.errors());
}
