//! `conclave lock` and `conclave elect` against a server that does what a test tells it to.

use crate::fake::{Answer, DEADLINE, Fake, Request, refuse, session, usual};
use crate::running_command::Running;
use crate::support::{Done, conclave, conclave_reading};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use std::path::PathBuf;
use std::time::Instant;

pub const KEEPALIVE: &str = "POST /v1/sessions/5e55/keepalive";
const ACQUIRE: &str = "POST /v1/locks/build/acquire";

fn locked(fake: &Fake, command: &[&str]) -> Done {
    let lock = ["lock", "build", "--ttl", "1s", "--server", &fake.address, "--"];
    conclave(&[&lock[..], command].concat())
}

/// Answers as usual, but to one line.
pub fn but(line: &'static str, answer: fn() -> Answer) -> Fake {
    Fake::start(move |request: &Request| match request.line == line {
        true => answer(),
        false => usual(request),
    })
}

#[test]
fn the_command_knows_its_fence_and_its_lock() {
    let fake = Fake::start(usual);
    let done = locked(&fake, &["sh", "-c", "echo $CONCLAVE_FENCE $CONCLAVE_LOCK"]);
    assert_eq!((done.stdout.as_str(), done.stderr.as_str(), done.code), ("7 build\n", "", 0));
    assert_eq!(fake.bodies("POST /v1/locks/build/release")[0]["fence"], 7);
    assert_eq!(fake.bodies("DELETE /v1/sessions/5e55").len(), 1);
}

/// Waiting takes small pages of memory, or a thousand who wait keep every processor busy. The
/// command is none of ours.
#[test]
#[cfg(target_os = "linux")]
fn the_command_takes_pages_as_if_nobody_had_started_it() {
    let enabled = |process: &str| format!("sed -n 's/THP_enabled:.//p' /proc/{process}/status");
    let ours = std::process::Command::new("sh").args(["-c", &enabled("self")]).output().unwrap();
    let ours = String::from_utf8(ours.stdout).unwrap();
    let fake = Fake::start(usual);
    let done = locked(&fake, &["sh", "-c", &enabled("self")]);
    assert_eq!((done.stdout.as_str(), done.code), (ours.as_str(), 0));
    let done = locked(&fake, &["sh", "-c", &enabled("$PPID")]);
    assert_eq!(done.stdout, "0\n", "the one who holds the lock");
}

#[test]
fn the_code_is_the_commands_own() {
    let fake = Fake::start(usual);
    assert_eq!(locked(&fake, &["sh", "-c", "exit 3"]).code, 3);
    assert_eq!(locked(&fake, &["sh", "-c", "kill -9 $$"]).code, 128 + 9);
    let missing = locked(&fake, &["no-such-command-anywhere"]);
    assert_eq!(missing.stderr, "error: no-such-command-anywhere: no such command\n");
    assert_eq!(missing.code, 127);
    let lock =
        ["lock", "build", "--lang", "pt", "--server", &fake.address, "--", "no-such-command"];
    assert_eq!(conclave(&lock).stderr, "erro: no-such-command: não existe esse comando\n");
    let closed = locked(&fake, &["/dev/null"]);
    assert_eq!(closed.code, 126, "{}", closed.stderr);
    assert_eq!(fake.bodies("POST /v1/locks/build/release").len(), 5, "released whatever happens");
}

#[test]
fn what_is_typed_goes_to_the_command() {
    let fake = Fake::start(usual);
    let arguments = ["lock", "build", "--server", &fake.address, "--", "cat"];
    let done = conclave_reading(&arguments, "some words\n");
    assert_eq!((done.stdout.as_str(), done.code), ("some words\n", 0));
}

#[test]
fn a_lock_that_cannot_be_had_in_time_has_its_own_code() {
    let fake = but(ACQUIRE, || {
        Answer::Says(
            409,
            json!({
                "error": {"code": "timeout", "message": "not granted within 0 s", "retry": true},
                "holders": [{
                    "label": "other", "session": "ab", "node": 2, "fence": 3, "held_ms": 9_000
                }],
            }),
        )
    });
    let done = locked(&fake, &["echo", "ran"]);
    let said = "build: the lock could not be had in time: held by other at node 2 for 9 s";
    assert_eq!((done.stdout.as_str(), done.code), ("", 75));
    assert_eq!(done.stderr.trim_end(), format!("conclave: {said}"));
}

