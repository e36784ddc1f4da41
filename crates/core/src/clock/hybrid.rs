//! Hybrid logical clocks.
//!
//! Source: S. Kulkarni, M. Demirbas, D. Madappa, B. Avva and M. Leone, "Logical physical clocks",
//! OPODIS 2014.

use super::{LIMIT, Refusal};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The largest physical time heard of, and a counter for the events that share it. It rises from
/// cause to effect like Lamport's clock and stays as close to physical time as the physical clocks
/// are to each other.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Hybrid {
    physical: u64,
    count: u64,
}

impl Hybrid {
    /// This reading.
    pub fn new(physical: u64, count: u64) -> Self {
        Self { physical, count }
    }

    /// The largest physical time heard of.
    pub fn physical(self) -> u64 {
        self.physical
    }

    /// How many events have shared it.
    pub fn count(self) -> u64 {
        self.count
    }

    /// A local event, or a message about to be sent, while the physical clock reads `now`.
    pub fn tick(&mut self, now: u64) -> Self {
        *self = if now > self.physical {
            Self { physical: now, count: 0 }
        } else {
            Self { count: next(self.count), ..*self }
        };
        *self
    }

    /// A message arrives that carries `theirs` while the physical clock reads `now`. It is refused
    /// if it is more than `ahead_max` ahead of that: one broken clock would drag along all others.
    pub fn receive(&mut self, theirs: Self, now: u64, ahead_max: u64) -> Result<Self, Refusal> {
        if theirs.count >= LIMIT || theirs.physical >= LIMIT {
            return Err(Refusal::Absurd);
        }
        if theirs.physical.saturating_sub(now) > ahead_max {
            return Err(Refusal::TooFarAhead);
        }
        let physical = self.physical.max(theirs.physical).max(now);
        let count = match (physical == self.physical, physical == theirs.physical) {
            (true, true) => next(self.count.max(theirs.count)),
            (true, false) => next(self.count),
            (false, true) => next(theirs.count),
            (false, false) => 0,
        };
        *self = Self { physical, count };
        Ok(*self)
    }
}

fn next(count: u64) -> u64 {
    count.checked_add(1).expect("a clock counts fewer than 2^64 events")
}

impl fmt::Display for Hybrid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({},{})", self.physical, self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAR: u64 = 100;

    #[test]
    fn a_message_from_a_clock_ahead_is_followed_until_physical_time_catches_up() {
        let mut a = Hybrid::default();
        let mut b = Hybrid::default();
        assert_eq!(a.tick(10), Hybrid::new(10, 0));
        assert_eq!(b.receive(a, 5, FAR), Ok(Hybrid::new(10, 1)));
        assert_eq!(b.tick(6), Hybrid::new(10, 2));
        assert_eq!(b.tick(11), Hybrid::new(11, 0));
        assert_eq!(a.receive(b, 10, FAR), Ok(Hybrid::new(11, 1)));
    }

    #[test]
    fn of_equal_physical_times_the_larger_count_is_continued() {
        let receive = |mine: Hybrid, theirs| mine.clone().receive(theirs, 3, FAR);
        assert_eq!(receive(Hybrid::new(7, 2), Hybrid::new(7, 5)), Ok(Hybrid::new(7, 6)));
        assert_eq!(receive(Hybrid::new(7, 5), Hybrid::new(7, 2)), Ok(Hybrid::new(7, 6)));
        assert_eq!(receive(Hybrid::new(7, 5), Hybrid::new(6, 9)), Ok(Hybrid::new(7, 6)));
        assert_eq!(receive(Hybrid::new(2, 5), Hybrid::new(1, 9)), Ok(Hybrid::new(3, 0)));
    }

    #[test]
    fn a_clock_too_far_ahead_is_not_followed() {
        let mut clock = Hybrid::new(10, 1);
        assert_eq!(clock.receive(Hybrid::new(113, 0), 12, FAR), Err(Refusal::TooFarAhead));
        assert_eq!(clock.receive(Hybrid::new(12, u64::MAX), 12, FAR), Err(Refusal::Absurd));
        assert_eq!(clock.receive(Hybrid::new(u64::MAX, 0), u64::MAX, 0), Err(Refusal::Absurd));
        assert_eq!(clock, Hybrid::new(10, 1));
        assert_eq!(clock.receive(Hybrid::new(112, 0), 12, FAR), Ok(Hybrid::new(112, 1)));
    }
}
