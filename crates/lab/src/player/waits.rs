//! Who waits for whom, and whether they wait in a circle (deadlock).

use conclave_core::NodeId;
use std::collections::{BTreeMap, BTreeSet};

/// A cycle among those that wait, its first node once more at its end; none if there is none.
pub fn cycle(waits: &[(NodeId, NodeId)]) -> Option<Vec<NodeId>> {
    let mut edges: BTreeMap<NodeId, Vec<NodeId>> = BTreeMap::new();
    for (from, to) in waits {
        edges.entry(*from).or_default().push(*to);
    }
    let mut done: BTreeSet<NodeId> = BTreeSet::new();
    for &start in edges.keys() {
        let mut path = Vec::new();
        if let Some(cycle) = walk(start, &edges, &mut path, &mut done) {
            return Some(cycle);
        }
    }
    None
}

/// Depth first: whoever is met again on the way closes a circle.
fn walk(
    node: NodeId,
    edges: &BTreeMap<NodeId, Vec<NodeId>>,
    path: &mut Vec<NodeId>,
    done: &mut BTreeSet<NodeId>,
) -> Option<Vec<NodeId>> {
    if let Some(place) = path.iter().position(|known| *known == node) {
        let mut cycle = path[place..].to_vec();
        cycle.push(node);
        return Some(cycle);
    }
    if done.contains(&node) {
        return None;
    }
    path.push(node);
    let next = edges.get(&node).map(Vec::as_slice).unwrap_or_default();
    let found = next.iter().find_map(|next| walk(*next, edges, path, done));
    path.pop();
    done.insert(node);
    found
}
