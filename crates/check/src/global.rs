//! The global part of a state: fault budgets (how many messages may still be lost, how many nodes
//! crash) and history variables (what safety properties need to remember of the run).

use conclave_core::{Bounds, NodeId};
use serde::Serialize;

/// What belongs to no node: how much may still go wrong, and what the properties must remember.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Global {
    pub crashes: u32,
    pub restarts: u32,
    pub amnesia: u32,
    pub losses: u32,
    pub duplicates: u32,
    pub suspicions: u32,
    pub cancels: u32,
    /// The largest fencing token so far, where fences are watched.
    pub fence: u64,
    /// Who was ever said to lead in which term, where terms are watched.
    pub terms: Vec<(u64, NodeId)>,
    pub broken: Broken,
}

/// The properties that were violated by the last move; of terms, by any.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Broken {
    /// A fencing token did not rise.
    pub fence: bool,
    /// It was the largest, and somebody else was inside with the very same.
    pub same_fence: bool,
    /// A term has two leaders.
    pub term: bool,
    /// A request was granted before one that happened before it.
    pub order: bool,
}

/// A kind of fault of which only so many may happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Budget {
    Crash,
    Restart,
    Amnesia,
    Loss,
    Duplicate,
    Suspicion,
    Cancel,
}

impl Global {
    pub fn new(bounds: &Bounds) -> Self {
        Self {
            crashes: bounds.crashes,
            restarts: bounds.restarts,
            amnesia: bounds.amnesia,
            losses: bounds.losses,
            duplicates: bounds.duplicates,
            suspicions: bounds.suspicions,
            cancels: bounds.cancels,
            fence: 0,
            terms: Vec::new(),
            broken: Broken::default(),
        }
    }

    /// How much of it may still happen.
    pub fn left(&mut self, budget: Budget) -> &mut u32 {
        match budget {
            Budget::Crash => &mut self.crashes,
            Budget::Restart => &mut self.restarts,
            Budget::Amnesia => &mut self.amnesia,
            Budget::Loss => &mut self.losses,
            Budget::Duplicate => &mut self.duplicates,
            Budget::Suspicion => &mut self.suspicions,
            Budget::Cancel => &mut self.cancels,
        }
    }

    /// What was broken by the last move is not broken by the next.
    pub fn go_on(&mut self) {
        self.broken = Broken { term: self.broken.term, ..Broken::default() };
    }

    /// Somebody enters, perhaps while somebody else is inside with the same fence.
    pub fn entered(&mut self, fence: u64, shared: bool) {
        if fence <= self.fence {
            self.broken.fence = true;
            self.broken.same_fence = shared && fence == self.fence;
        }
        self.fence = self.fence.max(fence);
    }

    /// Somebody says that this node leads. All that was ever said is kept, so that the order in
    /// which it was said does not matter.
    pub fn elected(&mut self, leader: NodeId, term: u64) {
        if let Err(place) = self.terms.binary_search(&(term, leader)) {
            self.terms.insert(place, (term, leader));
            self.broken.term |= self.terms.windows(2).any(|pair| pair[0].0 == pair[1].0);
        }
    }
}
