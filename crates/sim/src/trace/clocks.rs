//! Logical clocks of a recorded run, whatever the algorithm itself keeps.

use super::{Cause, Step, Trace};
use conclave_core::NodeId;
use conclave_core::clock::Vector;
use std::collections::BTreeMap;

/// When a step happened, in logical time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    /// Lamport's time.
    pub lamport: u64,
    /// The vector time; empty if it was not asked for.
    pub vector: Vector,
}

/// The clocks of all nodes, as a run goes on. A step is one event of its node.
pub struct Clocks {
    now: Vec<Stamp>,
    /// By number: what a message carries.
    sent: BTreeMap<u64, Stamp>,
    vectors: bool,
}

impl Clocks {
    /// Clocks of `n` nodes before anything has happened. Vectors cost O(n) per message.
    pub fn new(n: usize, vectors: bool) -> Self {
        Self { now: vec![Stamp::default(); n], sent: BTreeMap::new(), vectors }
    }

    /// The next step of the run, and its time. A node that is merely started has none yet.
    pub fn step(&mut self, step: &Step) -> &Stamp {
        if step.is_quiet_start() {
            return &self.now[step.node.index()];
        }
        let mine = &mut self.now[step.node.index()];
        if let Cause::Message { number, .. } = step.cause
            && let Some(carried) = self.sent.get(&number)
        {
            mine.lamport = mine.lamport.max(carried.lamport);
            mine.vector.merge(&carried.vector);
        }
        mine.lamport += 1;
        if self.vectors {
            mine.vector.merge(&Vector::new(step.node.0 + 1));
            mine.vector.tick(step.node);
        }
        for sending in step.sends() {
            self.sent.insert(sending.number, mine.clone());
        }
        &self.now[step.node.index()]
    }

    /// Something happens to a node that is no step of its algorithm, and when that is.
    pub fn happens_to(&mut self, node: NodeId) -> &Stamp {
        let mine = &mut self.now[node.index()];
        mine.lamport += 1;
        if self.vectors {
            mine.vector.merge(&Vector::new(node.0 + 1));
            mine.vector.tick(node);
        }
        mine
    }

    /// Lamport's time of every record that is a step, by its place; 0 for the others and for nodes
    /// that are merely started.
    pub fn lamport(trace: &Trace) -> Vec<u64> {
        let mut clocks = Self::new(trace.header.names.len(), false);
        let mut times = vec![0; trace.records.len()];
        for (place, step) in trace.steps() {
            times[place] = clocks.step(step).lamport;
        }
        times
    }
}

impl Stamp {
    /// The vector time as the names of nodes and their counts, those that are 0 left out.
    pub fn counts(&self, n: usize) -> impl Iterator<Item = (NodeId, u64)> + '_ {
        let count = |node| (node, self.vector.of(node));
        (0..n as u32).map(NodeId).map(count).filter(|(_, count)| *count > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::testkit::{Draft, hand_made};

    #[test]
    fn a_receipt_is_later_than_its_sending_and_concurrent_steps_are_not_ordered() {
        let mut draft = Draft::new(3);
        draft.start(0, 0).send(1, "A", Some(2)); // Lamport 1.
        draft.ask(0, 2, "Acquire"); // Lamport 1, concurrent.
        draft.ask(1, 1, "Acquire"); // Lamport 1.
        draft.start(1, 2); // No event.
        draft.receive(2, 1, 1);
        let trace = draft.end(3);
        let mut clocks = Clocks::new(3, true);
        let stamps: Vec<Stamp> = trace.steps().map(|(_, step)| clocks.step(step).clone()).collect();
        assert_eq!(stamps.iter().map(|stamp| stamp.lamport).collect::<Vec<_>>(), [1, 1, 1, 1, 2]);
        assert!(stamps[0].vector < stamps[4].vector);
        assert!(stamps[1].vector.partial_cmp(&stamps[4].vector).is_none());
        assert_eq!(
            stamps[4].counts(3).collect::<Vec<_>>(),
            [(NodeId(0), 1), (NodeId(1), 2)],
            "the third is not known of"
        );
    }

    #[test]
    fn lamport_times_have_the_places_of_their_steps() {
        let trace = hand_made();
        let times = Clocks::lamport(&trace);
        assert_eq!(times.len(), trace.records.len());
        for (place, step) in trace.steps() {
            assert_eq!(times[place] > 0, !step.is_quiet_start());
        }
    }
}
