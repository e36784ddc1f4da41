//! The state graph: all states with the moves between them, for liveness properties, which endless
//! runs can violate.

use crate::counterexample::Stride;
use crate::deadlock;
use crate::explorer::Explorer;
use crate::fairness::{Obligation, Obligations};
use crate::intern::Plain;
use crate::local::Phase;
use crate::moves::{self, Action, Enabled};
use crate::report::{Limits, Progress, Stop};
use crate::safety;
use crate::starvation;
use crate::state::{Packed, State};
use crate::violations::{Place, Violations, is_fatal, is_safety};
use crate::vocabulary::Family;
use conclave_core::Property;
use std::collections::HashMap;

/// The number of a state, in the order in which they were found.
pub type StateId = u32;

/// After so many states it is said how far the search has come.
const GLANCE: usize = 1 << 12;

/// Between two moves of a story, at most so many messages arrive that change nothing.
const IDLE_MAX: usize = 1_000;

/// After so many states, and then after four times as many, it is looked whether an endless run
/// violates something already. Most spaces are smaller.
const FIRST_LOOK: usize = 100_000;

/// A move from one state to another.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    pub to: StateId,
    /// The obligation that it fulfils, if any.
    pub obligation: Option<Obligation>,
}

/// All states with the moves between them.
pub struct StateGraph {
    /// The packed states, and where each begins.
    packed: Packed,
    begins: Vec<usize>,
    /// The state before each on a shortest way to it.
    parents: Vec<StateId>,
    depths: Vec<u32>,
    edges: Vec<Edge>,
    first_edge: Vec<usize>,
    /// What must happen in each state, sooner or later.
    obligations: Vec<Obligation>,
    first_obligation: Vec<usize>,
    /// By state: the nodes that want something and do not have it, one bit each.
    pub wanting: Vec<u64>,
    /// By state: whether anybody is inside.
    pub inside: Vec<bool>,
    /// By state: whether leaders are followed that are not the one right leader.
    pub misled: Vec<bool>,
    /// By state: whether only the bounds keep some timer from firing.
    pub cut: Vec<bool>,
    /// How many states have had their moves looked at: the first ones.
    expanded: usize,
    places: HashMap<u64, StateId, Plain>,
    /// Whether states that differ only in counters are taken for each other.
    normal: bool,
    pub found: Violations,
    pub stop: Option<Stop>,
}

impl StateGraph {
    /// Finds all states and moves. With `normal`, states that differ only in counters are one.
    pub fn build(
        explorer: &mut Explorer<'_>,
        normal: bool,
        limits: &Limits,
        wanted: &[Property],
        progress: &(dyn Fn(Progress) + Sync),
    ) -> Self {
        let mut graph = Self::empty(normal);
        for state in explorer.initial() {
            graph.come_to(explorer, state, 0);
        }
        let mut obligations = Obligations::default();
        let mut next = 0;
        let mut look = FIRST_LOOK;
        while next < graph.begins.len() {
            if let Some(stop) = graph.limit(limits, wanted, next) {
                graph.stop = Some(stop);
                break;
            }
            if next == look {
                look *= 4;
                if graph.has_endless_violation(explorer.clients(), wanted, next) {
                    graph.stop = Some(Stop::Found);
                    break;
                }
            }
            if next.is_multiple_of(GLANCE) {
                let unique_states = graph.len() as u64;
                let frontier = unique_states - next as u64;
                progress(Progress { unique_states, frontier, depth: graph.depths[next] });
            }
            graph.expand(explorer, &mut obligations, next as StateId);
            next += 1;
        }
        graph.close(next);
        graph
    }

    /// So many states have had their moves looked at; the others have none.
    fn close(&mut self, expanded: usize) {
        self.expanded = expanded;
        self.first_edge.resize(self.len() + 1, self.edges.len());
        self.first_obligation.resize(self.len() + 1, self.obligations.len());
    }

    /// Whether what was asked for is already violated by an endless run.
    fn has_endless_violation(&mut self, clients: u32, wanted: &[Property], next: usize) -> bool {
        self.close(next);
        let mut liveness = wanted.iter().filter(|property| !is_safety(**property));
        let found = liveness.any(|&one| starvation::lasso(self, one, clients, false).is_some());
        self.first_edge.truncate(next);
        self.first_obligation.truncate(next);
        found
    }

