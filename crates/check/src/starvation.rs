//! Starvation: fair cycles in the state graph in which a client waits for ever.
//!
//! Liveness under fairness: a strongly connected component in all of whose states the same client
//! waits (or has no leader), and in which a run can stay for ever without being unfair, is a
//! counterexample. It is shown as a lasso: a way into the cycle, and the cycle.

use crate::fairness::{fair_cycle, is_fair};
use crate::state_graph::{StateGraph, StateId};
use crate::strongly_connected::components;

/// A way into a cycle, and the cycle: the first of its states is the last of the way.
#[derive(Clone, Debug)]
pub struct Lasso {
    pub stem: Vec<StateId>,
    pub cycle: Vec<StateId>,
}

/// The fair cycle that is come to soonest in which some node goes on waiting. With `cut`, also
/// where only the bounds keep a timer from firing, which may be why it goes on waiting.
pub fn lasso(graph: &StateGraph, clients: u32, cut: bool) -> Option<Lasso> {
    let components =
        (0..clients).filter_map(|client| first_fair_component(graph, 1 << client, cut));
    let component = components.min_by_key(|component| graph.way(component[0]).len())?;
    let cycle = fair_cycle(graph, &component);
    Some(Lasso { stem: graph.way(component[0]), cycle })
}

/// The fair component that is come to soonest, in all states of which somebody waits in vain. They
/// are in the order in which they were found.
fn first_fair_component(graph: &StateGraph, wanting: u64, cut: bool) -> Option<Vec<StateId>> {
    let counts = |place: usize| cut || !graph.cut[place];
    let inside =
        |node: StateId| graph.wanting[node as usize] & wanting != 0 && counts(node as usize);
    let components = components(graph.len(), &|node| graph.edges(node), &inside);
    components
        .into_iter()
        .filter(|component| is_fair(graph, component))
        .min_by_key(|component| component[0])
}
