//! Whatever was acknowledged is there after `kill -9`, a torn write and a rolling upgrade.

use crate::hostile::kit::{Cluster, Member, ready, until};
use crate::hostile::steady::Steady;
use conclave_client::Client;
use conclave_client::api::{Acquire, NewSession, NewValue};
use rustix::process::Signal;
use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Mutex;
use std::thread;

const CLIENTS: usize = 64;
/// So many grants are acknowledged before the node is killed.
const GRANTS: usize = 400;

fn client(member: &Member) -> Client {
    Client::new([member.api.to_string()]).unwrap()
}

/// Takes one lock after the other and keeps them all, until the node is dead.
fn take_many(client: &Client, number: usize, acknowledged: &Mutex<Vec<(String, u64)>>) {
    let words = NewSession { ttl_ms: Some(3_600_000), ..NewSession::default() };
    let Ok(session) = client.open_session(&words) else { return };
    for request in 1.. {
        let name = format!("lock-{number}-{request}");
        let request_id = Some(request.to_string());
        let session = session.session.clone();
        let acquire = Acquire { session, request_id, ..Acquire::default() };
        let Ok(grant) = client.acquire(&name, &acquire) else { return };
        acknowledged.lock().unwrap().push((name, grant.fence));
    }
}

/// All that 64 clients were granted by a node before it was killed in their midst.
fn killed_amid_clients(member: &mut Member) -> Vec<(String, u64)> {
    let acknowledged = Mutex::new(Vec::new());
    let client = client(member);
    thread::scope(|scope| {
        for number in 0..CLIENTS {
            let (client, acknowledged) = (client.clone(), &acknowledged);
            scope.spawn(move || take_many(&client, number, acknowledged));
        }
        let enough = || (acknowledged.lock().unwrap().len() >= GRANTS).then_some(());
        until("many locks are granted", enough);
        member.kill();
    });
    acknowledged.into_inner().unwrap()
}

fn all_are_held(member: &Member, acknowledged: &[(String, u64)]) {
    let client = client(member);
    for (name, fence) in acknowledged {
        let verified = client.verify(name, *fence).unwrap();
        assert!(verified.valid, "{name} was granted with fence {fence}: {verified:?}");
    }
}

/// The last segment of a node's log, and up to where it is in use.
fn log_end(member: &Member) -> (PathBuf, usize) {
    let segments = fs::read_dir(member.data.join("log")).unwrap();
    let last = segments.map(|entry| entry.unwrap().path()).max().unwrap();
    let bytes = fs::read(&last).unwrap();
    (last, bytes.iter().rposition(|byte| *byte != 0).map_or(0, |at| at + 1))
}

#[test]
fn a_node_that_is_killed_amid_its_clients_forgets_nothing_that_it_acknowledged() {
    let mut cluster = Cluster::new(1, "replicated").start();
    let only = &mut cluster.members[0];
    let acknowledged = killed_amid_clients(only);
    only.start();
    ready(only);
    all_are_held(only, &acknowledged);
    // A write after these, of which nobody relies on, is torn by the next crash.
    let value = NewValue { value: "last".into(), fence: 1, ..NewValue::default() };
    let _ = client(only).set_value("torn", &value);
    only.kill();
    let (segment, end) = log_end(only);
    let file = OpenOptions::new().write(true).open(&segment).unwrap();
    file.write_all_at(&[0; 3], end as u64 - 3).unwrap();
    only.start();
    only.line("ends in a write that was cut short");
    ready(only);
    all_are_held(only, &acknowledged);
    only.kill();
    // But what is damaged before its end is not guessed at.
    let (segment, end) = log_end(only);
    let file = OpenOptions::new().read(true).write(true).open(&segment).unwrap();
    let mut byte = [0];
    file.read_exact_at(&mut byte, end as u64 / 2).unwrap();
    file.write_all_at(&[byte[0] ^ 0x10], end as u64 / 2).unwrap();
    only.start();
    assert_eq!(only.ended().code(), Some(1), "{}", only.log());
    let line = only.line("error: ");
    assert!(line.contains(segment.to_str().unwrap()) && line.contains("is damaged at byte"));
    assert!(!only.log().contains("panicked"), "{}", only.log());
}

#[test]
fn a_node_whose_log_was_cut_off_does_not_go_on_with_what_is_left() {
    let mut cluster = Cluster::new(1, "replicated").start();
    let only = &mut cluster.members[0];
    ready(only);
    let value = NewValue { value: "kept".into(), fence: 1, ..NewValue::default() };
    client(only).set_value("acknowledged", &value).unwrap();
    only.kill();
    let (segment, _) = log_end(only);
    let whole = fs::read(&segment).unwrap();
    OpenOptions::new().write(true).open(&segment).unwrap().set_len(100).unwrap();
    only.start();
    assert_eq!(only.ended().code(), Some(1), "{}", only.log());
    let line = only.line("error: ");
    let words = format!("{} is damaged at byte 100 (it was cut off there", segment.display());
    assert!(line.contains(&words) && line.contains("bring the file back"), "{line}");
    fs::write(&segment, whole).unwrap();
    only.start();
    ready(only);
    assert_eq!(client(only).value("acknowledged").unwrap().value, "kept");
}

#[test]
fn nodes_are_replaced_by_another_build_one_by_one_and_no_client_notices() {
    let mut cluster = Cluster::new(3, "replicated").start();
    let program = cluster.place.0.join("conclave-of-tomorrow");
    fs::copy(env!("CARGO_BIN_EXE_conclave"), &program).unwrap();
    let steady = Steady::everywhere(&cluster.apis());
    for member in &mut cluster.members {
        steady.goes_on();
        member.signal(Signal::TERM);
        assert_eq!(member.ended().code(), Some(0), "{}", member.log());
        steady.goes_on();
        member.start_by(Command::new(&program));
        ready(member);
    }
    steady.finish();
}
