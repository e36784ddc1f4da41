//! Locks of a replicated cluster: they outlive any one of its nodes.

use super::cluster::{Place, Running, Up};
use rustix::process::Signal;
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;

/// A command that says with which fence it runs, and ends with code 7 when it is asked to.
const WAITS: &str = "trap 'kill $!; exit 7' TERM; echo $CONCLAVE_FENCE; sleep 600 & wait";

fn lock(place: &Place, arguments: &[&str], script: &str) -> Running {
    let command = ["--wait", "120s", "--", "sh", "-c", script];
    Running::start(place, place.command(&[&["lock"], arguments, &command].concat()))
}

/// The lock of this name, as `status --json` has it.
fn known<'a>(status: &'a Value, name: &str) -> Option<&'a Value> {
    status["locks"].as_array().unwrap().iter().find(|lock| lock["name"] == name)
}

/// How many wait for it.
fn waiters(status: &Value, name: &str) -> usize {
    known(status, name).map_or(0, |lock| lock["waiters"].as_array().unwrap().len())
}

#[test]
fn a_lock_and_a_place_in_line_outlive_each_node() {
    let place = Place::new("outlives");
    let mut up = Up::bare(&place, &["--engine", "replicated"]);
    let mut holder = lock(&place, &["build", "--label", "holder"], WAITS);
    let fence: u64 = holder.line().parse().unwrap();
    let mut first = lock(&place, &["build", "--label", "first"], "echo $CONCLAVE_FENCE");
    place.status_until("one waits", |status| waiters(status, "build") == 1);
    let mut second = lock(&place, &["build", "--label", "second"], "echo $CONCLAVE_FENCE");
    place.status_until("two wait", |status| waiters(status, "build") == 2);
    let leader = up.leader().clone();
    leader.kill();
    let again = up.again(&leader);
    let other = place.status_until("another leads", |status| {
        status["cluster"]["leader"].as_u64().is_some_and(|now| now != leader.id)
    });
    let now = known(&other, "build").unwrap();
    assert_eq!(
        (&now["holder"]["fence"], &now["holder"]["label"]),
        (&fence.into(), &"holder".into())
    );
    assert_eq!(now["waiters"][0]["label"], "first");
    // It is back, and the next one goes.
    let mut back = Running::start(&place, place.shell(&format!("exec {again}")));
    up.running.wait_for(&format!("node {} is back", leader.id));
    let next = up.nodes.iter().find(|node| node.id != leader.id).unwrap();
    next.kill();
    assert_eq!(holder.child.try_wait().unwrap(), None, "{}", holder.errors());
    holder.signal(Signal::TERM);
    assert_eq!(holder.code(), Some(7), "{}", holder.errors());
    let fences = [first.line(), second.line()].map(|line| line.parse::<u64>().unwrap());
    assert!(fence < fences[0] && fences[0] < fences[1], "{fence} {fences:?}");
    assert_eq!((first.code(), second.code()), (Some(0), Some(0)));
    back.signal(Signal::TERM);
    assert_eq!(back.code(), Some(0), "{}", back.errors());
}

