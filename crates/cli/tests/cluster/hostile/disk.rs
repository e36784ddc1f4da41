//! Disks that are full, foreign, shared or damaged.

use super::http::{acquire, call, release, session, try_call};
use super::kit::{Cluster, Member, Place, is_root, ready, until};
use super::steady::Steady;
use rustix::process::Signal;
use std::fs::{self, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;

const FILE: &str = "conclave.redb";

/// A small disk of this test's own.
struct Small(PathBuf);

impl Small {
    fn mount(at: &Path, options: &str) -> Option<Self> {
        if !is_root("mount a small disk") {
            return None;
        }
        fs::create_dir_all(at).unwrap();
        let mount = ["-t", "tmpfs", "-o", options, "conclave-test"];
        let mounted = Command::new("mount").args(mount).arg(at).status().expect("mount runs");
        if !mounted.success() {
            eprintln!("skipped: a small disk cannot be mounted here");
            return None;
        }
        Some(Self(at.to_path_buf()))
    }

    /// Leaves no room at all.
    fn fill(&self) {
        let mut filler = fs::File::create(self.0.join("filler")).unwrap();
        for size in [65_536, 4_096, 1] {
            while filler.write_all(&vec![0; size]).is_ok() {}
        }
    }

    fn make_room(&self) {
        fs::remove_file(self.0.join("filler")).unwrap();
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

/// It ends by itself, with one line that says this and no other error.
fn fails(member: &mut Member, words: &str) {
    member.start();
    let code = member.ended().code();
    let log = member.log();
    let last = log.lines().last().unwrap_or_default();
    assert_eq!(code, Some(1), "{log}");
    assert!(last.starts_with("error: ") && last.contains(words), "'{words}' is not in:\n{log}");
    let errors = log.lines().filter(|line| line.contains("error:") || line.contains("ERROR"));
    assert_eq!(errors.count(), 1, "{log}");
    assert!(!log.contains("panicked"), "{log}");
}

#[test]
fn a_full_disk_stops_the_node_and_loses_nothing() {
    let mut cluster = Cluster::new(3, "central");
    let Some(disk) = Small::mount(&cluster.members[1].data, "size=8m") else { return };
    cluster.members[1].start();
    for index in [0, 2] {
        cluster.members[index].start();
    }
    cluster.members.iter().for_each(ready);
    let (api, other) = (cluster.members[1].api, cluster.members[2].api);
    let held = session(api, 3_600_000);
    let kept = acquire(api, "kept", &held, 60_000);
    assert_eq!(kept.status, 200, "{kept:?}");
    disk.fill();
    let mut acknowledged = ask_until_it_stops(api, &held);
    let second = &mut cluster.members[1];
    assert_eq!(second.ended().code(), Some(1), "{}", second.log());
    let line = second.line("error: ");
    assert!(line.contains(FILE), "{line}");
    assert_eq!(line.matches("No space left on device").count(), 1, "{line}");
    assert!(!second.log().contains("panicked"), "{}", second.log());
    let steady = Steady::start(&[cluster.members[0].api, other]);
    let waiting = session(other, 3_600_000);
    let refused = acquire(other, "kept", &waiting, 1_500);
    assert_eq!((refused.status, refused.code().as_str()), (409, "timeout"), "{refused:?}");
    steady.finish();
    disk.make_room();
    cluster.members[1].start();
    ready(&cluster.members[1]);
    acknowledged.push(("kept".to_string(), kept.json()["fence"].as_u64().unwrap()));
    for (name, fence) in acknowledged {
        let lock = call(api, &format!("GET /v1/locks/{name}"), &[], "").json();
        assert_eq!(lock["holder"]["fence"], fence, "{name} was acknowledged: {lock}");
    }
}

/// Asks for one lock after the other; returns those that were granted, with their fences.
fn ask_until_it_stops(api: SocketAddr, session: &str) -> Vec<(String, u64)> {
    let mut acknowledged = Vec::new();
    until("the node stops", || {
        let name = format!("more-{}", acknowledged.len());
        let body = format!("{{\"session\":\"{session}\",\"wait_ms\":5000}}");
        let line = format!("POST /v1/locks/{name}/acquire");
        let Some(answer) = try_call(api, &line, &[], &body) else { return Some(()) };
        if answer.status == 200 {
            acknowledged.push((name, answer.json()["fence"].as_u64().unwrap()));
        }
        None
    });
    acknowledged
}

#[test]
fn a_recording_that_finds_no_room_ends_alone() {
    let mut cluster = Cluster::new(1, "central");
    let place = cluster.place.0.join("recordings");
    let Some(_disk) = Small::mount(&place, "size=16k") else { return };
    cluster.members[0].set("--record", place.join("1.rec").to_str().unwrap());
    let cluster = cluster.start();
    let steady = Steady::start(&cluster.apis());
    cluster.members[0].line("recording stops, the node goes on");
    steady.finish();
    assert_eq!(cluster.members[0].count("recording stops"), 1);
}

#[test]
fn a_disk_that_only_reads_is_named() {
    let mut cluster = Cluster::new(1, "central");
    let Some(_disk) = Small::mount(&cluster.members[0].data, "ro,size=8m") else { return };
    fails(&mut cluster.members[0], "Read-only file system");
}

/// A node that has run once, stopped.
fn stopped(n: u32) -> Cluster {
    let mut cluster = Cluster::new(n, "central");
    let first = &mut cluster.members[0];
    first.start();
    first.line("started");
    first.signal(Signal::TERM);
    assert_eq!(first.ended().code(), Some(0), "{}", first.log());
    cluster
}

/// The same directory under other settings.
fn borrowed(cluster: &Cluster, place: &Place, name: &str, flag: &str, value: &str) -> Member {
    let first = &cluster.members[0];
    let mut other = first.twin(place, name);
    other.set("--data", first.data.to_str().unwrap());
    other.set(flag, value);
    other
}

#[test]
fn a_data_directory_belongs_to_one_node_of_one_cluster() {
    let cluster = stopped(2);
    let table = [
        ("--id", "2", "is that of node '1', not '2'"),
        ("--cluster", "other", "is that of cluster 'conclave', not 'other'"),
        ("--set", "busy=try", "is that of the settings '2 nodes; engine central"),
    ];
    for (flag, value, words) in table {
        let place = Place::new();
        fails(&mut borrowed(&cluster, &place, "borrower", flag, value), words);
    }
    // Another engine is a mistake of use: it is told before anything is opened.
    let place = Place::new();
    let mut borrower = borrowed(&cluster, &place, "borrower", "--engine", "maekawa");
    borrower.start();
    assert_eq!(borrower.ended().code(), Some(2), "{}", borrower.log());
    let words = "was made with central; take that, or another directory";
    assert!(borrower.log().contains(words), "{}", borrower.log());
}

#[test]
fn a_second_process_is_told_of_the_first() {
    let cluster = Cluster::new(1, "central").start();
    let steady = Steady::start(&cluster.apis());
    let mut second = borrowed(&cluster, &cluster.place, "second", "--log", "info");
    fails(&mut second, "another conclave node is using");
    steady.finish();
}

#[test]
fn damage_is_noticed_and_nothing_is_made_anew() {
    let cluster = stopped(1);
    let file = cluster.members[0].data.join(FILE);
    let good = fs::read(&file).unwrap();
    let first = &cluster.members[0];
    let place = Place::new();
    let mut number = 0;
    let mut damaged = |bytes: &[u8]| {
        number += 1;
        let mut twin = first.twin(&place, &format!("damaged-{number}"));
        fs::create_dir_all(&twin.data).unwrap();
        fs::write(twin.data.join(FILE), bytes).unwrap();
        fails(&mut twin, "a node cannot go on without what it had promised");
        assert_eq!(fs::read(twin.data.join(FILE)).unwrap(), bytes, "it was changed");
    };
    damaged(b"");
    damaged(&good[..good.len() / 2]);
    damaged(&good[..1_000]);
    damaged(&[0; 100_000]);
    damaged(b"SQLite format 3\0 or something else altogether");
    // The header, and pages all over the file; those in no use may be anything.
    let mut header = good.clone();
    header[..64].fill(0xA5);
    damaged(&header);
    let mut pages = good.clone();
    for page in pages.chunks_mut(4_096).skip(1) {
        page[7] ^= 0x55;
        page[99] ^= 0x55;
    }
    damaged(&pages);
}

#[test]
fn a_directory_that_is_none_is_named() {
    let mut cluster = Cluster::new(1, "central");
    let first = &mut cluster.members[0];
    fs::write(&first.data, "a file").unwrap();
    fails(first, "node-1");
    let mut file = OpenOptions::new().write(true).open(&first.data).unwrap();
    assert_eq!(file.seek(SeekFrom::End(0)).unwrap(), 6, "it is as it was");
}

/// Stops a node in good order.
fn stop(member: &mut Member) {
    member.signal(Signal::TERM);
    assert_eq!(member.ended().code(), Some(0), "{}", member.log());
}

/// Takes a lock and gives it back.
fn enter(api: SocketAddr) {
    let session = session(api, 60_000);
    let granted = acquire(api, "x", &session, 60_000);
    assert_eq!(granted.status, 200, "{granted:?}");
    let fence = granted.json()["fence"].as_u64().unwrap();
    assert_eq!(release(api, "x", &session, fence).status, 200);
}

#[test]
fn an_old_copy_of_its_own_directory_stops_a_node() {
    let mut cluster = Cluster::new(3, "ricart-agrawala").start();
    let second = &mut cluster.members[1];
    enter(second.api);
    stop(second);
    let copy = fs::read(second.data.join(FILE)).unwrap();
    second.start();
    ready(second);
    enter(second.api);
    second.kill();
    fs::write(second.data.join(FILE), copy).unwrap();
    fails(second, "the data directory is an old copy: node");
    for index in [0, 2] {
        assert!(cluster.members[index].runs(), "{}", cluster.members[index].log());
    }
}

#[test]
fn a_copy_that_is_exactly_one_start_old_stops_a_node_for_good() {
    // Nothing of this engine is numbered for longer than a start.
    let mut cluster = Cluster::new(3, "central-failover").start();
    let second = &mut cluster.members[1];
    stop(second);
    let copy = fs::read(second.data.join(FILE)).unwrap();
    second.start();
    ready(second);
    second.kill();
    fs::write(second.data.join(FILE), copy).unwrap();
    fails(second, "the data directory is an old copy: node");
    // Whatever starts it again makes one start more of it, which nobody has met.
    second.start();
    assert_eq!(second.ended().code(), Some(1), "{}", second.log());
    second.line("is an old copy, as was found out in an earlier run: node ");
    for index in [0, 2] {
        assert!(cluster.members[index].runs(), "{}", cluster.members[index].log());
    }
}

#[test]
fn a_node_with_the_disk_of_another_cluster_stops_nobody() {
    let mut elsewhere = Cluster::new(3, "central-failover").start();
    elsewhere.members.iter_mut().for_each(stop);
    let mut cluster = Cluster::new(3, "central-failover").start();
    stop(&mut cluster.members[0]);
    let first = &cluster.members[0];
    let mut wrong = first.twin(&cluster.place, "wrong");
    wrong.set("--listen", &first.peer.to_string());
    wrong.set("--data", elsewhere.members[0].data.to_str().unwrap());
    let steady = Steady::start(&cluster.apis()[1..]);
    wrong.start();
    for member in &cluster.members[1..] {
        let address = cluster.members[0].peer;
        let words =
            format!("no link to node 1 at {address}: node 1 refused this node; see the log");
        member.line(&words);
        member.line("it was refused: another node 1 was met before");
        wrong.line(&format!("it was refused: another node {} was met before", member.id));
    }
    wrong.kill();
    cluster.members[0].start();
    ready(&cluster.members[0]);
    steady.finish();
}

#[test]
fn a_node_whose_data_directory_vanished_says_so_and_is_not_ready() {
    let cluster = Cluster::new(1, "central").start();
    let only = &cluster.members[0];
    fs::remove_dir_all(&only.data).unwrap();
    only.line("vanished while this node runs");
    let ready = call(only.api, "GET /readyz", &[], "");
    assert_eq!((ready.status, ready.code().as_str()), (503, "unavailable"));
    assert!(ready.body.contains("the data directory of this node vanished"), "{}", ready.body);
    assert_eq!(call(only.api, "GET /healthz", &[], "").status, 200);
    let status = crate::support::conclave(&["status", "--server", &only.api.to_string()]);
    assert!(status.stdout.contains("not ready: disk"), "{}", status.stdout);
}
