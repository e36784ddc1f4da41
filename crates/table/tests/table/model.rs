//! A slow and obvious model of locks: one list of requests, and everything is found by looking
//! through it. It knows no queues, no indexes and no timers.

use conclave_table::*;

/// A request that waits, or holds all that it asked for.
#[derive(Clone, Debug)]
pub struct Request {
    pub ticket: Ticket,
    pub party: Party,
    pub acquire: Acquire,
    pub arrived: u64,
    pub deadline: u64,
    /// For each want, once it is inside.
    pub inside: Option<Vec<Part>>,
}

/// One thing that is held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    pub resource: Resource,
    pub mode: Mode,
    pub fence: u64,
    pub slot: u32,
    pub revoked: Option<u64>,
    /// Given back, though the request still holds other things.
    pub gone: bool,
}

#[derive(Clone, Debug, Default)]
pub struct Model {
    pub requests: Vec<Request>,
}

impl Model {
    /// One line per request, for whoever has to find out.
    pub fn told(&self) -> String {
        let wants = |acquire: &Acquire| {
            let want = |want: &Want| format!("{} {:?}", want.resource.name, want.mode);
            acquire.wants.iter().map(want).collect::<Vec<_>>().join(" + ")
        };
        let parts = |part: &Part| (part.fence, part.slot, part.revoked, part.gone);
        let line = |request: &Request| {
            let Request { ticket, party, acquire, arrived, inside, .. } = request;
            let session = ticket.session.0[0];
            let owner = &party.owner;
            let inside = inside.as_ref().map(|inside| inside.iter().map(parts).collect::<Vec<_>>());
            format!(
                "{arrived}: s{session} {owner:?} #{} {}: {inside:?}\n",
                ticket.request.0,
                wants(acquire)
            )
        };
        self.requests.iter().map(line).collect()
    }

    /// Whoever's time has come leaves.
    pub fn time_passes(&mut self, now: u64) {
        self.requests.retain(|request| request.inside.is_some() || request.deadline > now);
        self.end_parts(|_, part| part.revoked.is_some_and(|ends| ends <= now));
    }

    /// Gives back whatever is chosen.
    pub fn end_parts(&mut self, chosen: impl Fn(&Request, &Part) -> bool) {
        for request in &mut self.requests {
            let copy = request.clone();
            for part in request.inside.iter_mut().flatten() {
                part.gone |= chosen(&copy, part);
            }
        }
        let over = |request: &Request| {
            request.inside.as_ref().is_some_and(|parts| parts.iter().all(|part| part.gone))
        };
        self.requests.retain(|request| !over(request));
    }

    /// Lets in everybody who can be, first come, first served.
    pub fn let_in(&mut self, index: u64) {
        while let Some(at) = (0..self.requests.len()).find(|at| self.may_enter(*at)) {
            self.enter(at, index);
        }
    }

