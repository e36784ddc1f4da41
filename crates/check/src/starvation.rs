//! Starvation, livelock and lasting disagreement: fair cycles in the state graph.
//!
//! Liveness under fairness: a strongly connected component in which a run can stay for ever without
//! being unfair is a counterexample if, as long as it stays there,
//! - the same client waits, or has no leader (starvation: `V2`, `E2`);
//! - somebody waits and nobody enters (livelock: `V1`);
//! - leaders are followed, again and again, that are not the one right leader (`E1`).
//!
//! It is shown as a lasso: a way into the cycle, and the cycle.

use crate::fairness::{fair_cycle, is_fair};
use crate::state_graph::{StateGraph, StateId};
use crate::strongly_connected::components;
use conclave_core::Property;

/// A way into a cycle, and the cycle: the first of its states is the last of the way.
#[derive(Clone, Debug)]
pub struct Lasso {
    pub stem: Vec<StateId>,
    pub cycle: Vec<StateId>,
}

/// The fair cycle that is come to soonest in which a property is violated. With `cut`, also where
/// only the bounds keep a timer from firing, which may be the reason.
///
/// Only states whose moves are all known are looked at: a cycle among them is one, whatever else
/// there may be.
pub fn lasso(graph: &StateGraph, property: Property, clients: u32, cut: bool) -> Option<Lasso> {
    let fair = |counts: &dyn Fn(usize) -> bool, bad: &dyn Fn(usize) -> bool| {
        let inside = |node: StateId| {
            let place = node as usize;
            graph.is_expanded(node) && (cut || !graph.cut[place]) && counts(place)
        };
        let components = components(graph.len(), &|node| graph.edges(node), &inside);
        components
            .into_iter()
            .filter_map(|component| beginning_with(component, &|node| bad(node as usize)))
            .filter(|component| is_fair(graph, component))
            .min_by_key(|component| component[0])
    };
    let any = |_: usize| true;
    let component = match property {
        Property::V1 => {
            let waits = |place: usize| graph.wanting[place] != 0 && !graph.inside[place];
            fair(&waits, &any)?
        }
        Property::E1 => fair(&any, &|place: usize| graph.misled[place])?,
        Property::V2 | Property::E2 => (0..clients)
            .filter_map(|client| fair(&|place| graph.wanting[place] >> client & 1 == 1, &any))
            .min_by_key(|component| graph.way(component[0]).len())?,
        Property::S1
        | Property::S1Eff
        | Property::BW
        | Property::HB
        | Property::HBExact
        | Property::F1
        | Property::E1Term
        | Property::D1
        | Property::D2 => return None, // No endless run is needed to violate these.
    };
    let cycle = fair_cycle(graph, &component);
    Some(Lasso { stem: graph.way(component[0]), cycle })
}

/// A component with its first such state in front, if it has one.
fn beginning_with(
    mut component: Vec<StateId>,
    bad: &dyn Fn(StateId) -> bool,
) -> Option<Vec<StateId>> {
    let place = component.iter().position(|&node| bad(node))?;
    component[..=place].rotate_right(1);
    Some(component)
}

#[cfg(test)]
mod tests;
