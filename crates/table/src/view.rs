//! What can be read of the table: views for people and for the leader's loop.

use crate::lock::{Hold, Lock};
use crate::session::Session;
use crate::table::Table;
use crate::{Change, Floor, LeaseTime, Limits, Place, Resource, SessionId, Ticket};

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

impl Table {
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

    /// All sessions.
    pub fn sessions(&self) -> impl Iterator<Item = (&SessionId, &Session)> {
        self.sessions.iter()
    }

    /// All locks and elections that somebody holds or waits for.
    pub fn resources(&self) -> impl Iterator<Item = &Resource> {
        self.locks.keys()
    }

    /// One of them; nothing if it is free.
    pub fn lock(&self, resource: &Resource) -> Option<LockView<'_>> {
        let lock = self.locks.get(resource)?;
        let ticket = |place| self.waiting.get(place).map(|waiting| (*place, waiting.ticket));
        let waiters = lock.queue().keys().filter_map(ticket).collect();
        Some(LockView { holders: lock.holds().iter().collect(), waiters })
    }

    /// Whether a hold with this fence is there now and was not taken away; of a session, if several
    /// share the fence.
    pub fn verify(&self, resource: &Resource, fence: crate::Fence, who: Option<SessionId>) -> bool {
        let holds = self.locks.get(resource).map(Lock::holds).into_iter().flatten();
        let valid = |ticket: &Ticket, hold: &Hold| {
            hold.fence == fence && who.is_none_or(|who| who == ticket.session)
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

    /// What comes next by the lease clock.
    pub fn due(&self) -> Due {
        Due {
            expiry: self.sessions.next_expiry(),
            lapse: self.sessions.next_lapse(),
            timer: self.timers.first().map(|(at, _)| *at),
        }
    }
}
