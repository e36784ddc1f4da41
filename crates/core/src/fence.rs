//! Fencing tokens (fences): the term of a leader in the high bits, a counter of what was granted in
//! that term in the low ones.
//!
//! Whoever leads in a term counts up and hands out no fence of another term. So the fences of a
//! later term are larger than all of an earlier one, even if its leader knows of none of them. When
//! a counter has run through its field there is no next fence: it takes a new term to go on.

/// Fences stay below this, 2^53, so that every language reads them exactly.
pub const FENCE_END: u64 = 1 << 53;

/// Where in a fence the term ends and the counter begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FenceLayout {
    counter_bits: u32,
}

/// The layout of all fences that ever left a cluster; a smaller field is for tests. In 2^26 grants
/// per term there is room for a day and a half at 500 a second, and there are 2^27 terms.
impl Default for FenceLayout {
    fn default() -> Self {
        Self { counter_bits: 26 }
    }
}

impl FenceLayout {
    /// A layout with so many bits for the counter, up to 32; the term has the rest.
    pub fn new(counter_bits: u32) -> Self {
        assert!((1..=32).contains(&counter_bits), "no counter has {counter_bits} bits");
        Self { counter_bits }
    }

    /// The fence of the `counter`th grant of a term, from 1; none if that is more than the term has
    /// room for, or the term itself is too large.
    pub fn fence(self, term: u64, counter: u32) -> Option<u64> {
        let fits = self.has_term(term) && counter <= self.counter_max();
        fits.then(|| self.first(term) + u64::from(counter))
    }

    /// The fence after the `counter`th grant of a term; none if the term is used up.
    pub fn next(self, term: u64, counter: u32) -> Option<u64> {
        self.fence(term, counter.checked_add(1)?)
    }

    /// The counter of a term in which fences up to `fence` are known: 0 if that is of an earlier
    /// term. If it is of a later one, this term has no larger fence to give, so all are used up.
    pub fn counter_of(self, term: u64, fence: u64) -> u32 {
        if !self.has_term(term) {
            return self.counter_max();
        }
        let counter = fence.saturating_sub(self.first(term));
        u32::try_from(counter).unwrap_or(u32::MAX).min(self.counter_max())
    }

    /// The term of a fence, and its counter.
    pub fn split(self, fence: u64) -> (u64, u32) {
        let term = fence >> self.counter_bits;
        (term, (fence - self.first(term)) as u32) // A counter has 32 bits at most.
    }

    /// Whether a term has fences at all: those of a larger one would not stay below [`FENCE_END`].
    pub fn has_term(self, term: u64) -> bool {
        term < FENCE_END >> self.counter_bits
    }

    fn first(self, term: u64) -> u64 {
        term << self.counter_bits
    }

    fn counter_max(self) -> u32 {
        u32::MAX >> (32 - self.counter_bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_never_runs_into_the_room_of_the_next_term() {
        let small = FenceLayout::new(2);
        let of_term = |term| (1..=9).map_while(|counter| small.fence(term, counter)).collect();
        let first: Vec<u64> = of_term(1);
        let next: Vec<u64> = of_term(2);
        assert_eq!((first, next), (vec![5, 6, 7], vec![9, 10, 11]));
        let usual = FenceLayout::default();
        let last = usual.fence(1, (1 << 26) - 1);
        assert!(last.is_some() && last < usual.fence(2, 0) && last < usual.fence(2, 1));
        assert_eq!(usual.fence(1, 1 << 26), None);
    }

    #[test]
    fn every_fence_is_below_the_end_and_a_term_beyond_it_has_none() {
        for layout in [FenceLayout::default(), FenceLayout::new(2), FenceLayout::new(32)] {
            let last = (FENCE_END >> layout.counter_bits) - 1;
            assert_eq!(layout.fence(last, layout.counter_max()), Some(FENCE_END - 1));
            for beyond in [last + 1, u64::MAX] {
                assert!(!layout.has_term(beyond));
                assert_eq!(layout.fence(beyond, 0), None);
                assert_eq!(layout.fence(last, layout.counter_of(beyond, 0)), Some(FENCE_END - 1));
            }
        }
    }

    #[test]
    fn a_fence_is_its_term_and_its_counter() {
        for layout in [FenceLayout::default(), FenceLayout::new(2), FenceLayout::new(32)] {
            for known in [(0, 0), (0, 1), (7, 0), (7, layout.counter_max())] {
                let fence = layout.fence(known.0, known.1);
                assert_eq!(fence.map(|fence| layout.split(fence)), Some(known));
            }
        }
    }

    #[test]
    fn what_is_known_of_a_term_is_counted_on_and_a_later_fence_uses_it_up() {
        let layout = FenceLayout::new(2);
        let counters = [3, 4, 6, 7, 8, u64::MAX].map(|fence| layout.counter_of(1, fence));
        assert_eq!(counters, [0, 0, 2, 3, 3, 3]);
        assert_eq!(
            [6, 8].map(|known| layout.next(1, layout.counter_of(1, known))),
            [Some(7), None]
        );
        assert_eq!(FenceLayout::new(32).next(0, u32::MAX), None);
    }
}
