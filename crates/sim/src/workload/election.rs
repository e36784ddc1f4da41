//! Study of leader elections: who begins, and whom each node follows.

use super::{Ahead, Exercised, Findings, Judgement, Users};
use crate::error::Error;
use crate::follow::ElectionLaw;
use crate::outcome::Times;
use crate::plan::{Act, Options, Plan, Workload};
use crate::simulator::Simulation;
use crate::validate;
use crate::wheel::Lane;
use conclave_core::election::{Election, Indication, Monitor, Request};
use conclave_core::{Cluster, Event, NodeId, NodeSet, Oracle, Process, Property, Ticks, Violation};

/// Who begins an election if nobody is named.
const FIRST: NodeId = NodeId(0);

/// Those who elect, and the law they live under.
pub struct Electorate {
    monitor: Monitor,
    /// How many elections are still to be begun by plan.
    to_begin: usize,
    started: NodeSet,
}

impl Exercised for Election {
    type Users = Electorate;
    type Law = ElectionLaw;

    fn check<P: Process>(cluster: &Cluster<P>, plan: &Plan) -> Vec<Error> {
        let start = plan.start.iter().map(|node| validate::known("--start", *node, cluster));
        let mut wrong: Vec<Error> = start.filter_map(Result::err).collect();
        match &plan.workload {
            Workload::AllAtOnce => {}
            Workload::Script(lines) => wrong.extend(validate::each(lines, |line| match line.act {
                Act::Campaign => validate::known("--workload", line.node, cluster),
                Act::Acquire | Act::Release | Act::Cancel | Act::Tell(_) | Act::Event => {
                    let accepted = "in an election the only thing to do is to 'campaign'";
                    Err(Error::value("--workload", "script", accepted))
                }
            })),
            Workload::Single(_) | Workload::Closed(_) | Workload::Poisson(_) => {
                let no_workload = "an election has none; --start says who begins";
                wrong.push(Error::value("--workload", "…", no_workload));
            }
        }
        wrong
    }

    fn users<P: Process>(cluster: &Cluster<P>, plan: &Plan, _: &Options) -> Electorate {
        let to_begin = campaigns(plan).len();
        Electorate { monitor: Monitor::new(cluster.nodes()), to_begin, started: NodeSet::default() }
    }

    fn begin<P: Process<Provides = Self, Uses: Oracle>>(run: &mut Simulation<'_, P>) {
        for (at, node) in campaigns(run.plan) {
            run.wheel.schedule(at, Lane::Application, node, Event::Request(Request::Campaign));
        }
    }

    fn acts<P: Process<Provides = Self, Uses: Oracle>>(
        run: &mut Simulation<'_, P>,
        node: NodeId,
        request: Request,
    ) {
        run.users.to_begin -= 1;
        run.users.started.insert(node);
        run.step(node, Event::Request(request));
    }

    fn told<P: Process<Provides = Self, Uses: Oracle>>(
        run: &mut Simulation<'_, P>,
        node: NodeId,
        indication: Indication,
    ) {
        match indication {
            Indication::Elected { leader, term } => {
                run.users.monitor.elected(node, leader, term, run.now);
            }
            Indication::Deposed { .. } => run.users.monitor.deposed(node, run.now),
            // What a detector says is no news to somebody who only wants to know who leads.
            Indication::Suspect(_) | Indication::Trust(_) => return,
        }
        if let Some(story) = &mut run.story {
            story.indicates(words(node, indication));
        }
    }

    fn returned<P: Process<Provides = Self, Uses: Oracle>>(
        run: &mut Simulation<'_, P>,
        node: NodeId,
    ) {
        run.users.monitor.returned(node);
    }

    fn rank(_: &Request) -> u8 {
        0
    }

    fn prompts(act: Act) -> Option<Request> {
        match act {
            Act::Campaign => Some(Request::Campaign),
            Act::Acquire | Act::Release | Act::Cancel | Act::Tell(_) | Act::Event => None,
        }
    }

    fn words(request: &Request) -> String {
        match request {
            Request::Campaign => "calls for an election".to_string(),
            Request::Resign => "hands over, if it leads".to_string(),
        }
    }
}

