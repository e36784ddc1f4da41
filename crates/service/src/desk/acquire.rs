//! Standing in line, for locks and elections alike.

use super::queue::{Hold, Line, Waiter};
use super::refusal::{self, Refusal};
use super::sessions::{Kind, short_hash};
use super::timing::TRY;
use super::{Answer, Desk, Reply, answer};
use conclave_api::limits::{self, HOLDS_MAX, WAITERS_MAX, WAITERS_OF_ONE_MAX};
use conclave_api::{self as api, Code};
use conclave_core::Ticks;
use conclave_net::Hands;

impl Desk {
    pub(super) fn line(&self, kind: Kind, name: &str) -> Option<&Line> {
        match kind {
            Kind::Lock => self.locks.get(name).map(|lock| &lock.line),
            Kind::Election => self.elections.get(name),
        }
    }

    pub(super) fn line_mut(&mut self, kind: Kind, name: &str) -> Option<&mut Line> {
        match kind {
            Kind::Lock => self.locks.get_mut(name).map(|lock| &mut lock.line),
            Kind::Election => self.elections.get_mut(name),
        }
    }

    /// Puts a request in line, unless it has its answer already. The line must exist.
    pub(super) fn join(
        &mut self,
        kind: Kind,
        name: &str,
        request: api::Acquire,
        reply: Reply<api::Grant>,
        hands: &mut dyn Hands,
    ) {
        let Some(reply) = self.repeat(kind, name, &request, reply, hands) else { return };
        let Some(line) = self.line(kind, name) else { return };
        if line.held_by(&request.session).is_some() {
            return self.enter_again(kind, name, request, reply, hands);
        }
        let tries = request.wait_ms.unwrap_or(0) == 0;
        let others = line.waiters.len() + usize::from(line.holder.is_some());
        if let Some(refusal) = self.refused(kind, name, &request.session, tries, hands) {
            return answer(reply, Err(refusal), hands);
        }
        if others > 0 {
            let words = format!("'{}' waits at place {others}", self.label(&request.session));
            self.journal.note(hands, "queued", Some(name), words);
        }
        let wait = if tries { TRY } else { Ticks::units(request.wait_ms.unwrap_or(0)) };
        let since = self.clock.now();
        self.due(since + wait);
        let waiter = Waiter {
            session: request.session,
            request_id: request.request_id,
            since,
            until: since + wait,
            tries,
            value: request.value.unwrap_or_default(),
            replies: vec![reply],
        };
        if let Some(line) = self.line_mut(kind, name) {
            line.waiters.push_back(waiter);
        }
    }

    /// Why a new request cannot stand in this line, if it cannot.
    fn refused(
        &self,
        kind: Kind,
        name: &str,
        session: &str,
        tries: bool,
        hands: &mut dyn Hands,
    ) -> Option<Refusal> {
        if kind == Kind::Lock
            && let Some(blocked) = self.overflowing(hands)
        {
            let mut refusal = refusal::refuse(Code::Blocked, blocked.message.clone());
            refusal.blocked_on = Some(blocked);
            return Some(refusal);
        }
        let line = self.line(kind, name)?;
        if line.waiters.len() >= WAITERS_MAX {
            let words = format!("{WAITERS_MAX} wait for '{name}' at this node already");
            return Some(refusal::too_many(words));
        }
        let own = line.waiters.iter().filter(|waiter| waiter.session == session).count();
        if own >= WAITERS_OF_ONE_MAX {
            let words = format!("this session waits for '{name}' {own} times already");
            return Some(refusal::too_many(words));
        }
        let place = line.waiters.len() as u32 + 1;
        (tries && !line.is_empty()).then(|| self.turned_away(kind, name, place, None, hands))
    }

    /// Answers a request that was made before, or has it wait with its first; otherwise gives the
    /// reply back.
    fn repeat(
        &mut self,
        kind: Kind,
        name: &str,
        request: &api::Acquire,
        reply: Reply<api::Grant>,
        hands: &mut dyn Hands,
    ) -> Option<Reply<api::Grant>> {
        let Some(id) = &request.request_id else { return Some(reply) };
        let about = (kind, name.to_string(), id.clone());
        self.give_up(kind, name, id, &request.session);
        let session = self.sessions.get(&request.session)?;
        if let Some(mut grant) = session.granted(&about).cloned() {
            let line = self.line(kind, name);
            let holder = line.and_then(|line| line.held_by(&request.session));
            let holder = holder.filter(|holder| holder.fence == grant.fence);
            match holder.and_then(|holder| Some((holder.count(), holder.hold_of(id)?))) {
                Some((holds, hold)) => {
                    grant.holds = holds;
                    let claim = hold.claim.clone();
                    hands.afterwards(Box::new(move || claim.answer(reply, grant)));
                }
                None => {
                    grant.released = true;
                    answer(reply, Ok(grant), hands);
                }
            }
            return None;
        }
        let line = self.line_mut(kind, name)?;
        match line.waiting(&request.session, id) {
            Some(waiter) => {
                waiter.replies.retain(|reply| !reply.is_closed());
                waiter.replies.push(reply);
                None
            }
            None => Some(reply),
        }
    }

