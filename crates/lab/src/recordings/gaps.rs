//! Gaps in recordings: what a node did while nothing of it was recorded.
//!
//! A gap lies after a tape that was cut off, and wherever tapes of starts are missing: before the
//! first tape of a node, between two, or all of them. That a node was started once more after its
//! last tape nobody can know, so there is no such gap.

use super::{Tape, Tapes};
use conclave_core::NodeId;

/// A stretch of a node's life that may be on no tape: the one after this tape of it, or `None` for
/// the one before its first.
pub type Gap = Option<usize>;

/// Starts of a node of which there is no tape, though there are tapes of others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MissingStarts {
    /// Whose.
    pub node: NodeId,
    /// The first of them.
    pub first: u32,
    /// The last of them.
    pub last: u32,
}

impl Tape {
    /// Whether it says which machines came back from disk: that is written before the first step.
    pub fn says_what_came_back(&self) -> bool {
        !self.recording.cut || self.steps().next().is_some()
    }
}

impl Tapes {
    /// The gaps of a node after something on one tape of it (`None`: from its beginning on) and
    /// before something on another (`None`: up to its end).
    pub fn gaps(
        &self,
        node: NodeId,
        after: Option<usize>,
        before: Option<usize>,
    ) -> impl Iterator<Item = Gap> {
        let first = self.of(node).next();
        let late = first.is_none_or(|(_, tape)| tape.header().incarnation > 1);
        let at_ends = self.of(node).map(|(tape, _)| tape).filter(|tape| self.has_gap_after(*tape));
        let all = late.then_some(None).into_iter().chain(at_ends.map(Some));
        let is_after = move |gap: Gap| after <= gap;
        let is_before = move |gap: Gap| before.is_none_or(|before| gap < Some(before));
        all.filter(move |gap| is_after(*gap) && is_before(*gap))
    }

    /// Whether a node may have done something there that is on no tape.
    pub fn has_gap(&self, node: NodeId, after: Option<usize>, before: Option<usize>) -> bool {
        self.gaps(node, after, before).next().is_some()
    }

    /// Whether its node may have done something between the tape before, if any, and this one.
    pub fn has_gap_before(&self, tape: usize) -> bool {
        let node = self.tapes[tape].header().node;
        let before = self.of(node).map(|(one, _)| one).take_while(|one| *one < tape).last();
        self.has_gap(node, before, Some(tape))
    }

    /// Nodes of which there is no tape at all.
    pub fn missing(&self) -> Vec<NodeId> {
        self.nodes().filter(|node| self.of(*node).next().is_none()).collect()
    }

    /// Starts of other nodes of which there is none.
    pub fn missing_starts(&self) -> Vec<MissingStarts> {
        let mut missing = Vec::new();
        for node in self.nodes() {
            let mut next = 1;
            for start in self.of(node).map(|(_, tape)| tape.header().incarnation) {
                if start > next {
                    missing.push(MissingStarts { node, first: next, last: start - 1 });
                }
                next = start.saturating_add(1);
            }
        }
        missing
    }

    /// Whether the end of a tape is missing, or the tape of the start that followed.
    fn has_gap_after(&self, tape: usize) -> bool {
        let this = &self.tapes[tape];
        let next = self.next_of_same_node(tape).map(|next| next.header().incarnation);
        let skips = next.is_some_and(|next| next != this.header().incarnation + 1);
        this.recording.cut || skips
    }
}
