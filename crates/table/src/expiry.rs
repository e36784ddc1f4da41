//! Leases and deadlines: opening, keepalive, expiry, and what the lease clock ends by itself.
//!
//! Time alone never ends a session or withdraws a grant. The leader proposes an expiry, and it is
//! void if a keepalive came before it in the log. Only who waits, and what force has taken away,
//! leaves when its moment has come.

use crate::answer::{Answer, Held, HoldEnd, Notice, Quota, Refusal, Renewed, SessionEnd};
use crate::session::Session;
use crate::table::{Table, Turn, Waiting};
use crate::{
    LeaseTime, Open, OpenRequests, Place, Renewal, RequestId, Resource, SessionId, Ticket,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// What happens at a moment of the lease clock, with whatever change comes next.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Timer {
    /// Who stands here has waited for long enough.
    Deadline(Place),
    /// What was taken away ends at the latest.
    Revoked(Resource, Ticket),
    /// Whoever waited since the table was restored may be let in.
    Quiet,
}

impl Table {
    /// All whose moment has come leave.
    pub(crate) fn ring_timers(&mut self, turn: &mut Turn) {
        while let Some((at, timer)) = self.timers.first().cloned() {
            if at > self.now {
                return;
            }
            self.timers.remove(&(at, timer.clone()));
            match timer {
                Timer::Deadline(place) => self.give_up(place, Refusal::TimedOut, turn),
                Timer::Revoked(resource, first) => {
                    self.end_hold(&resource, first, HoldEnd::Revoked, turn);
                }
                Timer::Quiet => turn.left.extend(self.locks.keys().cloned()),
            }
        }
    }

    pub(crate) fn set_deadline(&mut self, place: Place, waiting: &Waiting) {
        if waiting.acquire.wait_ms > 0 {
            self.timers.insert((waiting.deadline(), Timer::Deadline(place)));
        }
    }

    pub(crate) fn clear_deadline(&mut self, place: Place, waiting: &Waiting) {
        self.timers.remove(&(waiting.deadline(), Timer::Deadline(place)));
    }

    pub(crate) fn open(&mut self, open: &Open) -> Answer {
        let known = open.opening.as_ref().and_then(|id| self.sessions.opened(&open.principal, id));
        let id = known.unwrap_or(open.session);
        if let Some(session) = self.sessions.get(id) {
            let same_opener =
                session.principal == open.principal && session.opening == open.opening;
            return match (same_opener, session.is_opened_by(open)) {
                (true, true) => Answer::Opened { session: id, ttl_ms: session.ttl_ms },
                (true, false) => Answer::Refused(Refusal::AnotherRequest),
                (false, _) => Answer::Refused(Refusal::TakenId),
            };
        }
        if self.sessions.len() >= self.limits.sessions as usize {
            return Answer::Refused(Refusal::Full(Quota::Sessions));
        }
        self.sessions.insert(id, Session::new(open, self.now));
        Answer::Opened { session: id, ttl_ms: open.ttl_ms }
    }

    pub(crate) fn renew(&mut self, renewals: &[Renewal], turn: &mut Turn) -> Answer {
        Answer::Renewed(renewals.iter().map(|renewal| self.keep_alive(renewal, turn)).collect())
    }

    fn keep_alive(&mut self, renewal: &Renewal, turn: &mut Turn) -> Renewed {
        let id = renewal.session;
        self.sessions.renew(id, self.now, renewal.at);
        if let Some(open) = &renewal.open {
            self.withdraw_unknown(id, open, turn);
        }
        match self.sessions.get(id) {
            Some(session) => Renewed::Alive(self.holds_of(id, session)),
            None => Renewed::NoSession,
        }
    }

