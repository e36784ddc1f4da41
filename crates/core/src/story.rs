//! A counterexample as a list of moves: a run in which order is all and time is nothing.

use crate::{NodeId, Property};
use serde::{Deserialize, Serialize};

/// One thing that happens. All nodes have been started before the first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "move", rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the fields say who, to whom, and which")]
pub enum Move {
    /// A message arrives: the one at this place among those under way on its link, the oldest
    /// first. At a node that is down it is lost.
    Deliver { from: NodeId, to: NodeId, place: usize },
    /// A message arrives, and will arrive once more.
    Repeat { from: NodeId, to: NodeId, place: usize },
    /// A message is lost.
    Lose { from: NodeId, to: NodeId, place: usize },
    /// A running timer fires, known by how its name is written for debugging.
    Fire { node: NodeId, timer: String },
    /// A user asks to enter.
    Acquire { node: NodeId },
    /// A user leaves.
    Release { node: NodeId },
    /// A user no longer wants to enter.
    Cancel { node: NodeId },
    /// A user calls for an election.
    Campaign { node: NodeId },
    /// A node stops.
    Crash { node: NodeId },
    /// A node comes back, with its disk or without; one that is up crashes first.
    Restart { node: NodeId, amnesia: bool },
    /// A detector tells one node that another has crashed, rightly or not.
    Suspect { by: NodeId, of: NodeId },
    /// A detector tells one node that another is up after all.
    Trust { by: NodeId, of: NodeId },
}

impl Move {
    /// At which node it happens.
    pub fn node(&self) -> NodeId {
        match *self {
            Self::Deliver { to, .. } | Self::Repeat { to, .. } | Self::Lose { to, .. } => to,
            Self::Fire { node, .. }
            | Self::Acquire { node }
            | Self::Release { node }
            | Self::Cancel { node }
            | Self::Campaign { node }
            | Self::Crash { node }
            | Self::Restart { node, .. } => node,
            Self::Suspect { by, .. } | Self::Trust { by, .. } => by,
        }
    }
}

/// A move, with the answers to `Context::choose` that were given in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moment {
    /// What happens.
    #[serde(flatten)]
    pub act: Move,
    /// The answers, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<u32>,
}

/// A counterexample: how a property is violated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Story {
    /// Which property.
    pub property: Property,
    /// What happens, in order. The last moment violates the property, or is the last of all, or
    /// ends the loop.
    pub moments: Vec<Moment>,
    /// Of a run that goes on for ever: the number of moments before those that repeat.
    pub stem: Option<usize>,
    /// Whether no shorter story violates the property.
    pub shortest: bool,
}
