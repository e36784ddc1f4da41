//! The visited set: every state that was found, by its hash, with its depth and the state before it
//! on a shortest way (its parent).
//!
//! One table for all threads, which come to states without waiting for each other: a place is free
//! or belongs to a hash for ever, and who comes first takes it. Only while the table is made larger
//! must everybody keep away. All states after so many moves are looked at before those after more,
//! so whatever others write meanwhile is about states that are equally deep.

use crate::poison::held;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{RwLock, RwLockReadGuard};

/// So many places there are in the beginning.
const FIRST: usize = 1 << 14;
/// The table is made larger when more than 3 of 4 places would be taken.
const FULL: (usize, usize) = (3, 4);
/// When more than 11 of 16 are, that is not far off.
const NEARLY_FULL: (usize, usize) = (11, 16);
/// So many bits of a hash are kept of the state before.
const PARENT_BITS: u32 = 48;
const PARENT_MASK: u64 = (1 << PARENT_BITS) - 1;

/// The most moves that can be told apart; there is no state that takes more in practice.
pub const DEPTH_MAX: u32 = (1 << (64 - PARENT_BITS)) - 2;

/// Every state that was found.
pub struct Visited {
    table: RwLock<Table>,
    bytes: AtomicU64,
}

/// A state is come to from another one: the hashes of both.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    pub hash: u64,
    pub from: u64,
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

impl Visited {
    pub fn new() -> Self {
        let table = Table::new(FIRST);
        Self { bytes: AtomicU64::new(table.bytes()), table: RwLock::new(table) }
    }

    /// States are come to after so many moves. Of several states that lead to the same one in
    /// equally many, the one with the least hash is kept, so that threads do not matter.
    pub fn visit(&self, arrivals: &[Arrival], depth: u32, visits: &mut Vec<Visit>) {
        let (table, room) = self.with_room(arrivals);
        visits.clear();
        visits.extend(arrivals.iter().map(|arrival| table.visit(*arrival, depth)));
        let taken = visits.iter().filter(|visit| **visit == Visit::First).count();
        table.give_back(room - taken);
    }

    /// The table, in which places for these were set aside, and how many.
    fn with_room(&self, arrivals: &[Arrival]) -> (RwLockReadGuard<'_, Table>, usize) {
        loop {
            let table = held(self.table.read());
            // This looks at all places before any matters, so that memory is waited for only once.
            let known = arrivals.iter().filter(|arrival| table.is_at_home(arrival.hash)).count();
            let room = arrivals.len() - known;
            if table.set_aside(room) {
                return (table, room);
            }
            drop(table);
            self.grow(room);
        }
    }

    fn grow(&self, room: usize) {
        let mut table = held(self.table.write());
        while !table.has_room(room) {
            table.grow();
        }
        self.bytes.store(table.bytes(), Relaxed);
    }

    /// The low bits of the state before the one with these low bits, which is so many moves deep.
    pub fn parent(&self, low: u64, depth: u32) -> Option<u64> {
        held(self.table.read()).parent(low & PARENT_MASK, depth)
    }

    /// How much memory it takes, or will take in a moment: while it is made larger there are two
    /// tables, the second twice as large as the first.
    pub fn bytes_soon(&self) -> u64 {
        let soon = held(self.table.read()).is_nearly_full();
        self.bytes() * if soon { 3 } else { 1 }
    }

    /// How much memory it takes.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Relaxed)
    }
}

/// 0 is the hash of a free place.
fn not_free(hash: u64) -> u64 {
    hash.max(1)
}

/// Whether a hash has these low bits, which is all that is kept of a state before another.
pub fn is_that(hash: u64, low: u64) -> bool {
    not_free(hash) & PARENT_MASK == low & PARENT_MASK
}

#[derive(Default)]
struct Entry {
    hash: AtomicU64,
    /// How many moves, and the low bits of the state before; all bits are turned over, so that the
    /// least is the greatest, and that nothing was written yet is less than anything.
    path: AtomicU64,
}

fn path(depth: u32, from: u64) -> u64 {
    !(u64::from(depth) << PARENT_BITS | from & PARENT_MASK)
}

fn depth_of(path: u64) -> u32 {
    (!path >> PARENT_BITS) as u32
}

/// A table with open addressing: the place of a hash is free, or taken by it or by another.
struct Table {
    entries: Vec<Entry>,
    /// How many places are taken or set aside.
    taken: AtomicUsize,
}

impl Table {
    fn new(size: usize) -> Self {
        let entries = (0..size).map(|_| Entry::default()).collect();
        Self { entries, taken: AtomicUsize::new(0) }
    }

    fn bytes(&self) -> u64 {
        (self.entries.len() * size_of::<Entry>()) as u64
    }

    fn has_room(&self, room: usize) -> bool {
        (self.taken.load(Relaxed) + room) * FULL.1 <= self.entries.len() * FULL.0
    }

    fn is_nearly_full(&self) -> bool {
        self.taken.load(Relaxed) * NEARLY_FULL.1 >= self.entries.len() * NEARLY_FULL.0
    }

