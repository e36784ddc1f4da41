//! Sessions: leases on being alive. A session ends when no keepalive renews it within its time to
//! live.
//!
//! Each session remembers what came of its latest requests with an id, so that a repeat is the same
//! request (idempotence).

use conclave_api::limits::REQUESTS_MAX;
use conclave_core::Ticks;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// A request with an id: a lock or an election, its name, and the id that the client chose.
pub type RequestName = (Kind, String, String);

/// Locks and elections may have the same names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Kind {
    /// A lock.
    Lock,
    /// An election.
    Election,
}

/// What the disk keeps of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// Its time to live: how long it lives without a keepalive.
    pub ttl: Ticks,
    /// What people see.
    pub label: String,
    /// The id of the request that opened it.
    pub request_id: Option<String>,
    /// Who opened it; empty where nobody had to say so, as in what older versions wrote.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub principal: String,
}

/// What came of an acquire or a campaign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Granted {
    /// The fencing token.
    pub fence: u64,
    /// How often the session held it then.
    pub holds: u32,
    /// How long the request waited.
    pub waited: Ticks,
    /// Elections: the term of the node's leadership.
    pub term: Option<u64>,
}

/// What came of a release or a resignation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Released {
    /// The fence that was given back.
    pub fence: u64,
    /// How often the session still held it.
    pub holds: u32,
}

/// One session.
#[derive(Debug)]
pub struct Session {
    record: Record,
    expires: Ticks,
    granted: BTreeMap<RequestName, Granted>,
    released: BTreeMap<RequestName, Released>,
    /// The requests that are remembered, oldest first.
    order: VecDeque<RequestName>,
    /// How many locks were new when it asked for them, since the node started.
    pub named: usize,
}

impl Session {
    fn new(record: Record, now: Ticks) -> Self {
        Self {
            expires: now + record.ttl,
            record,
            granted: BTreeMap::new(),
            released: BTreeMap::new(),
            order: VecDeque::new(),
            named: 0,
        }
    }

    /// What the disk keeps.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// When it ends, by the lease clock, unless it is renewed.
    pub fn expires(&self) -> Ticks {
        self.expires
    }

    /// What came of an acquire or a campaign.
    pub fn granted(&self, request: &RequestName) -> Option<Granted> {
        self.granted.get(request).copied()
    }

    /// What came of a release or a resignation.
    pub fn released(&self, request: &RequestName) -> Option<Released> {
        self.released.get(request).copied()
    }

    /// Remembers what came of an acquire or a campaign.
    pub fn remember_grant(&mut self, request: RequestName, granted: Granted) {
        self.granted.insert(request.clone(), granted);
        self.remember(request);
    }

    /// Remembers what came of a release or a resignation.
    pub fn remember_release(&mut self, request: RequestName, released: Released) {
        self.released.insert(request.clone(), released);
        self.remember(request);
    }

    /// Nothing came of it after all: a repeat asks anew.
    pub fn forget_grant(&mut self, request: &RequestName) {
        self.granted.remove(request);
    }

    fn remember(&mut self, request: RequestName) {
        self.order.push_back(request);
        if self.order.len() > REQUESTS_MAX
            && let Some(oldest) = self.order.pop_front()
        {
            self.granted.remove(&oldest);
            self.released.remove(&oldest);
        }
    }
}

/// All sessions of this node. The id of a request that opened one leads to it for as long as the
/// session lives, and no longer.
#[derive(Debug, Default)]
pub struct Sessions {
    sessions: BTreeMap<String, Session>,
    /// By principal and id.
    opened_by: BTreeMap<(String, String), String>,
}

