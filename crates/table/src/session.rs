//! Sessions: a session is a lease on being alive. It belongs to the cluster, not to a node.

use crate::requests::Requests;
use crate::{Grace, LeaseTime, Open, Place, RequestId, Resource, SessionId, Text};
use conclave_core::NodeId;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// A client, as long as it is heard of.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Session {
    /// Who opened it.
    pub principal: Text,
    /// What people see of it.
    pub label: Text,
    /// How long it may be silent, in milliseconds.
    pub ttl_ms: u64,
    /// When it was heard of last.
    pub renewed: LeaseTime,
    /// And at which node.
    pub at: NodeId,
    /// The id under which it was opened.
    pub(crate) opening: Option<Text>,
    pub(crate) stream: Option<Stream>,
    pub(crate) requests: Requests,
    /// Where its requests wait.
    pub(crate) waits: BTreeMap<RequestId, Place>,
    /// What its requests hold.
    pub(crate) held: BTreeMap<RequestId, BTreeSet<Resource>>,
}

impl Session {
    /// One that was just heard of for the first time.
    pub(crate) fn new(open: &Open, now: LeaseTime) -> Self {
        Self {
            principal: open.principal.clone(),
            label: open.label.clone(),
            ttl_ms: open.ttl_ms,
            renewed: now,
            at: open.at,
            opening: open.opening.clone(),
            stream: open.on_disconnect.map(Stream::new),
            requests: Requests::default(),
            waits: BTreeMap::new(),
            held: BTreeMap::new(),
        }
    }

    /// Whether the same was asked for when it was opened: a repeat comes to any node.
    pub(crate) fn is_opened_by(&self, open: &Open) -> bool {
        let grace = self.stream.as_ref().map(|stream| stream.grace);
        self.label == open.label && self.ttl_ms == open.ttl_ms && grace == open.on_disconnect
    }

    /// Whether a request of it waits or holds something.
    pub(crate) fn uses(&self, request: RequestId) -> bool {
        self.waits.contains_key(&request) || self.held.contains_key(&request)
    }

    /// How many locks and elections it holds, by whichever request.
    pub fn holds(&self) -> usize {
        self.held.values().map(BTreeSet::len).sum()
    }

    /// How many of its requests wait.
    pub fn waits(&self) -> usize {
        self.waits.len()
    }

    /// When it has been silent for too long.
    pub fn expires(&self) -> LeaseTime {
        self.renewed.after(self.ttl_ms)
    }
}

/// The stream that tells soon when a client is dead.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Stream {
    grace: Grace,
    /// The highest number seen. What is said about lower ones is void.
    number: u64,
    /// When it ended, if it did.
    detached: Option<LeaseTime>,
}

impl Stream {
    fn new(grace: Grace) -> Self {
        Self { grace, number: 0, detached: None }
    }

    /// A stream has begun. Whether it counts: there may have been a later one, or its own end.
    pub fn attach(&mut self, number: u64) -> bool {
        if number > self.number {
            self.number = number;
            self.detached = None;
        }
        number == self.number && self.detached.is_none()
    }

    /// A stream has ended.
    pub fn detach(&mut self, number: u64, now: LeaseTime) {
        if number >= self.number && self.detached.is_none() {
            self.number = number; // Its beginning may not have been told.
            self.detached = Some(now);
        }
    }

    /// When the session ends unless a stream comes, and the number of the stream that ended.
    pub fn lapses(&self) -> Option<(LeaseTime, u64)> {
        self.detached.map(|since| (since.after(self.grace.0), self.number))
    }
}

/// All sessions, with what finds them in other ways.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Sessions {
    all: BTreeMap<SessionId, Session>,
    /// By principal and the id under which it was opened.
    openings: BTreeMap<(Text, Text), SessionId>,
    /// By when they have been silent for too long.
    expiries: BTreeSet<(LeaseTime, SessionId)>,
    /// By when they have been without a stream for too long.
    lapses: BTreeSet<(LeaseTime, u64, SessionId)>,
    /// About how much room the answers take that their clients may still ask for.
    answers_bytes: u64,
}

