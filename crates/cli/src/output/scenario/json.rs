//! Scenarios as JSON. Field names and their order are a contract.

use super::Row;
use crate::lang::Lang;
use crate::output::json::Map;
use conclave_lab::scenarios::{Ran, ScenarioFile};
use conclave_sim::{Check, Scenario};
use serde::Serialize;
use serde_json::Value;

/// A scenario in the list.
#[derive(Serialize)]
pub struct Listed<'a> {
    name: &'a str,
    title: &'a str,
    algorithm: &'a str,
    source: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    front: Option<u32>,
}

impl<'a> Listed<'a> {
    fn of(file: &'a ScenarioFile, lang: Lang) -> Self {
        let scenario = file.head();
        Self {
            name: &file.name,
            title: lang.of(&scenario.title),
            algorithm: &scenario.algorithm,
            source: &scenario.source,
            front: scenario.front,
        }
    }
}

/// The list.
pub fn list(all: &[ScenarioFile], lang: Lang) -> Vec<Listed<'_>> {
    super::in_order(all).into_iter().map(|file| Listed::of(file, lang)).collect()
}

/// One scenario in full.
#[derive(Serialize)]
pub struct Shown<'a> {
    name: &'a str,
    title: Option<&'a str>,
    source: &'a str,
    text: Option<&'a str>,
    algorithm: &'a str,
    nodes: u32,
    command: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expected: Option<Map<'a, Value>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    runs: Vec<Part<'a>>,
}

/// One run of several.
#[derive(Serialize)]
struct Part<'a> {
    part: Option<&'a str>,
    algorithm: &'a str,
    nodes: u32,
    command: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expected: Option<Map<'a, Value>>,
}

impl<'a> Shown<'a> {
    /// The scenario, and the answer where it was asked for.
    pub fn of(
        file: &'a ScenarioFile,
        lang: Lang,
        commands: &'a [Option<String>],
        ran: Option<&'a [Ran]>,
    ) -> Self {
        let head = file.head();
        let command = |index: usize| commands.get(index).and_then(|command| command.as_deref());
        let expected =
            |index: usize| ran.map(|runs| fields(&runs[index].checks, |check| &check.expected));
        let part = |(index, run): (usize, &'a Scenario)| Part {
            part: ran.and(run.part.as_ref()).map(|part| lang.of(part)),
            algorithm: &run.algorithm,
            nodes: run.nodes,
            command: command(index),
            expected: expected(index),
        };
        let several = file.runs.len() > 1;
        Self {
            name: if ran.is_some() { &file.name } else { &file.typed },
            title: ran.map(|_| lang.of(&head.title)),
            source: &head.source,
            text: ran.map(|_| lang.of(&head.text).trim()),
            algorithm: &head.algorithm,
            nodes: head.nodes,
            command: command(0),
            expected: expected(0),
            runs: file.runs.iter().filter(|_| several).enumerate().map(part).collect(),
        }
    }
}

/// What `scenario run` prints.
#[derive(Serialize)]
pub struct Results<'a> {
    /// One for each scenario.
    pub results: Vec<Result<'a>>,
}

/// What came of one scenario; of one that was skipped, nothing but the reason.
#[derive(Serialize)]
pub struct Result<'a> {
    name: &'a str,
    algorithm: &'a str,
    expected: Map<'a, Value>,
    observed: Map<'a, Value>,
    ok: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    skipped: Option<&'a str>,
}

impl<'a> Results<'a> {
    /// All of them.
    pub fn of(rows: &'a [Row]) -> Self {
        let result =
            |row: &'a Row| Result::of(&row.file, row.ran.as_deref().map_err(String::as_str));
        Self { results: rows.iter().map(result).collect() }
    }
}

impl<'a> Result<'a> {
    /// What was expected and seen, or why it was skipped.
    pub fn of(file: &'a ScenarioFile, ran: std::result::Result<&'a [Ran], &'a str>) -> Self {
        let runs = ran.unwrap_or_default();
        Self {
            name: &file.name,
            algorithm: &file.head().algorithm,
            expected: by_run(runs, |check| &check.expected),
            observed: by_run(runs, |check| &check.observed),
            ok: ran.ok().filter(|runs| judged(runs)).map(|runs| runs.iter().all(Ran::ok)),
            skipped: ran.err(),
        }
    }
}

/// Whether the file was run as it is.
fn judged(runs: &[Ran]) -> bool {
    runs.iter().all(|ran| ran.judged)
}

/// The fields of one run; of several, an object for each by its English name.
fn by_run<'a>(runs: &'a [Ran], text: impl Fn(&'a Check) -> &'a str) -> Map<'a, Value> {
    match runs {
        [] => Map(Vec::new()),
        [ran] => fields(&ran.checks, text),
        several => Map(several
            .iter()
            .map(|ran| {
                let name = ran.part.as_ref().map_or("", |part| part.en.as_str());
                let fields = fields(&ran.checks, &text).0.into_iter();
                (name, fields.map(|(what, value)| (what.to_string(), value)).collect())
            })
            .collect()),
    }
}

fn fields<'a>(checks: &'a [Check], text: impl Fn(&'a Check) -> &'a str) -> Map<'a, Value> {
    Map(checks.iter().map(|check| (&*check.what, value(&check.what, text(check)))).collect())
}

/// Lists as lists, numbers as numbers, the rest as text.
fn value(what: &str, text: &str) -> Value {
    match what {
        "order" | "entries" | "fences" | "leaders_seen" if text == "nobody" => {
            Value::Array(Vec::new())
        }
        "order" | "entries" | "fences" | "leaders_seen" => text.split(", ").map(plain).collect(),
        _ => plain(text),
    }
}

fn plain(text: &str) -> Value {
    let parsed = serde_json::from_str(text).ok();
    let simple = parsed.filter(|value: &Value| value.is_number() || value.is_boolean());
    simple.unwrap_or_else(|| Value::String(text.to_string()))
}