    /// A client that does not know a request any more would not give back what comes of it.
    fn withdraw_unknown(&mut self, id: SessionId, open: &OpenRequests, turn: &mut Turn) {
        let Some(session) = self.sessions.get(id) else { return };
        let requests = session.waits.keys().chain(session.held.keys()).copied();
        let known: BTreeSet<RequestId> = open.requests.iter().copied().collect();
        let unknown = |request: &RequestId| *request < open.as_of && !known.contains(request);
        let unknown: Vec<RequestId> = requests.filter(unknown).collect();
        for request in unknown {
            self.withdraw(Ticket { session: id, request }, HoldEnd::Unknown, turn);
        }
    }

    fn holds_of(&self, id: SessionId, session: &Session) -> Vec<Held> {
        let held = session
            .held
            .iter()
            .flat_map(|(request, resources)| resources.iter().map(|resource| (*request, resource)));
        let view = |(request, resource): (RequestId, &Resource)| {
            let lock = self.locks.get(resource)?;
            let (first, _) = lock.find(id, None, Some(request))?;
            let hold = lock.holds().get(&first)?;
            let revoked = hold.revoked.is_some();
            let fence = hold.fence_of(request);
            Some(Held { resource: resource.clone(), fence, request, revoked })
        };
        held.filter_map(view).collect()
    }

    pub(crate) fn close(&mut self, session: SessionId, turn: &mut Turn) -> Answer {
        match self.sessions.get(session) {
            Some(_) => self.end_session(session, SessionEnd::Closed, turn),
            None => Answer::Refused(Refusal::NoSession),
        }
    }

    /// Void if it was renewed since, or if its time is not over by the lease clock.
    pub(crate) fn expire(
        &mut self,
        id: SessionId,
        if_last_renew: LeaseTime,
        turn: &mut Turn,
    ) -> Answer {
        let silent =
            |session: &&Session| session.renewed == if_last_renew && session.expires() <= self.now;
        match self.sessions.get(id).filter(silent) {
            Some(_) => self.end_session(id, SessionEnd::Expired, turn),
            None => Answer::Done,
        }
    }

    pub(crate) fn attach(&mut self, session: SessionId, stream: u64) -> Answer {
        let counts = self.sessions.on_stream(session, |known| known.attach(stream));
        match counts {
            Some(false) => Answer::Refused(Refusal::StaleStream),
            Some(true) | None => self.known(session),
        }
    }

    pub(crate) fn detach(&mut self, session: SessionId, stream: u64) -> Answer {
        let now = self.now;
        self.sessions.on_stream(session, |known| known.detach(stream, now));
        self.known(session)
    }

    /// Void if a stream came since, or if its grace is not over by the lease clock.
    pub(crate) fn lapse(&mut self, id: SessionId, stream: u64, turn: &mut Turn) -> Answer {
        let stream_of =
            |session: &Session| session.stream.as_ref().and_then(|known| known.lapses());
        match self.sessions.get(id).and_then(stream_of) {
            Some((at, number)) if number == stream && at <= self.now => {
                self.end_session(id, SessionEnd::Lapsed, turn)
            }
            Some(_) | None => Answer::Done,
        }
    }

    fn known(&self, session: SessionId) -> Answer {
        match self.sessions.get(session) {
            Some(_) => Answer::Done,
            None => Answer::Refused(Refusal::NoSession),
        }
    }

    /// It leaves all queues and all that it holds.
    fn end_session(&mut self, id: SessionId, why: SessionEnd, turn: &mut Turn) -> Answer {
        let Some(session) = self.sessions.get(id) else { return Answer::Done };
        let requests: Vec<RequestId> =
            session.waits.keys().chain(session.held.keys()).copied().collect();
        for request in requests {
            self.withdraw(Ticket { session: id, request }, HoldEnd::Session(why), turn);
        }
        if let Some(Session { principal, label, .. }) = self.sessions.remove(id) {
            turn.notices.push(Notice::SessionEnded { session: id, principal, label, why });
        }
        Answer::Done
    }
}

impl Waiting {
    fn deadline(&self) -> LeaseTime {
        self.since.after(self.acquire.wait_ms)
    }
}