#[test]
fn several_locks_permits_and_readers_are_let_in_as_they_should_be() {
    let place = Place::new("modes");
    let _up = Up::bare(&place, &["--engine", "replicated", "--nodes", "1"]);
    let done = place.conclave(&["lock", "a", "b", "--", "sh", "-c", "echo $CONCLAVE_FENCES"]);
    let fences: Vec<&str> = done.stdout.split_whitespace().collect();
    assert_eq!(fences.len(), 2, "{}", done.stderr);
    let mut reader = lock(&place, &["book", "--shared", "--label", "reader"], WAITS);
    let fence = reader.line();
    let shown = ["--", "sh", "-c", "echo $CONCLAVE_FENCE"];
    let other = place.conclave(&[&["lock", "book", "--shared"], &shown[..]].concat());
    assert_eq!(other.stdout.trim(), fence, "all who share it at once have the same");
    let writer = place.conclave(&["lock", "book", "--wait", "0", "--", "true"]);
    assert_eq!(writer.code, Some(75), "{}", writer.stderr);
    let all = place.conclave(&["lock", "a", "book", "--wait", "0", "--", "true"]);
    assert_eq!(all.code, Some(75), "{}", all.stderr);
    let told = place.conclave(&["status", "book", "--explain"]);
    assert!(told.stdout.contains("reader") && told.stdout.contains("shared"), "{}", told.stdout);
    let mut licensed = lock(&place, &["licence", "--permits", "2"], WAITS);
    licensed.line();
    let slot = ["lock", "licence", "--permits", "2", "--", "sh", "-c", "echo $CONCLAVE_SLOT"];
    assert_eq!(place.conclave(&slot).stdout, "1\n");
    let three = place.conclave(&["lock", "licence", "--permits", "3", "--", "true"]);
    assert!(three.stderr.contains("another number of permits"), "{}", three.stderr);
    reader.signal(Signal::TERM);
    licensed.signal(Signal::TERM);
    assert_eq!((reader.code(), licensed.code()), (Some(7), Some(7)));
}

#[test]
fn a_leader_hands_over_to_whom_it_named_and_not_to_the_first_in_line() {
    let place = Place::new("hands-over");
    let _up = Up::bare(&place, &["--engine", "replicated", "--nodes", "1"]);
    let elect = |arguments: &[&str], script: &str| {
        let command = ["--", "sh", "-c", script];
        let elect = [&["elect", "boss", "--wait", "120s"], arguments, &command].concat();
        Running::start(&place, place.command(&elect))
    };
    let mut blue = elect(&["--label", "blue", "--hand-over", "green"], WAITS);
    blue.line();
    let stand = |count: usize| {
        move |status: &Value| {
            status["elections"][0]["candidates"].as_array().is_some_and(|all| all.len() == count)
        }
    };
    let mut red = elect(&["--label", "red"], "echo $CONCLAVE_FENCE");
    place.status_until("one stands", stand(1));
    let mut green = elect(&["--label", "green"], "echo $CONCLAVE_FENCE");
    place.status_until("two stand", stand(2));
    blue.signal(Signal::TERM);
    assert_eq!(blue.code(), Some(7), "{}", blue.errors());
    let [first, second] = [green.line(), red.line()].map(|line| line.parse::<u64>().unwrap());
    assert!(first < second, "{first} {second}");
}

/// What people are told of elections, and of what they may not do, in their language.
#[test]
fn elections_and_refusals_are_told_in_portuguese() {
    let place = Place::new("portuguese");
    let _up = Up::bare(&place, &["--engine", "replicated", "--nodes", "1"]);
    let lead = ["elect", "boss", "--label", "blue", "--", "sh", "-c", WAITS];
    let mut blue = Running::start(&place, place.command(&lead));
    blue.line();
    let late = place.conclave(&["elect", "boss", "--wait", "0", "--lang", "pt", "--", "true"]);
    let told = late.stderr.strip_prefix("conclave: boss: não foi eleito a tempo: blue lidera, há ");
    assert!(late.code == Some(75) && told.is_some(), "{}", late.stderr);
    let status = place.conclave(&["status", "--lang", "pt"]).stdout;
    assert!(status.contains("eleição  líder"), "{status}");
    let explained = place.conclave(&["status", "boss", "--explain", "--lang", "pt"]);
    let expected = "erro: --explain: boss é uma eleição, e isto é para travas\n";
    assert_eq!((explained.code, &*explained.stderr), (Some(2), expected));
    let refused = place.conclave(&["cluster", "transfer", "--lang", "pt"]);
    let expected = "erro: para isto é preciso o token de administrador: 'Authorization: Bearer \
                    TOKEN'; --admin-token-file FILE ou CONCLAVE_ADMIN_TOKEN_FILE indica o arquivo \
                    dele\n";
    assert_eq!((refused.code, &*refused.stderr), (Some(1), expected));
    blue.signal(Signal::TERM);
    assert_eq!(blue.code(), Some(7), "{}", blue.errors());
}

