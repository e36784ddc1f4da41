//! Locks from the command line.

use super::cluster::{Done, Place, Running, Up};
use rustix::process::Signal;
use std::fs;
use std::thread;

#[test]
fn fences_rise_whichever_node_is_asked() {
    let place = Place::new("fences");
    let up = Up::start(&place, &["--nodes", "3"]);
    let fences: Vec<u64> =
        (0..6).map(|turn| place.fence(&["demo", "--server", &up.servers_from(turn)])).collect();
    assert!(fences.is_sorted_by(|one, next| one < next), "{fences:?}");
}

/// Only the first node makes the token, and it has to hear that there is a lock.
#[test]
fn a_token_that_goes_round_comes_to_whoever_asks_first() {
    let place = Place::new("round");
    let up = Up::start(&place, &["--nodes", "3", "--engine", "token-ring", "--set", "hold=5"]);
    for (turn, name) in [(1, "one"), (2, "two"), (0, "three")] {
        assert_eq!(place.fence(&[name, "--server", &up.servers_from(turn)]), 1);
    }
}

/// So many commands at once, each of which reads a number, adds one and writes it.
fn add_up(name: &str, count: usize) {
    let place = Place::new(name);
    let up = Up::start(&place, &[]);
    let file = place.path("counter");
    fs::write(&file, "0\n").unwrap();
    let script = format!("n=$(cat {file}); echo $((n + 1)) > {file}");
    let results: Vec<Done> = thread::scope(|scope| {
        let one = |turn| {
            let (place, script, servers) = (&place, &script, up.servers_from(turn));
            scope.spawn(move || {
                let lock = ["lock", "counter", "--wait", "170s", "--ttl", "60s"];
                let command = ["--server", &servers, "--", "sh", "-c", script];
                place.conclave(&[&lock[..], &command].concat())
            })
        };
        let threads: Vec<_> = (0..count).map(one).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    for done in results {
        assert_eq!(done.code, Some(0), "{}", done.stderr);
    }
    assert_eq!(fs::read_to_string(&file).unwrap().trim(), count.to_string());
}

#[test]
fn forty_at_once_are_counted_exactly() {
    add_up("forty", 40);
}

#[test]
#[ignore = "a soak test: 200 processes at once"]
fn two_hundred_at_once_are_counted_exactly() {
    add_up("two-hundred", 200);
}

#[test]
fn who_is_interrupted_while_waiting_leaves_the_line_at_once() {
    let place = Place::new("interrupted");
    let up = Up::start(&place, &["--nodes", "3"]);
    let servers = up.servers_from(0);
    let lock = ["lock", "demo", "--ttl", "3600s", "--server", &servers];
    let hold = [&lock[..], &["--", "sh", "-c", "echo inside; exec sleep 600"]].concat();
    let mut holder = Running::start(&place, place.command(&hold));
    assert_eq!(holder.line(), "inside");
    let wait = [&lock[..], &["--wait", "600s", "--", "true"]].concat();
    let mut waiter = Running::start(&place, place.command(&wait));
    let waiters = |status: &serde_json::Value| {
        let locks = status["locks"].as_array().unwrap().iter();
        locks.map(|lock| lock["waiters"].as_array().unwrap().len()).sum::<usize>()
    };
    let status = place.status_until("somebody waits", |status| waiters(status) == 1);
    let held = status["locks"].as_array().unwrap().iter().find(|lock| lock["state"] == "held");
    assert!(held.unwrap()["holder"]["label"].as_str().unwrap().ends_with(" sh"), "{status:#}");
    place.fence(&["idle"]);
    let told = |arguments: &[&str]| place.conclave(arguments).stdout;
    let all = told(&["status", "--all"]);
    assert!(all.contains("\nidle ") && all.contains("\ndemo "), "{all}");
    let busy = told(&["status"]);
    assert!(!busy.contains("\nidle ") && busy.contains("1 free lock: --all shows it"), "{busy}");
    let one = told(&["status", "demo"]);
    assert!(one.starts_with("lock ") && one.contains("\ndemo ") && !one.contains("idle"), "{one}");
    assert!(one.contains("\nwaiting ") && one.contains(" true "), "{one}");
    let none = place.conclave(&["status", "nothing"]);
    assert_eq!(none.stderr, "error: nothing: no node knows such a lock or election\n");
    assert_eq!(none.code, Some(1));
    waiter.signal(Signal::INT);
    assert_eq!(waiter.code(), Some(128 + 2));
    place.status_until("nobody waits any more", |status| waiters(status) == 0);
    let full = place.conclave(&[&lock[..], &["--wait", "0", "--", "true"]].concat());
    assert_eq!(full.code, Some(75));
    assert!(full.stderr.contains("could not be had in time: held by "), "{}", full.stderr);
    holder.signal(Signal::TERM);
    assert_eq!(holder.code(), Some(128 + 15), "the command's own end");
    place.fence(&["demo"]);
}

#[test]
fn the_state_of_everything_has_a_shape() {
    let place = Place::new("shape");
    let up = Up::start(&place, &["--nodes", "3"]);
    place.fence(&["demo"]);
    let status = place.status();
    let of = |value: &serde_json::Value| -> Vec<String> {
        value.as_object().unwrap().keys().cloned().collect()
    };
    assert_eq!(
        of(&status),
        ["cluster", "elections", "locks", "nodes", "not_ready", "replicas", "silent"]
    );
    let node = ["address", "api", "for_ms", "id", "state", "unacknowledged"];
    assert_eq!(of(&status["nodes"][0]), node);
    let lock = ["blocked_on", "entries", "holder", "holders", "messages", "name", "node", "state"];
    assert_eq!(of(&status["locks"][0]), [&lock[..], &["waiters"]].concat());
    assert_eq!(status["cluster"]["leader"], up.leader().id);
    let text = place.conclave(&["status"]).stdout;
    let heading = text.lines().find(|line| line.starts_with("node  ")).unwrap();
    let row = text.lines().find(|line| line.starts_with("1 ")).unwrap();
    assert_eq!(heading.find("API"), row.find("http://"), "{text}");
    assert_eq!(heading.find("state"), row.find("up"), "{text}");
}
