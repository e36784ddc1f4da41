//! How fast the log is, beside a bare fdatasync on the same disk: by hand, with `--ignored`.

use crate::kit::{EXPECTED, LogEntry, Place, append, entry, flushed, session};
use conclave_replica::disk::{Disk, LogStore};
use conclave_table::{Change, Open};
use openraft::storage::RaftLogStorage;
use std::collections::VecDeque;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

const TIME: Duration = Duration::from_secs(3);

/// About as long as an acquire.
fn one(index: u64) -> LogEntry {
    entry(1, index, index, Change::Open(Open::new(session(index), 10_000)))
}

/// So many appends are under way at any time; returns how many were synced per second.
async fn appends(log: &mut LogStore, next: &mut u64, writers: usize) -> f64 {
    let start = Instant::now();
    let mut waiting = VecDeque::new();
    let mut done = 0_u64;
    while start.elapsed() < TIME {
        while waiting.len() < writers {
            let (callback, wait) = flushed();
            log.append([one(*next)], callback).await.unwrap();
            *next += 1;
            waiting.push_back(wait);
        }
        if let Some(wait) = waiting.pop_front() {
            wait.await.unwrap().unwrap();
            done += 1;
        }
    }
    for wait in waiting {
        wait.await.unwrap().unwrap();
    }
    done as f64 / start.elapsed().as_secs_f64()
}

/// Writes of 192 bytes, one after the other, each synced.
fn bare(place: &Place, zeros: bool) -> f64 {
    let path = place.0.join("bare");
    let file = File::create(&path).unwrap();
    let room = 16 << 20;
    if zeros {
        file.write_all_at(&vec![0; room as usize], 0).unwrap();
    } else {
        rustix::fs::fallocate(&file, rustix::fs::FallocateFlags::empty(), 0, room).unwrap();
    }
    file.sync_all().unwrap();
    let start = Instant::now();
    let mut done = 0_u64;
    while start.elapsed() < TIME {
        file.write_all_at(&[7; 192], done * 192 % (room - 192)).unwrap();
        file.sync_data().unwrap();
        done += 1;
    }
    done as f64 / start.elapsed().as_secs_f64()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes half a minute, and its numbers are for people"]
async fn appends_per_second() {
    let place = Place::new();
    for round in 1..=2 {
        println!("round {round}");
        println!("  bare fdatasync, fallocate   {:8.0} /s", bare(&place, false));
        println!("  bare fdatasync, zeros       {:8.0} /s", bare(&place, true));
        let fresh = Place::new();
        let disk = Disk::open(&fresh.data(), &EXPECTED).unwrap();
        let mut log = disk.log();
        append(&mut log, vec![one(0)]).await.unwrap();
        let mut next = 1;
        for writers in [1, 64, 512] {
            let rate = appends(&mut log, &mut next, writers).await;
            println!("  appends, {writers:3} writers        {rate:8.0} /s");
        }
        disk.close().await;
    }
}