#[test]
fn who_was_answered_once_and_cut_off_could_not_have_it_in_time() {
    let fake = but(ACQUIRE, || Answer::HangsUp);
    let lock = ["lock", "build", "--wait", "300ms", "--server", &fake.address, "--", "echo", "ran"];
    let done = conclave(&lock);
    assert_eq!((done.stdout.as_str(), done.code), ("", 75), "{}", done.stderr);
    let said = "conclave: build: the lock could not be had in time: the session was lost: ";
    assert!(done.stderr.starts_with(said), "{}", done.stderr);
    let sick = but(ACQUIRE, || refuse(503, "unavailable", "no leader yet"));
    let done = conclave(&[&lock[..5], &[&sick.address, "--", "true"]].concat());
    assert_eq!(done.code, 75, "{}", done.stderr);
}

/// Refuses keepalives once the command has made this file: before, it may not have begun.
fn ends_session_when_there(file: PathBuf) -> Fake {
    Fake::start(move |request: &Request| match request.line == KEEPALIVE {
        true if file.exists() => refuse(404, "no_session", "no such session"),
        true | false => usual(request),
    })
}

fn marker(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("conclave-{name}-{}", std::process::id()))
}

#[test]
fn a_lost_lock_stops_the_command() {
    let begun = marker("lost-lock");
    let fake = ends_session_when_there(begun.clone());
    let script = "trap 'echo stopped; exit 0' TERM; : > \"$0\"; while :; do sleep 0.05; done";
    let done = locked(&fake, &["sh", "-c", script, begun.to_str().unwrap()]);
    std::fs::remove_file(&begun).unwrap();
    assert_eq!((done.stdout.as_str(), done.code), ("stopped\n", 76), "{}", done.stderr);
    let said = "conclave: build: the lock was lost: no such session\n";
    assert!(done.stderr.ends_with(said), "{}", done.stderr); // The shell may add a word.
}

#[test]
fn a_command_that_does_not_want_to_stop_is_killed() {
    let fake = but(KEEPALIVE, || Answer::Silent);
    let script = "trap '' TERM; while :; do sleep 0.05; done";
    let done = locked(&fake, &["sh", "-c", script]);
    assert_eq!(done.code, 76, "{}", done.stderr);
    assert!(done.stderr.contains("no keepalive was answered in time"), "{}", done.stderr);
}

#[test]
fn signals_are_passed_on() {
    let fake = Fake::start(usual);
    for (signal, name) in [(Signal::TERM, "TERM"), (Signal::HUP, "HUP"), (Signal::INT, "INT")] {
        let script =
            format!("trap 'echo got; exit 9' {name}; echo ready; while :; do sleep 0.05; done");
        let lock = ["lock", "build", "--server", &fake.address, "--", "sh", "-c", &script];
        let mut running = Running::start(&lock);
        assert_eq!(running.line(), "ready");
        running.signal(signal);
        assert_eq!((running.line().as_str(), running.code()), ("got", Some(9)), "{name}");
    }
}

#[test]
fn who_waits_can_be_stopped_and_leaves_the_line() {
    let fake = but(ACQUIRE, || Answer::Silent);
    let lock = ["lock", "build", "--server", &fake.address, "--", "echo", "ran"];
    let mut running = Running::start(&lock);
    fake.wait_for(ACQUIRE, 1);
    running.signal(Signal::INT);
    assert_eq!((running.code(), running.line().as_str()), (Some(128 + 2), ""));
    fake.wait_for("DELETE /v1/sessions/5e55", 1);
}

#[test]
fn the_command_dies_with_the_wrapper() {
    let fake = Fake::start(usual);
    let script = "echo $$; exec sleep 600";
    let lock = ["lock", "build", "--server", &fake.address, "--", "sh", "-c", script];
    let mut running = Running::start(&lock);
    let pid = running.line();
    running.signal(Signal::KILL);
    assert_eq!(running.code(), None);
    gone(&pid);
}

#[test]
fn all_that_the_command_started_dies_with_the_wrapper() {
    let fake = Fake::start(usual);
    let script = "echo $$; sleep 100 & echo $!; sh -c 'echo $$; exec sleep 100'; echo unreachable";
    let lock = ["lock", "build", "--server", &fake.address, "--", "sh", "-c", script];
    let mut running = Running::start(&lock);
    let pids = [running.line(), running.line(), running.line()];
    assert!(pids.iter().all(|pid| is_alive(pid)), "{pids:?}");
    running.signal(Signal::KILL);
    assert_eq!(running.code(), None);
    pids.iter().for_each(|pid| gone(pid));
}

#[test]
fn what_a_command_leaves_behind_when_it_is_done_lives_on() {
    let fake = Fake::start(usual);
    let script = "sleep 600 > /dev/null 2>&1 & echo $!";
    let done = locked(&fake, &["sh", "-c", script]);
    let left = done.stdout.trim();
    assert_eq!((done.code, done.stderr.as_str()), (0, ""));
    assert!(is_alive(left), "{left} was not ours to end");
    kill_process(Pid::from_raw(left.parse().unwrap()).unwrap(), Signal::KILL).unwrap();
}

