//! The local state of one node, with all that belongs to it: its process, its timers, its user.

use conclave_core::{Delay, NodeId, Process};
use serde::Serialize;

/// One node at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(bound = "")]
pub struct Local<P: Process> {
    pub node: NodeId,
    pub status: Status,
    /// What runs, or what would run after a return.
    pub process: P,
    /// What runs out, in one fixed order.
    pub timers: Vec<Running<P::Timer>>,
    pub user: User,
    /// How often its user may still ask.
    pub requests: Option<u32>,
    /// How often its timers may still fire.
    pub timeouts: Option<u32>,
    /// Whom its detector suspects, one bit each.
    pub suspects: u64,
    pub order: Option<Order>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Status {
    Up,
    Down {
        /// Whether it can come back with its disk.
        returns: bool,
    },
}

/// A timer, with the shortest and the longest time that it still runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Running<T> {
    pub timer: T,
    pub earliest: u64,
    pub latest: u64,
}

/// Where the user of a node stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct User {
    pub phase: Phase,
    /// The fencing token it is inside with, where fences are watched.
    pub fence: Option<u64>,
    pub leader: Option<NodeId>,
    /// Whether it has called for an election.
    pub begun: bool,
    /// Whether it will.
    pub to_begin: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub enum Phase {
    #[default]
    Idle,
    Waiting,
    Inside,
}

/// What a node knows of everybody's requests, by their number: enough to tell which of two
/// happened before the other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Order {
    /// The last request of each node in the past of this one.
    pub past: Vec<u32>,
    /// The same at the moment of its own last request.
    pub asked: Vec<u32>,
}

impl Order {
    pub fn new(n: u32) -> Self {
        Self { past: vec![0; n as usize], asked: vec![0; n as usize] }
    }

    pub fn requested(&mut self, me: NodeId) {
        self.past[me.index()] += 1;
        self.asked.clone_from(&self.past);
    }

    pub fn heard(&mut self, past: &[u32]) {
        for (mine, theirs) in self.past.iter_mut().zip(past) {
            *mine = (*mine).max(*theirs);
        }
    }
}

impl<P: Process> Local<P> {
    /// Whether it is up.
    pub fn is_up(&self) -> bool {
        self.status == Status::Up
    }

    /// Starts a timer, or starts it anew. Without a `span` it may fire at any moment.
    pub fn set_timer(&mut self, timer: P::Timer, after: Delay, timed: bool) {
        self.cancel_timer(timer);
        let (earliest, latest) = if timed { (after.min.0, after.max.0) } else { (0, 0) };
        // The order in which timers were set must not make two states out of one.
        let key = conclave_core::hash(&timer);
        let place = self.timers.partition_point(|other| conclave_core::hash(&other.timer) <= key);
        self.timers.insert(place, Running { timer, earliest, latest });
    }

    /// Stops a timer, running or not.
    pub fn cancel_timer(&mut self, timer: P::Timer) {
        self.timers.retain(|running| running.timer != timer);
    }

    /// Some time passes, at least and at most so much.
    pub fn elapse(&mut self, least: u64, most: u64) {
        for running in &mut self.timers {
            running.earliest = running.earliest.saturating_sub(most);
            running.latest = running.latest.saturating_sub(least);
        }
    }
}
