//! Acquire: a request for a lock or a leadership enters here, joins the queue, and is granted.
//!
//! Requests with an id are idempotent: a repeat waits with the first one, or gets its answer.

use super::audited::Held;
use super::queue::{Hold, Queue, Waiter};
use super::refusal::{self, Refusal};
use super::replies::Delivered;
use super::sessions::{Granted, Kind, short_hash};
use super::timing::{TRY, milliseconds};
use super::{Desk, Reply, answer};
use conclave_api::limits::{
    self, HOLDS_MAX, LOCKS_MAX, LOCKS_OF_ONE_MAX, WAITERS_MAX, WAITERS_OF_ALL_MAX,
    WAITERS_OF_ONE_MAX,
};
use conclave_api::{self as api, Code};
use conclave_core::Ticks;
use conclave_net::HostContext;

impl Desk {
    /// A lock request.
    pub(super) fn acquire(
        &mut self,
        name: &str,
        request: api::Acquire,
        reply: Reply<api::Grant>,
        host: &mut dyn HostContext,
    ) {
        if let Err(refusal) = self.may_acquire(name, &request) {
            return answer(reply, Err(refusal), host);
        }
        self.name_lock(name, &request.session);
        self.skip_gone(Kind::Lock, name, host);
        self.join(Kind::Lock, name, request, reply, host);
        self.queues.locks.settle(name);
    }

    fn may_acquire(&self, name: &str, request: &api::Acquire) -> Result<(), Refusal> {
        limits::name(name)?;
        check(request)?;
        self.check_stays()?;
        let session = self.session(&request.session)?;
        if self.queues.locks.contains(name) {
            return Ok(());
        }
        let locks = self.queues.locks.len();
        if locks >= LOCKS_MAX {
            let words = format!("this node knows {locks} locks, and forgets none");
            return Err(refusal::used_up(words));
        }
        if session.named >= LOCKS_OF_ONE_MAX {
            let words = format!("this session has named {LOCKS_OF_ONE_MAX} new locks already");
            return Err(refusal::used_up(words));
        }
        Ok(())
    }

    /// The lock is known from now on. A new name counts against the session that came up with it.
    fn name_lock(&mut self, name: &str, session: &str) {
        if self.queues.locks.contains(name) {
            return;
        }
        self.queues.locks.add(name);
        if let Some(session) = self.sessions.get_mut(session) {
            session.named += 1;
        }
    }

    /// Puts a request in the queue, unless it has its answer already. The queue must exist.
    pub(super) fn join(
        &mut self,
        kind: Kind,
        name: &str,
        request: api::Acquire,
        reply: Reply<api::Grant>,
        host: &mut dyn HostContext,
    ) {
        let Some(reply) = self.repeat(kind, name, &request, reply, host) else { return };
        let Some(queue) = self.queues.get(kind, name) else { return };
        if queue.held_by(&request.session).is_some() {
            return self.hold_again(kind, name, request, reply, host);
        }
        let tries = request.wait_ms.unwrap_or(0) == 0;
        let others = queue.waiters().len() + usize::from(queue.holder().is_some());
        if let Some(refusal) = self.refused(kind, name, &request.session, tries, host) {
            return answer(reply, Err(refusal), host);
        }
        if others > 0 {
            let label = self.sessions.label(&request.session);
            let words = format!("'{label}' waits at place {others}");
            self.journal.note(host, "queued", Some(name), words);
        }
        self.wait(kind, name, request, reply);
    }

    /// Puts a request at the end of the queue. One that does not want to wait still gives the
    /// algorithm a moment.
    fn wait(&mut self, kind: Kind, name: &str, request: api::Acquire, reply: Reply<api::Grant>) {
        let asked = request.wait_ms.unwrap_or(0);
        let tries = asked == 0;
        let wait = if tries { TRY } else { Ticks::units(asked) };
        let since = self.timer.now();
        self.timer.due(since + wait);
        let key = self.replies.new_key();
        self.replies.add(key, reply);
        let waiter = Waiter {
            session: request.session,
            request: key,
            request_id: request.request_id,
            since,
            until: since + wait,
            tries,
            value: request.value.unwrap_or_default(),
        };
        if let Some(queue) = self.queues.get_mut(kind, name) {
            queue.join(waiter);
        }
    }

