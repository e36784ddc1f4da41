//! Who is better than whom, and who may lead at all: what all nodes of an election know.

use conclave_core::{NodeId, NodeSet};
use serde::{Deserialize, Serialize};

/// The order of all nodes. It does not change during a run.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Ranking {
    /// The place of each node, the worst at 0.
    places: Vec<u32>,
    /// Who may lead; everybody if empty.
    candidates: NodeSet,
}

impl Ranking {
    /// Of `n` nodes that may all lead, the one with the greatest key first. Keys must differ.
    pub fn by_key<K: Ord>(n: u32, key: impl Fn(NodeId) -> K) -> Self {
        let mut order: Vec<NodeId> = (0..n).map(NodeId).collect();
        order.sort_by_key(|&node| key(node));
        let mut places = vec![0; n as usize];
        for (place, node) in (0..).zip(order) {
            places[node.index()] = place;
        }
        Self { places, candidates: NodeSet::default() }
    }

    /// The same where only these may lead.
    pub fn with_candidates(self, candidates: NodeSet) -> Self {
        Self { candidates, ..self }
    }

    /// How many nodes there are.
    pub fn n(&self) -> u32 {
        self.places.len() as u32
    }

    /// Whether this node may lead.
    pub fn is_candidate(&self, node: NodeId) -> bool {
        self.candidates.is_empty() || self.candidates.contains(node)
    }

    /// Whether `one` may lead and should do so rather than `other`.
    pub fn beats(&self, one: NodeId, other: NodeId) -> bool {
        let places = (self.places[one.index()], self.places[other.index()]);
        self.is_candidate(one) && (!self.is_candidate(other) || places.0 > places.1)
    }

    /// All that should lead rather than `node`.
    pub fn better_than(&self, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        node.others(self.n()).filter(move |&other| self.beats(other, node))
    }

    /// The one of these that should lead, if any may.
    pub fn best(&self, nodes: impl IntoIterator<Item = NodeId>) -> Option<NodeId> {
        let candidates = nodes.into_iter().filter(|&node| self.is_candidate(node));
        candidates.max_by_key(|node| self.places[node.index()])
    }

    /// The number of a leadership. No two leaders share one, a greater counter makes a greater
    /// term, and of one counter the better leader has the greater.
    pub fn term(&self, counter: u64, leader: NodeId) -> u64 {
        counter * u64::from(self.n()) + u64::from(self.places[leader.index()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_candidate_beats_whoever_is_none_whatever_the_places() {
        let ranking = Ranking::by_key(3, |node| node);
        assert!(ranking.beats(NodeId(2), NodeId(0)) && !ranking.beats(NodeId(0), NodeId(2)));
        let ranking = ranking.with_candidates([NodeId(0)].into_iter().collect());
        assert!(ranking.beats(NodeId(0), NodeId(2)) && !ranking.beats(NodeId(2), NodeId(1)));
        assert_eq!(ranking.better_than(NodeId(1)).collect::<Vec<_>>(), [NodeId(0)]);
        assert_eq!(ranking.best([1, 2].map(NodeId)), None);
    }

    #[test]
    fn terms_follow_the_counter_and_then_the_rank() {
        let ranking = Ranking::by_key(3, std::cmp::Reverse);
        assert_eq!(ranking.best([0, 1, 2].map(NodeId)), Some(NodeId(0)));
        assert!(ranking.term(1, NodeId(0)) > ranking.term(1, NodeId(2)));
        assert!(ranking.term(2, NodeId(2)) > ranking.term(1, NodeId(0)));
    }
}
