//! Exponential back-off with jitter between two attempts to connect.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::time::Duration;

/// Pauses that double up to a limit. Chance takes up to half of each, lest all nodes dial at once
/// when a peer comes back.
pub(crate) struct Backoff {
    next: Duration,
    min: Duration,
    max: Duration,
    random: Xoshiro256PlusPlus,
}

impl Backoff {
    pub fn new(min: Duration, max: Duration, seed: u64) -> Self {
        Self { next: min, min, max, random: Xoshiro256PlusPlus::seed_from_u64(seed) }
    }

    /// The last attempt went well.
    pub fn reset(&mut self) {
        self.next = self.min;
    }

    pub fn next(&mut self) -> Duration {
        let longest = self.next;
        self.next = (longest * 2).min(self.max);
        self.vary(longest)
    }

    /// Between half of this and all of it.
    pub fn vary(&mut self, longest: Duration) -> Duration {
        let half = longest / 2;
        let micros = half.as_micros() as u64 + 1;
        half + Duration::from_micros(self.random.next_u64() % micros)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Limits;

    #[test]
    fn pauses_double_up_to_the_limit_and_start_again() {
        let limits = Limits::default();
        let mut pause = Backoff::new(limits.pause_min, limits.pause_max, 1);
        let mut longest = limits.pause_min;
        for _ in 0..10 {
            let next = pause.next();
            assert!(longest / 2 <= next && next <= longest, "{next:?}, at most {longest:?}");
            longest = (longest * 2).min(limits.pause_max);
        }
        pause.reset();
        assert!(pause.next() <= limits.pause_min);
    }
}
