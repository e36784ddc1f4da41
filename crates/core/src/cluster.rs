//! The nodes of one algorithm, ready to be run by any driver.

use crate::{NodeId, NodeSet, Ticks};
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

/// The nodes of one algorithm, ready to be run by any driver.
pub struct Cluster<P> {
    /// How many nodes the application runs on: the first ones.
    pub clients: u32,
    /// How many nodes behind them only coordinate.
    pub coordinators: u32,
    /// Whether it falls silent when nobody wants to enter.
    pub silent: bool,
    /// The kinds of messages that are sent whether or not anybody asks for anything.
    pub upkeep: &'static [&'static str],
    /// Which node an election should come to, given who is up in the end and who began it;
    /// `None` where any will do.
    pub winner: Option<Winner>,
    /// Which nodes have a link between them.
    pub links: Links,
    /// The example that they play, if they play one.
    pub play: Option<Play>,
    /// Makes the node in its very first state.
    pub fresh: Box<dyn Fn(NodeId) -> P + Send + Sync>,
}

impl<P> Cluster<P> {
    /// A cluster of equals that falls silent when nobody wants to enter.
    pub fn of_equals(n: u32, fresh: impl Fn(NodeId) -> P + Send + Sync + 'static) -> Self {
        Self {
            clients: n,
            coordinators: 0,
            silent: true,
            upkeep: &[],
            winner: None,
            links: Links::Complete,
            play: None,
            fresh: Box::new(fresh),
        }
    }

    /// All nodes, coordinators included.
    pub fn nodes(&self) -> u32 {
        self.clients + self.coordinators
    }
}
