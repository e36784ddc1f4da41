//! Limits of a search (depth, states, memory), and the report of what it found.

use crate::violations::Violations;
use conclave_core::{Property, Story, Verdict};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// How far to look, how, and for what. None of it changes what can happen.
#[derive(Clone, Debug)]
pub struct Limits {
    /// How many moves a run has at most.
    pub depth: Option<u32>,
    /// How many different states are looked at, at most.
    pub states_max: u64,
    /// How much memory is taken, at most, in bytes.
    pub memory_max: u64,
    /// On how many threads; all cores if `None`.
    pub threads: Option<NonZeroUsize>,
    /// Whether moves that can be exchanged are looked at in one order only.
    pub partial_order: bool,
    /// Whether nodes that can be exchanged are taken for each other.
    pub symmetry: bool,
    /// The properties that matter; all that can be looked at if empty.
    pub properties: Vec<Property>,
    /// Ends the search from outside.
    pub interrupt: Interrupt,
}

/// Somebody may no longer want to know: ends a search from another thread.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// The search ends soon.
    pub fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it should.
    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            depth: None,
            states_max: 50_000_000,
            memory_max: 8 << 30,
            threads: None,
            partial_order: true,
            symmetry: true,
            properties: Vec::new(),
            interrupt: Interrupt::default(),
        }
    }
}

/// A way to look at fewer states without missing anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// Moves that can be exchanged are looked at in one order only.
    PartialOrder,
    /// Nodes that can be exchanged are taken for each other.
    Symmetry,
    /// States that differ only in counters are taken for each other.
    NormalForm,
}

impl Reduction {
    /// The word that people read.
    pub fn name(self) -> &'static str {
        match self {
            Self::PartialOrder => "partial-order",
            Self::Symmetry => "symmetry",
            Self::NormalForm => "normal-form",
        }
    }
}

/// Why not everything was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Runs have more moves than were allowed.
    Depth,
    /// There are more states than were allowed.
    States,
    /// There was no more memory to be had.
    Memory,
    /// Something was found, and the rest would not matter.
    Found,
    /// Nobody wanted to know any more.
    Interrupted,
}

/// What was found.
#[derive(Clone, Debug)]
pub struct Report {
    /// How many states were come to, the same one each time anew.
    pub states: u64,
    /// How many different ones.
    pub unique_states: u64,
    /// The most moves it takes to come to one of them.
    pub depth: u32,
    /// Why not everything was looked at, if so.
    pub stop: Option<Stop>,
    /// What was used to look at fewer.
    pub reductions: Vec<Reduction>,
    /// What became of each property.
    pub verdicts: Vec<(Property, Verdict)>,
    /// How each violated property was broken.
    pub stories: Vec<Story>,
    /// Whether a timer ran in any of the states: only then does it matter when timers fire.
    pub timers_ran: bool,
    /// How long it took.
    pub seconds: f64,
    /// The most memory that the states took, in bytes.
    pub bytes: u64,
    /// The odds that two states were taken for one by the chance of a hash.
    pub collision_odds: f64,
}

impl Report {
    /// What a search says of these properties.
    pub(crate) fn of(
        found: &Violations,
        unique_states: u64,
        stop: Option<Stop>,
        wanted: &[Property],
    ) -> Self {
        let judged = |property| (property, found.verdict(property, stop.is_none()));
        Self {
            states: found.states,
            unique_states,
            depth: 0,
            stop,
            reductions: Vec::new(),
            verdicts: wanted.iter().copied().map(judged).collect(),
            stories: Vec::new(),
            timers_ran: false,
            seconds: 0.0,
            bytes: 0,
            collision_odds: odds(unique_states),
        }
    }

    /// So many states were looked at once more, in so much memory, to judge the rest.
    pub(crate) fn looked_again(&mut self, unique_states: u64, bytes: u64) {
        self.bytes = self.bytes.max(bytes);
        self.collision_odds += odds(unique_states);
    }

    /// Says something else of a property that was looked at.
    pub(crate) fn amend(&mut self, property: Property, verdict: Verdict) {
        let known = self.verdicts.iter_mut().find(|(known, _)| *known == property);
        if let Some((_, said)) = known {
            *said = verdict;
        }
    }

    /// Whether every run within the bounds was looked at.
    pub fn is_complete(&self) -> bool {
        self.stop.is_none()
    }

    /// What became of a property.
    pub fn verdict(&self, property: Property) -> Verdict {
        let found = self.verdicts.iter().find(|(known, _)| *known == property);
        found.map_or(Verdict::NotChecked, |(_, verdict)| *verdict)
    }

    /// How a property was broken, if it was.
    pub fn story(&self, property: Property) -> Option<&Story> {
        self.stories.iter().find(|story| story.property == property)
    }
}

/// Of n hashes of 64 bits, n(n-1)/2 pairs may be equal by chance.
fn odds(unique_states: u64) -> f64 {
    (unique_states as f64).powi(2) / 2.0_f64.powi(65)
}

/// How far a search has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// How many different states were found.
    pub unique_states: u64,
    /// How many of them are still to be looked at.
    pub frontier: u64,
    /// After how many moves they come.
    pub depth: u32,
}
