//! What must break does break, and holds when the fault is taken away.

use super::support::{
    asks, assert_none_forgotten, assert_verdict, crash, order, restart, rows, setting, simulate,
};
use conclave_algorithms::catalog::Family;
use conclave_core::Property::{F1, HB, S1, S1Eff, V1, V2};
use conclave_core::Verdict::{Holds, Violated};
use conclave_core::{NodeId, Ticks};
use conclave_sim::{Act, Action, Fault, Latency, MessageRule, Outcome, Plan, ScriptLine, Workload};

/// Parameters and their values.
type Set = &'static [(&'static str, &'static str)];

/// Locks that ask everybody for its permission, with the parameters that make everybody do so.
const PERMISSION: [(&str, Set); 3] =
    [("lamport", &[]), ("ricart-agrawala", &[]), ("roucairol-carvalho", &[("init", "none")])];

/// Locks with a single token, and what they call it.
const TOKEN: &[(&str, &str)] = &[
    ("token-ring", "TOKEN"),
    ("suzuki-kasami", "TOKEN"),
    ("raymond", "PRIVILEGE"),
    ("naimi-trehel", "TOKEN"),
];

/// Locks that a test of their own breaks below.
const OTHERS: [&str; 5] = ["central", "quorum", "voting", "total-order", "maekawa"];

/// Locks that are broken in another file, and where.
const ELSEWHERE: &[(&str, &str)] =
    &[("central-failover", "failover.rs"), ("token-ring-regenerating", "failover.rs")];

#[test]
fn every_lock_is_broken_by_something() {
    let of_permission = |id: &str| PERMISSION.iter().any(|(known, _)| *known == id);
    let of_token = |id: &str| TOKEN.iter().any(|(known, _)| *known == id);
    let has = |id: &str| of_permission(id) || of_token(id) || OTHERS.contains(&id);
    let tables = "conformance/faults.rs, where a fault breaks each lock,";
    assert_none_forgotten(rows(Family::Mutex), tables, has, ELSEWHERE);
}

fn rule(from: u32, to: u32, kind: &str, nth: u32, action: Action) -> MessageRule {
    MessageRule {
        from: Some(NodeId(from)),
        to: Some(NodeId(to)),
        kind: Some(kind.into()),
        nth: Some(nth),
        action,
    }
}

fn late(from: u32, to: u32, kind: &str, units: u64) -> MessageRule {
    rule(from, to, kind, 1, Action::Delay(Ticks::units(units)))
}

fn lost(from: u32, to: u32, kind: &str) -> MessageRule {
    rule(from, to, kind, 1, Action::Drop)
}

fn runs(id: &str, n: u32, set: &[(&str, &str)], plan: &Plan) -> Outcome {
    simulate(&setting(id, n, set), plan)
}

#[test]
fn a_coordinator_that_forgets_its_grant_gives_it_twice() {
    let plan = |amnesia| Plan {
        workload: asks(&[(0, 1), (20, 2)]),
        critical_section: Ticks::units(50),
        faults: vec![crash(0, 5), restart(0, 6, amnesia)],
        ..Plan::default()
    };
    assert_verdict(&runs("central", 3, &[], &plan(true)), S1, Violated);
    let control = runs("central", 3, &[], &plan(false));
    assert_verdict(&control, S1, Holds);
    assert_verdict(&control, V1, Holds);
}

#[test]
fn a_central_lock_stalls_with_its_coordinator_or_its_holder() {
    let plan = |faults| Plan { faults, ..Plan::default() };
    let separate: &[_] = &[("coordinator", "separate")];
    assert_verdict(&runs("central", 3, separate, &plan(vec![crash(3, 5)])), V1, Violated);
    assert_verdict(&runs("central", 3, separate, &plan(vec![crash(0, 5)])), V1, Violated);
    let bystander = Plan { workload: asks(&[(0, 0), (0, 1)]), ..plan(vec![crash(2, 5)]) };
    assert_verdict(&runs("central", 3, separate, &bystander), V1, Holds);
}

/// The lecture notes' own case: p1 is let in by c1 to c4, c4 forgets, p2 is let in by c4 to c7.
fn c4(faults: Vec<(Ticks, Fault)>, second_asks_at: u64) -> Outcome {
    let slow = (6..9).map(|coordinator| late(0, coordinator, "REQUEST", 30));
    let plan = Plan {
        rules: slow.collect(),
        workload: asks(&[(0, 0), (second_asks_at, 1)]),
        critical_section: Ticks::units(50),
        faults,
        ..Plan::default()
    };
    runs("quorum", 2, &[("coordinators", "7"), ("votes", "4")], &plan)
}

#[test]
fn when_c4_forgets_two_are_inside_and_even_their_fences_are_equal() {
    let forgets = || vec![crash(5, 5), restart(5, 5, true)];
    let outcome = c4(forgets(), 10);
    assert_verdict(&outcome, S1, Violated);
    assert_verdict(&outcome, F1, Violated);
    assert_verdict(&outcome, S1Eff, Violated);
    assert_verdict(&c4(Vec::new(), 10), S1, Holds);
    // Asked before the restart and never again: the request is forgotten with everything else.
    assert_verdict(&c4(forgets(), 3), S1, Holds);
    // A node that is up restarts in one instant.
    assert_verdict(&c4(vec![restart(5, 5, true)], 10), S1, Violated);
    // With its disk, c4 remembers.
    assert_verdict(&c4(vec![crash(5, 5), restart(5, 5, false)], 10), S1, Holds);
}

