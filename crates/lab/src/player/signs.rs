//! What is true of the nodes and the network between two events, as far as a picture shows it:
//! who waits, is inside, leads, is down; and which links are cut.

use conclave_core::{NodeId, Ticks};
use conclave_sim::Patience;
use conclave_sim::trace::{Cause, Effect, Record, Step, Told, Trace};
use std::collections::{BTreeMap, BTreeSet};

/// A node between two events.
#[derive(Clone, Debug, Default)]
pub struct NodeSigns {
    /// Whether it waits to enter.
    pub waiting: bool,
    /// With which fence it is inside.
    pub inside: Option<u64>,
    /// Whether it is down.
    pub down: bool,
    /// Whether it does nothing.
    pub paused: bool,
    /// Whom it takes for the leader.
    pub leader: Option<NodeId>,
    /// Whether it called for an election that is not over.
    pub campaigns: bool,
    /// Whom it suspects.
    pub suspects: BTreeSet<NodeId>,
    /// The running timers by name: since when, until when.
    pub timers: BTreeMap<String, (Ticks, Ticks)>,
}

impl NodeSigns {
    /// The word for what it is.
    pub fn sign(&self, me: NodeId) -> &'static str {
        match self.leader {
            _ if self.down => "down",
            _ if self.inside.is_some() => "inside",
            _ if self.waiting => "waiting",
            Some(leader) if leader == me => "leader",
            None if self.campaigns => "candidate",
            Some(_) => "follower",
            None => "idle",
        }
    }
}

/// The whole between two events.
#[derive(Clone, Debug)]
pub struct Signs {
    /// Every node.
    pub nodes: Vec<NodeSigns>,
    /// The partitions: number and groups.
    cuts: BTreeMap<u32, Vec<Vec<NodeId>>>,
    /// For each two nodes, how many of these part them.
    parted: Vec<u32>,
    /// When the last event was.
    pub now: Ticks,
}

impl Signs {
    /// Before anything has happened.
    pub fn new(trace: &Trace) -> Self {
        let n = trace.header.names.len();
        let nodes = vec![NodeSigns::default(); n];
        Self { nodes, cuts: BTreeMap::new(), parted: vec![0; n * n], now: Ticks::ZERO }
    }

    /// After so many events.
    pub fn after(trace: &Trace, events: usize) -> Self {
        let mut signs = Self::new(trace);
        for record in trace.records.iter().take(events) {
            signs.happens(record);
        }
        signs
    }

    /// The links that are cut, in order.
    pub fn cut_links(&self) -> Vec<(NodeId, NodeId)> {
        let n = self.nodes.len() as u32;
        let links = (0..n).flat_map(|a| (a + 1..n).map(move |b| (NodeId(a), NodeId(b))));
        links.filter(|&(a, b)| self.is_cut(a, b)).collect()
    }

    /// Whether the link between two nodes is cut.
    pub fn is_cut(&self, a: NodeId, b: NodeId) -> bool {
        self.parted[self.link(a, b)] > 0
    }

    fn link(&self, a: NodeId, b: NodeId) -> usize {
        a.min(b).index() * self.nodes.len() + a.max(b).index()
    }

    fn cut(&mut self, number: u32, groups: &[Vec<NodeId>]) {
        self.heal(number);
        self.part(groups, |parted| *parted += 1);
        self.cuts.insert(number, groups.to_vec());
    }

    fn heal(&mut self, number: u32) {
        if let Some(groups) = self.cuts.remove(&number) {
            self.part(&groups, |parted| *parted -= 1);
        }
    }

    /// Counts for each two nodes that groups part.
    fn part(&mut self, groups: &[Vec<NodeId>], count: fn(&mut u32)) {
        for (place, group) in groups.iter().enumerate() {
            for &other in groups[place + 1..].iter().flatten() {
                for &node in group {
                    let link = self.link(node, other);
                    count(&mut self.parted[link]);
                }
            }
        }
    }

