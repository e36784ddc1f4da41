//! The events of a run, for the page: one for each record, with its key, its words and its
//! consequences.

use super::messages::{Message, Messages};
use super::{index, units};
use conclave_core::{NodeId, Ticks};
use conclave_sim::trace::{self, Cause, Effect, Header, Language, Record, Sending, Step, Told};
use serde::Serialize;
use std::collections::BTreeMap;
use std::ops::Range;

/// One event, as the page has it.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "docs/lab.md tells the fields")]
pub struct Event {
    pub i: usize,
    pub at: f64,
    pub node: Option<u32>,
    pub kind: &'static str,
    pub label: String,
    pub from: Option<u32>,
    pub number: Option<u64>,
    pub details: String,
    pub key: String,
    pub sends: Vec<Sent>,
    pub timers: Vec<Timer>,
    pub told: Vec<Heard>,
    pub why: Vec<Reason>,
    pub text: String,
    pub fields_changed: Vec<String>,
}

/// A message that an event sends.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "docs/lab.md tells the fields")]
pub struct Sent {
    pub number: u64,
    pub to: u32,
    pub label: String,
    pub details: String,
    pub arrival: Option<f64>,
    pub again: Vec<f64>,
    pub nth: u32,
    pub upkeep: bool,
}

/// A timer that an event sets or cancels.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
#[expect(missing_docs, reason = "docs/lab.md tells the fields")]
pub enum Timer {
    Set { set: String, until: f64 },
    Cancelled { cancelled: String },
}

/// What an event tells the layer above.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
#[expect(missing_docs, reason = "docs/lab.md tells the fields")]
pub enum Heard {
    Entered { fence: u64 },
    Elected { leader: u32, term: u64 },
    Deposed,
    Suspect { node: u32 },
    Trust { node: u32 },
    Other { text: String },
}

/// Why a step did what it did.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "docs/lab.md tells the fields")]
pub struct Reason {
    pub code: &'static str,
    pub rule: &'static str,
    pub text: String,
    /// Where the rule stands on the page of algorithms.
    pub place: String,
    /// Said of a message to itself, which is part of the same step.
    pub own: bool,
}

/// What sort of event it is: a word, and a letter for the list of all.
pub fn kind(record: &Record) -> (&'static str, char) {
    match record {
        Record::Step(step) => match step.cause {
            Cause::Start | Cause::Restart => ("start", 's'),
            Cause::Request(_) => ("request", 'r'),
            Cause::Indication(_) => ("indication", 'i'),
            Cause::Message { .. } => ("message", 'm'),
            Cause::Timer(_) => ("timer", 't'),
            Cause::Tell | Cause::Unseen => ("tell", 'a'),
        },
        Record::Lost { .. } => ("lost", 'l'),
        Record::Dead { .. } => ("dead", 'd'),
        Record::Crash { .. } => ("crash", 'c'),
        Record::Restart { .. } => ("restart", 'b'),
        Record::Pause { .. } => ("pause", 'p'),
        Record::Resume { .. } => ("resume", 'u'),
        Record::Partition { .. } => ("partition", 'x'),
        Record::Heal { .. } => ("heal", 'h'),
        Record::Suspect { .. } => ("suspect", 'w'),
        Record::Violation(_) => ("violation", 'v'),
        Record::End { .. } => ("end", 'e'),
    }
}

/// At which node it happens, if at one.
pub fn place(record: &Record) -> Option<NodeId> {
    match record {
        Record::Step(step) => Some(step.node),
        Record::Lost { node, .. }
        | Record::Dead { node }
        | Record::Crash { node, .. }
        | Record::Restart { node, .. }
        | Record::Pause { node, .. }
        | Record::Resume { node, .. } => Some(*node),
        Record::Suspect { by, .. } => Some(*by),
        Record::Partition { .. }
        | Record::Heal { .. }
        | Record::Violation(_)
        | Record::End { .. } => None,
    }
}

/// The keys of the events of a window: the same thing has the same key in every run of the same
/// nodes.
pub fn keys(
    header: &Header,
    records: &[Record],
    messages: &Messages<'_>,
    window: &Range<usize>,
) -> Vec<String> {
    let mut counts: BTreeMap<Name<'_>, u32> = BTreeMap::new();
    let mut keys = Vec::with_capacity(window.len());
    for (place, record) in records.iter().enumerate().take(window.end) {
        let landed = record.landing().and_then(|number| messages.get(number));
        let wanted = window.contains(&place);
        if let Some(message) = landed.filter(|_| wanted) {
            let before = message.landed.iter().filter(|landing| **landing <= place).count();
            let again = if before > 0 { format!("+{before}") } else { String::new() };
            keys.push(format!("{}{again}", message.key(&header.names)));
        }
        if landed.is_some() {
            continue;
        }
        let count = counts.entry(name(record)).or_default();
        *count += 1;
        if wanted {
            let what = called(record, header);
            let starts = record.step().is_some_and(|step| step.cause == Cause::Start);
            let only_one = starts || matches!(record, Record::End { .. });
            keys.push(if only_one { what } else { format!("{what}#{count}") });
        }
    }
    keys
}

