//! A full disk: the node ends and says why, and nothing that was answered is lost.

use crate::kit::{EXPECTED, Place, append, blank, long, machine};
use crate::snapshot::apply;
use conclave_replica::disk::{Disk, DiskOptions};
use conclave_replica::raft_types::TypeConfig;
use openraft::storage::{RaftLogReader, RaftLogStorage, RaftSnapshotBuilder, RaftStateMachine};
use openraft::type_config::alias::VoteOf;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

const OPTIONS: DiskOptions = DiskOptions { segment_bytes: 64 << 10, cached_bytes: 8 << 10 };

/// A small disk of this test's own.
struct Small(PathBuf);

impl Small {
    fn mount(at: &Path) -> Option<Self> {
        if !rustix::process::geteuid().is_root() {
            eprintln!("skipped: only root can mount a small disk");
            return None;
        }
        fs::create_dir_all(at).unwrap();
        let mount = ["-t", "tmpfs", "-o", "size=1m", "conclave-test"];
        let mounted = Command::new("mount").args(mount).arg(at).status().expect("mount runs");
        if !mounted.success() {
            eprintln!("skipped: a small disk cannot be mounted here");
            return None;
        }
        Some(Self(at.to_path_buf()))
    }

    /// Leaves no room at all.
    fn fill(&self) {
        let mut filler = fs::File::create(self.0.join("lost+found")).unwrap();
        for size in [65_536, 4_096, 1] {
            while filler.write_all(&vec![0; size]).is_ok() {}
        }
    }

    fn make_room(&self) {
        fs::remove_file(self.0.join("lost+found")).unwrap();
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

#[tokio::test]
async fn a_full_disk_stops_the_log_and_loses_nothing_that_was_answered() {
    let place = Place::new();
    let Some(small) = Small::mount(&place.data()) else { return };
    let disk = Disk::open_with(&place.data(), &EXPECTED, OPTIONS).unwrap();
    let mut log = disk.log();
    let mut failures = disk.failures();
    append(&mut log, vec![blank(1, 0)]).await.unwrap();
    small.fill();
    let mut answered = 1;
    let error = loop {
        match append(&mut log, vec![long(1, answered, 2_000)]).await {
            Ok(()) => answered += 1,
            Err(error) => break error,
        }
    };
    assert!(error.to_string().contains("No space left on device"), "{error}");
    failures.wait_for(Option::is_some).await.unwrap();
    let line = disk.failure().unwrap();
    assert!(line.contains(place.data().to_str().unwrap()), "{line}");
    // Readers of memory do not care; writers are told each time.
    assert!(log.try_get_log_entries(..).await.unwrap().len() as u64 > answered);
    let vote = VoteOf::<TypeConfig>::new(9, 1);
    log.save_vote(&vote).await.unwrap_err();
    assert_eq!(log.read_vote().await.unwrap(), None);
    append(&mut log, vec![blank(1, answered + 1)]).await.unwrap_err();
    disk.close().await;
    small.make_room();
    let disk = Disk::open_with(&place.data(), &EXPECTED, OPTIONS).unwrap();
    let entries = disk.log().try_get_log_entries(..).await.unwrap();
    assert_eq!(entries.len() as u64, answered);
    append(&mut disk.log(), vec![long(2, answered, 2_000)]).await.unwrap();
    disk.close().await;
}

#[tokio::test]
async fn a_snapshot_that_finds_no_room_leaves_the_one_before() {
    let place = Place::new();
    let Some(small) = Small::mount(&place.data()) else { return };
    let disk = Disk::open_with(&place.data(), &EXPECTED, OPTIONS).unwrap();
    let (mut machine, _) = machine(&disk);
    apply(&mut machine, vec![long(1, 1, 1_000)]).await;
    machine.get_snapshot_builder().await.build_snapshot().await.unwrap();
    apply(&mut machine, (2..80).map(|index| long(1, index, 1_000)).collect()).await;
    small.fill();
    let error = machine.get_snapshot_builder().await.build_snapshot().await.unwrap_err();
    assert!(error.to_string().contains("No space left on device"), "{error}");
    assert_eq!(disk.failure().as_deref(), Some(error.to_string().as_str()));
    assert_eq!(place.snapshots().len(), 1);
    disk.close().await;
    small.make_room();
    let disk = Disk::open_with(&place.data(), &EXPECTED, OPTIONS).unwrap();
    assert_eq!(crate::kit::machine(&disk).1.take(), ["installed 1"]);
    disk.close().await;
}
