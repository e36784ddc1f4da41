//! Lessons: a path through the scenarios, from "why not just a file?" to split brain and
//! fences. Each asks before it shows, and the answer comes from the run itself.

mod moments;
mod texts;

use conclave_core::Property;
use conclave_sim::trace::Language;
use serde::Serialize;

/// A text in English and in Portuguese.
pub type Both = [&'static str; 2];

/// A lesson in both languages.
pub struct Written {
    /// What it is called.
    pub title: Both,
    /// What one should know before.
    pub text: Both,
    /// The scenario that shows it, and which of its runs.
    pub scenario: (&'static str, usize),
    /// What is asked.
    pub question: Both,
    /// The answers to choose from.
    pub options: &'static [Both],
    /// Which one is right, from 0.
    pub right: usize,
    /// Why.
    pub answer: Both,
    /// What must be seen in the run for the answer to be right.
    pub shown: Shown,
    /// The steps that the answer speaks of, to look at again.
    pub steps: &'static [Moment],
}

/// A step of a run that is worth a look.
pub struct Moment {
    /// The event.
    pub event: usize,
    /// What is seen there, in few words.
    pub text: Both,
    /// What the run says there, or why.
    pub says: &'static str,
}

/// What a run must show for a lesson to be right about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// This promise is broken.
    Broken(Property),
    /// This one is kept.
    Kept(Property),
    /// So many messages are sent.
    Messages(u64),
    /// This is the shared number in the end.
    Value(u64),
    /// At this event the run says this; that is as far as it is played.
    Step(usize, &'static str),
}

impl Shown {
    /// The event at which it can be seen, where that is known.
    fn stop(self) -> Option<usize> {
        match self {
            Self::Step(event, _) => Some(event),
            Self::Broken(_) | Self::Kept(_) | Self::Messages(_) | Self::Value(_) => None,
        }
    }

    /// The promise whose breaking shows it.
    fn property(self) -> Option<&'static str> {
        match self {
            Self::Broken(property) => Some(property.tag()),
            Self::Kept(_) | Self::Messages(_) | Self::Value(_) | Self::Step(..) => None,
        }
    }
}

/// A lesson in one language.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "docs/lab.md tells the fields")]
pub struct Lesson {
    pub id: String,
    pub title: &'static str,
    pub text: &'static str,
    pub scenario: &'static str,
    pub run: usize,
    pub question: &'static str,
    pub options: Vec<&'static str>,
    pub right: usize,
    pub answer: &'static str,
    pub stop: Option<usize>,
    pub property: Option<&'static str>,
    pub steps: Vec<(usize, &'static str)>,
}

/// All lessons as they are written, in their order.
pub const LESSONS: &[Written] = texts::LESSONS;

/// All lessons, in their order.
pub fn all(language: Language) -> Vec<Lesson> {
    let pick = |[english, portuguese]: Both| language.pick(english, portuguese);
    let lesson = |(number, written): (usize, &Written)| Lesson {
        id: number.to_string(),
        title: pick(written.title),
        text: pick(written.text),
        scenario: written.scenario.0,
        run: written.scenario.1,
        question: pick(written.question),
        options: written.options.iter().map(|option| pick(*option)).collect(),
        right: written.right,
        answer: pick(written.answer),
        stop: written.shown.stop(),
        property: written.shown.property(),
        steps: written.steps.iter().map(|moment| (moment.event, pick(moment.text))).collect(),
    };
    (1..).zip(LESSONS).map(lesson).collect()
}
