//! The states of the nodes between the steps, and who waits for whom.

use super::recorded;
use conclave_algorithms::catalog::{Setting, find};
use conclave_core::{Facet, NodeId, Ticks};
use conclave_sim::trace::{Explained, FacetShown, Field, Question, facets};
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
        let mut missing: Vec<Facet> = entry.facets.to_vec();
        let settings = super::settings(entry);
        // Those with an oracle in the place of a detector come last, and have the shortest runs.
        let runs = settings.iter().rev().flat_map(|setting| {
            let plans = super::plans(entry.family, 2).into_iter().rev();
            plans.map(move |plan| (setting, plan))
        });
        for (setting, plan) in runs {
            look_for(&mut missing, setting, &plan);
            if missing.is_empty() {
                break;
            }
        }
        assert!(missing.is_empty(), "{}: {missing:?}", entry.id);
    }
}

/// Takes away those that some node has at some moment of a run.
fn look_for(missing: &mut Vec<Facet>, setting: &Setting, plan: &Plan) {
    let Some((run, _, cluster)) = recorded(setting, plan) else { return };
    let len = run.records.len();
    // What is rare is found sooner by looking here and there than from the beginning on.
    let stride = len / GLANCES + 1;
    let passes = if len > SHORT { 1 } else { stride };
    let places = (0..passes).flat_map(|first| (first..=len).step_by(stride));
    for at in places {
        if missing.is_empty() {
            return;
        }
        let told = cluster.explain(&run, &Question { window: 0..0, at }).expect("as recorded");
        for node in &told.nodes {
            let shown = facets(&node.fields, missing);
            let found = |facet: &Facet| shown.iter().any(|shown| is_found(shown, facet));
            missing.retain(|facet| !found(facet));
        }
    }
}

/// Each moment is worked out from the beginning: of runs with more records than this, few are
/// looked at.
const SHORT: usize = 600;
/// So few.
const GLANCES: usize = 20;

/// Whether it has somebody in it: an empty set or queue would show nothing.
fn is_found(shown: &FacetShown, facet: &Facet) -> bool {
    let empty = shown.nodes.is_empty() && shown.items.is_empty();
    shown.facet == *facet && !empty
}
