//! Deadlock: cycles in the wait-for graph, found when a request would close one.
//!
//! The nodes of the graph are requests. A request that waits is stuck if one of those in its way is
//! stuck; where there are permits, if every way to free enough of them needs one that is stuck. In
//! its way are all holders, and all earlier in line, who cannot be inside with it; but nothing of
//! its own party (a session, or one `owner` of it).
//!
//! - A *hold* is stuck if its party has other requests that wait, and all of these are stuck.
//! - An *earlier waiter* is stuck if its own request is, or if its party has other requests that
//!   wait, and all of these are stuck: it would be let in, but not give back.
//!
//! For a session without owners, requests for the same lock are not among these others: whoever
//! asks again for what it holds or waits for has evidently several threads, and the second just
//! queues. An owner is one thread of control, so all its requests count. What was taken away by
//! force ends by itself and is never stuck. The deadlock is the greatest set of stuck requests: see
//! [`Reduction`].
//!
//! Nearly always the newest request closes the cycle, and it is refused as it comes. But a deadlock
//! may also come about without a new request: a hand-over lets a candidate pass those before it,
//! and they now wait for it; who loses a hold, or a place in line, that another of its requests
//! would have entered again, waits for others from then on; and when a request leaves or is let in,
//! all others of its party may be stuck. So these are looked at again, and the newest request of
//! the cycle is refused, by a notice.

use crate::answer::{Link, Refusal};
use crate::reduction::Reduction;
use crate::session::Session;
use crate::table::{Table, Turn};
use crate::{Party, Place, Resource};

impl Table {
    /// The deadlock that a new request at this place is part of.
    pub(crate) fn new_deadlock(&self, place: Place) -> Option<Vec<Link>> {
        let newest = self.party_at(place)?;
        let session = self.sessions.get(newest.session)?;
        if !self.is_waited_for(session, Some(place)) {
            return None; // Nobody waits for its session, so no cycle goes through it.
        }
        let reduction = Reduction::from(self, vec![place]);
        reduction.is_stuck(place).then(|| self.links(&cycle_from(place, &reduction)))
    }

    /// Refuses the newest request of every deadlock that came about without a new request.
    pub(crate) fn untangle(&mut self, turn: &mut Turn) {
        while let Some(party) = turn.rearranged.pop_first() {
            while let Some(cycle) = self.deadlock_of(&party) {
                let Some(newest) = cycle.iter().map(|(place, ..)| *place).max() else { break };
                let why = Refusal::Deadlock(self.links(&cycle));
                self.give_up(newest, why, turn);
            }
        }
    }

    /// Who stands at a place.
    pub(crate) fn party_at(&self, place: Place) -> Option<Party> {
        let waiting = self.waiting.get(&place)?;
        let owner = waiting.acquire.owner.clone();
        Some(Party { session: waiting.ticket.session, owner })
    }

    /// Where a party stands in line.
    pub(crate) fn places_of(&self, party: &Party) -> Vec<Place> {
        let waits = self.sessions.get(party.session).map(|session| &session.waits);
        let places = waits.into_iter().flat_map(|waits| waits.values()).copied();
        places.filter(|place| self.party_at(*place).as_ref() == Some(party)).collect()
    }

    /// The steps that it takes to find out whether the request at this place waits for ever.
    #[doc(hidden)]
    pub fn steps_to_search(&self, place: Place) -> usize {
        Reduction::from(self, vec![place]).steps()
    }

    /// The steps that it takes to find out whether this lock would let in who stands there.
    #[doc(hidden)]
    pub fn steps_to_admit(&self, resource: &Resource, place: Place) -> usize {
        self.locks.get(resource).map_or(0, |lock| lock.steps_to_admit(place))
    }

    /// A deadlock that requests of this party are part of, or wait for.
    fn deadlock_of(&self, party: &Party) -> Option<Vec<Wait>> {
        let session = self.sessions.get(party.session)?;
        if session.waits.is_empty() || !self.is_waited_for(session, None) {
            return None;
        }
        let places = self.places_of(party);
        let reduction = Reduction::from(self, places.clone());
        let stuck = places.into_iter().find(|place| reduction.is_stuck(*place))?;
        Some(cycle_from(stuck, &reduction))
    }

    /// Whether somebody stands in line for what a session holds, or behind it in a queue, other
    /// than its newest request.
    fn is_waited_for(&self, session: &Session, newest: Option<Place>) -> bool {
        let follows = |resource: &Resource, after: Place| {
            let queue = self.locks.get(resource).map(|lock| lock.queue());
            let mut later = queue.into_iter().flat_map(|queue| queue.range(after..));
            later.any(|(place, _)| *place != after && Some(*place) != newest)
        };
        let mut held = session.held.values().flatten();
        let mut waits = session.waits.values();
        held.any(|resource| follows(resource, Place(0)))
            || waits.any(|place| {
                let waiting = self.waiting.get(place);
                let mut wants = waiting.into_iter().flat_map(|waiting| &waiting.acquire.wants);
                wants.any(|want| follows(&want.resource, *place))
            })
    }

    fn links(&self, cycle: &[Wait]) -> Vec<Link> {
        let link = |(place, resource, holds): &Wait| {
            let ticket = self.waiting.get(place)?.ticket;
            Some(Link { ticket, resource: resource.clone(), holds: *holds })
        };
        cycle.iter().filter_map(link).collect()
    }
}

/// A request that waits, with the lock at which the one before it waits for it, and whether by a
/// hold.
type Wait = (Place, Resource, bool);

/// Follows one who waits to one it waits for until somebody comes a second time.
fn cycle_from(place: Place, reduction: &Reduction<'_>) -> Vec<Wait> {
    let mut path: Vec<Wait> = Vec::new();
    let mut seen = std::collections::BTreeMap::from([(place, 0)]);
    let mut last = place;
    while let Some((next, resource, holds)) = reduction.next(last) {
        path.push((next, resource.clone(), holds));
        if let Some(again) = seen.insert(next, path.len()) {
            let mut cycle = path.split_off(again);
            cycle.rotate_right(1); // Whom the path came to twice comes first.
            return cycle;
        }
        last = next;
    }
    path
}