#[test]
fn a_voter_that_forgets_votes_twice() {
    let plan = |amnesia| Plan {
        workload: asks(&[(0, 0), (20, 1)]),
        critical_section: Ticks::units(50),
        faults: (2..5).flat_map(|c| [crash(c, 5), restart(c, 6, amnesia)]).collect(),
        until: Ticks::units(1_000),
        ..Plan::default()
    };
    let set: &[_] = &[("coordinators", "3")];
    assert_verdict(&runs("voting", 2, set, &plan(true)), S1, Violated);
    assert_verdict(&runs("voting", 2, set, &plan(false)), S1, Holds);
}

#[test]
fn votes_split_three_ways_deadlock_a_quorum_without_a_timer() {
    // Requests reach the coordinators 3/2/2.
    let mut rules = Vec::new();
    for (node, first) in [(0, 3..6), (1, 6..8), (2, 8..10)] {
        for coordinator in (3..10).filter(|coordinator| !first.contains(coordinator)) {
            rules.push(late(node, coordinator, "REQUEST", 2));
        }
    }
    let backoffs = [(0, 5), (1, 40), (2, 80)];
    let plan = Plan {
        rules,
        backoffs: backoffs.map(|(node, units)| (NodeId(node), Ticks::units(units))).into(),
        ..Plan::default()
    };
    let set: &[_] = &[("coordinators", "7"), ("votes", "4")];
    let stuck = runs("quorum", 3, set, &plan);
    assert_verdict(&stuck, V1, Violated);
    assert_eq!((stuck.mutex().entries, stuck.messages), (0, 28));
    let aborts = [set, &[("abort_after", "20")]].concat();
    let freed = runs("quorum", 3, &aborts, &plan);
    assert_verdict(&freed, V1, Holds);
    assert_eq!(freed.mutex().entries, 3);
}

#[test]
fn a_sequencer_that_crashes_blocks_the_broadcast_and_another_coordinator_does_not() {
    let plan = |node| Plan { faults: vec![crash(node, 2)], ..Plan::default() };
    assert_verdict(&runs("total-order", 3, &[], &plan(3)), V1, Violated);
    assert_verdict(&runs("total-order", 3, &[], &plan(7)), V1, Holds);
}

/// Node 0 asks again as it leaves, before node 1 comes back from its pause.
#[test]
fn a_total_order_with_refusals_lets_somebody_in_and_passes_others_over() {
    let plan = Plan {
        rounds: 20,
        backoffs: vec![(NodeId(0), Ticks::UNIT), (NodeId(1), Ticks::units(16))],
        ..Plan::default()
    };
    let first = |set: &[(&str, &str)]| {
        let outcome = runs("total-order", 2, set, &plan);
        assert_verdict(&outcome, S1, Holds);
        assert_verdict(&outcome, V1, Holds);
        order(&outcome).iter().take_while(|&&node| node == 0).count()
    };
    assert_eq!(first(&[]), 1, "in line they take turns");
    assert_eq!(first(&[("busy", "refuse")]), 20, "as often as 0 likes");
}

/// Node 2 withdraws while node 0 is inside and node 1 waits.
#[test]
fn a_release_that_names_nobody_lets_a_second_one_in() {
    let line = |at, node, act| ScriptLine { at: Ticks::units(at), node: NodeId(node), act };
    let script = vec![
        line(0, 0, Act::Acquire),
        line(1, 1, Act::Acquire),
        line(1, 2, Act::Acquire),
        line(5, 2, Act::Cancel),
    ];
    let plan = Plan { workload: Workload::Script(script), ..Plan::default() };
    assert_verdict(&runs("central", 3, &[("release", "anybodys")], &plan), S1, Violated);
    assert_verdict(&runs("central", 3, &[], &plan), S1, Holds);
}

#[test]
fn lamports_mutex_needs_first_in_first_out() {
    let plan = |fifo| Plan { fifo, rules: vec![late(0, 1, "REQUEST", 10)], ..Plan::default() };
    assert_verdict(&runs("lamport", 2, &[], &plan(false)), S1, Violated);
    assert_verdict(&runs("lamport", 2, &[], &plan(true)), S1, Holds);
}

#[test]
fn lamports_mutex_needs_its_queue_back() {
    let plan = |amnesia| Plan {
        workload: asks(&[(0, 2), (10, 0)]),
        critical_section: Ticks::units(50),
        faults: vec![crash(0, 5), restart(0, 6, amnesia)],
        ..Plan::default()
    };
    assert_verdict(&runs("lamport", 3, &[], &plan(true)), S1, Violated);
    assert_verdict(&runs("lamport", 3, &[], &plan(false)), S1, Holds);
}

