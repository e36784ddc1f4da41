//! Graph reduction: who waits for ever, found by letting go whoever surely gets in.
//!
//! It begins with all requests that can be reached and takes all of them to be stuck. Each one that
//! is let go may let go others. A queue is not gone through pair by pair: all earlier waiters that
//! are in the way must pass, so of each queue only its front is looked at. It takes about as many
//! steps as there are places, holds and locks.

use crate::front::Spot;
use crate::line::Line;
use crate::lock::covers;
use crate::table::Table;
use crate::{Mode, Party, Place, Resource, SessionId};
use std::collections::{BTreeMap, BTreeSet};

/// All that can be reached from some requests, and which of these are stuck.
pub(crate) struct Reduction<'a> {
    table: &'a Table,
    numbers: BTreeMap<Party, usize>,
    crowds: Vec<Crowd<'a>>,
    requests: BTreeMap<Place, Request>,
    lines: BTreeMap<&'a Resource, Line<'a>>,
    let_go: Vec<Place>,
    steps: usize,
}

/// A request that waits.
struct Request {
    party: usize,
    /// How many of its locks keep it out.
    shut: usize,
    is_stuck: bool,
}

/// The requests of one party.
#[derive(Default)]
struct Crowd<'a> {
    has_owner: bool,
    places: Vec<Place>,
    free: usize,
    /// By lock, how many of them want it, and how many of these are free.
    wanting: BTreeMap<&'a Resource, (usize, usize)>,
    /// The locks that it holds or wants, as long as something there hangs on its other requests.
    tied: BTreeSet<&'a Resource>,
}

impl<'a> Reduction<'a> {
    /// Finds out what is stuck of all that can be reached from these requests.
    pub fn from(table: &'a Table, roots: Vec<Place>) -> Self {
        let mut reduction = Self {
            table,
            numbers: BTreeMap::new(),
            crowds: Vec::new(),
            requests: BTreeMap::new(),
            lines: BTreeMap::new(),
            let_go: Vec::new(),
            steps: 0,
        };
        reduction.reach(roots);
        reduction.count();
        reduction.line_up();
        reduction.reduce();
        reduction
    }

    /// Whether the request at this place waits for ever.
    pub fn is_stuck(&self, place: Place) -> bool {
        self.requests.get(&place).is_some_and(|request| request.is_stuck)
    }

    /// How many places, holds and ways were looked at.
    pub fn steps(&self) -> usize {
        self.steps
    }

    /// One that a stuck request waits for, and is stuck: at which lock, and whether by a hold.
    pub fn next(&self, place: Place) -> Option<(Place, &'a Resource, bool)> {
        let request = self.requests.get(&place)?;
        self.table.waiting.get(&place)?.acquire.wants.iter().find_map(|want| {
            let (resource, line) = self.lines.get_key_value(&want.resource)?;
            let front = line.front(want.mode);
            let kept = front.kept_at(request.party, place)?;
            let (spot, party) = front.in_the_way_of(request.party, kept.0)?;
            let is_hold = matches!(spot, Spot::Hold(_));
            let waiter = if let Spot::Waiter(waiter) = spot { Some(waiter) } else { None };
            let next = waiter.filter(|waiter| self.is_stuck(*waiter));
            let next = next.or_else(|| self.other_of(party, resource, waiter))?;
            Some((next, *resource, is_hold))
        })
    }

    /// A stuck request of a party on which its hold, or its place, at this lock hangs.
    fn other_of(&self, party: usize, resource: &Resource, but: Option<Place>) -> Option<Place> {
        let crowd = &self.crowds[party];
        let wants = |place: &Place| {
            let waiting = self.table.waiting.get(place);
            waiting.is_some_and(|w| w.acquire.wants.iter().any(|want| want.resource == *resource))
        };
        let counts = |place: &Place| crowd.has_owner || !wants(place);
        let mut places = crowd.places.iter().copied().filter(|place| Some(*place) != but);
        places.find(|place| counts(place) && self.is_stuck(*place))
    }

