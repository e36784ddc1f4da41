//! Vector clocks.
//!
//! Sources: C. Fidge, "Timestamps in message-passing systems that preserve the partial ordering",
//! ACSC 1988; F. Mattern, "Virtual time and global states of distributed systems", 1989.

use super::{LIMIT, Refusal};
use crate::NodeId;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::fmt;

/// One count per node: one event happened before another exactly if its vector is smaller.
/// Two vectors that are not ordered belong to concurrent events.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Vector(Vec<u64>);

impl Vector {
    /// The beginning of time, for `n` nodes.
    pub fn new(n: u32) -> Self {
        Self(vec![0; n as usize])
    }

    /// An event of this node: a local one, a sending, or (after [`Vector::merge`]) a receipt.
    pub fn tick(&mut self, node: NodeId) {
        self.advance(node, 1);
    }

    /// So many events of this node at once.
    pub fn advance(&mut self, node: NodeId, events: u64) {
        let own = &mut self.0[node.index()];
        *own = own.checked_add(events).expect("a clock counts fewer than 2^64 events");
    }

    /// A message arrives at this node that carries `theirs`: learnt, and counted as an event.
    /// Nonsense is refused, and the clock stays as it is.
    pub fn receive(&mut self, node: NodeId, theirs: &Self) -> Result<(), Refusal> {
        if theirs.0.len() > self.0.len() || theirs.0.iter().any(|&count| count >= LIMIT) {
            return Err(Refusal::Absurd);
        }
        self.merge(theirs);
        self.tick(node);
        Ok(())
    }

    /// Learns all that `other` knows.
    pub fn merge(&mut self, other: &Self) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine = (*mine).max(*theirs);
        }
    }

    /// Becomes equal to `other`, in place.
    pub fn copy_from(&mut self, other: &Self) {
        self.0.clone_from(&other.0);
    }

    /// How many events of this node are known.
    pub fn of(&self, node: NodeId) -> u64 {
        self.0.get(node.index()).copied().unwrap_or(0)
    }
}

impl Vector {
    /// The counts with commas between them.
    pub(super) fn counts(&self) -> String {
        let counts: Vec<String> = self.0.iter().map(u64::to_string).collect();
        counts.join(",")
    }
}

impl FromIterator<u64> for Vector {
    fn from_iter<T: IntoIterator<Item = u64>>(counts: T) -> Self {
        Self(counts.into_iter().collect())
    }
}

/// `None` is what makes the order partial: the two are concurrent.
impl PartialOrd for Vector {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        let places = (0..self.0.len().max(other.0.len()) as u32).map(NodeId);
        let mut order = Ordering::Equal;
        for place in places {
            match (order, self.of(place).cmp(&other.of(place))) {
                (_, Ordering::Equal) => {}
                (Ordering::Equal, unequal) => order = unequal,
                (known, unequal) if known == unequal => {}
                (_, _) => return None,
            }
        }
        Some(order)
    }
}

impl fmt::Display for Vector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}]", self.counts())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cause_precedes_effect_and_strangers_are_concurrent() {
        let [p1, p2, p3] = [0, 1, 2].map(NodeId);
        let mut times = vec![Vector::new(3); 3];
        times[0].tick(p1);
        let first_send = times[0].clone();
        times[1].merge(&first_send);
        times[1].tick(p2);
        assert_eq!(times[1].to_string(), "[1,1,0]");
        times[1].tick(p2);
        let second_send = times[1].clone();
        times[2].tick(p3);
        let local = times[2].clone();
        times[2].merge(&second_send);
        times[2].tick(p3);
        assert_eq!(times[2].to_string(), "[1,2,2]");
        assert_eq!(first_send.partial_cmp(&local), None);
        assert!(first_send < times[2]);
        assert!(times[2] > second_send);
    }

    #[test]
    fn nonsense_is_refused_and_changes_nothing() {
        let mut clock = Vector::new(2);
        let absurd: Vector = [0, u64::MAX].into_iter().collect();
        assert_eq!(clock.receive(NodeId(0), &absurd), Err(Refusal::Absurd));
        assert_eq!(clock.receive(NodeId(0), &Vector::new(3)), Err(Refusal::Absurd));
        assert_eq!(clock, Vector::new(2));
        let fine: Vector = [0, 4].into_iter().collect();
        assert_eq!(clock.receive(NodeId(0), &fine), Ok(()));
        assert_eq!(clock.to_string(), "[1,4]");
    }

    #[test]
    fn missing_places_read_as_zero() {
        assert_eq!(Vector::new(2).partial_cmp(&Vector::new(5)), Some(Ordering::Equal));
    }
}
