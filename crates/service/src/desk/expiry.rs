//! How sessions, waiters and grants come to an end by themselves.

use super::locks::Lock;
use super::queue::{Hold, Line, Waiter};
use super::refusal::{self, Refusal};
use super::sessions::{Kind, Record, Session, short_hash};
use super::timing::{CANDIDATE_TTL, CLAIM, milliseconds};
use super::{Answer, Desk, answer};
use conclave_api::{self as api, Code, limits};
use conclave_core::Ticks;
use conclave_net::Hands;
use std::collections::BTreeSet;

impl Desk {
    pub(super) fn open(
        &mut self,
        request: api::NewSession,
        id: String,
        hands: &mut dyn Hands,
    ) -> Answer<api::Session> {
        let ttl = Ticks::units(limits::ttl_ms(request.ttl_ms)?);
        let ttl = self.config.ttl_max.map_or(ttl, |longest| ttl.min(longest));
        limits::label(request.label.as_deref())?;
        limits::opening_id(request.request_id.as_deref())?;
        let known = request.request_id.as_ref().and_then(|id| self.opened_by.get(id));
        if let Some(known) = known.cloned() {
            return self.opened_before(&known, ttl, request.label.as_deref(), hands);
        }
        if self.sessions.len() >= limits::SESSIONS_MAX {
            let words = format!("this node keeps {} sessions already", limits::SESSIONS_MAX);
            return Err(refusal::too_many(words));
        }
        let (label, request_id) = (request.label.unwrap_or_default(), request.request_id);
        if let Some(request_id) = &request_id {
            self.opened_by.insert(request_id.clone(), id.clone());
        }
        let words = format!("'{label}' ({})", short_hash(&id));
        self.journal.note(hands, "session_opened", None, words);
        let session = Session::new(Record { ttl, label, request_id }, self.clock.now());
        self.due(session.until);
        self.sessions.insert(id.clone(), session);
        self.save_session(&id, hands);
        Ok(self.session_view(&id, ttl))
    }

    /// The answer to a repeated opening. One that asks for something else is somebody else's, and
    /// must not learn of this session.
    fn opened_before(
        &mut self,
        id: &str,
        ttl: Ticks,
        label: Option<&str>,
        hands: &dyn Hands,
    ) -> Answer<api::Session> {
        let record = &self.session(id)?.record;
        if (record.ttl, &*record.label) != (ttl, label.unwrap_or_default()) {
            let words = "request_id: another session was opened with it";
            return Err(refusal::refuse(Code::Conflict, words));
        }
        self.keep_alive(id, hands)
    }

    pub(super) fn keep_alive(&mut self, id: &str, hands: &dyn Hands) -> Answer<api::Session> {
        let now = self.clock.now();
        let left = self.time_left(id, hands.now());
        let session = self.sessions.get_mut(id).ok_or_else(refusal::no_session)?;
        let ttl = left.map_or(session.record.ttl, |left| left.min(session.record.ttl));
        if ttl == Ticks::ZERO {
            return Err(refusal::unavailable("this node does not know what the others do"));
        }
        session.until = now + ttl;
        Ok(self.session_view(id, ttl))
    }

    /// How much time this node can still give to a session; `None` if there is no need to know,
    /// since nobody would take from the session what it has. Others wait for that long, and no
    /// longer.
    fn time_left(&self, id: &str, now: Ticks) -> Option<Ticks> {
        let lapsed = |lock: &Lock| lock.line.held_by(id).is_some_and(|holder| holder.lapsed);
        if self.lapsed.iter().filter_map(|name| self.locks.get(name)).any(lapsed) {
            let until = self.sessions.get(id)?.until;
            return Some(until.since(self.clock.now()));
        }
        let since = self.cut_off.into_iter().chain(self.stopped_since(now)).min()?;
        let holds = |line: &Line| line.held_by(id).is_some();
        let leads = self.elections.values().any(holds).then_some(CANDIDATE_TTL);
        let leased = self.config.ttl_max;
        let leased = leased.filter(|_| self.locks.values().any(|lock| holds(&lock.line)));
        let span = [leads, leased].into_iter().flatten().min()?;
        Some((since + span).since(now))
    }

    pub(super) fn close(&mut self, id: &str, hands: &mut dyn Hands) -> Answer<()> {
        self.session(id)?;
        self.end_sessions(&BTreeSet::from([id.to_string()]), "session_closed", hands);
        Ok(())
    }

