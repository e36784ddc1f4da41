//! The running timers of all machines, by the moment at which they are due.

use crate::Key;
use conclave_core::{Delay, Ticks};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::collections::BTreeMap;

/// A timer as its machine names it.
type Name = Vec<u8>;

/// When it is due, and how many were set before it: unique, and in order of firing.
pub(super) type Place = (Ticks, u64);

struct Running {
    place: Place,
    after: Delay,
}

/// At most one of each name runs per machine. One that was cancelled or set anew is gone at once.
pub(super) struct Timers {
    running: BTreeMap<(Key, Name), Running>,
    due: BTreeMap<Place, (Key, Name)>,
    set: u64,
    random: Xoshiro256PlusPlus,
}

impl Timers {
    pub(super) fn new(seed: u64) -> Self {
        let random = Xoshiro256PlusPlus::seed_from_u64(seed);
        Self { running: BTreeMap::new(), due: BTreeMap::new(), set: 0, random }
    }

    /// Sets a timer and says when it will be due.
    pub(super) fn set(&mut self, now: Ticks, key: &Key, name: &[u8], after: Delay) -> Ticks {
        self.cancel(key, name);
        let at = now + self.draw(after);
        self.set += 1;
        let place = (at, self.set);
        let whose = (key.clone(), name.to_vec());
        self.due.insert(place, whose.clone());
        self.running.insert(whose, Running { place, after });
        at
    }

    pub(super) fn cancel(&mut self, key: &Key, name: &[u8]) {
        if let Some(running) = self.running.remove(&(key.clone(), name.to_vec())) {
            self.due.remove(&running.place);
        }
    }

    /// When the next one is due.
    pub(super) fn next(&self) -> Option<Ticks> {
        self.due.first_key_value().map(|(place, _)| place.0)
    }

    /// Those due by now, in order. One may be gone by the time its turn comes.
    pub(super) fn due_by(&self, now: Ticks) -> Vec<Place> {
        self.due.range(..=(now, u64::MAX)).map(|(place, _)| *place).collect()
    }

    /// Takes the timer at this place, unless it was cancelled or set anew.
    pub(super) fn take(&mut self, place: Place) -> Option<(Key, Name)> {
        let whose = self.due.remove(&place)?;
        self.running.remove(&whose);
        Some(whose)
    }

    /// Those of one machine, and how long each runs.
    pub(super) fn of(&self, key: &Key) -> Vec<(Name, Delay)> {
        self.running
            .range((key.clone(), Name::new())..)
            .take_while(|((whose, _), _)| whose == key)
            .map(|((_, name), running)| (name.clone(), running.after))
            .collect()
    }

    fn draw(&mut self, after: Delay) -> Ticks {
        let choices = after.max.since(after.min).0.saturating_add(1);
        after.min + Ticks(self.random.next_u64() % choices)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exactly(ticks: u64) -> Delay {
        Delay::exactly(Ticks(ticks))
    }

    #[test]
    fn timers_fire_in_order_of_their_deadlines() {
        let mut timers = Timers::new(1);
        let key: Key = "a".into();
        for (name, after) in [(1, 30), (2, 10), (3, 20), (4, 10), (5, 99)] {
            timers.set(Ticks(5), &key, &[name], exactly(after));
        }
        assert_eq!(timers.next(), Some(Ticks(15)));
        let due = timers.due_by(Ticks(40));
        let fired = due.into_iter().filter_map(|place| timers.take(place)).map(|(_, name)| name[0]);
        assert_eq!(fired.collect::<Vec<_>>(), [2, 4, 3, 1]);
        assert_eq!(timers.of(&key), [(vec![5], exactly(99))]);
    }

    #[test]
    fn a_timer_cancelled_or_set_anew_never_fires() {
        let mut timers = Timers::new(1);
        let (a, b): (Key, Key) = ("a".into(), "b".into());
        timers.set(Ticks(0), &a, &[1], exactly(10));
        timers.set(Ticks(0), &b, &[1], exactly(10));
        timers.set(Ticks(0), &a, &[2], exactly(10));
        let due = timers.due_by(Ticks(10));
        timers.cancel(&a, &[1]);
        timers.set(Ticks(10), &a, &[2], exactly(10));
        let fired: Vec<_> = due.into_iter().filter_map(|place| timers.take(place)).collect();
        assert_eq!(fired, [(b, vec![1])]);
        assert_eq!(timers.next(), Some(Ticks(20)));
    }

    #[test]
    fn a_delay_is_drawn_between_its_ends() {
        let mut timers = Timers::new(7);
        let key: Key = "a".into();
        let after = Delay::between(Ticks(3), Ticks(5));
        let mut drawn: Vec<u64> =
            (0..100).map(|_| timers.set(Ticks(0), &key, &[1], after).0).collect();
        drawn.sort_unstable();
        drawn.dedup();
        assert_eq!(drawn, [3, 4, 5]);
    }
}
