//! What becomes of nodes, worked out only once.

use super::Explorer;
use crate::space::Outcome;
use crate::workings::{Effects, Input, LocalId};
use std::rc::Rc;

/// What can become of a node, one outcome for each way to answer the choices that a step asks for.
/// Nearly always there are no choices.
#[derive(Clone, Debug)]
pub enum Outcomes {
    One(Outcome),
    Several(Rc<Vec<Outcome>>),
}

/// What comes of an input to a node in some state.
#[derive(Clone, Debug)]
pub(super) struct Step {
    /// The code of the input.
    input: u64,
    outcomes: Outcomes,
}

impl Outcomes {
    fn new(outcomes: Vec<Outcome>) -> Self {
        match outcomes[..] {
            [outcome] => Self::One(outcome),
            _ => Self::Several(Rc::new(outcomes)),
        }
    }

    pub fn iter(&self) -> std::slice::Iter<'_, Outcome> {
        match self {
            Self::One(outcome) => std::slice::from_ref(outcome).iter(),
            Self::Several(outcomes) => outcomes.iter(),
        }
    }

    pub fn first(&self) -> Outcome {
        *self.iter().next().expect("something comes of every input")
    }
}

impl Explorer<'_> {
    /// What becomes of a node.
    pub fn steps(&mut self, local: LocalId, input: Input) -> Outcomes {
        let node = local as usize;
        if node >= self.steps.len() {
            self.steps.resize(node + 1, Vec::new());
        }
        let input_code = input.code();
        let known = self.steps[node].iter().find(|step| step.input == input_code);
        if let Some(step) = known {
            return step.outcomes.clone();
        }
        let outcomes = Outcomes::new(self.space.take(local, input));
        self.learn();
        self.learn_effects();
        self.steps[node].push(Step { input: input_code, outcomes: outcomes.clone() });
        outcomes
    }

    /// What an outcome does to others.
    pub fn effects(&self, outcome: Outcome) -> &Effects {
        &self.effects[outcome.effects as usize]
    }

    fn learn_effects(&mut self) {
        let more = self.space.effects(self.effects.len());
        self.effects.extend(more.into_iter().map(Rc::new));
    }
}
