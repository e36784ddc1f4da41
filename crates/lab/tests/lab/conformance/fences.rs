//! Fences whose counter has a small field: a term is soon used up, and whoever waits enters in the
//! next one.

use super::support::{assert_verdict, crash, restart, sent, setting};
use conclave_algorithms::catalog::shared_election;
use conclave_algorithms::election::any::AnyElection;
use conclave_algorithms::mutex::central_failover::CentralFailover;
use conclave_algorithms::mutex::epoch::{Ballot, Mode, Setup};
use conclave_algorithms::mutex::token_ring_regenerating::TokenRingRegenerating;
use conclave_check::{Checkable, Limits};
use conclave_core::Property::{F1, S1, S1Eff, V1, V2};
use conclave_core::Verdict::Holds;
use conclave_core::election::Election;
use conclave_core::mutex::Mutex;
use conclave_core::{Bounds, Cluster, FenceLayout, NodeId, Process, Stack, Ticks, Timing};
use conclave_sim::{Options, Outcome, Plan, Runnable};

const MODES: [Mode; 3] = [Mode::Lease, Mode::Strict, Mode::Fence];

fn setup(n: u32, mode: Mode, election: &str, counter_bits: u32) -> Setup {
    Setup {
        n,
        mode,
        ballot: if election == "majority" { Ballot::Majority } else { Ballot::Own },
        lease: Ticks::units(50),
        retransmit: Ticks::units(25),
        notice: Ticks::units(10),
        certain: true,
        fences: FenceLayout::new(counter_bits),
    }
}

/// A lock on the election of that name, and that on a perfect detector.
fn cluster<U>(n: u32, election: &str, fresh: fn(NodeId, Setup) -> U, setup: Setup) -> Stacked<U>
where
    U: Process<Provides = Mutex, Uses = Election>,
{
    let set = [("election", election), ("detector", "perfect")];
    let lower = shared_election(&setting("central-failover", n, &set)).expect("it can be set");
    let fresh = move |me| Stack { upper: fresh(me, setup), lower: lower(me) };
    Cluster { silent: false, ..Cluster::of_equals(n, fresh) }
}

type Stacked<U> = Cluster<Stack<U, AnyElection>>;

fn run<U>(cluster: &Stacked<U>, plan: &Plan) -> Outcome
where
    U: Process<Provides = Mutex, Uses = Election>,
{
    cluster.run(plan, &Options::default()).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_coordinator_goes_on_in_a_new_term_whenever_one_is_used_up() {
    for election in ["majority", "bully", "ring"] {
        for (mode, n) in MODES.into_iter().flat_map(|mode| [1, 3].map(|n| (mode, n))) {
            let cluster = cluster(n, election, CentralFailover::new, setup(n, mode, election, 2));
            let plan = Plan { rounds: 20, ..Plan::default() };
            let outcome = run(&cluster, &plan);
            for property in [S1, S1Eff, V1, V2, F1] {
                assert_verdict(&outcome, property, Holds);
            }
            // Three entries per term, and the others are told of each new one.
            let entries = u64::from(20 * n);
            assert_eq!(outcome.mutex().entries, entries, "{election} {mode:?}");
            let terms = entries.div_ceil(3) - 1;
            let told = sent(&outcome, "NEW_COORD");
            assert!(told >= terms * u64::from(n - 1), "{election} {mode:?}: {told} of {terms}");
        }
    }
}

/// Without an end to the counter the first leader's fences would be larger than the next one's.
#[test]
fn fences_rise_over_failovers_however_many_a_leader_gave_out() {
    for mode in [Mode::Lease, Mode::Strict] {
        for at in [60, 100, 140, 180] {
            let cluster =
                cluster(3, "majority", CentralFailover::new, setup(3, mode, "majority", 2));
            let faults = vec![crash(2, at), restart(2, at + 100, false), crash(1, at + 300)];
            let plan = Plan { rounds: 20, faults, ..Plan::default() };
            let outcome = run(&cluster, &plan);
            for property in [S1, V1, V2, F1] {
                assert_verdict(&outcome, property, Holds);
            }
            assert!(outcome.mutex().entries > 30, "{mode:?}, crash at {at}");
        }
    }
}

/// A new token skips 4,096 fences, so the field cannot be as small as for a coordinator.
#[test]
fn a_token_that_has_used_up_its_term_is_replaced_in_the_next() {
    for (election, n) in [("majority", 1), ("majority", 3), ("bully", 1), ("bully", 3)] {
        let setup = setup(n, Mode::Lease, election, 13);
        let cluster = cluster(n, election, TokenRingRegenerating::new, setup);
        let rounds = 12_500 / n;
        let critical_section = Ticks(1);
        let until = Ticks::units(1_000_000);
        let plan = Plan { rounds, critical_section, until, ..Plan::default() };
        let outcome = run(&cluster, &plan);
        for property in [S1, V1, V2, F1] {
            assert_verdict(&outcome, property, Holds);
        }
        assert_eq!(outcome.mutex().entries, u64::from(rounds * n), "{election}");
        assert_eq!(sent(&outcome, "FREEZE") > 0, n > 1, "{election}");
    }
}

/// In every run within these bounds, where each entry uses up a term. It takes no timer to go on.
#[test]
fn every_run_in_which_each_entry_takes_a_term_of_its_own_is_safe() {
    for election in ["majority", "ring"] {
        let setup = setup(2, Mode::Lease, election, 1);
        let cluster = cluster(2, election, CentralFailover::new, setup);
        for (timeouts, promised) in [(0, &[S1, S1Eff, F1, V1][..]), (1, &[S1, S1Eff, F1])] {
            let bounds = Bounds {
                requests: Some(2),
                timeouts: Some(timeouts),
                timing: Timing::Synchronous,
                ..Bounds::default()
            };
            let report = cluster.check(&bounds, &Limits::default(), &|_| {});
            for &property in promised {
                let verdict = report.verdict(property);
                assert_eq!(verdict, Holds, "{election}: {property}, {timeouts} timeouts");
            }
        }
    }
}
