//! What the algorithms that stand on an election survive, and what breaks the weaker modes.

use crate::support::{asks, assert_verdict, crash, setting, simulate};
use conclave_core::Property::{F1, S1, S1Eff, V1, V2};
use conclave_core::Verdict::{Holds, Violated};
use conclave_core::{NodeId, Ticks};
use conclave_sim::{Fault, Outcome, Plan};

const BOTH: [&str; 2] = ["central-failover", "token-ring-regenerating"];

fn runs(id: &str, set: &[(&str, &str)], plan: &Plan) -> Outcome {
    simulate(&setting(id, 5, set), plan)
}

#[test]
fn any_minority_may_crash_in_every_mode() {
    for id in BOTH {
        for mode in ["lease", "strict", "fence"] {
            for (first, second) in [(4, 3), (4, 0), (0, 1), (2, 4)] {
                let faults = vec![crash(first, 5), crash(second, 25)];
                let outcome = runs(id, &[("mode", mode)], &Plan { faults, ..Plan::default() });
                for property in [S1, S1Eff, V1, V2, F1] {
                    assert_verdict(&outcome, property, Holds);
                }
            }
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
    let fenced = runs("central-failover", &[("mode", "fence")], &plan);
    assert_verdict(&fenced, S1, Violated);
    assert_verdict(&fenced, S1Eff, Holds);
    let leased = runs("central-failover", &[], &plan);
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
    for id in BOTH {
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
    assert_verdict(&runs("central-failover", &[("mode", "strict")], &plan), S1, Violated);
    let longer = Plan { critical_section: Ticks::units(200), ..plan };
    let outstayed = runs("central-failover", &[], &longer);
    assert_verdict(&outstayed, S1, Violated);
    assert_verdict(&outstayed, S1Eff, Holds);
    assert_eq!(outstayed.mutex().refused, 1, "the fence refuses who stayed too long");
}
