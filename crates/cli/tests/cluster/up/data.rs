//! A directory that is kept, and taken up again.

use super::cluster::{Place, Up, gone};
use conclave_client::Client;
use conclave_client::api::{Acquire, NewSession, Release};
use rustix::process::Signal;
use std::fs::{self, OpenOptions};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::Path;
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
    client.release("demo", &Release { session, fence, ..Release::default() }).unwrap();
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
fn a_directory_of_another_engine_is_refused_and_left_as_it_is() {
    let place = Place::new("other-engine");
    for (made, other) in [("replicated", "maekawa"), ("maekawa", "replicated")] {
        let data = place.path(made);
        let arguments = ["--nodes", "1", "--data", &data];
        Up::bare(&place, &[&arguments[..], &["--engine", made]].concat()).end(Signal::INT);
        let file = format!("{data}/node-1.toml");
        let refused = place.conclave(&["node", "--config", &file, "--engine", other]);
        let said = format!("error: --engine {other}: {data}/node-1 was made with {made}; ");
        assert!(refused.stderr.starts_with(&said), "{refused:?}");
        assert_eq!(refused.code, Some(2));
        let up = Up::bare(&place, &arguments); // Without a name, it is the one that it was.
        assert!(up.running.seen.iter().any(|line| line.contains(made)), "{:?}", up.running.seen);
        up.end(Signal::INT);
    }
}

/// All certificates and keys of a directory.
fn certificates(data: &Path) -> Vec<Vec<u8>> {
    let names = ["ca.pem", "node-1.pem", "node-1.key", "node-2.pem", "node-2.key"];
    names.map(|name| fs::read(data.join("up-tls").join(name)).unwrap()).to_vec()
}

#[test]
fn certificates_are_made_for_the_links_kept_and_made_anew_when_one_is_missing() {
    let place = Place::new("certificates");
    let data = place.path("data");
    let path = Path::new(&data);
    let arguments = ["--nodes", "2", "--data", &data];
    Up::start(&place, &arguments).end(Signal::INT);
    let first = certificates(path);
    for file in fs::read_dir(path.join("up-tls")).unwrap() {
        let file = file.unwrap();
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{file:?}");
        assert_ne!(file.file_name(), "ca.key", "nobody can sign one more");
    }
    let mode = fs::Permissions::from_mode(0o644);
    fs::set_permissions(path.join("up-tls/node-1.key"), mode).unwrap();
    let up = Up::start(&place, &arguments);
    let said = up.running.errors();
    assert!(said.contains("--tls-key ") && said.contains("every user of this machine"), "{said}");
    assert!(said.contains("(and so at nodes 2 to 2)"), "{said}");
    assert_eq!(certificates(path), first, "they are kept");
    up.end(Signal::INT);
    fs::remove_file(path.join("up-tls/node-2.key")).unwrap();
    Up::start(&place, &arguments).end(Signal::INT);
    let anew = certificates(path);
    assert!(anew.iter().zip(&first).all(|(new, old)| new != old), "they are made anew together");
}

#[test]
fn files_that_somebody_else_put_there_stay_whatever_is_missing() {
    let place = Place::new("not-ours");
    let data = place.path("data");
    for directory in ["data/tls", "data/up-tls"] {
        fs::create_dir_all(place.path(directory)).unwrap();
        fs::write(place.path(&format!("{directory}/ca.key")), "the only one").unwrap();
    }
    let arguments = ["--nodes", "2", "--data", &data];
    let refused = place.conclave(&[&["up", "--http", "127.0.0.1:0"], &arguments[..]].concat());
    let stranger = place.path("data/up-tls/ca.key");
    let said = format!("error: {stranger}: 'conclave up' has not made it; move it away\n");
    assert_eq!((refused.code, &*refused.stderr), (Some(1), &*said), "{refused:?}");
    assert_eq!(fs::read_to_string(&stranger).unwrap(), "the only one");
    fs::remove_file(&stranger).unwrap();
    Up::start(&place, &arguments).end(Signal::INT);
    assert_eq!(fs::read_to_string(place.path("data/tls/ca.key")).unwrap(), "the only one");
}

#[test]
fn a_directory_from_before_there_were_certificates_is_taken_up() {
    let place = Place::new("plain");
    let data = place.path("data");
    let arguments = ["--nodes", "2", "--data", &data];
    let up = Up::start(&place, &arguments);
    let before = place.fence(&["demo"]);
    up.end(Signal::INT);
    fs::remove_dir_all(place.path("data/up-tls")).unwrap();
    for id in 1..=2 {
        let file = place.path(&format!("data/node-{id}.toml"));
        let text = fs::read_to_string(&file).unwrap();
        let (start, rest) = text.split_once("[tls]").expect("it names its certificates");
        let rest = rest.split_once("[[nodes]]").expect("and all nodes").1;
        fs::write(&file, format!("{start}[[nodes]]{rest}")).unwrap();
    }
    let up = Up::start(&place, &arguments);
    assert!(place.fence(&["demo"]) > before);
    up.end(Signal::INT);
}

#[test]
fn strangers_on_this_machine_cannot_speak_to_the_nodes() {
    let place = Place::new("strangers");
    let data = place.path("data");
    let up = Up::start(&place, &["--nodes", "1", "--data", &data]);
    let row = up.running.seen.iter().find(|line| line.contains("http://")).unwrap();
    let links = row.split_whitespace().nth(2).unwrap();
    let mut stream = TcpStream::connect(links).unwrap();
    stream.write_all(b"CONCLAVE\x03").unwrap();
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    let answer = String::from_utf8_lossy(&answer).into_owned();
    assert!(answer.contains("refused; see the log of node 1"), "{answer:?}");
    let log = fs::read_to_string(place.path("data/node-1.log")).unwrap();
    assert!(log.contains("it was refused: it speaks without TLS"), "{log}");
    up.end(Signal::INT);
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
