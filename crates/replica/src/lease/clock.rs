//! The lease clock: a logical clock of the leader by which leases run out on every node alike.
//!
//! Within a term it is `L0` plus the time that has passed for the leader since it began to lead,
//! less what was discarded. `L0` is the largest lease time in the table, the snapshot and every
//! entry of the log, those that are not committed included: so it never falls.
//!
//! Time is discarded rather than counted wherever clients may not have been heard for a reason that
//! is not theirs:
//! - a turn of the leader's loop counts at most [`STEP_MAX`]: the rest of it was a stall;
//! - the clock is never more than [`AHEAD_MAX`] above what is committed: a leader without a quorum
//!   expires nobody;
//! - of two clocks of the system the slower counts: one that is being slewed runs up to 500 ppm
//!   fast.

use conclave_table::LeaseTime;
use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// The most that one turn of the leader's loop counts.
pub const STEP_MAX: Duration = Duration::from_millis(500);

/// How far the clock may be above the last lease time that is committed.
pub const AHEAD_MAX: Duration = Duration::from_millis(500);

/// The two clocks of the system, read together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// CLOCK_MONOTONIC, which is slewed when the system's time is corrected.
    pub monotonic: Duration,
    /// CLOCK_MONOTONIC_RAW, which is not, and is as wrong as the hardware.
    pub raw: Duration,
}

impl Reading {
    /// What they read now.
    pub fn now() -> Self {
        Self { monotonic: read(ClockId::Monotonic), raw: read(ClockId::MonotonicRaw) }
    }

    /// How much time has passed since, by the slower of the two.
    fn since(self, earlier: Self) -> Duration {
        let monotonic = self.monotonic.saturating_sub(earlier.monotonic);
        monotonic.min(self.raw.saturating_sub(earlier.raw))
    }
}

/// The lease clock of one leader in one term.
#[derive(Clone, Debug)]
pub struct LeaseClock {
    /// The clock, finer than what is stamped.
    now: Duration,
    /// Until when time was counted or discarded.
    counted: Reading,
}

impl LeaseClock {
    /// Begins to run at `largest`, which is the largest lease time in the table, the snapshot and
    /// every entry of the log.
    pub fn begin(largest: LeaseTime, reading: Reading) -> Self {
        Self { now: Duration::from_millis(largest.0), counted: reading }
    }

    /// What is stamped now.
    pub fn now(&self) -> LeaseTime {
        LeaseTime(u64::try_from(self.now.as_millis()).unwrap_or(u64::MAX))
    }

    /// A turn of the leader's loop: counts the time since the last one. `committed` is the largest
    /// lease time of a committed entry.
    pub fn advance(&mut self, reading: Reading, committed: LeaseTime) -> LeaseTime {
        let passed = reading.since(self.counted);
        if passed < Duration::from_millis(1) {
            return self.now(); // The two clocks are not read at one instant: do not add up noise.
        }
        self.counted = reading;
        let limit = Duration::from_millis(committed.0).saturating_add(AHEAD_MAX);
        let advanced = self.now.saturating_add(passed.min(STEP_MAX)).min(limit);
        self.now = self.now.max(advanced);
        self.now()
    }
}

