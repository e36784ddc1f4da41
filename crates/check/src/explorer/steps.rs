//! What becomes of nodes, worked out only once: what one thread has, the others take over.

use super::Explorer;
use crate::outcome::{Outcome, Outcomes};
use crate::workings::{Effects, Input, LocalId};
use std::rc::Rc;

/// What comes of inputs to nodes.
#[derive(Default)]
pub(super) struct Steps {
    /// By state of the node: the code of each input, and what comes of it. States that are looked
    /// at one after the other have most of their nodes in common, so these are at hand.
    known: Vec<Vec<(u64, Outcomes)>>,
    /// How many of those that were worked out have been taken over.
    taken_over: usize,
}

impl Steps {
    fn get(&self, local: LocalId, input: u64) -> Option<&Outcomes> {
        let inputs = self.known.get(local as usize)?;
        inputs.iter().find(|(code, _)| *code == input).map(|(_, outcomes)| outcomes)
    }

    fn insert(&mut self, local: LocalId, input: u64, outcomes: Outcomes) {
        let place = local as usize;
        if place >= self.known.len() {
            self.known.resize(place + 1, Vec::new());
        }
        self.known[place].push((input, outcomes));
    }
}

impl Explorer<'_> {
    /// What becomes of a node.
    pub fn steps(&mut self, local: LocalId, input: Input) -> Outcomes {
        let code = input.code();
        if let Some(known) = self.steps.get(local, code) {
            return known.clone();
        }
        self.learn_steps();
        if self.steps.get(local, code).is_none() {
            self.space.take(local, input);
            self.learn_steps();
        }
        self.steps.get(local, code).expect("it was worked out").clone()
    }

    /// Takes over the steps that were worked out by whichever thread, and what comes of them.
    fn learn_steps(&mut self) {
        let more = self.space.steps(self.steps.taken_over);
        self.steps.taken_over += more.len();
        for step in more {
            let outcomes = || step.outcomes.iter();
            let effects = outcomes().any(|it| it.effects as usize >= self.effects.len());
            if effects || outcomes().any(|it| it.local as usize >= self.faces.len()) {
                self.learn();
            }
            if self.steps.get(step.local, step.input).is_none() {
                self.steps.insert(step.local, step.input, step.outcomes);
            }
        }
    }

    /// What an outcome does to others.
    pub fn effects(&self, outcome: Outcome) -> &Effects {
        &self.effects[outcome.effects as usize]
    }

    pub(super) fn learn_effects(&mut self) {
        let more = self.space.effects(self.effects.len());
        self.effects.extend(more.into_iter().map(Rc::new));
    }
}
