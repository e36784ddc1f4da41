//! Quorum systems: for every node a set of nodes to ask, any two of which share a member.
//!
//! Sources: M. Maekawa, "A √N algorithm for mutual exclusion in decentralized systems", ACM TOCS
//! 3(2), 1985 (finite projective planes, grids); J. Singer, "A theorem in finite projective
//! geometry", 1938 (planes from difference sets).

use conclave_core::{NodeId, NodeSet};

/// Difference sets: every d in 1..n is the difference of exactly one ordered pair, so the shifts
/// of the set are the lines of a projective plane, and any two of them meet in one point.
const DIFFERENCE_SETS: &[(u32, &[u32])] = &[
    (1, &[0]),
    (2, &[0, 1]), // No plane, but the only choice.
    (3, &[0, 1]),
    (7, &[0, 1, 3]),
    (13, &[0, 1, 3, 9]),
    (21, &[0, 3, 4, 9, 11]),
    (31, &[0, 1, 3, 8, 12, 18]),
];

/// One quorum per node: it contains that node and meets every other quorum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quorums {
    quorums: Vec<Vec<NodeId>>,
}

impl Quorums {
    /// The lines of a projective plane, of about √n members each, where one is known.
    pub fn plane(n: u32) -> Option<Self> {
        let (_, difference_set) = DIFFERENCE_SETS.iter().find(|(size, _)| *size == n)?;
        let line = |node| difference_set.iter().map(move |shift| NodeId((node + shift) % n));
        Some(Self::sorted((0..n).map(|node| line(node).collect()).collect()))
    }

    /// A node's row and column in a grid as square as it gets, about 2√n members. The last row may
    /// be short: of two nodes, the one in a full row has the other's column in it.
    pub fn grid(n: u32) -> Self {
        let width = n.isqrt() + u32::from(n.isqrt().pow(2) < n);
        let place = |node: u32| (node / width, node % width);
        let cross = |node| {
            let (row, column) = place(node);
            let meets = |&other: &u32| place(other).0 == row || place(other).1 == column;
            (0..n).filter(meets).map(NodeId).collect()
        };
        Self::sorted((0..n).map(cross).collect())
    }

    /// As a file gives them: line i lists the members of node i's quorum, counted from 1. Empty
    /// lines and lines that begin with `#` do not count. What is wrong is said in one line.
    pub fn parse(text: &str, n: u32) -> Result<Self, String> {
        let lines = text.lines().map(str::trim);
        let lines: Vec<&str> =
            lines.filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
        if lines.len() != n as usize {
            return Err(format!("{} quorums for {n} nodes; one line each is needed", lines.len()));
        }
        let parsed = (1..).zip(lines).map(|(owner, line)| parse_quorum(owner, line, n));
        let quorums = Self::sorted(parsed.collect::<Result<_, _>>()?);
        quorums.check()?;
        Ok(quorums)
    }

    /// The quorum of a node, in order of index.
    pub fn of(&self, node: NodeId) -> &[NodeId] {
        &self.quorums[node.index()]
    }

    /// The mean, over all nodes, of a quantity that depends on the size of the quorum.
    pub fn mean(&self, quantity: impl Fn(usize) -> f64) -> f64 {
        let sum: f64 = self.quorums.iter().map(|quorum| quantity(quorum.len())).sum();
        sum / self.quorums.len() as f64
    }

    fn sorted(mut quorums: Vec<Vec<NodeId>>) -> Self {
        for quorum in &mut quorums {
            quorum.sort_unstable();
            quorum.dedup();
        }
        Self { quorums }
    }

    fn check(&self) -> Result<(), String> {
        let sets: Vec<NodeSet> =
            self.quorums.iter().map(|quorum| quorum.iter().copied().collect()).collect();
        for (owner, set) in (0..).map(NodeId).zip(&sets) {
            if !set.contains(owner) {
                return Err(format!("the quorum of node {owner} lacks node {owner} itself"));
            }
            for (other, quorum) in (0..owner.0).map(NodeId).zip(&self.quorums) {
                if !quorum.iter().any(|&member| set.contains(member)) {
                    return Err(format!("the quorums of nodes {other} and {owner} do not meet"));
                }
            }
        }
        Ok(())
    }
}

