//! Histories: what clients saw, and what the nodes applied. Nothing in them depends on how they
//! came about: those of real processes can be judged alike.

use conclave_replica::{Entry, Observer};
use conclave_table::{Applied, Change, Table};
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// In milliseconds, by a clock that all agree on.
pub type Time = u64;

/// What happened to a client.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    /// It has a session.
    Opened { session: String, ttl_ms: u64 },
    /// It asks to be let in, for the first time.
    Asked { session: String, request: u64, name: String },
    /// It is let in, and relies on it from now on.
    Entered { session: String, request: u64, name: String, fence: u64 },
    /// It relies on it no longer.
    Left { session: String, name: String, fence: u64, why: Why },
    /// It was told that it is not let in.
    Refused { session: String, request: u64, code: String },
    /// It was told that it may stay for longer.
    Renewed { session: String },
    /// It was told that it gave it back.
    Released { name: String, fence: u64 },
    /// It was told whether somebody holds it with that fence; when it had asked.
    Verified { name: String, fence: u64, valid: bool, asked: Time },
    /// It was told that the value is written.
    Wrote { name: String, fence: u64 },
    /// It is gone, and told nobody.
    Died { session: String, ttl_ms: u64, held: Option<(String, u64)> },
    /// It stands still, and goes on.
    Paused(bool),
}

/// Why a client relies on something no longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Why {
    /// It gives it back.
    Done,
    /// Its deadline has come, or it was told so.
    Lost,
    /// It is gone.
    Died,
}

/// An entry of the log, as the nodes applied it.
#[derive(Clone, Debug)]
pub struct Logged {
    pub lease: u64,
    pub change: Change,
    pub applied: Applied,
    /// When the first node applied it.
    pub at: Time,
}

/// All that happened.
#[derive(Default)]
pub struct History {
    pub now: Time,
    /// When, to which client, and what.
    pub events: Vec<(Time, usize, Event)>,
    pub log: BTreeMap<u64, Logged>,
    /// What was wrong as it happened.
    pub wrong: Vec<String>,
    /// At each moment, for how long so far the cluster was not able to work.
    pub troubled: BTreeMap<Time, Time>,
    /// How many tables came as a whole, by a snapshot.
    pub installed: u64,
    /// How many nodes were removed and are members again.
    pub replaced: u64,
}

/// The history while it is written.
#[derive(Clone, Default)]
pub struct Recording(Arc<Mutex<History>>);

impl Recording {
    pub fn lock(&self) -> MutexGuard<'_, History> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Something happens to a client.
    pub fn note(&self, client: usize, event: Event) {
        let mut history = self.lock();
        let now = history.now;
        history.events.push((now, client, event));
    }

    /// Sees what a node applies from now on.
    pub fn observer(&self, node: usize) -> Box<dyn Observer> {
        Box::new(Seer { recording: self.clone(), node, last: 0, first: true })
    }
}

impl History {
    /// For how long the cluster was not able to work, from then until then.
    pub fn troubled(&self, from: Time, until: Time) -> Time {
        let by = |at| self.troubled.range(..=at).next_back().map_or(0, |(_, sum)| *sum);
        by(until) - by(from)
    }

    /// The clients that rely on something now.
    pub fn inside(&self) -> BTreeSet<usize> {
        let mut inside = BTreeSet::new();
        for (_, client, event) in &self.events {
            if matches!(event, Event::Entered { .. }) {
                inside.insert(*client);
            } else if matches!(event, Event::Left { .. }) {
                inside.remove(client);
            }
        }
        inside
    }

    /// The clients that were let in just now.
    pub fn entering(&self) -> Vec<usize> {
        let now = self.events.iter().rev().take_while(|(at, ..)| *at == self.now);
        let entered = now.filter(|(_, _, event)| matches!(event, Event::Entered { .. }));
        entered.map(|(_, client, _)| *client).collect()
    }

    /// When a client was last told that it may stay, and the time to live of its session.
    pub fn lease(&self, client: usize) -> Option<(Time, u64)> {
        let mut renewed = None;
        for (at, _, event) in self.events.iter().rev().filter(|(_, of, _)| *of == client) {
            if let Event::Opened { ttl_ms, .. } = event {
                return Some((renewed.unwrap_or(*at), *ttl_ms));
            }
            if matches!(event, Event::Renewed { .. }) {
                renewed.get_or_insert(*at);
            }
        }
        None
    }

    /// The hash of all of it.
    pub fn hash(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.events.hash(&mut hasher);
        for (index, logged) in &self.log {
            (index, logged.lease, &logged.change, logged.at).hash(&mut hasher);
        }
        hasher.finish()
    }
}

/// Sees the entries that one start of a node applies.
struct Seer {
    recording: Recording,
    node: usize,
    last: u64,
    first: bool,
}

impl Observer for Seer {
    fn applied(&mut self, entry: &Entry<'_>) {
        let mut history = self.recording.lock();
        let Entry { index, lease_time, change, applied, .. } = *entry;
        if index <= self.last {
            let words = format!("node {} applied entry {index} after {}", self.node, self.last);
            history.wrong.push(words);
        }
        self.last = index;
        let at = history.now;
        let lease = lease_time.0;
        let fresh = || Logged { lease, change: change.clone(), applied: applied.clone(), at };
        let known = history.log.entry(index).or_insert_with(fresh);
        if (known.lease, &known.change, &known.applied) != (lease, change, applied) {
            let words = format!("node {} has another entry {index}: {change:?}", self.node);
            history.wrong.push(words);
        }
    }

    fn installed(&mut self, table: &Table) {
        let mut history = self.recording.lock();
        if table.index() < self.last {
            let words = format!("node {} went back to {}", self.node, table.index());
            history.wrong.push(words);
        }
        self.last = table.index();
        history.installed += u64::from(!std::mem::take(&mut self.first));
    }
}
