//! For the tests of elections on graphs: a small network that keeps the order on every link.

use crate::election::graph::Graph;
use crate::election::rank::Rank;
use conclave_core::detector::{self, Detector};
use conclave_core::election::{Election, Indication, Request};
use conclave_core::{Choices, Context, Effect, Event, Named, NodeId, NodeSet, Process, Ticks};
use std::collections::BTreeMap;

/// A node of the network and all that is on its way to it.
pub struct Testbed<P: Process> {
    pub nodes: Vec<P>,
    pub down: NodeSet,
    /// Whom each node follows.
    pub leaders: Vec<Option<NodeId>>,
    /// How many messages of each name were sent.
    pub sent: BTreeMap<&'static str, u64>,
    pub now: Ticks,
    /// Of equal times messages go before timers; then as they were set.
    agenda: BTreeMap<(Ticks, bool, u64), (NodeId, Event<P>)>,
    numbers: u64,
    last: BTreeMap<(NodeId, NodeId), Ticks>,
    /// How long the next message takes.
    latency: Box<dyn FnMut() -> Ticks>,
}

impl<P: Process<Provides = Election, Uses = Detector>> Testbed<P> {
    /// A network of these nodes where every message takes one unit.
    pub fn new(nodes: Vec<P>) -> Self {
        Self {
            leaders: vec![None; nodes.len()],
            nodes,
            down: NodeSet::default(),
            sent: BTreeMap::new(),
            now: Ticks::ZERO,
            agenda: BTreeMap::new(),
            numbers: 0,
            last: BTreeMap::new(),
            latency: Box::new(|| Ticks::UNIT),
        }
    }

    /// The same where messages take from 1 to `most` ticks, by chance.
    pub fn with_chance(self, seed: u64, most: u64) -> Self {
        let mut draw = numbers(seed);
        Self { latency: Box::new(move || Ticks(1 + draw() % most)), ..self }
    }

    /// These begin now.
    pub fn start(mut self, initiators: impl IntoIterator<Item = u32>) -> Self {
        for node in initiators {
            self.act(NodeId(node), Event::Request(Request::Campaign));
        }
        self
    }

    /// A node crashes now; the others are told two units later.
    pub fn crash(&mut self, node: u32) {
        let node = NodeId(node);
        self.down.insert(node);
        self.leaders[node.index()] = None;
        for other in node.others(self.nodes.len() as u32) {
            let told = Event::Indication(detector::Indication::Suspect(node));
            let at = (self.now + Ticks::units(2), false, self.number());
            self.agenda.insert(at, (other, told));
        }
    }

    /// Runs until nothing is on its way, or for so many events; true if nothing is.
    pub fn run(&mut self, events_max: u64) -> bool {
        let _any_left = (0..events_max).all(|_| self.event());
        self.agenda.is_empty()
    }

    /// Lets the next thing happen; false if there is none.
    pub fn event(&mut self) -> bool {
        let Some((at, (node, event))) = self.agenda.pop_first() else { return false };
        self.now = at.0;
        if !self.down.contains(node) {
            self.act(node, event);
        }
        true
    }

    /// Runs to the end and says how many messages were sent.
    pub fn total(&mut self) -> u64 {
        assert!(self.run(10_000_000), "it does not end");
        self.sent.values().sum()
    }

    /// Asserts that every live node follows this one.
    #[track_caller]
    pub fn assert_leader(&self, leader: u32) {
        for (node, follows) in (0..).map(NodeId).zip(&self.leaders) {
            if !self.down.contains(node) {
                assert_eq!(*follows, Some(NodeId(leader)), "node {} at {}", node, self.now);
            }
        }
    }

    fn number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }

    fn act(&mut self, node: NodeId, event: Event<P>) {
        let mut ctx = Context::new(Choices::None);
        ctx.act(node, &mut self.nodes[node.index()], event);
        for effect in ctx.drain() {
            let number = self.number();
            match effect {
                Effect::Send { to, message } => {
                    *self.sent.entry(message.name()).or_default() += 1;
                    let last = self.last.entry((node, to)).or_default();
                    *last = (self.now + (self.latency)()).max(*last);
                    let arrival = Event::Message { from: node, message };
                    self.agenda.insert((*last, false, number), (to, arrival));
                }
                Effect::SetTimer { timer, after } => {
                    let at = (self.now + after.min, true, number);
                    self.agenda.insert(at, (node, Event::Timer(timer)));
                }
                Effect::Indicate(Indication::Elected { leader, .. }) => {
                    self.leaders[node.index()] = Some(leader);
                }
                Effect::Indicate(_) | Effect::CancelTimer(_) | Effect::Request(_) => {}
            }
        }
    }
}

/// The nodes of a graph with these ids, or 1 to n if there are none.
pub fn nodes<P>(graph: &Graph, ids: &[u64], fresh: impl Fn(Rank, &[NodeId]) -> P) -> Vec<P> {
    let id = |node: NodeId| ids.get(node.index()).copied().unwrap_or(u64::from(node.0) + 1);
    let each = (0..graph.nodes()).map(NodeId);
    each.map(|node| fresh(Rank::of(node, id(node)), graph.neighbours(node))).collect()
}

/// A graph by name or from the text of a file.
pub fn graph(text: &str, n: u32) -> Graph {
    Graph::parse(text, n).unwrap_or_else(|wrong| panic!("{text} of {n}: {wrong}"))
}

/// Numbers by chance, good enough for tests.
pub fn numbers(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state >> 8
    }
}

/// The numbers from 1 to n in an order by chance.
pub fn shuffled(n: u32, seed: u64) -> Vec<u64> {
    let mut draw = numbers(seed);
    let mut ids: Vec<(u64, u64)> = (1..=u64::from(n)).map(|id| (draw(), id)).collect();
    ids.sort_unstable();
    ids.into_iter().map(|(_, id)| id).collect()
}

/// Where the smallest or the greatest id is.
pub fn place(ids: &[u64], of: Option<&u64>) -> u32 {
    ids.iter().position(|id| Some(id) == of).map_or(0, |place| place as u32)
}
