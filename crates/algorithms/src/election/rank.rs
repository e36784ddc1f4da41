//! Ranks of nodes: by what an election compares them, and who may lead at all.
//!
//! A [`Rank`] travels in messages where nodes do not know each other beforehand; a [`Ranking`] is
//! the order of all nodes where everybody knows it.

use crate::edges;
use conclave_core::{NodeId, NodeSet};
use serde::{Deserialize, Serialize};
use std::fmt;

/// What a node is worth in an election: an attribute first (a battery's charge, say), the id of the
/// node where attributes are equal. It also says which node it is, so that whoever hears of it
/// can name the leader.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Rank {
    /// What counts first; the same for all where only ids count.
    pub attribute: u32,
    /// What counts then; no two nodes have the same.
    pub id: u64,
    /// Whose rank it is.
    pub node: NodeId,
}

impl Rank {
    /// The rank of a node where only ids count.
    pub const fn of(node: NodeId, id: u64) -> Self {
        Self { attribute: 0, id, node }
    }
}

/// As traces show it: a node, which is shown by its id, and the attribute if there is one.
impl fmt::Debug for Rank {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.attribute {
            0 => write!(f, "{:?}", self.node),
            attribute => write!(f, "{:?}:{attribute}", self.node),
        }
    }
}

/// Which end of the order leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Choose {
    /// The smallest rank.
    Min,
    /// The greatest rank.
    Max,
}

impl Choose {
    /// Whether one rank goes before another.
    pub fn prefers(self, one: Rank, other: Rank) -> bool {
        match self {
            Self::Min => one < other,
            Self::Max => one > other,
        }
    }

    /// The best of these ranks.
    pub fn best(self, ranks: impl Iterator<Item = Rank>) -> Option<Rank> {
        match self {
            Self::Min => ranks.min(),
            Self::Max => ranks.max(),
        }
    }
}

/// The order of all nodes, and who of them may lead. It does not change during a run.
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

/// The attributes of `n` nodes: the same for all if the text is `id`, else what a file gives, which
/// has one number per line, line i that of node i; empty lines and what stands behind a `#` do not
/// count. What is wrong is said in one line.
pub fn attributes(text: &str, n: u32) -> Result<Vec<u32>, String> {
    if text == "id" {
        return Ok(vec![0; n as usize]);
    }
    let mut attributes = Vec::new();
    for (number, line) in (1..).zip(edges::lines(text)).filter(|(_, line)| !line.is_empty()) {
        let shown: String = line.chars().take(40).collect();
        let attribute = line.parse::<u32>().ok().filter(|&attribute| attribute < u32::MAX);
        attributes.push(attribute.ok_or_else(|| {
            format!("line {number}: '{shown}' is not a whole number from 0 to {}", u32::MAX - 1)
        })?);
    }
    if attributes.len() != n as usize {
        let found = attributes.len();
        return Err(format!("{found} numbers for {n} nodes; one line each is needed"));
    }
    Ok(attributes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_attribute_counts_first_and_the_id_breaks_ties() {
        let rank = |attribute, id| Rank { attribute, id, node: NodeId(0) };
        assert!(rank(5, 1) > rank(4, 9) && rank(4, 9) > rank(4, 8));
        assert!(Choose::Min.prefers(rank(4, 8), rank(4, 9)));
        assert_eq!(Choose::Max.best([rank(1, 2), rank(1, 3)].into_iter()), Some(rank(1, 3)));
    }

    #[test]
    fn a_file_gives_one_attribute_per_node_and_without_one_all_are_equal() {
        assert_eq!(attributes("id", 2), Ok(vec![0, 0]));
        assert_eq!(attributes("# charge\n80\n\n7 # low\n", 2), Ok(vec![80, 7]));
        for (text, reason) in [
            ("80", "1 numbers for 2 nodes; one line each is needed"),
            ("80\n-1", "line 2: '-1' is not a whole number from 0 to 4294967294"),
            ("80 90", "line 1: '80 90' is not a whole number from 0 to 4294967294"),
        ] {
            assert_eq!(attributes(text, 2), Err(reason.to_string()));
        }
    }

    #[test]
    fn a_trace_shows_the_node_and_the_attribute_if_any() {
        assert_eq!(format!("{:?}", Rank::of(NodeId(3), 17)), "NodeId(3)");
        let charged = Rank { attribute: 80, id: 17, node: NodeId(3) };
        assert_eq!(format!("{charged:?}"), "NodeId(3):80");
    }

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

    #[test]
    fn no_rank_is_preferred_to_itself() {
        let [one, two] = [1, 2].map(|id| Rank::of(NodeId(0), id));
        for choose in [Choose::Min, Choose::Max] {
            assert!(!choose.prefers(one, one));
            assert_ne!(choose.prefers(one, two), choose.prefers(two, one));
        }
        assert!(Choose::Min.prefers(one, two));
    }
}
