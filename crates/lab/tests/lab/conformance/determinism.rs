//! The same plan gives the same run: twice, on any number of threads, in every build and on every
//! machine.

use super::support::{crash, restart, setting, simulate};
use crate::cluster;
use conclave_algorithms::catalog::{ENTRIES, Family};
use conclave_core::{NodeId, Ticks};
use conclave_sim::{Action, Latency, MessageRule, Options, Plan, Workload, sweep};
use std::collections::BTreeMap;
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

/// One announcement more, to a node that is dead and does nothing with it.
#[test]
fn two_runs_that_differ_in_what_is_sent_have_different_hashes() {
    let run = |announce| {
        let plan = Plan { dead: vec![NodeId(6)], start: vec![NodeId(3)], ..Plan::default() };
        simulate(&setting("bully", 7, &[("announce", announce)]), &plan)
    };
    let (lower, all) = (run("lower"), run("all"));
    assert_eq!((lower.messages, all.messages), (14, 15));
    assert_ne!(lower.hash, all.hash);
}

/// What if only this message had been late? All others still take what was drawn for them.
#[test]
fn a_rule_for_one_message_changes_what_is_drawn_for_no_other() {
    for (id, kind) in [("ricart-agrawala", "REQUEST"), ("maekawa", "REQUEST"), ("central", "GRANT")]
    {
        let latency = Latency::Uniform(Ticks::UNIT, Ticks::units(20));
        let late = MessageRule {
            from: None,
            to: None,
            kind: Some(kind.into()),
            nth: Some(2),
            action: Action::Delay(Ticks::units(50)),
        };
        let drawn = |rules: Vec<MessageRule>| -> BTreeMap<_, _> {
            let plan = Plan { seed: 3, latency: latency.clone(), fifo: false, ..Plan::default() };
            let options = Options { decisions: true, ..Options::default() };
            let outcome = cluster(&setting(id, 5, &[])).map(|made| {
                made.run(&Plan { rules, ..plan }, &options).expect("the plan is sound")
            });
            let decisions = outcome.expect("the setting is sound").decisions;
            let rules = decisions.expect("they were asked for").rules;
            rules.into_iter().map(|r| ((r.from, r.to, r.kind, r.nth), r.action)).collect()
        };
        let (as_drawn, ruled) = (drawn(Vec::new()), drawn(vec![late]));
        let common = as_drawn.iter().filter(|(message, _)| ruled.contains_key(message)).count();
        let changed = as_drawn
            .iter()
            .filter(|(message, fate)| ruled.get(message).is_some_and(|ruled| ruled != *fate));
        assert_eq!(changed.count(), 1, "{id}: the one that was late");
        assert!(common > 10, "{id}: {common}");
    }
}

/// These values were read once and never change: debug and release builds, and every machine, must
/// come to the same. Whoever changes an algorithm, the order of events or the encoding on purpose
/// writes the new ones down, and says why.
#[test]
fn every_build_comes_to_the_same_runs() {
    let pinned = [
        ("central", "4571159c05c8d68f"),
        ("voting", "c218ca25f501f03b"),
        ("ricart-agrawala", "01ecef258d6b90c1"),
        ("suzuki-kasami", "9ecefe372a6ae55a"),
        ("token-ring-regenerating", "c63a2bd99770b5b0"),
    ];
    let hash = |id| simulate(&setting(id, 5, &[]), &random_plan(7)).hash.expect("it was asked for");
    let found = pinned.map(|(id, _)| (id, format!("{:016x}", hash(id))));
    assert_eq!(found, pinned.map(|(id, hash)| (id, hash.to_string())));
}
