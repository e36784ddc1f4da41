//! Causality (happened-before, `HB`), by vector clocks: whether requests are granted in the order
//! of cause and effect.

use crate::NodeId;
use crate::clock::Vector;

/// The vector time of every node, and of its last request.
#[derive(Clone, Debug)]
pub struct Causality {
    now: Vec<Vector>,
    /// The time of each node's last request: what it learnt later must not count.
    asked: Vec<Vector>,
    open: Vec<bool>,
}

impl Causality {
    pub(super) fn new(n: u32) -> Self {
        let beginning = vec![Vector::new(n); n as usize];
        Self { now: beginning.clone(), asked: beginning, open: vec![false; n as usize] }
    }

    /// A node sends a message: this is the time to attach.
    pub fn sent(&mut self, from: NodeId) -> &Vector {
        let now = &mut self.now[from.index()];
        now.tick(from);
        now
    }

    /// A message arrives with the time that was attached.
    pub fn received(&mut self, to: NodeId, attached: &Vector) {
        let now = &mut self.now[to.index()];
        now.merge(attached);
        now.tick(to);
    }

    pub(super) fn requested(&mut self, node: NodeId) {
        let now = &mut self.now[node.index()];
        now.tick(node);
        self.asked[node.index()].copy_from(now);
        self.open[node.index()] = true;
    }

    /// A node asked at a time that nobody knows: nothing is known to have happened before it.
    pub(super) fn requested_unseen(&mut self, node: NodeId) {
        self.asked[node.index()] = Vector::new(self.now.len() as u32);
    }

    /// Closes the request of the entering node, and names an open one that happened before it.
    pub(super) fn entered(&mut self, node: NodeId) -> Option<NodeId> {
        self.open[node.index()] = false;
        let mine = &self.asked[node.index()];
        let before = |&other: &NodeId| {
            self.open[other.index()] && mine.of(other) >= self.asked[other.index()].of(other)
        };
        (0..self.open.len() as u32).map(NodeId).find(before)
    }

    pub(super) fn withdrawn(&mut self, node: NodeId) {
        self.open[node.index()] = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_that_waits_while_its_consequence_enters_is_named() {
        let mut order = Causality::new(2);
        order.requested(NodeId(0));
        let told = order.sent(NodeId(0)).clone();
        order.received(NodeId(1), &told);
        order.requested(NodeId(1));
        assert_eq!(order.entered(NodeId(1)), Some(NodeId(0)));
    }

    #[test]
    fn what_a_node_learns_after_asking_does_not_count() {
        let mut order = Causality::new(2);
        order.requested(NodeId(0));
        order.requested(NodeId(1));
        let told = order.sent(NodeId(0)).clone();
        order.received(NodeId(1), &told);
        assert_eq!(order.entered(NodeId(1)), None);
    }
}