    /// All requests of all sessions that are in the way, directly or not.
    fn reach(&mut self, mut next: Vec<Place>) {
        let mut sessions: BTreeSet<SessionId> = BTreeSet::new();
        while let Some(place) = next.pop() {
            let Some(waiting) = self.table.waiting.get(&place) else { continue };
            let Some(party) = self.table.party_at(place) else { continue };
            if self.requests.contains_key(&place) {
                continue;
            }
            self.steps += 1;
            let party = self.number(&party);
            self.crowds[party].places.push(place);
            let shut = 0;
            self.requests.insert(place, Request { party, shut, is_stuck: true });
            let mut found: BTreeSet<SessionId> = BTreeSet::from([waiting.ticket.session]);
            for want in &waiting.acquire.wants {
                found.extend(self.lengthen(&want.resource, place));
            }
            for session in found {
                if let Some(known) = self.table.sessions.get(session)
                    && sessions.insert(session)
                {
                    next.extend(known.waits.values());
                }
            }
        }
    }

    /// Whose holds and earlier places a request at this place finds at a lock, if they are new.
    fn lengthen(&mut self, resource: &Resource, place: Place) -> Vec<SessionId> {
        let Some((resource, lock)) = self.table.locks.get_key_value(resource) else {
            return Vec::new();
        };
        let known = self.lines.contains_key(resource);
        let line = self.lines.entry(resource).or_insert_with(|| Line::of(lock));
        if known && line.up_to >= place {
            return Vec::new();
        }
        let waiters = lock.queue().range(line.up_to..=place).map(|(_, waiter)| &waiter.party);
        let holders = lock.holds().values().filter(|_| !known).map(|hold| &hold.party);
        let found: Vec<SessionId> = waiters.chain(holders).map(|party| party.session).collect();
        line.up_to = place;
        self.steps += found.len();
        found
    }

    fn number(&mut self, party: &Party) -> usize {
        if let Some(number) = self.numbers.get(party) {
            return *number;
        }
        let number = self.crowds.len();
        self.numbers.insert(party.clone(), number);
        self.crowds.push(Crowd { has_owner: party.owner.is_some(), ..Crowd::default() });
        number
    }

    /// Which requests of a party want which lock.
    fn count(&mut self) {
        for (place, request) in &self.requests {
            let Some(waiting) = self.table.waiting.get(place) else { continue };
            for want in &waiting.acquire.wants {
                let Some((resource, _)) = self.lines.get_key_value(&want.resource) else {
                    continue;
                };
                let crowd = &mut self.crowds[request.party];
                crowd.wanting.entry(resource).or_default().0 += 1;
                crowd.tied.insert(resource);
            }
        }
    }

    /// Puts everybody where it stands, as if all were stuck.
    fn line_up(&mut self) {
        let resources: Vec<&'a Resource> = self.lines.keys().copied().collect();
        for resource in resources {
            let Some(mut line) = self.lines.remove(resource) else { continue };
            let mut inside: BTreeMap<usize, Mode> = BTreeMap::new();
            for (at, hold) in line.lock.holds().values().enumerate() {
                let Some(party) = self.numbers.get(&hold.party).copied() else { continue };
                self.steps += 1;
                if hold.revoked.is_none() {
                    self.crowds[party].tied.insert(resource);
                    if self.crowds[party].has_owner {
                        inside.insert(party, hold.mode);
                        line.entrants.inside.insert(party);
                    }
                    if self.crowds[party].holds_on(resource) {
                        line.block(party, Spot::Hold(at), hold.mode);
                    }
                }
            }
            self.line_up_queue(&mut line, &inside);
            self.lines.insert(resource, line);
        }
    }

