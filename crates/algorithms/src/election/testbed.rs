//! A small network for the tests of elections: messages before timers, a detector that is told
//! the truth a little later, crashes, restarts and cuts.

use conclave_core::detector::{self, Detector};
use conclave_core::election::{Election, Indication, Request};
use conclave_core::{Choices, Context, Effect, Event, Named, NodeId, NodeSet, Process, Recovery};
use std::collections::BTreeMap;

/// Ticks per unit of time.
const UNIT: u64 = 1_000;

/// What happens at a moment, in the order in which it does so at equal times.
enum Happening<P: Process> {
    Crash(NodeId),
    Restart {
        node: NodeId,
        amnesia: bool,
    },
    /// These lose touch with the others; with nobody, the network is whole again.
    Cut(NodeSet),
    /// The detector of a node looks about.
    Look(NodeId),
    Suspect {
        by: NodeId,
        of: NodeId,
    },
    Message {
        from: NodeId,
        to: NodeId,
        message: P::Message,
    },
    Timer {
        node: NodeId,
        timer: P::Timer,
    },
    Campaign(NodeId),
}

impl<P: Process> Happening<P> {
    fn order(&self) -> u8 {
        match self {
            Self::Crash(_) | Self::Restart { .. } | Self::Cut(_) => 0,
            Self::Look(_) | Self::Suspect { .. } => 1,
            Self::Message { .. } => 2,
            Self::Timer { .. } => 3,
            Self::Campaign(_) => 4,
        }
    }
}

type Fresh<P> = Box<dyn Fn(NodeId) -> P>;
/// When, and in which order at equal times.
type Moment = (u64, u8, u64);
type Latency = Box<dyn FnMut(NodeId, NodeId) -> u64>;

/// A cluster under test.
pub struct Testbed<P: Process> {
    fresh: Fresh<P>,
    nodes: Vec<P>,
    up: Vec<bool>,
    views: Vec<NodeSet>,
    side: NodeSet,
    queue: BTreeMap<Moment, Happening<P>>,
    running: Vec<(NodeId, P::Timer, Moment)>,
    number: u64,
    now: u64,
    latency: Latency,
    /// How long a timer runs, and how long a detector takes, where there is a choice.
    draw: Box<dyn FnMut(u64, u64) -> u64>,
    beliefs: Vec<Option<(NodeId, u64)>>,
    /// How many messages of each name were sent.
    pub sent: BTreeMap<&'static str, u32>,
    /// Who was told when that it leads, and until when it may think so.
    pub leaders: Vec<(u64, NodeId, u64)>,
    terms: BTreeMap<u64, NodeId>,
    /// When a belief last changed.
    pub settled: u64,
}

impl<P: Process<Provides = Election, Uses = Detector>> Testbed<P> {
    pub fn new(n: u32, fresh: impl Fn(NodeId) -> P + 'static) -> Self {
        let nodes: Vec<P> = (0..n).map(|me| fresh(NodeId(me))).collect();
        let mut bed = Self {
            fresh: Box::new(fresh),
            nodes,
            up: vec![true; n as usize],
            views: vec![NodeSet::new(n); n as usize],
            side: NodeSet::new(n),
            queue: BTreeMap::new(),
            running: Vec::new(),
            number: 0,
            now: 0,
            latency: Box::new(|_, _| UNIT),
            draw: Box::new(|min, _| min),
            beliefs: vec![None; n as usize],
            sent: BTreeMap::new(),
            leaders: Vec::new(),
            terms: BTreeMap::new(),
            settled: 0,
        };
        for node in (0..n).map(NodeId) {
            bed.step(node, Event::Start);
        }
        bed
    }

    /// All know from the start who leads.
    pub fn led_by(mut self, leader: u32, term: u64) -> Self {
        self.beliefs.fill(Some((NodeId(leader), term)));
        self.terms.insert(term, NodeId(leader));
        self
    }

    pub fn latency(mut self, latency: impl FnMut(NodeId, NodeId) -> u64 + 'static) -> Self {
        self.latency = Box::new(latency);
        self
    }

    pub fn draw(mut self, draw: impl FnMut(u64, u64) -> u64 + 'static) -> Self {
        self.draw = Box::new(draw);
        self
    }