    /// One event more; whom it is about.
    pub fn happens(&mut self, record: &Record) -> Option<NodeId> {
        self.now = record.at();
        match record {
            Record::Step(step) => {
                if let Some(node) = self.nodes.get_mut(step.node.index()) {
                    node.step(step);
                }
                return Some(step.node);
            }
            Record::Dead { node } | Record::Crash { node, .. } => {
                self.nodes[node.index()] = NodeSigns { down: true, ..NodeSigns::default() };
                return Some(*node);
            }
            Record::Restart { node, .. } => {
                self.nodes[node.index()] = NodeSigns::default();
                return Some(*node);
            }
            Record::Pause { node, .. } => {
                self.nodes[node.index()].paused = true;
                return Some(*node);
            }
            Record::Resume { node, .. } => {
                self.nodes[node.index()].paused = false;
                return Some(*node);
            }
            Record::Partition { number, groups, .. } => self.cut(*number, groups),
            Record::Heal { number, .. } => self.heal(*number),
            Record::Lost { .. }
            | Record::Suspect { .. }
            | Record::Violation(_)
            | Record::End { .. } => {}
        }
        None
    }
}

impl NodeSigns {
    fn step(&mut self, step: &Step) {
        match &step.cause {
            Cause::Request(asked) => match asked.as_str() {
                "Acquire" => self.waiting = true,
                "Cancel" => self.waiting = false,
                "Release" => self.inside = None,
                "Campaign" => self.campaigns = true,
                _ => {}
            },
            Cause::Timer(label) => {
                self.timers.remove(label);
            }
            Cause::Start
            | Cause::Restart
            | Cause::Indication(_)
            | Cause::Message { .. }
            | Cause::Tell
            | Cause::Unseen => {}
        }
        for effect in &step.effects {
            match effect {
                Effect::SetTimer { label, until, .. } => {
                    self.timers.insert(label.clone(), (step.at, *until));
                }
                Effect::CancelTimer { label, .. } => {
                    self.timers.remove(label);
                }
                Effect::Indicate { effect } => self.told(&Told::of(effect)),
                Effect::Send(_) | Effect::Request { .. } => {}
            }
        }
    }

    fn told(&mut self, told: &Told) {
        match told {
            Told::Entered { fence } => {
                self.inside = Some(*fence);
                self.waiting = false;
            }
            Told::Elected { leader, .. } => {
                self.leader = Some(*leader);
                self.campaigns = false;
            }
            Told::Deposed => self.leader = None,
            Told::Suspect(node) => {
                self.suspects.insert(*node);
            }
            Told::Trust(node) => {
                self.suspects.remove(node);
            }
            Told::Other(_) => {}
        }
    }
}

/// When a node had which sign, over the whole run: node, sign, from which event, to which; open
/// at the end. Being idle is no sign. Breaks off when nobody waits any longer.
pub fn spans(trace: &Trace, patience: Patience) -> Vec<(u32, &'static str, usize, Option<usize>)> {
    let mut signs = Signs::new(trace);
    let mut open: Vec<Option<usize>> = vec![None; trace.header.names.len()];
    let mut spans: Vec<(u32, &'static str, usize, Option<usize>)> = Vec::new();
    for (event, record) in (1..).zip(&trace.records).take_while(|_| !patience.is_over()) {
        let Some(node) = signs.happens(record) else { continue };
        let state = &signs.nodes[node.index()];
        let sign = match state.sign(node) {
            "idle" | "follower" if state.paused => Some("paused"),
            "idle" | "follower" => None,
            sign => Some(sign),
        };
        let running = open[node.index()].map(|place| spans[place].1);
        if running == sign {
            continue;
        }
        if let Some(place) = open[node.index()].take() {
            spans[place].3 = Some(event);
        }
        if let Some(sign) = sign {
            open[node.index()] = Some(spans.len());
            spans.push((node.0, sign, event, None));
        }
    }
    spans
}
