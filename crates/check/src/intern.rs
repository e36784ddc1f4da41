//! Interning (hash-consing): each value is kept once, and known by a number.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Values by number, in the order in which they first came.
pub struct Interner<T> {
    values: Vec<T>,
    /// By hash; of values of the same hash, the second is at the next number, and so on.
    numbers: HashMap<u64, u32, Plain>,
}

impl<T: PartialEq> Interner<T> {
    pub fn new() -> Self {
        Self { values: Vec::new(), numbers: HashMap::default() }
    }

    /// The number of a value, and whether it is new.
    pub fn intern(&mut self, hash: u64, value: T) -> (u32, bool) {
        let key = match self.look_up(hash, &value) {
            Ok(known) => return (known, false),
            Err(key) => key,
        };
        let number = u32::try_from(self.values.len()).expect("fewer than 2^32 of anything");
        self.numbers.insert(key, number);
        self.values.push(value);
        (number, true)
    }

    /// The number of a value, if it has one.
    pub fn find(&self, hash: u64, value: &T) -> Option<u32> {
        self.look_up(hash, value).ok()
    }

    /// The number of a value, or else where it is to be put.
    fn look_up(&self, hash: u64, value: &T) -> Result<u32, u64> {
        let mut key = hash;
        loop {
            match self.numbers.get(&key) {
                Some(&number) if self.values[number as usize] == *value => return Ok(number),
                Some(_) => key = key.wrapping_add(1),
                None => return Err(key),
            }
        }
    }

    pub fn get(&self, number: u32) -> &T {
        &self.values[number as usize]
    }

    /// All values from this number on.
    pub fn from(&self, number: usize) -> &[T] {
        &self.values[number..]
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_the_same_hash_are_told_apart() {
        let mut values = Interner::new();
        assert_eq!(values.intern(7, "one"), (0, true));
        assert_eq!(values.intern(7, "two"), (1, true));
        assert_eq!(values.intern(8, "three"), (2, true)); // Its place is taken by now.
        assert_eq!(values.intern(7, "two"), (1, false));
        assert_eq!(values.intern(8, "three"), (2, false));
        assert_eq!((values.find(7, &"one"), values.find(7, &"none")), (Some(0), None));
        assert_eq!(*values.get(2), "three");
    }
}
