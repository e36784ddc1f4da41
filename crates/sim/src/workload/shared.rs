//! The shared counter that a critical section protects (lost updates, fencing): whoever is inside
//! reads it on entering and writes it, one larger, on leaving.

use conclave_core::NodeId;
use std::collections::BTreeMap;

/// The number, and what is known of those who are about to change it.
#[derive(Clone, Debug)]
pub struct Shared {
    /// What it is.
    pub value: u64,
    /// How many changes were lost, since somebody wrote what it had read before them.
    pub lost: u64,
    /// How many crashed inside and left their work half done.
    pub unfinished: u64,
    /// By node inside: what it has read, and its fence.
    read: BTreeMap<NodeId, (u64, u64)>,
    /// The largest fence seen: whoever comes with a smaller one is refused.
    fence: u64,
}

impl Shared {
    pub(super) fn new(value: u64) -> Self {
        Self { value, lost: 0, unfinished: 0, read: BTreeMap::new(), fence: 0 }
    }

    pub(super) fn entered(&mut self, node: NodeId, fence: u64) {
        self.fence = self.fence.max(fence);
        self.read.insert(node, (self.value, fence));
    }

    pub(super) fn left(&mut self, node: NodeId) {
        let Some((read, fence)) = self.read.remove(&node) else { return };
        if fence >= self.fence {
            self.lost += self.value - read.min(self.value);
            self.value = read + 1;
        }
    }

    pub(super) fn crashed(&mut self, node: NodeId) {
        self.unfinished += u64::from(self.read.remove(&node).is_some());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: NodeId = NodeId(0);
    const B: NodeId = NodeId(1);

    #[test]
    fn one_after_the_other_loses_nothing() {
        let mut shared = Shared::new(42);
        for (node, fence) in [(A, 1), (B, 2)] {
            shared.entered(node, fence);
            shared.left(node);
        }
        assert_eq!((shared.value, shared.lost), (44, 0));
    }

    #[test]
    fn two_at_once_lose_a_change() {
        let mut shared = Shared::new(42);
        shared.entered(A, 0);
        shared.entered(B, 0);
        shared.left(A);
        shared.left(B);
        assert_eq!((shared.value, shared.lost), (43, 1));
    }

    #[test]
    fn a_stale_fence_is_refused() {
        let mut shared = Shared::new(0);
        shared.entered(A, 1);
        shared.entered(B, 2);
        shared.left(B);
        shared.left(A);
        assert_eq!((shared.value, shared.lost), (1, 0));
    }

    #[test]
    fn who_crashes_inside_leaves_its_work_half_done() {
        let mut shared = Shared::new(0);
        shared.entered(A, 1);
        shared.crashed(A);
        shared.crashed(B);
        assert_eq!((shared.value, shared.unfinished), (0, 1));
    }
}