    /// Whoever repeats a request has not heard of its grant. If that is lost by now, nobody needs
    /// to hear of it any more.
    fn give_up(&mut self, kind: Kind, name: &str, request_id: &String, session: &str) {
        let now = self.clock.now();
        let Some(line) = self.line_mut(kind, name) else { return };
        let Some(holder) = line.holder.as_mut().filter(|holder| holder.lapsed) else { return };
        if holder.session == session && holder.hold_of(request_id).is_some() {
            if holder.give_back(Some(request_id)) == 0 {
                line.let_out(now);
            }
            self.settle(name);
        }
    }

    /// The session that holds asks again: it gets the same fence, and holds once more.
    fn enter_again(
        &mut self,
        kind: Kind,
        name: &str,
        request: api::Acquire,
        reply: Reply<api::Grant>,
        hands: &mut dyn Hands,
    ) {
        let (term, now) = (self.term_of(kind), self.clock.now());
        let Some(holder) = self.line_mut(kind, name).and_then(|line| line.holder.as_mut()) else {
            return;
        };
        if holder.holds.len() >= HOLDS_MAX || holder.lapsed {
            let refusal = match holder.lapsed {
                true => refusal::unavailable("it was lost: give it back first"),
                false => refusal::too_many(format!("this session holds it {HOLDS_MAX} times")),
            };
            return answer(reply, Err(refusal), hands);
        }
        let hold = Hold::new(request.request_id.clone(), now);
        let claim = hold.claim.clone();
        holder.holds.push(hold);
        let (fence, holds) = (holder.fence, holder.count());
        self.due(now + self.claim_time(&request.session));
        let grant = self.grant_view(name, fence, holds, Ticks::ZERO, term);
        self.remember_grant(kind, &request.session, request.request_id, &grant);
        self.save_line(kind, name, hands);
        hands.afterwards(Box::new(move || claim.answer(reply, grant)));
    }

    /// Lets in the first in line.
    pub(super) fn grant(
        &mut self,
        kind: Kind,
        name: &str,
        fence: u64,
        term: Option<u64>,
        hands: &mut dyn Hands,
    ) {
        let now = self.clock.now();
        let Some(line) = self.line_mut(kind, name) else { return };
        let entered = line.let_in(fence, now);
        let Some(session) = line.holder.as_ref().map(|holder| holder.session.clone()) else {
            return; // Everybody has left.
        };
        self.entries += 1;
        for (holds, (waiter, claim)) in (1..).zip(entered) {
            let grant = self.grant_view(name, fence, holds, now.since(waiter.since), term);
            self.remember_grant(kind, &session, waiter.request_id, &grant);
            for reply in waiter.replies {
                let (claim, grant) = (claim.clone(), grant.clone());
                hands.afterwards(Box::new(move || claim.answer(reply, grant)));
            }
        }
        self.due(now + self.claim_time(&session));
        let event = if kind == Kind::Lock { "granted" } else { "leader" };
        let short = short_hash(&session);
        let words = format!("'{}' ({short}) has it with fence {fence}", self.label(&session));
        self.journal.note(hands, event, Some(name), words);
    }

    fn remember_grant(
        &mut self,
        kind: Kind,
        session: &str,
        request_id: Option<String>,
        grant: &api::Grant,
    ) {
        if let Some(id) = request_id
            && let Some(session) = self.sessions.get_mut(session)
        {
            session.remember_grant((kind, grant.name.clone(), id), grant.clone());
        }
    }

    /// One hold less; whoever has none left is outside.
    pub(super) fn give_back(
        &mut self,
        kind: Kind,
        name: &str,
        request: &api::Release,
        hands: &mut dyn Hands,
    ) -> Answer<api::Released> {
        limits::name(name)?;
        limits::request_id(request.request_id.as_deref())?;
        let session = self.session(&request.session)?;
        let about = request.request_id.clone().map(|id| (kind, name.to_string(), id));
        if let Some(released) = about.as_ref().and_then(|about| session.released(about)) {
            return Ok(released.clone());
        }
        let now = self.clock.now();
        let line = self.line_mut(kind, name).ok_or_else(|| refusal::not_holder(name))?;
        let held = line.held_by(&request.session);
        if held.is_none_or(|holder| holder.fence != request.fence) {
            return Err(refusal::not_holder(name));
        }
        let holder = line.holder.as_mut();
        let holds = holder.map_or(0, |holder| holder.give_back(request.request_id.as_ref()));
        if holds == 0 {
            line.let_out(now);
            let event = if kind == Kind::Lock { "released" } else { "leader" };
            let words = format!("'{}' gave it back", self.label(&request.session));
            self.journal.note(hands, event, Some(name), words);
        }
        let released = api::Released { name: name.to_string(), fence: request.fence, holds };
        if let (Some(about), Some(session)) = (about, self.sessions.get_mut(&request.session)) {
            session.remember_release(about, released.clone());
        }
        Ok(released)
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
    Ok(limits::proclaimed(request.value.as_deref().unwrap_or_default())?)
}
