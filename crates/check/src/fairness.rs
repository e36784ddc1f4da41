//! Fairness: a move that is enabled all the time is made sooner or later (weak fairness).
//!
//! Liveness is judged only in fair runs: a message that is never delivered, a timer that never
//! fires or a user who never leaves would make every algorithm starve. Which moves fairness asks
//! for is said where they are enumerated ([`crate::moves::Enabled::due`]). Each is an obligation:
//! an endless run must fulfil it again and again, unless it lapses, that is, comes to states again
//! and again in which the move is not enabled.

use crate::explorer::Explorer;
use crate::intern::Plain;
use crate::moves::Action;
use crate::space::Slot;
use crate::state::State;
use crate::state_graph::{Edge, StateGraph, StateId};
use crate::workings::{LocalId, PacketId};
use conclave_core::Network;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

/// The number of something that must happen, sooner or later, if it can all the time: a delivery on
/// a link, the firing of a timer, an exit.
pub type Obligation = u32;

/// Whether a run can stay in a strongly connected component for ever and be fair: each obligation
/// is fulfilled there, or lapses there.
pub fn is_fair(graph: &StateGraph, component: &[StateId]) -> bool {
    let members: BTreeSet<StateId> = component.iter().copied().collect();
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

/// A fair cycle through a component, from its first state: every obligation is fulfilled on it, or
/// lapses.
pub fn fair_cycle(graph: &StateGraph, component: &[StateId]) -> Vec<StateId> {
    let members: BTreeSet<StateId> = component.iter().copied().collect();
    let mut owed: BTreeSet<Obligation> = BTreeSet::new();
    for &node in component {
        owed.extend(graph.obligations(node));
    }
    let mut trip = vec![component[0]];
    settle(graph, component[0], None, &mut owed);
    while let Some(&obligation) = owed.first() {
        let here = trip[trip.len() - 1];
        let goal = |node: StateId, edge: Option<Edge>| {
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
        let home = |node: StateId, edge: Option<Edge>| edge.is_some() && node == component[0];
        let way = way_within(graph, &members, here, &home).unwrap_or_default();
        trip.extend(way.iter().map(|edge| edge.to));
    }
    trip
}

/// Strikes out the obligations that a move fulfils and those that lapse where it leads.
fn settle(graph: &StateGraph, node: StateId, edge: Option<Edge>, owed: &mut BTreeSet<Obligation>) {
    if let Some(obligation) = edge.and_then(|edge| edge.obligation) {
        owed.remove(&obligation);
    }
    owed.retain(|obligation| graph.obligations(node).contains(obligation));
}

/// The shortest way within a component to where the goal is met.
fn way_within(
    graph: &StateGraph,
    members: &BTreeSet<StateId>,
    from: StateId,
    goal: &dyn Fn(StateId, Option<Edge>) -> bool,
) -> Option<Vec<Edge>> {
    let mut before: BTreeMap<StateId, (StateId, Edge)> = Default::default();
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

/// Gives each obligation its number.
#[derive(Default)]
pub struct Obligations {
    moves: HashMap<Action, Obligation, Plain>,
    messages: HashMap<(Slot, PacketId), Obligation, Plain>,
    timers: HashMap<(u16, String), Obligation>,
    known: HashMap<(LocalId, u8), Obligation, Plain>,
    count: Obligation,
}

impl Obligations {
    pub fn number(&mut self, explorer: &Explorer<'_>, state: &State, action: Action) -> Obligation {
        let fresh = self.count;
        let number = match action {
            Action::Fire { node, timer } => {
                // Which place a timer has among those that run says nothing; its name does.
                let local = state.nodes[usize::from(node)];
                let timers = &mut self.timers;
                *self.known.entry((local, timer)).or_insert_with(|| {
                    let name = explorer.space().workings.timer(local, timer);
                    *timers.entry((node, name)).or_insert(fresh)
                })
            }
            Action::Deliver { slot, take } => {
                let message = message(explorer, state, slot, take);
                *self.messages.entry((slot, message)).or_insert(fresh)
            }
            Action::Repeat { .. }
            | Action::Lose { .. }
            | Action::Ask { .. }
            | Action::Crash { .. }
            | Action::Restart { .. }
            | Action::Suspect { .. }
            | Action::Trust { .. } => *self.moves.entry(action).or_insert(fresh),
        };
        self.count += u32::from(number == fresh);
        number
    }
}

/// A link that delivers in order owes its first message; any other, each message it has.
fn message(explorer: &Explorer<'_>, state: &State, slot: Slot, take: u16) -> PacketId {
    match explorer.space().bounds.network {
        Network::Fifo => 0,
        Network::Bag => {
            let content = explorer.content(state.link(slot));
            content.takes[usize::from(take)].0
        }
    }
}
