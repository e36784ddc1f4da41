//! Faults of all kinds, one after another and some at once, for as long as one likes, while clients
//! of all nodes hold a lock in turn. `scripts/soak faults` runs it.
#![allow(clippy::disallowed_methods, reason = "how long it takes comes from the environment")]

use crate::cluster::{Cluster, N, wait_for};
use crate::lan::Lan;
use crate::on_hosts;
use crate::resource::within;
use conclave_client::api::{Code, NewValue};
use conclave_client::{Client, Guard, Watch};
use std::collections::BTreeMap;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

const NAME: &str = "build";
/// How long one holds the lock, in milliseconds, at most.
const HOLDS_MAX: u64 = 300;
/// How long a fault lasts, in milliseconds, at most.
const LASTS_MAX: u64 = 6_000;
/// What a node does to others, and others to it.
const FAULTS: [&str; 8] = [
    "kill",
    "stop",
    "stop the leader",
    "freeze",
    "cut a cable",
    "isolate",
    "kill the leader",
    "flap",
];

/// Numbers by chance, from a seed that is printed.
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }

    fn node(&mut self) -> u32 {
        self.below(N.into()) as u32 + 1
    }

    fn other(&mut self, node: u32) -> u32 {
        (node + self.below(u64::from(N) - 1) as u32) % N + 1
    }
}

/// What is protected. It checks every entry: the fence rises, and whoever is still inside must have
/// been told that it is not to be any more.
#[derive(Default)]
struct History {
    /// Whether what is held and written survives the loss of any node.
    survives: bool,
    inside: Mutex<Inside>,
    entries: AtomicU64,
    checks: AtomicU64,
    overtaken: AtomicU64,
    lost: AtomicU64,
    written: AtomicU64,
}

#[derive(Default)]
struct Inside {
    who: Option<(u32, Watch)>,
    latest: u64,
}

impl History {
    fn enter(&self, node: u32, guard: &Guard) {
        let mut inside = self.inside.lock().unwrap_or_else(PoisonError::into_inner);
        if guard.lost().is_some() {
            return; // The answer came late, and its client knows.
        }
        let fence = guard.fence();
        let latest = inside.latest;
        assert!(fence > latest, "node {node} came with fence {fence} after {latest}");
        if let Some((other, watch)) = inside.who.take() {
            assert!(watch.lost().is_some(), "nodes {node} and {other} are both inside");
            self.overtaken.fetch_add(1, Ordering::Relaxed);
        }
        *inside = Inside { who: Some((node, guard.watch())), latest: fence };
        self.entries.fetch_add(1, Ordering::Relaxed);
        self.checks.fetch_add(2, Ordering::Relaxed);
    }

