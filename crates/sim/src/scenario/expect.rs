//! Expectations of a scenario: what must come of it.

use super::Scenario;
use super::advice::{Forgetting, Patience};
use super::file::Word;
use crate::metrics::Entry;
use crate::outcome::Outcome;
use crate::parse::Names;
use crate::workload::{Entering, Findings, Keeping, Leading, Watching};
use conclave_core::{NodeId, Property, Ticks, Verdict};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Display;

/// What must come of a run. What is not mentioned may be anything.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
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
    /// Messages per entry.
    pub messages_per_entry: Option<f64>,
    /// From request to entry when nobody else wants in, on average, in units.
    pub client_delay: Option<f64>,
    /// The same, counting messages one by one.
    pub client_delay_serial: Option<f64>,
    /// What the shared number is in the end.
    pub value: Option<u64>,
    /// How many changes of it were lost, since somebody wrote what it had read before them.
    pub lost_updates: Option<u64>,
    /// How many crashed inside and left their work half done.
    pub unfinished: Option<u64>,
    /// How many last writes the resource refuses.
    pub refused: Option<u64>,
    /// Whom all follow in the end.
    pub(super) leader: Option<Word>,
    /// Whether all live nodes follow the same.
    pub agreed: Option<bool>,
    /// When the last came to follow it, in units.
    pub time_to_leader: Option<f64>,
    /// Everybody whom anybody ever followed, in order.
    pub(super) leaders_seen: Option<Vec<Word>>,
    /// The most nodes that believe at one time that they lead.
    pub leaders_at_once: Option<u32>,
    /// How often a node turns from one leader to another.
    pub changes: Option<u64>,
    /// Whom each of these nodes follows in the end.
    #[serde(default)]
    pub(super) follows: BTreeMap<String, Word>,
    /// How often a live node is suspected.
    pub mistakes: Option<u64>,
    /// After how long the last live node suspects one that crashed, in units.
    pub detection_time: Option<f64>,
    /// The clock's time of each event, in order.
    pub(super) times: Option<Vec<Word>>,
    /// The exact causal past of each event as a vector, in order.
    pub(super) vectors: Option<Vec<Word>>,
    /// How many pairs of events are concurrent.
    pub concurrent: Option<u64>,
    /// How many of those Lamport's clock orders all the same.
    pub ordered_by_lamport: Option<u64>,
    /// What the quorum calculator says of the coordinators and votes that are set.
    pub(super) forgetting: Option<Forgetting>,
    /// What the timeout calculator says of the latency.
    pub(super) patience: Option<Patience>,
    /// The properties that hold.
    #[serde(default)]
    pub holds: Vec<Property>,
    /// The properties that are violated.
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
        if let Some(per_entry) = expect.messages_per_entry {
            let observed = outcome.messages_per_entry();
            checks.push(compare("messages_per_entry", per_entry, maybe(observed)));
        }
        match &outcome.findings {
            Findings::Mutex(entering) => expect.entering(entering, names, &mut checks),
            Findings::Election(leading) => expect.leading(leading, names, &mut checks),
            Findings::Detector(watching) => expect.watching(watching, &mut checks),
            Findings::Clock(keeping) => expect.keeping(keeping, &mut checks),
        }
        self.advice(&mut checks);
        let expected = [(&expect.holds, Verdict::Holds), (&expect.violated, Verdict::Violated)];
        for (properties, verdict) in expected {
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
}

impl Expect {
    fn entering(&self, seen: &Entering, names: &Names, checks: &mut Vec<Check>) {
        if let Some(requests) = self.requests {
            checks.push(compare("requests", requests, seen.requests));
        }
        if let Some(entered) = &seen.entered {
            entries(self, entered, names, checks);
        } else if self.order.is_some() || self.entries.is_some() || self.fences.is_some() {
            checks.push(compare("entries", "a list", "too many to list"));
        }
        let delays = [
            ("client_delay", self.client_delay, &seen.client_delay),
            ("client_delay_serial", self.client_delay_serial, &seen.client_delay_serial),
        ];
        for (what, expected, times) in delays {
            if let Some(expected) = expected {
                let mean = times.summary().map(|times| times.mean);
                checks.push(compare(what, expected, hundredths(mean)));
            }
        }
        self.shared(seen, checks);
        if let Some(refused) = self.refused {
            checks.push(compare("refused", refused, seen.refused));
        }
    }