    /// Whatever these sessions hold or wait for goes with them. One look at all lines is enough,
    /// however many sessions end at once.
    fn end_sessions(&mut self, ids: &BTreeSet<String>, event: &str, hands: &mut dyn Hands) {
        let concerned = |kind, name: &String, line: &Line| -> Vec<(String, Kind, String)> {
            let holder = line.holder.iter().map(|holder| &holder.session);
            let here = holder.chain(line.waiters.iter().map(|waiter| &waiter.session));
            let leaving: BTreeSet<&String> = here.filter(|id| ids.contains(*id)).collect();
            leaving.into_iter().map(|id| (id.clone(), kind, name.clone())).collect()
        };
        let locks =
            self.locks.iter().flat_map(|(name, lock)| concerned(Kind::Lock, name, &lock.line));
        let elections =
            self.elections.iter().flat_map(|(name, line)| concerned(Kind::Election, name, line));
        let leaving: Vec<_> = locks.chain(elections).collect();
        for (id, kind, name) in leaving {
            self.leave_line(&id, kind, &name, hands);
        }
        for id in ids {
            let words = format!("'{}' ({})", self.label(id), short_hash(id));
            self.journal.note(hands, event, None, words);
            if let Some(session) = self.sessions.remove(id)
                && let Some(request_id) = session.record.request_id
            {
                self.opened_by.remove(&request_id);
            }
            self.save_session(id, hands);
        }
    }

    fn leave_line(&mut self, id: &str, kind: Kind, name: &str, hands: &mut dyn Hands) {
        let now = self.clock.now();
        let Some(line) = self.line_mut(kind, name) else { return };
        let waited = line.take_waiters(|waiter| waiter.session == id);
        if line.held_by(id).is_some() {
            line.let_out(now);
            let event = if kind == Kind::Lock { "released" } else { "leader" };
            let words = "its session has ended".to_string();
            self.journal.note(hands, event, Some(name), words);
        }
        for (_, waiter) in waited {
            turn_away(waiter, &refusal::no_session(), hands);
        }
        self.settle_line(kind, name, hands);
    }

    /// Ends all whose time is up, and finds out when to look again. Nothing is looked at before
    /// something may be over: there may be ten thousand of everything.
    pub(super) fn end_what_is_over(&mut self, hands: &mut dyn Hands) {
        let now = self.clock.now();
        if self.next_due.is_none_or(|at| at > now) {
            return;
        }
        let over = self.sessions.iter().filter(|(_, session)| session.until <= now);
        let over: BTreeSet<String> = over.map(|(id, _)| id.clone()).collect();
        if !over.is_empty() {
            self.end_sessions(&over, "expired", hands);
        }
        let locks = self.locks.iter().filter(|(_, lock)| !lock.line.is_empty());
        let locks = locks.map(|(name, _)| (Kind::Lock, name.clone()));
        let elections = self.elections.keys().map(|name| (Kind::Election, name.clone()));
        let lines: Vec<_> = locks.chain(elections).collect();
        for (kind, name) in &lines {
            self.end_waits(*kind, name, now, hands);
            self.withdraw_unclaimed(*kind, name, now, hands);
            if *kind == Kind::Election {
                self.settle_election(name, hands); // It may be time to lead.
            }
        }
        self.next_due = self.earliest(&lines);
    }

    fn end_waits(&mut self, kind: Kind, name: &str, now: Ticks, hands: &mut dyn Hands) {
        let Some(line) = self.line(kind, name) else { return };
        if line.waiters.iter().all(|waiter| waiter.until > now) {
            return;
        }
        let refusals: Vec<(u32, Refusal)> = (1..)
            .zip(&line.waiters)
            .filter(|(_, waiter)| waiter.until <= now)
            .map(|(place, waiter)| {
                let waited = (!waiter.tries).then(|| now.since(waiter.since));
                (place, self.turned_away(kind, name, place, waited, hands))
            })
            .collect();
        let Some(line) = self.line_mut(kind, name) else { return };
        let late = line.take_waiters(|waiter| waiter.until <= now);
        // The cancel is asked for in the same step as the answer, which leaves after it.
        self.settle_line(kind, name, hands);
        for ((_, waiter), (_, refusal)) in late.into_iter().zip(refusals) {
            let words = format!("'{}' has waited long enough", self.label(&waiter.session));
            self.journal.note(hands, "cancelled", Some(name), words);
            turn_away(waiter, &refusal, hands);
        }
    }

