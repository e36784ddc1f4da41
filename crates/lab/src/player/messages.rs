//! Messages of a run: of each the key by which it is known in other runs, and what became of it.
//!
//! The key is what chance is drawn by, too: sender, receiver, kind, and how many of these came
//! before. So a message with the same key has the same fate in a run that differs elsewhere.

use conclave_core::{NodeId, Ticks};
use conclave_sim::trace::{Cause, Record, Sending, Trace};
use std::collections::BTreeMap;

/// A message that was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Its number in this run.
    pub number: u64,
    /// Who sent it.
    pub from: NodeId,
    /// To whom.
    pub to: NodeId,
    /// The paper's word for it.
    pub label: String,
    /// What it carries; nodes appear as marks.
    pub details: String,
    /// The how manieth of its kind on its link it is, from 1.
    pub nth: u32,
    /// The event that sent it, from 1.
    pub sent_by: usize,
    /// When.
    pub sent: Ticks,
    /// When it arrives; never, if it is lost on the way.
    pub arrival: Option<Ticks>,
    /// When it arrives once more.
    pub again: Vec<Ticks>,
    /// The events that it led to, from 1: it was received, or found its receiver down.
    pub landed: Vec<usize>,
}

/// All messages of a run, by number.
#[derive(Clone, Debug, Default)]
pub struct Messages {
    all: BTreeMap<u64, Message>,
}

impl Messages {
    /// The messages of a trace.
    pub fn of(trace: &Trace) -> Self {
        let mut messages = Self::default();
        let mut sent: BTreeMap<(NodeId, NodeId, &str), u32> = BTreeMap::new();
        for (event, record) in (1..).zip(&trace.records) {
            if let Some(number) = landing(record)
                && let Some(message) = messages.all.get_mut(&number)
            {
                message.landed.push(event);
            }
            let Some(step) = record.step() else { continue };
            for sending in step.sends() {
                let nth = sent.entry((step.node, sending.to, &sending.label)).or_default();
                *nth += 1;
                let message = Message::of(sending, step.node, step.at, *nth, event);
                messages.all.insert(sending.number, message);
            }
        }
        messages
    }

    /// The message of this number.
    pub fn get(&self, number: u64) -> Option<&Message> {
        self.all.get(&number)
    }

    /// All of them, in the order in which they were sent.
    pub fn iter(&self) -> impl Iterator<Item = &Message> {
        self.all.values()
    }
}

impl Message {
    fn of(sending: &Sending, from: NodeId, sent: Ticks, nth: u32, sent_by: usize) -> Self {
        Self {
            number: sending.number,
            from,
            to: sending.to,
            label: sending.label.clone(),
            details: sending.details.clone(),
            nth,
            sent_by,
            sent,
            arrival: sending.arrival,
            again: sending.again.clone(),
            landed: Vec::new(),
        }
    }

    /// The key by which it is known in every run: `1>3:REQUEST#2`.
    pub fn key(&self, names: &[String]) -> String {
        let name = |node: NodeId| names.get(node.index()).map_or("?", String::as_str);
        format!("{}>{}:{}#{}", name(self.from), name(self.to), self.label, self.nth)
    }

    /// When it arrives, each time.
    pub fn arrivals(&self) -> impl Iterator<Item = Ticks> {
        self.arrival.into_iter().chain(self.again.iter().copied())
    }
}

/// The number of the message that ends its way with this record.
pub fn landing(record: &Record) -> Option<u64> {
    match record {
        Record::Lost { number, .. } => Some(*number),
        Record::Step(step) => match step.cause {
            Cause::Message { number, .. } => Some(number),
            Cause::Start
            | Cause::Restart
            | Cause::Request(_)
            | Cause::Indication(_)
            | Cause::Timer(_)
            | Cause::Tell
            | Cause::Unseen => None,
        },
        Record::Dead { .. }
        | Record::Crash { .. }
        | Record::Restart { .. }
        | Record::Pause { .. }
        | Record::Resume { .. }
        | Record::Partition { .. }
        | Record::Heal { .. }
        | Record::Suspect { .. }
        | Record::Violation(_)
        | Record::End { .. } => None,
    }
}
