//! Requests of sessions: each is carried out once, however often it comes.

use crate::answer::{Answer, Grant, HoldEnd, Quota, Refusal, Senseless};
use crate::lock::{Lock, Waiter};
use crate::requests::Admission;
use crate::table::{Step, Table, Turn, Waiting};
use crate::{
    Acquire, Ask, Body, Change, Fence, Kind, Mode, Party, Place, RequestId, Resource, SessionId,
    Ticket, WANTS_MAX, Want,
};
use conclave_core::hash;
use std::collections::BTreeSet;

impl Table {
    pub(crate) fn ask(&mut self, ask: &Ask, turn: &mut Turn) -> Step {
        let body = hash(&ask.body);
        let ticket = Ticket { session: ask.session, request: ask.request };
        self.raise_mark(ask.session, ask.lowest_open, turn);
        let Some(session) = self.sessions.get(ask.session) else {
            return Step::Answered(Answer::Refused(Refusal::NoSession));
        };
        if session.uses(ask.request) && ask.request.is_unrecorded() {
            return Step::Answered(Answer::Refused(Refusal::AnotherRequest));
        }
        match session.requests.admit(ask.request, body, self.limits.open_of_session) {
            Admission::New => {}
            Admission::Repeat => return Step::Repeated(ticket),
            Admission::Refused(Refusal::Full(_)) if self.lets_go(ask) => {}
            Admission::Refused(why) => return Step::Answered(Answer::Refused(why)),
        }
        if !self.keeps_one_more(ask) {
            return Step::Answered(Answer::Refused(Refusal::Full(Quota::AnswersBytes)));
        }
        let step = self.carry_out_once(ask, ticket, turn);
        let answer = match &step {
            Step::Answered(answer) => answer.clone(),
            Step::Joined(..) | Step::Repeated(_) => Answer::Waiting { position: 0 },
        };
        self.record(ticket, body, answer);
        step
    }

    /// Carries out a request that is new.
    fn carry_out_once(&mut self, ask: &Ask, ticket: Ticket, turn: &mut Turn) -> Step {
        match &ask.body {
            Body::Acquire(acquire) => self.join(ticket, acquire, turn),
            Body::Cancel { request, of, granted_too } => {
                let withdrawn = ticket.sibling(*request);
                Step::Answered(self.cancel(withdrawn, of.as_ref(), *granted_too, turn))
            }
            Body::Release { resource, fence, hold } => {
                Step::Answered(self.release(ask.session, resource, *fence, *hold, turn))
            }
            Body::Proclaim { election, fence, value } => {
                Step::Answered(self.proclaim(ask.session, election, *fence, value, turn))
            }
            Body::HandOver { election, fence, to } => {
                Step::Answered(self.hand_over(ask.session, election, *fence, to, turn))
            }
            Body::Put(put) => Step::Answered(self.put(put)),
        }
    }

    /// Whether there is room to keep the answer to a request, if it is to be kept.
    fn keeps_one_more(&self, ask: &Ask) -> bool {
        let max = self.limits.answers_bytes;
        let max = match &ask.body {
            Body::Cancel { .. } | Body::Release { .. } => max.saturating_mul(2),
            Body::Acquire(_) | Body::Proclaim { .. } | Body::HandOver { .. } | Body::Put(_) => max,
        };
        ask.request.is_unrecorded() || self.sessions.answers_bytes() < max
    }

    /// Whether a request ends a hold or a wait of its session. There is always room for one that
    /// does: each leaves one thing less that another could let go of.
    fn lets_go(&self, ask: &Ask) -> bool {
        let session = ask.session;
        match &ask.body {
            Body::Release { resource, fence, hold } => {
                let lock = self.locks.get(resource);
                lock.is_some_and(|lock| lock.find(session, Some(*fence), *hold).is_some())
            }
            Body::Cancel { request, of, granted_too } => {
                let ticket = Ticket { session, request: *request };
                let known = self.sessions.get(session);
                known.is_some_and(|known| known.uses(*request))
                    && self.not_withdrawn(ticket, of.as_ref(), *granted_too).is_none()
            }
            Body::Acquire(_) | Body::Proclaim { .. } | Body::HandOver { .. } | Body::Put(_) => {
                false
            }
        }
    }

    /// What became of a request that joined its queues with this change.
    pub(crate) fn outcome(&mut self, place: Place, ticket: Ticket, turn: &mut Turn) -> Answer {
        let Some(waiting) = self.waiting.get(&place) else { return self.answer_again(ticket) };
        let refusal = match waiting.acquire.wait_ms {
            0 => Some(Refusal::Busy),
            _ => self.new_deadlock(place).map(Refusal::Deadlock),
        };
        match refusal {
            None => Answer::Waiting { position: self.position(place) },
            Some(why) => {
                self.leave_queues(place, turn);
                self.settle(ticket, Answer::Refused(why.clone()));
                Answer::Refused(why)
            }
        }
    }

