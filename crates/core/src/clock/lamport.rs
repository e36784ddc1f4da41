//! Lamport's scalar clock.
//!
//! Source: L. Lamport, "Time, clocks, and the ordering of events in a distributed system",
//! CACM 21(7), 1978.

use super::{LIMIT, Refusal};
use crate::NodeId;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A counter that only rises: if one event happened before another, its reading is smaller.
/// The converse is false.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Lamport(pub u64);

impl Lamport {
    /// A local event, or a message about to be sent: the clock moves on, and this is its reading.
    pub fn tick(&mut self) -> u64 {
        self.0 = self.0.checked_add(1).expect("a logical clock counts fewer than 2^64 events");
        self.0
    }

    /// A message arrives that carries `time`.
    pub fn receive(&mut self, time: u64) -> u64 {
        self.0 = self.0.max(time);
        self.tick()
    }

    /// A time is learnt of: the next tick will be later. No event of its own.
    pub fn learn(&mut self, time: u64) {
        self.0 = self.0.max(time);
    }

    /// The same as [`Lamport::receive`] for a time that may be nonsense: refused, the clock stays
    /// as it is.
    pub fn try_receive(&mut self, time: u64) -> Result<u64, Refusal> {
        if time >= LIMIT { Err(Refusal::Absurd) } else { Ok(self.receive(time)) }
    }

    /// The current reading.
    pub fn now(self) -> u64 {
        self.0
    }
}

impl fmt::Display for Lamport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// A moment of Lamport time made unique by the node: smaller is earlier, and the smaller node
/// breaks a tie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Stamp {
    /// The reading.
    pub time: u64,
    /// Whose reading it is.
    pub node: NodeId,
}

impl Stamp {
    /// A reading of a node.
    pub fn new(time: u64, node: NodeId) -> Self {
        Self { time, node }
    }

    /// This stamp as one number that keeps the order, among `n` nodes.
    pub fn as_number(self, n: u32) -> u64 {
        self.time * u64::from(n) + u64::from(self.node.0)
    }
}

impl fmt::Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({},{})", self.time, self.node)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_receipt_is_later_than_the_sending() {
        let mut clock = Lamport(3);
        assert_eq!(clock.receive(10), 11);
        assert_eq!(clock.receive(4), 12);
    }

    #[test]
    fn a_time_near_the_end_of_all_numbers_is_refused() {
        let mut clock = Lamport(3);
        assert_eq!(clock.try_receive(u64::MAX), Err(Refusal::Absurd));
        assert_eq!(clock.try_receive(LIMIT), Err(Refusal::Absurd));
        assert_eq!(clock, Lamport(3));
        assert_eq!(clock.try_receive(LIMIT - 1), Ok(LIMIT));
    }

    #[test]
    fn the_smaller_node_breaks_a_tie() {
        assert!(Stamp::new(5, NodeId(0)) < Stamp::new(5, NodeId(1)));
        assert!(Stamp::new(4, NodeId(9)) < Stamp::new(5, NodeId(0)));
        assert!(Stamp::new(4, NodeId(9)).as_number(10) < Stamp::new(5, NodeId(0)).as_number(10));
    }
}
