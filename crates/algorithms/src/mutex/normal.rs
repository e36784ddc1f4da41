//! Normal forms for the model checker, what those of all algorithms share: setting back counters of
//! which only differences count.
//!
//! A normal form puts one state in the place of all from which exactly the same can happen. Most
//! algorithms number their requests or read logical clocks, so no state of theirs comes twice; but
//! what they do with these numbers is to compare them and to count on. Taking the same amount from
//! all numbers of one kind therefore changes nothing that can be seen. What nobody will ever look
//! at again, a fixed value replaces: 0. For this, 0 is less than all numbers that still count.
//!
//! All this is about what can happen, and so leaves out three things. A fence only shows in what
//! the application is told: it becomes 0. How long a timer runs does not matter where it may fire
//! at any moment. And a node that comes back without its disk starts with numbers that nobody has
//! set back: where this may happen, there is no normal form.

use conclave_core::{NodeId, Process, Snapshot};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Add, Sub};

/// Takes the same amount from all numbers that `each` shows, so that the smallest becomes 1. Where
/// nothing has been counted yet, this adds 1.
pub(super) fn set_back<A, N>(all: &mut A, each: impl Fn(&mut A, &mut dyn FnMut(&mut N)))
where
    N: Copy + Ord + From<u8> + Add<Output = N> + Sub<Output = N>,
{
    let mut least = None;
    each(all, &mut |&mut number| {
        least = Some(least.map_or(number, |least: N| least.min(number)));
    });
    if let Some(least) = least {
        each(all, &mut |number| *number = *number - least + N::from(1));
    }
}

/// The numbers of one kind that are about, by a key: only those under the same key are compared.
pub(super) struct Ranks<K>(BTreeMap<K, BTreeSet<u32>>);

impl<K: Ord> Ranks<K> {
    /// Of all numbers that `each` shows.
    pub(super) fn of<A>(all: &mut A, each: impl Fn(&mut A, &mut dyn FnMut(K, &mut u32))) -> Self {
        let mut known = BTreeMap::<K, BTreeSet<u32>>::new();
        each(all, &mut |key, &mut number| {
            known.entry(key).or_default().insert(number);
        });
        Self(known)
    }

    /// Puts in the place of each number how many of its kind there are from 1 up to it. Where all
    /// counting begins, at 0, it stays.
    pub(super) fn give<A>(&self, all: &mut A, each: impl Fn(&mut A, &mut dyn FnMut(K, &mut u32))) {
        each(all, &mut |key, number| {
            let known = self.0.get(&key).into_iter().flatten();
            *number = known.filter(|&known| (1..=*number).contains(known)).count() as u32;
        });
    }
}

/// Each number that `each` shows becomes its rank.
pub(super) fn rank<A, K: Ord>(all: &mut A, each: impl Fn(&mut A, &mut dyn FnMut(K, &mut u32))) {
    Ranks::of(all, &each).give(all, &each);
}

/// Every message under way, with its sender and receiver.
pub(super) fn messages<P: Process>(
    all: &mut Snapshot<P>,
) -> impl Iterator<Item = (NodeId, NodeId, &mut P::Message)> {
    all.links
        .iter_mut()
        .flat_map(|(from, to, messages)| messages.iter_mut().map(|message| (*from, *to, message)))
}

/// Forgets the messages under way that nobody will do anything about: `counts` tells, from all
/// nodes, sender, receiver and the message, whether one can still make a difference.
pub(super) fn keep<P: Process>(
    all: &mut Snapshot<P>,
    counts: impl Fn(&[P], NodeId, NodeId, &P::Message) -> bool,
) {
    for (from, to, messages) in &mut all.links {
        messages.retain(|message| counts(&all.nodes, *from, *to, message));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_becomes_one_and_differences_stay() {
        let each = |numbers: &mut [u32; 3], show: &mut dyn FnMut(&mut u32)| {
            numbers.iter_mut().for_each(show);
        };
        let mut numbers = [9, 7, 12];
        set_back(&mut numbers, each);
        assert_eq!(numbers, [3, 1, 6]);
        let mut uncounted = [0, 7, 12];
        set_back(&mut uncounted, each);
        assert_eq!(uncounted, [1, 8, 13]);
    }

    #[test]
    fn a_rank_is_among_equals_and_nothing_counted_stays_so() {
        let each = |numbers: &mut [(char, u32); 6], show: &mut dyn FnMut(char, &mut u32)| {
            numbers.iter_mut().for_each(|(key, number)| show(*key, number));
        };
        let mut numbers = [('a', 9), ('b', 7), ('a', 0), ('a', 4), ('a', 9), ('b', 0)];
        rank(&mut numbers, each);
        assert_eq!(numbers, [('a', 2), ('b', 1), ('a', 0), ('a', 1), ('a', 2), ('b', 0)]);
    }
}
