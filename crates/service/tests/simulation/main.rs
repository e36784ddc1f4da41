//! Deterministic simulation of the replicated service: nodes and clients in one thread, in a time
//! of their own, with faults that follow from a seed.
//!
//! Of a node all is the real thing (engine, replica, consensus, links, log, snapshots, recovery)
//! but for what it stands on: connections, clocks, chance, and the threads that wait for its disk.
//! The same seed is the same run. `CONCLAVE_SEEDS` says how many; `CONCLAVE_SEED` replays one.

mod chance;
mod checker;
mod client;
mod disk;
mod faults;
mod history;
mod network;
mod node;
mod person;
mod world;

use checker::summary;
use faults::Faults;
use world::{Plan, run};

/// So many are tried in the gate.
const SEEDS: u64 = 6;

fn plan(seed: u64, faults: Faults) -> Plan {
    Plan { seed, nodes: 3, clients: 5, trouble_ms: 14_000, faults }
}

/// The seeds to try.
fn seeds() -> Vec<u64> {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    match number("CONCLAVE_SEED") {
        Some(seed) => vec![seed],
        None => (1..=number("CONCLAVE_SEEDS").unwrap_or(SEEDS)).collect(),
    }
}

fn judge(test: &str, faults: Faults) {
    for seed in seeds() {
        let (history, wrong) = run(plan(seed, faults));
        println!("seed {seed}: {}", summary(&history));
        if !wrong.is_empty() {
            panic!(
                "seed {seed}:\n{}\nreplay: CONCLAVE_SEED={seed} cargo test -p conclave-service \
                 --test simulation {test} -- --nocapture",
                wrong.join("\n")
            );
        }
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
fn the_same_seed_is_the_same_run() {
    let hash = |seed| run(plan(seed, Faults::All)).0.hash();
    assert_eq!(hash(1), hash(1));
    assert_ne!(hash(1), hash(2));
}
