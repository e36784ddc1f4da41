//! The law of mutual exclusion: watches a run and says which promises were kept.

use super::Causality;
use crate::{NodeId, Property, Ticks, Verdict, Violation};

/// Watches the entries and exits of one resource. Every call is O(1), but for `HB`, which is O(n)
/// and only looked at when [`Monitor::watch_order`] was called.
#[derive(Clone, Debug)]
pub struct Monitor {
    nodes: Vec<Node>,
    /// Who is inside, with which fence: one node, or the law is broken.
    inside: Vec<(NodeId, u64)>,
    waiting: u32,
    entries: u32,
    last_fence: Option<u64>,
    /// The largest fence that the resource has seen, and whose it was.
    accepted: Option<(u64, NodeId)>,
    refused: u64,
    last_progress: Ticks,
    bypass_bound: Option<u64>,
    bypass_max: u64,
    order: Option<Causality>,
    violations: Vec<Violation>,
    ended: Option<End>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Node {
    since: Ticks,
    /// How many entries there had been when this request was registered, once it was.
    entries_before: u32,
    registered: bool,
    phase: Phase,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Idle,
    Waiting,
    Inside,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Complete,
    CutShort,
}

impl Monitor {
    /// A monitor for `n` nodes. With a bound, `BW` is checked against it.
    pub fn new(n: u32, bypass_bound: Option<u64>) -> Self {
        Self {
            nodes: vec![Node::default(); n as usize],
            inside: Vec::new(),
            waiting: 0,
            entries: 0,
            last_fence: None,
            accepted: None,
            refused: 0,
            last_progress: Ticks::ZERO,
            bypass_bound,
            bypass_max: 0,
            order: None,
            violations: Vec::new(),
            ended: None,
        }
    }

    /// Also watch `HB`; messages must then be reported to the [`Causality`] this gives access to.
    pub fn watch_order(&mut self) {
        self.order = Some(Causality::new(self.nodes.len() as u32));
    }

    /// The causal past of every node, if `HB` is watched.
    pub fn causality(&mut self) -> Option<&mut Causality> {
        self.order.as_mut()
    }

    /// A node asks to enter.
    pub fn requested(&mut self, node: NodeId, at: Ticks) {
        let state = &mut self.nodes[node.index()];
        assert_eq!(state.phase, Phase::Idle, "node {node} asked twice");
        *state = Node { phase: Phase::Waiting, since: at, ..Node::default() };
        self.waiting += 1;
        if let Some(order) = &mut self.order {
            order.requested(node);
        }
    }

    /// The request of a waiting node has reached all it was sent to: from here on, `BW` counts.
    pub fn registered(&mut self, node: NodeId) {
        let state = &mut self.nodes[node.index()];
        if state.phase == Phase::Waiting && !state.registered {
            (state.registered, state.entries_before) = (true, self.entries);
        }
    }

    /// A node gave up waiting.
    pub fn cancelled(&mut self, node: NodeId) {
        self.leave(node, Phase::Waiting);
    }

    /// A node entered.
    pub fn entered(&mut self, node: NodeId, fence: u64, at: Ticks) {
        assert_eq!(self.nodes[node.index()].phase, Phase::Waiting, "node {node} never asked");
        self.judge_safety(node, fence, at);
        self.judge_fence(node, fence, at);
        self.judge_bypass(node, at);
        if let Some(order) = &mut self.order
            && let Some(earlier) = order.entered(node)
        {
            self.report(Property::HB, at, || {
                let (node, earlier) = (node.mark(), earlier.mark());
                format!("{node} entered before {earlier}, whose request happened before")
            });
        }
        self.nodes[node.index()].phase = Phase::Inside;
        self.inside.push((node, fence));
        self.waiting -= 1;
        self.entries += 1;
        self.last_progress = at;
    }

    /// A node left, its last write done with the fence it entered with.
    pub fn released(&mut self, node: NodeId, at: Ticks) {
        let largest = self.accepted.map_or(0, |(largest, _)| largest);
        let late = |&(holder, fence): &(NodeId, u64)| holder == node && fence < largest;
        self.refused += u64::from(self.inside.iter().any(late));
        self.last_progress = at;
        self.leave(node, Phase::Inside);
    }

    /// A node crashed: whatever it wanted or did is over.
    pub fn crashed(&mut self, node: NodeId, at: Ticks) {
        match self.nodes[node.index()].phase {
            Phase::Idle => {}
            Phase::Waiting => self.leave(node, Phase::Waiting),
            Phase::Inside => {
                self.last_progress = at;
                self.leave(node, Phase::Inside);
            }
        }
    }

