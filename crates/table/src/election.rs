//! Elections: the holder leads. It proclaims what it is known by, and may hand over to a candidate
//! of its choice.

use crate::answer::{Answer, HoldEnd, Notice, Refusal};
use crate::table::{Table, Turn};
use crate::{Fence, Place, Resource, SessionId, Text, Ticket};

impl Table {
    pub(crate) fn proclaim(
        &mut self,
        session: SessionId,
        election: &Resource,
        fence: Fence,
        value: &Text,
        turn: &mut Turn,
    ) -> Answer {
        let Some(leader) = self.leader(session, election, fence) else {
            return Answer::Refused(Refusal::NotHolder);
        };
        let lock = self.locks.get_mut(election);
        if let Some(hold) = lock.and_then(|lock| lock.holds_mut().get_mut(&leader)) {
            hold.value = Some(value.clone());
            turn.notices.push(Notice::Proclaimed(election.clone(), value.clone()));
        }
        Answer::Done
    }

    /// The candidate leads at once, ahead of all who stood before it. These now wait for it, which
    /// they did not do before: so a deadlock may come of it.
    pub(crate) fn hand_over(
        &mut self,
        session: SessionId,
        election: &Resource,
        fence: Fence,
        to: &Text,
        turn: &mut Turn,
    ) -> Answer {
        let Some(leader) = self.leader(session, election, fence) else {
            return Answer::Refused(Refusal::NotHolder);
        };
        if self.now < self.quiet_until {
            return Answer::Refused(Refusal::Busy); // There may be a leader that is not known.
        }
        let Some(place) = self.candidate(election, to) else {
            return Answer::Refused(Refusal::NoCandidate);
        };
        self.end_hold(election, leader, HoldEnd::HandedOver, turn);
        self.grant(place, turn);
        Answer::Done
    }

    /// The request by which a session leads.
    fn leader(&self, session: SessionId, election: &Resource, fence: Fence) -> Option<Ticket> {
        let lock = self.locks.get(election)?;
        lock.find(session, Some(fence), None).map(|(first, _)| first)
    }

    /// The first in line whose session has this label.
    fn candidate(&self, election: &Resource, label: &Text) -> Option<Place> {
        let queue = self.locks.get(election)?.queue();
        let labelled =
            |session| self.sessions.get(session).is_some_and(|known| known.label == *label);
        queue.iter().find(|(_, waiter)| labelled(waiter.party.session)).map(|(place, _)| *place)
    }
}