    /// What the last holder wrote under the lock is there, and this one writes after it.
    fn write(&self, client: &Client, guard: &Guard) {
        let written = self.written.load(Ordering::SeqCst);
        match client.value(NAME) {
            Ok(found) => assert!(found.fence >= written, "{} after {written}", found.fence),
            Err(error) => {
                assert!(written == 0 || !error.says(Code::NotFound), "{written} was forgotten");
            }
        }
        let fence = guard.fence();
        let value = NewValue { value: fence.into(), fence, ..NewValue::default() };
        if client.set_value(NAME, &value).is_ok() {
            self.written.fetch_max(fence, Ordering::SeqCst);
            self.checks.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn leave(&self, node: u32) {
        let mut inside = self.inside.lock().unwrap_or_else(PoisonError::into_inner);
        inside.who = inside.who.take().filter(|(who, _)| *who != node);
    }

    fn count(&self) -> u64 {
        self.entries.load(Ordering::Relaxed)
    }
}

/// Holds the lock again and again, each time for a while, until all is over.
fn hold_often(client: &Client, node: u32, history: &History, over: &AtomicBool) {
    let mut chance = Chance(u64::from(node) * 7_919);
    while !over.load(Ordering::Relaxed) {
        match client.lock(NAME, &within(Duration::from_secs(20))) {
            Ok(guard) => {
                history.enter(node, &guard);
                if history.survives {
                    history.write(client, &guard);
                }
                let end = Instant::now() + Duration::from_millis(chance.below(HOLDS_MAX));
                while Instant::now() < end && guard.lost().is_none() {
                    thread::sleep(Duration::from_millis(5));
                }
                let lost = guard.lost().is_some();
                history.lost.fetch_add(lost.into(), Ordering::Relaxed);
                history.leave(node);
                let _ = guard.release(); // Its node may be gone by now.
            }
            Err(_) => thread::sleep(Duration::from_millis(50)),
        }
    }
}

/// One fault, and its end.
fn inflict(fault: &str, cluster: &mut Cluster<'_>, lan: &Lan, chance: &mut Chance) {
    let node = chance.node();
    let lasts = Duration::from_millis(chance.below(LASTS_MAX));
    match fault {
        "kill" => {
            cluster.kill(node);
            thread::sleep(lasts / 4);
            cluster.launch(node);
        }
        "stop" => cluster.restart(node),
        "stop the leader" | "kill the leader" => {
            let all: Vec<u32> = (1..=N).collect();
            let leader = cluster.agreed(&all, None);
            match fault {
                "stop the leader" => cluster.stop(leader),
                _ => cluster.kill(leader),
            }
            cluster.launch(leader);
        }
        "flap" => flap(node, lan, chance),
        "freeze" => {
            cluster.freeze(node);
            thread::sleep(lasts);
            cluster.thaw(node);
        }
        "cut a cable" => {
            let other = chance.other(node);
            lan.cut(node, other);
            thread::sleep(lasts);
            lan.heal(node, other);
        }
        _ => {
            let others: Vec<u32> = (1..=N).filter(|other| *other != node).collect();
            others.iter().for_each(|other| lan.cut(node, *other));
            thread::sleep(lasts);
            others.iter().for_each(|other| lan.heal(node, *other));
        }
    }
}

/// A cable that comes and goes.
fn flap(node: u32, lan: &Lan, chance: &mut Chance) {
    let other = chance.other(node);
    for _ in 0..chance.below(10) {
        lan.cut(node, other);
        thread::sleep(Duration::from_millis(chance.below(400)));
        lan.heal(node, other);
        thread::sleep(Duration::from_millis(chance.below(400)));
    }
}

fn minutes() -> u64 {
    let set = std::env::var("CONCLAVE_MINUTES").ok();
    set.map_or(30, |text| text.parse().expect("CONCLAVE_MINUTES is a number"))
}

/// Faults until the time is over. After each, everybody finds back and somebody enters.
fn weather(cluster: &mut Cluster<'_>, lan: &Lan, history: &History) -> BTreeMap<String, u32> {
    let seed = RandomState::new().build_hasher().finish() | 1;
    println!("seed {seed}, for {} minutes", minutes());
    let mut chance = Chance(seed);
    let mut faults = BTreeMap::new();
    let end = Instant::now() + Duration::from_secs(60 * minutes());
    while Instant::now() < end {
        let fault = FAULTS[chance.below(FAULTS.len() as u64) as usize];
        inflict(fault, cluster, lan, &mut chance);
        *faults.entry(fault.to_string()).or_default() += 1;
        if chance.below(3) > 0 {
            continue; // The next one comes before this one is got over.
        }
        cluster.wait_for_links();
        let before = history.count();
        wait_for("somebody enters", || history.count() > before);
        history.checks.fetch_add(1, Ordering::Relaxed);
    }
    cluster.wait_for_links();
    faults
}

#[test]
#[ignore = "as many minutes as CONCLAVE_MINUTES says; scripts/soak runs it"]
fn no_fault_lets_in_two_or_keeps_everybody_out() {
    trial(&[], false);
}

/// There is a majority at all times, so nothing that is held or written is ever lost.
#[test]
#[ignore = "as many minutes as CONCLAVE_MINUTES says; scripts/soak runs it"]
fn no_fault_costs_a_running_client_of_a_replicated_cluster_its_lock() {
    trial(&["--engine", "replicated"], true);
}

fn trial(flags: &[&str], survives: bool) {
    on_hosts(N, |lan| {
        let mut cluster = Cluster::start(lan, flags);
        let history = History { survives, ..History::default() };
        let over = AtomicBool::new(false);
        let client =
            |node| if survives { cluster.clients_from(node) } else { cluster.client(node) };
        let clients = (1..=N).map(|node| (node, client(node))).collect::<Vec<_>>();
        thread::scope(|scope| {
            for (node, client) in &clients {
                let history = &history;
                let over = &over;
                scope.spawn(move || hold_often(client, *node, history, over));
            }
            let weather = std::panic::AssertUnwindSafe(|| weather(&mut cluster, lan, &history));
            let faults = std::panic::catch_unwind(weather);
            over.store(true, Ordering::Relaxed); // Else the clients would go on for ever.
            let faults = faults.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            let sum: u32 = faults.values().sum();
            let count = |number: &AtomicU64| number.load(Ordering::Relaxed);
            println!("{sum} faults {faults:?}");
            let entries = count(&history.entries);
            let checks = count(&history.checks);
            let overtaken = count(&history.overtaken);
            let lost = count(&history.lost);
            println!("{entries} grants, {checks} checks, {overtaken} overtaken, {lost} lost");
            assert!(!survives || lost == 0, "{lost} running clients lost their locks");
        });
        assert!(history.count() > 0);
    });
}
