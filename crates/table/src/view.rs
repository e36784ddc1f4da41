//! What can be read of the table: views for people and for the leader's loop.

use crate::lock::{Entered, Hold, Lock};
use crate::session::Session;
use crate::table::{Table, Waiting};
use crate::{Acquire, Change, Fence, Floor, LeaseTime, Limits, Place, Resource, SessionId, Ticket};
use std::ops::Bound;

/// A lock or an election as it is now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockView<'a> {
    /// Who is inside, by the request that was granted first.
    pub holders: Vec<(&'a Ticket, &'a Hold)>,
    /// Who waits, in order.
    pub waiters: Vec<(Place, Ticket)>,
}

/// What the leader has to propose, or to wait for, next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    /// A session will have been silent for too long then; see [`crate::Change::Expire`].
    pub expiry: Option<(LeaseTime, SessionId)>,
    /// A session will have been without this stream for too long then; see
    /// [`crate::Change::Lapse`].
    pub lapse: Option<(LeaseTime, u64, SessionId)>,
    /// Somebody leaves by itself then; see [`crate::Change::Tick`].
    pub timer: Option<LeaseTime>,
}

/// A request that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitView<'a> {
    /// Which.
    pub ticket: Ticket,
    /// What it asks for.
    pub acquire: &'a Acquire,
    /// Since when it waits.
    pub since: LeaseTime,
}

