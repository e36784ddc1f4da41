//! The clock by which sessions and waits run out.

use super::timing::STALL_MAX;
use conclave_core::Ticks;

/// A clock that gains at most half a second at once. A node that was stopped for a minute has heard
/// of nobody for a minute, and that is its own fault: nobody expires for it.
#[derive(Clone, Copy, Debug, Default)]
pub struct LeaseClock {
    now: Ticks,
    seen: Ticks,
}

impl LeaseClock {
    /// What it reads.
    pub fn now(&self) -> Ticks {
        self.now
    }

    /// Looks at the node's clock, and says for how long nobody did.
    pub fn advance(&mut self, real: Ticks) -> Ticks {
        let unseen = real.since(self.seen);
        self.now = self.now + unseen.min(STALL_MAX);
        self.seen = self.seen.max(real);
        unseen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stall_counts_for_half_a_second() {
        let mut clock = LeaseClock::default();
        for real in [100, 350, 60_000, 60_200] {
            clock.advance(Ticks::units(real));
        }
        assert_eq!(clock.now(), Ticks::units(350 + 500 + 200));
    }
}
