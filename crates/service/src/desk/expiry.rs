//! Expiry: where leases end. Sessions whose time to live is over, requests that have waited for as
//! long as they wanted to, and grants that nobody took note of.

use super::audited::Held;
use super::queue::Queue;
use super::refusal::{self, Refusal};
use super::sessions::{Kind, short_hash};
use super::timing::CLAIM;
use super::{Desk, persistence};
use conclave_core::Ticks;
use conclave_net::HostContext;
use std::collections::BTreeSet;

impl Desk {
    /// Ends all whose time is up, and finds out when to look again. Nothing is looked at before
    /// something may be over: there may be ten thousand of everything.
    pub(super) fn expire(&mut self, host: &mut dyn HostContext) {
        if !self.timer.is_due() {
            return;
        }
        let now = self.timer.now();
        let expired = self.sessions.expired(now);
        if !expired.is_empty() {
            self.counts.expiries += expired.len() as u64;
            self.end_sessions(&expired, "expired", host);
        }
        let occupied = self.queues.occupied();
        for (kind, name) in &occupied {
            self.end_waits(*kind, name, now, host);
            self.withdraw_unclaimed(*kind, name, now, host);
            if *kind == Kind::Election {
                self.settle_election(name, host); // It may be time to lead.
            }
        }
        let next = self.next_deadline(&occupied);
        self.timer.reset(next);
    }

    /// Ends sessions. Whatever they hold or wait for goes with them.
    pub(super) fn end_sessions(
        &mut self,
        ids: &BTreeSet<String>,
        event: &str,
        host: &mut dyn HostContext,
    ) {
        for (id, kind, name) in self.queues.of_sessions(ids) {
            self.leave_queue(&id, kind, &name, event, host);
        }
        for id in ids {
            let words = format!("'{}' ({})", self.sessions.label(id), short_hash(id));
            self.journal.note(host, event, None, words);
            self.sessions.end(id);
            persistence::save_session(id, None, host);
        }
    }

    fn leave_queue(
        &mut self,
        id: &str,
        kind: Kind,
        name: &str,
        event: &str,
        host: &mut dyn HostContext,
    ) {
        let now = self.timer.now();
        let Some(queue) = self.queues.get_mut(kind, name) else { return };
        let waited = queue.take_waiters(|waiter| waiter.session == id);
        if let Some(fence) = queue.held_by(id).map(|holder| holder.fence) {
            queue.end_hold(now);
            let (event, reason) = match event {
                "expired" => ("expired", "its session was silent for too long"),
                _ => ("released", "its session was ended"),
            };
            self.note_hold(event, &Held { kind, name, session: id, fence }, reason, host);
            let words = "its session has ended".to_string();
            self.journal.note(host, end_event(kind), Some(name), words);
        }
        for (_, waiter) in waited {
            self.replies.refuse(waiter.request, &refusal::no_session(), host);
        }
        self.settle(kind, name, host);
    }

    /// Refuses the requests that have waited for long enough.
    fn end_waits(&mut self, kind: Kind, name: &str, now: Ticks, host: &mut dyn HostContext) {
        let Some(queue) = self.queues.get(kind, name) else { return };
        if queue.waiters().iter().all(|waiter| waiter.until > now) {
            return;
        }
        self.skip_gone(kind, name, host); // It is in nobody's way, and has no place.
        let Some(queue) = self.queues.get(kind, name) else { return };
        let late = (1..).zip(queue.waiters()).filter(|(_, waiter)| waiter.until <= now);
        let refusals: Vec<Refusal> = late
            .map(|(place, waiter)| {
                let waited = (!waiter.tries).then(|| now.since(waiter.since));
                self.not_granted(kind, name, place, waited, host)
            })
            .collect();
        let Some(queue) = self.queues.get_mut(kind, name) else { return };
        let late = queue.take_waiters(|waiter| waiter.until <= now);
        // The cancel is asked for in the same step as the answer, which leaves after it.
        self.settle(kind, name, host);
        for ((_, waiter), refusal) in late.into_iter().zip(refusals) {
            let label = self.sessions.label(&waiter.session);
            let words = format!("'{label}' has waited long enough");
            self.journal.note(host, "cancelled", Some(name), words);
            self.replies.refuse(waiter.request, &refusal, host);
        }
    }

    /// Takes back what was granted to a request that is gone and was not repeated.
    fn withdraw_unclaimed(
        &mut self,
        kind: Kind,
        name: &str,
        now: Ticks,
        host: &mut dyn HostContext,
    ) {
        let holder = self.queues.get(kind, name).and_then(Queue::holder);
        let Some((session, fence)) = holder.map(|holder| (holder.session.clone(), holder.fence))
        else {
            return;
        };
        let patience = self.claim_time(&session);
        let Some(queue) = self.queues.get_mut(kind, name) else { return };
        let withdrawn = queue.take_unclaimed(patience, now);
        let holds = queue.holder().is_some();
        if withdrawn.is_empty() {
            return;
        }
        if let Some(session) = self.sessions.get_mut(&session) {
            for id in withdrawn.into_iter().filter_map(|hold| hold.request_id) {
                session.forget_grant(&(kind, name.to_string(), id));
            }
        }
        if holds {
            return self.save_queue(kind, name, host);
        }
        let words = format!("'{}' did not claim it", self.sessions.label(&session));
        self.journal.note(host, end_event(kind), Some(name), words);
        let held = Held { kind, name, session: &session, fence };
        self.note_hold("released", &held, "nobody claimed it", host);
        self.settle(kind, name, host);
    }

    /// How long a grant may go unnoticed.
    pub(super) fn claim_time(&self, session: &str) -> Ticks {
        self.sessions.get(session).map_or(CLAIM, |session| session.record().ttl.min(CLAIM))
    }

    /// When the first of all sessions, waits and unclaimed grants ends, these queues being all that
    /// anybody is in; or when candidates may lead.
    fn next_deadline(&self, occupied: &[(Kind, String)]) -> Option<Ticks> {
        let queues = occupied.iter().filter_map(|(kind, name)| self.queues.get(*kind, name));
        let ends = queues.flat_map(move |queue| {
            let claims = queue.holder().into_iter().flat_map(move |holder| {
                let patience = self.claim_time(&holder.session);
                let unclaimed = holder.holds.iter().filter(|hold| !hold.claimed);
                unclaimed.map(move |hold| hold.since + patience)
            });
            claims.chain(queue.waiters().iter().map(|waiter| waiter.until))
        });
        let leads = self.queues.elections.next_start(self.timer.now());
        self.sessions.next_expiry().into_iter().chain(ends).chain(leads).min()
    }
}

/// The event that says that nobody holds it any more.
pub(super) fn end_event(kind: Kind) -> &'static str {
    match kind {
        Kind::Lock => "released",
        Kind::Election => "leader",
    }
}