    /// All that is held of something, with whose it is.
    pub fn held<'a>(
        &'a self,
        resource: &'a Resource,
    ) -> impl Iterator<Item = (&'a Request, &'a Part)> {
        let parts = |request: &'a Request| request.inside.iter().flatten();
        let all = self.requests.iter().flat_map(move |r| parts(r).map(move |part| (r, part)));
        all.filter(move |(_, part)| part.resource == *resource && !part.gone)
    }

    fn may_enter(&self, at: usize) -> bool {
        let me = &self.requests[at];
        me.inside.is_none() && me.acquire.wants.iter().all(|want| self.admits(me, want))
    }

    fn admits(&self, me: &Request, want: &Want) -> bool {
        let mine = |(request, part): &(&Request, &Part)| {
            me.party.reenters(&request.party) && part.revoked.is_none()
        };
        let again = |(_, part): (&Request, &Part)| {
            part.mode == want.mode || (part.mode, want.mode) == (Mode::Exclusive, Mode::Shared)
        };
        if self.held(&want.resource).filter(mine).any(again) {
            return true;
        }
        let apart = |mode: Mode| (mode, want.mode) != (Mode::Shared, Mode::Shared);
        let holders = self
            .held(&want.resource)
            .filter(|held| !mine(held))
            .filter(|(_, part)| apart(part.mode));
        // A hold is one, however often its owner entered: they all have the same slot and fence.
        let mut holders: Vec<(&Party, u64, u32)> =
            holders.map(|(request, part)| (&request.party, part.fence, part.slot)).collect();
        if want.mode != Mode::Exclusive {
            holders.sort();
            holders.dedup_by(|a, b| a == b && a.0.owner.is_some());
        }
        let earlier = self.requests.iter().filter(|request| {
            let same = |other: &&Want| other.resource == want.resource && apart(other.mode);
            request.inside.is_none()
                && request.arrived < me.arrived
                && request.acquire.wants.iter().any(|other| same(&other))
        });
        let earlier: Vec<&Party> = earlier.map(|request| &request.party).collect();
        match want.mode {
            Mode::Permits(n) => holders.len() + self.slots(want, earlier) < n as usize,
            Mode::Exclusive | Mode::Shared => holders.is_empty() && earlier.is_empty(),
        }
    }

    /// Of those before it in line, one thread of control takes one permit, if it has none yet.
    fn slots(&self, want: &Want, mut earlier: Vec<&Party>) -> usize {
        let inside = |party: &Party| {
            let valid = self.held(&want.resource).filter(|(_, part)| part.revoked.is_none());
            valid.into_iter().any(|(request, _)| party.reenters(&request.party))
        };
        earlier.retain(|party| !inside(party));
        earlier.sort();
        earlier.dedup_by(|a, b| a == b && a.owner.is_some());
        earlier.len()
    }

    /// Lets somebody in who has others before it.
    pub fn enter_ahead(&mut self, at: usize, index: u64) {
        self.enter(at, index);
    }

    fn enter(&mut self, at: usize, index: u64) {
        let me = self.requests[at].clone();
        let parts: Vec<Part> =
            me.acquire.wants.iter().map(|want| self.part(&me, want, index)).collect();
        for part in &parts {
            // Who shared it and has it alone now has it alone by all its requests.
            for request in &mut self.requests {
                let same = me.party.reenters(&request.party);
                let old = request.inside.iter_mut().flatten();
                let old = old.filter(|old| old.resource == part.resource && same);
                for old in old.filter(|old| !old.gone && old.revoked.is_none()) {
                    (old.mode, old.fence, old.slot) = (part.mode, part.fence, part.slot);
                }
            }
        }
        self.requests[at].inside = Some(parts);
    }

    fn part(&self, me: &Request, want: &Want, index: u64) -> Part {
        let resource = want.resource.clone();
        let mine = |(request, part): &(&Request, &Part)| {
            me.party.reenters(&request.party) && part.revoked.is_none()
        };
        if let Some((_, held)) = self.held(&resource).find(mine)
            && (held.mode == want.mode || held.mode == Mode::Exclusive)
        {
            return held.clone();
        }
        let sharing = self.held(&resource).find(|(_, part)| part.mode == Mode::Shared);
        let fence = match (want.mode, sharing) {
            (Mode::Shared, Some((_, part))) => part.fence,
            _ => index,
        };
        let permits = if let Mode::Permits(n) = want.mode { n } else { 1 };
        let taken = |slot: &u32| self.held(&resource).any(|(_, part)| part.slot == *slot);
        let slot =
            if permits > 1 { (0..permits).find(|slot| !taken(slot)).unwrap_or(0) } else { 0 };
        Part { resource, mode: want.mode, fence, slot, revoked: None, gone: false }
    }

    /// Whether a request waits for ever. All who wait are taken to be stuck at first; then whoever
    /// is not kept out by somebody stuck is not.
    pub fn is_deadlocked(&self, ticket: Ticket) -> bool {
        let waiting = self.requests.iter().filter(|request| request.inside.is_none());
        let mut stuck: Vec<&Request> = waiting.collect();
        loop {
            let gets_in = |me: &&Request| {
                !me.acquire.wants.iter().any(|want| self.keeps_out(me, want, &stuck))
            };
            match stuck.iter().position(gets_in) {
                Some(at) => drop(stuck.remove(at)),
                None => return stuck.iter().any(|request| request.ticket == ticket),
            }
        }
    }

    /// Whether those who are stuck keep this one out.
    fn keeps_out(&self, me: &Request, want: &Want, stuck: &[&Request]) -> bool {
        let covers =
            |mode: Mode| mode == want.mode || (mode, want.mode) == (Mode::Exclusive, Mode::Shared);
        let valid = |(_, part): &(&Request, &Part)| part.revoked.is_none();
        let mut mine = self.held(&want.resource).filter(valid);
        if mine.any(|(r, part)| me.party.reenters(&r.party) && covers(part.mode)) {
            return false;
        }
        let wants = |request: &Request, fits: &dyn Fn(Mode) -> bool| {
            let mut wants = request.acquire.wants.iter();
            wants.any(|other| other.resource == want.resource && fits(other.mode))
        };
        // It enters with an earlier one of its own thread of control.
        let mut waiting = self.requests.iter().filter(|request| request.inside.is_none());
        let with = waiting.find(|r| me.party.reenters(&r.party) && wants(r, &covers));
        let before = with.map_or(me.arrived, |with| with.arrived.min(me.arrived));
        let apart = |mode: Mode| (mode, want.mode) != (Mode::Shared, Mode::Shared);
        let holders = self.held(&want.resource).filter(valid).filter(|(request, part)| {
            apart(part.mode)
                && request.party != me.party
                && self.is_tied(&request.party, None, &want.resource, stuck)
        });
        let mut holders: Vec<(&Party, u64, u32)> =
            holders.map(|(request, part)| (&request.party, part.fence, part.slot)).collect();
        holders.sort();
        holders.dedup_by(|a, b| a == b && a.0.owner.is_some());
        let earlier = self.requests.iter().filter(|request| {
            request.inside.is_none()
                && request.arrived < before
                && request.party != me.party
                && wants(request, &apart)
                && (stuck.iter().any(|other| other.ticket == request.ticket)
                    || self.is_tied(&request.party, Some(request.ticket), &want.resource, stuck))
        });
        let earlier: Vec<&Party> = earlier.map(|request| &request.party).collect();
        match want.mode {
            Mode::Permits(n) => holders.len() + self.slots(want, earlier) >= n as usize,
            Mode::Exclusive | Mode::Shared => !holders.is_empty() || !earlier.is_empty(),
        }
    }

    /// Whether a party has other requests that wait, and all of them are stuck. Without an owner,
    /// those for the same lock are not counted: there are several threads.
    fn is_tied(
        &self,
        party: &Party,
        but: Option<Ticket>,
        resource: &Resource,
        stuck: &[&Request],
    ) -> bool {
        let others: Vec<&Request> = self
            .requests
            .iter()
            .filter(|r| r.inside.is_none() && r.party == *party && Some(r.ticket) != but)
            .filter(|r| {
                party.owner.is_some()
                    || r.acquire.wants.iter().all(|want| want.resource != *resource)
            })
            .collect();
        let is_stuck = |other: &&Request| stuck.iter().any(|s| s.ticket == other.ticket);
        !others.is_empty() && others.iter().all(is_stuck)
    }
}
