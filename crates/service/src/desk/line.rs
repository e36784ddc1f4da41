//! The line in front of one lock or one election: who is inside, and who waits, in order.

use super::Reply;
use conclave_client::api;
use conclave_core::Ticks;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

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
    /// How often it holds.
    pub holds: u32,
    /// Since when, by the lease clock.
    pub since: Ticks,
    /// The requests that were answered with this fence.
    pub request_ids: Vec<String>,
    /// Elections: what it wants to be known by.
    pub value: String,
    /// Whether anybody took note of the grant.
    pub claim: Claim,
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
    /// these requests, the first one first.
    pub fn let_in(&mut self, fence: u64, now: Ticks) -> Vec<Waiter> {
        let Some(first) = self.waiters.pop_front() else { return Vec::new() };
        let (same, others) = std::mem::take(&mut self.waiters)
            .into_iter()
            .partition::<VecDeque<_>, _>(|waiter| waiter.session == first.session);
        self.waiters = others;
        let mut entered = vec![first];
        entered.extend(same);
        self.latest = self.latest.max(Some(fence));
        self.entries += 1;
        self.holder = Some(Holder {
            session: entered[0].session.clone(),
            fence,
            holds: u32::try_from(entered.len()).unwrap_or(u32::MAX),
            since: now,
            request_ids: entered.iter().filter_map(|one| one.request_id.clone()).collect(),
            value: entered[0].value.clone(),
            claim: Claim::default(),
        });
        entered
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
