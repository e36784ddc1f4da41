//! A perfect failure detector: an all-knowing oracle in the place of a real one.

use crate::simulator::{Late, Simulation, Status};
use crate::workload::Exercised;
use conclave_core::{Cluster, Event, NodeId, NodeSet, Oracle, Process, Ticks};

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
}

impl PerfectDetector {
    pub fn new<P: Process>(cluster: &Cluster<P>) -> Self
    where
        P::Uses: Oracle,
    {
        let speaks = listens::<P>();
        let n = if speaks { cluster.clients } else { 0 };
        Self { speaks, n, views: Vec::new(), doubted: NodeSet::default(), misled: Vec::new() }
    }

    /// Whether anybody listens.
    pub fn speaks(&self) -> bool {
        self.speaks
    }

    pub fn mislead(&mut self, by: NodeId, of: NodeId, until: Ticks) {
        self.misled.push((by, of, until));
    }

    /// A node came back and knows nothing of what it was told.
    pub fn forget(&mut self, node: NodeId) {
        if let Some(view) = self.views.get_mut(node.index()) {
            *view = NodeSet::default();
        }
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
        let doubted: Vec<NodeId> = down.chain(self.network.cut_off()).chain(misled).collect();
        for node in doubted {
            if node.0 < n {
                self.oracle.doubted.insert(node);
            }
        }
    }

    fn tell_suspicions(&mut self, node: NodeId, doubted: &[NodeId]) {
        let now = self.now;
        for &other in doubted.iter().filter(|&&other| other != node) {
            let misled = self
                .oracle
                .misled
                .iter()
                .any(|&(by, of, until)| (by, of) == (node, other) && now < until);
            let gone = self.up[other.index()] == Status::Down
                || self.network.is_cut(node, other)
                || misled;
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
                    waiting.push(Late { event, stamp: None });
                }
                Status::Down => {}
            }
        }
    }
}
