//! What must come of a scenario.

use super::Scenario;
use super::file::Word;
use crate::metrics::Entry;
use crate::outcome::Outcome;
use crate::parse::Names;
use conclave_core::{Property, Ticks, Verdict};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Display;

/// What must come of a run. What is not mentioned may be anything.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    /// How many messages are sent.
    pub messages: Option<u64>,
    /// How many of these kinds.
    #[serde(default)]
    pub by_type: BTreeMap<String, u64>,
    /// How often somebody asks.
    pub requests: Option<u64>,
    /// Who enters, in order.
    pub(super) order: Option<Vec<Word>>,
    /// When, in units.
    pub entries: Option<Vec<f64>>,
    /// With which fences.
    pub fences: Option<Vec<u64>>,
    /// Whether two entries have the same fence.
    pub same_fence: Option<bool>,
    /// How many last writes the resource refuses.
    pub refused: Option<u64>,
    /// The promises that are kept.
    #[serde(default)]
    pub holds: Vec<Property>,
    /// The promises that are broken.
    #[serde(default)]
    pub violated: Vec<Property>,
}

/// One thing that was expected, and what was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// What it is about: the name of the field.
    pub what: String,
    /// What was expected.
    pub expected: String,
    /// What was seen.
    pub observed: String,
    /// Whether they agree.
    pub ok: bool,
}

impl Scenario {
    /// Holds a run against what was expected, in the order of the fields.
    pub fn judge(&self, outcome: &Outcome, names: &Names) -> Vec<Check> {
        let expect = &self.expect;
        let mut checks = Vec::new();
        counts(expect, outcome, &mut checks);
        if let Some(entered) = &outcome.entered {
            entries(expect, entered, names, &mut checks);
        } else if expect.order.is_some() || expect.entries.is_some() || expect.fences.is_some() {
            checks.push(compare("entries", "a list", "too many to list"));
        }
        if let Some(refused) = expect.refused {
            checks.push(compare("refused", refused, outcome.refused));
        }
        let promises = [(&expect.holds, Verdict::Holds), (&expect.violated, Verdict::Violated)];
        for (properties, verdict) in promises {
            checks.extend(
                properties
                    .iter()
                    .map(|&property| compare(property.tag(), verdict, outcome.verdict(property))),
            );
        }
        checks
    }
}

fn counts(expect: &Expect, outcome: &Outcome, checks: &mut Vec<Check>) {
    if let Some(messages) = expect.messages {
        checks.push(compare("messages", messages, outcome.messages));
    }
    for (kind, &count) in &expect.by_type {
        let sent = outcome.messages_by_kind.iter().find(|(sent, _)| sent == kind);
        checks.push(compare(kind, count, sent.map_or(0, |(_, count)| *count)));
    }
    if let Some(requests) = expect.requests {
        checks.push(compare("requests", requests, outcome.requests));
    }
}

fn entries(expect: &Expect, entered: &[Entry], names: &Names, checks: &mut Vec<Check>) {
    let fences = || entered.iter().map(|entry| entry.fence);
    if let Some(order) = &expect.order {
        let observed = list(entered.iter().map(|entry| names.name(entry.node)));
        checks.push(compare("order", list(order.iter().map(Word::text)), observed));
    }
    if let Some(times) = &expect.entries {
        let observed = list(entered.iter().map(|entry| entry.at));
        let expected = times.iter().map(|units| Ticks((units * 1_000.0).round() as u64));
        checks.push(compare("entries", list(expected), observed));
    }
    if let Some(expected) = &expect.fences {
        checks.push(compare("fences", list(expected), list(fences())));
    }
    if let Some(same) = expect.same_fence {
        let mut sorted: Vec<u64> = fences().collect();
        sorted.sort_unstable();
        let observed = sorted.windows(2).any(|pair| pair[0] == pair[1]);
        checks.push(compare("same_fence", same, observed));
    }
}

fn compare(what: &str, expected: impl Display, observed: impl Display) -> Check {
    let (expected, observed) = (expected.to_string(), observed.to_string());
    Check { what: what.to_string(), ok: expected == observed, expected, observed }
}

fn list<T: Display>(items: impl IntoIterator<Item = T>) -> String {
    let texts: Vec<String> = items.into_iter().map(|item| item.to_string()).collect();
    if texts.is_empty() { "nobody".to_string() } else { texts.join(", ") }
}
