//! Release: holds end by release, withdrawal of a request, or force; and fences are verified.

use super::audited::Held;
use super::expiry::end_event;
use super::queue::Queue;
use super::refusal;
use super::sessions::{Kind, Released};
use super::{Answer, Desk};
use conclave_api::{self as api, Code, limits};
use conclave_net::HostContext;

impl Desk {
    pub(super) fn release(
        &mut self,
        name: &str,
        request: &api::Release,
        host: &mut dyn HostContext,
    ) -> Answer<api::Released> {
        let released = self.give_back(Kind::Lock, name, request, host)?;
        self.save_queue(Kind::Lock, name, host);
        self.queues.locks.settle(name);
        Ok(released)
    }

    /// One hold less; whoever has none left is outside. A repeat with the same id counts once.
    pub(super) fn give_back(
        &mut self,
        kind: Kind,
        name: &str,
        request: &api::Release,
        host: &mut dyn HostContext,
    ) -> Answer<api::Released> {
        limits::name(name)?;
        limits::request_id(request.request_id.as_deref())?;
        limits::fence(request.fence)?;
        let session = self.session(&request.session)?;
        let known = request.request_id.clone().map(|id| (kind, name.to_string(), id));
        if let Some(released) = known.as_ref().and_then(|known| session.released(known)) {
            return Ok(released_view(name, released));
        }
        let now = self.timer.now();
        let not_holder = || refusal::not_holder(name);
        let queue = self.queues.get_mut(kind, name).ok_or_else(not_holder)?;
        let held = queue.held_by(&request.session);
        if held.is_none_or(|holder| holder.fence != request.fence) {
            return Err(not_holder());
        }
        let holds = queue.give_back(request.request_id.as_ref(), now);
        if holds == 0 {
            let words = format!("'{}' gave it back", self.sessions.label(&request.session));
            self.journal.note(host, end_event(kind), Some(name), words);
            let held = Held { kind, name, session: &request.session, fence: request.fence };
            self.note_hold("released", &held, "", host);
        }
        let released = Released { fence: request.fence, holds };
        if let (Some(known), Some(session)) = (known, self.sessions.get_mut(&request.session)) {
            session.remember_release(known, released);
        }
        Ok(released_view(name, released))
    }

    /// A request that waits leaves the queue, and is told so. If it was granted first, it stays so.
    pub(super) fn withdraw(
        &mut self,
        kind: Kind,
        name: &str,
        request_id: &str,
        session: &str,
        host: &mut dyn HostContext,
    ) -> Answer<api::Withdrawn> {
        limits::name(name)?;
        limits::request_id(Some(request_id))?;
        let request = (kind, name.to_string(), request_id.to_string());
        if let Some(granted) = self.session(session)?.granted(&request) {
            let words = format!("it was granted before, with fence {}", granted.fence);
            return Err(refusal::refuse(Code::Granted, words));
        }
        let queue = self.queues.get_mut(kind, name);
        let taken = queue
            .map(|queue| queue.take_waiters(|waiter| waiter.is(session, request_id)))
            .unwrap_or_default();
        let Some(&(position, _)) = taken.last() else {
            let words = format!("no such request of this session waits for '{name}'");
            return Err(refusal::not_found(words));
        };
        self.settle(kind, name, host);
        let words = format!("'{}' has left the line", self.sessions.label(session));
        self.journal.note(host, "cancelled", Some(name), words);
        let refusal = refusal::refuse(Code::Withdrawn, "it was withdrawn");
        for (_, waiter) in &taken {
            self.replies.refuse(waiter.request, &refusal, host);
        }
        Ok(api::Withdrawn { name: name.to_string(), position })
    }

    /// Takes a lock from its holder, who may go on believing that it has it.
    pub(super) fn force(
        &mut self,
        name: &str,
        request: &api::Force,
        host: &mut dyn HostContext,
    ) -> Answer<api::Forced> {
        limits::name(name)?;
        limits::reason(&request.reason)?;
        let now = self.timer.now();
        let queue = self.queues.locks.queue_mut(name);
        let Some(holder) = queue.and_then(|queue| queue.end_hold(now)) else {
            return Err(refusal::not_found(format!("no session of this node holds '{name}'")));
        };
        let reason = &request.reason;
        let (kind, fence) = (Kind::Lock, holder.fence);
        let held = Held { kind, name, session: &holder.session, fence };
        self.note_hold("forced", &held, "at once", host);
        self.note_force(name, fence, reason, host);
        let holder = self.holder_view(&holder);
        let words = format!("taken from '{}' ({}): {reason}", holder.label, holder.session);
        tracing::warn!(lock = name, fence = holder.fence, "force: {words}");
        self.journal.note(host, "forced", Some(name), words);
        self.counts.forced += 1;
        self.queues.locks.settle(name);
        let safety = "fence-only".to_string();
        let holders = vec![holder.clone()];
        Ok(api::Forced { name: name.to_string(), holder, holders, safety, ends_in_ms: None })
    }

    /// Whether this fencing token is that of the holder, at this instant.
    pub(super) fn verify(&self, name: &str, fence: u64) -> Answer<api::Verified> {
        limits::name(name)?;
        limits::fence(fence)?;
        let queue = self.queues.get(Kind::Lock, name);
        let holder = queue.and_then(Queue::holder);
        Ok(api::Verified {
            name: name.to_string(),
            valid: holder.is_some_and(|holder| holder.fence == fence && !holder.lapsed),
            latest: queue.and_then(Queue::latest),
            scope: "node".to_string(),
        })
    }
}

fn released_view(name: &str, released: Released) -> api::Released {
    api::Released { name: name.to_string(), fence: released.fence, holds: released.holds }
}
