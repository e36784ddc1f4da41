//! Graphs for elections that run on any connected network: shapes by name, by chance, from a file.

mod random;

use crate::edges;
use conclave_core::{Links, NodeId};

/// No graph is drawn among more pairs of nodes than this, for all of it is held in memory.
const EDGES_MAX: u64 = 50_000_000;

/// A connected graph without loops or double edges, over the nodes 0 to n-1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph {
    /// Where the neighbours of each node begin; one more at the end.
    starts: Vec<usize>,
    /// The neighbours of node 0 in order, then those of node 1, and so on.
    ends: Vec<NodeId>,
    /// Its diameter, where the shape says it.
    diameter: Option<u32>,
}

impl Graph {
    /// The graph that a word or the text of a file describes: `ring`, `complete`, `grid`, `star`
    /// (its centre the first node), `path`, `random:P` or `random:P:SEED`, or else one edge
    /// `a b` per line. What is wrong is said in one line.
    pub fn parse(text: &str, n: u32) -> Result<Self, String> {
        let pairs = u64::from(n) * u64::from(n - 1) / 2;
        match text {
            "ring" => Ok(Self::shape(n, ring(n), n / 2)),
            "path" => Ok(Self::shape(n, path(n), n - 1)),
            "star" => Ok(Self::shape(n, (1..n).map(|leaf| (0, leaf)), (n - 1).min(2))),
            "grid" => Self::grid(n),
            "complete" if pairs > EDGES_MAX => Err(too_large(n)),
            "complete" => {
                let pairs = (0..n).flat_map(|a| (a + 1..n).map(move |b| (a, b)));
                Ok(Self::shape(n, pairs, (n - 1).min(1)))
            }
            _ => match text.strip_prefix("random:") {
                Some(_) if pairs > EDGES_MAX => Err(too_large(n)),
                Some(how) => random::draw(how, n),
                None => Self::of_edges(n, edges::parse(text, n)?),
            },
        }
    }

    /// A graph of these edges, in any direction; those named twice count once.
    pub fn of_edges(n: u32, edges: Vec<(u32, u32)>) -> Result<Self, String> {
        let graph = Self::build(n, edges);
        match graph.distances(NodeId(0)).iter().position(|&distance| distance == u32::MAX) {
            None => Ok(graph),
            Some(cut) => Err(format!("node {} is not connected to node 1", cut + 1)),
        }
    }

    /// How many nodes there are.
    pub fn nodes(&self) -> u32 {
        self.starts.len() as u32 - 1
    }

    /// How many edges there are.
    pub fn edges(&self) -> u64 {
        self.ends.len() as u64 / 2
    }

    /// The neighbours of a node, in order.
    pub fn neighbours(&self, node: NodeId) -> &[NodeId] {
        &self.ends[self.starts[node.index()]..self.starts[node.index() + 1]]
    }

    /// The edges, for whoever draws them.
    pub fn links(&self) -> Links {
        let of = |node| self.neighbours(node).iter().map(move |&end| (node, end));
        let edges = (0..self.nodes()).map(NodeId).flat_map(of);
        Links::Edges(edges.filter(|(node, end)| node < end).collect())
    }

    /// How many edges lie between the two nodes that are farthest from each other.
    pub fn diameter(&self) -> u32 {
        self.diameter.unwrap_or_else(|| self.measured_diameter())
    }

    /// How many edges lie between a node and the farthest from it.
    pub fn eccentricity(&self, node: NodeId) -> u32 {
        self.distances(node).into_iter().max().unwrap_or_default()
    }

    fn grid(n: u32) -> Result<Self, String> {
        let rows = rows(n);
        if rows == 1 && n > 3 {
            let below = n - 1;
            let above = n + 1; // Even, so not prime.
            return Err(format!(
                "{n} nodes make no grid, for {n} is prime; {below} and {above} do"
            ));
        }
        let columns = n / rows;
        let right = (0..n).filter(|node| (node + 1) % columns != 0).map(|node| (node, node + 1));
        let down = (0..n - columns).map(|node| (node, node + columns));
        Ok(Self::shape(n, right.chain(down), rows + columns - 2))
    }

    fn shape(n: u32, edges: impl Iterator<Item = (u32, u32)>, diameter: u32) -> Self {
        Self { diameter: Some(diameter), ..Self::build(n, edges.collect()) }
    }

    fn build(n: u32, mut edges: Vec<(u32, u32)>) -> Self {
        for (a, b) in &mut edges {
            (*a, *b) = (*a.min(b), *a.max(b));
        }
        edges.sort_unstable();
        edges.dedup();
        let mut starts = vec![0; n as usize + 1];
        for &(a, b) in &edges {
            starts[a as usize + 1] += 1;
            starts[b as usize + 1] += 1;
        }
        for node in 0..n as usize {
            starts[node + 1] += starts[node];
        }
        // Every node gets its smaller neighbours before its greater ones, each lot in order.
        let mut ends = vec![NodeId(0); edges.len() * 2];
        let mut next = starts.clone();
        let mut put = |node: u32, end: u32| {
            ends[next[node as usize]] = NodeId(end);
            next[node as usize] += 1;
        };
        edges.iter().for_each(|&(a, b)| put(b, a));
        edges.iter().for_each(|&(a, b)| put(a, b));
        Self { starts, ends, diameter: None }
    }

