//! `kill -9` of the node that leads, again and again, under 16 clients: how soon after each is
//! somebody let in?

use crate::cluster::{Cluster, N, wait_for};
use crate::on_hosts;
use crate::resource::within;
use conclave_client::Client;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

const CLIENTS: u32 = 16;
const KILLS: usize = 100;
/// From one kill to the next: each node is back by then.
const APART: Duration = Duration::from_millis(4_500);

/// When a lock was asked for, and when it was had.
type Grants = Mutex<Vec<(Instant, Instant)>>;

/// Takes a lock of its own and gives it back, until all is over.
fn take_often(client: &Client, number: u32, grants: &Grants, over: &AtomicBool) {
    let lease = client.open(Duration::from_secs(30), None).expect("a session");
    let name = format!("lock-{number}");
    let mut latest = 0;
    while !over.load(Ordering::Relaxed) {
        let sent = Instant::now();
        let guard = lease.acquire(&name, &within(Duration::from_secs(60))).expect("it is free");
        grants.lock().expect("nobody panicked").push((sent, Instant::now()));
        assert!(guard.fence() > latest, "{name}: {} after {latest}", guard.fence());
        latest = guard.fence();
        assert_eq!(guard.lost(), None, "{name}");
        let _ = guard.release(); // If nobody answers, it is tried again.
        thread::sleep(Duration::from_millis(20));
    }
}

/// How long after a kill the first lock was had that was asked for since.
fn next_after(killed: Instant, grants: &Grants) -> Duration {
    let mut next = None;
    wait_for("somebody is let in", || {
        let mut grants = grants.lock().expect("nobody panicked");
        let later = grants.iter().filter(|(sent, _)| *sent >= killed).map(|(_, had)| *had);
        next = later.min();
        grants.clear();
        next.is_some()
    });
    next.expect("waited for") - killed
}

#[test]
#[ignore = "it measures, for some minutes; scripts/soak hosts runs it"]
fn somebody_is_let_in_soon_after_each_kill_of_the_leader() {
    on_hosts(N, |lan| {
        let mut cluster = Cluster::start(lan, &["--engine", "replicated"]);
        let (grants, over) = (Grants::default(), AtomicBool::new(false));
        let clients = (0..CLIENTS).map(|number| (number, cluster.clients_from(number % N + 1)));
        let clients: Vec<_> = clients.collect();
        let mut waited = thread::scope(|scope| {
            for (number, client) in &clients {
                scope.spawn(|| take_often(client, *number, &grants, &over));
            }
            let waited = catch_unwind(AssertUnwindSafe(|| kill_often(&mut cluster, &grants)));
            over.store(true, Ordering::Relaxed); // Else the clients would go on for ever.
            waited.unwrap_or_else(|panic| resume_unwind(panic))
        });
        waited.sort_unstable();
        let late = waited.iter().filter(|waited| **waited > Duration::from_secs(1)).count();
        let (median, last) = (waited[KILLS / 2], waited[KILLS - 1]);
        println!("{KILLS} kills: next grant after {median:?}, at most {last:?}; {late} after 1 s");
    });
}

fn kill_often(cluster: &mut Cluster<'_>, grants: &Grants) -> Vec<Duration> {
    let all: Vec<u32> = (1..=N).collect();
    let kill = |_| {
        let leader = cluster.agreed(&all, None);
        let killed = Instant::now();
        cluster.kill(leader);
        let waited = next_after(killed, grants);
        cluster.launch(leader);
        cluster.wait_for_links();
        thread::sleep((killed + APART).saturating_duration_since(Instant::now()));
        waited
    };
    (0..KILLS).map(kill).collect()
}
