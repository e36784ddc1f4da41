//! A cluster: the nodes of one algorithm, ready to be run by any driver, with what the checker may
//! use to reduce its state space (symmetry, normal form).

use crate::{NodeId, NodeSet, Process, Property, Ticks};
use serde::{Deserialize, Serialize};

/// The rule by which an election's result is judged: from those who are up in the end, and those
/// who began, to the node that should lead; `None` if nobody can.
pub type Winner = Box<dyn Fn(&NodeSet, &NodeSet) -> Option<NodeId> + Send + Sync>;

/// Which nodes have a link between them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Links {
    /// All.
    Complete,
    /// Each and the next, and the last and the first.
    Ring,
    /// These pairs, the smaller index first.
    Edges(Vec<(NodeId, NodeId)>),
}

/// A worked example that the nodes play by themselves, asked by nobody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Play {
    /// How long a message takes in it, unless the plan says otherwise.
    pub hop: Ticks,
    /// Whether the node behind the clients is the application, called `app`.
    pub application: bool,
}

/// All nodes at one moment, and all that is under way between them.
#[derive(Clone, Debug)]
pub struct Snapshot<P: Process> {
    /// The nodes, by index.
    pub nodes: Vec<P>,
    /// By sender and receiver: the messages under way, the oldest first.
    pub links: Vec<(NodeId, NodeId, Vec<P::Message>)>,
}

/// Puts another state in the place of one, from which exactly the same can happen: counters that
/// only ever rise, and of which only differences matter, are set back.
pub type Normal<P> = fn(&mut Snapshot<P>);

/// An invariant of single nodes: the property that a node's own state violates, if it violates one
/// that no user of it could see.
pub type Invariant<P> = fn(&P) -> Option<Property>;

/// Nodes that can be exchanged: all clients among themselves, all coordinators among themselves.
/// Messages must name nobody.
#[derive(Clone, Copy, Debug)]
pub struct Symmetry<P> {
    /// The state of a node in which all others go by new names. Two may go by the same one, so the
    /// result is good for comparing only.
    pub renamed: fn(&P, &Renaming) -> P,
}

/// New names for nodes, by index.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Renaming {
    /// Of the clients.
    pub clients: Vec<NodeId>,
    /// Of the coordinators, both old and new counted from 0.
    pub coordinators: Vec<NodeId>,
}

/// The nodes of one algorithm, ready to be run by any driver.
pub struct Cluster<P: Process> {
    /// How many nodes the application runs on: the first ones.
    pub clients: u32,
    /// How many nodes behind them only coordinate.
    pub coordinators: u32,
    /// Whether it falls silent when nobody wants to enter.
    pub silent: bool,
    /// Whether it does at least where no timer fires any more.
    pub silent_untimed: bool,
    /// The kinds of messages that are sent whether or not anybody asks for anything.
    pub upkeep: &'static [&'static str],
    /// Which node an election should come to, given who is up in the end and who began it;
    /// `None` where any will do.
    pub winner: Option<Winner>,
    /// Which nodes have a link between them.
    pub links: Links,
    /// The example that they play, if they play one.
    pub play: Option<Play>,
    /// What makes states alike that differ only in counters, where it is known.
    pub normal: Option<Normal<P>>,
    /// What exchanges nodes that play the same part, where there are such.
    pub symmetry: Option<Symmetry<P>>,
    /// What must be true of every state of every node, where something is said of that.
    pub invariant: Option<Invariant<P>>,
    /// Makes the node in its very first state.
    pub fresh: Box<dyn Fn(NodeId) -> P + Send + Sync>,
}

impl<P: Process> Cluster<P> {
    /// A cluster of equals that falls silent when nobody wants to enter.
    pub fn of_equals(n: u32, fresh: impl Fn(NodeId) -> P + Send + Sync + 'static) -> Self {
        Self {
            clients: n,
            coordinators: 0,
            silent: true,
            silent_untimed: false,
            upkeep: &[],
            winner: None,
            links: Links::Complete,
            play: None,
            normal: None,
            symmetry: None,
            invariant: None,
            fresh: Box::new(fresh),
        }
    }

    /// All nodes, coordinators included.
    pub fn nodes(&self) -> u32 {
        self.clients + self.coordinators
    }
}
