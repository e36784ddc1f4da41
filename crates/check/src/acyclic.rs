//! Whether the state graph is acyclic: whether no run can come back to where it was. A topological
//! sort (Kahn's algorithm) tells it without keeping the moves.
//!
//! A state is taken away as soon as every move that leads to it is, and its own moves go with it.
//! What lies on a cycle is never taken away, since something always leads to it, and neither is
//! what lies behind a cycle; everything else is. So there is no cycle if nothing is left.
//!
//! One number for each state is enough: how many moves lead to it. The moves themselves are worked
//! out anew, so this is possible where a [`crate::state_graph::StateGraph`] would be too large.

use crate::explorer::Explorer;
use crate::intern::Plain;
use crate::moves::{self, Enabled};
use crate::report::{Limits, Progress};
use crate::state::{self, Packed, State};
use std::collections::HashMap;

/// After so many states it is looked whether there is still room.
const GLANCE: u64 = 1 << 12;
/// What a place of a table takes: a hash and a number, rounded up, and a byte of the table's own.
const PLACE: usize = size_of::<(u64, u32)>() + 1;

/// By the hash of a state: how many moves lead to it that were not taken away.
type Leading = HashMap<u64, u32, Plain>;

/// What there is to say of cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cycles {
    /// No run comes back to where it was.
    None,
    /// Some run does.
    Some,
    /// There are too many states to tell.
    Unknown,
}

/// What was found, and how much there was to look at.
#[derive(Clone, Copy, Debug)]
pub struct Acyclicity {
    pub cycles: Cycles,
    pub unique_states: u64,
    /// The most memory that it took.
    pub bytes: u64,
}

/// Whether any run within the bounds comes back to where it was.
pub fn look_for_cycles(
    explorer: &mut Explorer<'_>,
    limits: &Limits,
    progress: &(dyn Fn(Progress) + Sync),
) -> Acyclicity {
    let mut begun = explorer.initial();
    begun.sort_by_key(|state| state.hash);
    begun.dedup_by_key(|state| state.hash);
    let leading = begun.iter().map(|state| (state.hash, 0)).collect();
    let mut walk = Walk { explorer, limits, progress, leading, bytes: 0 };
    let all = walk.through(&begun, count);
    begun.retain(|state| walk.leading[&state.hash] == 0);
    let taken = all.and_then(|_| walk.through(&begun, take_away));
    let cycles = match taken {
        Some(_) if taken == all => Cycles::None,
        Some(_) => Cycles::Some,
        None => Cycles::Unknown,
    };
    Acyclicity { cycles, unique_states: walk.leading.len() as u64, bytes: walk.bytes }
}

/// A move leads to a state; whether it is the first.
fn count(leading: &mut Leading, hash: u64) -> bool {
    let known = leading.len();
    *leading.entry(hash).or_default() += 1;
    leading.len() > known
}

/// A move that led to a state is gone; whether it was the last.
fn take_away(leading: &mut Leading, hash: u64) -> bool {
    match leading.get_mut(&hash) {
        Some(moves) if *moves > 0 => {
            *moves -= 1;
            *moves == 0
        }
        Some(_) | None => false, // Every move was counted, unless a hash hid a state.
    }
}

struct Walk<'e, 'a> {
    explorer: &'e mut Explorer<'a>,
    limits: &'e Limits,
    progress: &'e (dyn Fn(Progress) + Sync),
    leading: Leading,
    /// The most memory that it took.
    bytes: u64,
}

impl Walk<'_, '_> {
    /// Makes all moves from these states, and from each that a move leads to if `goes_on` says so:
    /// from how many, if there is room for them.
    fn through(&mut self, begun: &[State], goes_on: fn(&mut Leading, u64) -> bool) -> Option<u64> {
        let mut state = State::default();
        let mut enabled = Vec::new();
        let mut level = Vec::new();
        let mut next = Vec::new();
        begun.iter().for_each(|state| state.pack(&mut level));
        let mut depth = 0;
        let mut walked = 0;
        while !level.is_empty() {
            let mut packed = level.as_slice();
            while !packed.is_empty() {
                if walked % GLANCE == 0 {
                    self.glance(walked, depth);
                    if !self.has_room(state::bytes(&level) + state::bytes(&next)) {
                        return None;
                    }
                }
                state.unpack(self.explorer.nodes(), &mut packed);
                self.move_on(&state, &mut enabled, goes_on, &mut next);
                walked += 1;
            }
            std::mem::swap(&mut level, &mut next);
            next.clear();
            depth += 1;
        }
        Some(walked)
    }

