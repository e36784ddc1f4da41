//! A vector clock at work: one number per node on every event.
//!
//! Source: C. Fidge, "Timestamps in message-passing systems that preserve the partial ordering",
//! ACSC 1988; F. Mattern, "Virtual time and global states of distributed systems", 1989.
//! Assumes: A1 no node forgets its clock; A2 all know how many nodes there are.
//! Has: an event has a smaller time than another exactly if it happened before it.
//! Lacks: an order of concurrent events, on purpose.
//! Cost: n numbers on every message.
//!
//! R1 every event is counted in the place of its node; R2 at a receipt the greater of both is taken
//! in every place, and the receipt counted; R3 where clocks run by themselves, the own place does.

mod why;

pub use why::WHY;

use super::timekeeper::{Keeper, Timekeeper};
use conclave_core::clock::{Refusal, Vector};
use conclave_core::{NodeId, Why};
use serde::{Deserialize, Serialize};

/// A node with a vector clock.
pub type VectorClock = Timekeeper<Row>;

/// A vector, and whose it is.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Row {
    me: NodeId,
    clock: Vector,
}

impl Row {
    /// The clock of `me` among `n` nodes.
    pub fn new(me: NodeId, n: u32) -> Self {
        Self { me, clock: Vector::new(n) }
    }
}

impl Keeper for Row {
    type Time = Vector;

    fn passes(&mut self, gain: u64) {
        self.clock.advance(self.me, gain);
    }

    fn happens(&mut self) -> Vector {
        self.clock.tick(self.me);
        self.clock.clone()
    }

    fn sends(&mut self) -> Vector {
        self.happens()
    }

    fn receives(&mut self, _: NodeId, time: &Vector) -> Result<Vector, Refusal> {
        self.clock.receive(self.me, time)?;
        Ok(self.clock.clone())
    }

    fn why_happens(&self) -> &'static Why {
        &why::COUNTS
    }

    fn why_receives(&self, _: &Vector) -> &'static Why {
        &why::MERGES
    }

    fn why_passes(&self) -> &'static Why {
        &why::TICKS
    }

    fn reading(&self) -> Vector {
        self.clock.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_event_counts_in_its_own_place() {
        let mut first = Row::new(NodeId(0), 2);
        let mut second = Row::new(NodeId(1), 2);
        let sent = first.sends();
        assert_eq!(sent.to_string(), "[1,0]");
        second.happens();
        let received = second.receives(NodeId(0), &sent).map(|time| time.to_string());
        assert_eq!(received, Ok("[1,2]".to_string()));
        second.passes(3);
        assert_eq!(second.reading().to_string(), "[1,5]");
        assert_eq!(second.receives(NodeId(0), &Vector::new(3)), Err(Refusal::Absurd));
    }
}