    /// Dead from the start, and known to be.
    pub fn dead(mut self, dead: &[u32]) -> Self {
        for &node in dead {
            self.up[node as usize] = false;
            self.running.retain(|(owner, ..)| owner.0 != node);
        }
        for node in (0..self.nodes.len() as u32).map(NodeId) {
            self.plan(0, Happening::Look(node));
        }
        self
    }

    pub fn start(mut self, nodes: &[u32]) -> Self {
        for &node in nodes {
            self.plan(0, Happening::Campaign(NodeId(node)));
        }
        self
    }

    pub fn campaign(mut self, node: u32, at: u64) -> Self {
        self.plan(at, Happening::Campaign(NodeId(node)));
        self
    }

    pub fn crash(mut self, node: u32, at: u64) -> Self {
        self.plan(at, Happening::Crash(NodeId(node)));
        self
    }

    pub fn restart(mut self, node: u32, at: u64, amnesia: bool) -> Self {
        self.plan(at, Happening::Restart { node: NodeId(node), amnesia });
        self
    }

    pub fn cut(mut self, side: &[u32], at: u64) -> Self {
        self.plan(at, Happening::Cut(side.iter().copied().map(NodeId).collect()));
        self
    }

    /// A wrong suspicion, which lasts until the detector looks again.
    pub fn suspect(mut self, by: u32, of: u32, at: u64, span: u64) -> Self {
        self.plan(at, Happening::Suspect { by: NodeId(by), of: NodeId(of) });
        self.plan(at + span, Happening::Look(NodeId(by)));
        self
    }

    /// Runs until nothing is left to happen, or so long.
    pub fn run(mut self, until: u64) -> Self {
        let mut events = 0;
        while let Some(first) = self.queue.first_entry() {
            if first.key().0 > until {
                break;
            }
            let ((now, ..), happening) = first.remove_entry();
            self.now = now;
            events += 1;
            assert!(events < 1_000_000, "no end in sight");
            self.happen(happening);
        }
        self
    }

    /// When the last thing happened.
    pub fn ended(&self) -> u64 {
        self.now
    }

    pub fn is_silent(&self) -> bool {
        self.queue.is_empty()
    }

    pub fn total(&self) -> u32 {
        self.sent.values().sum()
    }

    pub fn beliefs(&self) -> Vec<Option<u32>> {
        self.beliefs.iter().map(|belief| belief.map(|(leader, _)| leader.0)).collect()
    }

    /// Whom all that are up follow, in one term.
    pub fn leader(&self) -> Option<u32> {
        let up = || (0..self.nodes.len()).filter(|&node| self.up[node]);
        let first = self.beliefs[up().next()?]?;
        up().all(|node| self.beliefs[node] == Some(first)).then_some(first.0.0)
    }

    pub fn up(&self) -> NodeSet {
        let up = (0..).zip(&self.up).filter(|(_, up)| **up);
        up.map(|(node, _)| NodeId(node)).collect()
    }

    fn plan(&mut self, at: u64, happening: Happening<P>) -> Moment {
        self.number += 1;
        let key = (at, happening.order(), self.number);
        self.queue.insert(key, happening);
        key
    }

    fn happen(&mut self, happening: Happening<P>) {
        match happening {
            Happening::Crash(node) => self.crash_now(node),
            Happening::Restart { node, amnesia } => {
                self.crash_now(node); // Unless it was down already.
                self.restart_now(node, amnesia);
            }
            Happening::Cut(side) => {
                self.side = side;
                self.all_look_later();
            }
            Happening::Look(node) => self.look(node),
            Happening::Suspect { by, of } => {
                if self.up[by.index()] && self.views[by.index()].insert(of) {
                    self.step(by, Event::Indication(detector::Indication::Suspect(of)));
                }
            }
            Happening::Message { from, to, message } => {
                if self.up[to.index()] && !self.is_cut(from, to) {
                    self.step(to, Event::Message { from, message });
                }
            }
            Happening::Timer { node, timer } => {
                self.running.retain(|(owner, name, _)| (*owner, *name) != (node, timer));
                self.step(node, Event::Timer(timer));
            }
            Happening::Campaign(node) => {
                if self.up[node.index()] {
                    self.step(node, Event::Request(Request::Campaign));
                }
            }
        }
    }

