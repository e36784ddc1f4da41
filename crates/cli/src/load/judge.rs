//! Watches clients enter and leave, from one process that sees all of them.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// A client is inside from the moment that it hears of its grant to the moment before it asks for
/// its release. Whoever else is inside then has the lock at the same time.
#[derive(Debug)]
pub struct Judge {
    inside: AtomicU32,
    overlaps: AtomicU64,
    entered: Mutex<Entered>,
    /// Entries of each client.
    counts: Vec<AtomicU64>,
    /// Those counts at the moment when the first client was through.
    at_first: Mutex<Option<Vec<u64>>>,
}

#[derive(Debug, Default)]
struct Entered {
    last: Option<(usize, u64)>,
    handoffs: u64,
    falls: u64,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// Entries, of all clients.
    pub entries: u64,
    /// Entries while somebody else was inside.
    pub overlaps: u64,
    /// Entries with a fence that was not larger than the one before.
    pub falls: u64,
    /// Entries after one of another client.
    pub handoffs: u64,
    /// Jain's index of the entries that each client had when the first was through.
    pub fairness: f64,
}

impl Judge {
    /// Of so many clients.
    pub fn new(clients: usize) -> Self {
        Self {
            inside: AtomicU32::new(0),
            overlaps: AtomicU64::new(0),
            entered: Mutex::default(),
            counts: (0..clients).map(|_| AtomicU64::new(0)).collect(),
            at_first: Mutex::default(),
        }
    }

    /// A client has heard of its grant.
    pub fn enters(&self, client: usize, fence: u64) {
        if self.inside.fetch_add(1, Ordering::SeqCst) > 0 {
            self.overlaps.fetch_add(1, Ordering::SeqCst);
        }
        self.counts[client].fetch_add(1, Ordering::SeqCst);
        let mut entered = self.entered.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((before, latest)) = entered.last.replace((client, fence)) {
            entered.handoffs += u64::from(before != client);
            entered.falls += u64::from(fence <= latest);
        }
    }

    /// A client is about to ask for its release.
    pub fn leaves(&self) {
        self.inside.fetch_sub(1, Ordering::SeqCst);
    }

    /// A client has had all its entries.
    pub fn is_through(&self) {
        let mut at_first = self.at_first.lock().unwrap_or_else(PoisonError::into_inner);
        at_first.get_or_insert_with(|| self.counted());
    }

    /// What came of it, when all clients have ended.
    pub fn verdict(&self) -> Verdict {
        let entered = self.entered.lock().unwrap_or_else(PoisonError::into_inner);
        let at_first = self.at_first.lock().unwrap_or_else(PoisonError::into_inner);
        let counts = at_first.clone().unwrap_or_else(|| self.counted());
        Verdict {
            entries: self.counted().iter().sum(),
            overlaps: self.overlaps.load(Ordering::SeqCst),
            falls: entered.falls,
            handoffs: entered.handoffs,
            fairness: jain(&counts),
        }
    }

    fn counted(&self) -> Vec<u64> {
        self.counts.iter().map(|count| count.load(Ordering::SeqCst)).collect()
    }
}

/// Jain's index: 1 if all have the same, 1/n if one has everything.
pub(super) fn jain(counts: &[u64]) -> f64 {
    let sum: f64 = counts.iter().map(|&count| count as f64).sum();
    let squares: f64 = counts.iter().map(|&count| (count as f64).powi(2)).sum();
    if squares == 0.0 { 1.0 } else { sum.powi(2) / (counts.len() as f64 * squares) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_inside_are_an_overlap_and_an_equal_fence_is_a_fall() {
        let judge = Judge::new(2);
        judge.enters(0, 5);
        judge.leaves();
        judge.enters(1, 7);
        judge.enters(0, 7);
        judge.leaves();
        judge.leaves();
        let verdict = judge.verdict();
        assert_eq!((verdict.entries, verdict.handoffs), (3, 2));
        assert_eq!((verdict.overlaps, verdict.falls), (1, 1));
    }

    #[test]
    fn fairness_is_judged_when_the_first_is_through() {
        let judge = Judge::new(2);
        for fence in 1..=4 {
            judge.enters(0, fence);
            judge.leaves();
        }
        judge.is_through();
        for fence in 5..=8 {
            judge.enters(1, fence);
            judge.leaves();
        }
        judge.is_through();
        assert_eq!(judge.verdict().fairness, 0.5, "one had all of it, the other nothing");
        assert_eq!(jain(&[3, 3, 3]), 1.0);
    }
}
