//! Who is let in, and who leaves. Queues are FIFO, and a lock that is freed is granted to the next
//! in the same entry of the log.

use crate::answer::{Answer, Ended, Grant, Granted, HoldEnd, Notice, Refusal};
use crate::expiry::Timer;
use crate::lock::{Entry, Hold};
use crate::table::{Table, Turn, Waiting};
use crate::{Place, RequestId, Resource, Ticket};

impl Table {
    /// Lets in whoever can be, and refuses whoever would wait for ever by that.
    pub(crate) fn let_all_in(&mut self, turn: &mut Turn) {
        loop {
            self.untangle(turn);
            self.let_in(turn);
            if turn.rearranged.is_empty() {
                return;
            }
        }
    }

    /// Looks at every lock that somebody left, and at whoever has just joined. Who is let in makes
    /// room for nobody else, except for what its own thread of control may now enter again.
    fn let_in(&mut self, turn: &mut Turn) {
        for resource in &turn.left {
            let heads = self.locks.get(resource).map(|lock| lock.heads());
            turn.ready.extend(heads.unwrap_or_default());
        }
        while let Some(place) = turn.ready.pop_first() {
            if self.admits(place) {
                self.grant(place, turn);
            }
        }
    }

    fn admits(&self, place: Place) -> bool {
        let Some(waiting) = self.waiting.get(&place) else { return false };
        if self.now < self.quiet_until {
            return false;
        }
        let mut wants = waiting.acquire.wants.iter();
        wants.all(|want| self.locks.get(&want.resource).is_some_and(|lock| lock.admits(place)))
    }

    /// Lets in who stands at this place.
    pub(crate) fn grant(&mut self, place: Place, turn: &mut Turn) {
        let party = self.party_at(place);
        turn.rearranged.extend(party.clone());
        let again = party.filter(|party| party.owner.is_some());
        let Some(waiting) = self.waiting.remove(&place) else { return };
        self.clear_deadline(place, &waiting);
        let Waiting { ticket, acquire, since } = waiting;
        let fresh = self.fresh_fence();
        let mut grants = Vec::with_capacity(acquire.wants.len());
        for want in &acquire.wants {
            let entry = Entry { since: self.now, value: acquire.value.clone() };
            let Some(lock) = self.locks.get_mut(&want.resource) else { continue };
            let inside = lock.enter(place, ticket, fresh, entry);
            grants.push(Grant { resource: want.resource.clone(), inside });
        }
        if let Some(session) = self.sessions.get_mut(ticket.session) {
            session.waits.remove(&ticket.request);
            let held = acquire.wants.iter().map(|want| want.resource.clone());
            session.held.insert(ticket.request, held.collect());
        }
        turn.ready.extend(again.iter().flat_map(|party| self.places_of(party)));
        self.settle(ticket, Answer::Granted(grants.clone()));
        let waited_ms = self.now.since(since);
        turn.notices.push(Notice::Granted(Granted { ticket, place, waited_ms, grants }));
    }

    /// Takes a request out of all its queues. Nobody is told.
    pub(crate) fn leave_queues(&mut self, place: Place, turn: &mut Turn) -> Option<Waiting> {
        turn.rearranged.extend(self.party_at(place));
        let waiting = self.waiting.remove(&place)?;
        self.clear_deadline(place, &waiting);
        for want in &waiting.acquire.wants {
            if let Some(lock) = self.locks.get_mut(&want.resource) {
                lock.leave_queue(place);
            }
            turn.left.insert(want.resource.clone());
        }
        if let Some(session) = self.sessions.get_mut(waiting.ticket.session) {
            session.waits.remove(&waiting.ticket.request);
        }
        Some(waiting)
    }

