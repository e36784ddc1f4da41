//! One turn of the leader's loop: what is put into the log, in which order, with which lease time.
//!
//! A turn takes what waits, reads the clocks, advances the lease clock, stamps all of it with the
//! *advanced* clock, and only then looks for expiries. The clock is read after the last command was
//! taken: so it never moves, after a stamp, for time that passed before the command came.
//!
//! - Keepalives are gathered, for [`AgendaConfig::gather`] at most, into one entry. The entry goes
//!   ahead of any expiry, which is void if its session is in it.
//! - Requests that will only join a queue are in no hurry: they wait, for [`COMPANY`] at most, for
//!   something else to go into the log. Whoever is let in usually leaves soon, and then one entry
//!   after the other would have to be agreed upon where one round is enough.
//! - Sessions expire by settled time (see [`super::settled`]), in bursts of [`BURST`], one at a
//!   time.
//! - A tick is due when the moment of a timer of the table has come and no entry has told it yet,
//!   and every [`IDLE_TICK`] while any timer is pending: the lease clock may run only so far ahead
//!   of what is committed.
//!
//! No leader comes near a million entries in a second, which is what a restored backup counts on:
//! each is synced to disk, and one turn stamps what one queue holds.

use super::clock::{LeaseClock, Reading};
use super::settled::{SETTLING, Settled};
use conclave_table::{Ask, Body, Change, Due, LeaseTime, Renewal, Table};
use std::time::Duration;

/// The most expiries that are in the log and not applied.
pub const BURST: usize = 256;

/// How often an idle leader tells the time while a timer is pending.
pub const IDLE_TICK: Duration = Duration::from_millis(200);

/// The most that the keepalives of one entry may weigh: one each, and one per request it names.
const WEIGHT_MAX: usize = 8_192;

/// How long a request that has to wait in any case waits for others, to go into the log with them.
const COMPANY: Duration = Duration::from_millis(1);

/// What was put into the log becomes known to the table within so long, and with it new timers.
const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// How long a leader sleeps that has nothing to wait for.
const IDLE: Duration = Duration::from_secs(1);

/// What a loop is made with.
#[derive(Clone, Copy, Debug)]
pub struct AgendaConfig {
    /// For how long keepalives are gathered.
    pub gather: Duration,
    /// The largest lease time in the table, the snapshot and every entry of the log.
    pub largest: LeaseTime,
}

/// What waits for the next turn, and what the turns before did. `P` and `K` are whoever waits for
/// the answer to a change and to a keepalive.
pub struct Agenda<P, K> {
    gather: Duration,
    clock: LeaseClock,
    settled: Settled,
    proposals: Vec<(Change, P)>,
    /// Since when these wait for others, if none of them is in a hurry.
    held_back: Option<Duration>,
    keepalives: Keepalives<K>,
    /// The largest lease time that is on its way into the log, or in it.
    stamped: LeaseTime,
    /// When something was last put into the log.
    submitted: Duration,
    /// When the next turn is to come at the latest.
    wake: Duration,
    /// Whether a burst of expiries is on its way.
    expiring: bool,
}

/// Who waits for an entry of the log.
#[derive(Debug, PartialEq, Eq)]
pub enum Origin<P, K> {
    /// Whoever proposed it.
    Proposal(P),
    /// Those whose keepalives it holds, in the same order.
    Keepalives(Vec<K>),
    /// Nobody but the loop: the last of a burst of expiries. See [`Agenda::on_expired`].
    Burst,
    /// Nobody.
    Nobody,
}

/// What goes into the log by one turn, in this order, all with the same lease time.
#[derive(Debug)]
pub struct Turn<P, K> {
    /// The lease time.
    pub stamp: LeaseTime,
    /// The changes.
    pub entries: Vec<(Change, Origin<P, K>)>,
}

struct Keepalives<K> {
    waiting: Vec<(Renewal, K)>,
    weight: usize,
    since: Duration,
}

impl<P, K> Agenda<P, K> {
    /// A leader begins.
    pub fn new(config: AgendaConfig, reading: Reading) -> Self {
        Self {
            gather: config.gather,
            clock: LeaseClock::begin(config.largest, reading),
            settled: Settled::default(),
            proposals: Vec::new(),
            held_back: None,
            keepalives: Keepalives { waiting: Vec::new(), weight: 0, since: Duration::ZERO },
            stamped: config.largest,
            submitted: reading.monotonic,
            wake: reading.monotonic + LOOK_AGAIN,
            expiring: false,
        }
    }

    /// A change is to be put into the log.
    pub fn on_propose(&mut self, change: Change, waits: P) {
        self.proposals.push((change, waits));
    }

    /// A session was heard of, at `at` of the monotonic clock.
    pub fn on_keepalive(&mut self, renewal: Renewal, waits: K, at: Duration) {
        if self.keepalives.waiting.is_empty() {
            self.keepalives.since = at;
            self.wake = self.wake.min(at + self.gather);
        }
        self.keepalives.weight += 1 + renewal.open.as_ref().map_or(0, |open| open.requests.len());
        self.keepalives.waiting.push((renewal, waits));
    }

    /// The last burst of expiries was applied, or never will be.
    pub fn on_expired(&mut self) {
        self.expiring = false;
    }