    /// The answer to a repeat: whoever still waits is told how far it has come. A grant that has
    /// ended, or was taken away and ends soon, is not told again: its client may never have heard
    /// of it, and would enter.
    pub(crate) fn answer_again(&self, ticket: Ticket) -> Answer {
        let Some(session) = self.sessions.get(ticket.session) else {
            return Answer::Refused(Refusal::NoSession);
        };
        match (session.waits.get(&ticket.request), session.requests.answer(ticket.request)) {
            (Some(place), _) => Answer::Waiting { position: self.position(*place) },
            (None, Some(Answer::Granted(grants))) if !self.are_held_for_good(ticket, grants) => {
                Answer::Refused(Refusal::Withdrawn)
            }
            (None, Some(answer)) => answer.clone(),
            (None, None) => Answer::Refused(Refusal::Forgotten),
        }
    }

    /// Whether a request still holds all that it was granted, and nothing of it was taken away.
    fn are_held_for_good(&self, ticket: Ticket, grants: &[Grant]) -> bool {
        let kept = |grant: &Grant| {
            let lock = self.locks.get(&grant.resource)?;
            let (first, _) = lock.find(ticket.session, None, Some(ticket.request))?;
            lock.holds().get(&first).map(|hold| hold.revoked.is_none())
        };
        grants.iter().all(|grant| kept(grant) == Some(true))
    }

    /// The place in the longest queue, from 1.
    pub(crate) fn position(&self, place: Place) -> u32 {
        let Some(waiting) = self.waiting.get(&place) else { return 0 };
        let locks = waiting.acquire.wants.iter().filter_map(|want| self.locks.get(&want.resource));
        locks.map(|lock| lock.position(place)).max().unwrap_or(0)
    }

    /// Joins all queues at one index.
    fn join(&mut self, ticket: Ticket, acquire: &Acquire, turn: &mut Turn) -> Step {
        self.let_all_in(turn); // A new request is not to blame for what was there before.
        let refusal = senseless(acquire)
            .map(Refusal::Senseless)
            .or_else(|| self.conflicting(acquire).then_some(Refusal::ModeConflict))
            .or_else(|| self.full(ticket.session, acquire).map(Refusal::Full));
        if let Some(why) = refusal {
            return Step::Answered(Answer::Refused(why));
        }
        let place = Place(self.index);
        let party = Party { session: ticket.session, owner: acquire.owner.clone() };
        for Want { resource, mode } in &acquire.wants {
            let waiter = Waiter { party: party.clone(), mode: *mode };
            self.lock_mut(resource, *mode).join(place, waiter);
        }
        if let Some(session) = self.sessions.get_mut(ticket.session) {
            session.waits.insert(ticket.request, place);
        }
        let waiting = Waiting { ticket, acquire: acquire.clone(), since: self.now };
        self.set_deadline(place, &waiting);
        self.waiting.insert(place, waiting);
        Step::Joined(place, ticket)
    }

    fn conflicting(&self, acquire: &Acquire) -> bool {
        let known = |want: &Want| Some((self.locks.get(&want.resource)?, want.mode));
        acquire.wants.iter().filter_map(known).any(|(lock, mode)| !lock.takes(mode))
    }

    /// The limit that a new request would pass.
    fn full(&self, session: SessionId, acquire: &Acquire) -> Option<Quota> {
        let limits = &self.limits;
        let session = self.sessions.get(session)?;
        let of_session = session.waits.len() + session.held.len();
        let queue = |want: &Want| self.locks.get(&want.resource).map(|lock| lock.queue().len());
        let longest = acquire.wants.iter().filter_map(queue).max().unwrap_or(0);
        let new = acquire.wants.iter().filter(|want| !self.locks.contains_key(&want.resource));
        let prefixes = new.clone().map(|want| want.resource.prefix());
        let of_prefix = |prefix| self.prefixes.get(prefix).copied().unwrap_or(0) as usize;
        let crowded = prefixes.map(of_prefix).max().unwrap_or(0);
        let over = |count: usize, max: u32, quota| (count >= max as usize).then_some(quota);
        let some_new = new.count() > 0;
        over(of_session, limits.requests_of_session, Quota::RequestsOfSession)
            .or_else(|| over(longest, limits.waiters_of_lock, Quota::WaitersOfLock))
            .or_else(|| over(self.waiting.len(), limits.waiters, Quota::Waiters))
            .or_else(|| over(self.locks.len(), limits.names, Quota::Names).filter(|_| some_new))
            .or_else(|| over(crowded, limits.names_of_prefix, Quota::NamesOfPrefix))
    }

    fn lock_mut(&mut self, resource: &Resource, mode: Mode) -> &mut Lock {
        if !self.locks.contains_key(resource) {
            *self.prefixes.entry(resource.prefix().into()).or_default() += 1;
        }
        let forgotten = self.forgotten;
        self.locks.entry(resource.clone()).or_insert_with(|| Lock::new(mode, forgotten))
    }

