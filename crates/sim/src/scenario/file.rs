//! The fields of a scenario file.

use super::{Expect, Text};
use crate::error::{Error, excerpt, one_line};
use serde::Deserialize;
use std::collections::BTreeMap;

/// A scenario file as it is written: the flags under their own names, and what no flag can say.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    pub title: Text,
    pub text: Text,
    pub source: String,
    pub part: Option<Text>,
    pub front: Option<u32>,
    pub algorithm: String,
    pub nodes: u32,
    #[serde(default)]
    pub set: BTreeMap<String, Word>,
    pub ids: Option<List>,
    pub seed: Option<u64>,
    pub workload: Option<String>,
    pub script: Option<Vec<Step>>,
    pub rounds: Option<u32>,
    pub cs: Option<Word>,
    pub cancel: Option<f64>,
    pub value: Option<u64>,
    pub unprotected: Option<bool>,
    pub latency: Option<List>,
    pub fifo: Option<bool>,
    pub loss: Option<f64>,
    pub duplicate: Option<f64>,
    pub serial: Option<bool>,
    pub multicast: Option<bool>,
    #[serde(default)]
    pub rules: Vec<Rule>,
    pub crash: Option<List>,
    pub restart: Option<List>,
    pub pause: Option<List>,
    pub partition: Option<List>,
    pub suspect: Option<List>,
    pub drift: Option<List>,
    pub dead: Option<List>,
    pub start: Option<List>,
    pub candidates: Option<List>,
    #[serde(default)]
    pub backoffs: BTreeMap<String, Word>,
    pub until: Option<Word>,
    #[serde(default)]
    pub expect: Expect,
}

/// A file that tells of several runs: each has what is said above them all, and its own.
#[derive(Debug, Deserialize)]
pub(super) struct Parts {
    runs: Vec<toml::Table>,
    #[serde(flatten)]
    common: toml::Table,
}

impl Parts {
    /// The runs, each as a file of its own; none if the file tells of one run alone.
    pub fn read(text: &str) -> Result<Vec<File>, Error> {
        let Ok(Self { runs, common }) = toml::from_str(text) else { return Ok(Vec::new()) };
        let file = |(index, run): (usize, toml::Table)| {
            let merged = File::deserialize(merged(&common, run));
            let in_run = |error: toml::de::Error| {
                let message = one_line(error.message());
                Error::BadScenario(format!("run {}: {message}", index + 1))
            };
            merged.map_err(in_run)
        };
        runs.into_iter().enumerate().map(file).collect()
    }
}

/// What a run says itself comes before what is said of all; tables are merged.
fn merged(common: &toml::Table, run: toml::Table) -> toml::Table {
    let mut all = common.clone();
    for (name, value) in run {
        let value = match (all.remove(&name), value) {
            (Some(toml::Value::Table(below)), toml::Value::Table(above)) => {
                toml::Value::Table(merged(&below, above))
            }
            (_, value) => value,
        };
        all.insert(name, value);
    }
    all
}

/// One line of a script.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Step {
    pub at: Word,
    pub node: Word,
    #[serde(rename = "do")]
    pub act: String,
    pub to: Option<Word>,
}

/// What happens to particular messages.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rule {
    pub from: Option<Word>,
    pub to: Option<Word>,
    #[serde(rename = "type")]
    pub kind: Option<String>,
    pub nth: Option<u32>,
    pub delay: Option<Word>,
    #[serde(default)]
    pub drop: bool,
    #[serde(default)]
    pub twice: bool,
}

/// What a flag takes, with or without quotes.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged, expecting = "expected a text or a number")]
pub(super) enum Word {
    Text(String),
    Whole(i64),
    Decimal(f64),
    Switch(bool),
}

impl Word {
    pub fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Whole(number) => number.to_string(),
            Self::Decimal(number) => number.to_string(),
            Self::Switch(on) => on.to_string(),
        }
    }
}

/// One value, or several.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged, expecting = "expected a text, a number, or a list of them")]
pub(super) enum List {
    Many(Vec<Word>),
    One(Word),
}

impl List {
    pub fn texts(&self) -> Vec<String> {
        match self {
            Self::One(word) => vec![word.text()],
            Self::Many(words) => words.iter().map(Word::text).collect(),
        }
    }

    /// As a flag that takes a list has it.
    pub fn text(&self) -> String {
        self.texts().join(",")
    }
}

/// What the TOML reader found, on one line.
pub(super) fn located(text: &str, error: &toml::de::Error) -> Error {
    let before = error.span().and_then(|span| text.get(..span.start));
    let line = before.map(|before| 1 + before.matches('\n').count());
    let message = one_line(error.message());
    Error::BadScenario(match line {
        Some(line) => format!("line {line}: {message}"),
        None => message,
    })
}

/// A flag's error, told of the field of the same name.
pub(super) fn in_field(error: &Error) -> Error {
    match error {
        Error::BadValue { flag, value, accepted } => {
            let field = flag.trim_start_matches('-');
            Error::BadScenario(format!("{field} = {}: {accepted}", excerpt(value)))
        }
        Error::BadLine { flag, line, reason } => {
            let field = flag.trim_start_matches('-');
            Error::BadScenario(format!("{field}, entry {line}: {reason}"))
        }
        Error::BadScenario(_)
        | Error::BadRecording(_)
        | Error::BadStory(_)
        | Error::Undrawable(_) => error.clone(),
    }
}
