//! Where each node stands on the page.

use crate::trace::Header;
use conclave_core::{Links, NodeId};
use std::f64::consts::TAU;

/// How large a page is.
pub const WIDTH: f64 = 720.0;
pub const HEIGHT: f64 = 560.0;
/// All nodes of a complete graph up to this size are joined by lines; beyond, they are too many.
const JOINED_MAX: usize = 8;

/// Nodes and the links between them, on paper.
pub struct Places {
    pub nodes: Vec<(f64, f64)>,
    pub links: Vec<(NodeId, NodeId)>,
    pub radius: f64,
}

/// A tree hangs from its first node; everything else stands on a circle, in order.
pub fn places(header: &Header) -> Places {
    let n = header.names.len();
    let all: Vec<NodeId> = header.all().collect();
    let links = match &header.links {
        Some(Links::Ring) if n > 1 => {
            let next = |node: &NodeId| (*node, node.successor(n as u32));
            let ring: Vec<_> = all.iter().map(next).collect();
            if n == 2 { ring[..1].to_vec() } else { ring }
        }
        Some(Links::Edges(edges)) => {
            let known = |(a, b): &&(NodeId, NodeId)| a.index() < n && b.index() < n;
            edges.iter().filter(known).copied().collect()
        }
        Some(Links::Complete) | None if n <= JOINED_MAX => {
            let pairs =
                |a: &NodeId| all[a.index() + 1..].iter().map(|b| (*a, *b)).collect::<Vec<_>>();
            all.iter().flat_map(pairs).collect()
        }
        Some(Links::Ring | Links::Complete) | None => Vec::new(),
    };
    let radius = (170.0 / n as f64).clamp(11.0, 25.0);
    let edges = matches!(header.links, Some(Links::Edges(_)));
    let nodes = levels(n, &links)
        .filter(|_| edges && n > 2)
        .map_or_else(|| circle(n), |levels| tree(&levels));
    Places { nodes, links, radius }
}

fn circle(n: usize) -> Vec<(f64, f64)> {
    let place = |index: usize| {
        let angle = TAU * (index as f64 / n as f64 - 0.25);
        (WIDTH / 2.0 + 275.0 * angle.cos(), 270.0 + 205.0 * angle.sin())
    };
    if n == 1 { vec![(WIDTH / 2.0, 270.0)] } else { (0..n).map(place).collect() }
}

/// How deep each node hangs, if the links make a tree.
fn levels(n: usize, links: &[(NodeId, NodeId)]) -> Option<Vec<usize>> {
    let mut levels = vec![None; n];
    let mut queue = std::collections::VecDeque::from([(0, 0)]);
    let mut reached = 0;
    while let Some((node, depth)) = queue.pop_front() {
        if levels[node].is_some() {
            return None; // A circle.
        }
        levels[node] = Some(depth);
        reached += 1;
        for (a, b) in links.iter().map(|(a, b)| (a.index(), b.index())) {
            let other = if a == node {
                b
            } else if b == node {
                a
            } else {
                continue;
            };
            if levels[other].is_none() {
                queue.push_back((other, depth + 1));
            }
        }
    }
    (reached == n && links.len() + 1 == n).then(|| levels.into_iter().flatten().collect())
}

fn tree(levels: &[usize]) -> Vec<(f64, f64)> {
    let deepest = levels.iter().max().copied().unwrap_or(0).max(1);
    let mut seen = vec![0.0; deepest + 1];
    let wide = |depth: usize| levels.iter().filter(|level| **level == depth).count() as f64;
    let place = |&depth: &usize| {
        seen[depth] += 1.0;
        let x = WIDTH * (seen[depth] - 0.5) / wide(depth);
        (x, 70.0 + 400.0 * depth as f64 / deepest as f64)
    };
    levels.iter().map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(n: u32, links: Links) -> Header {
        let names = (1..=n).map(|name| name.to_string()).collect();
        Header { names, links: Some(links), ..Header::default() }
    }

    #[test]
    fn a_ring_closes_and_a_large_complete_graph_has_no_lines() {
        assert_eq!(places(&header(5, Links::Ring)).links.len(), 5);
        assert_eq!(places(&header(2, Links::Ring)).links.len(), 1);
        assert_eq!(places(&header(8, Links::Complete)).links.len(), 28);
        assert!(places(&header(9, Links::Complete)).links.is_empty());
        assert!(places(&header(1, Links::Ring)).links.is_empty());
    }

    #[test]
    fn a_tree_hangs_from_its_first_node_and_a_cycle_stands_on_a_circle() {
        let edge = |a, b| (NodeId(a), NodeId(b));
        let tree = places(&header(4, Links::Edges(vec![edge(0, 1), edge(0, 2), edge(2, 3)])));
        assert_eq!(tree.nodes[1].1, tree.nodes[2].1);
        assert!(tree.nodes[0].1 < tree.nodes[1].1 && tree.nodes[2].1 < tree.nodes[3].1);
        let cycle = places(&header(3, Links::Edges(vec![edge(0, 1), edge(1, 2), edge(0, 2)])));
        assert_eq!(cycle.nodes, circle(3));
    }
}
