//! Bounds of model checking: how many requests, faults and timeouts the runs have that are all
//! looked at, and what the network may do.

use crate::NodeSet;
use serde::{Deserialize, Serialize};

/// What may happen, and how often: the limits within which every run is looked at.
///
/// The default is a run without faults in which every node asks once: first in, first out, and a
/// running timer may fire at any moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bounds {
    /// How often the user of each node asks; any number of times if `None`.
    pub requests: Option<u32>,
    /// How often timers fire on each node; any number of times if `None`.
    pub timeouts: Option<u32>,
    /// How many nodes crash.
    pub crashes: u32,
    /// How often a node comes back with its disk. One that is up crashes first, in the same moment.
    pub restarts: u32,
    /// How often a node comes back without it. One that is up crashes first, in the same moment.
    pub amnesia: u32,
    /// How many messages are lost.
    pub losses: u32,
    /// How many messages arrive once more than they were sent.
    pub duplicates: u32,
    /// How often a detector is wrong.
    pub suspicions: u32,
    /// Whether a suspicion of somebody who is up may last for ever. Otherwise it is taken back,
    /// sooner or later.
    #[serde(default)]
    pub lasting: bool,
    /// How often somebody who waits withdraws.
    pub cancels: u32,
    /// Whether whoever is inside may stay there for ever.
    pub stays: bool,
    /// In which order messages of one link arrive.
    pub network: Network,
    /// How many messages are under way on one link at a time; any number if `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_flight: Option<u32>,
    /// When timers fire.
    pub timing: Timing,
    /// Who calls for an election.
    pub start: Start,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            requests: Some(1),
            timeouts: None,
            crashes: 0,
            restarts: 0,
            amnesia: 0,
            losses: 0,
            duplicates: 0,
            suspicions: 0,
            lasting: false,
            cancels: 0,
            stays: false,
            network: Network::Fifo,
            in_flight: None,
            timing: Timing::AnyMoment,
            start: Start::Any,
        }
    }
}

impl Bounds {
    /// Whether anything may go wrong at all.
    pub fn has_faults(&self) -> bool {
        let faults = [self.crashes, self.restarts, self.amnesia, self.losses, self.duplicates];
        faults.iter().any(|&count| count > 0) || self.suspicions > 0
    }
}

/// In which order messages of one link arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Network {
    /// As they were sent.
    Fifo,
    /// Any.
    Bag,
}

/// When timers fire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Timing {
    /// Whenever they run: nothing is known of how long anything takes.
    AnyMoment,
    /// Only when nothing is under way anywhere, and in the order of their deadlines: messages are
    /// faster than any timer.
    Synchronous,
}

/// Who calls for an election. A node that is to do so does, sooner or later.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Start {
    /// Every set of nodes, each of them at any moment.
    Any,
    /// Every set of nodes, all of them at the first moment.
    Together,
    /// These, all of them at the first moment.
    These(NodeSet),
}
