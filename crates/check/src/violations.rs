//! Violations that a search has found so far, of safety and of liveness.

use conclave_core::{Property, Verdict};

/// Where a property was seen to be violated: after how many moves, and the hash of the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    pub depth: u32,
    pub hash: u64,
}

/// What a search has found so far. What is found first does not depend on threads.
#[derive(Clone, Debug, Default)]
pub struct Violations {
    broken: Vec<(Property, Place)>,
    /// The properties of which the bounds kept the end from being seen.
    unknown: Vec<Property>,
    /// Whether something that had to happen was left out, because the bounds do not allow it: a run
    /// that has no way to go on may not be said to go well.
    pub cut: bool,
    /// Whether a move led to where the search had been: only then can there be a cycle.
    pub back: bool,
    /// How many states were come to.
    pub states: u64,
}

impl Violations {
    pub fn broken(&mut self, property: Property, place: Place) {
        match self.broken.iter_mut().find(|(known, _)| *known == property) {
            Some((_, first)) => *first = place.min(*first),
            None => self.broken.push((property, place)),
        }
    }

    pub fn unknown(&mut self, property: Property) {
        if !self.unknown.contains(&property) {
            self.unknown.push(property);
        }
    }

    pub fn absorb(&mut self, other: Self) {
        for (property, place) in other.broken {
            self.broken(property, place);
        }
        for property in other.unknown {
            self.unknown(property);
        }
        self.cut |= other.cut;
        self.back |= other.back;
        self.states += other.states;
    }

    pub fn place(&self, property: Property) -> Option<Place> {
        self.broken.iter().find(|(known, _)| *known == property).map(|&(_, place)| place)
    }

    /// What can be said of a property after a search that was complete, or was not.
    pub fn verdict(&self, property: Property, complete: bool) -> Verdict {
        if self.place(property).is_some() {
            Verdict::Violated
        } else if !complete || self.unknown.contains(&property) || self.cut && !is_safety(property)
        {
            Verdict::Unknown
        } else {
            Verdict::Holds
        }
    }
}

/// Whether to go on after it was broken is pointless: nobody relies on the rest then.
pub fn is_fatal(property: Property) -> bool {
    matches!(property, Property::S1 | Property::BW | Property::HB | Property::E1Term)
}

/// Whether it is a safety property, about every single moment, and not a liveness property, about
/// what becomes of it all.
pub fn is_safety(property: Property) -> bool {
    match property {
        Property::S1
        | Property::S1Eff
        | Property::BW // Judged by the invariant of a cluster, if it has one.
        | Property::F1
        | Property::HB
        | Property::E1Term => true,
        Property::V1
        | Property::V2
        | Property::HBExact
        | Property::E1
        | Property::E2
        | Property::D1
        | Property::D2 => false,
    }
}