    /// Why a new request cannot join this queue, if it cannot.
    fn refused(
        &self,
        kind: Kind,
        name: &str,
        session: &str,
        tries: bool,
        host: &mut dyn HostContext,
    ) -> Option<Refusal> {
        if kind == Kind::Lock
            && let Some(blocked) = self.overflowing(host)
        {
            let mut refusal = refusal::refuse(Code::Blocked, blocked.message.clone());
            refusal.blocked_on = Some(blocked);
            return Some(refusal);
        }
        let queue = self.queues.get(kind, name)?;
        if self.replies.len() >= WAITERS_OF_ALL_MAX {
            let words = format!("{WAITERS_OF_ALL_MAX} requests wait at this node already");
            return Some(refusal::too_many(words));
        }
        if queue.waiters().len() >= WAITERS_MAX {
            let words = format!("{WAITERS_MAX} wait for '{name}' at this node already");
            return Some(refusal::too_many(words));
        }
        let own = queue.waiters().iter().filter(|waiter| waiter.session == session).count();
        if own >= WAITERS_OF_ONE_MAX {
            let words = format!("this session waits for '{name}' {own} times already");
            return Some(refusal::too_many(words));
        }
        let place = queue.waiters().len() as u32 + 1;
        (tries && !queue.is_empty()).then(|| self.not_granted(kind, name, place, None, host))
    }

    /// Answers a request that was made before, or has it wait with its first; otherwise gives the
    /// reply back.
    fn repeat(
        &mut self,
        kind: Kind,
        name: &str,
        request: &api::Acquire,
        reply: Reply<api::Grant>,
        host: &mut dyn HostContext,
    ) -> Option<Reply<api::Grant>> {
        let Some(id) = &request.request_id else { return Some(reply) };
        self.give_up_lost_grant(kind, name, id, &request.session);
        let session = self.sessions.get(&request.session)?;
        if let Some(granted) = session.granted(&(kind, name.to_string(), id.clone())) {
            self.answer_again(kind, name, request, granted, reply, host);
            return None;
        }
        match self.queues.get(kind, name)?.waiting(&request.session, id) {
            Some(waiter) => {
                self.replies.add(waiter.request, reply);
                None
            }
            None => Some(reply),
        }
    }

    /// The answer to the repeat of a request that was granted; marked, if it was given back.
    fn answer_again(
        &self,
        kind: Kind,
        name: &str,
        request: &api::Acquire,
        granted: Granted,
        reply: Reply<api::Grant>,
        host: &mut dyn HostContext,
    ) {
        let mut grant = self.grant_view(name, granted);
        let id = request.request_id.as_deref().unwrap_or_default();
        let holder = self.queues.get(kind, name).and_then(|queue| queue.held_by(&request.session));
        let holder = holder.filter(|holder| holder.fence == granted.fence);
        match holder.and_then(|holder| Some((holder.count(), holder.hold_of(id)?.request))) {
            Some((holds, request)) => {
                grant.holds = holds;
                let what = Delivered { kind, name: name.to_string(), request };
                self.replies.deliver(reply, what, grant, host);
            }
            None => {
                grant.released = true;
                answer(reply, Ok(grant), host);
            }
        }
    }

    /// Whoever repeats a request has not heard of its grant. If that is lost by now, nobody needs
    /// to hear of it any more.
    fn give_up_lost_grant(&mut self, kind: Kind, name: &str, id: &String, session: &str) {
        let now = self.timer.now();
        let Some(queue) = self.queues.get_mut(kind, name) else { return };
        let Some(holder) = queue.held_by(session).filter(|holder| holder.lapsed) else { return };
        if holder.hold_of(id).is_some() {
            queue.give_back(Some(id), now);
            self.queues.locks.settle(name);
        }
    }

    /// Re-entry: the session that holds asks again, gets the same fence, and holds once more.
    fn hold_again(
        &mut self,
        kind: Kind,
        name: &str,
        request: api::Acquire,
        reply: Reply<api::Grant>,
        host: &mut dyn HostContext,
    ) {
        let now = self.timer.now();
        let Some(holder) = self.queues.get(kind, name).and_then(Queue::holder) else { return };
        let fence = holder.fence;
        if holder.lapsed {
            let refusal = refusal::unavailable("it was lost: give it back first");
            return answer(reply, Err(refusal), host);
        }
        if holder.holds.len() >= HOLDS_MAX {
            let refusal = refusal::too_many(format!("this session holds it {HOLDS_MAX} times"));
            return answer(reply, Err(refusal), host);
        }
        let key = self.replies.new_key();
        let request_id = request.request_id.clone();
        let hold = Hold { request: key, request_id, since: now, claimed: false };
        let Some(queue) = self.queues.get_mut(kind, name) else { return };
        let holds = queue.hold_again(hold);
        self.timer.due(now + self.claim_time(&request.session));
        let granted = Granted { fence, holds, waited: Ticks::ZERO, term: self.term_of(kind) };
        self.remember_grant(kind, name, &request.session, request.request_id, granted);
        self.save_queue(kind, name, host);
        let what = Delivered { kind, name: name.to_string(), request: key };
        self.replies.deliver(reply, what, self.grant_view(name, granted), host);
    }