#[test]
fn a_wrapper_that_slept_through_the_loss_says_so_though_the_command_is_done() {
    let fake = but(KEEPALIVE, || Answer::Says(200, session(1_000)));
    let script = "echo $$; kill -STOP $PPID; sleep 1.5"; // Longer than the time to live.
    let lock = ["lock", "build", "--ttl", "1s", "--server", &fake.address];
    let mut running = Running::start(&[&lock[..], &["--", "sh", "-c", script]].concat());
    let pid = running.line();
    gone(&pid);
    running.signal(Signal::CONT);
    assert_eq!(running.code(), Some(76));
}

#[test]
fn a_signal_that_was_ignored_from_the_beginning_stays_ignored() {
    let fake = Fake::start(usual);
    let script = "trap 'exit 9' TERM; grep SigIgn /proc/self/status; while :; do sleep 0.05; done";
    let lock = ["lock", "build", "--server", &fake.address, "--", "sh", "-c", script];
    let mut running = Running::start_ignoring("HUP QUIT", &lock);
    let line = running.line();
    let mask = line.split_whitespace().last().unwrap();
    let ignored = u64::from_str_radix(mask, 16).unwrap();
    assert_eq!(ignored & 0b101, 0b101, "HUP and QUIT: {line}");
    running.signal(Signal::HUP);
    running.signal(Signal::QUIT);
    running.signal(Signal::TERM);
    assert_eq!(running.code(), Some(9));
}

/// Waits until no such process lives.
fn gone(pid: &str) {
    let end = Instant::now() + DEADLINE;
    while is_alive(pid) {
        assert!(Instant::now() < end, "{pid} is an orphan");
        std::thread::yield_now();
    }
}

/// A process that ended but whose end nobody has read yet does not live.
fn is_alive(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(") ").next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with('Z'))
}

#[test]
fn what_the_engine_does_not_have_it_says_itself() {
    let fake = but(ACQUIRE, || refuse(422, "unsupported", "lamport has no shared locks"));
    let lock = ["lock", "build", "--shared", "--server", &fake.address, "--", "true"];
    let done = conclave(&lock);
    assert_eq!((done.code, done.stderr.as_str()), (2, "error: lamport has no shared locks\n"));
    assert_eq!(fake.bodies(ACQUIRE)[0]["mode"], "shared");
}

#[test]
fn a_time_out_that_nobody_explains_is_said_once() {
    let fake = but(ACQUIRE, || {
        let message = "'build' could not be had in time";
        let error = json!({ "code": "timeout", "message": message, "retry": true });
        Answer::Says(409, json!({ "error": error }))
    });
    let done = locked(&fake, &["true"]);
    let said = "conclave: build: the lock could not be had in time\n";
    assert_eq!((done.code, done.stderr.as_str()), (75, said));
}

fn classic() -> Answer {
    let told = json!({
        "cluster": "conclave", "cluster_id": "c1", "version": "0", "engine": "central",
        "parameters": {}, "election": null, "detector": null, "node": 1, "uptime_ms": 1,
        "leader": null, "term": 0, "nodes": [], "locks": 0, "locks_max": 10_000, "sessions": 0,
    });
    Answer::Says(200, told)
}

#[test]
fn what_only_the_replicated_engine_has_is_refused_before_anything_is_asked_for() {
    for (words, typed) in [
        (&["lock", "build", "--shared"][..], "--shared"),
        (&["lock", "build", "--permits", "2"], "--permits 2"),
        (&["lock", "build", "test"], "build test"),
        (&["lock", "build", "--grace", "500ms"], "--grace 500ms"),
        (&["elect", "build", "--hand-over", "green"], "--hand-over green"),
        (&["elect", "build", "--grace", "1s"], "--grace 1s"),
    ] {
        let fake = but("GET /v1/cluster", classic);
        let done = conclave(&[words, &["--server", &fake.address, "--", "true"]].concat());
        let why = "only the replicated engine has this; this cluster runs central";
        assert_eq!((done.code, done.stderr), (2, format!("error: {typed}: {why}\n")));
        assert!(fake.bodies("POST /v1/sessions").is_empty(), "{typed}");
    }
}