    /// A request waits no longer, in vain.
    pub(crate) fn give_up(&mut self, place: Place, why: Refusal, turn: &mut Turn) {
        let Some(waiting) = self.leave_queues(place, turn) else { return };
        let Waiting { ticket, acquire, .. } = waiting;
        let wants = acquire.wants.into_iter().map(|want| want.resource).collect();
        self.settle(ticket, Answer::Refused(why.clone()));
        turn.notices.push(Notice::Left { ticket, wants, why });
    }

    /// A request is no longer wanted: it leaves its queues, or what it holds.
    pub(crate) fn withdraw(&mut self, ticket: Ticket, why: HoldEnd, turn: &mut Turn) {
        let Some(session) = self.sessions.get(ticket.session) else { return };
        if let Some(place) = session.waits.get(&ticket.request) {
            let is_over = matches!(why, HoldEnd::Session(_));
            let refusal = if is_over { Refusal::NoSession } else { Refusal::Withdrawn };
            return self.give_up(*place, refusal, turn);
        }
        let held = session.held.get(&ticket.request).cloned().unwrap_or_default();
        for resource in held {
            let lock = self.locks.get(&resource);
            let entry = lock.and_then(|lock| lock.find(ticket.session, None, Some(ticket.request)));
            if let Some((first, request)) = entry {
                self.leave(&resource, first, request, why, turn);
            }
        }
    }

    /// Takes one entry out of a hold, and says how often the holder is still inside.
    pub(crate) fn leave(
        &mut self,
        resource: &Resource,
        first: Ticket,
        request: RequestId,
        why: HoldEnd,
        turn: &mut Turn,
    ) -> u32 {
        let Some(lock) = self.locks.get_mut(resource) else { return 0 };
        let (holds, ended) = lock.leave(first, request);
        self.no_longer_held(first.sibling(request), resource);
        if let Some(hold) = ended {
            self.tell_the_end(resource, first, &hold, why, turn);
        }
        holds
    }

    /// Ends a hold with all its entries.
    pub(crate) fn end_hold(
        &mut self,
        resource: &Resource,
        first: Ticket,
        why: HoldEnd,
        turn: &mut Turn,
    ) {
        let lock = self.locks.get_mut(resource);
        let Some(hold) = lock.and_then(|lock| lock.end(first)) else { return };
        for entered in &hold.entries {
            self.no_longer_held(first.sibling(entered.request), resource);
        }
        self.tell_the_end(resource, first, &hold, why, turn);
    }

    fn tell_the_end(
        &mut self,
        resource: &Resource,
        first: Ticket,
        hold: &Hold,
        why: HoldEnd,
        turn: &mut Turn,
    ) {
        if let Some(ends) = hold.revoked {
            self.timers.remove(&(ends, Timer::Revoked(resource.clone(), first)));
        }
        if hold.party.owner.is_some() {
            turn.rearranged.insert(hold.party.clone());
        }
        turn.left.insert(resource.clone());
        turn.notices.push(Notice::Ended(Ended {
            ticket: first,
            resource: resource.clone(),
            fence: hold.fence,
            held_ms: self.now.since(hold.since),
            why,
        }));
    }

    fn no_longer_held(&mut self, ticket: Ticket, resource: &Resource) {
        let Some(session) = self.sessions.get_mut(ticket.session) else { return };
        let Some(held) = session.held.get_mut(&ticket.request) else { return };
        held.remove(resource);
        if held.is_empty() {
            session.held.remove(&ticket.request);
        }
    }

    /// Names vanish when nobody holds them or waits. Fences still rise: they come from the log.
    pub(crate) fn forget_unused(&mut self, turn: &Turn) {
        for resource in &turn.left {
            let Some(lock) = self.locks.get(resource).filter(|lock| lock.is_unused()) else {
                continue;
            };
            self.forgotten = self.forgotten.max(lock.ended());
            self.locks.remove(resource);
            let count = self.prefixes.get_mut(resource.prefix());
            if let Some(count) = count {
                *count -= 1;
                if *count == 0 {
                    self.prefixes.remove(resource.prefix());
                }
            }
        }
    }
}
