//! The parts of a state, and its hash, which is kept up to date part by part (incremental hashing,
//! as in Zobrist's tables for board games).

use super::globals::Globals;
use super::links::Links;
use super::locals::Locals;
use crate::space::{ContentId, GlobalId, Slot, Space};
use crate::state::State;
use crate::workings::LocalId;

/// What one thread knows of the parts of states.
///
/// Invariant: the hash of a state is the sum of those of its parts. Nobody else changes a part of
/// a state, so it stays that.
pub struct Parts {
    pub locals: Locals,
    pub links: Links,
    pub globals: Globals,
}

impl Parts {
    pub fn new(space: &Space<'_>, nodes: usize) -> Self {
        let links = Links::new(space, nodes);
        Self { locals: Locals::default(), links, globals: Globals::default() }
    }

    #[inline]
    pub fn set_node(&self, state: &mut State, node: u16, local: LocalId) {
        let was = std::mem::replace(&mut state.nodes[usize::from(node)], local);
        let change = self.locals.hash(local).wrapping_sub(self.locals.hash(was));
        state.hash = state.hash.wrapping_add(change);
    }

    #[inline]
    pub fn set_link(&self, state: &mut State, slot: Slot, content: ContentId) {
        let place = usize::from(slot);
        if place >= state.links.len() {
            state.links.resize(place + 1, 0);
        }
        let was = std::mem::replace(&mut state.links[place], content);
        let change = self.links.hash(slot, content).wrapping_sub(self.links.hash(slot, was));
        state.hash = state.hash.wrapping_add(change);
    }

    #[inline]
    pub fn set_global(&self, state: &mut State, global: GlobalId) {
        let was = std::mem::replace(&mut state.global, global);
        let change = self.globals.hash(global).wrapping_sub(self.globals.hash(was));
        state.hash = state.hash.wrapping_add(change);
    }

    /// The hash of a state, worked out from all its parts.
    pub fn hash(&self, state: &State) -> u64 {
        let nodes = state.nodes.iter().map(|&local| self.locals.hash(local));
        let links = state.links.iter().enumerate();
        let links = links.map(|(slot, &content)| self.links.hash(slot as Slot, content));
        nodes.chain(links).fold(self.globals.hash(state.global), u64::wrapping_add)
    }
}
