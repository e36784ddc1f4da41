//! Monitor of mutual exclusion: watches a run for safety (one inside, fencing tokens that rise) and
//! liveness (progress, no starvation, bounded waiting), and says which properties were kept.

use super::Causality;
use crate::{FENCE_END, NodeId, NodeSet, Property, Ticks, Verdict, Violation};

/// Whom so many entries passed over, for each node, seems to starve.
const STARVING: u64 = 10;

/// Watches the entries and exits of one resource. Every call is O(1), but for `HB`, which is O(n)
/// and only looked at when [`Monitor::watch_order`] was called.
#[derive(Clone, Debug)]
pub struct Monitor {
    nodes: Vec<Node>,
    /// Who is inside, with which fence: one node, or the law is broken.
    inside: Vec<(NodeId, u64)>,
    waiting: u32,
    entries: u32,
    /// The largest fence that the resource has seen, and whose it was.
    largest: Option<(u64, NodeId)>,
    refused: u64,
    last_progress: Ticks,
    bypass_bound: Option<u64>,
    bypass_max: u64,
    /// Who was passed over so often that it looks like for ever.
    starving: NodeSet,
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
            largest: None,
            refused: 0,
            last_progress: Ticks::ZERO,
            bypass_bound,
            bypass_max: 0,
            starving: NodeSet::default(),
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
    #[inline]
    pub fn causality(&mut self) -> Option<&mut Causality> {
        self.order.as_mut()
    }

    /// A node asks to enter.
    #[inline]
    pub fn requested(&mut self, node: NodeId, at: Ticks) {
        self.waits(node, at);
        if let Some(order) = &mut self.order {
            order.requested(node);
        }
    }

    /// A node turns out to wait. Nobody saw when it asked, so `HB` cannot be held against it.
    pub fn requested_unseen(&mut self, node: NodeId, at: Ticks) {
        self.waits(node, at);
        if let Some(order) = &mut self.order {
            order.requested_unseen(node);
        }
    }

    #[inline]
    fn waits(&mut self, node: NodeId, at: Ticks) {
        let state = &mut self.nodes[node.index()];
        assert_eq!(state.phase, Phase::Idle, "node {node} asked twice");
        *state = Node { phase: Phase::Waiting, since: at, ..Node::default() };
        self.waiting += 1;
    }

    /// The request of a waiting node has reached all it was sent to: from here on, `BW` counts.
    #[inline]
    pub fn registered(&mut self, node: NodeId) {
        let state = &mut self.nodes[node.index()];
        if state.phase == Phase::Waiting && !state.registered {
            state.registered = true;
            state.entries_before = self.entries;
        }
    }

    /// A node gave up waiting.
    pub fn cancelled(&mut self, node: NodeId, at: Ticks) {
        self.judge_waiting(node, at);
        self.leave(node, Phase::Waiting);
    }

    /// A node entered.
    #[inline(always)]
    pub fn entered(&mut self, node: NodeId, fence: u64, at: Ticks) {
        let state = &mut self.nodes[node.index()];
        assert_eq!(state.phase, Phase::Waiting, "node {node} never asked");
        state.phase = Phase::Inside;
        let registered = state.registered.then_some(state.entries_before);
        if !self.inside.is_empty() {
            self.two_inside(node, fence, at);
        }
        self.judge_fence(node, fence, at);
        self.judge_bypass(node, registered, at);
        if self.order.is_some() {
            self.judge_order(node, at);
        }
        self.inside.push((node, fence));
        self.waiting -= 1;
        self.entries += 1;
        self.last_progress = at;
    }

    /// A node left, its last write done with the fence it entered with.
    #[inline(always)]
    pub fn released(&mut self, node: NodeId, at: Ticks) {
        if self.largest.is_some_and(|(_, last)| last != node) {
            let largest = self.largest.map_or(0, |(largest, _)| largest);
            let late = |&(holder, fence): &(NodeId, u64)| holder == node && fence < largest;
            self.refused += u64::from(self.inside.iter().any(late));
        }
        self.last_progress = at;
        self.leave(node, Phase::Inside);
    }

    /// A node crashed: whatever it wanted or did is over.
    pub fn crashed(&mut self, node: NodeId, at: Ticks) {
        match self.nodes[node.index()].phase {
            Phase::Idle => {}
            Phase::Waiting => {
                self.judge_waiting(node, at);
                self.leave(node, Phase::Waiting);
            }
            Phase::Inside => {
                self.last_progress = at;
                self.leave(node, Phase::Inside);
            }
        }
    }

    /// The run is over. `complete` means that nothing more could happen; otherwise it was cut
    /// short, and whoever waits is taken to wait for ever only if nobody has entered or left for as
    /// long as `patience`. Whom others overtook until then has been bypassed in any case.
    pub fn end(&mut self, at: Ticks, complete: bool, patience: Ticks) {
        self.ended = Some(if complete { End::Complete } else { End::CutShort });
        if self.waiting == 0 {
            return;
        }
        let all = (0..self.nodes.len() as u32).map(NodeId);
        let waiting: Vec<NodeId> = all.filter(|&node| self.is_waiting(node)).collect();
        for &node in &waiting {
            self.judge_waiting(node, at);
        }
        if complete || at.since(self.last_progress) >= patience {
            self.judge_stall(&waiting);
        }
    }