    /// Makes all moves from a state.
    fn move_on(
        &mut self,
        state: &State,
        enabled: &mut Vec<Enabled>,
        goes_on: fn(&mut Leading, u64) -> bool,
        next: &mut Packed,
    ) {
        moves::enabled(self.explorer, state, enabled);
        let mut after = State::default();
        for &mut Enabled { action, .. } in enabled {
            for &outcome in self.explorer.outcomes(state, action).iter() {
                self.explorer.advance(state, action, outcome, &mut after);
                if self.explorer.is_within_bounds(&after) && goes_on(&mut self.leading, after.hash)
                {
                    after.pack(next);
                }
            }
        }
    }

    fn glance(&self, walked: u64, depth: u32) {
        let unique_states = self.leading.len() as u64;
        let frontier = unique_states - walked;
        (self.progress)(Progress { unique_states, frontier, depth });
    }

    /// Whether the limits allow this much, with so many bytes of states to be looked at.
    fn has_room(&mut self, waiting: u64) -> bool {
        let places = self.leading.capacity() / 7 * 8; // A table is at most 7/8 full.
        self.bytes = self.bytes.max((places * PLACE) as u64 + waiting);
        let few = self.leading.len() as u64 <= self.limits.states_max;
        few && self.bytes <= self.limits.memory_max && !self.limits.interrupt.is_raised()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Machine;
    use crate::space::{Space, Watch};
    use conclave_core::mutex::Mutex;
    use conclave_core::{Bounds, Cluster, Context, Delay, Event, Never, Process, Ticks};
    use serde::{Deserialize, Serialize};

    const PLACES: usize = 6;

    /// Wanders about: from each place there are ways to some others.
    #[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    struct Wanderer {
        ways: Vec<Vec<usize>>,
        place: usize,
    }

    impl Process for Wanderer {
        type Provides = Mutex;
        type Uses = Never;
        type Message = Never;
        type Timer = ();

        fn step(&mut self, event: Event<Self>, ctx: &mut Context<Self>) {
            if let Event::Timer(()) = event {
                let ways = &self.ways[self.place];
                self.place = ways[ctx.choose(ways.len() as u32) as usize];
            }
            if !self.ways[self.place].is_empty() {
                ctx.set_timer((), Delay::exactly(Ticks(1)));
            }
        }
    }

    fn found(ways: &[Vec<usize>], limits: &Limits) -> Acyclicity {
        let ways = ways.to_vec();
        let cluster = Cluster::of_equals(1, move |_| Wanderer { ways: ways.clone(), place: 0 });
        let bounds = Bounds { requests: Some(0), ..Bounds::default() };
        let machine = Machine::new(&cluster, &bounds, Watch::default());
        let space = Space::new(&machine, &bounds, Watch::default());
        look_for_cycles(&mut Explorer::new(&space), limits, &|_| {})
    }

    /// The places that can be come to from one, by one way or more.
    fn ahead(ways: &[Vec<usize>], place: usize) -> Vec<usize> {
        let mut ahead = ways[place].clone();
        let mut next = 0;
        while next < ahead.len() {
            for &place in &ways[ahead[next]] {
                if !ahead.contains(&place) {
                    ahead.push(place);
                }
            }
            next += 1;
        }
        ahead
    }

    #[test]
    fn it_finds_cycles_where_there_are_some_and_only_there() {
        let mut with = 0;
        let mut without = 0;
        for seed in 0..2_000_u64 {
            let is_way = |from: usize, to: usize| {
                let number = seed * 64 + (from * PLACES + to) as u64;
                crate::intern::mix(number + 1).is_multiple_of(5)
            };
            let to = |from| (0..PLACES).filter(move |&to| is_way(from, to)).collect();
            let ways: Vec<Vec<usize>> = (0..PLACES).map(to).collect();
            let mut reached = ahead(&ways, 0);
            let cycle = reached.iter().any(|&place| ahead(&ways, place).contains(&place));
            let acyclicity = found(&ways, &Limits::default());
            let expected = if cycle { Cycles::Some } else { Cycles::None };
            assert_eq!(acyclicity.cycles, expected, "{ways:?}");
            reached.extend(Some(0).filter(|first| !reached.contains(first)));
            assert_eq!(acyclicity.unique_states, reached.len() as u64, "{ways:?}");
            *(if cycle { &mut with } else { &mut without }) += 1;
        }
        assert!(with > 200 && without > 200, "{with} with cycles, {without} without");
    }

    #[test]
    fn what_it_has_no_room_for_it_does_not_judge() {
        let line = [vec![1], vec![]];
        assert_eq!(found(&line, &Limits::default()).cycles, Cycles::None);
        let few = Limits { states_max: 0, ..Limits::default() };
        assert_eq!(found(&line, &few).cycles, Cycles::Unknown);
        let small = Limits { memory_max: 10, ..Limits::default() };
        assert_eq!(found(&line, &small).cycles, Cycles::Unknown);
    }
}
