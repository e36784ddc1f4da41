//! What the algorithms that stand on an election survive, and what breaks the weaker modes.

use super::support::{asks, assert_verdict, crash, led, order, setting, simulate};
use conclave_core::Property::{F1, S1, S1Eff, V1, V2};
use conclave_core::Verdict::{Holds, Violated};
use conclave_core::{NodeId, Ticks};
use conclave_sim::{Action, Fault, MessageRule, Outcome, Plan, Workload};

fn runs(id: &str, set: &[(&str, &str)], plan: &Plan) -> Outcome {
    simulate(&setting(id, 5, set), plan)
}

#[test]
fn any_minority_may_crash_in_every_mode() {
    for id in led() {
        for set in [
            [("mode", "lease"), ("detector", "phi-accrual")],
            [("mode", "strict"), ("detector", "perfect")],
            [("mode", "fence"), ("detector", "phi-accrual")],
        ] {
            for (first, second) in [(4, 3), (4, 0), (0, 1), (2, 4)] {
                let faults = vec![crash(first, 5), crash(second, 25)];
                let outcome = runs(id, &set, &Plan { faults, ..Plan::default() });
                for property in [S1, S1Eff, V1, V2, F1] {
                    assert_verdict(&outcome, property, Holds);
                }
            }
        }
    }
}

/// Whoever had asked, but had no place in line yet, is not passed over for ever by those who ask
/// the new leader first.
#[test]
fn nobody_is_passed_over_for_long_after_a_failover_under_saturation() {
    for id in led() {
        for after in [500, 1_500, 2_500, 7_300] {
            let plan = Plan {
                workload: Workload::Closed(Ticks::ZERO),
                rounds: 60,
                critical_section: Ticks::units(3),
                faults: vec![(Ticks(after), Fault::Crash(NodeId(3)))],
                ..Plan::default()
            };
            let outcome = simulate(&setting(id, 4, &[]), &plan);
            let bypass = outcome.mutex().bypass_max;
            assert!(bypass <= 2 * 4, "{id}, crash at {after}: passed over {bypass} times");
            assert_verdict(&outcome, V2, Holds);
        }
    }
}

/// Nobody can know that the coordinator will not come back with a hold that it granted.
#[test]
fn strict_on_a_real_detector_waits_for_the_dead_without_end() {
    for id in led() {
        let (faults, until) = (vec![crash(4, 5)], Ticks::units(5_000));
        let plan = Plan { faults, until, workload: asks(&[(50, 0), (50, 1)]), ..Plan::default() };
        for (detector, verdict) in [("heartbeat", Violated), ("perfect", Holds)] {
            // A token that is not lost goes on without a leader.
            let lost = Plan { faults: vec![crash(0, 53)], ..plan.clone() };
            let plan = if id == "central-failover" { &plan } else { &lost };
            let outcome = runs(id, &[("mode", "strict"), ("detector", detector)], plan);
            assert_verdict(&outcome, V1, verdict);
            assert_verdict(&outcome, S1, Holds);
        }
    }
}

/// Coordinator 4 wrongly suspects node 0, which is inside; node 2 waits.
#[test]
fn a_wrong_suspicion_costs_the_fence_mode_s1_but_not_the_resource() {
    let (by, of, span) = (NodeId(4), NodeId(0), Some(Ticks::units(30)));
    let plan = Plan {
        workload: asks(&[(0, 0), (5, 2)]),
        critical_section: Ticks::units(40),
        faults: vec![(Ticks::units(10), Fault::Suspect { by, of, span })],
        ..Plan::default()
    };
    let perfect = ("detector", "perfect");
    let fenced = runs("central-failover", &[("mode", "fence"), perfect], &plan);
    assert_verdict(&fenced, S1, Violated);
    assert_verdict(&fenced, S1Eff, Holds);
    let leased = runs("central-failover", &[perfect], &plan);
    assert_verdict(&leased, S1, Holds);
    assert_verdict(&leased, V2, Holds);
}

