//! Fencing tokens (fences) of leaderships are counted here; their layout is that of all fences,
//! `FenceLayout`. Those of locks are counted by their algorithms: by the term and what was granted
//! in it where a leader grants them, otherwise where the algorithm indicates `Entered`.

use conclave_api::limits;
use conclave_core::{FENCE_END, FenceLayout};
use serde::{Deserialize, Serialize};

const _: () = assert!(FENCE_END == limits::FENCE_END, "one end, told to clients too");

/// The leaderships that this node has granted in a term.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counter {
    term: u64,
    granted: u32,
}

impl Counter {
    /// The fence of the next leadership in this term; `None` when they are used up.
    ///
    /// Only the one node that leads in a term grants in it, so the fence is larger than all others
    /// before.
    pub fn next(&mut self, term: u64) -> Option<u64> {
        self.next_in(FenceLayout::default(), term)
    }

    fn next_in(&mut self, layout: FenceLayout, term: u64) -> Option<u64> {
        let granted = if term == self.term { self.granted } else { 0 };
        let fence = layout.next(term, granted).filter(|_| term >= self.term)?;
        *self = Self { term, granted: granted + 1 };
        Some(fence)
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
    fn a_term_that_is_used_up_grants_nothing_until_there_is_a_new_one() {
        let mut counter = Counter::default();
        let small = FenceLayout::new(2);
        let fences = [1, 1, 1, 1, 1, 2].map(|term| counter.next_in(small, term));
        assert_eq!(fences, [Some(5), Some(6), Some(7), None, None, Some(9)]);
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
