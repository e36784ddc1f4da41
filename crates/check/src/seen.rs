//! Every state that was found, by its hash: after how many moves, and from which one.

use crate::lock::held;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// Tables that threads can use at the same time without waiting for each other much.
const SHARDS: usize = 64;
/// A table is made larger when more than 7 of 8 places are taken.
const FULL: (usize, usize) = (7, 8);
/// So many bits of a hash are kept of the state before.
const PARENT_BITS: u32 = 48;
const PARENT_MASK: u64 = (1 << PARENT_BITS) - 1;

/// The most moves that can be told apart; there is no state that takes more in practice.
pub const DEPTH_MAX: u32 = (1 << (64 - PARENT_BITS)) - 2;

/// Every state that was found.
pub struct Seen {
    shards: Vec<Mutex<Shard>>,
    bytes: AtomicU64,
}

/// What became of a state that was come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visit {
    /// Nobody was there before.
    First,
    /// Somebody was, after so many moves.
    Again {
        /// So many.
        depth: u32,
    },
}

impl Seen {
    pub fn new() -> Self {
        let shards: Vec<_> = (0..SHARDS).map(|_| Mutex::new(Shard::new())).collect();
        let bytes = AtomicU64::new((SHARDS * Shard::FIRST * size_of::<Entry>()) as u64);
        Self { shards, bytes }
    }

    /// A state is come to after so many moves, from another one. Of several that lead there in
    /// equally many, the one with the least hash is kept, so that threads do not matter.
    pub fn visit(&self, hash: u64, depth: u32, parent: u64) -> Visit {
        let hash = hash.max(1); // 0 is a free place.
        let shard = &self.shards[hash as usize % SHARDS];
        let mut shard = held(shard.lock());
        let (visit, grown) = shard.visit(hash, depth, parent & PARENT_MASK);
        self.bytes.fetch_add((grown * size_of::<Entry>()) as u64, Ordering::Relaxed);
        visit
    }

    /// The low bits of the state before the one with these low bits, which is so many moves deep.
    pub fn parent(&self, low: u64, depth: u32) -> Option<u64> {
        let low = low & PARENT_MASK;
        let shard = &self.shards[low.max(1) as usize % SHARDS];
        held(shard.lock()).parent(low, depth)
    }

    /// How much memory it takes.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }
}

/// Whether a hash has these low bits, which is all that is kept of a state before another.
pub fn is_that(hash: u64, low: u64) -> bool {
    hash.max(1) & PARENT_MASK == low & PARENT_MASK
}

#[derive(Clone, Copy, Default)]
struct Entry {
    hash: u64,
    /// How many moves, and the low bits of the state before.
    path: u64,
}

impl Entry {
    fn depth(self) -> u32 {
        (self.path >> PARENT_BITS) as u32
    }
}

/// A table with open addressing: the place of a hash is free, or taken by it or by another.
struct Shard {
    entries: Vec<Entry>,
    taken: usize,
}

impl Shard {
    const FIRST: usize = 1 << 8;

    fn new() -> Self {
        Self { entries: vec![Entry::default(); Self::FIRST], taken: 0 }
    }

    fn place(&self, hash: u64) -> usize {
        (hash as usize / SHARDS) & (self.entries.len() - 1)
    }

    fn visit(&mut self, hash: u64, depth: u32, parent: u64) -> (Visit, usize) {
        let path = u64::from(depth) << PARENT_BITS | parent;
        let mask = self.entries.len() - 1;
        let mut place = self.place(hash);
        loop {
            let entry = &mut self.entries[place];
            if entry.hash == hash {
                if entry.depth() == depth {
                    entry.path = entry.path.min(path);
                }
                return (Visit::Again { depth: entry.depth() }, 0);
            }
            if entry.hash == 0 {
                *entry = Entry { hash, path };
                self.taken += 1;
                return (Visit::First, self.grow());
            }
            place = (place + 1) & mask;
        }
    }

    /// By how many places it has grown.
    fn grow(&mut self) -> usize {
        let size = self.entries.len();
        if self.taken * FULL.1 <= size * FULL.0 {
            return 0;
        }
        let small = std::mem::replace(&mut self.entries, vec![Entry::default(); 2 * size]);
        let mask = self.entries.len() - 1;
        for entry in small.into_iter().filter(|entry| entry.hash != 0) {
            let mut place = self.place(entry.hash);
            while self.entries[place].hash != 0 {
                place = (place + 1) & mask;
            }
            self.entries[place] = entry;
        }
        size
    }

    fn parent(&self, low: u64, depth: u32) -> Option<u64> {
        let mask = self.entries.len() - 1;
        let mut place = self.place(low); // The table is smaller than the low bits can tell.
        loop {
            let entry = self.entries[place];
            if entry.hash == 0 {
                return None;
            }
            if entry.hash & PARENT_MASK == low && entry.depth() == depth {
                return Some(entry.path & PARENT_MASK);
            }
            place = (place + 1) & mask;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_new_once_and_remembers_how_it_was_come_to() {
        let seen = Seen::new();
        assert_eq!(seen.visit(77 << 50 | 5, 0, 0), Visit::First);
        for state in 1..20_000_u64 {
            let hash = crate::intern::mix(state);
            assert_eq!(seen.visit(hash, 1, 77 << 50 | 5), Visit::First);
            assert_eq!(seen.visit(hash, 2, 9), Visit::Again { depth: 1 });
            assert_eq!(seen.parent(hash, 1), Some(5));
        }
        assert_eq!(seen.parent(5, 0), Some(0));
        assert_eq!(seen.parent(5, 1), None);
    }

    #[test]
    fn of_several_ways_of_one_length_the_least_is_kept() {
        let seen = Seen::new();
        seen.visit(1, 3, 30);
        seen.visit(1, 3, 20);
        seen.visit(1, 3, 25);
        assert_eq!(seen.parent(1, 3), Some(20));
    }
}
