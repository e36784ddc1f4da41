//! Numbers by chance, from a seed that is printed and can be set.

use crate::cluster::N;
use std::hash::{BuildHasher, Hasher, RandomState};

/// A generator of numbers (xorshift).
pub struct Chance(u64);

impl Chance {
    /// From this seed.
    pub fn new(seed: u64) -> Self {
        Self(seed | 1)
    }

    /// From the seed in `CONCLAVE_SEED` or, without one, from a new one; prints it.
    pub fn seeded() -> Self {
        let set = std::env::var("CONCLAVE_SEED").ok();
        let drawn = || RandomState::new().build_hasher().finish();
        let seed = set.map_or_else(drawn, |text| text.parse().expect("CONCLAVE_SEED is a number"));
        println!("CONCLAVE_SEED={seed}");
        Self::new(seed)
    }

    /// A number below this one.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }

    /// A node.
    pub fn node(&mut self) -> u32 {
        self.below(N.into()) as u32 + 1
    }

    /// Another node than this one.
    pub fn other(&mut self, node: u32) -> u32 {
        (node + self.below(u64::from(N) - 1) as u32) % N + 1
    }
}
