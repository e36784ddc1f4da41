//! Runs that never end and in which somebody never gets what it wants, though everything that must
//! happen does.

use crate::state_graph::{Edge, Node, Obligation, StateGraph};
use std::collections::{BTreeSet, VecDeque};

/// A way into a cycle, and the cycle: the first of its states is the last of the way.
#[derive(Clone, Debug)]
pub struct Lasso {
    pub stem: Vec<Node>,
    pub cycle: Vec<Node>,
}

/// The cycle that is come to soonest in which some node goes on wanting, and every obligation is
/// fulfilled or lapses. With `cut`, also where only the bounds keep a timer from firing, which may
/// be why it goes on wanting.
pub fn lasso(graph: &StateGraph, clients: u32, cut: bool) -> Option<Lasso> {
    let components =
        (0..clients).filter_map(|client| first_fair_component(graph, 1 << client, cut));
    let component = components.min_by_key(|component| graph.way(component[0]).len())?;
    let cycle = walk(graph, &component);
    Some(Lasso { stem: graph.way(component[0]), cycle })
}

/// The fair component that is come to soonest: states that can all be reached from each other, in all of
/// which somebody wants in vain. They are in the order in which they were found.
fn first_fair_component(graph: &StateGraph, wanting: u64, cut: bool) -> Option<Vec<Node>> {
    let counts = |place: usize| cut || !graph.cut[place];
    let inside = |node: Node| graph.wanting[node as usize] & wanting != 0 && counts(node as usize);
    let components = Components::find(graph, &inside);
    components
        .into_iter()
        .filter(|component| is_fair(graph, component))
        .min_by_key(|component| component[0])
}

/// Whether a run can go round in a component for ever without shirking an obligation: each one is fulfilled
/// there, or lapses there.
fn is_fair(graph: &StateGraph, component: &[Node]) -> bool {
    let members: BTreeSet<Node> = component.iter().copied().collect();
    let mut owed: BTreeSet<Obligation> = graph.obligations(component[0]).iter().copied().collect();
    for &node in component {
        owed.retain(|obligation| graph.obligations(node).contains(obligation));
        let within = graph.edges(node).iter().filter(|edge| members.contains(&edge.to));
        for edge in within {
            owed.retain(|obligation| edge.obligation != Some(*obligation));
        }
        if owed.is_empty() {
            return true;
        }
    }
    owed.is_empty()
}

/// A round trip through a component, from its first state, on which no obligation is shirked.
fn walk(graph: &StateGraph, component: &[Node]) -> Vec<Node> {
    let members: BTreeSet<Node> = component.iter().copied().collect();
    let mut owed: BTreeSet<Obligation> = BTreeSet::new();
    for &node in component {
        owed.extend(graph.obligations(node));
    }
    let mut trip = vec![component[0]];
    settle(graph, component[0], None, &mut owed);
    while let Some(&obligation) = owed.first() {
        let here = trip[trip.len() - 1];
        let goal = |node: Node, edge: Option<Edge>| {
            edge.is_some_and(|edge| edge.obligation == Some(obligation))
                || !graph.obligations(node).contains(&obligation)
        };
        let Some(way) = way_within(graph, &members, here, &goal) else { break };
        for edge in way {
            settle(graph, edge.to, Some(edge), &mut owed);
            trip.push(edge.to);
        }
    }
    let here = trip[trip.len() - 1];
    if here != component[0] || trip.len() == 1 {
        let home = |node: Node, edge: Option<Edge>| edge.is_some() && node == component[0];
        let way = way_within(graph, &members, here, &home).unwrap_or_default();
        trip.extend(way.iter().map(|edge| edge.to));
    }
    trip
}

/// Strikes out the obligations that a move fulfils and those that lapse where it leads.
fn settle(graph: &StateGraph, node: Node, edge: Option<Edge>, owed: &mut BTreeSet<Obligation>) {
    if let Some(obligation) = edge.and_then(|edge| edge.obligation) {
        owed.remove(&obligation);
    }
    owed.retain(|obligation| graph.obligations(node).contains(obligation));
}

/// The shortest way within a component to where the goal is met.
fn way_within(
    graph: &StateGraph,
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

/// Tarjan's search for components (strongly connected components), without recursion.
struct Components<'a> {
    graph: &'a StateGraph,
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

impl<'a> Components<'a> {
    /// The components with at least one move inside.
    fn find(graph: &'a StateGraph, inside: &'a dyn Fn(Node) -> bool) -> Vec<Vec<Node>> {
        let states = graph.len();
        let mut components = Self {
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
            if components.met[node as usize] == 0 && inside(node) {
                components.enter(node);
                components.search();
            }
        }
        components.found
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
        let mut component = Vec::new();
        while let Some(member) = self.stack.pop() {
            self.on_stack[member as usize] = false;
            component.push(member);
            if member == node {
                break;
            }
        }
        component.sort_unstable();
        let loops = |node: Node| self.graph.edges(node).iter().any(|edge| edge.to == node);
        if component.len() > 1 || loops(node) {
            self.found.push(component);
        }
    }
}
