//! Looks at every state, those after one move first, then those after two, and so on.

use crate::deadlock;
use crate::explorer::Explorer;
use crate::moves::{self, Enabled};
use crate::partial_order;
use crate::report::{Limits, Progress, Stop};
use crate::safety;
use crate::space::Space;
use crate::state::{self, Packed, State};
use crate::symmetry::{Symmetry, key};
use crate::violations::{Place, Violations, is_fatal};
use crate::visited::{Arrival, DEPTH_MAX, Visit, Visited};
use conclave_core::Property;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};

/// So many words of states are handed from thread to thread at a time.
const CHUNK: usize = if cfg!(debug_assertions) { 1 << 8 } else { 1 << 15 };
/// So many states that were come to are looked up at a time.
const BATCH: usize = 64;
/// After so many states a thread looks whether it should stop.
const GLANCE: u32 = 1 << 10;

/// A search through all states.
pub struct Search<'a> {
    pub space: &'a Space<'a>,
    pub seen: Visited,
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
            seen: Visited::new(),
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
        for state in first.explorer.initial() {
            first.come_to(0, |_, next| *next = state);
        }
        first.settle(0);
        let links = self.space.slots().len();
        let (mut frontier, mut found) = first.results();
        let (mut depth, mut bytes) = (0, 0);
        let stop = loop {
            bytes = bytes.max(self.seen.bytes() + size(&frontier));
            if frontier.is_empty() {
                break None;
            }
            if self.is_over(&found) {
                break Some(Stop::Found);
            }
            if depth == depth_max {
                break Some(Stop::Depth);
            }
            let (next, more) = self.level(crew, frontier, depth);
            (frontier, depth) = (next, depth + 1);
            found.absorb(more);
            if self.full.load(Ordering::Relaxed) {
                let states = self.unique.load(Ordering::Relaxed) >= self.limits.states_max;
                break Some(if states { Stop::States } else { Stop::Memory });
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

    /// Whether what was found makes the rest pointless.
    fn is_over(&self, found: &Violations) -> bool {
        let broken = |property: &Property| found.place(*property).is_some();
        self.wanted.iter().any(|property| is_fatal(*property) && broken(property))
            || self.wanted.iter().all(broken)
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
        let memory = self.seen.bytes_soon() + self.frontier.load(Ordering::Relaxed);
        if unique_states >= self.limits.states_max || memory >= self.limits.memory_max {
            self.full.store(true, Ordering::Relaxed);
        }
        (self.progress)(Progress { unique_states, frontier, depth });
    }
}

fn size(chunks: &[Packed]) -> u64 {
    chunks.iter().map(state::bytes).sum()
}

/// One thread of a search.
struct Worker<'a> {
    search: &'a Search<'a>,
    explorer: Explorer<'a>,
    symmetry: Option<Symmetry>,
    full: Vec<Packed>,
    filling: Packed,
    found: Violations,
    enabled: Vec<Enabled>,
    state: State,
    /// The states that were come to and not yet looked up, and behind them some to be used again.
    next: Vec<State>,
    arrivals: Vec<Arrival>,
    visits: Vec<Visit>,
    /// How many states were found and how many are to be looked at, as far as nobody was told.
    unique: u64,
    waiting: u64,
    until_glance: u32,
}

impl<'a> Worker<'a> {
    fn new(search: &'a Search<'a>) -> Self {
        let workings = search.space.workings;
        let coordinators = workings.nodes() - workings.clients();
        let symmetry = search.symmetry.then(|| Symmetry::new(workings.clients(), coordinators));
        Self {
            search,
            explorer: Explorer::new(search.space),
            symmetry,
            full: Vec::new(),
            filling: Vec::new(),
            found: Violations::default(),
            enabled: Vec::new(),
            state: State::default(),
            next: Vec::new(),
            arrivals: Vec::new(),
            visits: Vec::new(),
            unique: 0,
            waiting: 0,
            until_glance: GLANCE,
        }
    }

    /// Works on one level after the other, until there are no more.
    fn serve(mut self, levels: &mpsc::Receiver<Arc<Level>>, results: &mpsc::Sender<Results>) {
        while let Ok(level) = levels.recv() {
            while let Some(chunk) = level.chunks.get(level.next.fetch_add(1, Ordering::Relaxed)) {
                self.expand(chunk, level.depth);
                if self.search.full.load(Ordering::Relaxed) {
                    break;
                }
            }
            drop(level);
            if results.send(self.results()).is_err() {
                return;
            }
        }
    }