    /// Sets so many places aside, if there is room. There is always a free place left then.
    fn set_aside(&self, room: usize) -> bool {
        self.taken.fetch_add(room, Relaxed);
        let fits = self.has_room(0);
        if !fits {
            self.give_back(room);
        }
        fits
    }

    fn give_back(&self, room: usize) {
        self.taken.fetch_sub(room, Relaxed);
    }

    fn home(&self, hash: u64) -> usize {
        hash as usize & (self.entries.len() - 1)
    }

    fn after(&self, place: usize) -> usize {
        (place + 1) & (self.entries.len() - 1)
    }

    fn is_at_home(&self, hash: u64) -> bool {
        let hash = not_free(hash);
        self.entries[self.home(hash)].hash.load(Relaxed) == hash
    }

    fn visit(&self, arrival: Arrival, depth: u32) -> Visit {
        let hash = not_free(arrival.hash);
        let path = path(depth, arrival.from);
        let mut place = self.home(hash);
        loop {
            let entry = &self.entries[place];
            let mut owner = entry.hash.load(Relaxed);
            if owner == 0 {
                match entry.hash.compare_exchange(0, hash, Relaxed, Relaxed) {
                    Ok(_) => {
                        entry.path.fetch_max(path, Relaxed);
                        return Visit::First;
                    }
                    Err(other) => owner = other,
                }
            }
            if owner == hash {
                return entry.come_again(path, depth);
            }
            place = self.after(place);
        }
    }

    fn grow(&mut self) {
        let mut larger = Self::new(2 * self.entries.len());
        let taken = *self.taken.get_mut();
        for entry in self.entries.drain(..) {
            let hash = entry.hash.into_inner();
            if hash != 0 {
                let mut place = larger.home(hash);
                while *larger.entries[place].hash.get_mut() != 0 {
                    place = larger.after(place);
                }
                larger.entries[place] = Entry { hash: hash.into(), path: entry.path };
            }
        }
        larger.taken = taken.into();
        *self = larger;
    }

    fn parent(&self, low: u64, depth: u32) -> Option<u64> {
        let mut place = self.home(low.max(1)); // The table is smaller than the low bits can tell.
        loop {
            let entry = &self.entries[place];
            let hash = entry.hash.load(Relaxed);
            let path = entry.path.load(Relaxed);
            if hash == 0 {
                return None;
            }
            if hash & PARENT_MASK == low && depth_of(path) == depth {
                return Some(!path & PARENT_MASK);
            }
            place = self.after(place);
        }
    }
}

impl Entry {
    fn come_again(&self, path: u64, depth: u32) -> Visit {
        let before = self.path.load(Relaxed);
        // Whoever took the place just now, and has not yet said from where, is equally deep.
        if before != 0 && depth_of(before) != depth {
            return Visit::Again { depth: depth_of(before) };
        }
        if path > before {
            self.path.fetch_max(path, Relaxed);
        }
        Visit::Again { depth }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visit(seen: &Visited, hash: u64, depth: u32, from: u64) -> Visit {
        let mut visits = Vec::new();
        seen.visit(&[Arrival { hash, from }], depth, &mut visits);
        visits[0]
    }

    #[test]
    fn a_state_is_new_once_and_remembers_how_it_was_come_to() {
        let seen = Visited::new();
        assert_eq!(visit(&seen, 77 << 50 | 5, 0, 0), Visit::First);
        for state in 1..20_000_u64 {
            let hash = crate::intern::mix(state);
            assert_eq!(visit(&seen, hash, 1, 77 << 50 | 5), Visit::First);
            assert_eq!(visit(&seen, hash, 2, 9), Visit::Again { depth: 1 });
            assert_eq!(seen.parent(hash, 1), Some(5));
        }
        assert_eq!(seen.parent(5, 0), Some(0));
        assert_eq!(seen.parent(5, 1), None);
    }

    #[test]
    fn of_several_ways_of_one_length_the_least_is_kept() {
        let seen = Visited::new();
        visit(&seen, 1, 3, 30);
        visit(&seen, 1, 3, 20);
        visit(&seen, 1, 3, 25);
        assert_eq!(seen.parent(1, 3), Some(20));
    }

    #[test]
    fn threads_that_come_to_the_same_states_at_once_find_each_exactly_once() {
        const STATES: u64 = 60_000; // More than there is room for in the beginning.
        let seen = Visited::new();
        let come = |from: u64| {
            let arrivals: Vec<_> = (1..=STATES)
                .map(|state| Arrival { hash: crate::intern::mix(state), from })
                .collect();
            let mut visits = Vec::new();
            let mut first = 0;
            for some in arrivals.chunks(50) {
                seen.visit(some, 4, &mut visits);
                first += visits.iter().filter(|visit| **visit == Visit::First).count() as u64;
            }
            first
        };
        let found: u64 = std::thread::scope(|scope| {
            let threads = [31, 30, 32].map(|from| scope.spawn(move || come(from)));
            threads.into_iter().map(|thread| thread.join().expect("it only counts")).sum()
        });
        assert_eq!(found, STATES);
        for state in 1..=STATES {
            assert_eq!(seen.parent(crate::intern::mix(state), 4), Some(30));
        }
    }
}
