//! A directory that is kept, and taken up again.

use super::cluster::{Place, Up, gone};
use conclave_client::Client;
use conclave_client::api::{Acquire, NewSession, Release};
use rustix::process::Signal;
use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;
use std::time::Duration;

#[test]
fn fences_rise_from_run_to_run() {
    let place = Place::new("data");
    let data = place.path("data");
    let arguments = ["--nodes", "3", "--data", &data];
    let mut fences = Vec::new();
    for end in [Signal::INT, Signal::KILL, Signal::TERM] {
        let up = Up::start(&place, &arguments);
        fences.push(place.fence(&["demo"]));
        fences.push(place.fence(&["demo", "--server", &up.servers_from(1)]));
        if end == Signal::KILL {
            up.nodes.iter().for_each(super::cluster::Node::kill);
        }
        up.end(end);
    }
    assert!(fences.is_sorted_by(|one, next| one < next), "{fences:?}");
    assert!(place.temporary().is_empty());
}

#[test]
fn what_was_held_is_held_after_everything_was_killed() {
    let place = Place::new("held");
    let data = place.path("data");
    let arguments = ["--nodes", "3", "--engine", "ricart-agrawala", "--data", &data];
    let up = Up::start(&place, &arguments);
    let client = Client::new([&up.nodes[0].api]).unwrap();
    let request = NewSession { ttl_ms: Some(3_600_000), ..NewSession::default() };
    let session = client.open_session(&request).unwrap().session;
    let wait_ms = Some(120_000);
    let request = Acquire { session: session.clone(), wait_ms, ..Acquire::default() };
    let fence = client.acquire("demo", &request).unwrap().fence;
    up.nodes.iter().for_each(super::cluster::Node::kill);
    up.end(Signal::KILL);
    let up = Up::start(&place, &arguments);
    let client = Client::new([&up.nodes[0].api]).unwrap();
    client.keepalive(&session, Duration::from_secs(60)).unwrap();
    assert!(client.verify("demo", fence).unwrap().valid);
    let other = ["lock", "demo", "--wait", "1s", "--server", &up.nodes[1].api, "--", "true"];
    assert_eq!(place.conclave(&other).code, Some(75), "it is held");
    client.release("demo", &Release { session, fence, request_id: None }).unwrap();
    assert!(place.fence(&["demo", "--server", &up.nodes[1].api]) > fence);
}

#[test]
fn a_directory_of_other_settings_or_of_another_cluster_is_refused() {
    let place = Place::new("settings");
    let data = place.path("data");
    let up = Up::start(&place, &["--nodes", "2", "--data", &data]);
    let start = |more: &[&str]| {
        let up = ["up", "--http", "127.0.0.1:0", "--data", &data];
        place.conclave(&[&up[..], more].concat())
    };
    let used = start(&["--nodes", "2"]);
    let said = format!("error: --data {data}: another 'conclave up' uses it; ");
    assert!(used.stderr.starts_with(&said), "{used:?}");
    up.end(Signal::INT);
    let settings = fs::read_to_string(place.path("data/node-1.toml")).unwrap();
    let cluster = "is that of a cluster";
    let others = [
        (vec!["--nodes", "3"], "of 2 nodes, engine central-failover, "),
        (vec!["--nodes", "2", "--engine", "maekawa"], "of 2 nodes, engine central-failover, "),
        (vec!["--nodes", "2", "--set", "lease=6000"], "with other parameters; "),
    ];
    for (other, differs) in others {
        let refused = start(&other);
        let said = format!("error: --data {data}: it {cluster} {differs}");
        assert!(refused.stderr.starts_with(&said), "{refused:?}");
        assert_eq!((refused.code, refused.stderr.lines().count()), (Some(2), 1));
    }
    let after = fs::read_to_string(place.path("data/node-1.toml")).unwrap();
    assert_eq!(after, settings, "nothing was changed");
}

#[test]
fn a_damaged_disk_is_said_in_one_line() {
    let place = Place::new("damaged");
    let data = place.path("data");
    let up = Up::start(&place, &["--nodes", "3", "--data", &data]);
    place.fence(&["demo"]);
    let pids: Vec<i32> = up.nodes.iter().map(|node| node.pid).collect();
    up.end(Signal::INT);
    let path = place.path("data/node-2/conclave.redb");
    let whole = fs::read(&path).unwrap();
    let damages: [(usize, &[u8]); 3] =
        [(0, b"nonsense"), (64, &[0xff; 256]), (4_096, &vec![0xff; whole.len() - 4_096])];
    for (place_of, bytes) in damages {
        fs::write(&path, &whole).unwrap();
        let file = OpenOptions::new().write(true).open(&path).unwrap();
        file.write_all_at(bytes, place_of as u64).unwrap();
        let done =
            place.conclave(&["up", "--http", "127.0.0.1:0", "--nodes", "3", "--data", &data]);
        let said = format!("error: node 2 cannot start: {path} is damaged, ");
        assert!(done.stderr.starts_with(&said), "{place_of}: {done:?}");
        assert_eq!((done.code, done.stderr.lines().count()), (Some(1), 1), "{done:?}");
    }
    pids.into_iter().for_each(gone);
}
