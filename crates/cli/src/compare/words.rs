//! Notes on a comparison, and why something was left out, in words.

use crate::output::numbers::{count, decimal};
use conclave_lab::compare::faults::Meanwhile;
use conclave_lab::compare::measure::Note;
use conclave_lab::compare::{Omitted, Why};
use serde::Serialize;

/// An algorithm that was not run with so many nodes, as programs read it.
#[derive(Serialize)]
pub struct LeftOut {
    algorithm: &'static str,
    nodes: u32,
    why: String,
}

impl LeftOut {
    /// All of them.
    pub fn all(omitted: &[Omitted]) -> Vec<Self> {
        let left_out =
            |one: &Omitted| Self { algorithm: one.entry.id, nodes: one.nodes, why: why(&one.why) };
        omitted.iter().map(left_out).collect()
    }
}

/// What is said of formulas that are not about what was measured.
pub const NOT_JUDGED: &str = "The formulas speak of messages that take one unit each and of all \
    asking at once; here they stand for comparison only.";

/// How the spread was worked out.
pub fn interval(seeds: u64) -> String {
    format!("±: half of the 95 % interval of the mean, by Student's t over {} seeds.", count(seeds))
}

/// A mean with half of its interval, where that is not nothing.
pub fn with_half(mean: String, half: Option<f64>) -> String {
    match half.map(decimal) {
        Some(half) if half != "0" => format!("{mean} ±{half}"),
        Some(_) | None => mean,
    }
}

/// Why an algorithm was not run.
pub fn why(why: &Why) -> String {
    match why {
        Why::Quorums => "so many quorums take too long to lay out".to_string(),
        Why::MessagesAbout(messages) => {
            format!("about {} messages when all ask at once", count(*messages))
        }
        Why::MessagesAtLeast(messages) => format!("at least {} messages", count(*messages)),
        Why::NobodyLeft => "nobody is left to elect".to_string(),
        Why::Unfit(reason) => reason.clone(),
    }
}

/// What is to be known about the figures of a point.
pub fn note(note: Note) -> String {
    match note {
        Note::Upkeep(kinds) => format!("{} are upkeep and not counted", kinds.join(" and ")),
        Note::NoLightLoad(messages) => {
            format!("light load left out: about {} messages", count(messages))
        }
        Note::FewRounds { rounds, usual } => {
            format!("fairness over {rounds} rounds instead of {usual}")
        }
        Note::Sampled(clients) => format!("light load: mean over {clients} clients"),
        Note::NotAllGotIn { of: 1, .. } => "not all got in before time was up".to_string(),
        Note::NotAllGotIn { runs, of } => {
            format!("in {} of {} runs not all got in", count(runs), count(of))
        }
    }
}

/// Who entered while the network was cut.
pub fn meanwhile(meanwhile: &Meanwhile) -> String {
    match meanwhile {
        Meanwhile::Nobody => "nobody enters".to_string(),
        Meanwhile::Only(names) => format!("only {} enter", names.join(",")),
        Meanwhile::BothSides => "both sides enter".to_string(),
    }
}