fn parse_quorum(owner: u32, line: &str, n: u32) -> Result<Vec<NodeId>, String> {
    let words = line.split(|c: char| c == ',' || c.is_whitespace()).filter(|word| !word.is_empty());
    words
        .map(|word| match word.parse::<u32>() {
            Ok(member) if (1..=n).contains(&member) => Ok(NodeId(member - 1)),
            Ok(_) | Err(_) => Err(format!(
                "the quorum of node {owner} names '{word}', which is no node from 1 to {n}"
            )),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_two_quorums_meet_and_each_contains_its_owner() {
        for n in 1..=110 {
            Quorums::grid(n).check().unwrap_or_else(|wrong| panic!("grid of {n}: {wrong}"));
            if let Some(plane) = Quorums::plane(n) {
                plane.check().unwrap_or_else(|wrong| panic!("plane of {n}: {wrong}"));
            }
        }
    }

    #[test]
    fn two_lines_of_a_plane_meet_in_one_point() {
        for n in [3, 7, 13, 21, 31] {
            let plane = Quorums::plane(n).expect("a plane is known");
            let size = plane.of(NodeId(0)).len() as u32;
            assert_eq!(n, size * (size - 1) + 1);
            for (a, b) in (0..n).flat_map(|a| (0..a).map(move |b| (NodeId(a), NodeId(b)))) {
                let shared = plane.of(a).iter().filter(|member| plane.of(b).contains(member));
                assert_eq!(shared.count(), 1, "lines {a} and {b} of {n}");
            }
        }
        assert_eq!(
            Quorums::plane(7).expect("a plane is known").of(NodeId(5)),
            [1, 5, 6].map(NodeId)
        );
        assert_eq!(Quorums::plane(4), None);
    }

    #[test]
    fn a_cross_in_a_grid_is_a_row_and_a_column() {
        let grid = Quorums::grid(9);
        assert_eq!(grid.of(NodeId(4)), [1, 3, 4, 5, 7].map(NodeId));
        assert_eq!(Quorums::grid(5).of(NodeId(4)), [1, 3, 4].map(NodeId));
        assert_eq!(Quorums::grid(2).of(NodeId(1)), [0, 1].map(NodeId));
        assert_eq!(Quorums::grid(1).of(NodeId(0)), [NodeId(0)]);
    }

    #[test]
    fn a_file_lists_quorums_from_one() {
        let star = Quorums::parse("# a star\n1\n2, 1\n\n3 1 3\n", 3).expect("all meet in 1");
        assert_eq!(star.of(NodeId(0)), [NodeId(0)]);
        assert_eq!(star.of(NodeId(2)), [0, 2].map(NodeId));
        assert_eq!(star.mean(|size| size as f64 - 1.0), 2.0 / 3.0);
    }

    #[test]
    fn a_file_that_cannot_be_used_is_told_why() {
        let wrong = |text, n| Quorums::parse(text, n).expect_err("unusable");
        assert_eq!(wrong("1\n", 2), "1 quorums for 2 nodes; one line each is needed");
        assert_eq!(
            wrong("1 4\n1 2\n1 3", 3),
            "the quorum of node 1 names '4', which is no node from 1 to 3"
        );
        assert_eq!(
            wrong("1 x\n1 2", 2),
            "the quorum of node 1 names 'x', which is no node from 1 to 2"
        );
        assert_eq!(wrong("1\n1", 2), "the quorum of node 2 lacks node 2 itself");
        assert_eq!(wrong("1 2\n2 3\n3 4\n4 1", 4), "the quorums of nodes 1 and 3 do not meet");
    }
}