    fn line_up_queue(&mut self, line: &mut Line<'a>, inside: &BTreeMap<usize, Mode>) {
        let mut firsts: BTreeMap<(usize, Mode), Place> = BTreeMap::new();
        for (place, waiter) in line.lock.queue().range(..=line.up_to) {
            let Some(request) = self.requests.get_mut(place) else { continue };
            self.steps += 1;
            let party = request.party;
            let mut enters = *place;
            if self.crowds[party].has_owner {
                line.entrants.owners.insert(party);
                firsts.entry((party, waiter.mode)).or_insert(*place);
                let mine =
                    firsts.range((party, Mode::Exclusive)..=(party, Mode::Permits(u32::MAX)));
                let covering = mine.filter(|((_, mode), _)| covers(*mode, waiter.mode));
                enters = covering.map(|(_, first)| *first).min().unwrap_or(*place);
            }
            line.block(party, Spot::Waiter(*place), waiter.mode);
            if inside.get(&party).is_none_or(|mode| !covers(*mode, waiter.mode)) {
                line.front_mut(waiter.mode).keep_out(party, (enters, *place));
                request.shut += 1;
            }
        }
    }

    /// Lets go whoever is not kept out by somebody stuck, until nobody is left who is not.
    fn reduce(&mut self) {
        let unshut = self.requests.iter().filter(|(_, request)| request.shut == 0);
        self.let_go = unshut.map(|(place, _)| *place).collect();
        let mut changed: BTreeSet<&'a Resource> = self.lines.keys().copied().collect();
        loop {
            while let Some(place) = self.let_go.pop() {
                self.free(place, &mut changed);
            }
            let Some(resource) = changed.pop_first() else { return };
            let Some(line) = self.lines.get_mut(resource) else { continue };
            for place in line.pop_all_free(&mut self.steps) {
                let Some(request) = self.requests.get_mut(&place) else { continue };
                request.shut -= 1;
                if request.shut == 0 {
                    self.let_go.push(place);
                }
            }
        }
    }

    /// A request is let in sooner or later. What hangs on it is no longer in the way.
    fn free(&mut self, place: Place, changed: &mut BTreeSet<&'a Resource>) {
        let Some(request) = self.requests.get_mut(&place) else { return };
        request.is_stuck = false;
        let party = request.party;
        let Some(waiting) = self.table.waiting.get(&place) else { return };
        let crowd = &mut self.crowds[party];
        crowd.free += 1;
        let mut looked_at: BTreeSet<&'a Resource> = crowd.tied.clone();
        for want in &waiting.acquire.wants {
            let Some((resource, _)) = self.lines.get_key_value(&want.resource) else { continue };
            crowd.wanting.entry(resource).or_default().1 += 1;
            looked_at.insert(resource);
        }
        for resource in looked_at {
            self.untie(party, resource, place);
            changed.insert(resource);
        }
    }

    /// Looks again at what a party has at a lock, now that one more of its requests is free.
    fn untie(&mut self, party: usize, resource: &'a Resource, freed: Place) {
        let crowd = &mut self.crowds[party];
        let Some(line) = self.lines.get_mut(resource) else { return };
        if crowd.waits_on(resource) {
            if !crowd.holds_on(resource) {
                line.unblock_holds(party, &mut self.steps);
            }
            return; // Its places there hang on its other requests, all of them stuck.
        }
        if !crowd.tied.remove(resource) {
            self.steps += 1;
            return line.unblock(party, Spot::Waiter(freed));
        }
        let requests = &self.requests;
        let is_free = |place| requests.get(&place).is_some_and(|request| !request.is_stuck);
        let gone = |spot: &Spot| match spot {
            Spot::Hold(_) => true,
            Spot::Waiter(place) => is_free(*place),
        };
        line.unblock_all(party, gone, &mut self.steps);
    }
}

impl Crowd<'_> {
    /// Whether what it holds of a lock is not given back: its other requests are all stuck.
    /// A session without owners that wants it again has evidently another thread.
    fn holds_on(&self, resource: &Resource) -> bool {
        let (all, free) = self.others(resource);
        all > 0 && free == 0
    }

    /// Whether the same is so for a place of it in line that is free.
    fn waits_on(&self, resource: &Resource) -> bool {
        match self.has_owner {
            true => self.places.len() > 1 && self.free <= 1,
            false => self.holds_on(resource),
        }
    }

    fn others(&self, resource: &Resource) -> (usize, usize) {
        let (wanting, free) = self.wanting.get(resource).copied().unwrap_or_default();
        match self.has_owner {
            true => (self.places.len(), self.free),
            false => (self.places.len() - wanting, self.free - free),
        }
    }
}
