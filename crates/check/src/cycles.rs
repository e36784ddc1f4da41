//! Runs that never end and in which somebody never gets what it wants, though everything that must
//! happen does.

use crate::graph::{Duty, Edge, Graph, Node};
use std::collections::{BTreeSet, VecDeque};

/// A way into a circle, and the circle: the first of its states is the last of the way.
#[derive(Clone, Debug)]
pub struct Lasso {
    pub stem: Vec<Node>,
    pub circle: Vec<Node>,
}

/// The circle that is come to soonest in which some node goes on wanting, and every duty is
/// fulfilled or lapses. With `cut`, also where only the bounds keep a timer from firing, which may
/// be why it goes on wanting.
pub fn starving(graph: &Graph, clients: u32, cut: bool) -> Option<Lasso> {
    let knots = (0..clients).filter_map(|client| first_knot(graph, 1 << client, cut));
    let knot = knots.min_by_key(|knot| graph.way(knot[0]).len())?;
    let circle = walk(graph, &knot);
    Some(Lasso { stem: graph.way(knot[0]), circle })
}

/// The fair knot that is come to soonest: states that can all be reached from each other, in all of
/// which somebody wants in vain. They are in the order in which they were found.
fn first_knot(graph: &Graph, wanting: u64, cut: bool) -> Option<Vec<Node>> {
    let counts = |place: usize| cut || !graph.cut[place];
    let inside = |node: Node| graph.wanting[node as usize] & wanting != 0 && counts(node as usize);
    let knots = Knots::find(graph, &inside);
    knots.into_iter().filter(|knot| is_fair(graph, knot)).min_by_key(|knot| knot[0])
}

/// Whether a run can go round in a knot for ever without shirking a duty: each one is fulfilled
/// there, or lapses there.
fn is_fair(graph: &Graph, knot: &[Node]) -> bool {
    let members: BTreeSet<Node> = knot.iter().copied().collect();
    let mut owed: BTreeSet<Duty> = graph.duties(knot[0]).iter().copied().collect();
    for &node in knot {
        owed.retain(|duty| graph.duties(node).contains(duty));
        let within = graph.edges(node).iter().filter(|edge| members.contains(&edge.to));
        for edge in within {
            owed.retain(|duty| edge.duty != Some(*duty));
        }
        if owed.is_empty() {
            return true;
        }
    }
    owed.is_empty()
}

/// A round trip through a knot, from its first state, on which no duty is shirked.
fn walk(graph: &Graph, knot: &[Node]) -> Vec<Node> {
    let members: BTreeSet<Node> = knot.iter().copied().collect();
    let mut owed: BTreeSet<Duty> = BTreeSet::new();
    for &node in knot {
        owed.extend(graph.duties(node));
    }
    let mut trip = vec![knot[0]];
    settle(graph, knot[0], None, &mut owed);
    while let Some(&duty) = owed.first() {
        let here = trip[trip.len() - 1];
        let goal = |node: Node, edge: Option<Edge>| {
            edge.is_some_and(|edge| edge.duty == Some(duty)) || !graph.duties(node).contains(&duty)
        };
        let Some(way) = way_within(graph, &members, here, &goal) else { break };
        for edge in way {
            settle(graph, edge.to, Some(edge), &mut owed);
            trip.push(edge.to);
        }
    }
    let here = trip[trip.len() - 1];
    if here != knot[0] || trip.len() == 1 {
        let home = |node: Node, edge: Option<Edge>| edge.is_some() && node == knot[0];
        let way = way_within(graph, &members, here, &home).unwrap_or_default();
        trip.extend(way.iter().map(|edge| edge.to));
    }
    trip
}

/// Strikes out the duties that a move fulfils and those that lapse where it leads.
fn settle(graph: &Graph, node: Node, edge: Option<Edge>, owed: &mut BTreeSet<Duty>) {
    if let Some(duty) = edge.and_then(|edge| edge.duty) {
        owed.remove(&duty);
    }
    owed.retain(|duty| graph.duties(node).contains(duty));
}

