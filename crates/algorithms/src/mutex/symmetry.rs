//! Symmetry reduction of the model checker: gives nodes new names where all play the same part.

use conclave_core::{NodeId, NodeSet};

/// The entries of a list with one place per node, each in the place of its node's new name. Where
/// two go by the same name it does not show which was which.
pub(super) fn moved<T: Ord + Copy>(entries: &[T], names: &[NodeId]) -> Vec<T> {
    let mut named: Vec<(NodeId, T)> = names.iter().copied().zip(entries.iter().copied()).collect();
    named.sort_unstable();
    named.into_iter().map(|(_, entry)| entry).collect()
}

/// The new names of a set of nodes, in a set with the same room.
pub(super) fn renamed(set: &NodeSet, names: &[NodeId]) -> NodeSet {
    let mut renamed = NodeSet::new(names.len() as u32);
    for node in set.iter() {
        renamed.insert(names[node.index()]);
    }
    renamed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_move_to_the_new_names_and_those_of_one_name_are_not_told_apart() {
        let names = [2, 0, 1].map(NodeId);
        assert_eq!(moved(&['a', 'b', 'c'], &names), ['b', 'c', 'a']);
        let shared = [1, 0, 1].map(NodeId);
        assert_eq!(moved(&['c', 'b', 'a'], &shared), moved(&['a', 'b', 'c'], &shared));
        let set = [0, 2].map(NodeId).into_iter().collect();
        assert_eq!(renamed(&set, &names).iter().collect::<Vec<_>>(), [1, 2].map(NodeId));
        assert_eq!(renamed(&set, &shared).len(), 1);
    }
}
