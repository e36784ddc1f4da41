//! A situation worth knowing: a run with its story, and what must come of it.
//!
//! The file is TOML; `docs/scenarios.md` describes it. The algorithm is built by the caller, who
//! knows the catalogue:
//!
//! ```
//! use conclave_sim::Scenario;
//!
//! let scenario = Scenario::parse(r#"
//!     title = { en = "One alone", pt = "Um sozinho" }
//!     text = { en = "Nobody else wants in.", pt = "Ninguém mais quer entrar." }
//!     source = "folklore"
//!     algorithm = "token-ring"
//!     nodes = 3
//!     workload = "single:1"
//!     [expect]
//!     order = [1]
//! "#)?;
//! let names = scenario.names(scenario.nodes, 0)?;
//! let plan = scenario.plan(&names)?;
//! // Build `scenario.algorithm` with `scenario.set`, run the plan, then `scenario.judge` it.
//! # let _ = plan;
//! # Ok::<(), conclave_sim::Error>(())
//! ```

mod advice;
mod expect;
mod file;
mod mistakes;
mod plan;
mod read;

pub use expect::{Check, Expect};
pub use mistakes::Mistakes;

use crate::error::Error;
use crate::parse::{Names, ids};
use conclave_core::Property;
use file::{File, List};
use read::{Lines, Told};
use serde::Deserialize;
use std::collections::BTreeSet;

/// A text in both languages; where a file has it in one, that one stands for the other.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Languages")]
pub struct Text {
    /// English.
    pub en: String,
    /// Portuguese.
    pub pt: String,
}

/// A text as a file has it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table with en, pt or both")]
struct Languages {
    en: Option<String>,
    pt: Option<String>,
}

impl TryFrom<Languages> for Text {
    type Error = &'static str;

    fn try_from(Languages { en, pt }: Languages) -> Result<Self, Self::Error> {
        let any = en.clone().or_else(|| pt.clone()).ok_or("en, pt or both are needed")?;
        Ok(Self { en: en.unwrap_or_else(|| any.clone()), pt: pt.unwrap_or(any) })
    }
}

/// A scenario, or one run of it, as its file tells it.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Its name.
    pub title: Text,
    /// What happens, and what there is to learn.
    pub text: Text,
    /// Where it comes from.
    pub source: String,
    /// What this run is, where the scenario tells of several.
    pub part: Option<Text>,
    /// Its place among the few that everybody should meet first, from 1.
    pub front: Option<u32>,
    /// The id of the algorithm.
    pub algorithm: String,
    /// How many clients.
    pub nodes: u32,
    /// The parameters of the algorithm; where one takes a file, the text of it.
    pub set: Vec<(String, String)>,
    /// What the nodes are called, if not by number: `a,b,c`.
    pub ids: Option<String>,
    /// Who may be elected, if not everybody: `1,3`.
    pub candidates: Option<String>,
    /// What must come of it.
    pub expect: Expect,
    /// What is asked before the answer is known, in place of title and text.
    pub question: Option<Text>,
    file: File,
    lines: Lines,
    stood_in: BTreeSet<String>,
}

/// A scenario file as far as it can be read.
#[derive(Clone, Debug, Default)]
pub struct Draft {
    /// Its runs, without what is wrong with them.
    pub runs: Vec<Scenario>,
    /// What was wrong.
    pub mistakes: Mistakes,
}

impl Scenario {
    /// Reads a scenario file that tells of one run.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let mut runs = Self::parse_runs(text)?;
        match runs.len() {
            1 => Ok(runs.remove(0)),
            _ => Err(Error::BadScenario("runs: one run is needed here".to_string())),
        }
    }

    /// Reads a scenario file: the runs that it tells of, at least one.
    pub fn parse_runs(text: &str) -> Result<Vec<Self>, Error> {
        let Draft { runs, mistakes } = Self::draft(text);
        mistakes.or(runs)
    }

    /// Reads what can be read of a scenario file.
    pub fn draft(text: &str) -> Draft {
        let mut mistakes = Mistakes::default();
        let told = read::runs(text, &mut mistakes);
        let runs = told.into_iter().map(|told| Self::of(told, &mut mistakes)).collect();
        Draft { runs, mistakes }
    }

    fn of(told: Told, mistakes: &mut Mistakes) -> Self {
        let Told { mut file, lines, mut stood_in } = told;
        if file.nodes == 0 {
            mistakes.note(lines.of("nodes"), "nodes = 0: at least 1");
            stood_in.insert("nodes".to_string());
        }
        Self {
            title: file.title.clone(),
            text: file.text.clone(),
            source: file.source.clone(),
            part: file.part.clone(),
            front: file.front,
            algorithm: file.algorithm.clone(),
            nodes: file.nodes,
            set: file.set.iter().map(|(name, value)| (name.clone(), value.text())).collect(),
            ids: file.ids.as_ref().map(List::text),
            candidates: file.candidates.as_ref().map(List::text),
            expect: std::mem::take(&mut file.expect),
            question: file.question.clone(),
            file,
            lines,
            stood_in,
        }
    }

    /// Whether the file has this field, which every file must have.
    pub fn says(&self, field: &str) -> bool {
        !self.stood_in.contains(field)
    }

    /// Notes what is wrong with a field.
    pub fn note_field(&self, field: &str, mistake: String, mistakes: &mut Mistakes) {
        mistakes.note(self.lines.of(field), mistake);
    }

    /// Notes a flag's error, told of the field of the same name.
    pub fn note(&self, error: &Error, mistakes: &mut Mistakes) {
        let (field, mistake) = file::in_field(error);
        let scripted = field == "workload" && self.file.workload.is_none();
        let place = if scripted { "script" } else { &field };
        self.note_field(place, mistake, mistakes);
    }

    /// What the nodes are called, once the algorithm is built and it is known how many there are.
    pub fn names(&self, clients: u32, coordinators: u32) -> Result<Names, Error> {
        let labels = match &self.ids {
            None => Vec::new(),
            Some(text) => ids(text, clients).map_err(|error| self.told(&error))?,
        };
        Ok(Names { labels, ..Names::new(clients, coordinators) })
    }

    fn told(&self, error: &Error) -> Error {
        let mut mistakes = Mistakes::default();
        self.note(error, &mut mistakes);
        mistakes.or(()).expect_err("one was noted")
    }

    /// Whether the run has to be watched for this property, since the scenario expects something
    /// of it.
    pub fn watches(&self, property: Property) -> bool {
        self.expect.holds.iter().chain(&self.expect.violated).any(|tag| *tag == property)
    }
}

#[cfg(test)]
mod tests;