/// The shortest way within a knot to where the goal is met.
fn way_within(
    graph: &Graph,
    members: &BTreeSet<Node>,
    from: Node,
    goal: &dyn Fn(Node, Option<Edge>) -> bool,
) -> Option<Vec<Edge>> {
    let mut before: std::collections::BTreeMap<Node, (Node, Edge)> = Default::default();
    let mut queue = VecDeque::from([from]);
    while let Some(node) = queue.pop_front() {
        for &edge in graph.edges(node).iter().filter(|edge| members.contains(&edge.to)) {
            if goal(edge.to, Some(edge)) {
                let mut way = vec![edge];
                let mut here = node;
                while here != from {
                    let (earlier, edge) = before[&here];
                    way.push(edge);
                    here = earlier;
                }
                way.reverse();
                return Some(way);
            }
            if edge.to != from && !before.contains_key(&edge.to) {
                before.insert(edge.to, (node, edge));
                queue.push_back(edge.to);
            }
        }
    }
    None
}

/// Tarjan's search for knots (strongly connected components), without recursion.
struct Knots<'a> {
    graph: &'a Graph,
    inside: &'a dyn Fn(Node) -> bool,
    /// By state: when it was met, from 1; 0 if it was not.
    met: Vec<u32>,
    /// The earliest state that can be come back to.
    low: Vec<u32>,
    on_stack: Vec<bool>,
    stack: Vec<Node>,
    /// The states being looked at, each with the number of its next move.
    path: Vec<(Node, usize)>,
    clock: u32,
    found: Vec<Vec<Node>>,
}

impl<'a> Knots<'a> {
    /// The knots with at least one move inside.
    fn find(graph: &'a Graph, inside: &'a dyn Fn(Node) -> bool) -> Vec<Vec<Node>> {
        let states = graph.len();
        let mut knots = Self {
            graph,
            inside,
            met: vec![0; states],
            low: vec![0; states],
            on_stack: vec![false; states],
            stack: Vec::new(),
            path: Vec::new(),
            clock: 0,
            found: Vec::new(),
        };
        for node in 0..states as Node {
            if knots.met[node as usize] == 0 && inside(node) {
                knots.enter(node);
                knots.search();
            }
        }
        knots.found
    }

    fn enter(&mut self, node: Node) {
        self.clock += 1;
        self.met[node as usize] = self.clock;
        self.low[node as usize] = self.clock;
        self.on_stack[node as usize] = true;
        self.stack.push(node);
        self.path.push((node, 0));
    }

    fn search(&mut self) {
        while let Some((node, next)) = self.path.pop() {
            let here = node as usize;
            match self.graph.edges(node).get(next) {
                Some(edge) => {
                    self.path.push((node, next + 1));
                    let to = edge.to as usize;
                    if self.met[to] == 0 && (self.inside)(edge.to) {
                        self.enter(edge.to);
                    } else if self.on_stack[to] {
                        self.low[here] = self.low[here].min(self.met[to]);
                    }
                }
                None => self.leave(node),
            }
        }
    }

    fn leave(&mut self, node: Node) {
        let here = node as usize;
        if let Some(&(above, _)) = self.path.last() {
            self.low[above as usize] = self.low[above as usize].min(self.low[here]);
        }
        if self.low[here] != self.met[here] {
            return;
        }
        let mut knot = Vec::new();
        while let Some(member) = self.stack.pop() {
            self.on_stack[member as usize] = false;
            knot.push(member);
            if member == node {
                break;
            }
        }
        knot.sort_unstable();
        let loops = |node: Node| self.graph.edges(node).iter().any(|edge| edge.to == node);
        if knot.len() > 1 || loops(node) {
            self.found.push(knot);
        }
    }
}