#[test]
fn without_a_cluster_it_says_how_to_start_one() {
    let done = conclave(&["lock", "build", "--wait", "0", "--server", "127.0.0.1:1", "--", "true"]);
    assert_eq!(done.code, 1);
    assert!(
        done.stderr.starts_with("error: build: no answer from http://127.0.0.1:1 ("),
        "{}",
        done.stderr
    );
    assert!(done.stderr.contains("'conclave up' starts a cluster"), "{}", done.stderr);
    let bad = conclave(&["lock", "build", "--server", "here", "--", "true"]);
    let line = "error: --server here: takes HOST:PORT, http://HOST:PORT or https://HOST:PORT\n";
    assert_eq!((bad.code, bad.stderr.as_str()), (2, line));
    let short = conclave(&["lock", "build", "--ttl", "1ms", "--", "true"]);
    let line = "error: --ttl 1ms: takes a time with its unit, from 1s to 3600s\n";
    assert_eq!((short.code, short.stderr.as_str()), (2, line));
}

#[test]
fn a_time_without_its_unit_is_refused() {
    for command in ["lock", "elect"] {
        let wait = conclave(&[command, "a", "--wait", "30", "--", "true"]);
        let line = "error: --wait 30: takes a time with its unit: 30s, 500ms, 10m, 1h, or 0\n";
        assert_eq!((wait.code, wait.stderr.as_str()), (2, line));
        let ttl = conclave(&[command, "a", "--ttl", "2000", "--", "true"]);
        let line = "error: --ttl 2000: takes a time with its unit, from 1s to 3600s\n";
        assert_eq!((ttl.code, ttl.stderr.as_str()), (2, line));
    }
    let fake = Fake::start(usual);
    for wait in ["0", "2m", "1h"] {
        let taken = ["lock", "build", "--wait", wait, "--server", &fake.address, "--", "true"];
        let none = conclave(&taken);
        assert_eq!((none.code, none.stderr.as_str()), (0, ""), "{wait}");
    }
}

#[test]
fn a_command_without_its_dashes_is_told_of_them() {
    // What follows the first lock may be another one.
    for (command, named) in [("lock", "CMD"), ("elect", "true")] {
        let done = conclave(&[command, "a", "true"]);
        let line = format!(
            "error: {named}: a command comes after --, as in 'conclave {command} NAME -- CMD'\n"
        );
        assert_eq!((done.code, done.stderr), (2, line));
    }
}

#[test]
fn a_shorter_life_than_was_asked_for_is_told() {
    let fake = but("POST /v1/sessions", || Answer::Says(200, session(3_000)));
    let lock = ["lock", "build", "--server", &fake.address];
    let done = conclave(&[&lock[..], &["--ttl", "60s", "--", "true"]].concat());
    let line = "conclave: build: kept for 3 s without a sign of life, not 60 s\n";
    assert_eq!((done.code, done.stderr.as_str()), (0, line));
    let unasked = conclave(&[&lock[..], &["--", "true"]].concat());
    assert_eq!((unasked.code, unasked.stderr.as_str()), (0, ""));
}

#[test]
fn nothing_of_a_server_reaches_the_terminal_unescaped() {
    let fake = but(ACQUIRE, || refuse(400, "bad_request", "no\u{1b}]0;x\u{7}\u{202e}n\u{2028}"));
    let done = locked(&fake, &["true"]);
    let line = "error: no\\u{1b}]0;x\\u{7}\\u{202e}n\\u{2028}\n";
    assert_eq!((done.code, done.stderr.as_str()), (2, line));
}

#[test]
fn the_elected_one_knows_its_fence() {
    let fake = Fake::start(usual);
    let script = "echo $CONCLAVE_ELECTION $CONCLAVE_FENCE";
    let done = conclave(&["elect", "boss", "--server", &fake.address, "--", "sh", "-c", script]);
    assert_eq!((done.stdout.as_str(), done.code), ("boss 7\n", 0), "{}", done.stderr);
    assert_eq!(fake.bodies("POST /v1/elections/boss/resign").len(), 1);
}

#[test]
fn a_lost_leadership_ends_it_or_is_sought_again() {
    let begun = marker("lost-leadership");
    let fake = ends_session_when_there(begun.clone());
    let script = "echo leading; : > \"$0\"; exec sleep 600";
    let elect = ["elect", "boss", "--ttl", "1s", "--server", &fake.address];
    let command = ["--", "sh", "-c", script, begun.to_str().unwrap()];
    let done = conclave(&[&elect[..], &command].concat());
    assert_eq!((done.stdout.as_str(), done.code), ("leading\n", 76), "{}", done.stderr);
    let mut running = Running::start(&[&elect[..], &["--again"], &command].concat());
    assert_eq!(running.line(), "leading");
    assert_eq!(running.line(), "leading");
    running.signal(Signal::TERM);
    assert_eq!(running.code(), Some(128 + 15));
    std::fs::remove_file(&begun).unwrap();
}