fn words(node: NodeId, indication: Indication) -> String {
    match indication {
        Indication::Elected { leader, term } if leader == node => {
            format!("LEADS, in term {term}")
        }
        Indication::Elected { leader, term } => {
            format!("follows {}, in term {term}", leader.mark())
        }
        Indication::Deposed { term } => format!("no longer leads in term {term}"),
        Indication::Suspect(other) => format!("suspects {}", other.mark()),
        Indication::Trust(other) => format!("trusts {} again", other.mark()),
    }
}

/// When somebody calls for an election by plan, and who.
fn campaigns(plan: &Plan) -> Vec<(Ticks, NodeId)> {
    let script = plan.workload.script();
    let nobody_named = plan.start.is_empty() && script.is_empty();
    let first = nobody_named.then_some(FIRST);
    let at_once = plan.start.iter().copied().chain(first).map(|node| (Ticks::ZERO, node));
    at_once.chain(script.iter().map(|line| (line.at, line.node))).collect()
}

impl Users<Election> for Electorate {
    fn absent(&mut self, node: NodeId) {
        self.monitor.crashed(node, Ticks::ZERO);
    }

    fn crashed(&mut self, node: NodeId, at: Ticks) {
        self.monitor.crashed(node, at);
    }

    fn outlives_crash(&self, _: NodeId, _: &Request) -> bool {
        true
    }

    fn prompted(&mut self, _: NodeId, _: &Request) {
        self.to_begin += 1;
    }

    fn violations(&self) -> &[Violation] {
        self.monitor.violations()
    }

    fn missed(&mut self, _: NodeId, _: &Request) {
        self.to_begin -= 1;
    }

    fn is_done(&self, ahead: Ahead) -> bool {
        self.to_begin == 0 && !ahead.anything && self.monitor.leader().is_some()
    }

    fn end<P: Process>(
        &mut self,
        cluster: &Cluster<P>,
        at: Ticks,
        complete: bool,
        patience: Ticks,
    ) {
        let winner = cluster.winner.as_ref().map(|rule| rule(self.monitor.up(), &self.started));
        self.monitor.end(winner, at, complete, patience);
    }

    fn findings(self) -> (Judgement, Findings) {
        let monitor = self.monitor;
        let verdicts = Property::ELECTION.map(|property| (property, monitor.verdict(property)));
        let judgement =
            Judgement { verdicts: verdicts.into(), violations: monitor.violations().to_vec() };
        let mut time_to_leader = Times::default();
        if monitor.leader().is_some() {
            time_to_leader.0.add(monitor.last_change());
        }
        let leading = Leading {
            leader: monitor.leader(),
            agreed: monitor.leader().is_some(),
            time_to_leader,
            leaders_seen: monitor.leaders_seen().to_vec(),
            at_once: monitor.at_once_max(),
            changes: monitor.changes(),
            beliefs: monitor.beliefs(),
        };
        (judgement, Findings::Election(Box::new(leading)))
    }
}

/// Who came to lead, and how.
#[derive(Clone, Debug)]
pub struct Leading {
    /// Whom all live nodes follow in the end, if they agree.
    pub leader: Option<NodeId>,
    /// Whether they agree; of many runs, whether they do in all.
    pub agreed: bool,
    /// When the last of them came to follow it.
    pub time_to_leader: Times,
    /// Everybody whom anybody ever followed, in order.
    pub leaders_seen: Vec<NodeId>,
    /// The most nodes that believed at one time that they lead.
    pub at_once: u32,
    /// How often a node turned from one leader to another.
    pub changes: u64,
    /// Whom each node follows in the end; those that are down follow nobody. Not kept when there
    /// are too many nodes.
    pub beliefs: Vec<Option<NodeId>>,
}

impl Leading {
    pub(super) fn absorb(&mut self, other: &Self) {
        self.leader = None;
        self.agreed &= other.agreed;
        self.time_to_leader.0.merge(&other.time_to_leader.0);
        for &leader in &other.leaders_seen {
            if !self.leaders_seen.contains(&leader) {
                self.leaders_seen.push(leader);
            }
        }
        self.at_once = self.at_once.max(other.at_once);
        self.changes += other.changes;
        self.beliefs.clear();
    }
}
