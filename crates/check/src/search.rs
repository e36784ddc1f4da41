//! Breadth-first search of the state space, level by level, on several threads: all states after k
//! moves come before those after k+1, so the first counterexample is a shortest one.

mod worker;

use crate::report::{Limits, Progress, Stop};
use crate::space::Space;
use crate::state::{self, Packed};
use crate::violations::{Violations, is_fatal};
use crate::visited::{DEPTH_MAX, Visited};
use conclave_core::Property;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use worker::Worker;

/// A search through all states.
pub struct Search<'a> {
    pub space: &'a Space<'a>,
    pub visited: Visited,
    limits: &'a Limits,
    wanted: &'a [Property],
    /// Whether moves that can be exchanged are looked at in one order only.
    pub partial_order: bool,
    /// Whether those at one node are, too: what could come to it can be estimated.
    pub foresees: bool,
    /// Whether nodes that can be exchanged are taken for each other.
    pub symmetry: bool,
    unique: AtomicU64,
    waiting: AtomicU64,
    /// How much memory the states take that are to be looked at, now and next.
    frontier: AtomicU64,
    full: AtomicBool,
    progress: &'a (dyn Fn(Progress) + Sync),
}

/// How a search ended.
pub struct Ended {
    pub found: Violations,
    pub unique_states: u64,
    pub depth: u32,
    pub stop: Option<Stop>,
    pub bytes: u64,
    /// Whether a link came up that partial-order reduction had not reckoned with.
    pub surprised: bool,
}

/// The states of the next level that a thread found, and what else it did.
type Results = (Vec<Packed>, Violations);

/// Why a thread can be relied on.
const ALIVE: &str = "a thread ends only when it is told to";

/// All states after so many moves.
struct Level {
    chunks: Vec<Packed>,
    /// The first that no thread has taken.
    next: AtomicUsize,
    depth: u32,
}

/// A thread as the one who leads sees it. When this is dropped, it ends.
struct Hand {
    level: mpsc::Sender<Arc<Level>>,
    results: mpsc::Receiver<Results>,
}

impl<'a> Search<'a> {
    pub fn new(
        space: &'a Space<'a>,
        limits: &'a Limits,
        wanted: &'a [Property],
        progress: &'a (dyn Fn(Progress) + Sync),
    ) -> Self {
        Self {
            space,
            visited: Visited::new(),
            limits,
            wanted,
            partial_order: false,
            foresees: false,
            symmetry: false,
            unique: AtomicU64::new(0),
            waiting: AtomicU64::new(0),
            frontier: AtomicU64::new(0),
            full: AtomicBool::new(false),
            progress,
        }
    }

    /// Looks at everything, as far as the limits let it, and no deeper than this.
    pub fn run(&self, depth_max: Option<u32>) -> Ended {
        let threads = self.limits.threads.or_else(|| std::thread::available_parallelism().ok());
        let threads = threads.map_or(1, NonZeroUsize::get);
        std::thread::scope(|scope| {
            let crew: Vec<Hand> = (0..threads)
                .map(|_| {
                    let (level, levels) = mpsc::channel();
                    let (result, results) = mpsc::channel();
                    scope.spawn(move || Worker::new(self).serve(&levels, &result));
                    Hand { level, results }
                })
                .collect();
            self.lead(&crew, depth_max.unwrap_or(DEPTH_MAX).min(DEPTH_MAX))
        })
    }

    /// Hands out one level after the other.
    fn lead(&self, crew: &[Hand], depth_max: u32) -> Ended {
        let mut first = Worker::new(self);
        first.begin();
        let links = self.space.slots().len();
        let (mut frontier, mut found) = first.results();
        let mut depth = 0;
        let mut bytes = 0;
        let stop = loop {
            bytes = bytes.max(self.visited.bytes() + size(&frontier));
            if frontier.is_empty() {
                // What comes after a state in which safety is lost was not looked at.
                break self.is_fatal(&found).then_some(Stop::Found);
            }
            if self.is_over(&found) {
                break Some(Stop::Found);
            }
            if depth == depth_max {
                break Some(Stop::Depth);
            }
            let (next, more) = self.level(crew, frontier, depth);
            frontier = next;
            depth += 1;
            found.absorb(more);
            if self.full.load(Ordering::Relaxed) {
                break Some(self.why_full());
            }
            if self.partial_order && self.space.slots().len() > links {
                break Some(Stop::Found); // To be begun anew.
            }
        };
        let surprised = self.partial_order && self.space.slots().len() > links;
        let depth = if frontier.is_empty() { depth.saturating_sub(1) } else { depth };
        let unique_states = self.unique.load(Ordering::Relaxed);
        Ended { found, unique_states, depth, stop, bytes, surprised }
    }

    /// Which limit was reached.
    fn why_full(&self) -> Stop {
        if self.limits.interrupt.is_raised() {
            Stop::Interrupted
        } else if self.unique.load(Ordering::Relaxed) >= self.limits.states_max {
            Stop::States
        } else {
            Stop::Memory
        }
    }

    /// Whether what was found makes the rest pointless.
    fn is_over(&self, found: &Violations) -> bool {
        self.is_fatal(found) || self.wanted.iter().all(|property| found.place(*property).is_some())
    }

    /// Whether safety that was asked for is lost.
    fn is_fatal(&self, found: &Violations) -> bool {
        let broken = |property: &&Property| found.place(**property).is_some();
        self.wanted.iter().filter(broken).any(|property| is_fatal(*property))
    }

    /// Looks at all states after so many moves, on all threads.
    fn level(&self, crew: &[Hand], chunks: Vec<Packed>, depth: u32) -> Results {
        self.waiting.store(0, Ordering::Relaxed);
        self.frontier.store(size(&chunks), Ordering::Relaxed);
        let crew = &crew[..crew.len().min(chunks.len())];
        let level = Arc::new(Level { chunks, next: AtomicUsize::new(0), depth });
        for hand in crew {
            hand.level.send(Arc::clone(&level)).expect(ALIVE);
        }
        let (mut chunks, mut found) = Results::default();
        for hand in crew {
            let (more, seen) = hand.results.recv().expect(ALIVE);
            chunks.extend(more);
            found.absorb(seen);
        }
        (chunks, found)
    }

    fn glance(&self, depth: u32) {
        let unique_states = self.unique.load(Ordering::Relaxed);
        let frontier = self.waiting.load(Ordering::Relaxed);
        let memory = self.visited.bytes_soon() + self.frontier.load(Ordering::Relaxed);
        let full = unique_states >= self.limits.states_max || memory >= self.limits.memory_max;
        if full || self.limits.interrupt.is_raised() {
            self.full.store(true, Ordering::Relaxed);
        }
        (self.progress)(Progress { unique_states, frontier, depth });
    }
}

fn size(chunks: &[Packed]) -> u64 {
    chunks.iter().map(state::bytes).sum()
}
