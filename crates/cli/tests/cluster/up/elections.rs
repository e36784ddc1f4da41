//! Leaderships from the command line, and the elections of nodes below them.

use super::cluster::{Place, Running, Up};
use rustix::process::Signal;
use serde_json::Value;

const LEADS: &str = "echo $CONCLAVE_FENCE; exec sleep 600";

fn fence(line: &str) -> u64 {
    line.parse().unwrap()
}

#[test]
fn who_is_elected_leads_at_the_leading_node_and_again_after_its_death() {
    let place = Place::new("elect");
    let up = Up::start(&place, &["--nodes", "3"]);
    let elect = ["elect", "boss", "--again", "--label", "the boss", "--", "sh", "-c", LEADS];
    let mut boss = Running::start(&place, place.command(&elect));
    let first = fence(&boss.line());
    let leads = |status: &Value| status["elections"][0]["leader"]["label"] == "the boss";
    let status = place.status_until("the boss is shown", leads);
    let node = status["cluster"]["leader"].as_u64().unwrap();
    assert_eq!(status["elections"][0]["leader"]["node"], node, "{status:#}");
    let text = place.conclave(&["status"]).stdout;
    assert!(text.contains("the boss at node "), "{text}");
    up.nodes[node as usize - 1].kill();
    let second = fence(&boss.line());
    assert!(second > first, "{first:?} {second:?}");
    assert!(boss.errors().contains("boss: the leadership was lost: "), "{}", boss.errors());
    boss.signal(Signal::TERM);
    assert_eq!(boss.code(), Some(128 + 15));
}

#[test]
fn an_election_ends_with_its_own_codes() {
    let place = Place::new("codes");
    let up = Up::start(&place, &["--nodes", "3"]);
    assert_eq!(place.conclave(&["elect", "boss", "--", "sh", "-c", "exit 7"]).code, Some(7));
    let lead = ["elect", "boss", "--ttl", "4s", "--", "sh", "-c", LEADS];
    let mut boss = Running::start(&place, place.command(&lead));
    boss.line();
    let late = place.conclave(&["elect", "boss", "--wait", "1s", "--", "true"]);
    assert_eq!(late.code, Some(75), "{}", late.stderr);
    assert!(late.stderr.contains("boss: not elected in time: "), "{}", late.stderr);
    let status = place.status();
    let node = status["elections"][0]["leader"]["node"].as_u64().unwrap();
    up.nodes[node as usize - 1].kill();
    assert_eq!(boss.code(), Some(76), "{}", boss.errors());
}

/// Elections by rank number their terms otherwise than by one.
fn by_rank(election: &str) {
    let place = Place::new(election);
    let mut up = Up::start(&place, &["--nodes", "3", "--election", election]);
    assert_eq!(up.leader().id, 3, "the last node leads from the start");
    let screen = up.running.seen.join("\n");
    assert!(screen.contains("leads, term 5"), "round 1 of 3, rank 2: {screen}");
    let before = place.fence(&["early"]);
    let victim = up.leader().clone();
    victim.kill();
    up.running.wait_for(" leads, in term ");
    assert!(place.fence(&["early"]) > before);
    let late = place.fence(&["late"]);
    let status = place.status();
    assert!(status["cluster"]["term"].as_u64().unwrap() > 5, "{status:#}");
    assert!(place.fence(&["late", "--server", &up.servers_from(1)]) > late);
}

#[test]
fn with_bully_a_late_lock_begins_right() {
    by_rank("bully");
}

#[test]
fn with_ring_a_late_lock_begins_right() {
    by_rank("ring");
}
