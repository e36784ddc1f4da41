//! Counterexamples: the run that leads to a state, as a story of moves.

use crate::explorer::Explorer;
use crate::moves::{self, Action, Enabled};
use crate::outcome::Outcome;
use crate::space::Slot;
use crate::state::State;
use crate::symmetry::{Symmetry, key};
use crate::visited::{Visited, is_that};
use crate::vocabulary::Ask;
use crate::workings::PacketId;
use conclave_core::{Moment, Move, Network, NodeId};

/// A move, which of its outcomes came, and the state after it.
#[derive(Clone, Debug)]
pub struct Stride {
    pub action: Action,
    pub outcome: Outcome,
    pub after: State,
}

/// The way to a state of this hash after so many moves, from a state in which runs begin.
pub fn way(
    explorer: &mut Explorer<'_>,
    symmetry: &mut Option<Symmetry>,
    visited: &Visited,
    hash: u64,
    depth: u32,
) -> Option<(State, Vec<Stride>)> {
    let mut lows = vec![hash];
    for depth in (1..=depth).rev() {
        let low = *lows.last()?;
        lows.push(visited.parent(low, depth)?);
    }
    lows.reverse();
    let first = explorer.initial();
    let begun = first.into_iter().find(|state| is_that(key(explorer, symmetry, state), lows[0]))?;
    let mut strides: Vec<Stride> = Vec::new();
    for &low in &lows[1..] {
        let state = strides.last().map_or(&begun, |stride| &stride.after).clone();
        strides.push(step_to(explorer, symmetry, &state, low)?);
    }
    Some((begun, strides))
}

fn step_to(
    explorer: &mut Explorer<'_>,
    symmetry: &mut Option<Symmetry>,
    state: &State,
    low: u64,
) -> Option<Stride> {
    let mut enabled = Vec::new();
    moves::enabled(explorer, state, &mut enabled);
    for Enabled { action, .. } in enabled {
        for &outcome in explorer.outcomes(state, action).iter() {
            let mut after = State::default();
            explorer.advance(state, action, outcome, &mut after);
            if is_that(key(explorer, symmetry, &after), low) {
                return Some(Stride { action, outcome, after });
            }
        }
    }
    None
}

/// The messages under way on each link in the order of sending, which a bag does not know.
struct Under<'a, 'b> {
    explorer: &'a Explorer<'b>,
    links: Vec<Vec<PacketId>>,
}

/// The same moves in words that every driver understands.
pub fn moments(explorer: &Explorer<'_>, begun: &State, strides: &[Stride]) -> Vec<Moment> {
    let contents = begun.links.iter().map(|&link| &explorer.content(link).packets);
    let mut links: Vec<Vec<PacketId>> = contents.cloned().collect();
    links.resize(explorer.links().len(), Vec::new());
    let mut under = Under { explorer, links };
    let mut before = begun;
    let mut moments = opening(explorer, begun);
    for stride in strides {
        let act = under.name(before, stride);
        let choices = explorer.effects(stride.outcome).choices.clone();
        moments.push(Moment { act, choices });
        before = &stride.after;
    }
    moments
}

/// Those who call for an election at the first moment have done so in the first state.
pub fn opening(explorer: &Explorer<'_>, begun: &State) -> Vec<Moment> {
    let nodes = (0..explorer.clients() as u16).filter(|&node| explorer.face(begun, node).begun);
    let call = |node| Moment { act: asked(id(node), Ask::Campaign), choices: Vec::new() };
    nodes.map(call).collect()
}

impl Under<'_, '_> {
    fn name(&mut self, before: &State, stride: &Stride) -> Move {
        let told = match stride.action {
            Action::Deliver { slot, take } => {
                let (from, to, place) = self.find(before, slot, take);
                self.take(slot, place);
                Move::Deliver { from, to, place }
            }
            Action::Repeat { slot, take } => {
                let (from, to, place) = self.find(before, slot, take);
                Move::Repeat { from, to, place }
            }
            Action::Lose { slot, take } => {
                let (from, to, place) = self.find(before, slot, take);
                self.take(slot, place);
                Move::Lose { from, to, place }
            }
            Action::Fire { node, timer } => {
                let local = before.nodes[usize::from(node)];
                let timer = self.explorer.space().workings.timer(local, timer);
                Move::Fire { node: id(node), timer }
            }
            Action::Ask { node, ask } => asked(id(node), ask),
            Action::Crash { node } => Move::Crash { node: id(node) },
            Action::Restart { node, amnesia } => Move::Restart { node: id(node), amnesia },
            Action::Suspect { by, of, .. } => Move::Suspect { by: id(by), of: id(of.into()) },
            Action::Trust { by, of } => Move::Trust { by: id(by), of: id(of.into()) },
        };
        let from = self.explorer.node_of(stride.action);
        for &(to, packet) in &self.explorer.effects(stride.outcome).sends {
            let link = (id(from), id(to));
            let slot = self.explorer.links().iter().position(|&known| known == link);
            self.links[slot.expect("a link that was used is known")].push(packet);
        }
        told
    }

    fn take(&mut self, slot: Slot, place: usize) {
        let link = &mut self.links[usize::from(slot)];
        if place < link.len() {
            link.remove(place);
        }
    }

    fn find(&self, before: &State, slot: Slot, take: u16) -> (NodeId, NodeId, usize) {
        let (from, to) = self.explorer.links()[usize::from(slot)];
        if self.explorer.space().bounds.network == Network::Fifo {
            return (from, to, 0);
        }
        let content = self.explorer.content(before.link(slot));
        let packet = content.takes[usize::from(take)].0;
        let mut under_way = self.links[usize::from(slot)].iter();
        (from, to, under_way.position(|&sent| sent == packet).expect("it is under way"))
    }
}

fn id(node: u16) -> NodeId {
    NodeId(u32::from(node))
}

fn asked(node: NodeId, ask: Ask) -> Move {
    match ask {
        Ask::Acquire => Move::Acquire { node },
        Ask::Release => Move::Release { node },
        Ask::Cancel => Move::Cancel { node },
        Ask::Campaign => Move::Campaign { node },
    }
}
