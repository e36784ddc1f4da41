//! Outcomes of a step: what becomes of a node when something happens to it, as numbers.

use crate::space::EffectsId;
use crate::workings::LocalId;
use std::sync::Arc;

/// What becomes of a node when something happens to it.
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    /// Its state after that.
    pub local: LocalId,
    /// What it does to others.
    pub effects: EffectsId,
}

impl Outcome {
    /// Nothing happens to a node in this state.
    pub fn none(local: LocalId) -> Self {
        Self { local, effects: NO_EFFECTS }
    }
}

/// The number of what a step does that does nothing to others: it is the first that is known.
pub const NO_EFFECTS: EffectsId = 0;

/// What can become of a node, one outcome for each way to answer the choices that a step asks for.
/// Nearly always there are no choices.
#[derive(Clone, Debug)]
pub enum Outcomes {
    One(Outcome),
    Several(Arc<[Outcome]>),
}

impl Outcomes {
    pub fn new(outcomes: &[Outcome]) -> Self {
        match *outcomes {
            [outcome] => Self::One(outcome),
            _ => Self::Several(outcomes.into()),
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
