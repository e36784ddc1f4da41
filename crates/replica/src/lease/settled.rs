//! Settled time: the lease clock as it was long enough ago for all that was sent then to be read.
//!
//! After a stall of this process (a paused machine, a full processor) the keepalives of clients lie
//! unread in its sockets while the lease clock moves on. So an expiry is looked for not at the
//! lease clock of this turn, but at that of a turn at least [`SETTLING`] ago with no stall since:
//! what is due must have been due at both, and whoever was heard of in between is not due any more.
//! It delays an expiry by [`SETTLING`], which the bound of 100 ms has room for.

use conclave_table::LeaseTime;
use std::collections::VecDeque;
use std::time::Duration;

/// How long it takes, at most, to read what lies in the sockets of a process that runs.
pub const SETTLING: Duration = Duration::from_millis(30);

/// A turn that comes so much later than it was to come tells of a stall.
pub const STALL: Duration = Duration::from_millis(50);

/// Turns closer than this to the one before are not kept: there may be thousands in a second.
const APART: Duration = Duration::from_millis(2);

/// The lease clock of the latest turns.
#[derive(Clone, Debug, Default)]
pub struct Settled {
    /// When, and what it read; since the last stall.
    turns: VecDeque<(Duration, LeaseTime)>,
    settled: Option<LeaseTime>,
}

impl Settled {
    /// A turn at `at`, by a clock that does not stop, which was to come `late` earlier. Returns up
    /// to which lease time whatever is due may be expired.
    pub fn turn(&mut self, at: Duration, late: Duration, now: LeaseTime) -> Option<LeaseTime> {
        if late > STALL {
            self.turns.clear();
            self.settled = None;
        }
        while let Some((then, time)) = self.turns.front().copied() {
            if then + SETTLING > at {
                break;
            }
            self.turns.pop_front();
            self.settled = Some(time);
        }
        let apart = |(then, _): &(Duration, LeaseTime)| *then + APART <= at;
        if self.turns.back().is_none_or(apart) {
            self.turns.push_back((at, now));
        }
        self.settled
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn what_is_due_must_have_been_due_at_two_turns_apart() {
        let mut settled = Settled::default();
        assert_eq!(settled.turn(ms(0), ms(0), LeaseTime(100)), None);
        assert_eq!(settled.turn(ms(20), ms(0), LeaseTime(120)), None);
        assert_eq!(settled.turn(ms(30), ms(0), LeaseTime(130)), Some(LeaseTime(100)));
        assert_eq!(settled.turn(ms(60), ms(0), LeaseTime(160)), Some(LeaseTime(130)));
    }

    #[test]
    fn after_a_stall_it_begins_anew() {
        let mut settled = Settled::default();
        settled.turn(ms(0), ms(0), LeaseTime(100));
        assert_eq!(settled.turn(ms(3_000), ms(2_970), LeaseTime(600)), None);
        assert_eq!(settled.turn(ms(3_020), ms(0), LeaseTime(620)), None);
        assert_eq!(settled.turn(ms(3_030), ms(0), LeaseTime(630)), Some(LeaseTime(600)));
    }

    #[test]
    fn a_turn_that_is_a_little_late_is_no_stall() {
        let mut settled = Settled::default();
        settled.turn(ms(0), ms(0), LeaseTime(100));
        assert_eq!(settled.turn(ms(40), ms(10), LeaseTime(140)), Some(LeaseTime(100)));
    }

    #[test]
    fn thousands_of_turns_take_little_room() {
        let mut settled = Settled::default();
        for micros in 0..100_000u64 {
            settled.turn(Duration::from_micros(micros), ms(0), LeaseTime(micros / 1_000));
        }
        assert!(settled.turns.len() < 20);
        assert!(settled.settled >= Some(LeaseTime(66)));
    }
}