    /// Grants a lock or a leadership to the first in the queue, with this fence.
    pub(super) fn grant(
        &mut self,
        kind: Kind,
        name: &str,
        fence: u64,
        term: Option<u64>,
        host: &mut dyn HostContext,
    ) {
        let now = self.timer.now();
        self.skip_gone(kind, name, host);
        let Some(queue) = self.queues.get_mut(kind, name) else { return };
        let entered = queue.grant(fence, now);
        let Some(session) = queue.holder().map(|holder| holder.session.clone()) else {
            return; // Everybody has left.
        };
        for (holds, waiter) in (1..).zip(entered) {
            let granted = Granted { fence, holds, waited: now.since(waiter.since), term };
            self.remember_grant(kind, name, &session, waiter.request_id, granted);
            let what = Delivered { kind, name: name.to_string(), request: waiter.request };
            let grant = self.grant_view(name, granted);
            self.replies.grant(&what, &grant, host);
        }
        self.timer.due(now + self.claim_time(&session));
        let event = if kind == Kind::Lock { "granted" } else { "leader" };
        let short = short_hash(&session);
        let label = self.sessions.label(&session);
        let words = format!("'{label}' ({short}) has it with fence {fence}");
        self.journal.note(host, event, Some(name), words);
        self.note_hold("granted", &Held { kind, name, session: &session, fence }, "", host);
    }

    /// A request without an id leaves with its connection: nobody could ask for it again. Whether
    /// any did.
    pub(super) fn skip_gone(&mut self, kind: Kind, name: &str, host: &mut dyn HostContext) -> bool {
        let replies = &self.replies;
        let Some(queue) = self.queues.get_mut(kind, name) else { return false };
        let is_gone =
            |waiter: &Waiter| waiter.request_id.is_none() && replies.is_deserted(waiter.request);
        if !queue.waiters().iter().any(is_gone) {
            return false;
        }
        for (_, waiter) in queue.take_waiters(is_gone) {
            let refusal = refusal::refuse(Code::Withdrawn, "its connection was closed");
            self.replies.refuse(waiter.request, &refusal, host);
        }
        true
    }

    fn remember_grant(
        &mut self,
        kind: Kind,
        name: &str,
        session: &str,
        request_id: Option<String>,
        granted: Granted,
    ) {
        if let Some(id) = request_id
            && let Some(session) = self.sessions.get_mut(session)
        {
            session.remember_grant((kind, name.to_string(), id), granted);
        }
    }

    /// The machine of a lock is inside, with this fencing token: the first in the queue gets it,
    /// unless it would lose the lock at once.
    pub(super) fn machine_entered(&mut self, name: &str, fence: u64, host: &mut dyn HostContext) {
        let may_lend = self.may_lend(host);
        if !self.queues.locks.machine_entered(name) {
            return;
        }
        if may_lend {
            self.grant(Kind::Lock, name, fence, None, host);
        }
        self.save_queue(Kind::Lock, name, host);
        self.queues.locks.settle(name);
    }

    /// The refusal of a request that waited in vain; or that did not want to wait, and has not
    /// `waited` at all.
    pub(super) fn not_granted(
        &self,
        kind: Kind,
        name: &str,
        place: u32,
        waited: Option<Ticks>,
        host: &dyn HostContext,
    ) -> Refusal {
        let (code, words) = match waited {
            None => (Code::Held, "is not free"),
            Some(_) => (Code::Timeout, "could not be had in time"),
        };
        let queue = self.queues.get(kind, name);
        let holder = queue.and_then(Queue::holder);
        let mut refusal = refusal::refuse(code, format!("'{name}' {words}"));
        refusal.holders = holder.map(|holder| self.holder_view(holder)).into_iter().collect();
        refusal.position = Some(place);
        refusal.waited_ms = waited.map(milliseconds);
        refusal.eta_ms = queue.and_then(|queue| queue.estimate(place)).map(milliseconds);
        refusal.blocked_on = match kind {
            Kind::Lock => self.blocked(name, host),
            Kind::Election => None,
        };
        refusal
    }
}

/// Refuses an acquire or a campaign that breaks a rule, or that this engine cannot serve.
pub(super) fn check(request: &api::Acquire) -> Result<(), Refusal> {
    limits::request_id(request.request_id.as_deref())?;
    limits::wait_ms(request.wait_ms)?;
    let mode = request.mode.as_deref().unwrap_or("exclusive");
    if mode != "exclusive" {
        return Err(refusal::unsupported("a classic engine has the mode 'exclusive' only"));
    }
    if request.permits.unwrap_or(1) != 1 {
        return Err(refusal::unsupported("a classic engine lets in one at a time: permits is 1"));
    }
    if request.owner.is_some() {
        return Err(refusal::unsupported("a classic engine lets a session enter again: no owner"));
    }
    Ok(limits::proclaimed(request.value.as_deref().unwrap_or_default())?)
}
