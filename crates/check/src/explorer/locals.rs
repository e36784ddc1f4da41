//! Local states: what one thread knows of the states that single nodes can be in.

use crate::intern::Plain;
use crate::space::Space;
use crate::state::State;
use crate::workings::{Face, LocalId};
use conclave_core::Timing;
use std::collections::HashMap;

/// What one thread knows of local states.
///
/// Invariants: it knows a prefix of all numbers that the algorithm has given out; `hashes[id]` is
/// `faces[id].hash`.
#[derive(Default)]
pub struct Locals {
    faces: Vec<Face>,
    /// The hashes, which are needed more often than all else of the faces.
    hashes: Vec<u64>,
    /// Local states after some time has passed, at least and at most so much.
    elapsed: HashMap<(LocalId, u64, u64), LocalId, Plain>,
}

impl Locals {
    /// Takes over what is new.
    pub fn learn(&mut self, space: &Space<'_>) {
        self.faces.extend(space.workings.faces(self.faces.len()));
        self.hashes.extend(self.faces[self.hashes.len()..].iter().map(|face| face.hash));
    }

    /// What can be seen of a local state.
    #[inline]
    pub fn face(&self, local: LocalId) -> &Face {
        &self.faces[local as usize]
    }

    /// The same of a node in a state.
    #[inline]
    pub fn of(&self, state: &State, node: u16) -> &Face {
        self.face(state.nodes[usize::from(node)])
    }

    #[inline]
    pub fn hash(&self, local: LocalId) -> u64 {
        self.hashes[local as usize]
    }

    /// Whether this number has been taken over.
    #[inline]
    pub fn knows(&self, local: LocalId) -> bool {
        (local as usize) < self.faces.len()
    }

    /// When the first of all timers must have fired. One that the bounds keep from firing counts,
    /// too: beyond it lies a time that no run comes to without it.
    pub fn first_deadline(&self, state: &State) -> Option<u64> {
        let faces = state.nodes.iter().map(|&local| self.face(local));
        faces.flat_map(|face| face.timers.iter().map(|&(_, latest)| latest)).min()
    }

    /// The state of `node` at the moment when a timer of the node `firing` fires.
    pub fn when_fired(
        &mut self,
        space: &Space<'_>,
        state: &State,
        (firing, timer): (u16, u8),
        node: u16,
    ) -> LocalId {
        let local = state.nodes[usize::from(node)];
        if space.bounds.timing == Timing::AnyMoment || self.face(local).timers.is_empty() {
            return local;
        }
        let least = self.of(state, firing).timers[usize::from(timer)].0;
        let most = self.first_deadline(state).unwrap_or(least);
        if most == 0 {
            return local;
        }
        if let Some(&known) = self.elapsed.get(&(local, least, most)) {
            return known;
        }
        let later = space.workings.later(local, least, most);
        self.learn(space);
        self.elapsed.insert((local, least, most), later);
        later
    }
}
