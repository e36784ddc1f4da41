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

    /// The states that can be reached from one, by one move or more.
    fn ahead(edges: &[Vec<Edge>], state: usize) -> Vec<StateId> {
        let mut ahead: Vec<StateId> = edges[state].iter().map(|edge| edge.to).collect();
        let mut next = 0;
        while next < ahead.len() {
            for edge in &edges[ahead[next] as usize] {
                if !ahead.contains(&edge.to) {
                    ahead.push(edge.to);
                }
            }
            next += 1;
        }
        ahead
    }

    /// By definition: for each state, those that it reaches and that reach it.
    fn expected(edges: &[Vec<Edge>]) -> Vec<Vec<StateId>> {
        let reach: Vec<_> = (0..STATES).map(|state| ahead(edges, state)).collect();
        let mut components: Vec<Vec<StateId>> = Vec::new();
        for (state, ahead) in (0..).zip(&reach) {
            let mutual = |other: &StateId| reach[*other as usize].contains(&state);
            let mut component: Vec<_> = ahead.iter().copied().filter(mutual).collect();
            component.sort_unstable();
            component.dedup();
            if component.first() == Some(&state) {
                components.push(component);
            }
        }
        components
    }

    #[test]
    fn a_component_is_a_largest_set_of_states_that_reach_each_other() {
        let mut found = 0;
        for seed in 0..1_000_u64 {
            let inside = |state: StateId| !mix(seed * 97 + u64::from(state)).is_multiple_of(8);
            let is_edge = |from: usize, to: usize| {
                mix((seed << 8) + (from * STATES + to) as u64 + 1).is_multiple_of(4)
            };
            let to = |from: usize| {
                let to = (0..STATES).filter(move |&to| is_edge(from, to));
                to.map(|to| Edge { to: to as StateId, obligation: None }).collect()
            };
            let edges: Vec<Vec<Edge>> = (0..STATES).map(to).collect();
            let mut within = edges.clone();
            for (from, edges) in (0..).zip(&mut within) {
                edges.retain(|edge| inside(from) && inside(edge.to));
            }
            let mut components = components(STATES, &|state| &edges[state as usize], &inside);
            components.sort();
            found += components.len();
            assert_eq!(components, expected(&within), "seed {seed}: {edges:?}");
        }
        assert!(found > 500, "{found} components are too few to tell");
    }
}
