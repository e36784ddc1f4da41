//! Pseudo-random numbers from a seed, the same on every machine.

use conclave_core::{Delay, Ticks};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// One of the independent streams of a seed.
#[derive(Clone, Debug)]
pub struct Stream(Xoshiro256PlusPlus);

impl Stream {
    /// Stream `number` of a seed; streams of one seed never overlap.
    pub fn new(seed: u64, number: u32) -> Self {
        let mut generator = Xoshiro256PlusPlus::seed_from_u64(seed);
        for _ in 0..number {
            generator.jump();
        }
        Self(generator)
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.0.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// A number in [0, 1).
    pub fn fraction(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// True with this probability; draws nothing when it is 0.
    pub fn chance(&mut self, probability: f64) -> bool {
        probability > 0.0 && self.fraction() < probability
    }

    /// A moment within the delay, both ends included.
    pub fn delay(&mut self, delay: Delay) -> Ticks {
        let width = delay.max.since(delay.min).0;
        if width == 0 { delay.min } else { Ticks(delay.min.0 + self.below(width + 1)) }
    }

    /// From an exponential distribution. `libm`'s logarithm is the same on every machine.
    pub fn exponential(&mut self, mean: Ticks) -> Ticks {
        Ticks((-libm::log(1.0 - self.fraction()) * mean.0 as f64).round() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_fixed_and_differ() {
        let mut first = Stream::new(1, 0);
        let mut second = Stream::new(1, 1);
        assert_eq!([first.below(1_000), first.below(1_000)], [811, 747]);
        assert_ne!(first.below(u64::MAX), second.below(u64::MAX));
    }

    #[test]
    fn the_exponential_has_its_mean() {
        let mut stream = Stream::new(7, 0);
        let total: u64 = (0..10_000).map(|_| stream.exponential(Ticks(1_000)).0).sum();
        assert!((9_700_000..10_300_000).contains(&total), "{total}");
    }
}
