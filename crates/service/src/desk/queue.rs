//! The line in front of one lock or one election: who is inside, and who waits, in order.

use super::Reply;
use conclave_api as api;
use conclave_core::Ticks;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// So many releases of one holder are remembered over a restart.
const GIVEN_BACK_MAX: usize = 16;

/// Who waits.
pub struct Waiter {
    /// Its session.
    pub session: String,
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
    /// Where the answer goes to: to the request and its repeats.
    pub replies: Vec<Reply<api::Grant>>,
}

/// Who is inside.
pub struct Holder {
    /// Its session.
    pub session: String,
    /// With which fence it was let in.
    pub fence: u64,
    /// Since when, by the lease clock.
    pub since: Ticks,
    /// It may be let in again and again; it is inside until it has given back all of them.
    pub holds: Vec<Hold>,
    /// The last releases that left it inside: the id of each, and how often it still held.
    pub given_back: VecDeque<(String, u32)>,
    /// Elections: what it wants to be known by.
    pub value: String,
    /// Others may go on without it: it has to leave, and may not know yet.
    pub lapsed: bool,
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

    /// Gives back one hold: that of the request with this id, else one that somebody knows of, if
    /// there is such. Returns how many are left.
    pub fn give_back(&mut self, request_id: Option<&String>) -> u32 {
        let same = |hold: &Hold| request_id.is_some() && hold.request_id.as_ref() == request_id;
        let named = self.holds.iter().position(same);
        let known = || self.holds.iter().rposition(|hold| hold.claim.is_made());
        if let Some(place) = named.or_else(known).or(self.holds.len().checked_sub(1)) {
            self.holds.remove(place);
        }
        if let Some(id) = request_id {
            self.given_back.push_back((id.clone(), self.count()));
            if self.given_back.len() > GIVEN_BACK_MAX {
                self.given_back.pop_front();
            }
        }
        self.count()
    }
}

/// One time that a holder was let in.
pub struct Hold {
    /// The request that was answered.
    pub request_id: Option<String>,
    /// Since when, by the lease clock.
    pub since: Ticks,
    /// Whether anybody took note of the grant.
    pub claim: Claim,
}

impl Hold {
    /// One that nobody has taken note of yet.
    pub fn new(request_id: Option<String>, since: Ticks) -> Self {
        Self { request_id, since, claim: Claim::default() }
    }
}

/// Whether anybody took note of a grant.
#[derive(Clone, Default)]
pub struct Claim(Arc<AtomicBool>);

impl Claim {
    /// A grant that was taken note of, long ago.
    pub fn made() -> Self {
        Self(Arc::new(AtomicBool::new(true)))
    }

    /// Whether somebody did.
    pub fn is_made(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }

    /// Hands out the grant; who still waits for it takes note of it.
    pub fn answer(&self, reply: Reply<api::Grant>, grant: api::Grant) {
        if reply.send(Ok(grant)).is_ok() {
            self.0.store(true, Ordering::Release);
        }
    }
}

/// The line in front of one lock or one election.
#[derive(Default)]
pub struct Line {
    /// Who is inside.
    pub holder: Option<Holder>,
    /// Who waits, in order.
    pub waiters: VecDeque<Waiter>,
    /// The largest fence that anybody here was let in with.
    pub latest: Option<u64>,
    /// How many were let in since the node started.
    pub entries: u64,
    /// How often it was given back since the node started, and how long it was held in all.
    ended: (u64, Ticks),
}

impl Line {
    /// Whether nobody is here.
    pub fn is_empty(&self) -> bool {
        self.holder.is_none() && self.waiters.is_empty()
    }

    /// The holder, if it is this session.
    pub fn held_by(&self, session: &str) -> Option<&Holder> {
        self.holder.as_ref().filter(|holder| holder.session == session)
    }

    /// The waiter of this session whose request has this id.
    pub fn waiting(&mut self, session: &str, request_id: &str) -> Option<&mut Waiter> {
        self.waiters.iter_mut().find(|waiter| {
            waiter.session == session && waiter.request_id.as_deref() == Some(request_id)
        })
    }

    /// Lets in the first in line, and with it all other requests of the same session. Returns
    /// these requests, the first one first, each with what says that it was heard of.
    pub fn let_in(&mut self, fence: u64, now: Ticks) -> Vec<(Waiter, Claim)> {
        let Some(first) = self.waiters.pop_front() else { return Vec::new() };
        let (same, others) = std::mem::take(&mut self.waiters)
            .into_iter()
            .partition::<VecDeque<_>, _>(|waiter| waiter.session == first.session);
        self.waiters = others;
        let mut entered = vec![first];
        entered.extend(same);
        self.latest = self.latest.max(Some(fence));
        self.entries += 1;
        let holds: Vec<Hold> =
            entered.iter().map(|one| Hold::new(one.request_id.clone(), now)).collect();
        let claims: Vec<Claim> = holds.iter().map(|hold| hold.claim.clone()).collect();
        self.holder = Some(Holder {
            session: entered[0].session.clone(),
            fence,
            since: now,
            holds,
            given_back: VecDeque::new(),
            value: entered[0].value.clone(),
            lapsed: false,
        });
        entered.into_iter().zip(claims).collect()
    }

    /// Whoever is inside leaves.
    pub fn let_out(&mut self, now: Ticks) -> Option<Holder> {
        let holder = self.holder.take()?;
        let (count, total) = self.ended;
        self.ended = (count + 1, total + now.since(holder.since));
        Some(holder)
    }

    /// How long it may take from this place in line, from 1, if everybody takes as long as those
    /// before did on average.
    pub fn estimate(&self, place: u32) -> Option<Ticks> {
        let (count, total) = self.ended;
        Some(Ticks(total.0.checked_div(count)?.saturating_mul(u64::from(place))))
    }

    /// Takes out all waiters that this picks, each with the place it had, from 1.
    pub fn take_waiters(&mut self, picks: impl Fn(&Waiter) -> bool) -> Vec<(u32, Waiter)> {
        let mut taken = Vec::new();
        let all = std::mem::take(&mut self.waiters);
        for (place, waiter) in (1..).zip(all) {
            if picks(&waiter) {
                taken.push((place, waiter));
            } else {
                self.waiters.push_back(waiter);
            }
        }
        taken
    }
}
