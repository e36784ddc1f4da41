//! One thread of a breadth-first search: takes states of a level, makes their moves, and keeps the
//! states that nobody had found.

use super::{Level, Results, Search};
use crate::deadlock;
use crate::explorer::Explorer;
use crate::moves::{self, Enabled};
use crate::partial_order;
use crate::safety;
use crate::state::{self, Packed, State};
use crate::symmetry::{Symmetry, key};
use crate::violations::{Place, Violations, is_fatal};
use crate::visited::{Arrival, Visit};
use conclave_core::Property;
use std::sync::atomic::Ordering;
use std::sync::{Arc, mpsc};

/// So many words of states are handed from thread to thread at a time.
const CHUNK: usize = if cfg!(debug_assertions) { 1 << 8 } else { 1 << 15 };
/// So many states that were come to are looked up at a time.
const BATCH: usize = 64;
/// After so many states a thread looks whether it should stop.
const GLANCE: u32 = 1 << 10;

/// One thread of a search.
pub struct Worker<'a> {
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
    pub fn new(search: &'a Search<'a>) -> Self {
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

    /// Comes to the states in which runs begin.
    pub fn begin(&mut self) {
        for state in self.explorer.initial() {
            self.come_to(None, |_, next| *next = state);
        }
        self.settle(0);
    }

    /// Works on one level after the other, until there are no more.
    pub fn serve(mut self, levels: &mpsc::Receiver<Arc<Level>>, results: &mpsc::Sender<Results>) {
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

    pub fn results(&mut self) -> Results {
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
        self.state = state;
        self.enabled = enabled;
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
        for &Enabled { action, due } in enabled {
            for &outcome in self.explorer.outcomes(state, action).iter() {
                let kept = self.come_to(Some(place.hash), |explorer, next| {
                    explorer.advance(state, action, outcome, next);
                });
                self.found.cut |= due && !kept;
            }
        }
    }

    /// Comes to a state, which is yet to be looked up; whether it is within the bounds. Where runs
    /// begin, they begin.
    fn come_to(
        &mut self,
        from: Option<u64>,
        make: impl FnOnce(&mut Explorer<'a>, &mut State),
    ) -> bool {
        let place = self.arrivals.len();
        if place == self.next.len() {
            self.next.push(State::default());
        }
        let next = &mut self.next[place];
        make(&mut self.explorer, next);
        if from.is_some() && !self.explorer.is_within_bounds(next) {
            return false;
        }
        let hash = key(&self.explorer, &mut self.symmetry, next);
        self.arrivals.push(Arrival { hash, from: from.unwrap_or(0) });
        true
    }

    /// Looks up the states that were come to; whether the search has not looked at any of them.
    fn settle(&mut self, depth: u32) -> bool {
        self.found.states += self.arrivals.len() as u64;
        let mut visits = std::mem::take(&mut self.visits);
        self.search.visited.visit(&self.arrivals, depth, &mut visits);
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
        let state = &self.next[place];
        let hash = self.arrivals[place].hash;
        let broken = safety::violated(&self.explorer, state);
        for &property in &broken {
            self.found.broken(property, Place { depth, hash });
        }
        // Where nobody asked for it, the rest of the run still matters.
        let over =
            |property: &Property| is_fatal(*property) && self.search.wanted.contains(property);
        if !broken.iter().any(over) {
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
