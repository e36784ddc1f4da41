//! How fast the log is, beside a bare fdatasync on the same disk: by hand, with `--ignored`.

use crate::kit::{EXPECTED, LogEntry, Place, append, entry, flushed, session};
use conclave_replica::disk::{Disk, LogStore};
use conclave_table::{Change, Open};
use openraft::storage::RaftLogStorage;
use std::collections::VecDeque;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

const TIME: Duration = Duration::from_millis(500);
const ROUNDS: usize = 7;
const WRITERS: [usize; 3] = [1, 64, 512];

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

/// In turns, for others may use the same disk; printed are medians.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes half a minute, and its numbers are for people"]
async fn appends_per_second() {
    let place = Place::new();
    let disk = Disk::open(&place.data(), &EXPECTED).unwrap();
    let mut log = disk.log();
    append(&mut log, vec![one(0)]).await.unwrap();
    let mut next = 1;
    let mut rates = vec![Vec::new(); 2 + WRITERS.len()];
    for _ in 0..ROUNDS {
        rates[0].push(bare(&place, false));
        rates[1].push(bare(&place, true));
        for (at, writers) in WRITERS.into_iter().enumerate() {
            rates[2 + at].push(appends(&mut log, &mut next, writers).await);
        }
    }
    disk.close().await;
    let appends = WRITERS.map(|writers| format!("appends, {writers} under way"));
    let bare = ["bare fdatasync, fallocate", "bare fdatasync, zeros"].map(String::from);
    for (name, rates) in bare.iter().chain(&appends).zip(&mut rates) {
        rates.sort_by(f64::total_cmp);
        let (least, most) = (rates[0], rates[ROUNDS - 1]);
        println!("{name:28} {:8.0} /s ({least:.0} to {most:.0})", rates[ROUNDS / 2]);
    }
}
