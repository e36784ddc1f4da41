//! Global parts of states as one thread knows them: fault budgets and history variables.

use crate::global::{Budget, Global};
use crate::intern::Plain;
use crate::space::{GlobalId, Space};
use std::collections::HashMap;
use std::rc::Rc;

/// What one thread knows of the global parts of states.
///
/// Invariant: it knows a prefix of those that all threads share, and every one whose number it has
/// returned.
#[derive(Default)]
pub struct Globals {
    /// By number: the value and its hash.
    known: Vec<(Rc<Global>, u64)>,
    /// What is left after one fault of a kind.
    charges: HashMap<(GlobalId, Budget), GlobalId, Plain>,
}

impl Globals {
    /// Takes over what is new.
    pub fn learn(&mut self, space: &Space<'_>) {
        let more = space.globals(self.known.len()).into_iter();
        self.known.extend(more.map(|(global, hash)| (Rc::new(global), hash)));
    }

    #[inline]
    pub fn get(&self, id: GlobalId) -> &Rc<Global> {
        &self.known[id as usize].0
    }

    #[inline]
    pub fn hash(&self, id: GlobalId) -> u64 {
        self.known[id as usize].1
    }

    pub fn intern(&mut self, space: &Space<'_>, global: Global) -> GlobalId {
        let id = space.global(global);
        if id as usize >= self.known.len() {
            self.learn(space);
        }
        id
    }

    /// What comes of one when it is changed like this.
    pub fn changed(
        &mut self,
        space: &Space<'_>,
        id: GlobalId,
        change: impl FnOnce(&mut Global),
    ) -> GlobalId {
        let mut global = Global::clone(self.get(id));
        change(&mut global);
        self.intern(space, global)
    }

    /// What is left of the budgets after a fault of this kind.
    pub fn charged(&mut self, space: &Space<'_>, id: GlobalId, budget: Budget) -> GlobalId {
        if let Some(&known) = self.charges.get(&(id, budget)) {
            return known;
        }
        let charged = self.changed(space, id, |global| *global.left(budget) -= 1);
        self.charges.insert((id, budget), charged);
        charged
    }
}
