//! What is seen at the start, and what is left at the end.

use super::cluster::{Place, Running, Up, gone};
use rustix::process::Signal;
use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;

#[test]
fn one_screen_says_where_the_nodes_are_who_leads_and_what_to_try() {
    let place = Place::new("screen");
    let up = Up::start(&place, &[]);
    assert_eq!(up.nodes.len(), 5, "{:?}", up.running.seen);
    assert_eq!(up.nodes.iter().filter(|node| node.leads).count(), 1);
    let screen = up.running.seen.join("\n");
    assert!(screen.starts_with("Conclave  5 nodes: central-failover with"), "{screen}");
    let own = env!("CARGO_BIN_EXE_conclave");
    let attempts = [
        format!("{own} lock demo -- sh -c 'echo $CONCLAVE_FENCE'"),
        format!("{own} status --watch"),
        format!("kill -9 {}", up.leader().pid),
    ];
    for attempt in attempts {
        assert!(screen.contains(&format!("  {attempt}  ")), "{attempt}: {screen}");
    }
    let typed = screen.lines().find(|line| line.contains("lock demo")).unwrap();
    let typed = typed.trim().split("  ").next().unwrap();
    let done = place.shell(typed).output().unwrap();
    assert!(String::from_utf8(done.stdout).unwrap().trim().parse::<u64>().is_ok());
    assert_eq!((place.temporary().len(), place.announced()), (1, 1));
    assert_eq!(up.end(Signal::INT), Some(0));
    assert_eq!((place.temporary().len(), place.announced()), (0, 0), "nothing is left");
}

#[test]
fn whatever_ends_it_ends_the_nodes() {
    let place = Place::new("ends");
    let up = Up::start(&place, &["--nodes", "3"]);
    assert_eq!(up.end(Signal::TERM), Some(0));
    assert_eq!((place.temporary().len(), place.announced()), (0, 0));
    let up = Up::start(&place, &["--nodes", "3"]);
    assert_eq!(up.end(Signal::KILL), None);
    let done = place.conclave(&["status"]);
    assert_eq!(done.code, Some(1));
    assert!(done.stderr.starts_with("error: no cluster runs on this machine"), "{done:?}");
    assert_eq!(place.announced(), 0, "what a dead one announced is forgotten");
}

#[test]
fn a_directory_that_others_can_use_is_not_believed_and_it_is_said_why() {
    let place = Place::new("distrusted");
    let folder = place.path("run/conclave");
    fs::create_dir(&folder).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
    let done = place.conclave(&["status"]);
    assert_eq!(done.code, Some(1));
    let why = format!("{folder}: its mode is 755: others can use it");
    assert!(done.stderr.contains(&why), "{done:?}");
}

#[test]
fn who_does_not_want_to_hear_of_a_hangup_does_not_end_by_it() {
    let place = Place::new("hangup");
    let own = env!("CARGO_BIN_EXE_conclave");
    let typed = format!("trap '' HUP; exec {own} up --http 127.0.0.1:0 --nodes 1 --engine central");
    let up = Up::from(Running::start(&place, place.shell(&typed)));
    let status = fs::read_to_string(format!("/proc/{}/status", up.running.child.id())).unwrap();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap().trim();
    assert_eq!(u64::from_str_radix(mask, 16).unwrap() & 1, 1, "{status}");
    up.running.signal(Signal::HUP);
    place.fence(&["demo"]); // It can be found and works.
    assert_eq!(up.end(Signal::TERM), Some(0));
}

#[test]
fn when_no_node_is_left_it_waits_for_a_word_and_its_end_is_a_failure() {
    let place = Place::new("none-left");
    let mut up = Up::start(&place, &["--nodes", "2"]);
    up.nodes.iter().for_each(super::cluster::Node::kill);
    up.running.wait_for("no node is left; their logs are in ");
    up.running.signal(Signal::INT);
    assert_eq!(up.running.code(), Some(1));
    assert_eq!(place.temporary().len(), 1, "the logs can be read");
}

#[test]
fn a_port_that_is_taken_names_the_flag() {
    let place = Place::new("port");
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let done = place.conclave(&["up", "--nodes", "1", "--http", &address]);
    let port = taken.local_addr().unwrap().port();
    let said = format!("error: --http {address}: port {port} is taken; ");
    assert!(done.stderr.starts_with(&said), "{done:?}");
    assert_eq!((done.code, place.temporary().len()), (Some(2), 0));
}

#[test]
fn of_two_clusters_the_newest_is_found_while_it_runs() {
    let place = Place::new("two");
    let first = Up::start(&place, &["--nodes", "1"]);
    let second = Up::start(&place, &["--nodes", "2", "--engine", "maekawa"]);
    assert_eq!(place.status()["cluster"]["engine"], "maekawa");
    assert_eq!(
        place.fence(&["a", "--server", &first.nodes[0].api]),
        place.fence(&["b", "--server", &first.nodes[0].api]),
        "locks have fences of their own"
    );
    assert_eq!(second.end(Signal::INT), Some(0));
    assert_eq!(place.status()["cluster"]["engine"], "central-failover");
    assert_eq!(first.end(Signal::INT), Some(0));
}

#[test]
fn a_node_started_again_by_hand_outlives_the_cluster_and_keeps_its_data() {
    let place = Place::new("by-hand");
    let mut up = Up::start(&place, &["--nodes", "3"]);
    let victim = up.leader().clone();
    victim.kill();
    let again = up.again(&victim);
    let mut by_hand = Running::start(&place, place.shell(&format!("exec {again}")));
    up.running.wait_for(&format!("node {} is back", victim.id));
    up.running.signal(Signal::INT);
    assert_eq!(up.running.code(), Some(0));
    let said = format!("node {} was started by hand and runs on", victim.id);
    assert!(up.running.errors().contains(&said), "{}", up.running.errors());
    assert_eq!(place.temporary().len(), 1);
    by_hand.signal(Signal::TERM);
    assert_eq!(by_hand.code(), Some(0), "{}", by_hand.errors());
    up.nodes.iter().for_each(|node| gone(node.pid));
}