    /// These wait for ever.
    fn judge_stall(&mut self, waiting: &[NodeId]) {
        let names: Vec<String> = waiting.iter().map(|node| node.mark()).collect();
        let who = match names.as_slice() {
            [one] => format!("{one} waits"),
            few if few.len() <= 8 => format!("{} wait", few.join(", ")),
            many => format!("{} and {} more wait", many[..8].join(", "), many.len() - 8),
        };
        // In vain since the first of them began to wait, unless somebody got on after that.
        let began = waiting.iter().map(|&node| self.waiting_since(node)).min();
        let since = began.map_or(self.last_progress, |began| began.max(self.last_progress));
        if self.inside.is_empty() {
            let what = || format!("{who} for ever, and nobody enters");
            self.report(Property::V1, since, what);
        }
        self.report(Property::V2, since, || format!("{who} for ever"));
    }

    /// What became of a property.
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
            Property::BW
            | Property::HB
            | Property::HBExact
            | Property::E1
            | Property::E1Term
            | Property::E2
            | Property::D1
            | Property::D2 => Verdict::NotChecked,
        }
    }

    /// The first violation of each property, in the order they were seen.
    pub fn violations(&self) -> &[Violation] {
        &self.violations
    }

    /// How many nodes wait.
    #[inline]
    pub fn waiting(&self) -> u32 {
        self.waiting
    }

    /// How many nodes are inside.
    #[inline]
    pub fn inside(&self) -> u32 {
        self.inside.len() as u32
    }

    /// Whether this node waits.
    #[inline]
    pub fn is_waiting(&self, node: NodeId) -> bool {
        self.nodes[node.index()].phase == Phase::Waiting
    }

    /// Whether this node is inside.
    #[inline]
    pub fn is_inside(&self, node: NodeId) -> bool {
        self.nodes[node.index()].phase == Phase::Inside
    }

    /// When this node began to wait, or last did.
    #[inline]
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

    /// The most entries by others between a registration and the entry it led to, or the end of
    /// waiting in vain.
    pub fn bypass_max(&self) -> u64 {
        self.bypass_max
    }

    /// Who was passed over, at least once, by more than ten times as many entries as there are
    /// nodes. That somebody is for ever cannot be seen in a run that ends.
    pub fn starving(&self) -> &NodeSet {
        &self.starving
    }

    #[cold]
    fn two_inside(&mut self, node: NodeId, fence: u64, at: Ticks) {
        let name = node.mark();
        let other = self.inside[0].0.mark();
        self.report(Property::S1, at, || format!("{name} entered while {other} was inside"));
        // The resource accepts the largest fence that it has seen: from both, if both have it.
        let largest = self.largest.is_some_and(|(largest, _)| fence == largest);
        let sharer = self.inside.iter().find(|(_, held)| largest && *held == fence);
        if let Some(sharer) = sharer.map(|(sharer, _)| sharer.mark()) {
            let what = || format!("{sharer} and {name} are inside with the same fence {fence}");
            self.report(Property::S1Eff, at, what);
        }
    }

    #[inline]
    fn judge_fence(&mut self, node: NodeId, fence: u64, at: Ticks) {
        match self.largest {
            Some((largest, _)) if fence <= largest => self.not_rising(node, fence, largest, at),
            Some(_) | None => self.largest = Some((fence, node)),
        }
        if fence >= FENCE_END {
            self.too_large(node, fence, at);
        }
    }

    #[cold]
    fn too_large(&mut self, node: NodeId, fence: u64, at: Ticks) {
        let what = || format!("{} entered with fence {fence}, 2^53 or more", node.mark());
        self.report(Property::F1, at, what);
    }

    #[cold]
    fn not_rising(&mut self, node: NodeId, fence: u64, largest: u64, at: Ticks) {
        let what = || format!("{} entered with fence {fence} after {largest}", node.mark());
        self.report(Property::F1, at, what);
        if fence == largest {
            self.largest = Some((fence, node)); // The resource cannot tell the two apart.
        }
    }

    #[inline]
    fn judge_bypass(&mut self, node: NodeId, registered: Option<u32>, at: Ticks) {
        let Some(entries_before) = registered else { return };
        let bypass = u64::from(self.entries - entries_before);
        self.bypass_max = self.bypass_max.max(bypass);
        if bypass > STARVING * self.nodes.len() as u64 {
            self.starving.insert(node);
        }
        if let Some(bound) = self.bypass_bound
            && bypass > bound
        {
            self.bypassed(node, bypass, bound, at);
        }
    }

    /// A node has waited in vain so far: whoever entered meanwhile has overtaken it.
    fn judge_waiting(&mut self, node: NodeId, at: Ticks) {
        let state = &self.nodes[node.index()];
        let registered = state.registered.then_some(state.entries_before);
        self.judge_bypass(node, registered, at);
    }

    #[cold]
    fn bypassed(&mut self, node: NodeId, bypass: u64, bound: u64, at: Ticks) {
        self.report(Property::BW, at, || {
            format!("{bypass} others entered before {}, at most {bound} may", node.mark())
        });
    }

    #[inline(never)]
    fn judge_order(&mut self, node: NodeId, at: Ticks) {
        if let Some(order) = &mut self.order
            && let Some(earlier) = order.entered(node)
        {
            self.report(Property::HB, at, || {
                let node = node.mark();
                let earlier = earlier.mark();
                format!("{node} entered before {earlier}, whose request happened before")
            });
        }
    }

    #[inline(always)]
    fn leave(&mut self, node: NodeId, from: Phase) {
        let state = &mut self.nodes[node.index()];
        assert_eq!(state.phase, from, "node {node} was not {from:?}");
        state.phase = Phase::Idle;
        match from {
            Phase::Idle => {}
            Phase::Waiting => self.waiting -= 1,
            Phase::Inside if self.inside.len() == 1 => self.inside.clear(),
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
mod tests;
