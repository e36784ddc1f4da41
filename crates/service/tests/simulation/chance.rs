//! Chance: what the seed decides.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// A stream of random numbers.
pub struct Chance(Xoshiro256PlusPlus);

impl Chance {
    /// One of the streams of a seed.
    pub fn new(seed: u64, stream: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed.wrapping_mul(0x9e37_79b9).wrapping_add(stream)))
    }

    /// From `min` to `max`, both included.
    pub fn between(&mut self, min: u64, max: u64) -> u64 {
        min + self.0.next_u64() % (max - min + 1)
    }

    /// One of so many.
    pub fn below(&mut self, count: usize) -> usize {
        self.between(0, count as u64 - 1) as usize
    }

    /// Whether something happens that does so many times in a thousand.
    pub fn happens(&mut self, per_mille: u64) -> bool {
        self.between(0, 999) < per_mille
    }
}
