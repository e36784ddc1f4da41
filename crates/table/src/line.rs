//! A lock in a graph reduction: who is in the way there, and who is kept out.

use crate::front::{Front, Spot};
use crate::lock::Lock;
use crate::{Mode, Place};
use std::collections::{BTreeMap, BTreeSet};

/// A lock, with its queue as far as it is reached.
pub(crate) struct Line<'a> {
    pub lock: &'a Lock,
    pub up_to: Place,
    /// For who wants it exclusively, or a permit: all are in the way.
    alone: Front,
    /// For who shares it: only who does not is in the way.
    sharing: Front,
    pub entrants: Entrants,
}

/// The parties at a lock that may enter again what they hold.
#[derive(Default)]
pub(crate) struct Entrants {
    pub owners: BTreeSet<usize>,
    pub inside: BTreeSet<usize>,
}

impl<'a> Line<'a> {
    pub fn of(lock: &'a Lock) -> Self {
        let up_to = Place(0);
        Self {
            lock,
            up_to,
            alone: Front::default(),
            sharing: Front::default(),
            entrants: Entrants::default(),
        }
    }

    pub fn front(&self, mode: Mode) -> &Front {
        if mode == Mode::Shared { &self.sharing } else { &self.alone }
    }

    pub fn front_mut(&mut self, mode: Mode) -> &mut Front {
        if mode == Mode::Shared { &mut self.sharing } else { &mut self.alone }
    }

    pub fn block(&mut self, party: usize, spot: Spot, mode: Mode) {
        self.alone.block(party, spot);
        if mode != Mode::Shared {
            self.sharing.block(party, spot);
        }
    }

    pub fn unblock(&mut self, party: usize, spot: Spot) {
        self.alone.unblock(party, spot);
        self.sharing.unblock(party, spot);
    }

    pub fn unblock_holds(&mut self, party: usize, steps: &mut usize) {
        self.unblock_all(party, |spot| matches!(spot, Spot::Hold(_)), steps);
    }

    pub fn unblock_all(&mut self, party: usize, gone: impl Fn(&Spot) -> bool, steps: &mut usize) {
        let ways = self.alone.ways_of(party);
        *steps += ways.len();
        for spot in ways.into_iter().filter(gone) {
            self.unblock(party, spot);
        }
    }

    /// All who are no longer kept out.
    pub fn pop_all_free(&mut self, steps: &mut usize) -> Vec<Place> {
        if let Some(n) = self.lock.permits() {
            return self.pop_permitted(n as usize, steps);
        }
        let mut free = Vec::new();
        free.extend(std::iter::from_fn(|| self.alone.pop_free()));
        free.extend(std::iter::from_fn(|| self.sharing.pop_free()));
        *steps += free.len() + 1;
        free
    }

    /// The same, where several may be inside: so many in the way keep somebody out.
    pub fn pop_permitted(&mut self, n: usize, steps: &mut usize) -> Vec<Place> {
        let mut ways = self.alone.ways().iter().peekable();
        let mut slots = Slots::default();
        let mut free = Vec::new();
        for (kept, party) in self.alone.kept() {
            *steps += 1;
            while let Some((spot, other)) = ways.next_if(|(spot, _)| **spot < Spot::Waiter(kept.0))
            {
                *steps += 1;
                slots.take(*other, *spot, &self.entrants);
            }
            if slots.total - slots.most >= n {
                break; // Whoever comes later is kept out by as many.
            }
            if slots.of_others(*party) < n {
                free.push((*kept, *party));
            }
        }
        for (kept, party) in &free {
            self.alone.let_go(*party, *kept);
        }
        free.into_iter().map(|(kept, _)| kept.1).collect()
    }
}

/// How many permits those in the way take.
#[derive(Default)]
struct Slots {
    of: BTreeMap<usize, usize>,
    total: usize,
    /// The most that one party takes.
    most: usize,
    owners: BTreeSet<usize>,
}

impl Slots {
    /// A thread of control takes one for all its requests in line, and none if it is inside.
    fn take(&mut self, party: usize, spot: Spot, entrants: &Entrants) {
        let is_waiter = matches!(spot, Spot::Waiter(_));
        let again = entrants.inside.contains(&party)
            || (entrants.owners.contains(&party) && self.owners.contains(&party));
        if is_waiter && again {
            return;
        }
        if is_waiter {
            self.owners.insert(party);
        }
        let of_party = self.of.entry(party).or_default();
        *of_party += 1;
        self.total += 1;
        self.most = self.most.max(*of_party);
    }

    fn of_others(&self, party: usize) -> usize {
        self.total - self.of.get(&party).copied().unwrap_or(0)
    }
}