    /// The run is over. `complete` means that nothing more could happen; otherwise it was cut
    /// short, and whoever waits is taken to wait for ever only if nobody has entered or left for as
    /// long as `patience`.
    pub fn end(&mut self, at: Ticks, complete: bool, patience: Ticks) {
        self.ended = Some(if complete { End::Complete } else { End::CutShort });
        let stalled = complete || at.since(self.last_progress) >= patience;
        if self.waiting == 0 || !stalled {
            return;
        }
        let names: Vec<String> = (0..)
            .zip(&self.nodes)
            .filter(|(_, node)| node.phase == Phase::Waiting)
            .map(|(index, _)| NodeId(index).mark())
            .collect();
        let who = match names.as_slice() {
            [one] => format!("{one} waits"),
            few if few.len() <= 8 => format!("{} wait", few.join(", ")),
            many => format!("{} and {} more wait", many[..8].join(", "), many.len() - 8),
        };
        if self.inside.is_empty() {
            let what = || format!("{who} for ever, and nobody enters");
            self.report(Property::V1, self.last_progress, what);
        }
        self.report(Property::V2, self.last_progress, || format!("{who} for ever"));
    }

    /// What became of a promise.
    pub fn verdict(&self, property: Property) -> Verdict {
        if self.violations.iter().any(|violation| violation.property == property) {
            return Verdict::Violated;
        }
        match property {
            Property::S1 | Property::S1Eff | Property::F1 => Verdict::Holds,
            Property::V1 | Property::V2 => match self.ended {
                Some(End::Complete) => Verdict::Holds,
                Some(End::CutShort) if self.waiting == 0 => Verdict::Holds,
                Some(End::CutShort) | None => Verdict::Unknown,
            },
            Property::BW if self.bypass_bound.is_some() => Verdict::Holds,
            Property::HB if self.order.is_some() => Verdict::Holds,
            Property::BW | Property::HB | Property::E1 | Property::E1Term | Property::E2 => {
                Verdict::NotChecked
            }
        }
    }

    /// The first violation of each promise, in the order they were seen.
    pub fn violations(&self) -> &[Violation] {
        &self.violations
    }

    /// How many nodes wait.
    pub fn waiting(&self) -> u32 {
        self.waiting
    }

    /// How many nodes are inside.
    pub fn inside(&self) -> u32 {
        self.inside.len() as u32
    }

    /// Whether this node waits.
    pub fn is_waiting(&self, node: NodeId) -> bool {
        self.nodes[node.index()].phase == Phase::Waiting
    }

    /// Whether this node is inside.
    pub fn is_inside(&self, node: NodeId) -> bool {
        self.nodes[node.index()].phase == Phase::Inside
    }

    /// When this node began to wait, or last did.
    pub fn waiting_since(&self, node: NodeId) -> Ticks {
        self.nodes[node.index()].since
    }

    /// How many entries there were.
    pub fn entries(&self) -> u64 {
        u64::from(self.entries)
    }

    /// How many last writes the resource refused because a larger fence had been there.
    pub fn refused(&self) -> u64 {
        self.refused
    }

    /// The most entries by others between a registration and the entry it led to.
    pub fn bypass_max(&self) -> u64 {
        self.bypass_max
    }

    fn judge_safety(&mut self, node: NodeId, fence: u64, at: Ticks) {
        let Some(&(other, _)) = self.inside.first() else { return };
        let (name, other) = (node.mark(), other.mark());
        self.report(Property::S1, at, || format!("{name} entered while {other} was inside"));
        if self.accepted.is_some_and(|(largest, holder)| fence == largest && holder != node) {
            let what = || format!("{other} and {name} are inside with the same fence {fence}");
            self.report(Property::S1Eff, at, what);
        }
    }

    fn judge_fence(&mut self, node: NodeId, fence: u64, at: Ticks) {
        if let Some(last) = self.last_fence
            && fence <= last
        {
            let what = || format!("{} entered with fence {fence} after {last}", node.mark());
            self.report(Property::F1, at, what);
        }
        if fence >= 1 << 53 {
            let what = || format!("{} entered with fence {fence}, 2^53 or more", node.mark());
            self.report(Property::F1, at, what);
        }
        self.last_fence = Some(fence);
        if self.accepted.is_none_or(|(largest, _)| fence >= largest) {
            self.accepted = Some((fence, node));
        }
    }

    fn judge_bypass(&mut self, node: NodeId, at: Ticks) {
        let state = &self.nodes[node.index()];
        if !state.registered {
            return;
        }
        let bypass = u64::from(self.entries - state.entries_before);
        self.bypass_max = self.bypass_max.max(bypass);
        if let Some(bound) = self.bypass_bound
            && bypass > bound
        {
            self.report(Property::BW, at, || {
                format!("{bypass} others entered before {}, at most {bound} may", node.mark())
            });
        }
    }