    /// A client withdraws what it asked for. One that never came is not carried out when it does.
    fn cancel(
        &mut self,
        ticket: Ticket,
        of: Option<&Resource>,
        granted_too: bool,
        turn: &mut Turn,
    ) -> Answer {
        if let Some(why) = self.not_withdrawn(ticket, of, granted_too) {
            return Answer::Refused(why);
        }
        let Ticket { session, request } = ticket;
        let came = self.sessions.get(session).is_some_and(|session| session.uses(request));
        if !came && let Some(quota) = self.no_room_to_bury(ticket) {
            return Answer::Refused(Refusal::Full(quota));
        }
        self.withdraw(ticket, HoldEnd::Withdrawn, turn);
        if !(came && request.is_unrecorded()) {
            self.sessions.on_requests(session, |requests| requests.bury(request));
        }
        Answer::Done
    }

    /// The limit that one more withdrawn request would pass. Its withdrawal may have a number or
    /// not, so the withdrawn are counted themselves.
    fn no_room_to_bury(&self, ticket: Ticket) -> Option<Quota> {
        let requests = &self.sessions.get(ticket.session)?.requests;
        let crowded = requests.len() >= self.limits.open_of_session as usize;
        let full = self.sessions.answers_bytes() >= self.limits.answers_bytes.saturating_mul(2);
        match requests.is_news(ticket.request) {
            true if crowded => Some(Quota::OpenOfSession),
            true if full => Some(Quota::AnswersBytes),
            true | false => None,
        }
    }

    /// Why a request cannot be withdrawn like that.
    fn not_withdrawn(
        &self,
        ticket: Ticket,
        of: Option<&Resource>,
        granted_too: bool,
    ) -> Option<Refusal> {
        let session = self.sessions.get(ticket.session)?;
        if let Some(waiting) = session.waits.get(&ticket.request) {
            let mut wants = self.waiting.get(waiting)?.acquire.wants.iter();
            let asked = of.is_none_or(|of| wants.any(|want| want.resource == *of));
            return (!asked).then_some(Refusal::NotWaiting);
        }
        if let Some(held) = session.held.get(&ticket.request) {
            return match of.is_none_or(|of| held.contains(of)) {
                false => Some(Refusal::NotWaiting),
                true => (!granted_too).then_some(Refusal::AlreadyGranted),
            };
        }
        let answer = of.and_then(|_| session.requests.answer(ticket.request))?;
        let is_withdrawn = *answer == Answer::Refused(Refusal::Withdrawn);
        (!is_withdrawn).then_some(Refusal::NotWaiting)
    }

    /// The client waits for no answer below the mark: what still waits there would become a hold
    /// that nobody knows of.
    fn raise_mark(&mut self, id: SessionId, lowest_open: RequestId, turn: &mut Turn) {
        self.sessions.on_requests(id, |requests| requests.raise_mark(lowest_open));
        let Some(session) = self.sessions.get(id) else { return };
        let abandoned: Vec<RequestId> =
            session.waits.range(..lowest_open).map(|(request, _)| *request).collect();
        for request in abandoned {
            self.withdraw(Ticket { session: id, request }, HoldEnd::Unknown, turn);
        }
    }

    fn release(
        &mut self,
        session: SessionId,
        resource: &Resource,
        fence: Fence,
        hold: Option<RequestId>,
        turn: &mut Turn,
    ) -> Answer {
        let lock = self.locks.get(resource);
        let Some((first, request)) = lock.and_then(|lock| lock.find(session, Some(fence), hold))
        else {
            return Answer::Refused(Refusal::NotHolder);
        };
        let holds = self.leave(resource, first, request, HoldEnd::Released, turn);
        Answer::Released { holds }
    }

    fn record(&mut self, ticket: Ticket, body: u64, answer: Answer) {
        let Ticket { session, request } = ticket;
        self.sessions.on_requests(session, |requests| requests.record(request, body, answer));
    }

    /// What nobody can ask for again is not kept.
    pub(crate) fn forget_unrecorded(&mut self, change: &Change) {
        if let Change::Ask(Ask { session, request, .. }) = change {
            self.sessions.on_requests(*session, |requests| requests.forget_unrecorded(*request));
        }
    }

    /// The final answer to a request that stood in line.
    pub(crate) fn settle(&mut self, ticket: Ticket, answer: Answer) {
        let Ticket { session, request } = ticket;
        self.sessions.on_requests(session, |requests| requests.settle(request, answer));
    }
}

/// Why a request could not be granted even if all were free.
fn senseless(acquire: &Acquire) -> Option<Senseless> {
    let wants = &acquire.wants;
    let names: BTreeSet<&Resource> = wants.iter().map(|want| &want.resource).collect();
    let election = |want: &Want| want.resource.kind == Kind::Election;
    let alone = wants.len() == 1 && wants.iter().all(|want| want.mode == Mode::Exclusive);
    let no_permits = |want: &Want| want.mode == Mode::Permits(0);
    match wants.len() {
        0 => Some(Senseless::HowMany),
        many if many > WANTS_MAX => Some(Senseless::HowMany),
        many if many > names.len() => Some(Senseless::NameTwice),
        _ if wants.iter().any(no_permits) => Some(Senseless::NoPermits),
        _ if wants.iter().any(election) && !alone => Some(Senseless::ElectionAlone),
        _ => None,
    }
}
