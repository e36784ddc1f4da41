//! The states of the nodes between the steps, and who waits for whom.

use super::recorded;
use conclave_algorithms::catalog::{Setting, find};
use conclave_core::NodeId;
use conclave_core::Ticks;
use conclave_sim::trace::{Explained, Field, Question, facets};
use conclave_sim::{Ending, Latency, Plan};

fn setting(id: &str, n: u32, set: &[(&str, &str)]) -> Setting {
    find(id).and_then(|entry| entry.setting(n, set)).unwrap_or_else(|error| panic!("{error}"))
}

fn plan(seed: u64) -> Plan {
    Plan { seed, latency: Latency::Exponential(Ticks::units(3)), ..Plan::default() }
}

/// The nodes after each record, and before all.
fn moments(setting: &Setting, plan: &Plan) -> Vec<Explained> {
    let (run, _, cluster) = recorded(setting, plan).expect("a plan that fits");
    let ask = |at| cluster.explain(&run, &Question { window: 0..0, at });
    (0..=run.records.len()).map(|at| ask(at).expect("as recorded")).collect()
}

#[test]
fn what_is_marked_as_changed_is_what_differs_from_the_moment_before() {
    for id in ["ricart-agrawala", "maekawa", "central"] {
        let moments = moments(&setting(id, 3, &[]), &plan(2));
        let mut changes = 0;
        for pair in moments.windows(2) {
            for (before, after) in pair[0].nodes.iter().zip(&pair[1].nodes) {
                let gone = |field: &&Field| !after.fields.contains(field);
                let expected: Vec<&Field> = before.fields.iter().filter(gone).collect();
                assert_eq!(after.changed.iter().collect::<Vec<_>>(), expected, "{id}");
                changes += expected.len();
            }
        }
        assert!(changes > 10, "{id}: {changes}");
    }
}

/// Whether somebody waits for itself, in the end.
fn is_cyclic(moment: &Explained) -> bool {
    let edges: Vec<(NodeId, NodeId)> =
        moment.nodes.iter().flat_map(|node| &node.waits).copied().collect();
    let mut reached: Vec<(NodeId, NodeId)> = edges.clone();
    loop {
        let known = reached.len();
        for (from, to) in edges.clone() {
            let behind: Vec<NodeId> =
                reached.iter().filter(|(via, _)| *via == to).map(|(_, end)| *end).collect();
            for end in behind {
                if !reached.contains(&(from, end)) {
                    reached.push((from, end));
                }
            }
        }
        if reached.len() == known {
            return reached.iter().any(|(from, to)| from == to);
        }
    }
}

#[test]
fn a_deadlock_is_a_cycle_of_those_that_wait_for_each_other() {
    let without = setting("maekawa", 7, &[("sanders", "false")]);
    let stuck = (1..500).map(plan).find(|plan| {
        let (_, outcome, _) = recorded(&without, plan).expect("a plan that fits");
        outcome.ending == Ending::Quiet && outcome.mutex().entries < 7
    });
    let plan = stuck.expect("without Sanders' rule some run gets stuck");
    let (run, _, cluster) = recorded(&without, &plan).expect("as before");
    let end = cluster.explain(&run, &Question::all(&run)).expect("as recorded");
    assert!(is_cyclic(&end), "{:?}", end.nodes.iter().map(|node| &node.waits).collect::<Vec<_>>());
}

#[test]
fn who_waits_by_an_order_of_requests_never_waits_in_a_circle() {
    for id in ["ricart-agrawala", "lamport", "central", "suzuki-kasami", "raymond", "naimi-trehel"]
    {
        for seed in 1..5 {
            let moments = moments(&setting(id, 4, &[]), &plan(seed));
            assert!(moments.iter().all(|moment| !is_cyclic(moment)), "{id} seed {seed}");
            let waits =
                moments.iter().any(|moment| moment.nodes.iter().any(|n| !n.waits.is_empty()));
            assert!(waits, "{id} seed {seed}: nobody ever waits");
        }
    }
}

#[test]
fn every_facet_that_a_row_declares_is_found_in_some_state() {
    for entry in super::explained_rows() {
        let mut found = vec![false; entry.facets.len()];
        for setting in super::settings(entry) {
            for plan in super::plans(entry.family, 2).into_iter().take(2) {
                for node in super::explained(&setting, &plan) {
                    for shown in facets(&node.fields, entry.facets) {
                        let place = entry.facets.iter().position(|facet| *facet == shown.facet);
                        found[place.expect("one of them")] = true;
                    }
                }
            }
        }
        let missing: Vec<_> = entry.facets.iter().zip(found).filter(|(_, found)| !found).collect();
        // An edge or a vote may be nobody's when a run is over; nor is a token made anew then, or
        // anybody suspected.
        let lasting = |facet: &&(&conclave_core::Facet, bool)| {
            let passing = ["regeneration.reports", "suspects"].contains(&facet.0.field);
            matches!(facet.0.kind, conclave_core::FacetKind::Set) && !passing
        };
        let left: Vec<_> = missing.iter().filter(lasting).collect();
        assert!(left.is_empty(), "{}: {left:?}", entry.id);
    }
}
