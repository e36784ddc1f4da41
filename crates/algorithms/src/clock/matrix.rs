//! A matrix clock at work: every event carries what each node is known to know.
//!
//! Source: G. Wuu and A. Bernstein, "Efficient solutions to the replicated log and dictionary
//! problems", PODC 1984.
//! Assumes: A1 no node forgets its clock; A2 all know how many nodes there are.
//! Has: an event has a smaller time than another exactly if it happened before it; what the least
//! of a column counts is known by all, so nobody need keep it for anybody.
//! Lacks: an order of concurrent events, on purpose.
//! Cost: n times n numbers on every message.
//!
//! R1 every event is counted in its node's own place of its own row; R2 at a receipt all rows are
//! learnt, the sender's also in the own row, and the receipt counted; R3 where clocks run by
//! themselves, the own place does.

mod why;

pub use why::WHY;

use super::timekeeper::{Keeper, Timekeeper};
use conclave_core::clock::{Matrix, Refusal};
use conclave_core::{NodeId, Why};
use serde::{Deserialize, Serialize};

/// A node with a matrix clock.
pub type MatrixClock = Timekeeper<Square>;

/// A matrix, and whose it is.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Square {
    me: NodeId,
    clock: Matrix,
}

impl Square {
    /// The clock of `me` among `n` nodes.
    pub fn new(me: NodeId, n: u32) -> Self {
        Self { me, clock: Matrix::new(n) }
    }
}

impl Keeper for Square {
    type Time = Matrix;

    fn passes(&mut self, gain: u64) {
        self.clock.advance(self.me, gain);
    }

    fn happens(&mut self) -> Matrix {
        self.clock.tick(self.me);
        self.clock.clone()
    }

    fn sends(&mut self) -> Matrix {
        self.happens()
    }

    fn receives(&mut self, from: NodeId, time: &Matrix) -> Result<Matrix, Refusal> {
        self.clock.receive(self.me, from, time)?;
        Ok(self.clock.clone())
    }

    fn why_happens(&self) -> &'static Why {
        &why::COUNTS
    }

    fn why_receives(&self, _: &Matrix) -> &'static Why {
        &why::MERGES
    }

    fn why_passes(&self) -> &'static Why {
        &why::TICKS
    }

    fn reading(&self) -> Matrix {
        self.clock.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_shows_that_the_message_is_known_by_all() {
        let mut first = Square::new(NodeId(0), 2);
        let mut second = Square::new(NodeId(1), 2);
        let sent = first.sends();
        assert_eq!(sent.known_by_all(NodeId(0)), 0);
        second.receives(NodeId(0), &sent).expect("honest");
        let answer = second.sends();
        let received = first.receives(NodeId(1), &answer).expect("honest");
        assert_eq!(received.known_by_all(NodeId(0)), 1);
        first.passes(2);
        assert_eq!(first.reading().to_string(), "[4,2 1,2]");
    }
}
