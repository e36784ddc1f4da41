//! One lock or election: who holds it, and the FIFO queue of who waits for it.
//!
//! It decides by itself whom it would let in. A request for several locks enters when all of them
//! would; until then it holds nothing, and keeps its place in every queue.

use crate::{Fence, LeaseTime, Mode, Party, Place, RequestId, SessionId, Text, Ticket};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// What a request got of one lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Inside {
    /// The fencing token to show to whatever is protected.
    pub fence: Fence,
    /// Which of the permits it is, from 0.
    pub slot: u32,
    /// How often the holder is inside now.
    pub holds: u32,
}

/// Somebody is inside.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Hold {
    /// Who.
    pub party: Party,
    /// How.
    pub mode: Mode,
    /// With which fence.
    pub fence: Fence,
    /// With which permit, from 0.
    pub slot: u32,
    /// Since when.
    pub since: LeaseTime,
    /// By what it is inside: more than one for who entered again.
    pub entries: Vec<Entered>,
    /// When it ends at the latest, if it was taken away.
    pub revoked: Option<LeaseTime>,
    /// What a leader is known by.
    pub value: Option<Text>,
}

impl Hold {
    /// Whether whoever holds it like this may enter again like that.
    fn covers(&self, mode: Mode) -> bool {
        self.revoked.is_none() && covers(self.mode, mode)
    }

    /// The fence that one of its requests was told.
    pub fn fence_of(&self, request: RequestId) -> Fence {
        let entered = self.entries.iter().find(|entered| entered.request == request);
        entered.map_or(self.fence, |entered| entered.fence)
    }
}

/// One of the requests by which somebody is inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Entered {
    /// Which.
    pub request: RequestId,
    /// The fence that it was told: an earlier one than the hold has, if it only shared the lock.
    pub fence: Fence,
}

/// Somebody waits.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Waiter {
    /// Who.
    pub party: Party,
    /// To hold it how.
    pub mode: Mode,
}

/// A lock that somebody holds or waits for.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Lock {
    /// How many may hold it at once; nothing: one, or all who share it.
    permits: Option<u32>,
    /// By the request that was granted first. Boxed: most locks have one holder, and a tree makes
    /// room for eleven at once.
    holds: BTreeMap<Ticket, Box<Hold>>,
    queue: BTreeMap<Place, Waiter>,
    /// The fence of all who share it now: the index at which the first of them was let in.
    shared_since: Option<Fence>,
    /// The largest fence of a hold that has ended.
    ended: Fence,
    slots: FreeSlots,
}

impl Lock {
    /// A lock that nobody holds yet.
    pub fn new(mode: Mode, ended: Fence) -> Self {
        let holds = BTreeMap::new();
        let queue = BTreeMap::new();
        let slots = FreeSlots::default();
        Self { permits: permits_of(mode), holds, queue, shared_since: None, ended, slots }
    }

    /// Whether it can be held like that as long as somebody uses it.
    pub fn takes(&self, mode: Mode) -> bool {
        self.permits == permits_of(mode)
    }

    /// Whether nobody holds it or waits.
    pub fn is_unused(&self) -> bool {
        self.holds.is_empty() && self.queue.is_empty()
    }

    /// How many may hold it at once; nothing: one, or all who share it.
    pub fn permits(&self) -> Option<u32> {
        self.permits
    }

    /// All who are inside.
    pub fn holds(&self) -> &BTreeMap<Ticket, Box<Hold>> {
        &self.holds
    }

    /// The same, to change what they are known by or when they end.
    pub fn holds_mut(&mut self) -> &mut BTreeMap<Ticket, Box<Hold>> {
        &mut self.holds
    }

    /// All who wait, in order.
    pub fn queue(&self) -> &BTreeMap<Place, Waiter> {
        &self.queue
    }

    /// The largest fence of a hold that has ended: whoever shows it, or a smaller one, is late.
    pub fn ended(&self) -> Fence {
        self.ended
    }

    /// Whether a newcomer of this session would have to wait: for those inside, or in line.
    pub fn keeps_out(&self, session: SessionId, mode: Mode) -> bool {
        let first = Ticket { session, request: RequestId(0) };
        if self.holds.range(first..).next().is_some_and(|(ticket, _)| ticket.session == session) {
            return false; // It may enter again.
        }
        let is_full = match self.permits {
            Some(n) => self.holds.len() >= n as usize,
            None if mode == Mode::Shared && self.shared_since.is_some() => false,
            None => !self.holds.is_empty(),
        };
        is_full || !self.queue.is_empty()
    }

    /// At the end of the line.
    pub fn join(&mut self, place: Place, waiter: Waiter) {
        self.queue.insert(place, waiter);
    }

    /// Out of the line.
    pub fn leave_queue(&mut self, place: Place) {
        self.queue.remove(&place);
    }

