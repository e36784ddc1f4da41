//! The original's lock: a counting semaphore that begins at one, with all its faults.
//!
//! Anybody may release, also twice, and then two are inside. Whoever hung up still stands in line,
//! and what it is given is lost. There is no order: the notes say that the next to be let in is
//! whoever gets hold of the semaphore first, so here it is anyone of those who wait.

use super::access::{Ticket, WAITERS_MAX};
use std::collections::VecDeque;
use std::fmt;
use std::hash::{BuildHasher, RandomState};

/// A semaphore and those who wait for it.
pub struct Semaphore {
    /// How many may still pass.
    value: u32,
    line: Vec<Ticket>,
    granted: VecDeque<Ticket>,
    /// How many have asked.
    asked: u32,
    /// A number below the one given.
    choose: Box<dyn FnMut(usize) -> usize + Send>,
}

impl Semaphore {
    /// One may pass; who of several is left to chance.
    pub fn new() -> Self {
        Self::choosing(|bound| {
            let drawn = RandomState::new().hash_one(bound);
            (drawn % bound as u64) as usize
        })
    }

    fn choosing(choose: impl FnMut(usize) -> usize + Send + 'static) -> Self {
        let choose = Box::new(choose);
        Self { value: 1, line: Vec::new(), granted: VecDeque::new(), asked: 0, choose }
    }

    /// Somebody wants to pass; `None` if too many wait.
    pub fn acquire(&mut self) -> Option<Ticket> {
        if self.line.len() >= WAITERS_MAX as usize {
            return None;
        }
        let seq = self.asked.checked_add(1)?;
        self.asked = seq;
        let ticket = Ticket { place: 0, seq };
        self.line.push(ticket);
        self.pump();
        Some(ticket)
    }

    /// One more may pass.
    pub fn release(&mut self) {
        self.value = self.value.saturating_add(1);
        self.pump();
    }

    /// The next one that passed since this was last asked.
    pub fn next_granted(&mut self) -> Option<Ticket> {
        self.granted.pop_front()
    }

    fn pump(&mut self) {
        while self.value > 0 && !self.line.is_empty() {
            self.value -= 1;
            let next = (self.choose)(self.line.len());
            self.granted.push_back(self.line.remove(next));
        }
    }
}

impl fmt::Debug for Semaphore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Semaphore")
            .field("value", &self.value)
            .field("line", &self.line)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn granted(semaphore: &mut Semaphore) -> Vec<u32> {
        std::iter::from_fn(|| semaphore.next_granted()).map(|ticket| ticket.seq).collect()
    }

    #[test]
    fn anyone_of_those_who_wait_may_be_next() {
        let mut semaphore = Semaphore::choosing(|bound| bound - 1);
        for _ in 0..4 {
            semaphore.acquire().expect("there is room");
        }
        assert_eq!(granted(&mut semaphore), [1]);
        for last in [4, 3, 2] {
            semaphore.release();
            assert_eq!(granted(&mut semaphore), [last]);
        }
    }

    #[test]
    fn one_release_too_many_lets_two_in() {
        let mut semaphore = Semaphore::new();
        semaphore.release();
        semaphore.acquire().expect("there is room");
        semaphore.acquire().expect("there is room");
        semaphore.acquire().expect("there is room");
        assert_eq!(granted(&mut semaphore), [1, 2]);
    }

    #[test]
    fn chance_stays_within_the_line() {
        let mut semaphore = Semaphore::new();
        assert!((1..200).all(|bound| (semaphore.choose)(bound) < bound));
        let drawn = |choose: &mut dyn FnMut(usize) -> usize| (0..64).map(|_| choose(1_000)).max();
        assert_ne!(drawn(&mut semaphore.choose), Some(0), "it always takes the first");
    }

    #[test]
    fn only_so_many_may_wait() {
        let mut semaphore = Semaphore::new();
        let asked = std::iter::from_fn(|| semaphore.acquire()).take(10_000).count();
        assert_eq!(asked as u32, WAITERS_MAX + 1);
    }
}