/// Nodes 0 and 4 on one side, the others on the other; somebody on each side asks.
#[test]
fn a_partition_has_two_leaders_unless_a_majority_elects() {
    let groups = vec![[0, 4].map(NodeId).into(), [1, 2, 3].map(NodeId).into()];
    let until = Ticks::units(900);
    let plan = Plan {
        workload: asks(&[(100, 0), (100, 1)]),
        critical_section: Ticks::units(300),
        faults: vec![(Ticks::units(10), Fault::Partition { groups, until })],
        ..Plan::default()
    };
    for id in led() {
        for election in ["bully", "ring"] {
            assert_verdict(&runs(id, &[("election", election)], &plan), S1, Violated);
        }
        let by_majority = runs(id, &[], &plan);
        for property in [S1, S1Eff, V2, F1] {
            assert_verdict(&by_majority, property, Holds);
        }
    }
}

/// With the holder on the smaller side, what a majority grants next must wait for its lease.
#[test]
fn a_lease_keeps_out_the_second_while_a_holder_is_cut_off() {
    let groups = vec![[0, 4].map(NodeId).into(), [1, 2, 3].map(NodeId).into()];
    let plan = Plan {
        workload: asks(&[(0, 0), (5, 2)]),
        critical_section: Ticks::units(40),
        faults: vec![(Ticks::units(6), Fault::Partition { groups, until: Ticks::units(500) })],
        ..Plan::default()
    };
    assert_verdict(&runs("central-failover", &[], &plan), S1, Holds);
    assert_verdict(&runs("central-failover", &[], &plan), V2, Holds);
    let strict = |detector| {
        let set = [("mode", "strict"), ("detector", detector)];
        runs("central-failover", &set, &plan)
    };
    assert_verdict(&strict("perfect"), S1, Violated); // It calls whoever is cut off dead.
    assert_verdict(&strict("phi-accrual"), S1, Holds);
    assert_verdict(&strict("phi-accrual"), V2, Holds);
    let longer = Plan { critical_section: Ticks::units(200), ..plan };
    let outstayed = runs("central-failover", &[], &longer);
    assert_verdict(&outstayed, S1, Violated);
    assert_verdict(&outstayed, S1Eff, Holds);
    assert_eq!(outstayed.mutex().refused, 1, "the fence refuses who stayed too long");
}

/// Node 1 is inside, 2 and then 0 wait, and coordinator 4 crashes.
#[test]
fn after_a_failover_the_line_goes_on_where_it_was() {
    for mode in ["lease", "strict", "fence"] {
        for election in ["majority", "bully", "ring"] {
            let plan = Plan {
                workload: asks(&[(0, 1), (1, 2), (2, 0)]),
                faults: vec![crash(4, 5)],
                critical_section: Ticks::units(30),
                ..Plan::default()
            };
            let set = [("mode", mode), ("election", election), ("detector", "perfect")];
            let outcome = runs("central-failover", &set, &plan);
            assert_eq!(order(&outcome), [1, 2, 0], "{mode} {election}");
            assert!(outcome.messages_by_kind.contains(&("STATE", 3)), "{mode} {election}");
            for property in [S1, V2, F1] {
                assert_verdict(&outcome, property, Holds);
            }
        }
    }
}

#[test]
fn a_holder_that_crashes_takes_no_one_with_it() {
    for detector in ["phi-accrual", "heartbeat", "adaptive", "perfect"] {
        let plan = Plan { faults: vec![crash(1, 15)], ..Plan::default() };
        for id in led() {
            let outcome = runs(id, &[("detector", detector)], &plan);
            for property in [S1, V2, F1] {
                assert_verdict(&outcome, property, Holds);
            }
            let entered_before_its_crash = u64::from(id == "token-ring-regenerating");
            assert_eq!(outcome.mutex().entries, 4 + entered_before_its_crash, "{id} {detector}");
        }
    }
}

#[test]
fn a_lost_token_message_is_only_late() {
    let (from, to) = (Some(NodeId(0)), Some(NodeId(1)));
    let rule =
        MessageRule { from, to, kind: Some("TOKEN".into()), nth: Some(1), action: Action::Drop };
    let plan = Plan { rules: vec![rule], ..Plan::default() };
    let outcome = runs("token-ring-regenerating", &[], &plan);
    assert_verdict(&outcome, V2, Holds);
    assert!(!outcome.messages_by_kind.iter().any(|(kind, _)| *kind == "FREEZE"));
}