impl Table {
    /// Who waits at this place.
    pub fn waiting(&self, place: Place) -> Option<WaitView<'_>> {
        let Waiting { ticket, acquire, since } = self.waiting.get(&place)?;
        Some(WaitView { ticket: *ticket, acquire, since: *since })
    }

    /// What a request waits for, and its place in the longest of its queues.
    pub fn wait_of(&self, ticket: Ticket) -> Option<(WaitView<'_>, u32)> {
        let place = *self.session(ticket.session)?.waits.get(&ticket.request)?;
        Some((self.waiting(place)?, self.position(place)))
    }

    /// Whether a newcomer of this session would have to wait, as things are.
    pub fn keeps_out(&self, session: SessionId, acquire: &Acquire) -> bool {
        acquire.wants.iter().any(|want| {
            let lock = self.locks.get(&want.resource);
            lock.is_some_and(|lock| lock.keeps_out(session, want.mode))
        })
    }

    /// What a request holds.
    pub fn held_by(&self, ticket: Ticket) -> impl Iterator<Item = &Resource> {
        let session = self.session(ticket.session);
        session.and_then(|session| session.held.get(&ticket.request)).into_iter().flatten()
    }

    /// How many requests wait.
    pub fn waiters(&self) -> usize {
        self.waiting.len()
    }

    /// How many sessions there are.
    pub fn sessions_len(&self) -> usize {
        self.sessions.len()
    }

    /// How many locks and elections somebody holds or waits for.
    pub fn names(&self) -> usize {
        self.locks.len()
    }

    /// Whether somebody holds it or waits for it.
    pub fn is_used(&self, resource: &Resource) -> bool {
        self.locks.contains_key(resource)
    }

    /// The largest fence of a lock that is known: of who holds it, or has held it.
    pub fn latest_fence(&self, resource: &Resource) -> Option<Fence> {
        let lock = self.locks.get(resource)?;
        let held = lock.holds().values().map(|hold| hold.fence).max();
        held.into_iter().chain([lock.ended()]).max()
    }

    /// The permits of a lock; nothing if it has none, or is free.
    pub fn permits(&self, resource: &Resource) -> Option<u32> {
        self.locks.get(resource)?.permits()
    }

    /// Whether this lock, were it for it alone, would let in who stands at this place.
    pub fn admits_at(&self, resource: &Resource, place: Place) -> bool {
        self.locks.get(resource).is_some_and(|lock| lock.admits(place))
    }

    /// Locks and elections from this one on, by kind and name.
    pub fn resources_from(&self, from: Bound<&Resource>) -> impl Iterator<Item = &Resource> {
        self.locks.range::<Resource, _>((from, Bound::Unbounded)).map(|(resource, _)| resource)
    }

    /// The index of the latest change.
    pub fn index(&self) -> u64 {
        self.index
    }

    /// The lease clock.
    pub fn now(&self) -> LeaseTime {
        self.now
    }

    /// The version of its rules.
    pub fn version(&self) -> u32 {
        self.version
    }

    /// What its fences are above the index of the grant.
    pub fn floor(&self) -> Floor {
        self.floor
    }

    /// How much there is in it, counted in sessions, locks, waiting requests and values: what it
    /// costs to go through all of it is in proportion.
    pub fn size(&self) -> usize {
        self.sessions.len() + self.locks.len() + self.waiting.len() + self.values.len()
    }

    /// The limits.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// A session.
    pub fn session(&self, id: SessionId) -> Option<&Session> {
        self.sessions.get(id)
    }

    /// How many answers the client of a session may still ask for.
    pub fn answers_kept(&self, id: SessionId) -> usize {
        self.sessions.get(id).map_or(0, |session| session.requests.len())
    }

    /// All sessions.
    pub fn sessions(&self) -> impl Iterator<Item = (&SessionId, &Session)> {
        self.sessions.iter()
    }

    /// All locks and elections that somebody holds or waits for.
    pub fn resources(&self) -> impl Iterator<Item = &Resource> {
        self.locks.keys()
    }

    /// The same, each with how many hold it and how many wait for it.
    pub fn crowds(&self) -> impl Iterator<Item = (&Resource, usize, usize)> {
        self.locks.iter().map(|(resource, lock)| (resource, lock.holds().len(), lock.queue().len()))
    }

    /// One of them; nothing if it is free.
    pub fn lock(&self, resource: &Resource) -> Option<LockView<'_>> {
        let lock = self.locks.get(resource)?;
        let ticket = |place| self.waiting.get(place).map(|waiting| (*place, waiting.ticket));
        let waiters = lock.queue().keys().filter_map(ticket).collect();
        let holders = lock.holds().iter().map(|(first, hold)| (first, &**hold)).collect();
        Some(LockView { holders, waiters })
    }

    /// How many wait for it, and since when whoever is inside for longest is: what lists are sorted
    /// by.
    pub fn weight(&self, resource: &Resource) -> (usize, Option<LeaseTime>) {
        let Some(lock) = self.locks.get(resource) else { return (0, None) };
        (lock.queue().len(), lock.holds().values().map(|hold| hold.since).min())
    }

    /// Whether somebody who was told this fence is inside now; of a session, if several share the
    /// fence. Who shared a lock and then had it alone was told two, and may have given back one.
    /// What was taken away by force is there until it ends: nobody else was let in yet.
    pub fn verify(&self, resource: &Resource, fence: Fence, who: Option<SessionId>) -> bool {
        let holds = self.locks.get(resource).map(Lock::holds).into_iter().flatten();
        let valid = |ticket: &Ticket, hold: &Hold| {
            let told = |entered: &Entered| entered.fence == fence;
            hold.entries.iter().any(told) && who.is_none_or(|who| who == ticket.session)
        };
        holds.into_iter().any(|(ticket, hold)| valid(ticket, hold))
    }

    /// What the leader has to propose to end the sessions whose time is over at this lease time.
    pub fn overdue(&self, at: LeaseTime) -> impl Iterator<Item = Change> {
        let silent = self.sessions.silent(at);
        let expiries =
            silent.map(|(session, if_last_renew)| Change::Expire { session, if_last_renew });
        let disconnected = self.sessions.disconnected(at);
        expiries.chain(disconnected.map(|(session, stream)| Change::Lapse { session, stream }))
    }

    /// The requests in line that nobody can ask for again; see [`crate::RequestId::UNRECORDED`].
    pub fn waiting_unrecorded(&self) -> impl Iterator<Item = Ticket> {
        let tickets = self.waiting.values().map(|waiting| waiting.ticket);
        tickets.filter(|ticket| ticket.request.is_unrecorded())
    }

    /// What comes next by the lease clock.
    pub fn due(&self) -> Due {
        Due {
            expiry: self.sessions.next_expiry(),
            lapse: self.sessions.next_lapse(),
            timer: self.timers.first().map(|(at, _)| *at),
        }
    }
}
