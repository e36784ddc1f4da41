//! Messages of a run: of each the key by which it is known in other runs, and what became of it.
//!
//! The key is what chance is drawn by, too: sender, receiver, kind, and how many of these came
//! before. So a message with the same key has the same fate in a run that differs elsewhere.

use conclave_core::{NodeId, Ticks};
use conclave_sim::trace::{Sending, Trace};
use std::collections::BTreeMap;

/// A message that was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message<'a> {
    /// What its sender wrote: number, receiver, kind, contents, when it arrives.
    pub sending: &'a Sending,
    /// Who sent it.
    pub from: NodeId,
    /// The how manieth of its kind on its link it is, from 1.
    pub nth: u32,
    /// The event that sent it, from 1.
    pub sent_by: usize,
    /// When.
    pub sent: Ticks,
    /// The events that it led to, from 1: it was received, or found its receiver down.
    pub landed: Vec<usize>,
}

/// All messages of a run, in the order in which they were sent.
#[derive(Clone, Debug, Default)]
pub struct Messages<'a> {
    all: Vec<Message<'a>>,
}

impl<'a> Messages<'a> {
    /// The messages of a trace.
    pub fn of(trace: &'a Trace) -> Self {
        let mut messages = Self::default();
        let mut sent: BTreeMap<(NodeId, NodeId, &str), u32> = BTreeMap::new();
        for (event, record) in (1..).zip(&trace.records) {
            if let Some(place) = record.landing().and_then(|number| messages.place(number)) {
                messages.all[place].landed.push(event);
            }
            let Some(step) = record.step() else { continue };
            for sending in step.sends() {
                let nth = sent.entry((step.node, sending.to, &sending.label)).or_default();
                *nth += 1;
                let (nth, landed) = (*nth, Vec::new());
                let (from, sent) = (step.node, step.at);
                messages.all.push(Message { sending, from, nth, sent_by: event, sent, landed });
            }
        }
        messages
    }

    /// Numbers grow; in a whole run, by one.
    fn place(&self, number: u64) -> Option<usize> {
        let usual = (number as usize).wrapping_sub(1);
        let is = |message: &Message<'_>| message.sending.number == number;
        match self.all.get(usual) {
            Some(message) if is(message) => Some(usual),
            Some(_) | None => {
                self.all.binary_search_by_key(&number, |message| message.sending.number).ok()
            }
        }
    }

    /// The message of this number.
    pub fn get(&self, number: u64) -> Option<&Message<'a>> {
        self.place(number).map(|place| &self.all[place])
    }

    /// All of them, in the order in which they were sent.
    pub fn iter(&self) -> impl Iterator<Item = &Message<'a>> {
        self.all.iter()
    }
}

impl Message<'_> {
    /// The key by which it is known in every run: `1>3:REQUEST#2`.
    pub fn key(&self, names: &[String]) -> String {
        let name = |node: NodeId| names.get(node.index()).map_or("?", String::as_str);
        let Sending { to, label, .. } = self.sending;
        format!("{}>{}:{label}#{}", name(self.from), name(*to), self.nth)
    }

    /// When it arrives, each time, first first.
    pub fn arrivals(&self) -> Vec<Ticks> {
        let mut arrivals: Vec<Ticks> = self.sending.arrivals().collect();
        arrivals.sort();
        arrivals
    }

    /// When it may still arrive after so many events, each time.
    pub fn still_due(&self, event: usize) -> Vec<Ticks> {
        let landed = self.landed.iter().filter(|landing| **landing <= event).count();
        let mut due = self.arrivals();
        due.drain(..landed.min(due.len()));
        due
    }
}
