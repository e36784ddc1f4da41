//! Keeps each value once, and knows it by a number.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Values by number, in the order in which they first came.
pub struct Interner<T> {
    values: Vec<T>,
    /// By hash; values of the same hash are told apart.
    places: HashMap<u64, Vec<u32>, Plain>,
}

impl<T: PartialEq> Interner<T> {
    pub fn new() -> Self {
        Self { values: Vec::new(), places: HashMap::default() }
    }

    /// The number of a value, and whether it is new.
    pub fn intern(&mut self, hash: u64, value: T) -> (u32, bool) {
        let places = self.places.entry(hash).or_default();
        if let Some(&known) = places.iter().find(|&&place| self.values[place as usize] == value) {
            return (known, false);
        }
        let number = u32::try_from(self.values.len()).expect("fewer than 2^32 of anything");
        places.push(number);
        self.values.push(value);
        (number, true)
    }

    /// The number of a value, if it has one.
    pub fn find(&self, hash: u64, value: &T) -> Option<u32> {
        let places = self.places.get(&hash)?;
        places.iter().copied().find(|&place| self.values[place as usize] == *value)
    }

    pub fn get(&self, number: u32) -> &T {
        &self.values[number as usize]
    }
}

/// Hashes numbers that are about to be keys of a table: quick, and the same in every run.
#[derive(Clone, Copy, Default)]
pub struct Mixer(u64);

/// What makes [`Mixer`]s for a table.
pub type Plain = BuildHasherDefault<Mixer>;

impl Hasher for Mixer {
    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 32)
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }

    fn write_u8(&mut self, number: u8) {
        self.write_u64(u64::from(number));
    }

    fn write_u16(&mut self, number: u16) {
        self.write_u64(u64::from(number));
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(u64::from(number));
    }

    fn write_usize(&mut self, number: usize) {
        self.write_u64(number as u64);
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0.rotate_left(26) ^ number).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
}

/// Spreads a number over all 64 bits, one to one.
#[inline]
pub fn mix(number: u64) -> u64 {
    let once = (number ^ (number >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    let twice = (once ^ (once >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    twice ^ (twice >> 32)
}
