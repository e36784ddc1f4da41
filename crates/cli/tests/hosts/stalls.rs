//! Disks that stand still for 200 ms, one after the other, under 64 clients: nobody else is
//! elected, and nobody loses what it holds.

use crate::cluster::{Cluster, N};
use crate::disk::Disk;
use crate::on_hosts;
use crate::resource::within;
use conclave_client::Client;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

const CLIENTS: u32 = 64;
const STALL: Duration = Duration::from_millis(200);
/// From the end of one to the beginning of the next.
const APART: Duration = Duration::from_millis(300);
/// What all clients write in ten minutes finds room.
const MEGABYTES: u32 = 512;

fn minutes() -> u64 {
    let set = std::env::var("CONCLAVE_STALL_MINUTES").ok();
    set.map_or(10, |text| text.parse().expect("CONCLAVE_STALL_MINUTES is a number"))
}

/// Takes a lock of its own and gives it back as often as it can, and has another all the while.
fn take_often(client: &Client, number: u32, grants: &AtomicU64, over: &AtomicBool) {
    let lease = client.open(Duration::from_secs(10), None).expect("a session");
    let wish = within(Duration::from_secs(30));
    let kept = lease.acquire(&format!("kept-{number}"), &wish).expect("nobody else wants it");
    while !over.load(Ordering::Relaxed) {
        let guard = lease.acquire(&format!("own-{number}"), &wish).expect("nobody else wants it");
        guard.release().expect("it is ours");
        grants.fetch_add(1, Ordering::Relaxed);
        assert_eq!(kept.lost(), None, "client {number}");
    }
}

/// Every disk in turn. Gives the number of stalls.
fn stall_often(disks: &[Disk]) -> u64 {
    let end = Instant::now() + Duration::from_secs(60 * minutes());
    let mut stalls = 0;
    for disk in disks.iter().cycle().take_while(|_| Instant::now() < end) {
        let frozen = disk.freeze();
        thread::sleep(STALL);
        drop(frozen);
        stalls += 1;
        thread::sleep(APART);
    }
    stalls
}

#[test]
#[ignore = "ten minutes; scripts/soak hosts runs it"]
fn short_stalls_of_disks_cost_no_leader_its_place() {
    on_hosts(N, |lan| {
        let mut cluster = Cluster::new(lan, &["--engine", "replicated"]);
        let mount = |node| Disk::mount_of(MEGABYTES, &cluster.disk_of(node));
        let Some(disks) = (1..=N).map(mount).collect::<Option<Vec<_>>>() else { return };
        cluster.launch_all();
        let all: Vec<u32> = (1..=N).collect();
        let led_by = |leader| (leader, cluster.seen_by(leader).term);
        let before = led_by(cluster.agreed(&all, None));
        let (grants, over) = (AtomicU64::new(0), AtomicBool::new(false));
        let clients: Vec<_> = (0..CLIENTS).map(|at| cluster.clients_from(at % N + 1)).collect();
        let stalls = thread::scope(|scope| {
            for (number, client) in (0..).zip(&clients) {
                let (grants, over) = (&grants, &over);
                scope.spawn(move || take_often(client, number, grants, over));
            }
            let stalls = catch_unwind(AssertUnwindSafe(|| stall_often(&disks)));
            over.store(true, Ordering::Relaxed); // Else the clients would go on for ever.
            stalls.unwrap_or_else(|panic| resume_unwind(panic))
        });
        let grants = grants.into_inner();
        println!("{stalls} stalls of {STALL:?}, {grants} grants, leader and term {before:?}");
        assert!(grants > stalls * u64::from(CLIENTS) / 4, "it went on all the while");
        assert_eq!(led_by(cluster.agreed(&all, None)), before, "leader and term");
        drop(cluster); // Nobody uses the disks any more when they go.
    });
}