    /// How many stand in line up to this place.
    pub fn position(&self, place: Place) -> u32 {
        self.queue.range(..=place).count() as u32
    }

    /// The places at the head of the line that could be let in, were it for this lock alone.
    /// Whoever is inside and enters again need not stand there.
    pub fn heads(&self) -> Vec<Place> {
        let shared = |waiter: &Waiter| waiter.mode == Mode::Shared;
        let places = self.queue.iter();
        match self.permits {
            Some(n) => {
                let mut slots = Wanted::of(self);
                let free = (n as usize).saturating_sub(self.holds.len());
                places
                    .map_while(|(place, waiter)| {
                        (slots.with(&waiter.party) <= free).then_some(*place)
                    })
                    .collect()
            }
            None if self.queue.values().next().is_some_and(shared) => {
                places.take_while(|(_, waiter)| shared(waiter)).map(|(place, _)| *place).collect()
            }
            None => places.take(1).map(|(place, _)| *place).collect(),
        }
    }

    /// Whether it would let in who stands at this place.
    pub fn admits(&self, place: Place) -> bool {
        let Some(waiter) = self.queue.get(&place) else { return false };
        self.is_entered_again(waiter) || !self.is_blocked(place, waiter, &mut 0)
    }

    /// How many holders and waiters are looked at to find out whether it would.
    pub fn steps_to_admit(&self, place: Place) -> usize {
        let mut steps = 0;
        if let Some(waiter) = self.queue.get(&place) {
            self.is_blocked(place, waiter, &mut steps);
        }
        steps
    }

    /// Whether its thread of control is inside already, so that it need not wait for anybody.
    fn is_entered_again(&self, waiter: &Waiter) -> bool {
        let hold = self.first_entry_of(waiter).and_then(|first| self.holds.get(&first));
        hold.is_some_and(|hold| hold.covers(waiter.mode))
    }

    /// Whether somebody must leave first: a holder, or somebody earlier in line, who cannot be
    /// inside together with this one. Of those with permits, enough of them. What the waiter itself
    /// shares and now wants exclusively is in nobody's way.
    fn is_blocked(&self, place: Place, waiter: &Waiter, steps: &mut usize) -> bool {
        let mut earlier = self.queue.range(..place).map(|(_, other)| other);
        if let Some(n) = self.permits {
            let free = (n as usize).saturating_sub(self.holds.len());
            let mut slots = Wanted::of(self);
            let blocked = free == 0 || earlier.any(|other| slots.with(&other.party) >= free);
            *steps += slots.steps;
            return blocked;
        }
        let excludes = |mode| (waiter.mode, mode) != (Mode::Shared, Mode::Shared);
        let upgraded = |hold: &Hold| hold.revoked.is_none() && waiter.party.reenters(&hold.party);
        self.holds.values().any(|hold| excludes(hold.mode) && !upgraded(hold))
            || earlier.any(|other| excludes(other.mode))
    }

    /// Lets in who stands at this place. `fresh` is the fence of this index.
    pub fn enter(&mut self, place: Place, ticket: Ticket, fresh: Fence, entry: Entry) -> Inside {
        let waiter = self.queue.remove(&place).expect("only who stands in line is let in");
        let first = self.first_entry_of(&waiter).unwrap_or(ticket);
        let again = self.holds.remove(&first);
        let mut hold = match again {
            Some(hold) if hold.covers(waiter.mode) => hold,
            upgraded => Box::new(self.new_hold(waiter, fresh, entry, upgraded)),
        };
        hold.entries.push(Entered { request: ticket.request, fence: hold.fence });
        let inside =
            Inside { fence: hold.fence, slot: hold.slot, holds: hold.entries.len() as u32 };
        self.holds.insert(first, hold);
        inside
    }

    /// A new hold; one that was shared before and is exclusive now keeps its entries.
    fn new_hold(
        &mut self,
        waiter: Waiter,
        fresh: Fence,
        entry: Entry,
        old: Option<Box<Hold>>,
    ) -> Hold {
        let fence = match waiter.mode {
            Mode::Shared => *self.shared_since.get_or_insert(fresh),
            Mode::Exclusive | Mode::Permits(_) => fresh,
        };
        let slot = if self.permits.is_some() { self.slots.take() } else { 0 };
        let entries = old.map_or_else(Vec::new, |hold| hold.entries);
        let Waiter { party, mode } = waiter;
        let Entry { since, value } = entry;
        Hold { party, mode, fence, slot, since, entries, revoked: None, value }
    }

