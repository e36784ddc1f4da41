//! Deadlock: cycles in the wait-for graph, found when a request would close one.
//!
//! A party (a session, or one `owner` of it) that waits is taken to give nothing back until it is
//! let in. It waits for all holders, and all earlier in line, who cannot be inside with it; where
//! there are permits, for enough of them. So this is not a search for a cycle, but a reduction: who
//! waits for nobody that waits will be let in and leave, then who waited for those, and so on.
//! Whoever is left over waits for ever.
//!
//! Nearly always the newest request closes the cycle, and it is refused as it comes. But a
//! deadlock may also come about without a new request. A hand-over lets a candidate pass those
//! before it, who now wait for it; and who loses a hold, or a place in line, that another of its
//! requests would have entered again, waits for others from then on. So these are looked at again,
//! and the newest request of the cycle is refused, by a notice.

use crate::answer::Refusal;
use crate::lock::{Blocker, Lock, Waiter};
use crate::table::{Table, Turn};
use crate::{Party, Place, Ticket, Want};
use std::collections::BTreeSet;

impl Table {
    /// The deadlock that a new request at this place is part of.
    pub(crate) fn new_deadlock(&self, place: Place) -> Option<Vec<Place>> {
        let newest = self.party_at(place)?;
        if !self.is_waited_for(place, &newest) {
            return None; // It is the last in all its queues, so no cycle goes through it.
        }
        self.deadlock(place)
    }

    /// The places that wait for each other for ever, and the request at this one with them.
    fn deadlock(&self, place: Place) -> Option<Vec<Place>> {
        let mut stuck = self.reachable(place);
        loop {
            let parties: BTreeSet<Party> =
                stuck.iter().filter_map(|place| self.party_at(*place)).collect();
            let before = stuck.len();
            stuck.retain(|place| !self.gets_in_without(*place, &parties));
            if !stuck.contains(&place) {
                return None;
            }
            if stuck.len() == before {
                return Some(self.cycle_from(place, &stuck));
            }
        }
    }

    /// Refuses the newest request of every deadlock that came about without a new request: by a
    /// hand-over, or because a thread of control lost what another request of it would have entered
    /// again.
    pub(crate) fn untangle(&mut self, turn: &mut Turn) {
        while let Some(session) = turn.rearranged.pop_first() {
            let waits = self.sessions.get(session).map(|session| session.waits.clone());
            for place in waits.unwrap_or_default().into_values() {
                while let Some(cycle) = self.deadlock(place) {
                    let newest = cycle.iter().max().copied().unwrap_or(place);
                    let why = Refusal::Deadlock(self.tickets_of(&cycle));
                    self.give_up(newest, why, turn);
                }
            }
        }
    }

    /// The requests at these places.
    pub(crate) fn tickets_of(&self, places: &[Place]) -> Vec<Ticket> {
        let ticket = |place| self.waiting.get(place).map(|waiting| waiting.ticket);
        places.iter().filter_map(ticket).collect()
    }

    /// Who stands at a place.
    pub(crate) fn party_at(&self, place: Place) -> Option<Party> {
        let waiting = self.waiting.get(&place)?;
        let owner = waiting.acquire.owner.clone();
        Some(Party { session: waiting.ticket.session, owner })
    }

    /// Whether a party holds anything, or stands in line anywhere else.
    fn is_waited_for(&self, place: Place, party: &Party) -> bool {
        let Some(session) = self.sessions.get(party.session) else { return false };
        !session.held.is_empty() || session.waits.values().any(|other| *other != place)
    }

    /// All places that wait, directly or not, for what the request at this one waits for.
    fn reachable(&self, place: Place) -> BTreeSet<Place> {
        let mut found = BTreeSet::from([place]);
        let mut next = vec![place];
        while let Some(place) = next.pop() {
            for party in self.blockers_of(place) {
                for waits in self.places_of(&party) {
                    if found.insert(waits) {
                        next.push(waits);
                    }
                }
            }
        }
        found
    }

    /// Where a party stands in line.
    pub(crate) fn places_of(&self, party: &Party) -> Vec<Place> {
        let waits = self.sessions.get(party.session).map(|session| &session.waits);
        let places = waits.into_iter().flat_map(|waits| waits.values()).copied();
        places.filter(|place| self.party_at(*place).as_ref() == Some(party)).collect()
    }

    /// Who must leave before the request at this place is let in. A party does not wait for itself:
    /// a second request of the same session just queues.
    fn blockers_of(&self, place: Place) -> Vec<Party> {
        let found = self.queues_of(place).flat_map(|(lock, place, waiter)| {
            let parties = lock.blockers(place, &waiter).filter_map(Blocker::must_give_back);
            parties.filter(|party| **party != waiter.party).cloned().collect::<Vec<_>>()
        });
        found.collect()
    }

    /// Whether the request is let in even if these parties give nothing back.
    fn gets_in_without(&self, place: Place, stuck: &BTreeSet<Party>) -> bool {
        self.queues_of(place).all(|(lock, place, waiter)| {
            let is_stuck = |party: &Party| *party != waiter.party && stuck.contains(party);
            let counts = |blocker: Blocker<'_>| blocker.must_give_back().is_some_and(is_stuck);
            !lock.is_blocked(place, &waiter, counts)
        })
    }

    /// The locks that a request waits for, with where it stands there and as what.
    fn queues_of(&self, place: Place) -> impl Iterator<Item = (&Lock, Place, Waiter)> {
        let wants = self.waiting.get(&place).into_iter().flat_map(|waiting| &waiting.acquire.wants);
        let queue = move |want: &Want| {
            let lock = self.locks.get(&want.resource)?;
            let waiter = Waiter { party: self.party_at(place)?, mode: want.mode };
            Some((lock, lock.enters_with(place, &waiter), waiter))
        };
        wants.filter_map(queue).filter(|(lock, _, waiter)| !lock.is_entered_again(waiter))
    }

    /// Follows one who waits to one it waits for until somebody comes a second time.
    fn cycle_from(&self, place: Place, stuck: &BTreeSet<Place>) -> Vec<Place> {
        let mut path = vec![place];
        loop {
            let last = path[path.len() - 1];
            let parties = self.blockers_of(last).into_iter();
            let mut places = parties.flat_map(|party| self.places_of(&party));
            let Some(next) = places.find(|next| stuck.contains(next)) else { return path };
            if let Some(again) = path.iter().position(|earlier| *earlier == next) {
                return path.split_off(again);
            }
            path.push(next);
        }
    }
}
