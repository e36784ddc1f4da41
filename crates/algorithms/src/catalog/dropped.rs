//! Assumptions, and what model checking finds without each of them: which promises break and in
//! which runs, or the reason why none does.

use super::network::Set;
use super::{Entry, Setting};
use crate::Error;
use conclave_core::{Bounds, Property};

/// Why nothing is found of clocks and detectors.
pub(super) const SINGLE_RUNS: &str = "no law judges every run of a clock or of a detector; single \
                                      runs of the simulator show what comes of it";

/// How many nodes are looked at where nothing else is said.
const NODES: u32 = 3;

/// Something an algorithm takes for granted, with the name by which it can be dropped.
#[derive(Clone, Copy, Debug)]
pub struct Assumption {
    /// `A1`, `A2`, …
    pub tag: &'static str,
    /// What is assumed.
    pub text: &'static str,
    /// What is known of the algorithm without it.
    pub dropped: Dropped,
}

/// What is known of an algorithm without one of its assumptions.
#[derive(Clone, Copy, Debug)]
pub struct Dropped {
    /// What comes of it.
    pub finding: Finding,
    /// The runs that show it; none where no bounds can say what the assumption rules out.
    pub runs: Option<Runs>,
}

/// What comes of doing without an assumption.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finding {
    /// These promises break in the runs of the row, for want of the assumption. Others may break
    /// along, or not be looked at: a search ends where two are inside.
    Breaks(&'static [Property]),
    /// No promise breaks, in whatever runs: the reason.
    Harmless(&'static str),
    /// No promise breaks in the runs of the row, but that proves nothing: what it would take, and
    /// how far was looked.
    OutOfReach(&'static str),
}

/// The runs that are looked at without an assumption.
#[derive(Clone, Copy, Debug)]
pub struct Runs {
    /// How many nodes.
    pub nodes: u32,
    /// The parameters, where they are not the usual ones.
    pub set: Set,
    /// What the assumption rules out.
    pub bounds: fn(&mut Bounds),
    /// What else it takes to see the harm, and does none by itself.
    pub beyond: Option<fn(&mut Bounds)>,
    /// Whether it takes longer than a moment to look at them.
    pub large: bool,
}

impl Runs {
    /// The algorithm of this row with the size and parameters of these runs.
    pub fn setting(&self, entry: &'static Entry) -> Result<Setting, Error> {
        entry.setting(self.nodes, self.set)
    }

    /// What may happen.
    pub fn bounds(&self, setting: &Setting) -> Bounds {
        let mut bounds = (setting.entry.bounds)(&setting.params);
        self.allow(&mut bounds);
        bounds
    }

    /// What may happen while the assumption holds.
    pub fn bounds_without_harm(&self, setting: &Setting) -> Option<Bounds> {
        let mut bounds = (setting.entry.bounds)(&setting.params);
        self.beyond?(&mut bounds);
        Some(bounds)
    }

    /// Adds what may happen to what the row says.
    pub fn allow(&self, bounds: &mut Bounds) {
        if let Some(beyond) = self.beyond {
            beyond(bounds);
        }
        (self.bounds)(bounds);
    }
}

/// These promises break.
pub(super) const fn breaks(bounds: fn(&mut Bounds), broken: &'static [Property]) -> Dropped {
    Dropped { finding: Finding::Breaks(broken), runs: Some(runs(bounds)) }
}

/// No promise breaks, ever.
pub(super) const fn harmless(bounds: fn(&mut Bounds), why: &'static str) -> Dropped {
    Dropped { finding: Finding::Harmless(why), runs: Some(runs(bounds)) }
}

/// No promise breaks as far as can be seen.
pub(super) const fn out_of_reach(bounds: fn(&mut Bounds), needed: &'static str) -> Dropped {
    Dropped { finding: Finding::OutOfReach(needed), runs: Some(runs(bounds)) }
}

/// No bounds can say what the assumption rules out.
pub(super) const fn not_in_bounds(needed: &'static str) -> Dropped {
    Dropped { finding: Finding::OutOfReach(needed), runs: None }
}

const fn runs(bounds: fn(&mut Bounds)) -> Runs {
    Runs { nodes: NODES, set: &[], bounds, beyond: None, large: false }
}

impl Dropped {
    /// With so many nodes.
    pub(super) const fn nodes(self, nodes: u32) -> Self {
        match self.runs {
            Some(runs) => Self { runs: Some(Runs { nodes, ..runs }), ..self },
            None => self,
        }
    }

    /// With these parameters.
    pub(super) const fn with(self, set: Set) -> Self {
        match self.runs {
            Some(runs) => Self { runs: Some(Runs { set, ..runs }), ..self },
            None => self,
        }
    }

    /// Where this may happen, too.
    pub(super) const fn beyond(self, beyond: fn(&mut Bounds)) -> Self {
        match self.runs {
            Some(runs) => Self { runs: Some(Runs { beyond: Some(beyond), ..runs }), ..self },
            None => self,
        }
    }

    /// It takes longer than a moment.
    pub(super) const fn large(self) -> Self {
        match self.runs {
            Some(runs) => Self { runs: Some(Runs { large: true, ..runs }), ..self },
            None => self,
        }
    }
}
