//! Scenarios as JSON. Field names and their order are a contract.

use super::Row;
use crate::lang::Lang;
use crate::output::json::Map;
use crate::situation::{Ran, Situation};
use conclave_sim::Check;
use serde::Serialize;
use serde_json::Value;

/// A scenario in the list.
#[derive(Serialize)]
pub struct Listed<'a> {
    name: &'a str,
    title: &'a str,
    algorithm: &'a str,
    source: &'a str,
}

/// The list.
pub fn list(all: &[Situation], lang: Lang) -> Vec<Listed<'_>> {
    all.iter()
        .map(|Situation { name, scenario, .. }| Listed {
            name,
            title: lang.of(&scenario.title),
            algorithm: &scenario.algorithm,
            source: &scenario.source,
        })
        .collect()
}

/// One scenario in full.
#[derive(Serialize)]
pub struct Shown<'a> {
    name: &'a str,
    title: &'a str,
    source: &'a str,
    text: &'a str,
    algorithm: &'a str,
    nodes: u32,
    command: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expected: Option<Map<'a, Value>>,
}

impl<'a> Shown<'a> {
    /// The scenario, and the answer where it was asked for.
    pub fn of(
        situation: &'a Situation,
        lang: Lang,
        command: Option<&'a str>,
        checks: Option<&'a [Check]>,
    ) -> Self {
        let Situation { name, scenario, .. } = situation;
        Self {
            name,
            title: lang.of(&scenario.title),
            source: &scenario.source,
            text: lang.of(&scenario.text).trim(),
            algorithm: &scenario.algorithm,
            nodes: scenario.nodes,
            command,
            expected: checks.map(|checks| fields(checks, |check| &check.expected)),
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
        let result = |Row { situation, ran }: &'a Row| {
            let ran = ran.as_ref().map_err(String::as_str);
            Result::of(&situation.name, &situation.scenario.algorithm, ran)
        };
        Self { results: rows.iter().map(result).collect() }
    }
}

impl<'a> Result<'a> {
    /// What was expected and seen, or why it was skipped.
    pub fn of(
        name: &'a str,
        algorithm: &'a str,
        ran: std::result::Result<&'a Ran, &'a str>,
    ) -> Self {
        let checks = ran.map_or(&[][..], |ran| &ran.checks);
        Self {
            name,
            algorithm,
            expected: fields(checks, |check| &check.expected),
            observed: fields(checks, |check| &check.observed),
            ok: ran.ok().map(Ran::ok),
            skipped: ran.err(),
        }
    }
}

fn fields<'a>(checks: &'a [Check], text: impl Fn(&'a Check) -> &'a str) -> Map<'a, Value> {
    Map(checks.iter().map(|check| (&*check.what, value(&check.what, text(check)))).collect())
}

/// Lists as lists, numbers as numbers, the rest as text.
fn value(what: &str, text: &str) -> Value {
    match what {
        "order" | "entries" | "fences" if text == "nobody" => Value::Array(Vec::new()),
        "order" | "entries" | "fences" => text.split(", ").map(plain).collect(),
        _ => plain(text),
    }
}

fn plain(text: &str) -> Value {
    let parsed = serde_json::from_str(text).ok();
    let simple = parsed.filter(|value: &Value| value.is_number() || value.is_boolean());
    simple.unwrap_or_else(|| Value::String(text.to_string()))
}
