//! A hybrid logical clock at work: near physical time, yet never against cause and effect.
//!
//! Source: S. Kulkarni, M. Demirbas, D. Madappa, B. Avva and M. Leone, "Logical physical clocks",
//! OPODIS 2014.
//! Assumes: A1 no node forgets its clock; A2 physical clocks never go back and are apart by no more
//! than is allowed.
//! Has: an event has a smaller time than every event that it causes; the time is never behind the
//! physical clock, and ahead of it by no more than the clocks are apart.
//! Lacks: the converse, as with Lamport's clock.
//! Cost: two numbers on every message.
//!
//! R1 an event takes the physical time if that is ahead, else one more of the count; R2 a receipt
//! takes the greatest physical time of both and of its own clock, and counts on from whatever had
//! that; R3 the physical clock runs by itself.

mod why;

pub use why::WHY;

use super::timekeeper::{Keeper, Timekeeper};
use conclave_core::clock::{Hybrid, Refusal};
use conclave_core::{NodeId, Why};
use serde::{Deserialize, Serialize};

/// A node with a hybrid clock.
pub type HybridClock = Timekeeper<Pair>;

/// A hybrid clock and the physical clock that it follows.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Pair {
    clock: Hybrid,
    physical: u64,
    ahead_max: u64,
}

impl Pair {
    /// A physical clock that reads this, and refuses messages that are further ahead than that.
    pub fn new(physical: u64, ahead_max: u64) -> Self {
        Self { clock: Hybrid::default(), physical, ahead_max }
    }
}

impl Keeper for Pair {
    type Time = Hybrid;

    fn passes(&mut self, gain: u64) {
        self.physical = self.physical.saturating_add(gain);
    }

    fn happens(&mut self) -> Hybrid {
        self.clock.tick(self.physical)
    }

    fn sends(&mut self) -> Hybrid {
        self.happens()
    }

    fn receives(&mut self, _: NodeId, time: &Hybrid) -> Result<Hybrid, Refusal> {
        self.clock.receive(*time, self.physical, self.ahead_max)
    }

    fn why_happens(&self) -> &'static Why {
        if self.physical > self.clock.physical() { &why::FOLLOWS_PHYSICAL } else { &why::COUNTS }
    }

    fn why_receives(&self, _: &Hybrid) -> &'static Why {
        &why::GOES_BEYOND
    }

    fn why_passes(&self) -> &'static Why {
        &why::TICKS
    }

    fn reading(&self) -> Hybrid {
        let physical = Hybrid::new(self.physical, 0);
        self.clock.max(physical)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_follows_the_physical_clock_and_messages_that_are_not_too_far_ahead() {
        let mut clock = Pair::new(5, 20);
        assert_eq!(clock.receives(NodeId(1), &Hybrid::new(10, 0)), Ok(Hybrid::new(10, 1)));
        assert_eq!(clock.reading(), Hybrid::new(10, 1));
        clock.passes(6);
        assert_eq!(clock.reading(), Hybrid::new(11, 0));
        assert_eq!(clock.sends(), Hybrid::new(11, 0));
        let far = clock.receives(NodeId(1), &Hybrid::new(32, 0));
        assert_eq!(far, Err(Refusal::TooFarAhead));
        assert_eq!(clock.happens(), Hybrid::new(11, 1));
    }
}
