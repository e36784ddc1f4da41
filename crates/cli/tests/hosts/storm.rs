//! The same faults again and again, while hosts go on entering. Minutes: `scripts/soak` runs them.

use crate::cluster::{Cluster, DEADLINE, N, wait_for};
use crate::lan::Lan;
use crate::on_hosts;
use crate::resource::{Resource, within};
use conclave_client::Client;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

const NAME: &str = "build";
/// How often each host enters at least.
const ROUNDS: usize = 40;
/// How often something goes wrong.
const FAULTS: u32 = 6;

/// Enters again and again until all is over, with a session for each time: its node may come and
/// go.
fn enter_often(client: &Client, node: u32, resource: &Resource, over: &AtomicBool) {
    let end = Instant::now() + 10 * DEADLINE;
    let mut entered = 0;
    while entered < ROUNDS || !over.load(Ordering::Relaxed) {
        assert!(Instant::now() < end, "node {node} has entered {entered} times");
        let lease = client.open(Duration::from_secs(10), None);
        match lease.and_then(|lease| lease.acquire(NAME, &within(DEADLINE))) {
            Ok(guard) => {
                resource.enter(node, guard.fence());
                resource.leave(node);
                entered += 1;
                let _ = guard.release(); // Its node may be gone by now.
            }
            Err(_) => thread::sleep(Duration::from_millis(50)),
        }
    }
}

/// All hosts enter while this goes wrong, and all get in as often as they want to.
fn weather(lan: &Lan, flags: &[&str], mut fault: impl FnMut(&mut Cluster<'_>, u32)) {
    let mut cluster = Cluster::start(lan, flags);
    let (resource, over) = (Resource::default(), AtomicBool::new(false));
    thread::scope(|scope| {
        for node in 1..=N {
            let (client, resource, over) = (cluster.client(node), &resource, &over);
            scope.spawn(move || enter_often(&client, node, resource, over));
        }
        for count in 0..FAULTS {
            fault(&mut cluster, count);
            cluster.wait_for_links();
        }
        over.store(true, Ordering::Relaxed);
    });
    assert!(resource.entries() >= N as usize * ROUNDS);
}

#[test]
#[ignore = "minutes; scripts/soak runs it"]
fn a_leader_may_be_killed_again_and_again() {
    on_hosts(N, |lan| {
        weather(lan, &[], |cluster, _| {
            let all: Vec<u32> = (1..=N).collect();
            let leader = cluster.agreed(&all, None);
            cluster.kill(leader);
            let others: Vec<u32> = all.into_iter().filter(|node| *node != leader).collect();
            cluster.agreed(&others, Some(leader));
            cluster.launch(leader);
        });
    });
}

#[test]
#[ignore = "minutes; scripts/soak runs it"]
fn any_node_of_a_textbook_engine_may_be_killed_and_come_back() {
    on_hosts(N, |lan| {
        weather(lan, &["--engine", "ricart-agrawala"], |cluster, count| {
            let node = count % N + 1;
            cluster.kill(node);
            cluster.launch(node);
        });
    });
}

#[test]
#[ignore = "minutes; scripts/soak runs it"]
fn cables_may_be_cut_again_and_again() {
    on_hosts(N, |lan| {
        weather(lan, &["--engine", "suzuki-kasami"], |cluster, count| {
            let (a, b) = (count % N + 1, (count + 2) % N + 1);
            lan.cut(a, b);
            wait_for("they miss each other", || {
                let seen = cluster.client(a).cluster();
                seen.is_ok_and(|seen| seen.nodes[b as usize - 1].state != "up")
            });
            lan.heal(a, b);
        });
    });
}
