//! The FIFO queue of one lock or one election: who holds it, and who waits, in order.
//!
//! The holder's session may hold it several times (re-entry), always with the same fence. Fences
//! rise from holder to holder. Nothing here knows of reply channels: a request is its key.

use super::replies::RequestKey;
use conclave_core::Ticks;
use std::collections::VecDeque;

/// So many releases of one holder are remembered over a restart.
const GIVEN_BACK_MAX: usize = 16;

/// A request that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiter {
    /// Its session.
    pub session: String,
    /// Its key at this node.
    pub request: RequestKey,
    /// A repeat with this id is the same request.
    pub request_id: Option<String>,
    /// Since when, by the lease clock.
    pub since: Ticks,
    /// Until when at most.
    pub until: Ticks,
    /// It did not want to wait at all.
    pub tries: bool,
    /// Elections: what it wants to be known by.
    pub value: String,
}

/// The session that holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// Its id.
    pub session: String,
    /// The fence that it was granted with.
    pub fence: u64,
    /// Since when, by the lease clock.
    pub since: Ticks,
    /// One for each request that was granted and not given back: at least one.
    pub holds: Vec<Hold>,
    /// The last releases that left it inside: the id of each, and how often it still held.
    pub given_back: VecDeque<(String, u32)>,
    /// Elections: what it wants to be known by.
    pub value: String,
    /// Its lease is lost: others may go on without it. It has to leave, and may not know yet.
    pub lapsed: bool,
}

/// One request of the holder that was granted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hold {
    /// The key of the request.
    pub request: RequestKey,
    /// Its id, if it has one.
    pub request_id: Option<String>,
    /// Since when, by the lease clock.
    pub since: Ticks,
    /// Whether anybody took note of the grant.
    pub claimed: bool,
}

impl Holder {
    /// How often it holds.
    pub fn count(&self) -> u32 {
        u32::try_from(self.holds.len()).unwrap_or(u32::MAX)
    }

    /// The hold that this request led to, if it was not given back.
    pub fn hold_of(&self, request_id: &str) -> Option<&Hold> {
        self.holds.iter().find(|hold| hold.request_id.as_deref() == Some(request_id))
    }

    fn give_back(&mut self, request_id: Option<&String>) {
        let same = |hold: &Hold| request_id.is_some() && hold.request_id.as_ref() == request_id;
        let named = self.holds.iter().position(same);
        let known = || self.holds.iter().rposition(|hold| hold.claimed);
        if let Some(place) = named.or_else(known).or(self.holds.len().checked_sub(1)) {
            self.holds.remove(place);
        }
        if let Some(id) = request_id {
            self.given_back.push_back((id.clone(), self.count()));
            if self.given_back.len() > GIVEN_BACK_MAX {
                self.given_back.pop_front();
            }
        }
    }
}

/// The queue of one lock or one election.
#[derive(Debug, Default)]
pub struct Queue {
    holder: Option<Holder>,
    waiters: VecDeque<Waiter>,
    latest: Option<u64>,
    entries: u64,
    /// How often it was given back since the node started, and how long it was held in all.
    ended: (u64, Ticks),
}

impl Queue {
    /// Who holds, if a session of this node does.
    pub fn holder(&self) -> Option<&Holder> {
        self.holder.as_ref()
    }

    /// Who waits, in order.
    pub fn waiters(&self) -> &VecDeque<Waiter> {
        &self.waiters
    }

    /// The largest fence that was granted here.
    pub fn latest(&self) -> Option<u64> {
        self.latest
    }

    /// How many holders there were since the node started.
    pub fn entries(&self) -> u64 {
        self.entries
    }

    /// Whether nobody is here.
    pub fn is_empty(&self) -> bool {
        self.holder.is_none() && self.waiters.is_empty()
    }

    /// The holder, if it is this session.
    pub fn held_by(&self, session: &str) -> Option<&Holder> {
        self.holder.as_ref().filter(|holder| holder.session == session)
    }

