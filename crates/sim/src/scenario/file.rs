//! The fields of a scenario file.

use super::{Expect, Text};
use crate::error::{Error, excerpt};
use serde::Deserialize;
use std::collections::BTreeMap;

/// A scenario file as it is written: the flags under their own names, and what no flag can say.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    pub title: Text,
    pub text: Text,
    pub question: Option<Text>,
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

/// A flag's error, told of the field of the same name: the field, and what is wrong.
pub(super) fn in_field(error: &Error) -> (String, String) {
    match error {
        Error::BadValue { flag, value, accepted } => {
            let field = named(flag);
            (field.to_string(), format!("{field} = {}: {accepted}", excerpt(value)))
        }
        Error::BadLine { flag, line, reason } => {
            let field = named(flag);
            (field.to_string(), format!("{field}, entry {line}: {reason}"))
        }
        Error::BadScenario(reason) => {
            let field = reason.split(':').next().unwrap_or_default();
            (field.to_string(), reason.clone())
        }
        Error::BadScenarios(_)
        | Error::BadRecording(_)
        | Error::BadStory(_)
        | Error::Undrawable(_) => (String::new(), error.to_string()),
    }
}

/// The field that holds what is given by this flag, one or more times.
fn named(flag: &'static str) -> &'static str {
    match flag {
        "--backoff" => "backoffs",
        "--rule" => "rules",
        _ => flag.trim_start_matches('-'),
    }
}
