//! Lamps: what the monitors say of each promise after every event. A promise about the past (a
//! safety property) is kept until it is broken; one about what is still to come (liveness) is
//! undecided until the run is over.

use super::played::{Played, is_decided_at_end};
use conclave_core::{Property, Verdict, Violation};
use conclave_sim::trace::{Cause, Record, Told};
use serde::Serialize;
use std::collections::BTreeMap;

/// What is known of a promise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// It was not broken.
    Kept,
    /// It was.
    Broken,
    /// It cannot be told yet.
    Undecided,
}

/// A promise over the whole run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lamp {
    /// Which promise.
    pub property: Property,
    /// From which event on it is in which state; the first from 0 on.
    pub changes: Vec<(usize, State)>,
    /// How it was broken, if it was.
    pub broken: Option<Violation>,
    /// The events that show it.
    pub witnesses: Vec<usize>,
}

impl Lamp {
    /// Its state after so many events.
    pub fn at(&self, event: usize) -> State {
        let before = self.changes.iter().take_while(|(from, _)| *from <= event);
        before.last().map_or(State::Undecided, |(_, state)| *state)
    }
}

/// The lamps of a run: one for each promise that is looked at.
pub fn lamps(played: &Played) -> Vec<Lamp> {
    let looked_at = played.verdicts.iter().filter(|(_, verdict)| *verdict != Verdict::NotChecked);
    looked_at.map(|(property, verdict)| lamp(played, *property, *verdict)).collect()
}

fn lamp(played: &Played, property: Property, verdict: Verdict) -> Lamp {
    let found = played.violations.iter().find(|(violation, _)| violation.property == property);
    let end = played.trace.records.len();
    let begins = if is_decided_at_end(property) { State::Undecided } else { State::Kept };
    let mut changes = vec![(0, begins)];
    match (found, verdict) {
        (Some((_, event)), _) => changes.push((*event, State::Broken)),
        (None, Verdict::Violated) => changes.push((end, State::Broken)),
        (None, Verdict::Holds) if begins != State::Kept => changes.push((end, State::Kept)),
        (None, Verdict::Unknown) if begins != State::Undecided => {
            changes.push((end, State::Undecided));
        }
        (None, Verdict::Holds | Verdict::Unknown | Verdict::NotChecked) => {}
    }
    let broken = found.map(|(violation, _)| violation.clone());
    let witnesses = found.map(|(_, event)| witnesses(played, property, *event));
    Lamp { property, changes, broken, witnesses: witnesses.unwrap_or_default() }
}

/// The events that show that a promise is broken: who else is inside, whose fence was larger, who
/// waits.
fn witnesses(played: &Played, property: Property, event: usize) -> Vec<usize> {
    let records = &played.trace.records[..event.min(played.trace.records.len())];
    let mut witnesses = match property {
        Property::S1 | Property::S1Eff => inside(records),
        Property::F1 | Property::HB => last_entries(records, 2),
        Property::BW => last_entries(records, 1),
        Property::V1 | Property::V2 => waiting(records),
        Property::E1 | Property::E2 | Property::E1Term => beliefs(records),
        Property::D1 | Property::D2 | Property::HBExact => Vec::new(),
    };
    if !witnesses.contains(&event) && !is_decided_at_end(property) {
        witnesses.push(event);
    }
    witnesses
}

/// The last event of each node that a test picks, as long as no other that ends it follows.
fn open(records: &[Record], begins: Test, ends: Test) -> Vec<usize> {
    let mut open: BTreeMap<u32, usize> = BTreeMap::new();
    for (event, record) in (1..).zip(records) {
        let Some(node) = super::events::place(record).map(|node| node.0) else { continue };
        if ends(record) {
            open.remove(&node);
        }
        if begins(record) {
            open.insert(node, event);
        }
    }
    let mut events: Vec<usize> = open.into_values().collect();
    events.sort_unstable();
    events
}

type Test = fn(&Record) -> bool;

fn enters(record: &Record) -> bool {
    let told =
        record.step().map(|step| step.told().any(|told| matches!(told, Told::Entered { .. })));
    told.unwrap_or(false)
}

fn asks(record: &Record, what: &str) -> bool {
    matches!(record.step().map(|step| &step.cause), Some(Cause::Request(asked)) if asked == what)
}

fn inside(records: &[Record]) -> Vec<usize> {
    open(records, enters, |record| {
        asks(record, "Release") || matches!(record, Record::Crash { .. } | Record::Restart { .. })
    })
}

fn waiting(records: &[Record]) -> Vec<usize> {
    open(
        records,
        |record| asks(record, "Acquire") && !enters(record),
        |record| {
            let gone = matches!(record, Record::Crash { .. } | Record::Restart { .. });
            enters(record) || asks(record, "Cancel") || gone
        },
    )
}

fn last_entries(records: &[Record], most: usize) -> Vec<usize> {
    let entries = (1..).zip(records).filter(|(_, record)| enters(record));
    let mut entries: Vec<usize> = entries.map(|(event, _)| event).collect();
    entries.drain(..entries.len().saturating_sub(most));
    entries
}

/// When each node last came to believe something of who leads.
fn beliefs(records: &[Record]) -> Vec<usize> {
    let elected: Test = |record| {
        record.step().is_some_and(|step| {
            step.told().any(|told| matches!(told, Told::Elected { .. } | Told::Deposed))
        })
    };
    open(records, elected, |record| {
        let gone = matches!(record, Record::Crash { .. } | Record::Restart { .. });
        gone || record.step().is_some_and(|step| {
            step.told().any(|told| matches!(told, Told::Elected { .. } | Told::Deposed))
        })
    })
}
