//! What is true between two steps.

use crate::trace::{Cause, Header, Language, Record, Step, Told, Trace, words};
use conclave_core::{NodeId, Ticks};
use std::collections::BTreeSet;

/// A node, as far as a picture shows it.
#[derive(Clone, Default)]
pub struct Node {
    pub waiting: bool,
    pub inside: Option<u64>,
    pub down: bool,
    pub paused: bool,
    /// Whom it takes for the leader.
    pub leader: Option<NodeId>,
    pub suspects: BTreeSet<NodeId>,
}

/// A message under way.
pub struct Flight {
    pub number: u64,
    pub from: NodeId,
    pub to: NodeId,
    pub label: String,
    /// Whether it is lost on the way.
    pub lost: bool,
    /// How often it will still arrive.
    left: usize,
}

/// The cluster between two steps.
pub struct State<'a> {
    pub header: &'a Header,
    pub language: Language,
    pub now: Ticks,
    pub nodes: Vec<Node>,
    pub flights: Vec<Flight>,
    /// Who acted last.
    pub acting: Option<NodeId>,
    /// The message that made it act: who sent it, and what it is called.
    pub arrived: Option<(NodeId, NodeId, String)>,
    pub partitions: Vec<(u32, Vec<Vec<NodeId>>)>,
    caption: String,
}

impl<'a> State<'a> {
    pub fn new(trace: &'a Trace, language: Language) -> Self {
        Self {
            header: &trace.header,
            language,
            now: Ticks::ZERO,
            nodes: vec![Node::default(); trace.header.names.len()],
            flights: Vec::new(),
            acting: None,
            arrived: None,
            partitions: Vec::new(),
            caption: String::new(),
        }
    }

    /// What happened last, in words.
    pub fn caption(&self) -> &str {
        &self.caption
    }

    /// Whether a partition lies between two nodes.
    pub fn are_apart(&self, a: NodeId, b: NodeId) -> bool {
        self.partitions.iter().any(|(_, groups)| {
            let group = |node| groups.iter().position(|group| group.contains(&node));
            matches!((group(a), group(b)), (Some(a), Some(b)) if a != b)
        })
    }

    pub fn happens(&mut self, record: &Record) {
        self.now = record.at();
        self.flights.retain(|flight| !flight.lost); // Seen once, and gone.
        self.acting = None;
        self.arrived = None;
        self.caption = words::record(record, self.header, self.language);
        match record {
            Record::Step(step) => self.step(step),
            Record::Lost { node, number, .. } => {
                self.acting = Some(*node);
                self.lands(*number);
            }
            Record::Dead { node } | Record::Crash { node, .. } => {
                self.acting = Some(*node);
                self.nodes[node.index()] = Node { down: true, ..Node::default() };
            }
            Record::Restart { node, .. } => {
                self.acting = Some(*node);
                self.nodes[node.index()] = Node::default();
            }
            Record::Pause { node, .. } => self.nodes[node.index()].paused = true,
            Record::Resume { node, .. } => self.nodes[node.index()].paused = false,
            Record::Partition { number, groups, .. } => {
                self.partitions.push((*number, groups.clone()));
            }
            Record::Heal { number, .. } => self.partitions.retain(|(cut, _)| cut != number),
            Record::Suspect { .. } | Record::Violation(_) | Record::End { .. } => {}
        }
    }

    fn step(&mut self, step: &Step) {
        self.acting = Some(step.node);
        if let Cause::Message { number, from, label } = &step.cause {
            self.lands(*number);
            self.arrived = Some((*from, step.node, label.clone()));
        }
        for sending in step.sends() {
            self.flights.push(Flight {
                number: sending.number,
                from: step.node,
                to: sending.to,
                label: words::caption(&sending.label, &sending.details),
                lost: sending.arrival.is_none(),
                left: sending.arrivals().count(),
            });
        }
        let node = &mut self.nodes[step.node.index()];
        if let Cause::Request(request) = &step.cause {
            node.waiting = request == "Acquire" || node.waiting && request != "Cancel";
            if request == "Release" {
                node.inside = None;
            }
        }
        for told in step.told() {
            match told {
                Told::Entered { fence } => (node.inside, node.waiting) = (Some(fence), false),
                Told::Elected { leader, .. } => node.leader = Some(leader),
                Told::Deposed => node.leader = None,
                Told::Suspect(whom) => {
                    node.suspects.insert(whom);
                }
                Told::Trust(whom) => {
                    node.suspects.remove(&whom);
                }
                Told::Other(_) => {}
            }
        }
    }

    /// A message arrives, perhaps for the last time.
    fn lands(&mut self, number: u64) {
        for flight in self.flights.iter_mut().filter(|flight| flight.number == number) {
            flight.left = flight.left.saturating_sub(1);
        }
        self.flights.retain(|flight| flight.lost || flight.left > 0);
    }
}
