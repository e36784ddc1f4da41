//! Live events: what happens in the table, told by every node as it applies the log. Session ids
//! are secrets; events show labels and short hashes.

use super::sights::short_hash;
use crate::desk::{Feed, Numbered};
use conclave_api::LiveEvent;
use conclave_replica::Entry;
use conclave_table::{
    Answer, Body, Change, HoldEnd, Kind, LeaseTime, Notice, Refusal, SessionEnd, SessionId, Table,
    Text,
};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};
use tokio::sync::broadcast;

/// How many events are kept for those who come late, and how far behind a watcher may fall.
const KEPT: usize = 1_000;
/// What the lease clock puts so much earlier than this node's own was learnt late.
const LATE_MS: u64 = 1_000;

/// The latest events of a node.
pub struct Journal {
    node: u32,
    past: Mutex<Past>,
    watchers: broadcast::Sender<Numbered>,
}

#[derive(Default)]
struct Past {
    number: u64,
    events: VecDeque<Happened>,
    /// When the latest entry was applied, and its lease clock.
    latest: (u64, LeaseTime),
}

/// Something that happened. Its words are made when somebody wants to read them.
#[derive(Clone, Debug)]
struct Happened {
    number: u64,
    /// When this node noted it.
    at_ms: u64,
    /// Of what was in the log: the lease clock of its entry.
    lease_time: Option<LeaseTime>,
    kind: &'static str,
    name: Option<Text>,
    what: What,
}

#[derive(Clone, Debug)]
enum What {
    Opened(Text, SessionId),
    Ended(Text, SessionId, SessionEnd),
    Queued(Text, u32),
    Left(Text, Refusal),
    Granted(Text, SessionId, u64),
    Released(Text),
    Revoked(Text),
    Proclaimed,
    Said(String),
}

impl Journal {
    /// Nothing has happened yet.
    pub fn new(node: u32) -> Self {
        let (watchers, _) = broadcast::channel(KEPT);
        Self { node, past: Mutex::default(), watchers }
    }

    /// Notes what an entry of the log has brought about.
    pub fn applied(&self, entry: &Entry<'_>) {
        let mut noting = self.noting(Some(entry.lease_time));
        noting.past.latest = (noting.at_ms, entry.lease_time);
        let notices = &entry.applied.notices;
        match (entry.change, &entry.applied.answer) {
            (Change::Open(open), Answer::Opened { session, .. }) if *session == open.session => {
                noting.add("session_opened", None, What::Opened(open.label.clone(), *session));
            }
            (Change::Ask(ask), Answer::Waiting { position }) => {
                if let Body::Acquire(acquire) = &ask.body {
                    let name = acquire.wants.first().map(|want| want.resource.name.clone());
                    let label = label(entry.table, notices, ask.session);
                    noting.add("queued", name, What::Queued(label, *position));
                }
            }
            _ => {}
        }
        for notice in notices {
            noting.notice(notice, entry);
        }
    }

    /// Notes something that is in no log.
    pub fn note(&self, kind: &'static str, name: Option<&str>, words: String) {
        self.noting(None).add(kind, name.map(Text::from), What::Said(words));
    }

    /// The latest events, and those to come.
    pub fn feed(&self) -> Feed {
        let past = self.lock();
        let coming = self.watchers.subscribe();
        let told = |event: &Happened| event.told(self.node, past.latest);
        Feed { past: past.events.iter().map(told).collect(), coming }
    }

    fn noting(&self, lease_time: Option<LeaseTime>) -> Noting<'_> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Noting { journal: self, past: self.lock(), at_ms: now.as_millis() as u64, lease_time }
    }

    fn lock(&self) -> MutexGuard<'_, Past> {
        self.past.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The journal while something is written into it.
struct Noting<'a> {
    journal: &'a Journal,
    past: MutexGuard<'a, Past>,
    at_ms: u64,
    lease_time: Option<LeaseTime>,
}

impl Noting<'_> {
    fn add(&mut self, kind: &'static str, name: Option<Text>, what: What) {
        self.past.number += 1;
        let number = self.past.number;
        let Self { at_ms, lease_time, .. } = *self;
        let event = Happened { number, at_ms, lease_time, kind, name, what };
        if self.journal.watchers.receiver_count() > 0 {
            let told = event.told(self.journal.node, self.past.latest);
            let _ = self.journal.watchers.send(told); // The last one may have left just now.
        }
        if self.past.events.len() == KEPT {
            self.past.events.pop_front();
        }
        self.past.events.push_back(event);
    }

    fn notice(&mut self, notice: &Notice, entry: &Entry<'_>) {
        let label = |session| label(entry.table, &entry.applied.notices, session);
        match notice {
            Notice::Granted(granted) => {
                let session = granted.ticket.session;
                for grant in &granted.grants {
                    let kind = if grant.resource.kind == Kind::Lock { "granted" } else { "leader" };
                    let what = What::Granted(label(session), session, grant.inside.fence.0);
                    self.add(kind, Some(grant.resource.name.clone()), what);
                }
            }
            Notice::Left { ticket, wants, why } => {
                for resource in wants {
                    let what = What::Left(label(ticket.session), why.clone());
                    self.add("cancelled", Some(resource.name.clone()), what);
                }
            }
            Notice::Ended(ended) => {
                let kind = end_kind(ended.why, ended.resource.kind);
                let what = What::Released(label(ended.ticket.session));
                self.add(kind, Some(ended.resource.name.clone()), what);
            }
            Notice::Revoked(ticket, resource) => {
                let what = What::Revoked(label(ticket.session));
                self.add("revoked", Some(resource.name.clone()), what);
            }
            Notice::Proclaimed(resource, _) => {
                self.add("leader", Some(resource.name.clone()), What::Proclaimed);
            }
            Notice::SessionEnded { session, label, why, .. } => {
                let kind = match why {
                    SessionEnd::Closed => "session_closed",
                    SessionEnd::Expired | SessionEnd::Lapsed => "expired",
                };
                self.add(kind, None, What::Ended(label.clone(), *session, *why));
            }
        }
    }
}

