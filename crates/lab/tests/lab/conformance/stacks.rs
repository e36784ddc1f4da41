//! Random runs of the algorithms that stand on an election, over every election, detector and mode:
//! crashes of a minority, returns with the disk, partitions, pauses, lost, repeated and slow
//! messages, withdrawals. What the catalogue promises of a combination holds in all of them.
//!
//! `CONCLAVE_SEEDS` says how many seeds each combination gets, a fifth of it: 20 by default, 200 in
//! `scripts/soak`.

use super::support;
use super::support::{assert_kept, assert_verdict, crash, restart, setting, simulate};
use conclave_core::Property::{F1, S1, S1Eff, V1, V2};
use conclave_core::Verdict::{Holds, Violated};
use conclave_core::{NodeId, Ticks};
use conclave_sim::{Fault, Latency, Plan, Stream, Workload};

const MODES: [&str; 3] = ["lease", "strict", "fence"];
const DETECTORS: [&str; 4] = ["phi-accrual", "heartbeat", "adaptive", "perfect"];

/// There are many combinations: each gets a fifth of the seeds.
fn seeds() -> u64 {
    support::seeds().div_ceil(5)
}

/// What may go wrong besides crashes and slow nodes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Trouble {
    /// Every message arrives, once.
    None,
    /// Messages are lost and repeated.
    Loss,
    /// And the network is cut, again and again.
    Cuts,
}

fn plan(seed: u64, n: u32, trouble: Trouble) -> Plan {
    let mut random = Stream::new(seed, 11);
    let latency = match random.below(3) {
        0 => Latency::Constant(Ticks::UNIT),
        1 => Latency::Uniform(Ticks(500), Ticks::units(3)),
        _ if trouble == Trouble::None => Latency::Uniform(Ticks(100), Ticks::units(2)),
        _ => Latency::Exponential(Ticks::UNIT),
    };
    let mut plan = Plan {
        seed,
        latency,
        fifo: random.below(2) == 0,
        workload: Workload::Closed(Ticks::units(random.below(16))),
        rounds: 6,
        critical_section: Ticks::units(random.below(10)),
        cancel: [0.0, 0.1, 0.5][random.below(3) as usize],
        until: Ticks::units(20_000),
        ..Plan::default()
    };
    crashes(&mut plan, &mut random, n);
    if trouble != Trouble::None {
        plan.loss = [0.0, 0.05, 0.1][random.below(3) as usize];
        plan.duplicate = [0.0, 0.05][random.below(2) as usize];
        for _ in 0..random.below(3) {
            let node = NodeId(random.below(u64::from(n)) as u32);
            let span = Ticks(random.below(12_000));
            plan.faults.push((Ticks::units(random.below(300)), Fault::Pause { node, span }));
        }
    }
    if trouble == Trouble::Cuts {
        cuts(&mut plan, &mut random, n);
    }
    plan
}

fn crashes(plan: &mut Plan, random: &mut Stream, n: u32) {
    let first = random.below(u64::from(n)) as u32;
    for index in 0..random.below(u64::from(n - 1) / 2 + 1) as u32 {
        let node = (first + index) % n;
        let at = random.below(300);
        plan.faults.push(crash(node, at));
        if random.below(3) > 0 {
            plan.faults.push(restart(node, at + random.below(200), false));
        }
    }
}

/// One after the other, for a moment or for long.
fn cuts(plan: &mut Plan, random: &mut Stream, n: u32) {
    let mut at = random.below(100);
    for _ in 0..random.below(4) {
        let (mut one, mut other) = (Vec::new(), Vec::new());
        for node in (0..n).map(NodeId) {
            if random.below(2) == 0 { one.push(node) } else { other.push(node) }
        }
        let longest = [10, 150][random.below(2) as usize];
        let until = at + 1 + random.below(longest);
        if !one.is_empty() && !other.is_empty() {
            let (groups, until) = (vec![one, other], Ticks::units(until));
            plan.faults.push((Ticks::units(at), Fault::Partition { groups, until }));
        }
        at = until + 1 + random.below(80);
    }
}

fn every_promise_is_kept(set: &[(&str, &str)], trouble: Trouble) {
    for id in support::led() {
        for seed in 0..seeds() {
            let n = 3 + (seed % 5) as u32;
            let setting = setting(id, n, set);
            let mut plan = plan(seed, n, trouble);
            if !setting.entry.promises(V1, &setting.params) {
                plan.until = Ticks::units(1_500);
            }
            assert_kept(&setting, &plan, &simulate(&setting, &plan));
        }
    }
}

#[test]
fn with_a_majority_no_promise_is_broken_whatever_happens() {
    for mode in MODES {
        for detector in DETECTORS {
            // A perfect detector is believed; it would call whoever is cut off dead.
            let believed = mode == "strict" && detector == "perfect";
            let trouble = if believed { Trouble::Loss } else { Trouble::Cuts };
            for prevote in ["off", "on"] {
                let set = [("mode", mode), ("detector", detector), ("prevote", prevote)];
                every_promise_is_kept(&set, trouble);
            }
        }
    }
}

#[test]
fn with_bully_and_ring_all_go_on_after_crashes() {
    for election in ["bully", "ring"] {
        for mode in MODES {
            for detector in DETECTORS {
                let set = [("election", election), ("mode", mode), ("detector", detector)];
                every_promise_is_kept(&set, Trouble::None);
            }
        }
    }
}

/// Each side of a cut network may have a leader; what they let in never has the same fence.
#[test]
fn with_bully_and_ring_the_resource_still_tells_holders_apart() {
    for id in support::led() {
        for (election, mode) in [("bully", "fence"), ("bully", "lease"), ("ring", "fence")] {
            for seed in 0..seeds() {
                let n = 3 + (seed % 5) as u32;
                let setting = setting(id, n, &[("election", election), ("mode", mode)]);
                let plan = Plan { until: Ticks::units(2_000), ..plan(seed, n, Trouble::Cuts) };
                assert_verdict(&simulate(&setting, &plan), S1Eff, Holds);
            }
        }
    }
}

/// What the catalogue says is lacking under some parameters does break in some run.
#[test]
fn what_is_lacking_breaks() {
    let fence: &[_] = &[("mode", "fence"), ("detector", "heartbeat"), ("retransmit", "5")];
    let bully: &[_] = &[("election", "bully"), ("retransmit", "5")];
    let ring: &[_] = &[("election", "ring"), ("retransmit", "5")];
    let strict: &[_] = &[("mode", "strict")];
    for id in support::led() {
        for (set, lacking) in
            [(fence, [S1, F1]), (bully, [S1, F1]), (ring, [S1, F1]), (strict, [V1, V2])]
        {
            let setting = setting(id, 5, set);
            for property in lacking {
                let promised = setting.entry.promises(property, &setting.params);
                assert!(!promised, "{id} {set:?} {property}");
            }
            let run = |seed| {
                let (critical_section, until) = (Ticks::units(30), Ticks::units(1_500));
                let mut plan = Plan { critical_section, until, ..plan(seed, 5, Trouble::Cuts) };
                // Slow for so long that it is taken for dead, with the token on its way to it.
                let (node, span) = (NodeId(1), Ticks::units(100));
                plan.faults.push((Ticks::units(seed), Fault::Pause { node, span }));
                simulate(&setting, &plan)
            };
            let mut unbroken = lacking.to_vec();
            for outcome in (0..400).map(run) {
                unbroken.retain(|property| outcome.verdict(*property) != Violated);
                if unbroken.is_empty() {
                    break;
                }
            }
            assert_eq!(unbroken, [], "{id} {set:?}");
        }
    }
}
