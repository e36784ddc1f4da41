//! A quorum and a probability of forgetting, and what they come to.

use conclave_sim::probability::{self, Magnitude};

/// So many votes of so many coordinators, each of which forgets with a probability.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Case {
    /// How many coordinators there are.
    pub coordinators: u32,
    /// How many grants let a client in: more than half.
    pub votes: u32,
    /// How likely each forgets while somebody is inside.
    pub probability: f64,
}

impl Case {
    /// How many coordinators two sets share at least.
    pub fn overlap(self) -> u32 {
        probability::overlap(self.coordinators, self.votes)
    }

    /// The probability that a second client gets in beside a holder of exactly `votes` grants.
    pub fn violation(self) -> Magnitude {
        probability::violation(self.coordinators, self.votes, self.probability)
    }

    /// The same beside a holder of all grants.
    pub fn violation_of_all(self) -> Magnitude {
        probability::violation_of_all(self.coordinators, self.votes, self.probability)
    }

    /// How many coordinators may crash before nobody gets in any more.
    pub fn crashes(self) -> u32 {
        self.coordinators - self.votes
    }

    /// How many of the holder's set may forget before a second can get in.
    pub fn forgettable(self) -> u32 {
        self.overlap() - 1
    }

    /// The same coordinators with every number of votes that is more than half of them.
    pub fn over_votes(self) -> impl Iterator<Item = Self> {
        (self.coordinators / 2 + 1..=self.coordinators).map(move |votes| Self { votes, ..self })
    }
}