impl Sessions {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// One.
    pub fn get(&self, id: SessionId) -> Option<&Session> {
        self.all.get(&id)
    }

    /// One, to change what it asks for, waits for and holds.
    pub fn get_mut(&mut self, id: SessionId) -> Option<&mut Session> {
        self.all.get_mut(&id)
    }

    /// Changes what is known of the requests of one.
    pub fn on_requests(&mut self, id: SessionId, change: impl FnOnce(&mut Requests)) {
        let Some(Session { requests, .. }) = self.all.get_mut(&id) else { return };
        self.answers_bytes -= requests.bytes();
        change(requests);
        self.answers_bytes += requests.bytes();
    }

    /// About how much room the answers take that clients may still ask for.
    pub fn answers_bytes(&self) -> u64 {
        self.answers_bytes
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = (&SessionId, &Session)> {
        self.all.iter()
    }

    /// The session that was opened under this id.
    pub fn opened(&self, principal: &Text, opening: &Text) -> Option<SessionId> {
        self.openings.get(&(principal.clone(), opening.clone())).copied()
    }

    /// A new one.
    pub fn insert(&mut self, id: SessionId, session: Session) {
        if let Some(opening) = &session.opening {
            self.openings.insert((session.principal.clone(), opening.clone()), id);
        }
        self.expiries.insert((session.expires(), id));
        self.all.insert(id, session);
    }

    /// One that has ended.
    pub fn remove(&mut self, id: SessionId) -> Option<Session> {
        let session = self.all.remove(&id)?;
        self.answers_bytes -= session.requests.bytes();
        if let Some(opening) = &session.opening {
            self.openings.remove(&(session.principal.clone(), opening.clone()));
        }
        self.expiries.remove(&(session.expires(), id));
        if let Some((at, number)) = session.stream.as_ref().and_then(Stream::lapses) {
            self.lapses.remove(&(at, number, id));
        }
        Some(session)
    }

    /// It was heard of.
    pub fn renew(&mut self, id: SessionId, now: LeaseTime, at: NodeId) {
        if let Some(session) = self.all.get_mut(&id) {
            self.expiries.remove(&(session.expires(), id));
            session.renewed = now;
            session.at = at;
            self.expiries.insert((session.expires(), id));
        }
    }

    /// Something happened to its stream.
    pub fn on_stream<T>(
        &mut self,
        id: SessionId,
        event: impl FnOnce(&mut Stream) -> T,
    ) -> Option<T> {
        // Otherwise it did not ask for that.
        let stream = self.all.get_mut(&id).and_then(|session| session.stream.as_mut())?;
        if let Some((at, number)) = stream.lapses() {
            self.lapses.remove(&(at, number, id));
        }
        let came_of_it = event(stream);
        if let Some((at, number)) = stream.lapses() {
            self.lapses.insert((at, number, id));
        }
        Some(came_of_it)
    }

    /// The session that will have been silent for too long next, and when.
    pub fn next_expiry(&self) -> Option<(LeaseTime, SessionId)> {
        self.expiries.first().copied()
    }

    /// The sessions that have been silent for too long by then, and when each was heard of last.
    pub fn silent(&self, at: LeaseTime) -> impl Iterator<Item = (SessionId, LeaseTime)> {
        let due = self.expiries.iter().take_while(move |(expires, _)| *expires <= at);
        due.filter_map(|(_, id)| Some((*id, self.get(*id)?.renewed)))
    }

    /// The sessions that have been without a stream for too long by then, and which stream.
    pub fn disconnected(&self, at: LeaseTime) -> impl Iterator<Item = (SessionId, u64)> {
        let due = self.lapses.iter().take_while(move |(lapses, _, _)| *lapses <= at);
        due.map(|(_, stream, id)| (*id, *stream))
    }

    /// The session that will have been without a stream for too long next: when, and which stream.
    pub fn next_lapse(&self) -> Option<(LeaseTime, u64, SessionId)> {
        self.lapses.first().copied()
    }
}