fn read(clock: ClockId) -> Duration {
    let time = clock_gettime(clock);
    let seconds = Duration::from_secs(u64::try_from(time.tv_sec).unwrap_or(0));
    seconds + Duration::from_nanos(u64::try_from(time.tv_nsec).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both clocks agree.
    fn at(ms: u64) -> Reading {
        Reading { monotonic: Duration::from_millis(ms), raw: Duration::from_millis(ms) }
    }

    /// Turns of 100 ms, each of which is committed at once.
    fn run(clock: &mut LeaseClock, from: u64, to: u64) -> LeaseTime {
        for ms in (from..=to).step_by(100) {
            let committed = clock.now();
            clock.advance(at(ms), committed);
        }
        clock.now()
    }

    #[test]
    fn it_begins_at_the_largest_lease_time_there_is_and_runs_with_the_leader() {
        let mut clock = LeaseClock::begin(LeaseTime(70_000), at(5_000));
        assert_eq!(clock.now(), LeaseTime(70_000));
        assert_eq!(clock.advance(at(5_120), LeaseTime(70_000)), LeaseTime(70_120));
    }

    #[test]
    fn a_turn_counts_at_most_half_a_second_and_the_rest_of_a_stall_is_gone_for_good() {
        let mut clock = LeaseClock::begin(LeaseTime(0), at(0));
        assert_eq!(clock.advance(at(60_000), LeaseTime(0)), LeaseTime(500));
        assert_eq!(clock.advance(at(60_100), LeaseTime(500)), LeaseTime(600));
    }

    #[test]
    fn it_is_never_more_than_half_a_second_above_what_is_committed() {
        let mut clock = LeaseClock::begin(LeaseTime(1_000), at(0));
        for ms in (100..=60_000).step_by(100) {
            clock.advance(at(ms), LeaseTime(1_000));
        }
        assert_eq!(clock.now(), LeaseTime(1_500), "a leader without a quorum expires nobody");
        // What passed meanwhile is not made up for.
        assert_eq!(clock.advance(at(60_100), LeaseTime(1_500)), LeaseTime(1_600));
    }

    #[test]
    fn it_never_falls_though_its_beginning_is_far_above_what_is_committed() {
        // The log ends with entries of the leader before, which are not known to be committed.
        let mut clock = LeaseClock::begin(LeaseTime(9_000), at(0));
        assert_eq!(clock.advance(at(100), LeaseTime(2_000)), LeaseTime(9_000));
        assert_eq!(clock.advance(at(200), LeaseTime(9_000)), LeaseTime(9_100));
    }

    #[test]
    fn of_two_clocks_the_slower_counts() {
        let mut clock = LeaseClock::begin(LeaseTime(0), at(0));
        let slewed = |monotonic, raw| Reading {
            monotonic: Duration::from_millis(monotonic),
            raw: Duration::from_millis(raw),
        };
        assert_eq!(clock.advance(slewed(110, 100), LeaseTime(0)), LeaseTime(100));
        // What one was behind in one turn is no reason to run faster in another.
        assert_eq!(clock.advance(slewed(210, 220), LeaseTime(100)), LeaseTime(200));
    }

    #[test]
    fn a_clock_that_goes_back_counts_nothing() {
        let mut clock = LeaseClock::begin(LeaseTime(0), at(1_000));
        assert_eq!(clock.advance(at(400), LeaseTime(0)), LeaseTime(0));
        assert_eq!(clock.advance(at(1_100), LeaseTime(0)), LeaseTime(100));
    }

    #[test]
    fn many_short_turns_lose_nothing_of_the_time() {
        let mut clock = LeaseClock::begin(LeaseTime(0), at(0));
        let micros =
            |n| Reading { monotonic: Duration::from_micros(n), raw: Duration::from_micros(n) };
        for n in (0..=400_000).step_by(70) {
            clock.advance(micros(n), LeaseTime(0));
        }
        assert!(clock.now() >= LeaseTime(399), "{:?}", clock.now());
    }

    #[test]
    fn time_without_a_leader_is_nobodys() {
        let mut first = LeaseClock::begin(LeaseTime(0), at(0));
        let last = run(&mut first, 100, 3_000);
        // The next leader begins long after, by a clock of its own.
        let mut second = LeaseClock::begin(last, at(900_000));
        assert_eq!(second.advance(at(900_100), last), LeaseTime(3_100));
    }

    #[test]
    fn the_clocks_of_the_system_run() {
        let earlier = Reading::now();
        let later = Reading::now();
        assert!(later.monotonic >= earlier.monotonic && later.raw >= earlier.raw);
        assert!(later.monotonic > Duration::ZERO);
    }
}