    fn results(&mut self) -> Results {
        self.tell();
        let mut chunks = std::mem::take(&mut self.full);
        let last = std::mem::take(&mut self.filling);
        chunks.extend(Some(last).filter(|chunk| !chunk.is_empty()));
        (chunks, std::mem::take(&mut self.found))
    }

    fn expand(&mut self, mut chunk: &[u16], depth: u32) {
        self.explorer.catch_up();
        let mut state = std::mem::take(&mut self.state);
        let mut enabled = std::mem::take(&mut self.enabled);
        while !chunk.is_empty() {
            state.unpack(self.explorer.nodes(), &mut chunk);
            self.expand_one(&state, &mut enabled, depth);
            self.until_glance -= 1;
            if self.until_glance == 0 {
                self.until_glance = GLANCE;
                self.tell();
                self.search.glance(depth);
                if self.search.full.load(Ordering::Relaxed) {
                    break;
                }
            }
        }
        self.settle(depth + 1);
        (self.state, self.enabled) = (state, enabled);
    }

    /// Adds what was counted to what all threads have counted.
    fn tell(&mut self) {
        self.search.unique.fetch_add(std::mem::take(&mut self.unique), Ordering::Relaxed);
        self.search.waiting.fetch_add(std::mem::take(&mut self.waiting), Ordering::Relaxed);
    }

    fn expand_one(&mut self, state: &State, enabled: &mut Vec<Enabled>, depth: u32) {
        moves::enabled(&mut self.explorer, state, enabled);
        let place = Place { depth, hash: key(&self.explorer, &mut self.symmetry, state) };
        deadlock::judge(&self.explorer, state, enabled, place, &mut self.found);
        if !self.search.partial_order {
            self.take(state, place, enabled);
            if self.arrivals.len() >= BATCH {
                self.settle(depth + 1);
            }
            return;
        }
        let first =
            partial_order::ample_set(&mut self.explorer, state, enabled, self.search.foresees);
        let first = first.unwrap_or(enabled.len());
        let (ample, rest) = enabled.split_at(first);
        self.take(state, place, ample);
        let open = self.settle(depth + 1);
        if !open && !rest.is_empty() {
            self.take(state, place, rest); // Nothing new: the others must not wait for ever.
            self.settle(depth + 1);
        }
    }

    /// Makes each of these moves.
    fn take(&mut self, state: &State, place: Place, enabled: &[Enabled]) {
        for &Enabled { action, .. } in enabled {
            for &outcome in self.explorer.outcomes(state, action).iter() {
                self.come_to(place.hash, |explorer, next| {
                    explorer.advance(state, action, outcome, next);
                });
            }
        }
    }

    /// Comes to a state, which is yet to be looked up.
    fn come_to(&mut self, from: u64, make: impl FnOnce(&mut Explorer<'a>, &mut State)) {
        let place = self.arrivals.len();
        if place == self.next.len() {
            self.next.push(State::default());
        }
        let next = &mut self.next[place];
        make(&mut self.explorer, next);
        let hash = key(&self.explorer, &mut self.symmetry, next);
        self.arrivals.push(Arrival { hash, from });
    }

    /// Looks up the states that were come to; whether the search has not looked at any of them.
    fn settle(&mut self, depth: u32) -> bool {
        self.found.states += self.arrivals.len() as u64;
        let mut visits = std::mem::take(&mut self.visits);
        self.search.seen.visit(&self.arrivals, depth, &mut visits);
        let mut open = false;
        for (place, visit) in visits.iter().enumerate() {
            match *visit {
                Visit::First => {
                    self.find(place, depth);
                    open = true;
                }
                Visit::Again { depth: before } => {
                    self.found.back |= before < depth;
                    open |= before == depth;
                }
            }
        }
        self.visits = visits;
        self.arrivals.clear();
        open
    }

    /// A state is new: judges it, and keeps it to be looked at.
    fn find(&mut self, place: usize, depth: u32) {
        self.unique += 1;
        let (state, hash) = (&self.next[place], self.arrivals[place].hash);
        let broken = safety::violated(&self.explorer, state);
        for &property in &broken {
            self.found.broken(property, Place { depth, hash });
        }
        if !broken.iter().any(|property| is_fatal(*property)) {
            state.pack(&mut self.filling);
            self.waiting += 1;
            if self.filling.len() >= CHUNK {
                let chunk = std::mem::take(&mut self.filling);
                self.search.frontier.fetch_add(state::bytes(&chunk), Ordering::Relaxed);
                self.full.push(chunk);
            }
        }
    }
}