/// How the end of a hold is called: by force, or given back, perhaps with its session.
fn end_kind(why: HoldEnd, kind: Kind) -> &'static str {
    match (why, kind) {
        (HoldEnd::Forced | HoldEnd::Revoked, _) => "forced",
        (_, Kind::Election) => "leader",
        (_, Kind::Lock) => "released",
    }
}

/// The label of a session, also of one that has just ended.
fn label(table: &Table, notices: &[Notice], id: SessionId) -> Text {
    if let Some(session) = table.session(id) {
        return session.label.clone();
    }
    let ended = |notice: &Notice| match notice {
        Notice::SessionEnded { session, label, .. } if *session == id => Some(label.clone()),
        Notice::SessionEnded { .. }
        | Notice::Granted(_)
        | Notice::Left { .. }
        | Notice::Ended(_)
        | Notice::Revoked(..)
        | Notice::Proclaimed(..) => None,
    };
    notices.iter().find_map(ended).unwrap_or_default()
}

impl Happened {
    /// When it happened. A node that was away learns of it when it is back; how long before the
    /// latest entry that was, the lease clock tells, which never goes faster than time.
    fn happened_ms(&self, latest: (u64, LeaseTime)) -> u64 {
        let before = self.lease_time.map_or(0, |lease_time| latest.1.since(lease_time));
        let at_ms = latest.0.saturating_sub(before);
        let is_late = self.lease_time.is_some() && at_ms + LATE_MS < self.at_ms;
        if is_late { at_ms } else { self.at_ms }
    }

    fn told(&self, node: u32, latest: (u64, LeaseTime)) -> Numbered {
        let event = LiveEvent {
            at_ms: self.happened_ms(latest),
            node,
            kind: self.kind.to_string(),
            name: self.name.as_ref().map(ToString::to_string),
            message: self.what.words(),
            label: self.what.label().map(ToString::to_string),
            fence: self.what.fence(),
            position: self.what.position(),
        };
        Numbered { number: self.number, event: Arc::new(event) }
    }
}

impl What {
    /// Of the session that it is about.
    fn label(&self) -> Option<&Text> {
        match self {
            Self::Opened(label, _)
            | Self::Ended(label, _, _)
            | Self::Queued(label, _)
            | Self::Left(label, _)
            | Self::Granted(label, _, _)
            | Self::Released(label)
            | Self::Revoked(label) => Some(label),
            Self::Proclaimed | Self::Said(_) => None,
        }
    }

    fn fence(&self) -> Option<u64> {
        if let Self::Granted(_, _, fence) = self { Some(*fence) } else { None }
    }

    fn position(&self) -> Option<u32> {
        if let Self::Queued(_, place) = self { Some(*place) } else { None }
    }

    fn words(&self) -> String {
        match self {
            Self::Opened(label, id) => format!("'{label}' ({:08x}) has come", short_hash(*id)),
            Self::Ended(label, id, why) => {
                let why = match why {
                    SessionEnd::Closed => "has left",
                    SessionEnd::Expired => "was silent for too long",
                    SessionEnd::Lapsed => "was without its stream for too long",
                };
                format!("'{label}' ({:08x}) {why}", short_hash(*id))
            }
            Self::Queued(label, place) => format!("'{label}' waits at place {place}"),
            Self::Left(label, why) => {
                format!("'{label}' {}", left(why))
            }
            Self::Granted(label, id, fence) => {
                format!("'{label}' ({:08x}) has it with fence {fence}", short_hash(*id))
            }
            Self::Released(label) => format!("'{label}' no longer has it"),
            Self::Revoked(label) => format!("it is taken from '{label}' by force, and ends soon"),
            Self::Proclaimed => "the leader is known by something else".to_string(),
            Self::Said(words) => words.clone(),
        }
    }
}

/// Why somebody waits no longer.
fn left(why: &Refusal) -> &'static str {
    match why {
        Refusal::TimedOut => "has waited for long enough",
        Refusal::Deadlock(_) => "would have waited for ever: a deadlock",
        Refusal::NoSession
        | Refusal::TakenId
        | Refusal::Forgotten
        | Refusal::AnotherRequest
        | Refusal::Senseless(_)
        | Refusal::Busy
        | Refusal::Withdrawn
        | Refusal::ModeConflict
        | Refusal::NotWaiting
        | Refusal::AlreadyGranted
        | Refusal::NotHolder
        | Refusal::NoCandidate
        | Refusal::StaleFence { .. }
        | Refusal::StaleStream
        | Refusal::Full(_) => "has left the line",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_learnt_late_is_told_with_the_time_at_which_it_happened() {
        let noted = |at_ms, lease_time: Option<u64>| Happened {
            number: 1,
            at_ms,
            lease_time: lease_time.map(LeaseTime),
            kind: "granted",
            name: None,
            what: What::Proclaimed,
        };
        let latest = (100_000, LeaseTime(70_000));
        let at_ms = |event: Happened| event.happened_ms(latest);
        assert_eq!(at_ms(noted(96_000, Some(10_000))), 40_000, "read from the log after a restart");
        assert_eq!(at_ms(noted(98_000, Some(68_100))), 98_000, "as it came");
        assert_eq!(at_ms(noted(80_000, Some(69_000))), 80_000, "nobody led, and the clock stood");
        assert_eq!(at_ms(noted(96_000, None)), 96_000, "in no log");
    }
}
