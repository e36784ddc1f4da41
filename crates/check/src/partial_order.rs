//! Moves that can be exchanged need to be looked at in one order only.
//!
//! A move changes the node at which it happens, and the links that lead from it. Moves at different
//! nodes can therefore be exchanged. So it is enough to look at all moves of *some* nodes, those of
//! the others later, provided that
//!
//! - something has to happen at one of them sooner or later, so that nothing is put off for ever;
//! - nothing that the others do can make a further move possible there: every link that ever leads
//!   from one of the others has a message waiting already, and links deliver in order;
//! - none of the moves shows: nobody enters or leaves. (Who learns of which leader does not count:
//!   all of it is remembered, in whatever order it comes, and judged at the end.)
//! - not all of them lead to where the search has been already: else a circle of these moves could
//!   hide the others for ever.
//!
//! And a single message is enough if it can be exchanged even with all that could come to its own
//! node before it ([`crate::commute`]).
//!
//! Which links are ever used is learnt on the way. Should a new one come up, all that was left out
//! before is in doubt, and the search begins anew with what it has learnt.

use crate::explorer::Explorer;
use crate::moves::{Act, Turn};
use crate::state::State;
use crate::words::Ask;
use conclave_core::{Bounds, Network, Timing};

/// Whether moves can be exchanged at all within these bounds. Faults draw on one account, so any
/// two of them matter to each other.
pub fn is_possible(bounds: &Bounds) -> bool {
    bounds.network == Network::Fifo && !bounds.has_faults() && bounds.cancels == 0
}

/// What there is to do at a node.
#[derive(Clone, Copy, Debug, Default)]
struct Agenda {
    turns: usize,
    due: bool,
    /// The nodes from which a message could come that is not awaited yet, one bit each.
    open_to: u64,
}

impl Explorer<'_> {
    /// Moves the moves of some nodes to the front, if it is enough to look at those: how many.
    /// If it can be foreseen what may come to a node, one message may be enough.
    pub fn put_first(
        &mut self,
        state: &State,
        turns: &mut [Turn],
        foresees: bool,
    ) -> Option<usize> {
        if turns.len() < 2 {
            return None;
        }
        let agendas = self.agendas(state, turns);
        let mut best: Option<(usize, u64)> = None;
        for node in 0..agendas.len() {
            let set = closed(&agendas, 1 << node);
            let within = || (0..agendas.len()).filter(|&other| set >> other & 1 == 1);
            let count = within().map(|other| agendas[other].turns).sum();
            let fewer = best.map_or(count < turns.len(), |(least, _)| count < least);
            let due = within().any(|other| agendas[other].due);
            if fewer && due && self.are_hidden(state, turns, set) {
                best = Some((count, set));
            }
        }
        if foresees
            && best.is_none_or(|(count, _)| count > 1)
            && let Some(place) = self.enough(state, turns)
        {
            turns.swap(0, place);
            return Some(1);
        }
        let (count, set) = best?;
        turns.sort_by_key(|turn| set >> self.place(turn.act) & 1 == 0);
        Some(count)
    }

    /// The arrival of one message, if it is enough to look at that. The links are gone through by
    /// their ends: by number, it would depend on who used them first.
    fn enough(&mut self, state: &State, turns: &[Turn]) -> Option<usize> {
        let mut arrivals = Vec::new();
        for (place, turn) in turns.iter().enumerate() {
            if let Act::Deliver { slot, .. } = turn.act {
                arrivals.push((self.slots[usize::from(slot)], place, slot));
            }
        }
        arrivals.sort_unstable();
        let enough = arrivals.into_iter().find(|&(_, place, slot)| {
            self.is_hidden(state, turns[place].act) && self.comes_first(state, slot)
        });
        enough.map(|(_, place, _)| place)
    }

    fn agendas(&self, state: &State, turns: &[Turn]) -> Vec<Agenda> {
        let mut agendas = vec![Agenda::default(); state.nodes.len()];
        for turn in turns {
            let agenda = &mut agendas[usize::from(self.place(turn.act))];
            agenda.turns += 1;
            agenda.due |= turn.due;
        }
        for (slot, (from, to)) in self.slots.iter().enumerate() {
            if state.link(slot) == 0 {
                agendas[to.index()].open_to |= 1 << from.0;
            }
        }
        agendas
    }

    /// Whether nobody sees any move of these nodes.
    fn are_hidden(&mut self, state: &State, turns: &[Turn], set: u64) -> bool {
        let theirs = |explorer: &Self, act| set >> explorer.place(act) & 1 == 1;
        turns.iter().all(|turn| !theirs(self, turn.act) || self.is_hidden(state, turn.act))
    }

    /// Whether nobody sees a move, and it changes no other node.
    fn is_hidden(&mut self, state: &State, act: Act) -> bool {
        let shows = match act {
            Act::Ask { ask, .. } => ask == Ask::Release,
            Act::Fire { .. } => self.space.bounds.timing == Timing::Synchronous,
            Act::Deliver { .. } => false,
            Act::Repeat { .. }
            | Act::Lose { .. }
            | Act::Crash { .. }
            | Act::Restart { .. }
            | Act::Suspect { .. }
            | Act::Trust { .. } => true,
        };
        let outcomes = if shows { return false } else { self.outcomes(state, act) };
        outcomes.iter().all(|outcome| self.effects(*outcome).is_silent())
    }

    /// At which node a move happens.
    pub fn place(&self, act: Act) -> u16 {
        match act {
            Act::Deliver { slot, .. } | Act::Repeat { slot, .. } | Act::Lose { slot, .. } => {
                self.slots[usize::from(slot)].1.0 as u16
            }
            Act::Fire { node, .. }
            | Act::Ask { node, .. }
            | Act::Crash { node }
            | Act::Restart { node, .. } => node,
            Act::Suspect { by, .. } | Act::Trust { by, .. } => by,
        }
    }
}

/// These nodes, and all from which something unawaited could come to one of them.
fn closed(agendas: &[Agenda], mut set: u64) -> u64 {
    loop {
        let members = agendas.iter().enumerate().filter(|(node, _)| set >> node & 1 == 1);
        let wider = members.fold(set, |wider, (_, agenda)| wider | agenda.open_to);
        if wider == set {
            return set;
        }
        set = wider;
    }
}

#[cfg(test)]
mod tests;
