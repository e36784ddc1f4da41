//! What is shown of each algorithm by looking at every run within bounds: that it keeps what it
//! promises, and how it breaks what it does not.

mod broken;
mod kept;

use super::{Entry, Setting, find};
use crate::Error;
use conclave_core::{Bounds, Property, Verdict};

/// Something that every run within bounds shows.
#[derive(Debug)]
pub struct Claim {
    /// The algorithm.
    pub id: &'static str,
    /// Its parameters, where they are not the usual ones.
    pub set: &'static [(&'static str, &'static str)],
    /// How many clients.
    pub nodes: u32,
    /// What may happen, beyond what the algorithm's own row says.
    pub bounds: fn(&mut Bounds),
    /// How many states there are, nodes and moves that can be exchanged being looked at once.
    pub states: u64,
    /// What becomes of each promise that is looked at.
    pub verdicts: &'static [(Property, Verdict)],
    /// Whether it takes longer than a moment.
    pub large: bool,
}

/// A claim about an algorithm with the usual parameters.
const fn claim(
    id: &'static str,
    nodes: u32,
    bounds: fn(&mut Bounds),
    states: u64,
    verdicts: &'static [(Property, Verdict)],
) -> Claim {
    Claim { id, set: &[], nodes, bounds, states, verdicts, large: false }
}

impl Claim {
    const fn with(self, set: &'static [(&'static str, &'static str)]) -> Self {
        Self { set, ..self }
    }

    const fn large(self) -> Self {
        Self { large: true, ..self }
    }

    /// The row of its algorithm.
    pub fn entry(&self) -> Result<&'static Entry, Error> {
        find(self.id)
    }

    /// The algorithm with its size and parameters.
    pub fn setting(&self) -> Result<Setting, Error> {
        self.entry()?.setting(self.nodes, self.set)
    }

    /// What may happen.
    pub fn bounds(&self, setting: &Setting) -> Bounds {
        let mut bounds = (setting.entry.bounds)(&setting.params);
        (self.bounds)(&mut bounds);
        bounds
    }

    /// The promises that are looked at.
    pub fn properties(&self) -> Vec<Property> {
        self.verdicts.iter().map(|&(property, _)| property).collect()
    }
}

/// All claims, those of what holds first.
pub fn claims() -> impl Iterator<Item = &'static Claim> {
    kept::CLAIMS.iter().chain(broken::CLAIMS)
}
