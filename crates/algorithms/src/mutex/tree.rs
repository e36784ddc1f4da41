//! Trees for algorithms that pass messages along one: everybody's parent, the first node the root.

use crate::edges;
use conclave_core::NodeId;
use std::collections::VecDeque;

/// A tree over the nodes 0 to n-1, rooted at node 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    /// The root counts as its own parent.
    parents: Vec<u32>,
}

impl Tree {
    /// Two children each, filled level by level.
    pub fn heap(n: u32) -> Self {
        Self { parents: (0..n).map(|node| node.saturating_sub(1) / 2).collect() }
    }

    /// Everybody a child of the root.
    pub fn star(n: u32) -> Self {
        Self { parents: vec![0; n as usize] }
    }

    /// Each node the parent of the next.
    pub fn chain(n: u32) -> Self {
        Self { parents: (0..n).map(|node| node.saturating_sub(1)).collect() }
    }

    /// The tree that a file describes: one edge `a b` per line, nodes numbered from 1, comments
    /// behind a `#`. The error says in one line what is wrong.
    pub fn parse(text: &str, n: u32) -> Result<Self, String> {
        let edges = edges::parse(text, n)?;
        if edges.len() as u64 + 1 != u64::from(n) {
            let found = edges.len();
            let wanted = n.saturating_sub(1);
            return Err(format!("a tree of {n} nodes has {wanted} edges, not {found}"));
        }
        Self::of_edges(&edges, n)
    }

    /// The parent of a node; none for the root.
    pub fn parent(&self, node: NodeId) -> Option<NodeId> {
        (node != NodeId(0)).then(|| NodeId(self.parents[node.index()]))
    }

    /// How many edges lie between each node and the root.
    pub fn depths(&self) -> Vec<u32> {
        let mut depths = vec![0; self.parents.len()];
        let mut path = Vec::new();
        for start in 1..self.parents.len() {
            let mut node = start;
            while node != 0 && depths[node] == 0 {
                path.push(node);
                node = self.parents[node] as usize;
            }
            while let Some(below) = path.pop() {
                depths[below] = depths[self.parents[below] as usize] + 1;
            }
        }
        depths
    }

    /// How many edges lie between the root and the node that a walk through the whole tree comes to
    /// last, children in order of their number.
    pub fn depth_of_last(&self) -> u32 {
        let mut last_child = vec![0; self.parents.len()];
        for (child, &parent) in self.parents.iter().enumerate().skip(1) {
            last_child[parent as usize] = child;
        }
        let below = |&node: &usize| Some(last_child[node]).filter(|&child| child != 0);
        std::iter::successors(Some(0), below).count() as u32 - 1
    }

    /// Hangs the edges, one fewer than nodes, from the root.
    fn of_edges(edges: &[(u32, u32)], n: u32) -> Result<Self, String> {
        let mut neighbours = vec![Vec::new(); n as usize];
        for &(a, b) in edges {
            neighbours[a as usize].push(b);
            neighbours[b as usize].push(a);
        }
        let mut parents = vec![u32::MAX; n as usize];
        parents[0] = 0;
        let mut reached = VecDeque::from([0]);
        while let Some(node) = reached.pop_front() {
            for &next in &neighbours[node as usize] {
                if parents[next as usize] == u32::MAX {
                    parents[next as usize] = node;
                    reached.push_back(next);
                }
            }
        }
        // With n-1 edges, a circle somewhere means that somebody is left out elsewhere.
        match parents.iter().position(|&parent| parent == u32::MAX) {
            None => Ok(Self { parents }),
            Some(cut) => Err(format!(
                "node {} is not connected to node 1, so there is a circle elsewhere: not a tree",
                cut + 1
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_shapes_have_the_depths_they_are_named_for() {
        assert_eq!(Tree::heap(7).depths(), [0, 1, 1, 2, 2, 2, 2]);
        assert_eq!(Tree::star(4).depths(), [0, 1, 1, 1]);
        assert_eq!(Tree::chain(4).depths(), [0, 1, 2, 3]);
        for tree in [Tree::heap(1), Tree::star(1), Tree::chain(1)] {
            assert_eq!((tree.depths(), tree.parent(NodeId(0))), (vec![0], None));
        }
        assert_eq!(Tree::heap(7).parent(NodeId(6)), Some(NodeId(2)));
    }

    #[test]
    fn a_walk_ends_below_the_last_child_of_the_last_child() {
        assert_eq!(Tree::heap(7).depth_of_last(), 2);
        assert_eq!(Tree::heap(6).depth_of_last(), 2);
        assert_eq!(Tree::heap(4).depth_of_last(), 1);
        assert_eq!(Tree::star(7).depth_of_last(), 1);
        assert_eq!(Tree::chain(7).depth_of_last(), 6);
        assert_eq!(Tree::chain(1).depth_of_last(), 0);
    }

    #[test]
    fn a_file_lists_edges_in_any_direction_and_order() {
        let text = "# a chain 1-3-2 with a leaf\n2 3\n\n 1\t3 \n4 2";
        let tree = Tree::parse(text, 4).expect("a tree");
        assert_eq!(tree.depths(), [0, 2, 1, 3]);
        assert_eq!(tree.parent(NodeId(1)), Some(NodeId(2)));
        assert_eq!(Tree::parse("", 1).expect("a tree"), Tree::star(1));
    }

    #[test]
    fn a_file_that_is_no_tree_is_refused_in_one_line() {
        for (text, reason) in [
            ("1 2 3", "line 1: '1 2 3' is not an edge, which is two node numbers"),
            ("1 2\n1 9", "line 2: '9' is not a node number from 1 to 4"),
            ("1 0", "line 1: '0' is not a node number from 1 to 4"),
            ("1 x", "line 1: 'x' is not a node number from 1 to 4"),
            ("2 2", "line 1: node 2 cannot be its own neighbour"),
            ("1 2\n2 3", "a tree of 4 nodes has 3 edges, not 2"),
            (
                "1 2\n2 3\n3 1",
                "node 4 is not connected to node 1, so there is a circle elsewhere: \
                not a tree",
            ),
            (
                "1 2\n2 1\n3 1",
                "node 4 is not connected to node 1, so there is a circle elsewhere: \
                not a tree",
            ),
        ] {
            assert_eq!(Tree::parse(text, 4), Err(reason.to_string()), "{text:?}");
        }
    }
}
