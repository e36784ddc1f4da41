//! The same plan gives the same run: twice, on any number of threads, in every build and on every
//! machine.

use super::support::{crash, restart, setting, simulate};
use conclave_algorithms::catalog::{ENTRIES, Family};
use conclave_core::Ticks;
use conclave_sim::{Latency, Plan, Workload, sweep};
use std::num::NonZeroUsize;

/// A plan that draws from every source of chance.
fn random_plan(seed: u64) -> Plan {
    Plan {
        seed,
        latency: Latency::Exponential(Ticks::units(3)),
        duplicate: 0.1,
        loss: 0.02,
        cancel: 0.3,
        workload: Workload::Closed(Ticks::units(5)),
        rounds: 3,
        faults: vec![crash(1, 20), restart(1, 40, false)],
        until: Ticks::units(2_000),
        ..Plan::default()
    }
}

#[test]
fn a_run_can_be_repeated() {
    for entry in ENTRIES {
        let setting = setting(entry.id, 5, &[]);
        let plan = |seed| match entry.family {
            Family::Mutex => random_plan(seed),
            // Not all of them have a rule for a return.
            Family::Election | Family::Clock | Family::Detector => {
                let faults = vec![crash(1, 20)];
                Plan { workload: Workload::AllAtOnce, faults, ..random_plan(seed) }
            }
        };
        let hash = |seed| simulate(&setting, &plan(seed)).hash;
        assert_eq!(hash(7), hash(7), "{}", entry.id);
        assert_ne!(hash(7), hash(8), "{}", entry.id);
    }
}

#[test]
fn a_sweep_does_not_depend_on_the_number_of_threads() {
    let setting = setting("maekawa", 5, &[]);
    let hash = |threads| {
        let run = |seed| Ok(simulate(&setting, &random_plan(seed)));
        let sweep =
            sweep(3, 40, NonZeroUsize::new(threads), run, || {}).expect("the plan is sound");
        (sweep.total.hash, sweep.total.messages, sweep.violations)
    };
    assert_eq!(hash(1), hash(2));
    assert_eq!(hash(1), hash(7));
}

/// These values were read once and never change: debug and release builds, and every machine, must
/// come to the same. Whoever changes an algorithm, the order of events or the encoding on purpose
/// writes the new ones down, and says why.
#[test]
fn every_build_comes_to_the_same_runs() {
    let pinned = [
        ("central", "900c138e74bcd9e1"),
        ("voting", "966ee5bbfd1564a1"),
        ("ricart-agrawala", "5b0be282cc94d1b1"),
        ("suzuki-kasami", "e6541207ea426cdc"),
        ("token-ring-regenerating", "ef2a71a6d40ba6be"),
    ];
    let hash = |id| simulate(&setting(id, 5, &[]), &random_plan(7)).hash.expect("it was asked for");
    let found = pinned.map(|(id, _)| (id, format!("{:016x}", hash(id))));
    assert_eq!(found, pinned.map(|(id, hash)| (id, hash.to_string())));
}