    fn leave(&mut self, node: NodeId, from: Phase) {
        let state = &mut self.nodes[node.index()];
        assert_eq!(state.phase, from, "node {node} was not {from:?}");
        state.phase = Phase::Idle;
        match from {
            Phase::Idle => {}
            Phase::Waiting => self.waiting -= 1,
            Phase::Inside => self.inside.retain(|&(holder, _)| holder != node),
        }
        if let Some(order) = &mut self.order {
            order.withdrawn(node);
        }
    }

    fn report(&mut self, property: Property, at: Ticks, what: impl FnOnce() -> String) {
        if !self.violations.iter().any(|known| known.property == property) {
            self.violations.push(Violation { property, at, what: what() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_two_waiting() -> Monitor {
        let mut monitor = Monitor::new(2, Some(1));
        monitor.requested(NodeId(0), Ticks(0));
        monitor.requested(NodeId(1), Ticks(0));
        monitor
    }

    #[test]
    fn two_inside_break_s1_and_the_larger_fence_saves_the_resource() {
        let mut monitor = with_two_waiting();
        monitor.entered(NodeId(0), 1, Ticks(1));
        monitor.entered(NodeId(1), 2, Ticks(2));
        assert_eq!(monitor.verdict(Property::S1), Verdict::Violated);
        assert_eq!(monitor.verdict(Property::S1Eff), Verdict::Holds);
        assert_eq!(monitor.violations()[0].what, "{1} entered while {0} was inside");
        monitor.released(NodeId(0), Ticks(3));
        assert_eq!(monitor.refused(), 1);
    }

    #[test]
    fn equal_fences_do_not_save_the_resource() {
        let mut monitor = with_two_waiting();
        monitor.entered(NodeId(0), 1, Ticks(1));
        monitor.entered(NodeId(1), 1, Ticks(2));
        assert_eq!(monitor.verdict(Property::S1Eff), Verdict::Violated);
        assert_eq!(monitor.verdict(Property::F1), Verdict::Violated);
    }

    #[test]
    fn one_after_the_other_breaks_nothing() {
        let mut monitor = with_two_waiting();
        monitor.entered(NodeId(0), 1, Ticks(1));
        monitor.released(NodeId(0), Ticks(2));
        monitor.entered(NodeId(1), 2, Ticks(2));
        monitor.released(NodeId(1), Ticks(3));
        monitor.end(Ticks(3), true, Ticks(0));
        assert!(monitor.violations().is_empty());
        assert_eq!(monitor.verdict(Property::V2), Verdict::Holds);
        assert_eq!(monitor.verdict(Property::HB), Verdict::NotChecked);
    }

    #[test]
    fn who_still_waits_at_the_end_waits_for_ever() {
        let mut monitor = with_two_waiting();
        monitor.entered(NodeId(0), 1, Ticks(1));
        monitor.released(NodeId(0), Ticks(2));
        monitor.end(Ticks(9), true, Ticks(0));
        assert_eq!(monitor.verdict(Property::V1), Verdict::Violated);
        assert_eq!(monitor.violations()[0].what, "{1} waits for ever, and nobody enters");
    }

    #[test]
    fn a_run_cut_short_blames_only_a_stall() {
        let mut monitor = with_two_waiting();
        monitor.end(Ticks(9), false, Ticks(10));
        assert_eq!(monitor.verdict(Property::V1), Verdict::Unknown);
        assert_eq!(monitor.verdict(Property::V2), Verdict::Unknown);
        monitor.end(Ticks(10), false, Ticks(10));
        assert_eq!(monitor.verdict(Property::V1), Verdict::Violated);
    }

    #[test]
    fn bypasses_count_from_registration() {
        let mut monitor = with_two_waiting();
        monitor.registered(NodeId(1));
        for fence in 1..=3 {
            monitor.entered(NodeId(0), fence, Ticks(fence));
            monitor.released(NodeId(0), Ticks(fence));
            monitor.requested(NodeId(0), Ticks(fence));
        }
        monitor.entered(NodeId(1), 4, Ticks(4));
        assert_eq!(monitor.bypass_max(), 3);
        assert_eq!(monitor.verdict(Property::BW), Verdict::Violated);
    }

    #[test]
    fn a_crash_ends_a_hold() {
        let mut monitor = with_two_waiting();
        monitor.entered(NodeId(0), 1, Ticks(1));
        monitor.crashed(NodeId(0), Ticks(2));
        monitor.entered(NodeId(1), 2, Ticks(3));
        assert_eq!(monitor.verdict(Property::S1), Verdict::Holds);
    }
}