/// Node 2 waits for node 1's slow permission and already has node 0's when node 0 forgets its
/// clock and asks with a smaller timestamp.
#[test]
fn ricart_agrawala_needs_its_clock_back() {
    let plan = |amnesia| Plan {
        workload: asks(&[(0, 2), (60, 2), (65, 0)]),
        critical_section: Ticks::units(50),
        rules: vec![rule(1, 2, "OK", 2, Action::Delay(Ticks::units(30)))],
        faults: vec![crash(0, 63), restart(0, 64, amnesia)],
        ..Plan::default()
    };
    assert_verdict(&runs("ricart-agrawala", 3, &[], &plan(true)), S1, Violated);
    assert_verdict(&runs("ricart-agrawala", 3, &[], &plan(false)), S1, Holds);
}

/// Node 0 has entered often and asks with a large timestamp; node 1 has seen that request and
/// asks, for the first time, with a small one.
#[test]
fn without_the_clock_update_a_latecomer_overtakes() {
    let plan = Plan {
        workload: asks(&[(0, 0), (20, 0), (40, 0), (60, 0), (61, 1)]),
        rules: vec![rule(2, 0, "OK", 4, Action::Delay(Ticks::units(10)))],
        ..Plan::default()
    };
    let as_printed = runs("ricart-agrawala", 3, &[("text", "seed")], &plan);
    assert_verdict(&as_printed, HB, Violated);
    assert_verdict(&as_printed, S1, Violated);
    let corrected = runs("ricart-agrawala", 3, &[], &plan);
    assert_verdict(&corrected, HB, Holds);
    assert_verdict(&corrected, S1, Holds);
}

#[test]
fn one_silent_peer_blocks_the_permission_algorithms() {
    let plan = Plan { faults: vec![crash(2, 0)], workload: asks(&[(1, 0)]), ..Plan::default() };
    for (id, set) in PERMISSION {
        assert_verdict(&runs(id, 3, set, &plan), V1, Violated);
        let control = Plan { faults: Vec::new(), ..plan.clone() };
        assert_verdict(&runs(id, 3, set, &control), V1, Holds);
    }
}

#[test]
fn maekawa_deadlocks_without_sanders_rule() {
    let plan = Plan {
        workload: asks(&[(0, 0), (0, 1), (0, 2), (0, 3)]),
        rules: vec![late(0, 3, "REQUEST", 2), late(3, 4, "REQUEST", 2)],
        ..Plan::default()
    };
    let stuck = runs("maekawa", 7, &[("sanders", "false")], &plan);
    assert_verdict(&stuck, V1, Violated);
    assert_eq!((stuck.mutex().entries, stuck.messages), (0, 13));
    let freed = runs("maekawa", 7, &[], &plan);
    assert_verdict(&freed, V2, Holds);
    assert_eq!((freed.messages, order(&freed)), (26, vec![1, 0, 2, 3]));
}

/// Node 0 asks, tells node 5, and node 5 asks later: yet 5 enters first.
#[test]
fn maekawa_does_not_keep_causal_order() {
    let line = |at, node, act| ScriptLine { at: Ticks::units(at), node: NodeId(node), act };
    let script =
        vec![line(0, 0, Act::Acquire), line(0, 0, Act::Tell(NodeId(5))), line(1, 5, Act::Acquire)];
    let plan = Plan {
        workload: Workload::Script(script),
        rules: vec![late(0, 1, "REQUEST", 10)],
        ..Plan::default()
    };
    let outcome = runs("maekawa", 7, &[], &plan);
    assert_eq!(order(&outcome), [5, 0]);
    assert_verdict(&outcome, HB, Violated);
    assert_verdict(&runs("ricart-agrawala", 7, &[], &plan), HB, Holds);
}

#[test]
fn a_lost_token_is_never_seen_again() {
    for (id, kind) in TOKEN {
        let plan = Plan { rules: vec![lost(0, 1, kind)], ..Plan::default() };
        let outcome = runs(id, 5, &[], &plan);
        assert_verdict(&outcome, V1, Violated);
        assert_verdict(&outcome, S1, Holds);
        assert_verdict(&runs(id, 5, &[], &Plan::default()), V1, Holds);
    }
}

#[test]
fn a_ring_cut_by_a_crash_stalls() {
    for node in [0, 3] {
        let plan = Plan { faults: vec![crash(node, 5)], ..Plan::default() };
        assert_verdict(&runs("token-ring", 5, &[], &plan), V1, Violated);
    }
}

#[test]
fn an_amnesiac_starves_itself_in_suzuki_kasami() {
    let plan = |amnesia| Plan {
        workload: asks(&[(0, 1), (20, 1), (40, 1)]),
        faults: vec![crash(1, 35), restart(1, 36, amnesia)],
        latency: Latency::Constant(Ticks::UNIT),
        ..Plan::default()
    };
    // Node 1 loses the token it holds, too: nobody ever enters again.
    assert_verdict(&runs("suzuki-kasami", 3, &[], &plan(true)), V2, Violated);
    assert_verdict(&runs("suzuki-kasami", 3, &[], &plan(false)), V2, Holds);
}