    fn empty(normal: bool) -> Self {
        Self {
            packed: Vec::new(),
            begins: Vec::new(),
            parents: Vec::new(),
            depths: Vec::new(),
            edges: Vec::new(),
            first_edge: Vec::new(),
            obligations: Vec::new(),
            first_obligation: Vec::new(),
            wanting: Vec::new(),
            inside: Vec::new(),
            misled: Vec::new(),
            cut: Vec::new(),
            expanded: 0,
            places: HashMap::default(),
            normal,
            found: Violations::default(),
            stop: None,
        }
    }

    fn limit(&self, limits: &Limits, wanted: &[Property], next: usize) -> Option<Stop> {
        let broken = |property: &&Property| self.found.place(**property).is_some();
        if wanted.iter().filter(|property| is_fatal(**property)).any(|p| broken(&p)) {
            Some(Stop::Found)
        } else if limits.interrupt.is_raised() {
            Some(Stop::Interrupted)
        } else if self.len() as u64 >= limits.states_max {
            Some(Stop::States)
        } else if self.bytes() >= limits.memory_max {
            Some(Stop::Memory)
        } else if limits.depth.is_some_and(|most| self.depths[next] >= most) {
            Some(Stop::Depth)
        } else {
            None
        }
    }

    fn expand(
        &mut self,
        explorer: &mut Explorer<'_>,
        obligations: &mut Obligations,
        node: StateId,
    ) {
        self.first_edge.push(self.edges.len());
        self.first_obligation.push(self.obligations.len());
        let state = self.state(explorer, node);
        let mut enabled = Vec::new();
        moves::enabled(explorer, &state, &mut enabled);
        let place = Place { depth: self.depths[node as usize], hash: state.hash };
        deadlock::judge(explorer, &state, &enabled, place, &mut self.found);
        for Enabled { action, due } in enabled {
            let obligation = due.then(|| obligations.number(explorer, &state, action));
            if let Some(obligation) =
                obligation.filter(|obligation| !self.obligations_from(node).contains(obligation))
            {
                self.obligations.push(obligation);
            }
            for &outcome in explorer.outcomes(&state, action).iter() {
                let mut after = State::default();
                explorer.advance(&state, action, outcome, &mut after);
                if !explorer.is_within_bounds(&after) {
                    self.found.cut |= due;
                    continue;
                }
                let to = self.come_to(explorer, after, node);
                self.edges.push(Edge { to, obligation });
                // A timer that is set anew begins anew: it need not have fired. One edge each.
                let acting = explorer.node_of(action);
                let renewed = explorer.effects(outcome).renewed;
                for timer in (0..u64::BITS as u8).filter(|timer| renewed >> timer & 1 == 1) {
                    let fire = Action::Fire { node: acting, timer };
                    let obligation = Some(obligations.number(explorer, &state, fire));
                    self.edges.push(Edge { to, obligation });
                }
            }
        }
    }

    fn obligations_from(&self, node: StateId) -> &[Obligation] {
        &self.obligations[self.first_obligation[node as usize]..]
    }

    fn come_to(&mut self, explorer: &mut Explorer<'_>, mut state: State, from: StateId) -> StateId {
        self.found.states += 1;
        if self.normal {
            explorer.normalise(&mut state);
        }
        if let Some(&known) = self.places.get(&state.hash) {
            return known;
        }
        let node = self.begins.len() as StateId;
        let depth = self.first_edge.last().map_or(0, |_| self.depths[from as usize] + 1);
        self.places.insert(state.hash, node);
        self.begins.push(self.packed.len());
        state.pack(&mut self.packed);
        self.parents.push(from);
        self.depths.push(depth);
        self.wanting.push(wanting(explorer, &state));
        self.inside.push(is_anybody_inside(explorer, &state));
        self.misled.push(deadlock::is_misled(explorer, &state));
        self.cut.push(deadlock::is_cut(explorer, &state));
        for property in safety::violated(explorer, &state) {
            self.found.broken(property, Place { depth, hash: state.hash });
        }
        node
    }

    /// How many states.
    pub fn len(&self) -> usize {
        self.begins.len()
    }

    /// Whether all moves from this state are known.
    pub fn is_expanded(&self, node: StateId) -> bool {
        (node as usize) < self.expanded
    }

    /// How much memory it takes, roughly.
    pub fn bytes(&self) -> u64 {
        let per_state = 2 * 16 + 8 + 4 + 4 + 8 + 8 + 8 + 3;
        let lists =
            self.edges.len() * size_of::<Edge>() + self.obligations.len() * size_of::<Obligation>();
        (self.packed.len() * size_of::<u16>() + self.len() * per_state + lists) as u64
    }

