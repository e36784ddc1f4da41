//! What `conclave lock` and `conclave status` say of what cannot be had: against a server that does
//! what a test tells it to.

use crate::fake::{Answer, Fake, Request, usual};
use crate::support::conclave;
use serde_json::{Value, json};

const ACQUIRE: &str = "POST /v1/locks/build/acquire";
const CLUSTER: &str = "GET /v1/cluster";

/// A cluster of two with this engine, one of whose nodes has been silent for 12 s.
fn cluster(engine: &str) -> Value {
    let node = |id: u32, state: &str| {
        json!({ "id": id, "address": "a:1", "api": "127.0.0.1:1", "state": state,
                "for_ms": 12_000, "unacknowledged": 0 })
    };
    let scope = if engine == "replicated" { "cluster" } else { "node" };
    json!({
        "cluster": "conclave", "cluster_id": "c1", "version": "0", "engine": engine,
        "parameters": {}, "election": null, "detector": null, "node": 1, "uptime_ms": 1,
        "leader": 1, "term": 2, "nodes": [node(1, "self"), node(2, "unreachable")], "locks": 0,
        "locks_max": 10_000, "sessions": 0, "scope": scope,
    })
}

/// A cluster with this engine, which gives this answer to whoever wants the lock.
fn answering(engine: &'static str, wanted: fn() -> Answer) -> Fake {
    Fake::start(move |request: &Request| match &*request.line {
        CLUSTER => Answer::Says(200, cluster(engine)),
        ACQUIRE => wanted(),
        "GET /v1/locks" => Answer::Says(200, json!({ "locks": [] })),
        "GET /v1/locks?stale=true" => Answer::Says(200, json!({ "locks": [] })),
        "GET /v1/elections" => Answer::Says(200, json!({ "elections": [] })),
        "GET /v1/elections?stale=true" => Answer::Says(200, json!({ "elections": [] })),
        _ => usual(request),
    })
}

fn too_late() -> Answer {
    let words = "'build' could not be had in time";
    let error = json!({ "code": "timeout", "message": words, "retry": true });
    Answer::Says(409, json!({ "error": error }))
}

#[test]
fn what_nobody_has_may_be_held_by_a_node_that_is_down() {
    for (lang, told) in [
        ("en", "the lock could not be had in time: node 2, down 12 s, may hold it\n"),
        ("pt", "a tempo: o nó 2, caído há 12 s, pode tê-la\n"),
    ] {
        let fake = answering("central-failover", too_late);
        let lock = ["lock", "build", "--wait", "1s", "--lang", lang, "--server", &fake.address];
        let done = conclave(&[&lock[..], &["--", "true"]].concat());
        assert!(done.code == 75 && done.stderr.contains(told), "{}", done.stderr);
    }
    let fake = answering("replicated", too_late);
    let done =
        conclave(&["lock", "build", "--wait", "1s", "--server", &fake.address, "--", "true"]);
    assert_eq!(done.stderr, "conclave: build: the lock could not be had in time\n");
}

#[test]
fn who_did_not_want_to_wait_has_no_place_in_line() {
    let fake = answering("replicated", || {
        let error = json!({ "code": "held", "message": "'build' is not free", "retry": true });
        let holder =
            json!({ "label": "one", "session": "ab", "node": 1, "fence": 1, "held_ms": 9_000 });
        Answer::Says(409, json!({ "error": error, "holders": [holder], "position": 2 }))
    });
    let done = conclave(&["lock", "build", "--wait", "0", "--server", &fake.address, "--", "true"]);
    let told =
        "conclave: build: the lock could not be had in time: held by one at node 1 for 9 s\n";
    assert_eq!((done.code, &*done.stderr), (75, told));
}

#[test]
fn a_time_below_nothing_is_told_what_its_flag_takes() {
    for command in ["lock", "elect"] {
        let done = conclave(&[command, "a", "--wait", "-5s", "--", "true"]);
        let line = "error: --wait -5s: takes a time with its unit: 30s, 500ms, 10m, 1h, or 0\n";
        assert_eq!((done.code, &*done.stderr), (2, line));
    }
}

#[test]
fn what_is_no_name_is_told_the_rule_of_names() {
    let done = conclave(&["status", "a b", "--server", "127.0.0.1:1"]);
    let line = "error: a b: a name has 1 to 256 characters out of A-Z a-z 0-9 . _ : / -\n";
    assert_eq!((done.code, &*done.stderr), (2, line));
}

#[test]
fn a_classic_engine_explains_no_lock_whether_or_not_it_knows_it() {
    let fake = answering("central", too_late);
    let done = conclave(&["status", "build", "--explain", "--server", &fake.address]);
    let line = "error: --explain: only the replicated engine has this; this cluster runs central\n";
    assert_eq!((done.code, &*done.stderr), (2, line));
}

#[test]
fn a_name_that_nobody_uses_is_free_where_such_names_are_forgotten() {
    for (engine, told) in [
        ("replicated", "nobody has it or waits for it; this cluster forgets names that are free"),
        ("central", "no node knows such a lock or election"),
    ] {
        let fake = answering(engine, too_late);
        let done = conclave(&["status", "build", "--server", &fake.address]);
        assert_eq!((done.code, done.stderr), (1, format!("error: build: {told}\n")));
    }
}

/// Without `--wait` it goes on for ever.
#[test]
fn who_waits_though_no_node_answers_is_told() {
    let server = "http://127.0.0.1:1"; // No port that the system gives to another test.
    for (command, lang, told) in [
        ("elect", "en", "conclave: build: waiting: no node answers\n"),
        ("elect", "pt", "conclave: build: esperando: nenhum nó responde\n"),
        ("lock", "en", "conclave: build: waiting: no node answers\n"),
    ] {
        let flags = [command, "build", "--wait", "5s", "--lang", lang, "--server", server];
        let done = conclave(&[&flags[..], &["--", "true"]].concat());
        assert!(done.stderr.starts_with(told), "{}", done.stderr);
        assert_eq!(done.code, 1, "nobody ever answered: {}", done.stderr);
    }
}
