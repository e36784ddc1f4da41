//! Memoised steps: what becomes of a node is worked out once, by whichever thread, and then looked
//! up.

use crate::outcome::{Outcome, Outcomes};
use crate::space::{Space, Step};
use crate::workings::{Effects, LocalId};

/// The steps of nodes that one thread knows.
///
/// Invariant: the effects of every outcome that is known are known.
#[derive(Default)]
pub struct Steps {
    /// By state of the node: the code of each input, and what comes of it. States that are looked
    /// at one after the other have most of their nodes in common, so these are at hand.
    known: Vec<Vec<(u64, Outcomes)>>,
    /// How many of the steps that all threads share have been taken over.
    taken_over: usize,
    effects: Vec<Effects>,
}

impl Steps {
    #[inline]
    pub fn get(&self, local: LocalId, input: u64) -> Option<&Outcomes> {
        let inputs = self.known.get(local as usize)?;
        inputs.iter().find(|(code, _)| *code == input).map(|(_, outcomes)| outcomes)
    }

    /// What an outcome does to others.
    #[inline]
    pub fn effects(&self, outcome: Outcome) -> &Effects {
        &self.effects[outcome.effects as usize]
    }

    /// Whether the effects of this outcome have been taken over.
    #[inline]
    pub fn knows_effects(&self, outcome: &Outcome) -> bool {
        (outcome.effects as usize) < self.effects.len()
    }

    /// The steps that were worked out since this was last asked.
    pub fn fresh(&mut self, space: &Space<'_>) -> Vec<Step> {
        let fresh = space.steps(self.taken_over);
        self.taken_over += fresh.len();
        fresh
    }

    /// Keeps a step whose effects are known. Two threads may have worked out the same one.
    pub fn keep(&mut self, step: Step) {
        debug_assert!(step.outcomes.iter().all(|outcome| self.knows_effects(outcome)));
        if self.get(step.local, step.input).is_none() {
            self.insert(step.local, step.input, step.outcomes);
        }
    }

    fn insert(&mut self, local: LocalId, input: u64, outcomes: Outcomes) {
        let place = local as usize;
        if place >= self.known.len() {
            self.known.resize(place + 1, Vec::new());
        }
        self.known[place].push((input, outcomes));
    }

    pub fn learn_effects(&mut self, space: &Space<'_>) {
        self.effects.extend(space.effects(self.effects.len()));
    }
}
