//! Partial-order reduction: moves that commute need to be looked at in one order only.
//!
//! A move changes the node at which it happens, and the links that lead from it. Moves at different
//! nodes therefore commute. So it is enough to look at all moves of *some* nodes (an ample set) and
//! at those of the others later, provided that
//!
//! - something has to happen at one of them sooner or later, so that nothing is put off for ever;
//! - nothing that the others do can enable a further move there: every link that ever leads from
//!   one of the others has a message waiting already, and links deliver in order;
//! - all of the moves are invisible: nobody enters or leaves. (Who learns of which leader does not
//!   count: all of it is remembered, in whatever order it comes, and judged at the end.)
//! - not all of them lead to where the search has been already: else a cycle of these moves could
//!   hide the others for ever (the cycle condition; `search` sees to it).
//!
//! And a single message is enough if it commutes even with all that could come to its own node
//! before it ([`commutation`]).
//!
//! Which links are ever used is learnt on the way. Should a new one come up, all that was left out
//! before is in doubt, and the search begins anew with what it has learnt.

mod commutation;
pub mod reachable_inputs;

use crate::explorer::Explorer;
use crate::moves::{Action, Enabled};
use crate::state::State;
use crate::vocabulary::Ask;
use commutation::Commutation;
use conclave_core::{Bounds, Network, Timing};

/// Whether moves commute at all within these bounds. Faults draw on one account, so any two of them
/// depend on each other; and so do a message that is sent where there is no more room, and the one
/// that arrives and makes room.
pub fn is_possible(bounds: &Bounds) -> bool {
    let unbounded = bounds.in_flight.is_none();
    bounds.network == Network::Fifo && unbounded && !bounds.has_faults() && bounds.cancels == 0
}

/// Moves an ample set to the front of the enabled moves, if there is one smaller than all of them:
/// how many it has. If it can be foreseen what may come to a node, one message may be enough.
pub fn ample_set(
    explorer: &mut Explorer<'_>,
    state: &State,
    enabled: &mut [Enabled],
    foresees: bool,
) -> Option<usize> {
    if enabled.len() < 2 {
        return None;
    }
    let mut reduction = PartialOrder { explorer, state, enabled };
    let nodes = reduction.fewest_nodes();
    if foresees
        && nodes.is_none_or(|(count, _)| count > 1)
        && let Some(place) = reduction.single_message()
    {
        enabled.swap(0, place);
        return Some(1);
    }
    let (count, set) = nodes?;
    enabled.sort_by_key(|enabled| set >> explorer.node_of(enabled.action) & 1 == 0);
    Some(count)
}

/// What there is to do at a node.
#[derive(Clone, Copy, Debug, Default)]
struct Agenda {
    moves: usize,
    due: bool,
    /// The nodes from which a message could come that is not awaited yet, one bit each.
    open_to: u64,
}

/// One state and its enabled moves, among which an ample set is looked for.
struct PartialOrder<'e, 'a, 's> {
    explorer: &'e mut Explorer<'a>,
    state: &'s State,
    enabled: &'s [Enabled],
}

impl PartialOrder<'_, '_, '_> {
    /// The set of nodes, one bit each, whose moves are an ample set with the fewest moves, and how
    /// many those are. `None` if that would be all moves.
    fn fewest_nodes(&mut self) -> Option<(usize, u64)> {
        let agendas = self.agendas();
        let mut best: Option<(usize, u64)> = None;
        for node in 0..agendas.len() {
            let set = closed(&agendas, 1 << node);
            let within = || (0..agendas.len()).filter(|&other| set >> other & 1 == 1);
            let count = within().map(|other| agendas[other].moves).sum();
            let fewer = best.map_or(count < self.enabled.len(), |(least, _)| count < least);
            let due = within().any(|other| agendas[other].due);
            if fewer && due && self.are_invisible(set) {
                best = Some((count, set));
            }
        }
        best
    }

    /// The arrival of one message that is an ample set by itself. The links are gone through by
    /// their ends: by number, it would depend on who used them first.
    fn single_message(&mut self) -> Option<usize> {
        let mut arrivals = Vec::new();
        for (place, enabled) in self.enabled.iter().enumerate() {
            if let Action::Deliver { slot, .. } = enabled.action {
                arrivals.push((self.explorer.links()[usize::from(slot)], place, slot));
            }
        }
        arrivals.sort_unstable();
        let enough = arrivals.into_iter().find(|&(_, place, slot)| {
            self.is_invisible(self.enabled[place].action)
                && Commutation::new(self.explorer).comes_first(self.state, slot)
        });
        enough.map(|(_, place, _)| place)
    }

    fn agendas(&self) -> Vec<Agenda> {
        let mut agendas = vec![Agenda::default(); self.state.nodes.len()];
        for enabled in self.enabled {
            let agenda = &mut agendas[usize::from(self.explorer.node_of(enabled.action))];
            agenda.moves += 1;
            agenda.due |= enabled.due;
        }
        for (slot, (from, to)) in self.explorer.links().iter().enumerate() {
            if self.state.link(slot as u16) == 0 {
                agendas[to.index()].open_to |= 1 << from.0;
            }
        }
        agendas
    }

    /// Whether every move of these nodes is invisible.
    fn are_invisible(&mut self, set: u64) -> bool {
        self.enabled.iter().all(|enabled| {
            let theirs = set >> self.explorer.node_of(enabled.action) & 1 == 1;
            !theirs || self.is_invisible(enabled.action)
        })
    }

    /// Whether no property can tell that a move was made, and it changes no other node.
    fn is_invisible(&mut self, action: Action) -> bool {
        let shows = match action {
            Action::Ask { ask, .. } => ask == Ask::Release,
            Action::Fire { .. } => self.explorer.space().bounds.timing == Timing::Synchronous,
            Action::Deliver { .. } => false,
            Action::Repeat { .. }
            | Action::Lose { .. }
            | Action::Crash { .. }
            | Action::Restart { .. }
            | Action::Suspect { .. }
            | Action::Trust { .. } => true,
        };
        if shows {
            return false;
        }
        let outcomes = self.explorer.outcomes(self.state, action);
        outcomes.iter().all(|outcome| self.explorer.effects(*outcome).is_silent())
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