/// Events of the same name are called the same.
type Name<'a> = (&'static str, Option<NodeId>, &'a str);

fn name(record: &Record) -> Name<'_> {
    let label = record.step().map_or("", |step| match &step.cause {
        Cause::Request(label) | Cause::Indication(label) | Cause::Timer(label) => label,
        Cause::Restart => "again",
        Cause::Start | Cause::Message { .. } | Cause::Tell | Cause::Unseen => "",
    });
    (kind(record).0, place(record), label)
}

/// What an event is called that ends no message's way; others may be called the same.
fn called(record: &Record, header: &Header) -> String {
    let node = place(record).map(|node| header.name(node)).unwrap_or_default();
    let Some(step) = record.step() else {
        let over = matches!(record, Record::End { .. });
        return if over { "end".to_string() } else { format!("{}:{node}", kind(record).0) };
    };
    match &step.cause {
        Cause::Start => format!("start:{node}"),
        Cause::Restart => format!("return:{node}"),
        Cause::Request(asked) => format!("ask:{node}:{asked}"),
        Cause::Indication(label) => format!("told:{node}:{}", header.tell(label)),
        Cause::Timer(label) => format!("timer:{node}:{}", header.tell(label)),
        Cause::Message { .. } | Cause::Tell | Cause::Unseen => format!("tell:{node}"),
    }
}

/// What events are told with.
pub struct Teller<'a> {
    /// Whose they are.
    pub header: &'a Header,
    /// All messages of the run.
    pub messages: &'a Messages<'a>,
    /// In which language.
    pub language: Language,
}

impl Teller<'_> {
    /// One event in full; reasons and fields are added by whoever knows them.
    pub fn event(&self, i: usize, record: &Record, key: &str) -> Event {
        let step = record.step();
        let (from, number, label) = self.cause(record);
        let message = number.and_then(|number| self.messages.get(number));
        let label = message.map_or(label, |message| message.sending.label.clone());
        Event {
            i,
            at: units(record.at()),
            node: place(record).map(index),
            kind: kind(record).0,
            label,
            from: from.or(message.map(|message| message.from)).map(index),
            number,
            details: message.map(|message| self.contents(message)).unwrap_or_default(),
            key: key.to_string(),
            sends: step.map(|step| self.sends(step)).unwrap_or_default(),
            timers: step.map(|step| self.timers(step)).unwrap_or_default(),
            told: step.map(|step| self.told(step)).unwrap_or_default(),
            why: Vec::new(),
            text: trace::sentence(record, self.header, self.language),
            fields_changed: Vec::new(),
        }
    }

    fn cause(&self, record: &Record) -> (Option<NodeId>, Option<u64>, String) {
        let number = record.landing();
        let Some(step) = record.step() else { return (None, number, String::new()) };
        match &step.cause {
            Cause::Message { from, label, .. } => (Some(*from), number, label.clone()),
            Cause::Timer(label) => (None, None, trace::timer(label, self.header, self.language)),
            Cause::Request(label) | Cause::Indication(label) => {
                (None, None, self.header.tell(label))
            }
            Cause::Start | Cause::Restart | Cause::Tell | Cause::Unseen => {
                (None, None, String::new())
            }
        }
    }

    /// What a message carries, in words.
    fn contents(&self, message: &Message<'_>) -> String {
        let Sending { label, details, .. } = message.sending;
        trace::contents(label, details, self.header, self.language)
    }

    fn sends(&self, step: &Step) -> Vec<Sent> {
        let sent = |sending: &Sending| Sent {
            number: sending.number,
            to: index(sending.to),
            label: sending.label.clone(),
            details: {
                let Sending { label, details, .. } = sending;
                trace::contents(label, details, self.header, self.language)
            },
            arrival: sending.arrival.map(units),
            again: sending.again.iter().map(|at: &Ticks| units(*at)).collect(),
            nth: self.messages.get(sending.number).map_or(0, |message| message.nth),
            upkeep: self.header.upkeep.contains(&sending.label),
        };
        step.sends().map(sent).collect()
    }

    fn timers(&self, step: &Step) -> Vec<Timer> {
        let name = |label: &str| trace::timer(label, self.header, self.language);
        let timer = |effect: &Effect| match effect {
            Effect::SetTimer { label, until, .. } => {
                Some(Timer::Set { set: name(label), until: units(*until) })
            }
            Effect::CancelTimer { label, .. } => Some(Timer::Cancelled { cancelled: name(label) }),
            Effect::Send(_) | Effect::Indicate { .. } | Effect::Request { .. } => None,
        };
        step.effects.iter().filter_map(timer).collect()
    }

    fn told(&self, step: &Step) -> Vec<Heard> {
        let heard = |told: Told| match told {
            Told::Entered { fence } => Heard::Entered { fence },
            Told::Elected { leader, term } => Heard::Elected { leader: index(leader), term },
            Told::Deposed => Heard::Deposed,
            Told::Suspect(node) => Heard::Suspect { node: index(node) },
            Told::Trust(node) => Heard::Trust { node: index(node) },
            Told::Other(text) => Heard::Other { text: self.header.tell(&text) },
        };
        step.told().map(heard).collect()
    }
}
