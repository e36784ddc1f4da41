//! Node identities and sets of nodes: who is who.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A node, as an index from 0. What people see and type is the index plus one, or a label.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct NodeId(pub u32);

impl NodeId {
    /// The next node on a ring of `n`.
    pub fn successor(self, n: u32) -> Self {
        Self(if self.0 + 1 >= n { 0 } else { self.0 + 1 })
    }

    /// The index, for arrays with one place per node.
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// A mark that stands for this node in a text, `{3}`: whoever shows the text puts in the name.
    pub fn mark(self) -> String {
        format!("{{{}}}", self.0)
    }

    /// Every node but this one, in order, out of `n`.
    pub fn others(self, n: u32) -> impl Iterator<Item = Self> {
        (0..n).map(Self).filter(move |&other| other != self)
    }
}

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0 + 1)
    }
}

/// A set of nodes, one bit each. Iterates in order of index.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct NodeSet {
    words: Vec<u64>,
    len: u32,
}

impl NodeSet {
    /// The empty set, with room for the nodes 0 to `n`-1.
    pub fn new(n: u32) -> Self {
        Self { words: vec![0; n.div_ceil(64) as usize], len: 0 }
    }

    /// Adds a node; false if it was there already.
    pub fn insert(&mut self, node: NodeId) -> bool {
        let (word, bit) = Self::place(node);
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        let fresh = self.words[word] & bit == 0;
        self.words[word] |= bit;
        self.len += u32::from(fresh);
        fresh
    }

    /// Takes a node out; false if it was not there.
    pub fn remove(&mut self, node: NodeId) -> bool {
        let (word, bit) = Self::place(node);
        let present = self.contains(node);
        if present {
            self.words[word] &= !bit;
            self.len -= 1;
        }
        present
    }

    /// Whether the node is in the set.
    pub fn contains(&self, node: NodeId) -> bool {
        let (word, bit) = Self::place(node);
        self.words.get(word).is_some_and(|bits| bits & bit != 0)
    }

    /// How many nodes are in the set.
    pub fn len(&self) -> u32 {
        self.len
    }

    /// Whether nobody is in the set.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Empties the set and keeps its room.
    pub fn clear(&mut self) {
        self.words.fill(0);
        self.len = 0;
    }

    /// The members, in order of index.
    pub fn iter(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.words.iter().enumerate().flat_map(|(word, &bits)| {
            let ones = std::iter::successors(Some(bits), |&rest| Some(rest & (rest - 1)));
            ones.take(bits.count_ones() as usize)
                .map(move |rest| NodeId(word as u32 * 64 + rest.trailing_zeros()))
        })
    }

    fn place(node: NodeId) -> (usize, u64) {
        (node.index() / 64, 1 << (node.0 % 64))
    }
}

impl FromIterator<NodeId> for NodeSet {
    fn from_iter<I: IntoIterator<Item = NodeId>>(nodes: I) -> Self {
        let mut set = Self::default();
        for node in nodes {
            set.insert(node);
        }
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ring_closes() {
        assert_eq!(NodeId(0).successor(3), NodeId(1));
        assert_eq!(NodeId(2).successor(3), NodeId(0));
        assert_eq!(NodeId(0).successor(1), NodeId(0));
    }

    #[test]
    fn a_set_counts_and_iterates_in_order() {
        let mut set: NodeSet = [70, 3, 64, 3, 0].map(NodeId).into_iter().collect();
        assert_eq!(set.len(), 4);
        assert_eq!(set.iter().collect::<Vec<_>>(), [0, 3, 64, 70].map(NodeId));
        assert!(set.remove(NodeId(64)) && !set.remove(NodeId(64)) && !set.remove(NodeId(999)));
        assert_eq!(set.iter().collect::<Vec<_>>(), [0, 3, 70].map(NodeId));
        set.clear();
        assert!(set.is_empty() && set.iter().next().is_none());
    }

    #[test]
    fn people_count_from_one() {
        assert_eq!(NodeId(0).to_string(), "1");
    }
}