impl Sessions {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.sessions.len()
    }

    /// All, by their ids.
    pub fn iter(&self) -> impl Iterator<Item = (&String, &Session)> {
        self.sessions.iter()
    }

    /// The session of this id.
    pub fn get(&self, id: &str) -> Option<&Session> {
        self.sessions.get(id)
    }

    /// The same, to remember something in it.
    pub fn get_mut(&mut self, id: &str) -> Option<&mut Session> {
        self.sessions.get_mut(id)
    }

    /// The id of the session that this request opened.
    pub fn opened_by(&self, principal: &str, request_id: &str) -> Option<&str> {
        let opening = (principal.to_string(), request_id.to_string());
        self.opened_by.get(&opening).map(String::as_str)
    }

    /// Whether a session is there and somebody else's. Where nobody has to say who asks, there is
    /// but one, without a name.
    pub fn is_anothers(&self, id: &str, principal: &str) -> bool {
        self.get(id).is_some_and(|session| session.record.principal != principal)
    }

    /// What people see of a session.
    pub fn label(&self, id: &str) -> &str {
        self.get(id).map_or("", |session| &session.record.label)
    }

    /// Adds a session that is heard of just now. Returns when it expires.
    pub fn open(&mut self, id: String, record: Record, now: Ticks) -> Ticks {
        if let Some(request_id) = &record.request_id {
            let opening = (record.principal.clone(), request_id.clone());
            self.opened_by.insert(opening, id.clone());
        }
        let session = Session::new(record, now);
        let expires = session.expires;
        self.sessions.insert(id, session);
        expires
    }

    /// A keepalive: the session lives for this long from now on.
    pub fn renew(&mut self, id: &str, ttl: Ticks, now: Ticks) {
        if let Some(session) = self.sessions.get_mut(id) {
            session.expires = now + ttl;
        }
    }

    /// Removes a session.
    pub fn end(&mut self, id: &str) {
        if let Some(session) = self.sessions.remove(id)
            && let Some(request_id) = session.record.request_id
        {
            self.opened_by.remove(&(session.record.principal, request_id));
        }
    }

    /// The sessions whose time to live is over.
    pub fn expired(&self, now: Ticks) -> BTreeSet<String> {
        let over = self.sessions.iter().filter(|(_, session)| session.expires <= now);
        over.map(|(id, _)| id.clone()).collect()
    }

    /// When the first of them expires.
    pub fn next_expiry(&self) -> Option<Ticks> {
        self.sessions.values().map(|session| session.expires).min()
    }

    /// The ids of all, which are secrets.
    #[cfg(test)]
    pub fn ids(&self) -> Vec<String> {
        self.sessions.keys().cloned().collect()
    }
}

/// What others see of a session id: it says nothing about the id, but tells sessions apart.
pub fn short_hash(id: &str) -> String {
    format!("{:016x}", conclave_core::hash(id))[..8].to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(request_id: &str) -> Record {
        let request_id = Some(request_id.to_string());
        let principal = "ci".to_string();
        Record { ttl: Ticks::units(10), label: "label".to_string(), request_id, principal }
    }

    fn request(number: usize) -> RequestName {
        (Kind::Lock, "x".to_string(), number.to_string())
    }

    #[test]
    fn a_session_expires_a_ttl_after_its_last_keepalive() {
        let mut sessions = Sessions::default();
        assert_eq!(sessions.open("a".to_string(), record("r"), Ticks::ZERO), Ticks::units(10));
        sessions.renew("a", Ticks::units(10), Ticks::units(9));
        assert!(sessions.expired(Ticks::units(18)).is_empty());
        assert_eq!(sessions.next_expiry(), Some(Ticks::units(19)));
        assert_eq!(sessions.expired(Ticks::units(19)), BTreeSet::from(["a".to_string()]));
    }

    #[test]
    fn the_id_of_an_opening_leads_to_a_session_only_while_it_lives() {
        let mut sessions = Sessions::default();
        sessions.open("a".to_string(), record("r"), Ticks::ZERO);
        assert_eq!(sessions.opened_by("ci", "r"), Some("a"));
        assert_eq!(sessions.opened_by("cd", "r"), None, "ids are kept per principal");
        sessions.end("a");
        assert_eq!((sessions.opened_by("ci", "r"), sessions.len()), (None, 0));
    }

    #[test]
    fn the_oldest_request_is_forgotten_first() {
        let mut session = Session::new(record("r"), Ticks::ZERO);
        let granted = Granted { fence: 1, holds: 1, waited: Ticks::ZERO, term: None };
        for number in 0..=REQUESTS_MAX {
            session.remember_grant(request(number), granted);
        }
        assert_eq!(session.granted(&request(0)), None);
        assert_eq!(session.granted(&request(1)), Some(granted));
    }
}