    /// How far every node is from one; `u32::MAX` where there is no way.
    fn distances(&self, from: NodeId) -> Vec<u32> {
        let mut distances = vec![u32::MAX; self.nodes() as usize];
        distances[from.index()] = 0;
        let mut reached = vec![from];
        let mut next = 0;
        while let Some(&node) = reached.get(next) {
            next += 1;
            for &end in self.neighbours(node) {
                if distances[end.index()] == u32::MAX {
                    distances[end.index()] = distances[node.index()] + 1;
                    reached.push(end);
                }
            }
        }
        distances
    }

    /// Searches from node after node, but only from those that can still be the end of a longer way
    /// than is known: nobody is farther from the rest than its distance to a node plus the most
    /// that this one has.
    fn measured_diameter(&self) -> u32 {
        let mut most = vec![u32::MAX; self.nodes() as usize];
        let mut diameter = 0;
        let mut from = 0;
        let mut outward = true;
        loop {
            let distances = self.distances(NodeId(from as u32));
            let eccentricity = distances.iter().copied().max().unwrap_or_default();
            diameter = diameter.max(eccentricity);
            for (bound, distance) in most.iter_mut().zip(&distances) {
                *bound = (*bound).min(eccentricity + distance);
            }
            // By turns from the rim, which finds long ways, and from the middle, which rules out.
            let open = (0..most.len()).filter(|&node| most[node] > diameter);
            let next = if outward {
                open.max_by_key(|&node| most[node])
            } else {
                open.min_by_key(|&node| most[node])
            };
            outward = !outward;
            match next {
                Some(node) => from = node,
                None => return diameter,
            }
        }
    }
}

fn ring(n: u32) -> impl Iterator<Item = (u32, u32)> {
    path(n).chain((n > 2).then_some((0, n - 1)))
}

fn path(n: u32) -> impl Iterator<Item = (u32, u32)> {
    (1..n).map(|node| (node - 1, node))
}

/// The rows of the most square rectangle of `n` nodes that is not higher than wide.
fn rows(n: u32) -> u32 {
    (1..=n.isqrt()).rev().find(|rows| n.is_multiple_of(*rows)).unwrap_or(1)
}

fn too_large(n: u32) -> String {
    format!("{n} nodes have more than {EDGES_MAX} pairs, too many to hold; give fewer nodes")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(text: &str, n: u32) -> Graph {
        Graph::parse(text, n).unwrap_or_else(|wrong| panic!("{text} of {n}: {wrong}"))
    }

    #[test]
    fn the_shapes_have_the_edges_and_the_diameter_they_are_named_for() {
        for (shape, n, edges, diameter) in [
            ("ring", 8, 8, 4),
            ("ring", 7, 7, 3),
            ("ring", 2, 1, 1),
            ("complete", 7, 21, 1),
            ("grid", 9, 12, 4),
            ("grid", 12, 17, 5),
            ("grid", 3, 2, 2),
            ("star", 7, 6, 2),
            ("star", 2, 1, 1),
            ("path", 8, 7, 7),
        ] {
            let graph = graph(shape, n);
            assert_eq!((graph.edges(), graph.diameter()), (edges, diameter), "{shape} of {n}");
            assert_eq!(graph.measured_diameter(), diameter, "{shape} of {n}");
        }
        for shape in ["ring", "complete", "grid", "star", "path", "random:0.5", ""] {
            assert_eq!((graph(shape, 1).edges(), graph(shape, 1).diameter()), (0, 0), "{shape}");
        }
    }

    #[test]
    fn neighbours_come_in_order() {
        assert_eq!(graph("ring", 5).neighbours(NodeId(0)), [1, 4].map(NodeId));
        assert_eq!(graph("grid", 9).neighbours(NodeId(4)), [1, 3, 5, 7].map(NodeId));
        assert_eq!(graph("star", 4).neighbours(NodeId(0)), [1, 2, 3].map(NodeId));
        let links = Links::Edges(vec![(NodeId(0), NodeId(1)), (NodeId(1), NodeId(2))]);
        assert_eq!(graph("path", 3).links(), links);
    }

    #[test]
    fn a_file_may_name_an_edge_twice_and_in_any_direction() {
        assert_eq!(
            graph("2 1\n1 2\n3 2 # the end", 3),
            Graph { diameter: None, ..graph("path", 3) }
        );
    }

    #[test]
    fn the_diameter_is_the_longest_of_the_shortest_ways() {
        for seed in 0..50 {
            let graph = graph(&format!("random:0.15:{seed}"), 30);
            let longest = (0..30).map(|node| graph.eccentricity(NodeId(node))).max();
            assert_eq!(Some(graph.diameter()), longest, "seed {seed}");
        }
    }

    #[test]
    fn what_cannot_be_used_is_told_why() {
        for (text, n, reason) in [
            ("1 2\n1 x", 3, "line 2: 'x' is not a node number from 1 to 3"),
            ("1 2\n3 3", 3, "line 2: node 3 cannot be its own neighbour"),
            ("1 2\n3 4", 4, "node 3 is not connected to node 1"),
            ("", 2, "node 2 is not connected to node 1"),
            ("grid", 7, "7 nodes make no grid, for 7 is prime; 6 and 8 do"),
            ("grid", 5, "5 nodes make no grid, for 5 is prime; 4 and 6 do"),
        ] {
            assert_eq!(Graph::parse(text, n), Err(reason.to_string()), "{text:?}");
        }
        assert!(Graph::parse("complete", 100_000).is_err_and(|wrong| wrong.contains("too many")));
    }
}
