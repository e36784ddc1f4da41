//! The player: a run as somebody looks at it who can stop it anywhere, look around, and ask what
//! would have been. Values in, values out: every question runs the real algorithm from the
//! beginning, and nothing is kept from one question to the next.
//!
//! A [`RunQuestion`] names an algorithm, the flags of a run, and edits: what is to be different
//! ([`edit`]). The answer has the events ([`events`]), the promises as the monitors see them after
//! each of them ([`lamps`]), and the moment at the cursor ([`moment`]) with all that can be done
//! there ([`actions`]).

pub mod actions;
pub mod answer;
pub mod breaking;
pub mod compared;
mod costs;
pub mod edit;
pub mod events;
mod explained;
mod export;
pub mod judged;
pub mod lamps;
mod limits;
mod messages;
pub mod moment;
mod played;
mod recorded;
mod signs;
mod waits;

pub use answer::{Answer, Part, RunQuestion, answer, answer_within};
pub use export::Exported;
pub use limits::{AHEAD_MAX, EDITS_MAX, EVENTS_MAX, NODES_MAX, QUESTION_TIME, WINDOW_MAX};
pub(crate) use played::no_files;
pub use played::{Audience, Played, play, play_to};

pub use conclave_sim::Patience;
pub use conclave_sim::trace::Language;

use conclave_core::{NodeId, Ticks};
use std::fmt;

/// Why a question is not answered: one line, and which part of the question it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The field of the question.
    pub field: &'static str,
    /// One line, in English.
    pub words: String,
}

impl Refused {
    /// What is wrong with a field.
    pub fn new(field: &'static str, words: impl fmt::Display) -> Self {
        Self { field, words: words.to_string() }
    }

    /// For whatever went wrong with a field.
    pub fn of<E: fmt::Display>(field: &'static str) -> impl Fn(E) -> Self {
        move |error| Self::new(field, error)
    }
}

/// A time in units, as the flags have it.
pub(crate) fn units(ticks: Ticks) -> f64 {
    ticks.0 as f64 / Ticks::UNIT.0 as f64
}

/// The index of a node, as the answers have it.
pub(crate) fn index(node: NodeId) -> u32 {
    node.0
}
