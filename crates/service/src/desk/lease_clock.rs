//! The lease clock, by which sessions and waits expire, and the timer of their next expiry.

use super::timing::{STALL_MAX, TICK};
use conclave_core::Ticks;

/// A clock that gains at most half a second at once. A node that was stopped for a minute has heard
/// of nobody for a minute, and that is its own fault: nobody expires for it.
#[derive(Clone, Copy, Debug, Default)]
struct LeaseClock {
    now: Ticks,
    seen: Ticks,
}

impl LeaseClock {
    /// Looks at the node's clock, and says for how long nobody did.
    fn advance(&mut self, real: Ticks) -> Ticks {
        let unseen = real.since(self.seen);
        self.now = self.now + unseen.min(STALL_MAX);
        self.seen = self.seen.max(real);
        unseen
    }
}

/// The lease clock, and when to look at it again.
///
/// Deadlines are in the time of the lease clock. While there are any, the node is woken every
/// `TICK` as well, so that the lease clock goes on. Whatever happens meanwhile does not put that
/// off: somebody may ask something all the time.
#[derive(Clone, Copy, Debug, Default)]
pub struct LeaseTimer {
    clock: LeaseClock,
    /// The earliest deadline, as far as is known; perhaps one that is no longer of interest.
    next: Option<Ticks>,
    /// When to look again, whatever there is to see, by the node's clock.
    tick_at: Ticks,
    /// Whether the clock is looked at every now and then.
    ticking: bool,
}

impl LeaseTimer {
    /// What the lease clock reads.
    pub fn now(&self) -> Ticks {
        self.clock.now
    }

    /// Looks at the node's clock, and says for how long nobody did.
    pub fn advance(&mut self, real: Ticks) -> Ticks {
        self.clock.advance(real)
    }

    /// Whether the clock is looked at every now and then, so that a long look away is a pause.
    pub fn is_ticking(&self) -> bool {
        self.ticking
    }

    /// Something expires then.
    pub fn due(&mut self, at: Ticks) {
        self.next = Some(self.next.map_or(at, |next| next.min(at)));
    }

    /// Whether something may have expired.
    pub fn is_due(&self) -> bool {
        self.next.is_some_and(|at| at <= self.now())
    }

    /// This is the earliest deadline: all are known.
    pub fn reset(&mut self, next: Option<Ticks>) {
        self.next = next;
    }

    /// The node was woken at this time of its clock.
    pub fn woken(&mut self, real: Ticks) {
        self.tick_at = real + TICK;
    }

    /// When to wake the node, by its own clock, which reads this. `needed` says that it must be
    /// woken every now and then without any deadline, too.
    pub fn wake_at(&mut self, real: Ticks, needed: bool) -> Option<Ticks> {
        let due = self.next.map(|at| real + at.since(self.now()));
        self.ticking = due.is_some() || needed;
        let tick = self.ticking.then(|| self.tick_at.max(real));
        due.into_iter().chain(tick).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stall_counts_for_half_a_second() {
        let mut timer = LeaseTimer::default();
        for real in [100, 350, 60_000, 60_200] {
            timer.advance(Ticks::units(real));
        }
        assert_eq!(timer.now(), Ticks::units(350 + 500 + 200));
    }

    #[test]
    fn the_node_is_woken_for_the_earliest_deadline_or_the_next_tick() {
        let mut timer = LeaseTimer::default();
        assert_eq!(timer.wake_at(Ticks::ZERO, false), None);
        timer.woken(Ticks::ZERO);
        assert_eq!(timer.wake_at(Ticks::ZERO, true), Some(TICK));
        timer.due(Ticks::units(400));
        assert_eq!(timer.wake_at(Ticks::ZERO, false), Some(TICK), "for the clock to go on");
        timer.due(Ticks::units(100));
        assert_eq!(timer.wake_at(Ticks::ZERO, false), Some(Ticks::units(100)));
        assert!(!timer.is_due());
        timer.advance(Ticks::units(100));
        assert!(timer.is_due());
        timer.reset(None);
        assert!(!timer.is_due());
    }
}