    /// The waiter of this session whose request has this id.
    pub fn waiting(&self, session: &str, request_id: &str) -> Option<&Waiter> {
        self.waiters.iter().find(|waiter| waiter.is(session, request_id))
    }

    /// Puts a request at the end.
    pub fn join(&mut self, waiter: Waiter) {
        self.waiters.push_back(waiter);
    }

    /// Grants it to the first in the queue, and with it to all other requests of the same session:
    /// that session would wait for itself otherwise. Returns these requests, the first one first.
    pub fn grant(&mut self, fence: u64, now: Ticks) -> Vec<Waiter> {
        let Some(first) = self.waiters.pop_front() else { return Vec::new() };
        let (same, others) = std::mem::take(&mut self.waiters)
            .into_iter()
            .partition::<VecDeque<_>, _>(|waiter| waiter.session == first.session);
        self.waiters = others;
        self.latest = self.latest.max(Some(fence));
        self.entries += 1;
        let session = first.session.clone();
        let value = first.value.clone();
        let mut granted = vec![first];
        granted.extend(same);
        let hold = |waiter: &Waiter| Hold {
            request: waiter.request,
            request_id: waiter.request_id.clone(),
            since: now,
            claimed: false,
        };
        let holds = granted.iter().map(hold).collect();
        let given_back = VecDeque::new();
        let lapsed = false;
        self.holder = Some(Holder { session, fence, since: now, holds, given_back, value, lapsed });
        granted
    }

    /// The holder was granted one more request. Returns how often it holds now.
    pub fn hold_again(&mut self, hold: Hold) -> u32 {
        let Some(holder) = &mut self.holder else { return 0 };
        holder.holds.push(hold);
        holder.count()
    }

    /// Somebody took note of the grant of this request.
    pub fn claim(&mut self, request: RequestKey) {
        let holds = self.holder.iter_mut().flat_map(|holder| &mut holder.holds);
        holds.filter(|hold| hold.request == request).for_each(|hold| hold.claimed = true);
    }

    /// Gives back one hold: that of the request with this id, else the last one that somebody knows
    /// of, if there is such. Returns how many are left; without any, nobody holds.
    pub fn give_back(&mut self, request_id: Option<&String>, now: Ticks) -> u32 {
        let Some(holder) = &mut self.holder else { return 0 };
        holder.give_back(request_id);
        let left = holder.count();
        if left == 0 {
            self.end_hold(now);
        }
        left
    }

    /// Takes back the holds that nobody took note of for this long, and returns them. If the holder
    /// has no others, nobody holds.
    pub fn take_unclaimed(&mut self, patience: Ticks, now: Ticks) -> Vec<Hold> {
        let Some(holder) = &mut self.holder else { return Vec::new() };
        let unclaimed = |hold: &Hold| !hold.claimed && hold.since + patience <= now;
        let (taken, kept) = std::mem::take(&mut holder.holds).into_iter().partition(unclaimed);
        holder.holds = kept;
        if holder.holds.is_empty() {
            self.end_hold(now);
        }
        taken
    }

    /// Nobody holds it any more. Returns who did.
    pub fn end_hold(&mut self, now: Ticks) -> Option<Holder> {
        let holder = self.holder.take()?;
        let (count, total) = self.ended;
        self.ended = (count + 1, total + now.since(holder.since));
        Some(holder)
    }

    /// The lease of the holder is lost. Returns it, unless that was known before.
    pub fn lapse(&mut self) -> Option<&Holder> {
        let holder = self.holder.as_mut().filter(|holder| !holder.lapsed)?;
        holder.lapsed = true;
        Some(holder)
    }

    /// The holder is known by this from now on.
    pub fn proclaim(&mut self, value: String) {
        if let Some(holder) = &mut self.holder {
            holder.value = value;
        }
    }

    /// The largest fence, as it was before a restart.
    pub fn restore_latest(&mut self, latest: Option<u64>) {
        self.latest = latest;
    }

    /// The holder, as it was before a restart.
    pub fn restore_holder(&mut self, holder: Holder) {
        self.holder = Some(holder);
    }

