//! Strongly connected components of the state graph: sets of states that can all be reached from
//! each other, so that a run can stay in them for ever. Tarjan's algorithm, without recursion.

use crate::state_graph::{Edge, StateId};

/// The strongly connected components of a graph of so many states that have at least one move
/// inside, each in the order of its states. Only the states that are `inside` count.
pub fn components<'g>(
    states: usize,
    edges: &dyn Fn(StateId) -> &'g [Edge],
    inside: &dyn Fn(StateId) -> bool,
) -> Vec<Vec<StateId>> {
    let mut tarjan = Tarjan {
        edges,
        inside,
        met: vec![0; states],
        low: vec![0; states],
        on_stack: vec![false; states],
        stack: Vec::new(),
        path: Vec::new(),
        clock: 0,
        found: Vec::new(),
    };
    for node in 0..states as StateId {
        if tarjan.met[node as usize] == 0 && inside(node) {
            tarjan.enter(node);
            tarjan.search();
        }
    }
    tarjan.found
}

struct Tarjan<'a, 'g> {
    edges: &'a dyn Fn(StateId) -> &'g [Edge],
    inside: &'a dyn Fn(StateId) -> bool,
    /// By state: when it was met, from 1; 0 if it was not.
    met: Vec<u32>,
    /// The earliest state that can be come back to.
    low: Vec<u32>,
    on_stack: Vec<bool>,
    stack: Vec<StateId>,
    /// The states being looked at, each with the number of its next move.
    path: Vec<(StateId, usize)>,
    clock: u32,
    found: Vec<Vec<StateId>>,
}

impl Tarjan<'_, '_> {
    fn enter(&mut self, node: StateId) {
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
            match (self.edges)(node).get(next) {
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

    fn leave(&mut self, node: StateId) {
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
        let loops = |node: StateId| (self.edges)(node).iter().any(|edge| edge.to == node);
        if component.len() > 1 || loops(node) {
            self.found.push(component);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::intern::mix;

    const STATES: usize = 7;

    /// Which states can be reached from which, by one move or more.
    fn reachable(edges: &[Vec<Edge>]) -> Vec<Vec<bool>> {
        let mut reach = vec![vec![false; STATES]; STATES];
        for (from, edges) in edges.iter().enumerate() {
            for edge in edges {
                reach[from][edge.to as usize] = true;
            }
        }
        for via in 0..STATES {
            for from in 0..STATES {
                for to in 0..STATES {
                    reach[from][to] |= reach[from][via] && reach[via][to];
                }
            }
        }
        reach
    }

    #[test]
    fn a_component_is_a_largest_set_of_states_that_reach_each_other() {
        let mut found = 0;
        for seed in 0..1_000_u64 {
            let inside = |state: StateId| mix(seed * 97 + u64::from(state)) % 8 != 0;
            let is_edge = |from: usize, to: usize| {
                mix((seed << 8) + (from * STATES + to) as u64 + 1).is_multiple_of(4)
            };
            let to = |from: usize| {
                let to = (0..STATES).filter(move |&to| is_edge(from, to));
                to.map(|to| Edge { to: to as StateId, obligation: None }).collect()
            };
            let edges: Vec<Vec<Edge>> = (0..STATES).map(to).collect();
            let mut within = edges.clone();
            for (from, edges) in within.iter_mut().enumerate() {
                edges.retain(|edge| inside(from as StateId) && inside(edge.to));
            }
            let reach = reachable(&within);
            let mut expected: Vec<Vec<StateId>> = Vec::new();
            for state in 0..STATES {
                let mutual = |&other: &usize| reach[state][other] && reach[other][state];
                let component: Vec<_> =
                    (0..STATES).filter(mutual).map(|it| it as StateId).collect();
                if component.first() == Some(&(state as StateId)) {
                    expected.push(component);
                }
            }
            let mut components = components(STATES, &|node| &edges[node as usize], &inside);
            components.sort();
            found += components.len();
            assert_eq!(components, expected, "seed {seed}: {edges:?}");
        }
        assert!(found > 500, "{found} components are too few to tell");
    }
}
