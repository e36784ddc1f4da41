//! The elections that survive crashes: known totals, and what is left after faults.

use crate::support::{assert_kept, assert_verdict, crash, restart, setting, simulate};
use conclave_core::Property::{E1, E1Term, E2};
use conclave_core::Verdict::{Holds, Violated};
use conclave_core::{NodeId, Ticks};
use conclave_sim::{Fault, Latency, Outcome, Plan};
use std::collections::BTreeMap;

fn nodes(ids: &[u32]) -> Vec<NodeId> {
    ids.iter().map(|id| NodeId(id - 1)).collect()
}

/// These nodes dead from the start, and these the ones that notice, as people number them.
fn plan(dead: &[u32], start: &[u32]) -> Plan {
    Plan { dead: nodes(dead), start: nodes(start), ..Plan::default() }
}

fn run(id: &str, n: u32, set: &[(&str, &str)], plan: &Plan) -> Outcome {
    simulate(&setting(id, n, set), plan)
}

fn leader(outcome: &Outcome) -> Option<u32> {
    outcome.election().leader.map(|leader| leader.0 + 1)
}

#[test]
fn bully_costs_what_the_books_count() {
    let of = |n, dead: &[u32], start: &[u32], set: &[_]| {
        let outcome = run("bully", n, set, &plan(dead, start));
        (outcome.messages, leader(&outcome))
    };
    assert_eq!(of(7, &[7], &[4], &[]), (14, Some(6)));
    assert_eq!(of(7, &[7], &[4], &[("announce", "all")]), (15, Some(6)));
    assert_eq!(of(4, &[4], &[2], &[]), (6, Some(3)));
    assert_eq!(of(7, &[7], &[1], &[]), (41, Some(6)));
    assert_eq!(of(7, &[7], &[6], &[]), (6, Some(6)));
    assert_eq!(of(7, &[7], &[1, 2, 3, 4, 5, 6], &[]), (41, Some(6)));
    assert_eq!(of(7, &[6, 7], &[4], &[]), (10, Some(5)));
}

#[test]
fn bully_replaces_one_that_answers_and_dies() {
    let plan = Plan { faults: vec![crash(2, 3)], ..plan(&[4], &[1]) };
    let outcome = run("bully", 4, &[], &plan);
    assert_eq!((outcome.messages, leader(&outcome)), (16, Some(2)));
}

#[test]
fn bully_splits_over_a_replacement_unless_terms_are_compared() {
    let near = Latency::Constant(Ticks(200));
    let links = [(NodeId(3), NodeId(0)), (NodeId(2), NodeId(1))].map(|link| (link, near.clone()));
    let others = Box::new(Latency::Constant(Ticks::UNIT));
    let latency = Latency::Links { others, links: BTreeMap::from(links) };
    let faults = vec![(Ticks(1_500), Fault::Restart { node: NodeId(3), amnesia: true })];
    let plan = Plan { latency, faults, ..plan(&[4], &[3]) };
    let outcome = run("bully", 4, &[], &plan);
    assert_verdict(&outcome, E1, Violated);
    assert_eq!(outcome.election().beliefs, [2, 3, 3, 3].map(|node| Some(NodeId(node))));
    let outcome = run("bully", 4, &[("terms", "true")], &plan);
    assert_verdict(&outcome, E1, Holds);
    assert_eq!(leader(&outcome), Some(4));
}

#[test]
fn the_highest_that_comes_back_takes_over() {
    let plan = Plan { faults: vec![restart(6, 50, false)], ..plan(&[7], &[6]) };
    let outcome = run("bully", 7, &[], &plan);
    assert_eq!((outcome.messages, leader(&outcome)), (6 + 6, Some(7)));
}

#[test]
fn bully_as_printed_elects_nobody() {
    let outcome = run("bully", 4, &[("text", "seed")], &plan(&[4], &[1]));
    assert_verdict(&outcome, E2, Violated);
}

#[test]
fn ring_costs_two_laps_for_each_that_begins() {
    let of = |n, dead: &[u32], start: &[u32], set: &[_]| {
        let outcome = run("ring", n, set, &plan(dead, start));
        (outcome.messages, leader(&outcome))
    };
    assert_eq!(of(8, &[8], &[3, 6], &[]), (28, Some(7)));
    assert_eq!(of(8, &[8], &[3], &[]), (14, Some(7)));
    assert_eq!(of(8, &[8], &[3], &[("choose", "min")]), (14, Some(1)));
    assert_eq!(of(2, &[], &[1], &[]), (4, Some(2)));
    assert_eq!(of(2, &[2], &[1], &[]), (0, Some(1)));
}

#[test]
fn a_majority_takes_three_rounds() {
    let outcome = run("majority", 5, &[], &plan(&[], &[1]));
    for kind in ["REQUEST_VOTE", "VOTE", "HEARTBEAT"] {
        assert!(outcome.messages_by_kind.contains(&(kind, 4)), "{:?}", outcome.messages_by_kind);
    }
    assert_eq!(leader(&outcome), Some(1));
}

#[test]
fn promises_are_kept_whatever_the_latencies_and_one_crash() {
    for (id, set) in [("bully", [("terms", "true")].as_slice()), ("ring", &[]), ("majority", &[])] {
        for seed in 0..100 {
            let setting = setting(id, 5, set);
            let at = 10 + seed;
            let plan = Plan {
                seed,
                latency: Latency::Uniform(Ticks(1), Ticks::UNIT),
                faults: vec![crash(4, at), restart(4, at + 30, false)],
                start: nodes(&[1, 3]),
                ..Plan::default()
            };
            let outcome = simulate(&setting, &plan);
            assert_kept(&setting, &plan, &outcome);
            assert_verdict(&outcome, E1Term, Holds);
        }
    }
}
