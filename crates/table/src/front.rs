//! The front of a queue in a graph reduction: what is still in the way there, and who is kept out.

use crate::Place;
use std::collections::{BTreeMap, BTreeSet};

/// Where something is in the way: holds come first, then the queue in its order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Spot {
    /// The hold with this number.
    Hold(usize),
    /// The waiter at this place.
    Waiter(Place),
}

/// Who is kept out: where it enters (with an earlier request of its own, if it can), and its place.
pub(crate) type Kept = (Place, Place);

/// Those who are in the way, by party, and those whom they keep out.
#[derive(Debug, Default)]
pub(crate) struct Front {
    ways: BTreeMap<usize, BTreeSet<Spot>>,
    in_order: BTreeMap<Spot, usize>,
    /// The first way of each party.
    firsts: BTreeSet<(Spot, usize)>,
    kept: BTreeMap<Kept, usize>,
    kept_of: BTreeMap<usize, BTreeSet<Kept>>,
}

impl Front {
    /// Somebody is in the way.
    pub fn block(&mut self, party: usize, spot: Spot) {
        self.in_order.insert(spot, party);
        self.change(party, |ways| ways.insert(spot));
    }

    /// And no longer.
    pub fn unblock(&mut self, party: usize, spot: Spot) {
        self.in_order.remove(&spot);
        self.change(party, |ways| ways.remove(&spot));
    }

    /// Somebody is kept out.
    pub fn keep_out(&mut self, party: usize, kept: Kept) {
        self.kept.insert(kept, party);
        self.kept_of.entry(party).or_default().insert(kept);
    }

    /// Somebody whom nobody of another party keeps out any more.
    pub fn pop_free(&mut self) -> Option<Place> {
        let mut firsts = self.firsts.iter();
        let first = firsts.next().copied();
        let second = firsts.next().map(|(spot, _)| *spot);
        let is_before =
            |kept: &Kept, spot: Option<Spot>| spot.is_none_or(|spot| Spot::Waiter(kept.0) <= spot);
        let head = self.kept.first_key_value().map(|(kept, party)| (*kept, *party));
        let head = head.filter(|(kept, _)| is_before(kept, first.map(|(spot, _)| spot)));
        let own = || {
            let (_, party) = first?;
            let kept = *self.kept_of.get(&party)?.first()?;
            is_before(&kept, second).then_some((kept, party))
        };
        let (kept, party) = head.or_else(own)?;
        self.let_go(party, kept);
        Some(kept.1)
    }

    /// Somebody is no longer kept out.
    pub fn let_go(&mut self, party: usize, kept: Kept) {
        self.kept.remove(&kept);
        if let Some(of_party) = self.kept_of.get_mut(&party) {
            of_party.remove(&kept);
        }
    }

    /// Where somebody of another party is in the way of this one.
    pub fn in_the_way_of(&self, party: usize, enters: Place) -> Option<(Spot, usize)> {
        let other = self.firsts.iter().find(|(_, other)| *other != party)?;
        (other.0 < Spot::Waiter(enters)).then_some(*other)
    }

    /// Where a party is in the way.
    pub fn ways_of(&self, party: usize) -> Vec<Spot> {
        self.ways.get(&party).into_iter().flatten().copied().collect()
    }

    /// All who are in the way, in order.
    pub fn ways(&self) -> &BTreeMap<Spot, usize> {
        &self.in_order
    }

    /// Where a request is kept out.
    pub fn kept_at(&self, party: usize, place: Place) -> Option<Kept> {
        self.kept_of.get(&party)?.iter().find(|kept| kept.1 == place).copied()
    }

    /// All who are kept out, in order.
    pub fn kept(&self) -> &BTreeMap<Kept, usize> {
        &self.kept
    }

    fn change(&mut self, party: usize, change: impl FnOnce(&mut BTreeSet<Spot>) -> bool) {
        let ways = self.ways.entry(party).or_default();
        if let Some(first) = ways.first() {
            self.firsts.remove(&(*first, party));
        }
        change(ways);
        match ways.first() {
            Some(first) => drop(self.firsts.insert((*first, party))),
            None => drop(self.ways.remove(&party)),
        }
    }
}
