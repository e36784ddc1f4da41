//! Matrix clocks.
//!
//! Source: G. Wuu and A. Bernstein, "Efficient solutions to the replicated log and dictionary
//! problems", PODC 1984.

use super::{LIMIT, Refusal, Vector};
use crate::NodeId;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::fmt;

/// What a node knows of what every node knows: row r, column k is how many events of k it knows r
/// to know of. Its own row is its vector clock.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Matrix {
    n: u32,
    cells: Vec<u64>,
}

impl Matrix {
    /// The beginning of time, for `n` nodes.
    pub fn new(n: u32) -> Self {
        Self { n, cells: vec![0; (n * n) as usize] }
    }

    /// An event of this node: a local one or a sending.
    pub fn tick(&mut self, me: NodeId) {
        self.advance(me, 1);
    }

    /// So many events of this node at once.
    pub fn advance(&mut self, me: NodeId, events: u64) {
        let own = self.cell_mut(me, me);
        *own = own.checked_add(events).expect("a clock counts fewer than 2^64 events");
    }

    /// A message arrives at `me` from a node whose matrix was `theirs` when it sent it.
    pub fn receive(&mut self, me: NodeId, from: NodeId, theirs: &Self) -> Result<(), Refusal> {
        let believable = theirs.n == self.n
            && theirs.cells.len() == self.cells.len()
            && from.0 < self.n
            && theirs.cells.iter().all(|&cell| cell < LIMIT);
        if !believable {
            return Err(Refusal::Absurd);
        }
        for (mine, known) in self.cells.iter_mut().zip(&theirs.cells) {
            *mine = (*mine).max(*known);
        }
        // What the sender knows of, this node knows of too.
        for k in (0..self.n).map(NodeId) {
            let known = self.of(me, k).max(theirs.of(from, k));
            *self.cell_mut(me, k) = known;
        }
        self.tick(me);
        Ok(())
    }

    /// How many events of `subject` this node knows `knower` to know of.
    pub fn of(&self, knower: NodeId, subject: NodeId) -> u64 {
        self.cells[(knower.0 * self.n + subject.0) as usize]
    }

    /// What this node knows `knower` to know of.
    pub fn row(&self, knower: NodeId) -> Vector {
        (0..self.n).map(|subject| self.of(knower, NodeId(subject))).collect()
    }

    /// How many events of `subject` everybody is known to know of: nobody need be told of them
    /// again.
    pub fn known_by_all(&self, subject: NodeId) -> u64 {
        (0..self.n).map(|knower| self.of(NodeId(knower), subject)).min().unwrap_or(0)
    }

    fn cell_mut(&mut self, knower: NodeId, subject: NodeId) -> &mut u64 {
        &mut self.cells[(knower.0 * self.n + subject.0) as usize]
    }
}

/// One is before another if no cell is larger and one is smaller. Since nobody knows more of a
/// node's events than that node, this orders exactly what the vectors order.
impl PartialOrd for Matrix {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        if self.n != other.n {
            return None;
        }
        let flat = |matrix: &Self| matrix.cells.iter().copied().collect::<Vector>();
        flat(self).partial_cmp(&flat(other))
    }
}

impl fmt::Display for Matrix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let row = |knower| self.row(NodeId(knower)).counts();
        let rows: Vec<String> = (0..self.n).map(row).collect();
        write!(f, "[{}]", rows.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const P1: NodeId = NodeId(0);
    const P2: NodeId = NodeId(1);

    #[test]
    fn a_receipt_teaches_what_the_sender_knew_and_that_it_knew_it() {
        let mut first = Matrix::new(2);
        let mut second = Matrix::new(2);
        first.tick(P1);
        assert_eq!(second.receive(P2, P1, &first), Ok(()));
        assert_eq!(second.to_string(), "[1,0 1,1]");
        assert_eq!((second.known_by_all(P1), second.known_by_all(P2)), (1, 0));
        second.tick(P2);
        assert_eq!(first.receive(P1, P2, &second), Ok(()));
        assert_eq!(first.to_string(), "[2,2 1,2]");
        assert_eq!((first.known_by_all(P1), first.known_by_all(P2)), (1, 2));
    }

    #[test]
    fn strangers_and_absurd_times_are_refused_and_change_nothing() {
        let mut clock = Matrix::new(2);
        let mut absurd = Matrix::new(2);
        absurd.advance(P2, LIMIT);
        for (from, matrix) in [(P2, absurd), (P2, Matrix::new(3)), (NodeId(2), Matrix::new(2))] {
            assert_eq!(clock.receive(P1, from, &matrix), Err(Refusal::Absurd));
        }
        assert_eq!(clock, Matrix::new(2));
        assert_eq!(clock.partial_cmp(&Matrix::new(3)), None);
    }
}
