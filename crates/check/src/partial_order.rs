//! Moves that can be exchanged need to be looked at in one order only.
//!
//! A move changes the node at which it happens, and the links that lead from it. Moves at different
//! nodes can therefore be exchanged. So it is enough to look at all moves of *one* node, the others
//! later, provided that
//!
//! - something has to happen at that node sooner or later, so that nothing is put off for ever;
//! - nothing that others do can make a further move possible there: no message can arrive on a link
//!   that is empty now, since every link that ever leads there has one waiting already, and links
//!   deliver in order;
//! - none of the moves shows: nobody enters, leaves, or learns of a leader;
//! - not all of them lead to where the search has been already: else a circle of moves of one node
//!   could hide the others for ever.
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

impl Explorer<'_> {
    /// Moves all of one node to the front, if it is enough to look at those: how many.
    pub fn put_first(&mut self, state: &State, turns: &mut [Turn]) -> Option<usize> {
        if turns.len() < 2 {
            return None;
        }
        let mut best: Option<(usize, u16)> = None;
        for node in 0..state.nodes.len() as u16 {
            let count = turns.iter().filter(|turn| self.place(turn.act) == node).count();
            let fewer = best.is_none_or(|(least, _)| count < least);
            if count > 0 && count < turns.len() && fewer && self.suffices(state, turns, node) {
                best = Some((count, node));
            }
        }
        let (count, node) = best?;
        turns.sort_by_key(|turn| self.place(turn.act) != node);
        Some(count)
    }

    fn suffices(&mut self, state: &State, turns: &[Turn], node: u16) -> bool {
        let own = |explorer: &Self, turn: &Turn| explorer.place(turn.act) == node;
        if !turns.iter().any(|turn| turn.due && own(self, turn)) || !self.is_supplied(state, node) {
            return false;
        }
        turns.iter().all(|turn| !own(self, turn) || self.is_hidden(state, turn.act))
    }

    /// Whether a message waits on every link to this node.
    fn is_supplied(&self, state: &State, node: u16) -> bool {
        let waits = |slot: usize| state.link(slot) != 0;
        let links = self.slots.iter().enumerate();
        let mut towards = links.filter(|(_, (_, to))| to.0 == u32::from(node));
        towards.all(|(slot, _)| waits(slot))
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
        !shows && self.outcomes(state, act).iter().all(|outcome| outcome.words.is_empty())
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