    /// What became of the number that everybody inside reads and writes.
    fn shared(&self, seen: &Entering, checks: &mut Vec<Check>) {
        let Some(shared) = &seen.shared else { return };
        if let Some(value) = self.value {
            checks.push(compare("value", value, shared.value));
        }
        if let Some(lost) = self.lost_updates {
            checks.push(compare("lost_updates", lost, shared.lost));
        }
        if let Some(unfinished) = self.unfinished {
            checks.push(compare("unfinished", unfinished, shared.unfinished));
        }
    }

    fn leading(&self, seen: &Leading, names: &Names, checks: &mut Vec<Check>) {
        let name = |node: Option<NodeId>| node.map_or("nobody".to_string(), |one| names.name(one));
        if let Some(leader) = &self.leader {
            checks.push(compare("leader", leader.text(), name(seen.leader)));
        }
        if let Some(agreed) = self.agreed {
            checks.push(compare("agreed", agreed, seen.agreed));
        }
        if let Some(time) = self.time_to_leader {
            let observed = seen.time_to_leader.summary().map(|times| times.max);
            let observed = observed.map_or("never".to_string(), |time| time.to_string());
            checks.push(compare("time_to_leader", time, observed));
        }
        if let Some(leaders) = &self.leaders_seen {
            let observed = list(seen.leaders_seen.iter().map(|&node| names.name(node)));
            checks.push(compare("leaders_seen", list(leaders.iter().map(Word::text)), observed));
        }
        if let Some(most) = self.leaders_at_once {
            checks.push(compare("leaders_at_once", most, seen.at_once));
        }
        if let Some(changes) = self.changes {
            checks.push(compare("changes", changes, seen.changes));
        }
        for (node, leader) in &self.follows {
            let index = names.node("follows", node).map(NodeId::index).ok();
            let belief = index.and_then(|index| seen.beliefs.get(index).copied().flatten());
            checks.push(compare(&format!("{node} follows"), leader.text(), name(belief)));
        }
    }
}

impl Expect {
    fn watching(&self, seen: &Watching, checks: &mut Vec<Check>) {
        if let Some(mistakes) = self.mistakes {
            checks.push(compare("mistakes", mistakes, seen.mistakes));
        }
        if let Some(time) = self.detection_time {
            let observed = seen.detection_time.summary().map(|times| times.max);
            let observed = observed.map_or("never".to_string(), |time| time.to_string());
            checks.push(compare("detection_time", time, observed));
        }
    }

    fn keeping(&self, seen: &Keeping, checks: &mut Vec<Check>) {
        if let Some(times) = &self.times {
            let observed = list(seen.records.iter().map(|record| &record.time));
            checks.push(compare("times", list(times.iter().map(Word::text)), observed));
        }
        if let Some(vectors) = &self.vectors {
            let observed = list(seen.records.iter().map(|record| &record.vector));
            checks.push(compare("vectors", list(vectors.iter().map(Word::text)), observed));
        }
        let pairs = seen.pairs.unwrap_or_default();
        if let Some(concurrent) = self.concurrent {
            checks.push(compare("concurrent", concurrent, pairs.concurrent));
        }
        if let Some(ordered) = self.ordered_by_lamport {
            checks.push(compare("ordered_by_lamport", ordered, pairs.ordered_by_lamport));
        }
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

pub(super) fn compare(what: &str, expected: impl Display, observed: impl Display) -> Check {
    let expected = expected.to_string();
    let observed = observed.to_string();
    Check { what: what.to_string(), ok: expected == observed, expected, observed }
}

/// Rounded as people write it.
fn maybe(number: Option<f64>) -> String {
    number.map_or("-".to_string(), |number| ((number * 1e4).round() / 1e4).to_string())
}

/// As a run is reported: a tick more or less is no delay.
fn hundredths(number: Option<f64>) -> String {
    number.map_or("-".to_string(), |number| ((number * 100.0).round() / 100.0).to_string())
}

fn list<T: Display>(items: impl IntoIterator<Item = T>) -> String {
    let texts: Vec<String> = items.into_iter().map(|item| item.to_string()).collect();
    if texts.is_empty() { "nobody".to_string() } else { texts.join(", ") }
}
