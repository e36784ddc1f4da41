//! By what an election compares nodes.

use crate::edges;
use conclave_core::NodeId;
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

/// The attributes that a file gives: one number per line, line i that of node i; empty lines and
/// what stands behind a `#` do not count. What is wrong is said in one line.
pub fn attributes(text: &str, n: u32) -> Result<Vec<u32>, String> {
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
    fn a_file_gives_one_attribute_per_node() {
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
}