    /// Takes back what was granted to a request that is gone and was not repeated.
    fn withdraw_unclaimed(&mut self, kind: Kind, name: &str, now: Ticks, hands: &mut dyn Hands) {
        let Some(holder) = self.line(kind, name).and_then(|line| line.holder.as_ref()) else {
            return;
        };
        let session = holder.session.clone();
        let patience = self.claim_time(&session);
        let gone = |hold: &Hold| !hold.claim.is_made() && hold.since + patience <= now;
        let Some(line) = self.line_mut(kind, name) else { return };
        let Some(holder) = &mut line.holder else { return };
        let (withdrawn, kept) = std::mem::take(&mut holder.holds).into_iter().partition(gone);
        holder.holds = kept;
        let (withdrawn, left): (Vec<Hold>, _) = (withdrawn, holder.count());
        if withdrawn.is_empty() {
            return;
        }
        if left == 0 {
            line.let_out(now);
        }
        if let Some(session) = self.sessions.get_mut(&session) {
            for id in withdrawn.into_iter().filter_map(|hold| hold.request_id) {
                session.forget_grant(&(kind, name.to_string(), id));
            }
        }
        if left > 0 {
            return self.save_line(kind, name, hands);
        }
        let event = if kind == Kind::Lock { "released" } else { "leader" };
        let words = format!("'{}' did not claim it", self.label(&session));
        self.journal.note(hands, event, Some(name), words);
        self.settle_line(kind, name, hands);
    }

    /// How long a grant may go unnoticed.
    pub(super) fn claim_time(&self, session: &str) -> Ticks {
        self.sessions.get(session).map_or(CLAIM, |session| session.record.ttl.min(CLAIM))
    }

    fn earliest(&self, lines: &[(Kind, String)]) -> Option<Ticks> {
        let sessions = self.sessions.values().map(|session| session.until);
        let lines = lines.iter().filter_map(|(kind, name)| self.line(*kind, name));
        let ends = lines.flat_map(move |line| {
            let claims = line.holder.iter().flat_map(move |holder| {
                let patience = self.claim_time(&holder.session);
                let unclaimed = holder.holds.iter().filter(|hold| !hold.claim.is_made());
                unclaimed.map(move |hold| hold.since + patience)
            });
            claims.chain(line.waiters.iter().map(|waiter| waiter.until))
        });
        let leads = (self.lead_from > self.clock.now()).then_some(self.lead_from);
        sessions.chain(ends).chain(leads).min()
    }

    /// A request that waits leaves the line, and is told so. If it was granted first, it stays so.
    pub(super) fn withdraw(
        &mut self,
        kind: Kind,
        name: &str,
        request_id: &str,
        session: &str,
        hands: &mut dyn Hands,
    ) -> Answer<api::Withdrawn> {
        limits::name(name)?;
        limits::request_id(Some(request_id))?;
        let about = (kind, name.to_string(), request_id.to_string());
        if let Some(grant) = self.session(session)?.granted(&about) {
            let words = format!("it was granted before, with fence {}", grant.fence);
            return Err(refusal::refuse(Code::Granted, words));
        }
        let same = |waiter: &Waiter| {
            waiter.session == session && waiter.request_id.as_deref() == Some(request_id)
        };
        let taken = self.line_mut(kind, name).and_then(|line| line.take_waiters(same).pop());
        let Some((position, waiter)) = taken else {
            let words = format!("no such request of this session waits for '{name}'");
            return Err(refusal::not_found(words));
        };
        self.settle_line(kind, name, hands);
        let words = format!("'{}' has left the line", self.label(session));
        self.journal.note(hands, "cancelled", Some(name), words);
        turn_away(waiter, &refusal::refuse(Code::Withdrawn, "it was withdrawn"), hands);
        Ok(api::Withdrawn { name: name.to_string(), position })
    }

    /// What somebody is told who waited for nothing, or did not want to wait: then not at all.
    pub(super) fn turned_away(
        &self,
        kind: Kind,
        name: &str,
        place: u32,
        waited: Option<Ticks>,
        hands: &dyn Hands,
    ) -> Refusal {
        let (code, words) = match waited {
            None => (Code::Held, "is not free"),
            Some(_) => (Code::Timeout, "could not be had in time"),
        };
        let line = self.line(kind, name);
        let holder = line.and_then(|line| line.holder.as_ref());
        let mut refusal = refusal::refuse(code, format!("'{name}' {words}"));
        refusal.holders = holder.map(|holder| self.holder_view(holder)).into_iter().collect();
        refusal.position = Some(place);
        refusal.waited_ms = waited.map(milliseconds);
        refusal.eta_ms = line.and_then(|line| line.estimate(place)).map(milliseconds);
        refusal.blocked_on = match kind {
            Kind::Lock => self.blocked(name, hands),
            Kind::Election => None,
        };
        refusal
    }
}

/// Tells a waiter and its repeats that they wait for nothing.
pub(super) fn turn_away(waiter: Waiter, refusal: &Refusal, hands: &mut dyn Hands) {
    for reply in waiter.replies {
        answer(reply, Err(refusal.clone()), hands);
    }
}
