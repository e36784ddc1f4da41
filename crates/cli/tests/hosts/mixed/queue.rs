//! First in, first out: who was seen to wait, in which order, and who was let in.

use std::collections::{BTreeMap, BTreeSet};

/// So many more may be let in before somebody is missed: one who was let in and did not hear of it
/// is counted when it gives up.
const SLACK: u64 = 5;

/// What was seen of a queue. Whoever waits has a name that nobody else ever has.
#[derive(Debug, Default)]
pub struct Queue {
    /// Those seen ahead of somebody.
    ahead: BTreeMap<String, BTreeSet<String>>,
    /// The entry by which somebody must be in.
    due: BTreeMap<String, u64>,
    /// With which fence.
    entered: BTreeMap<String, u64>,
    /// Somebody who was behind them is in, so they cannot come any more.
    passed: BTreeMap<String, String>,
}

impl Queue {
    /// The queue was seen like this when there had been so many entries. Returns how many things
    /// this lets one check.
    pub fn seen(&mut self, waiters: &[String], entries: u64) -> u64 {
        for (place, waiter) in (1..).zip(waiters) {
            if self.entered.contains_key(waiter) {
                continue; // It is in by now.
            }
            let due = entries + place + 1 + SLACK;
            let known = self.due.entry(waiter.clone()).or_insert(due);
            *known = due.min(*known);
            let ahead = self.ahead.entry(waiter.clone()).or_default();
            ahead.extend(waiters[..place as usize - 1].iter().cloned());
        }
        waiters.len() as u64
    }

    /// Somebody was let in, as the entry of this number.
    pub fn enters(&mut self, who: &str, fence: u64, entry: u64) {
        if let Some(other) = self.passed.get(who) {
            panic!("{other} was let in before {who}, which stood ahead of it");
        }
        self.due.remove(who);
        for other in self.ahead.remove(who).unwrap_or_default() {
            match self.entered.get(&other) {
                Some(before) => {
                    assert!(*before < fence, "{who} has fence {fence}, {before} before")
                }
                None => drop(self.passed.insert(other, who.to_string())),
            }
        }
        self.entered.insert(who.to_string(), fence);
        let missed = self.due.iter().find(|(_, due)| **due < entry);
        assert_eq!(missed, None, "it waits and is passed over, at entry {entry}");
    }

    /// Somebody does not wait any more.
    pub fn leaves(&mut self, who: &str) {
        self.due.remove(who);
        self.ahead.remove(who);
    }
}

#[test]
fn whoever_is_passed_over_or_forgotten_is_noticed() {
    let names = |all: &[&str]| all.iter().map(ToString::to_string).collect::<Vec<_>>();
    let fails = |story: fn(&mut Queue)| {
        let mut queue = Queue::default();
        queue.seen(&["a", "b"].map(str::to_string), 0);
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| story(&mut queue))).is_err()
    };
    assert!(!fails(|queue| {
        queue.enters("a", 7, 1);
        queue.enters("b", 8, 2);
    }));
    assert!(!fails(|queue| {
        queue.leaves("a");
        queue.enters("b", 8, 1);
    }));
    assert!(fails(|queue| {
        queue.enters("b", 7, 1);
        queue.enters("a", 8, 2);
    }));
    assert!(fails(|queue| (1..20).for_each(|entry| queue.enters("other", entry, entry))));
    assert_eq!(Queue::default().seen(&names(&["a"]), 3), 1);
}
