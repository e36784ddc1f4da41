//! An all-knowing oracle in the place of failure detector and election.

use crate::simulator::{Late, Simulation, Status};
use crate::study::Studied;
use conclave_core::election::Rule;
use conclave_core::{Cluster, Event, NodeId, NodeSet, Oracle, Process, Ticks};

/// What each node has been told of the others, and who leads in its eyes.
pub(crate) struct Soothsayer {
    rule: Option<Rule>,
    speaks: bool,
    n: u32,
    /// By node; empty until there is something to tell.
    views: Vec<View>,
    /// Who may have been suspected by anybody so far: the others need no looking at.
    doubted: NodeSet,
    /// Who is told of whom, wrongly, and until when.
    misled: Vec<(NodeId, NodeId, Ticks)>,
    elections: u64,
}

#[derive(Clone, Default)]
struct View {
    suspects: NodeSet,
    leader: Option<Leadership>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Leadership {
    leader: NodeId,
    term: u64,
}

impl Soothsayer {
    pub fn new<P: Process>(cluster: &Cluster<P>) -> Self
    where
        P::Uses: Oracle,
    {
        let speaks = listens::<P>();
        let n = if speaks { cluster.clients } else { 0 };
        Self {
            rule: cluster.election,
            speaks,
            n,
            views: Vec::new(),
            doubted: NodeSet::default(),
            misled: Vec::new(),
            elections: 0,
        }
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
            *view = View::default();
        }
    }

    fn suspects(&self, by: NodeId, of: NodeId) -> bool {
        self.views[by.index()].suspects.contains(of)
    }

    /// The highest node that `by` does not suspect.
    fn highest(&self, by: NodeId) -> NodeId {
        let trusted = (0..self.n).rev().map(NodeId).find(|&node| !self.suspects(by, node));
        trusted.unwrap_or(by)
    }

    /// Bully and ring: a node that follows somebody new makes that one lead, in a term of its own
    /// unless it leads already.
    fn follow_highest(&mut self, node: NodeId) -> Option<Leadership> {
        let leader = self.highest(node);
        let followed = self.views[node.index()].leader;
        if followed.is_some_and(|followed| followed.leader == leader) {
            return None;
        }
        let leads = self.views[leader.index()].leader.filter(|its| its.leader == leader);
        Some(leads.unwrap_or_else(|| {
            self.elections += 1;
            let term = self.elections * u64::from(self.n) + u64::from(leader.0);
            Leadership { leader, term }
        }))
    }

    /// The majority elects anew when it suspects the leader, and somebody whom it reaches.
    fn elect_by_majority(&mut self, up: &[NodeId]) -> Option<Leadership> {
        let majority = self.n / 2 + 1;
        let trusted_by =
            |node: NodeId| up.iter().filter(|&&voter| !self.suspects(voter, node)).count() as u32;
        let known = self.views.iter().filter_map(|view| view.leader);
        let current = known.max_by_key(|leadership| leadership.term);
        if let Some(current) = current
            && trusted_by(current.leader) >= majority
        {
            return Some(current);
        }
        let winner = up.iter().rev().copied().find(|&node| {
            let reached = up.iter().filter(|&&voter| !self.suspects(node, voter)).count() as u32;
            trusted_by(node) >= majority && reached >= majority
        })?;
        self.elections += 1;
        Some(Leadership { leader: winner, term: self.elections })
    }
}

/// Whether this algorithm listens to suspicions or elections at all.
pub fn listens<P: Process>() -> bool
where
    P::Uses: Oracle,
{
    <P::Uses as Oracle>::suspect(NodeId(0)).is_some()
}

impl<P: Process<Provides: Studied, Uses: Oracle>> Simulation<'_, P> {
    /// Tells every node what changed: who is gone, who is back, who leads.
    pub(crate) fn consult_oracle(&mut self) {
        if !self.oracle.speaks {
            return;
        }
        let up: Vec<NodeId> = (0..self.oracle.n)
            .map(NodeId)
            .filter(|node| self.up[node.index()] != Status::Down)
            .collect();
        self.doubt();
        if self.oracle.doubted.is_empty() && self.oracle.rule.is_none() {
            return;
        }
        self.oracle.views.resize_with(self.oracle.n as usize, View::default);
        let doubted: Vec<NodeId> = self.oracle.doubted.iter().collect();
        for &node in &up {
            self.tell_suspicions(node, &doubted);
        }
        match self.oracle.rule {
            Some(Rule::Highest) => {
                for &node in up.iter().rev() {
                    if let Some(leadership) = self.oracle.follow_highest(node) {
                        self.tell_leader(leadership.leader, leadership);
                        self.tell_leader(node, leadership);
                    }
                }
            }
            Some(Rule::Majority) => {
                if let Some(leadership) = self.oracle.elect_by_majority(&up) {
                    for &node in &up {
                        if !self.oracle.suspects(node, leadership.leader) {
                            self.tell_leader(node, leadership);
                        }
                    }
                }
            }
            None => {}
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
            if gone && self.oracle.views[node.index()].suspects.insert(other) {
                self.tell(node, <P::Uses as Oracle>::suspect(other));
            } else if !gone && self.oracle.views[node.index()].suspects.remove(other) {
                self.tell(node, <P::Uses as Oracle>::trust(other));
            }
        }
    }

    fn tell_leader(&mut self, node: NodeId, leadership: Leadership) {
        let view = &mut self.oracle.views[node.index()];
        let news = view.leader != Some(leadership);
        if news && self.up[node.index()] != Status::Down {
            view.leader = Some(leadership);
            self.tell(node, <P::Uses as Oracle>::elected(leadership.leader, leadership.term));
        }
    }

    fn tell(&mut self, node: NodeId, indication: Option<conclave_core::IndicationFrom<P::Uses>>) {
        if let Some(indication) = indication {
            match self.up[node.index()] {
                Status::Up => self.step(node, Event::Indication(indication)),
                Status::Paused => {
                    let waiting = self.backlog.entry(node).or_default();
                    let event = Event::Indication(indication);
                    waiting.push(Late { event, stamp: None });
                }
                Status::Down => {}
            }
        }
    }
}