    /// The most moves it takes to come to a state.
    pub fn depth(&self) -> u32 {
        self.depths.last().copied().unwrap_or(0)
    }

    /// The moves from a state.
    pub fn edges(&self, node: StateId) -> &[Edge] {
        let place = node as usize;
        &self.edges[self.first_edge[place]..self.first_edge[place + 1]]
    }

    /// What must happen in a state, sooner or later.
    pub fn obligations(&self, node: StateId) -> &[Obligation] {
        let place = node as usize;
        &self.obligations[self.first_obligation[place]..self.first_obligation[place + 1]]
    }

    /// A state in full.
    pub fn state(&self, explorer: &Explorer<'_>, node: StateId) -> State {
        let mut state = State::default();
        let mut packed = &self.packed[self.begins[node as usize]..];
        state.unpack(explorer.nodes(), &mut packed);
        state
    }

    /// The state of this hash.
    pub fn node(&self, hash: u64) -> Option<StateId> {
        self.places.get(&hash).copied()
    }

    /// A shortest way to a state, from one in which runs begin.
    pub fn way(&self, node: StateId) -> Vec<StateId> {
        let mut way = vec![node];
        while self.depths[way[way.len() - 1] as usize] > 0 {
            way.push(self.parents[way[way.len() - 1] as usize]);
        }
        way.reverse();
        way
    }

    /// A run along a way: the state in which it begins, and its moves.
    ///
    /// Where a state stands for others, the run is one of those: it also delivers what the normal
    /// form leaves out, as soon as it can, or that would stand in the way of what is sent later.
    pub fn run(
        &self,
        explorer: &mut Explorer<'_>,
        way: &[StateId],
    ) -> Option<(State, Vec<Stride>)> {
        let goals: Vec<u64> = way.iter().map(|&node| self.state(explorer, node).hash).collect();
        let mut initial = explorer.initial();
        let begun = initial.iter().position(|state| self.key(explorer, state) == goals[0])?;
        let begun = initial.swap_remove(begun);
        let mut here = begun.clone();
        let mut strides = Vec::new();
        for pair in goals.windows(2) {
            let (now, goal) = (pair[0], pair[1]);
            for _ in 0..IDLE_MAX {
                let idles = |action| matches!(action, Action::Deliver { .. });
                if !self.normal || now == goal {
                    break;
                }
                let Some(stride) = self.stride(explorer, &here, now, &idles) else { break };
                here = stride.after.clone();
                strides.push(stride);
            }
            let stride = self.stride(explorer, &here, goal, &|_| true)?;
            here = stride.after.clone();
            strides.push(stride);
        }
        Some((begun, strides))
    }

    /// A move of this kind from one state to one that stands for a certain one.
    fn stride(
        &self,
        explorer: &mut Explorer<'_>,
        state: &State,
        goal: u64,
        is_kind: &dyn Fn(Action) -> bool,
    ) -> Option<Stride> {
        let mut enabled = Vec::new();
        moves::enabled(explorer, state, &mut enabled);
        for Enabled { action, .. } in enabled.into_iter().filter(|one| is_kind(one.action)) {
            for &outcome in explorer.outcomes(state, action).iter() {
                let mut after = State::default();
                explorer.advance(state, action, outcome, &mut after);
                if self.key(explorer, &after) == goal {
                    return Some(Stride { action, outcome, after });
                }
            }
        }
        None
    }

    /// The hash of the state that stands for this one.
    fn key(&self, explorer: &mut Explorer<'_>, state: &State) -> u64 {
        if !self.normal {
            return state.hash;
        }
        let mut normal = state.clone();
        explorer.normalise(&mut normal);
        normal.hash
    }
}

fn is_anybody_inside(explorer: &Explorer<'_>, state: &State) -> bool {
    let mut clients = 0..explorer.clients() as u16;
    clients.any(|node| explorer.face(state, node).phase == Phase::Inside)
}

/// The nodes that wait to enter, or follow nobody though an election has begun.
fn wanting(explorer: &Explorer<'_>, state: &State) -> u64 {
    let faces = || (0..explorer.clients() as u16).map(|node| (node, explorer.face(state, node)));
    let begun = faces().any(|(_, face)| face.begun);
    let wants = |face: &crate::workings::Face| match explorer.family() {
        Family::Mutex => face.phase == Phase::Waiting,
        Family::Election => begun && face.up && face.leader.is_none(),
    };
    faces().filter(|(_, face)| wants(face)).fold(0, |bits, (node, _)| bits | 1 << node)
}
