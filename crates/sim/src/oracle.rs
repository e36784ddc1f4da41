//! A perfect failure detector: an all-knowing oracle in the place of a real one.

use crate::network::{separates, sides};
use crate::simulator::{Late, Simulation, Status};
use crate::sparse::Sparse;
use crate::workload::Exercised;
use conclave_core::{Cluster, Event, NodeId, NodeSet, Oracle, Process, Ticks};

/// How long the oracle takes to notice that a node is gone, or that a link is cut or healed.
pub(crate) const NOTICE: Ticks = Ticks::units(2);

/// What each node has been told of the others.
pub(crate) struct PerfectDetector {
    speaks: bool,
    n: u32,
    /// Whom each node suspects; empty until there is something to tell.
    views: Vec<NodeSet>,
    /// Who may have been suspected by anybody so far: the others need no looking at.
    doubted: NodeSet,
    /// Who is told of whom, wrongly, and until when.
    misled: Vec<(NodeId, NodeId, Ticks)>,
    /// From when on it is known that a node is down; from the beginning of one that never was up.
    noticed: Sparse<Ticks>,
    cuts: Vec<Cut>,
}

/// A partition, and how long it lasts.
struct Cut {
    groups: Vec<NodeSet>,
    since: Ticks,
    until: Ticks,
}

impl PerfectDetector {
    pub fn new<P: Process>(cluster: &Cluster<P>) -> Self
    where
        P::Uses: Oracle,
    {
        let speaks = listens::<P>();
        let n = if speaks { cluster.clients } else { 0 };
        Self {
            speaks,
            n,
            views: Vec::new(),
            doubted: NodeSet::default(),
            misled: Vec::new(),
            noticed: Sparse::new(),
            cuts: Vec::new(),
        }
    }

    /// Whether anybody listens.
    pub fn speaks(&self) -> bool {
        self.speaks
    }

    pub fn mislead(&mut self, by: NodeId, of: NodeId, until: Ticks) {
        self.misled.push((by, of, until));
    }

    pub fn crashed(&mut self, node: NodeId, at: Ticks) {
        *self.noticed.entry(node) = at + NOTICE;
    }

    pub fn cut(&mut self, groups: &[Vec<NodeId>], since: Ticks, until: Ticks) {
        if self.speaks {
            self.cuts.push(Cut { groups: sides(groups), since, until });
        }
    }

    /// Forgets what makes nobody suspect anybody from now on.
    fn forget_past(&mut self, now: Ticks) {
        self.cuts.retain(|cut| now < cut.until + NOTICE);
        self.misled.retain(|&(_, _, until)| now < until);
    }

    /// A node came back and knows nothing of what it was told.
    pub fn forget(&mut self, node: NodeId) {
        if let Some(view) = self.views.get_mut(node.index()) {
            *view = NodeSet::default();
        }
    }

    fn misleads(&self, node: NodeId, other: NodeId, now: Ticks) -> bool {
        self.misled.iter().any(|&(by, of, until)| (by, of) == (node, other) && now < until)
    }

    /// Whether it is known by now that a node, which is down, is so. Who is suspected already is
    /// not trusted in between.
    fn sees_crash(&self, other: NodeId, suspected: bool, now: Ticks) -> bool {
        suspected || self.noticed.get(other).is_none_or(|&noticed| noticed <= now)
    }

    /// Whether two are known to be cut off from each other. That a cut has healed takes its time
    /// to be noticed too.
    fn sees_cut(&self, node: NodeId, other: NodeId, suspected: bool, now: Ticks) -> bool {
        self.cuts.iter().filter(|cut| separates(&cut.groups, node, other)).any(|cut| {
            let noticed = cut.since + NOTICE <= now && now < cut.until;
            noticed || suspected && now < cut.until + NOTICE
        })
    }
}

/// Whether this algorithm listens to suspicions at all.
pub fn listens<P: Process>() -> bool
where
    P::Uses: Oracle,
{
    <P::Uses as Oracle>::suspect(NodeId(0)).is_some()
}

