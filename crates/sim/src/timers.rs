//! Timers that run on each node: at most one of each name.

use crate::random::{PerNode, Purpose};
use crate::sparse::Sparse;
use crate::wheel::SlotId;
use conclave_core::{Delay, NodeId, Ticks};

/// The running timers of all nodes.
pub(crate) struct Timers<T> {
    /// Only of nodes that ever set one: few do where there are millions. A timer without a slot
    /// came due while its node was paused.
    running: Sparse<Vec<(T, Option<SlotId>)>>,
    random: PerNode,
}

impl<T: Copy + PartialEq> Timers<T> {
    pub fn new(seed: u64) -> Self {
        Self { running: Sparse::new(), random: PerNode::new(seed, Purpose::Timers) }
    }

    /// How long a timer of this node takes.
    pub fn span(&mut self, node: NodeId, after: Delay) -> Ticks {
        self.random.of(node).delay(after)
    }

    pub fn set(&mut self, node: NodeId, timer: T, slot: SlotId) {
        self.running.entry(node).push((timer, Some(slot)));
    }

    /// Stops a timer; it may still have to be taken out of the wheel.
    pub fn cancel(&mut self, node: NodeId, timer: T) -> Option<SlotId> {
        let running = self.running.get_mut(node)?;
        let place = running.iter().position(|(name, _)| *name == timer)?;
        running.swap_remove(place).1
    }

    /// A timer came due, but its node is paused: until it fires it can still be cancelled.
    pub fn hold(&mut self, node: NodeId, timer: T) {
        let running = self.running.get_mut(node);
        for (name, slot) in running.into_iter().flatten() {
            if *name == timer {
                *slot = None;
            }
        }
    }

    /// Whether a timer that was held back is still to fire.
    pub fn is_held(&self, node: NodeId, timer: T) -> bool {
        let running = self.running.get(node);
        running.into_iter().flatten().any(|&(name, slot)| name == timer && slot.is_none())
    }

    pub fn clear(&mut self, node: NodeId) {
        if let Some(running) = self.running.get_mut(node) {
            running.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NODE: NodeId = NodeId(1);

    #[test]
    fn a_timer_held_back_by_a_pause_can_still_be_cancelled() {
        let mut timers = Timers::new(1);
        timers.set(NODE, 'a', 7);
        timers.hold(NODE, 'a');
        assert!(timers.is_held(NODE, 'a'));
        assert_eq!(timers.cancel(NODE, 'a'), None, "its place in the wheel is somebody else's");
        assert!(!timers.is_held(NODE, 'a'));
    }

    #[test]
    fn a_timer_that_runs_is_cancelled_in_the_wheel() {
        let mut timers = Timers::new(1);
        timers.set(NODE, 'a', 7);
        timers.set(NODE, 'b', 8);
        assert_eq!(timers.cancel(NODE, 'a'), Some(7));
        assert_eq!(timers.cancel(NODE, 'a'), None);
        timers.clear(NODE);
        assert_eq!(timers.cancel(NODE, 'b'), None);
    }
}
