//! Force: a lock is taken from whoever holds it, because somebody who may do that says so.

use crate::answer::{Answer, HoldEnd, Notice, Refusal};
use crate::expiry::Timer;
use crate::table::{Table, Turn};
use crate::{Force, Resource, Ticket};

impl Table {
    /// What is taken away ends when its holder gives it back, at once if that is asked for, and at
    /// the latest when a holder that heard nothing must have noticed: after its time to live.
    pub(crate) fn force(&mut self, force: &Force, turn: &mut Turn) -> Answer {
        let Some(lock) = self.locks.get(&force.resource) else {
            return Answer::Refused(Refusal::NotHolder);
        };
        let meant = lock.holds().iter().filter(|(_, hold)| hold.fence <= force.up_to);
        let holders: Vec<Ticket> = meant.map(|(first, _)| *first).collect();
        if holders.is_empty() {
            return Answer::Refused(Refusal::NotHolder);
        }
        for first in &holders {
            match force.now {
                true => self.end_hold(&force.resource, *first, HoldEnd::Forced, turn),
                false => self.revoke(&force.resource, *first, turn),
            }
        }
        Answer::Forced(holders)
    }

    fn revoke(&mut self, resource: &Resource, first: Ticket, turn: &mut Turn) {
        let Some(session) = self.sessions.get(first.session) else { return };
        let ends = self.now.after(session.ttl_ms);
        let lock = self.locks.get_mut(resource);
        let Some(hold) = lock.and_then(|lock| lock.holds_mut().get_mut(&first)) else { return };
        if hold.revoked.is_some() {
            return; // To ask twice gives it no more time.
        }
        hold.revoked = Some(ends);
        turn.rearranged.insert(hold.party.clone()); // It cannot be entered again.
        self.timers.insert((ends, Timer::Revoked(resource.clone(), first)));
        turn.notices.push(Notice::Revoked(first, resource.clone()));
    }
}