#[test]
fn members_are_listed_and_leadership_moves_where_it_is_sent() {
    let place = Place::new("members");
    let data = place.path("data");
    let up = Up::bare(&place, &["--engine", "replicated", "--data", &data]);
    let members = || {
        let done = place.conclave(&["cluster", "members", "--json"]);
        serde_json::from_str::<Value>(&done.stdout).unwrap_or_else(|_| panic!("{}", done.stderr))
    };
    assert_eq!(members()["members"].as_array().unwrap().len(), 3);
    let next = up.nodes.iter().find(|node| !node.leads).unwrap().id;
    let to = next.to_string();
    let refused = place.conclave(&["cluster", "transfer", "--to", &to]);
    assert_eq!(refused.code, Some(1), "without a token");
    let token = format!("{data}/admin-token");
    let transfer = ["cluster", "transfer", "--to", &to, "--admin-token-file", &token];
    let done = place.conclave(&transfer);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    let leads = |line: &str| line.ends_with("  leads");
    let leader: Vec<&str> = done.stdout.lines().filter(|line| leads(line)).collect();
    assert!(leader.len() == 1 && leader[0].starts_with(&format!("{to} ")), "{}", done.stdout);
    place.status_until("it leads", |status| status["cluster"]["leader"] == next);
    let backup = place.path("backup.snap");
    let snapshot = ["cluster", "snapshot", &backup, "--admin-token-file", &token, "--json"];
    let done = place.conclave(&snapshot);
    let told: Value =
        serde_json::from_str(&done.stdout).unwrap_or_else(|_| panic!("{}", done.stderr));
    let written = std::fs::metadata(&backup).unwrap();
    assert_eq!(told["bytes"], written.len());
    assert_eq!(written.permissions().mode() & 0o777, 0o600, "ids of sessions are in it");
    assert_eq!(place.conclave(&snapshot).code, Some(1), "one that is there is not overwritten");
}

#[test]
fn a_backup_becomes_a_cluster_whose_fences_are_above_all_before() {
    let place = Place::new("restores");
    let data = place.path("data");
    let up = Up::bare(&place, &["--engine", "replicated", "--nodes", "1", "--data", &data]);
    let before = place.fence(&["demo"]);
    let token = format!("{data}/admin-token");
    let backup = place.path("backup.snap");
    let snapshot = ["cluster", "snapshot", &backup, "--admin-token-file", &token];
    assert_eq!(place.conclave(&snapshot).code, Some(0));
    let after_backup = place.fence(&["demo"]);
    assert_eq!(up.end(Signal::INT), Some(0));
    let restored = place.path("restored");
    let addresses = crate::ports::free_addresses(2);
    let [peer, api] = [0, 1].map(|place| addresses[place].to_string());
    let restore = ["cluster", "restore", &backup, "--data", &restored, "--peer", &peer];
    let done = place.conclave(&[&restore[..], &["--api", &api, "--now", "--json"]].concat());
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    assert!(done.stdout.contains("fence-only"), "{}", done.stdout);
    let node = ["node", "--id", "1", "--data", &restored, "--peer", &format!("1={peer},api={api}")];
    let _running = Running::start(&place, place.command(&node));
    let after = place.fence(&["demo", "--server", &api]);
    assert!(before < after_backup && after_backup + 1_000_000 < after, "{after_backup} {after}");
    let status = place.conclave(&["status", "--json", "--server", &api]).stdout;
    let status: Value = serde_json::from_str(&status).unwrap();
    assert!(status["cluster"]["generation"].as_u64().unwrap() > 0, "a later life: {status}");
    let again = place.conclave(&[&restore[..], &["--api", &api]].concat());
    assert_eq!(again.code, Some(1), "a directory that is in use: {}", again.stderr);
}
