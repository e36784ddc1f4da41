//! Which nodes a lock cannot do without: what the rows say, and the lock service tells people,
//! held against runs in which nodes are down.

use super::support::{asks, crash, rows, simulate};
use conclave_algorithms::catalog::{Family, Needs, Part, Setting};
use conclave_core::{NodeId, Ticks};
use conclave_lab::machines::{Chosen, Machines, Settings};
use conclave_sim::Plan;

const N: u32 = 5;

/// The locks of that algorithm as five nodes of a network have them.
fn locks(id: &str) -> Setting {
    let chosen = |id: &str| Chosen { id: id.to_string(), set: Vec::new() };
    let settings = Settings {
        nodes: N,
        engine: chosen(id),
        election: chosen("majority"),
        detector: chosen("phi-accrual"),
    };
    let machines = Machines::new(&settings, NodeId(0)).unwrap_or_else(|error| panic!("{error}"));
    machines.locks().clone()
}

/// Every set of nodes that are down, but for all and none.
fn outages() -> impl Iterator<Item = Vec<NodeId>> {
    let down = |set: u32| (0..N).filter(|node| set & (1 << node) != 0).map(NodeId).collect();
    (1..(1 << N) - 1).map(down)
}

/// Who gets in, of those that are up, each asking alone long after the others went down.
fn enter(locks: &Setting, down: &[NodeId]) -> Vec<bool> {
    let asker = |node: &u32| !down.contains(&NodeId(*node));
    let enters = |node| {
        let plan = Plan {
            workload: asks(&[(5_000, node)]),
            faults: down.iter().map(|node| crash(node.0, 0)).collect(),
            until: Ticks::units(30_000),
            ..Plan::default()
        };
        simulate(locks, &plan).mutex().entries == 1
    };
    (0..N).filter(asker).map(enters).collect()
}

#[test]
fn a_lock_waits_for_the_nodes_that_its_row_says_it_needs() {
    for entry in rows(Family::Mutex) {
        let (id, locks) = (entry.id, locks(entry.id));
        let needs = Needs::of(&locks);
        let mut somebody_waits = false;
        for down in outages() {
            let entered = enter(&locks, &down);
            somebody_waits |= entered.contains(&false);
            let where_to = format!("{id}, {down:?} down: on_network.needs of its row, {needs:?},");
            match needs.missing(&down, N).map(|(_, part)| part) {
                // Nobody was inside.
                None | Some(Part::MayHold) => {
                    assert!(!entered.contains(&false), "{where_to} says that all get in");
                }
                // Whoever has the token, or all permissions, may not have to ask.
                Some(Part::Needed) if needs == Needs::All => {}
                Some(Part::Needed | Part::Coordinates | Part::Numbers) => {
                    assert!(!entered.contains(&true), "{where_to} says that nobody gets in");
                }
            }
        }
        assert!(somebody_waits, "{id}: nobody ever waits, and on_network.needs says {needs:?}");
    }
}
