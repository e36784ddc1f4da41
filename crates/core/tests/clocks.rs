//! The clocks against what they promise, in many random runs.
//!
//! Each run lets a few nodes do things, send, and receive in any order. What happened before what
//! is known from the run itself: as the set of all earlier events, kept for each.

use conclave_core::NodeId;
use conclave_core::clock::{Hybrid, Lamport, Matrix, Stamp, Vector};
use std::collections::{BTreeMap, BTreeSet};

const RUNS: u64 = 200;
const STEPS: u32 = 40;

/// A small generator, the same everywhere (splitmix64).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }
}

/// One event, with everything each clock said of it.
#[derive(Clone)]
struct Event {
    node: NodeId,
    before: BTreeSet<usize>,
    lamport: u64,
    vector: Vector,
    matrix: Matrix,
    hybrid: Hybrid,
    physical: u64,
}

#[derive(Clone)]
struct Node {
    known: BTreeSet<usize>,
    lamport: Lamport,
    vector: Vector,
    matrix: Matrix,
    hybrid: Hybrid,
    physical: u64,
}

/// How far physical clocks are behind true time, and so apart, at most.
const SKEW: u64 = 4;

struct Run {
    n: u32,
    now: u64,
    nodes: Vec<Node>,
    events: Vec<Event>,
    flying: Vec<(NodeId, usize)>,
    random: Random,
}

impl Run {
    fn random(seed: u64) -> Self {
        let mut random = Random(seed);
        let n = 1 + random.below(5) as u32;
        let node = Node {
            known: BTreeSet::new(),
            lamport: Lamport::default(),
            vector: Vector::new(n),
            matrix: Matrix::new(n),
            hybrid: Hybrid::default(),
            physical: 0,
        };
        let nodes = vec![node; n as usize];
        let mut run = Self { n, now: 20, nodes, events: Vec::new(), flying: Vec::new(), random };
        for _ in 0..STEPS {
            run.step();
        }
        run
    }

    fn step(&mut self) {
        self.now += self.random.below(4);
        let me = NodeId(self.random.below(self.n.into()) as u32);
        // Physical clocks may be late, but never run backwards.
        let wrong = self.random.below(SKEW + 1);
        let node = &mut self.nodes[me.index()];
        node.physical = node.physical.max(self.now - wrong);
        let waiting = self.flying.iter().position(|(to, _)| *to == me);
        match (waiting, self.random.below(3)) {
            (Some(place), 0 | 1) => {
                let (_, sent) = self.flying.swap_remove(place);
                self.receives(me, sent);
            }
            (None, 0) | (Some(_) | None, 2..) => self.happens(me),
            (None, _) => {
                self.happens(me);
                let to = NodeId(self.random.below(self.n.into()) as u32);
                self.flying.push((to, self.events.len() - 1));
            }
        }
    }

    /// A local event or a sending.
    fn happens(&mut self, me: NodeId) {
        let node = &mut self.nodes[me.index()];
        node.lamport.tick();
        node.vector.tick(me);
        node.matrix.tick(me);
        node.hybrid.tick(node.physical);
        self.record(me);
    }

    fn receives(&mut self, me: NodeId, sent: usize) {
        let event = self.events[sent].clone();
        let node = &mut self.nodes[me.index()];
        node.known.extend(event.before.iter().copied().chain([sent]));
        node.lamport.receive(event.lamport);
        node.vector.receive(me, &event.vector).expect("honest");
        node.matrix.receive(me, event.node, &event.matrix).expect("honest");
        let now = node.physical;
        node.hybrid.receive(event.hybrid, now, SKEW).expect("within the skew");
        self.record(me);
    }

    fn record(&mut self, me: NodeId) {
        let node = &mut self.nodes[me.index()];
        self.events.push(Event {
            node: me,
            before: node.known.clone(),
            lamport: node.lamport.now(),
            vector: node.vector.clone(),
            matrix: node.matrix.clone(),
            hybrid: node.hybrid,
            physical: node.physical,
        });
        node.known.insert(self.events.len() - 1);
    }

    /// All pairs of different events, with whether the first happened before the second.
    fn pairs(&self) -> impl Iterator<Item = (&Event, &Event, bool)> {
        let numbered = || self.events.iter().enumerate();
        numbered().flat_map(move |(i, a)| {
            numbered()
                .filter(move |(j, _)| i != *j)
                .map(move |(_, b)| (a, b, b.before.contains(&i)))
        })
    }
}

#[test]
fn lamport_order_extends_happened_before_to_a_total_order() {
    let mut ordered_though_concurrent = 0;
    for seed in 0..RUNS {
        let run = Run::random(seed);
        let stamp = |event: &Event| Stamp::new(event.lamport, event.node);
        for (a, b, before) in run.pairs() {
            assert_ne!(stamp(a), stamp(b), "seed {seed}");
            assert!(!before || a.lamport < b.lamport, "seed {seed}");
            let concurrent = !before && a.vector.partial_cmp(&b.vector).is_none();
            ordered_though_concurrent += u32::from(concurrent && a.lamport < b.lamport);
        }
    }
    assert!(ordered_though_concurrent > 0, "the converse is false");
}

#[test]
fn vectors_and_matrices_tell_exactly_what_happened_before_what() {
    for seed in 0..RUNS {
        let run = Run::random(seed);
        for (a, b, before) in run.pairs() {
            assert_eq!(a.vector < b.vector, before, "seed {seed}");
            assert_eq!(a.matrix < b.matrix, before, "seed {seed}");
        }
    }
}

#[test]
fn a_matrix_holds_the_vector_and_what_everybody_knows() {
    let mut known_by_all = 0;
    for seed in 0..RUNS {
        let run = Run::random(seed);
        let mut latest: BTreeMap<NodeId, &Event> = BTreeMap::new();
        for event in &run.events {
            assert_eq!(event.matrix.row(event.node), event.vector, "seed {seed}");
            latest.insert(event.node, event);
            for subject in (0..run.n).map(NodeId) {
                let claimed = event.matrix.known_by_all(subject);
                known_by_all += claimed;
                let known = |node: NodeId| latest.get(&node).map_or(0, |e| e.vector.of(subject));
                assert!((0..run.n).all(|node| known(NodeId(node)) >= claimed), "seed {seed}");
            }
        }
    }
    assert!(known_by_all > 0, "something is known by all");
}

#[test]
fn hybrid_time_rises_and_stays_near_physical_time() {
    let mut ahead = 0;
    for seed in 0..RUNS {
        let run = Run::random(seed);
        for (a, b, before) in run.pairs() {
            assert!(!before || a.hybrid < b.hybrid, "seed {seed}");
        }
        for event in &run.events {
            assert!(event.hybrid.physical() >= event.physical, "seed {seed}");
            ahead = ahead.max(event.hybrid.physical() - event.physical);
        }
    }
    assert!((1..=SKEW).contains(&ahead), "{ahead} ahead");
}