    /// How long it may take from this place in the queue, from 1, if everybody takes as long as
    /// those before did on average.
    pub fn estimate(&self, place: u32) -> Option<Ticks> {
        let (count, total) = self.ended;
        Some(Ticks(total.0.checked_div(count)?.saturating_mul(u64::from(place))))
    }

    /// Takes out all waiters that this picks, each with the place it had, from 1.
    pub fn take_waiters(&mut self, picks: impl Fn(&Waiter) -> bool) -> Vec<(u32, Waiter)> {
        let all = std::mem::take(&mut self.waiters);
        let (taken, left): (Vec<_>, Vec<_>) = (1..).zip(all).partition(|(_, waiter)| picks(waiter));
        self.waiters = left.into_iter().map(|(_, waiter)| waiter).collect();
        taken
    }
}

impl Waiter {
    /// Whether it is the request of this session with this id.
    pub fn is(&self, session: &str, request_id: &str) -> bool {
        self.session == session && self.request_id.as_deref() == Some(request_id)
    }
}

#[cfg(test)]
mod tests {
    use super::super::replies::Replies;
    use super::*;

    /// A queue in which these sessions wait, each request with the session's name for an id.
    fn queue(sessions: &[&str]) -> Queue {
        let mut keys = Replies::new();
        let mut queue = Queue::default();
        for session in sessions {
            queue.join(Waiter {
                session: session.to_string(),
                request: keys.new_key(),
                request_id: Some(format!("of {session}")),
                since: Ticks::ZERO,
                until: Ticks::units(100),
                tries: false,
                value: String::new(),
            });
        }
        queue
    }

    #[test]
    fn the_first_session_gets_all_its_requests_granted_at_once() {
        let mut queue = queue(&["a", "b", "a"]);
        let granted = queue.grant(7, Ticks::units(1));
        assert_eq!(granted.len(), 2);
        assert_eq!(queue.held_by("a").map(Holder::count), Some(2));
        assert_eq!((queue.latest(), queue.entries()), (Some(7), 1));
        assert_eq!(queue.waiters().len(), 1);
    }

    #[test]
    fn a_hold_that_nobody_took_note_of_is_taken_back_alone() {
        let mut queue = queue(&["a", "a"]);
        let granted = queue.grant(7, Ticks::ZERO);
        queue.claim(granted[1].request);
        let patience = Ticks::units(5);
        assert_eq!(queue.take_unclaimed(patience, Ticks::units(4)), []);
        let taken = queue.take_unclaimed(patience, Ticks::units(5));
        assert_eq!(taken.iter().map(|hold| hold.request).collect::<Vec<_>>(), [granted[0].request]);
        assert_eq!(queue.give_back(None, Ticks::units(6)), 0);
        assert!(queue.is_empty());
    }

    #[test]
    fn a_release_without_a_known_id_ends_the_last_hold_that_somebody_knows_of() {
        let mut queue = queue(&["a", "a"]);
        let granted = queue.grant(7, Ticks::ZERO);
        queue.claim(granted[0].request);
        assert_eq!(queue.give_back(Some(&"other".to_string()), Ticks::ZERO), 1);
        let left = &queue.holder().expect("one hold is left").holds;
        assert_eq!(left[0].request, granted[1].request);
    }

    #[test]
    fn a_lease_is_lost_once() {
        let mut queue = queue(&["a"]);
        assert_eq!(queue.lapse(), None, "nobody holds it");
        queue.grant(7, Ticks::ZERO);
        assert_eq!(queue.lapse().map(|holder| holder.fence), Some(7));
        assert_eq!(queue.lapse(), None);
    }

    #[test]
    fn waiters_that_leave_are_told_the_places_they_had() {
        let mut queue = queue(&["a", "b", "c"]);
        let taken = queue.take_waiters(|waiter| waiter.session != "b");
        assert_eq!(taken.iter().map(|(place, _)| *place).collect::<Vec<_>>(), [1, 3]);
        assert_eq!(queue.waiters()[0].session, "b");
    }
}