    /// Takes one entry out of a hold: how often it is still inside, and the hold if that was the
    /// last.
    pub fn leave(&mut self, first: Ticket, request: RequestId) -> (u32, Option<Box<Hold>>) {
        let Some(hold) = self.holds.get_mut(&first) else { return (0, None) };
        hold.entries.retain(|entered| entered.request != request);
        match hold.entries.len() as u32 {
            0 => (0, self.end(first)),
            holds => (holds, None),
        }
    }

    /// Ends a hold.
    pub fn end(&mut self, first: Ticket) -> Option<Box<Hold>> {
        let hold = self.holds.remove(&first)?;
        self.ended = self.ended.max(hold.fence);
        if self.permits.is_some() {
            self.slots.give_back(hold.slot);
        } else if self.holds.values().all(|other| other.mode != Mode::Shared) {
            self.shared_since = None; // The next to share it begin a period of their own.
        }
        Some(hold)
    }

    /// The hold of a session by this request or, without one, its latest with this fence: the one
    /// that the request was told or, for who shared it before, the one that the hold has now.
    pub fn find(
        &self,
        session: SessionId,
        fence: Option<Fence>,
        request: Option<RequestId>,
    ) -> Option<(Ticket, RequestId)> {
        let latest = |matches: &dyn Fn(&Hold, &Entered) -> bool| {
            let mut entries = self.holds_of(session).flat_map(|(first, hold)| {
                hold.entries.iter().map(move |entered| (*first, hold, entered))
            });
            let asked = |entered: &Entered| request.is_none_or(|asked| asked == entered.request);
            let found =
                entries.rfind(|(_, hold, entered)| asked(entered) && matches(hold, entered));
            found.map(|(first, _, entered)| (first, entered.request))
        };
        let Some(fence) = fence else { return latest(&|_, _| true) };
        latest(&|_, entered| entered.fence == fence)
            .or_else(|| latest(&|hold, _| hold.fence == fence))
    }

    /// What one session holds.
    fn holds_of(&self, session: SessionId) -> impl DoubleEndedIterator<Item = (&Ticket, &Hold)> {
        let ticket = |request| Ticket { session, request };
        let held = self.holds.range(ticket(RequestId(0))..=ticket(RequestId(u64::MAX)));
        held.map(|(first, hold)| (first, &**hold))
    }

    /// The first request of the hold that this one would enter again.
    fn first_entry_of(&self, waiter: &Waiter) -> Option<Ticket> {
        waiter.party.owner.as_ref()?;
        let same = |hold: &Hold| waiter.party.reenters(&hold.party) && hold.revoked.is_none();
        let mut holds = self.holds_of(waiter.party.session);
        holds.find(|(_, hold)| same(hold)).map(|(first, _)| *first)
    }
}

/// The permits that nobody has. The smallest is given out first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct FreeSlots {
    /// All from here on are free.
    next: u32,
    /// And these below.
    below: BTreeSet<u32>,
}

impl FreeSlots {
    fn take(&mut self) -> u32 {
        self.below.pop_first().unwrap_or_else(|| {
            self.next += 1;
            self.next - 1
        })
    }

    fn give_back(&mut self, slot: u32) {
        self.below.insert(slot);
        while self.next > 0 && self.below.remove(&(self.next - 1)) {
            self.next -= 1;
        }
    }
}

/// How many permits those in line will take: one for each thread of control that is not inside yet.
struct Wanted<'a> {
    lock: &'a Lock,
    owners: BTreeSet<&'a Party>,
    taken: usize,
    /// How many waiters and holders were looked at.
    steps: usize,
}

impl<'a> Wanted<'a> {
    fn of(lock: &'a Lock) -> Self {
        Self { lock, owners: BTreeSet::new(), taken: 0, steps: 0 }
    }

    /// With one more who waits. Only who names an owner can be inside already.
    fn with(&mut self, party: &'a Party) -> usize {
        self.steps += 1;
        let known = party.owner.is_some() && (self.is_inside(party) || !self.owners.insert(party));
        self.taken += usize::from(!known);
        self.taken
    }

    fn is_inside(&mut self, party: &Party) -> bool {
        let enters_again = |hold: &Hold| hold.revoked.is_none() && party.reenters(&hold.party);
        let mut holds = self.lock.holds_of(party.session);
        holds.any(|(_, hold)| {
            self.steps += 1;
            enters_again(hold)
        })
    }
}

/// What is known of an entry besides its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Now.
    pub since: LeaseTime,
    /// What a leader wants to be known by.
    pub value: Option<Text>,
}

/// Whether whoever is inside like this may also be inside like that.
pub(crate) fn covers(inside: Mode, wanted: Mode) -> bool {
    inside == wanted || (inside, wanted) == (Mode::Exclusive, Mode::Shared)
}

fn permits_of(mode: Mode) -> Option<u32> {
    match mode {
        Mode::Exclusive | Mode::Shared => None,
        Mode::Permits(n) => Some(n),
    }
}
