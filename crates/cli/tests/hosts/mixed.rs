//! Faults of all kinds, one after another and some at once, for as long as one likes, while clients
//! of all nodes hold a lock in turn. `scripts/soak faults` runs it.
#![allow(clippy::disallowed_methods, reason = "how long it takes comes from the environment")]

mod chance;
mod clients;
mod faults;
mod history;
mod queue;

use crate::cluster::{Cluster, N, wait_for};
use crate::disk::Disk;
use crate::lan::Lan;
use crate::on_hosts;
use chance::Chance;
use clients::{die_often, hold_often, hold_on, watch_queue};
use faults::World;
use history::History;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// How long it is calm, from time to time.
const CALM: Duration = Duration::from_secs(5);

fn minutes() -> u64 {
    let set = std::env::var("CONCLAVE_MINUTES").ok();
    set.map_or(30, |text| text.parse().expect("CONCLAVE_MINUTES is a number"))
}

/// Faults until the time is over. After each third or so, everybody finds back and somebody enters.
fn weather(world: &mut World<'_, '_>, history: &History) -> BTreeMap<&'static str, u32> {
    let mut chance = Chance::seeded();
    println!("for {} minutes", minutes());
    let mut faults = BTreeMap::new();
    let end = Instant::now() + Duration::from_secs(60 * minutes());
    while Instant::now() < end {
        history.faults.fetch_add(1, Ordering::Relaxed);
        *faults.entry(world.inflict(&mut chance)).or_default() += 1;
        if chance.below(3) > 0 {
            continue; // The next one comes before this one is got over.
        }
        world.cluster.wait_for_links();
        let before = history.count();
        wait_for("somebody enters", || history.count() > before);
        history.checked(1);
        if chance.below(4) == 0 {
            history.calm.store(true, Ordering::Relaxed);
            thread::sleep(CALM);
            history.calm.store(false, Ordering::Relaxed);
        }
    }
    world.cluster.wait_for_links();
    faults
}

#[test]
#[ignore = "as many minutes as CONCLAVE_MINUTES says; scripts/soak runs it"]
fn no_fault_lets_in_two_or_keeps_everybody_out() {
    on_hosts(N, |lan| {
        let mut cluster = Cluster::start(lan, &[]);
        trial(&mut cluster, lan, &[], &History::default());
    });
}

/// There is a majority at all times, so nothing that is held or written is ever lost.
#[test]
#[ignore = "as many minutes as CONCLAVE_MINUTES says; scripts/soak runs it"]
fn no_fault_costs_a_running_client_of_a_replicated_cluster_its_lock() {
    on_hosts(N, |lan| {
        let mut cluster = Cluster::new(lan, &["--engine", "replicated"]);
        let disks: Option<Vec<Disk>> =
            (1..=N).map(|node| Disk::mount(&cluster.disk_of(node))).collect();
        let Some(disks) = disks else { return };
        cluster.launch_all();
        let history = History::that_survives();
        trial(&mut cluster, lan, &disks, &history);
        history.read_all(&cluster.clients_from(1));
        drop(cluster); // Nobody uses the disks any more when they go.
    });
}

fn trial(cluster: &mut Cluster<'_>, lan: &Lan, disks: &[Disk], history: &History) {
    let over = AtomicBool::new(false);
    let client = |node| match history.survives {
        true => cluster.clients_from(node),
        false => cluster.client(node),
    };
    let clients: Vec<_> = (1..=N).map(|node| (node, client(node))).collect();
    thread::scope(|scope| {
        let over = &over;
        for (node, client) in &clients {
            scope.spawn(move || hold_often(client, *node, history, over));
            if history.survives {
                scope.spawn(move || hold_on(&client.clone(), *node, history, over));
            }
        }
        if history.survives {
            scope.spawn(|| watch_queue(&clients[0].1, history, over));
            scope.spawn(|| die_often(&clients[1].1, history, over));
        }
        let mut world = World { cluster, lan, disks };
        let faults = catch_unwind(AssertUnwindSafe(|| weather(&mut world, history)));
        over.store(true, Ordering::Relaxed); // Else the clients would go on for ever.
        let faults = faults.unwrap_or_else(|panic| resume_unwind(panic));
        let sum: u32 = faults.values().sum();
        println!("{sum} faults {faults:?}");
    });
    history.finish();
}