    /// When the next turn is to come at the latest, by the monotonic clock.
    pub fn wake(&self) -> Duration {
        self.wake
    }

    /// Whether requests are held back that may be in a hurry once something was applied.
    pub fn holds_back(&self) -> bool {
        self.held_back.is_some()
    }

    /// Whether so much waits that it should not grow any more.
    pub fn is_full(&self) -> bool {
        self.proposals.len() >= WEIGHT_MAX || self.keepalives.weight >= WEIGHT_MAX
    }

    /// One turn. `table` is this node's own, with all in it that is known to be committed.
    pub fn turn(&mut self, reading: Reading, table: &Table) -> Turn<P, K> {
        let at = reading.monotonic;
        let stamp = self.clock.advance(reading, table.now());
        let settled = self.settled.turn(at, at.saturating_sub(self.wake), stamp);
        let mut own = Vec::new();
        let expiries = self.expiries(settled, table);
        let gathered = at >= self.keepalives.since + self.gather;
        if !expiries.is_empty() || gathered || self.is_full() {
            own.extend(self.keepalives.take());
        }
        own.extend(expiries);
        let due = table.due();
        if own.is_empty() && self.proposals.is_empty() && self.tick_is_due(at, stamp, &due) {
            own.push((Change::Tick, Origin::Nobody));
        }
        let mut entries = Vec::new();
        if !own.is_empty() || !self.is_patient(at, table) {
            self.held_back = None;
            entries.extend(self.proposals.drain(..).map(by_proposal));
        }
        entries.extend(own);
        if !entries.is_empty() {
            self.stamped = stamp;
            self.submitted = at;
        }
        self.wake = self.next_wake(at, stamp, &due);
        Turn { stamp, entries }
    }

    /// Whether all that was proposed can wait a little.
    fn is_patient(&mut self, at: Duration, table: &Table) -> bool {
        let in_line = |(change, _): &(Change, P)| joins_a_queue(change, table);
        if self.proposals.is_empty() || self.is_full() || !self.proposals.iter().all(in_line) {
            return false;
        }
        at < *self.held_back.get_or_insert(at) + COMPANY
    }

    fn expiries(
        &mut self,
        settled: Option<LeaseTime>,
        table: &Table,
    ) -> Vec<(Change, Origin<P, K>)> {
        let Some(settled) = settled.filter(|_| !self.expiring) else { return Vec::new() };
        let overdue = table.overdue(settled).take(BURST);
        let mut burst: Vec<_> = overdue.map(|change| (change, Origin::Nobody)).collect();
        if let Some((_, origin)) = burst.last_mut() {
            *origin = Origin::Burst;
            self.expiring = true;
        }
        burst
    }

    fn tick_is_due(&self, at: Duration, now: LeaseTime, due: &Due) -> bool {
        let untold = |timer: LeaseTime| timer <= now && self.stamped < timer;
        due.timer.is_some_and(untold) || (is_pending(due) && at >= self.submitted + IDLE_TICK)
    }

    /// The next moment at which something may be due.
    fn next_wake(&self, at: Duration, now: LeaseTime, due: &Due) -> Duration {
        let until = |then: LeaseTime| at + Duration::from_millis(then.since(now).max(2));
        let mut wake = at + IDLE;
        if is_pending(due) {
            wake = wake.min((self.submitted + IDLE_TICK).max(at + Duration::from_millis(2)));
        }
        if at < self.submitted + LOOK_AGAIN * 10 {
            wake = wake.min(at + LOOK_AGAIN);
        }
        if let Some(since) = self.held_back {
            wake = wake.min(since + COMPANY);
        }
        if !self.keepalives.waiting.is_empty() {
            wake = wake.min(self.keepalives.since + self.gather);
        }
        if let Some(timer) = due.timer.filter(|timer| *timer > now) {
            wake = wake.min(until(timer));
        }
        let ends =
            due.expiry.map(|(then, _)| then).into_iter().chain(due.lapse.map(|(then, ..)| then));
        for end in ends {
            let settling = at + SETTLING / 6;
            wake = wake.min(if end > now { until(end) } else { settling });
        }
        wake
    }
}

impl<K> Keepalives<K> {
    fn take<P>(&mut self) -> Option<(Change, Origin<P, K>)> {
        if self.waiting.is_empty() {
            return None;
        }
        self.weight = 0;
        let waiting = std::mem::take(&mut self.waiting);
        let (renewals, waits) = waiting.into_iter().unzip();
        Some((Change::Renew(renewals), Origin::Keepalives(waits)))
    }
}

fn by_proposal<P, K>((change, waits): (Change, P)) -> (Change, Origin<P, K>) {
    (change, Origin::Proposal(waits))
}

/// Whether a change asks for what others have, and is ready to wait for it.
fn joins_a_queue(change: &Change, table: &Table) -> bool {
    let Change::Ask(Ask { session, body: Body::Acquire(acquire), .. }) = change else {
        return false;
    };
    acquire.wait_ms > 0 && table.keeps_out(*session, acquire)
}

fn is_pending(due: &Due) -> bool {
    due.expiry.is_some() || due.lapse.is_some() || due.timer.is_some()
}

#[cfg(test)]
mod tests;
