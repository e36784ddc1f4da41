//! Deterministic simulation of the replicated service: nodes and clients in one thread, in a time
//! of their own, with faults that follow from a seed.
//!
//! Of a node all is the real thing (engine, replica, consensus, links, log, snapshots, recovery)
//! but for what it stands on: connections, clocks, chance, and the threads that wait for its disk.
//! The same seed is the same run. `CONCLAVE_SEEDS` says how many seeds there are, a 25th of
//! it: 4 by default, 1,000 in `scripts/soak simulation`. `CONCLAVE_SEED` replays one.

mod chance;
mod checker;
mod client;
mod disk;
mod entropy;
mod faults;
mod history;
mod judged;
mod keepalive;
mod network;
mod node;
mod operator;
mod person;
mod replay;
mod world;

use checker::summary;
use faults::Faults;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use world::{Plan, run};

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

/// Tries the seeds, each in a process of its own; in that process, the one.
fn judge(test: &str, faults: Faults) {
    if let Some(seed) = number("CONCLAVE_SEED") {
        return judge_one(test, seed, faults);
    }
    let last = (number("CONCLAVE_SEEDS").unwrap_or(100) / 25).max(1);
    let found = faults.found_something().iter().copied().filter(|seed| *seed > last);
    let seeds: Vec<u64> = (1..=last).chain(found).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(seed) = seeds.get(next.fetch_add(1, Ordering::SeqCst)) {
            let (well, words) = child(test, *seed);
            assert!(well, "{words}");
        }
    };
    let workers = thread::available_parallelism().map_or(1, |count| count.get());
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(work);
        }
    });
}

/// Runs a seed in a process of its own: whether all was well, and what it printed.
fn child(test: &str, seed: u64) -> (bool, String) {
    let program = std::env::current_exe().expect("this program");
    let output = Command::new(program)
        .args(["--exact", test, "--nocapture"])
        .env("CONCLAVE_SEED", seed.to_string())
        .output()
        .expect("it runs");
    let words = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&words).into_owned())
}

fn judge_one(test: &str, seed: u64, faults: Faults) {
    entropy::seed_process(seed);
    let plan = Plan { seed, nodes: 3, trouble_ms: 14_000, faults };
    let (history, wrong) = thread::spawn(move || run(plan)).join().expect("it does not panic");
    println!("seed {seed}: {}; hash {:016x}", summary(&history), history.hash());
    if !wrong.is_empty() {
        panic!(
            "seed {seed}:\n{}\nreplay: CONCLAVE_SEED={seed} cargo test -p conclave-service \
             --test simulation {test} -- --nocapture",
            wrong.join("\n")
        );
    }
}

#[test]
fn the_rules_hold_whatever_goes_wrong() {
    judge("the_rules_hold_whatever_goes_wrong", Faults::All);
}

#[test]
fn what_a_dead_client_held_is_free_in_time() {
    judge("what_a_dead_client_held_is_free_in_time", Faults::Deaths);
}

#[test]
fn a_stall_of_the_leader_takes_nothing_from_a_running_client() {
    judge("a_stall_of_the_leader_takes_nothing_from_a_running_client", Faults::Stalls);
}

#[test]
fn a_keepalive_at_the_last_moment_goes_ahead_of_the_expiry() {
    judge("a_keepalive_at_the_last_moment_goes_ahead_of_the_expiry", Faults::LastMoments);
}

#[test]
fn a_lease_begins_no_earlier_than_an_idle_leader_hears_of_it() {
    judge("a_lease_begins_no_earlier_than_an_idle_leader_hears_of_it", Faults::Idle);
}

#[test]
fn nodes_are_replaced_whatever_goes_wrong() {
    judge("nodes_are_replaced_whatever_goes_wrong", Faults::Members);
}

#[test]
fn the_same_seed_is_the_same_run() {
    let hash = |seed| {
        let (_, words) = child("the_rules_hold_whatever_goes_wrong", seed);
        words.split("hash ").nth(1).and_then(|rest| rest.get(..16)).expect("a hash").to_string()
    };
    assert_eq!(hash(1), hash(1));
    assert_ne!(hash(1), hash(2));
}