impl<P: Process<Provides: Exercised, Uses: Oracle>> Simulation<'_, P> {
    /// Tells every node what changed: who is gone, who is back.
    pub(crate) fn consult_oracle(&mut self) {
        if !self.oracle.speaks {
            return;
        }
        let up: Vec<NodeId> = (0..self.oracle.n)
            .map(NodeId)
            .filter(|node| self.up[node.index()] != Status::Down)
            .collect();
        self.doubt();
        if self.oracle.doubted.is_empty() {
            return;
        }
        self.oracle.views.resize_with(self.oracle.n as usize, NodeSet::default);
        let doubted: Vec<NodeId> = self.oracle.doubted.iter().collect();
        for &node in &up {
            self.tell_suspicions(node, &doubted);
        }
    }

    /// Looks for those whom somebody may suspect.
    fn doubt(&mut self) {
        let n = self.oracle.n;
        let down = (0..n).map(NodeId).filter(|node| self.up[node.index()] == Status::Down);
        let misled = self.oracle.misled.iter().map(|&(_, of, _)| of);
        let cut_off = self.oracle.cuts.iter().flat_map(|cut| cut.groups.iter());
        let cut_off = cut_off.flat_map(|group| group.iter());
        let doubted: Vec<NodeId> = down.chain(cut_off).chain(misled).collect();
        for node in doubted {
            if node.0 < n {
                self.oracle.doubted.insert(node);
            }
        }
        self.oracle.forget_past(self.now);
    }

    fn tell_suspicions(&mut self, node: NodeId, doubted: &[NodeId]) {
        let now = self.now;
        for &other in doubted.iter().filter(|&&other| other != node) {
            let suspected = self.oracle.views[node.index()].contains(other);
            let down = self.up[other.index()] == Status::Down;
            let gone = down && self.oracle.sees_crash(other, suspected, now)
                || self.oracle.sees_cut(node, other, suspected, now)
                || self.oracle.misleads(node, other, now);
            if gone && self.oracle.views[node.index()].insert(other) {
                self.tell(node, <P::Uses as Oracle>::suspect(other));
            } else if !gone && self.oracle.views[node.index()].remove(other) {
                self.tell(node, <P::Uses as Oracle>::trust(other));
            }
        }
    }

    fn tell(&mut self, node: NodeId, indication: Option<conclave_core::IndicationFrom<P::Uses>>) {
        if let Some(indication) = indication {
            match self.up[node.index()] {
                Status::Up => self.step(node, Event::Indication(indication)),
                Status::Paused => {
                    let waiting = self.backlog.entry(node);
                    let event = Event::Indication(indication);
                    waiting.push(Late { event, stamp: None, request: None });
                }
                Status::Down => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::plan::{Fault, Options, Plan};
    use crate::runnable::Runnable;
    use crate::toys::ears;
    use conclave_core::{NodeId, Ticks};

    const A: NodeId = NodeId(0);
    const B: NodeId = NodeId(1);
    const C: NodeId = NodeId(2);
    const D: NodeId = NodeId(3);

    /// What this node is told by the oracle of four, and when.
    fn told(node: NodeId, faults: &[(u64, Fault)]) -> Vec<(u64, String)> {
        let faults = faults.iter().map(|(at, fault)| (Ticks(*at), fault.clone())).collect();
        let plan = Plan { faults, ..Plan::default() };
        let options = Options { story: true, ..Options::default() };
        let outcome = ears(4).run(&plan, &options).expect("the plan is sound");
        let of_node = outcome.story.into_iter().filter(|line| line.node == Some(node));
        let told = of_node.filter_map(|line| {
            let what = line.text.strip_prefix("is told ")?;
            Some((line.at.0, what.to_string()))
        });
        told.collect()
    }

    fn told_of(at: u64, what: &str, node: NodeId) -> (u64, String) {
        (at, format!("that {} {what}", node.mark()))
    }

    #[test]
    fn a_restart_tells_nobody_of_a_crash_that_was_not_noticed_yet() {
        let restart = Fault::Restart { node: B, amnesia: false };
        let faults =
            [(20_000, Fault::Crash(B)), (39_500, Fault::Crash(C)), (40_000, restart.clone())];
        let back = told_of(40_000, "is up", B);
        let gone = told_of(41_500, "crashed", C);
        assert_eq!(told(A, &faults), [told_of(22_000, "crashed", B), back, gone.clone()]);
        assert_eq!(told(B, &faults), [gone]);
        let faults = [(20_000, Fault::Crash(B)), (30_000, Fault::Crash(C)), (40_000, restart)];
        assert_eq!(told(B, &faults), [told_of(40_000, "crashed", C)], "it was known by then");
    }

    #[test]
    fn of_two_crashes_each_takes_its_own_time_to_be_noticed() {
        let faults = [(10_000, Fault::Crash(B)), (11_000, Fault::Crash(C))];
        let both = [told_of(12_000, "crashed", B), told_of(13_000, "crashed", C)];
        assert_eq!(told(A, &faults), both);
    }

    #[test]
    fn a_cut_and_its_end_are_noticed_in_their_own_time_whatever_else_happens() {
        let groups = vec![vec![A], vec![B]];
        let cut = Fault::Partition { groups, until: Ticks(20_000) };
        let lie = |of| Fault::Suspect { by: A, of, span: None };
        let faults = [(10_000, cut), (11_000, lie(C)), (21_000, lie(D))];
        let all = [
            told_of(11_000, "crashed", C),
            told_of(12_000, "crashed", B),
            told_of(21_000, "crashed", D),
            told_of(22_000, "is up", B),
        ];
        assert_eq!(told(A, &faults), all);
    }
}
