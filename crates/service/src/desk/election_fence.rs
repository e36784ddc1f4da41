//! Fencing tokens (fences) of leaderships are made here: the term of the node in the high bits, a
//! counter in the low ones. Those of locks are made by their algorithms: by `mutex/epoch.rs` where
//! a leader grants them, otherwise where the algorithm indicates `Entered`.

use conclave_api::limits::FENCE_END;
use serde::{Deserialize, Serialize};

/// How many bits of a fence count leaderships within a term.
const COUNTER_BITS: u32 = 26;
/// The largest term whose fences stay below the end of all fences.
const TERM_MAX: u64 = (FENCE_END >> COUNTER_BITS) - 1;

/// The leaderships that this node has granted in a term.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counter {
    term: u64,
    granted: u64,
}

impl Counter {
    /// The fence of the next leadership in this term; `None` when they are used up.
    ///
    /// Only the one node that leads in a term grants in it, so the fence is larger than all others
    /// before.
    pub fn next(&mut self, term: u64) -> Option<u64> {
        let granted = if term == self.term { self.granted + 1 } else { 1 };
        if term > TERM_MAX || term < self.term || granted >= 1 << COUNTER_BITS {
            return None;
        }
        *self = Self { term, granted };
        Some((term << COUNTER_BITS) + granted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fences_rise_within_a_term_and_with_the_term() {
        let mut counter = Counter::default();
        let fences = [1, 1, 3].map(|term| counter.next(term).expect("room"));
        assert_eq!(fences, [(1 << 26) + 1, (1 << 26) + 2, (3 << 26) + 1]);
    }

    #[test]
    fn an_old_term_or_one_too_large_has_none() {
        let mut counter = Counter::default();
        assert!(counter.next(5).is_some());
        assert_eq!(counter.next(4), None);
        assert_eq!(counter.next(1 << 27), None);
        assert!(counter.next((1 << 27) - 1).is_some_and(|fence| fence < 1 << 53));
    }
}