    fn crash_now(&mut self, node: NodeId) {
        self.up[node.index()] = false;
        self.beliefs[node.index()] = None;
        for (owner, _, key) in &self.running {
            if *owner == node {
                self.queue.remove(key);
            }
        }
        self.running.retain(|(owner, ..)| *owner != node);
        self.all_look_later();
    }

    fn restart_now(&mut self, node: NodeId, amnesia: bool) {
        let fresh = (self.fresh)(node);
        let kept = match self.nodes[node.index()].after_crash() {
            Recovery::State(kept) if !amnesia => kept,
            Recovery::State(_) | Recovery::Fresh | Recovery::Never => fresh,
        };
        self.nodes[node.index()] = kept;
        self.up[node.index()] = true;
        self.views[node.index()].clear();
        self.step(node, Event::Restart);
        self.all_look_later();
    }

    fn all_look_later(&mut self) {
        for node in (0..self.nodes.len() as u32).map(NodeId) {
            let after = (self.draw)(2 * UNIT, 4 * UNIT);
            self.plan(self.now + after, Happening::Look(node));
        }
    }

    fn look(&mut self, node: NodeId) {
        for other in node.others(self.nodes.len() as u32) {
            let gone = !self.up[other.index()] || self.is_cut(node, other);
            let view = &mut self.views[node.index()];
            let told = match gone {
                true => view.insert(other).then_some(detector::Indication::Suspect(other)),
                false => view.remove(other).then_some(detector::Indication::Trust(other)),
            };
            if let (Some(told), true) = (told, self.up[node.index()]) {
                self.step(node, Event::Indication(told));
            }
        }
    }

    fn is_cut(&self, one: NodeId, other: NodeId) -> bool {
        self.side.contains(one) != self.side.contains(other)
    }

    fn step(&mut self, node: NodeId, event: Event<P>) {
        let mut ctx = Context::new(Choices::None);
        ctx.act(node, &mut self.nodes[node.index()], event);
        for effect in ctx.drain() {
            match effect {
                Effect::Send { to, message } => {
                    *self.sent.entry(message.name()).or_default() += 1;
                    let after = (self.latency)(node, to);
                    if !self.is_cut(node, to) {
                        let from = node;
                        self.plan(self.now + after, Happening::Message { from, to, message });
                    }
                }
                Effect::SetTimer { timer, after } => {
                    self.stop(node, timer);
                    let after = (self.draw)(after.min.0, after.max.0);
                    let key = self.plan(self.now + after, Happening::Timer { node, timer });
                    self.running.push((node, timer, key));
                }
                Effect::CancelTimer(timer) => self.stop(node, timer),
                Effect::Indicate(told) => self.indicate(node, told),
                Effect::Request(request) => match request {},
            }
        }
    }

    fn stop(&mut self, node: NodeId, timer: P::Timer) {
        let found = |(owner, name, _): &(NodeId, P::Timer, _)| (*owner, *name) == (node, timer);
        if let Some(at) = self.running.iter().position(found) {
            let (_, _, key) = self.running.swap_remove(at);
            self.queue.remove(&key);
        }
    }

    fn indicate(&mut self, node: NodeId, told: Indication) {
        match told {
            Indication::Elected { leader, term } => {
                self.settled = self.now;
                self.beliefs[node.index()] = Some((leader, term));
                let other = self.terms.insert(term, leader);
                assert!(other.is_none_or(|other| other == leader), "two leaders of term {term}");
                if leader == node {
                    self.leaders.push((self.now, leader, term));
                }
            }
            Indication::Deposed { .. } => self.beliefs[node.index()] = None,
            Indication::Suspect(_) | Indication::Trust(_) => {}
        }
    }
}

/// A generator for tests, the same everywhere.
#[derive(Clone)]
pub struct Random(pub u64);

impl Random {
    /// A number between the two, both included.
    pub fn between(&mut self, min: u64, max: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        min + (mixed ^ (mixed >> 31)) % (max - min + 1)
    }
}
