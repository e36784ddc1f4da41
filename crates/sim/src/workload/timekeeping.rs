//! Study of logical clocks: what happens on the nodes, and what time it is given.

use super::{Ahead, Exercised, Findings, Judgement, Users};
use crate::error::Error;
use crate::follow::Lawless;
use crate::plan::{Act, Fault, Options, Plan, ScriptLine, Workload};
use crate::simulator::Simulation;
use crate::validate;
use crate::wheel::Lane;
use conclave_core::clock::{Refusal, Time};
use conclave_core::timekeeping::{Indication, Kind, Monitor, Pairs, Record, Request, Timekeeping};
use conclave_core::{Cluster, Event, NodeId, Oracle, Process, Property, Ticks, Verdict, Violation};

/// Of more events than this, the pairs are not counted.
const PAIRED_MAX: usize = 3_000;
/// More readings than this are not kept.
const READINGS_MAX: usize = 10_000;
/// So many readings without an event: what is still on its way is lost.
const PATIENCE: u32 = 1_000;

/// Those on whose nodes things happen, and the law of clocks.
pub struct Witnesses {
    monitor: Monitor,
    /// How much is still to be done by plan.
    to_do: usize,
    /// Messages that have left and not come.
    under_way: u64,
    /// Readings since the last event.
    idle: u32,
    /// Whether a node forgets how many events it had. Its messages then no longer say which of them
    /// was their sending.
    forgets: bool,
    readings: Vec<Reading>,
    refusals: Vec<Refused>,
}

/// A clock that moved by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// When.
    pub at: Ticks,
    /// Whose.
    pub node: NodeId,
    /// What it reads.
    pub time: Time,
}

/// A message whose time was not believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused {
    /// When.
    pub at: Ticks,
    /// By whom.
    pub node: NodeId,
    /// From whom.
    pub from: NodeId,
    /// Why.
    pub why: Refusal,
}

impl Exercised for Timekeeping {
    type Users = Witnesses;
    type Law = Lawless;

    fn check<P: Process>(cluster: &Cluster<P>, plan: &Plan) -> Vec<Error> {
        let refused = |value, accepted| vec![Error::value("--workload", value, accepted)];
        let lines = match &plan.workload {
            Workload::AllAtOnce => return Vec::new(),
            Workload::Script(lines) => lines,
            Workload::Single(_) | Workload::Closed(_) | Workload::Poisson(_) => {
                return refused("…", "clocks take script:FILE");
            }
        };
        if cluster.play.is_some() && !lines.is_empty() {
            return refused("script", "this example has a script of its own");
        }
        validate::each(lines, |line| {
            validate::known("--workload", line.node, cluster)?;
            match line.act {
                Act::Event => Ok(()),
                Act::Tell(to) => validate::known("--workload", to, cluster),
                Act::Acquire | Act::Release | Act::Cancel | Act::Campaign => {
                    let accepted = "with clocks the things to do are 'event' and 'tell:ID'";
                    Err(Error::value("--workload", "script", accepted))
                }
            }
        })
    }

    fn users<P: Process>(cluster: &Cluster<P>, plan: &Plan, _: &Options) -> Witnesses {
        Witnesses {
            monitor: Monitor::new(cluster.nodes()),
            to_do: script(cluster, plan).len(),
            under_way: 0,
            idle: 0,
            forgets: plan
                .faults
                .iter()
                .any(|(_, fault)| matches!(fault, Fault::Restart { amnesia: true, .. })),
            readings: Vec::new(),
            refusals: Vec::new(),
        }
    }

    fn begin<P: Process<Provides = Self, Uses: Oracle>>(run: &mut Simulation<'_, P>) {
        for line in script(run.cluster, run.plan) {
            let request = match line.act {
                Act::Event => Request::Happen,
                Act::Tell(to) => Request::Tell(to),
                // Refused before the run.
                Act::Acquire | Act::Release | Act::Cancel | Act::Campaign => continue,
            };
            run.wheel.schedule(line.at, Lane::Application, line.node, Event::Request(request));
        }
    }

    fn acts<P: Process<Provides = Self, Uses: Oracle>>(
        run: &mut Simulation<'_, P>,
        node: NodeId,
        request: Request,
    ) {
        run.users.to_do -= 1;
        if let Some(decisions) = &mut run.decisions {
            let act = match request {
                Request::Happen => Act::Event,
                Request::Tell(to) => Act::Tell(to),
            };
            decisions.acts(run.now, node, act);
        }
        run.step(node, Event::Request(request));
    }

    fn told<P: Process<Provides = Self, Uses: Oracle>>(
        run: &mut Simulation<'_, P>,
        node: NodeId,
        indication: Indication,
    ) {
        if let Some(story) = &mut run.story {
            story.indicates(words(&indication));
        }
        run.users.told(run.now, node, indication);
    }

    fn returned<P: Process<Provides = Self, Uses: Oracle>>(_: &mut Simulation<'_, P>, _: NodeId) {}

    fn rank(_: &Request) -> u8 {
        0
    }

    fn prompts(act: Act) -> Option<Request> {
        match act {
            Act::Event => Some(Request::Happen),
            Act::Tell(to) => Some(Request::Tell(to)),
            Act::Acquire | Act::Release | Act::Cancel | Act::Campaign => None,
        }
    }

    fn words(request: &Request) -> String {
        match request {
            Request::Happen => "does something".to_string(),
            Request::Tell(to) => format!("has something to tell {}", to.mark()),
        }
    }
}

fn words(indication: &Indication) -> String {
    match indication {
        Indication::Stamped { kind: Kind::Local, time } => format!("EVENT at time {time}"),
        Indication::Stamped { kind: Kind::Send { to }, time } => {
            format!("SENDING to {} at time {time}", to.mark())
        }
        Indication::Stamped { kind: Kind::Receive { from, .. }, time } => {
            format!("RECEIPT from {} at time {time}", from.mark())
        }
        Indication::Ticked { time } => format!("its clock reads {time}"),
        Indication::Refused { from, why } => {
            format!("refuses the message of {}: {why}", from.mark())
        }
    }
}

/// What is done on which node: by plan, or a small exchange in which each node tells the next, and
/// something happens on each at a time when most of the others cannot know of it.
fn script<P: Process>(cluster: &Cluster<P>, plan: &Plan) -> Vec<ScriptLine> {
    match &plan.workload {
        Workload::Script(lines) => return lines.clone(),
        Workload::AllAtOnce if cluster.play.is_none() => {}
        Workload::AllAtOnce | Workload::Single(_) | Workload::Closed(_) | Workload::Poisson(_) => {
            return Vec::new();
        }
    }
    let n = cluster.clients;
    let mut lines = Vec::new();
    for node in (0..n).map(NodeId) {
        let turn = |node: u32| Ticks::units(2 * u64::from(node));
        if n > 1 {
            let tell = Act::Tell(node.successor(n));
            lines.push(ScriptLine { at: turn(node.0), node, act: tell });
        }
        let at = turn(node.successor(n).0) + Ticks(500);
        lines.push(ScriptLine { at, node, act: Act::Event });
    }
    lines.sort_by_key(|line| line.at);
    lines
}

impl Witnesses {
    fn told(&mut self, at: Ticks, node: NodeId, indication: Indication) {
        match indication {
            Indication::Stamped { kind, time } => {
                self.idle = 0;
                match kind {
                    Kind::Send { .. } => self.under_way += 1,
                    Kind::Receive { .. } => self.under_way = self.under_way.saturating_sub(1),
                    Kind::Local => {}
                }
                self.monitor.stamped(node, kind, time, at);
            }
            Indication::Ticked { time } => {
                self.idle = self.idle.saturating_add(1);
                if self.readings.len() < READINGS_MAX {
                    self.readings.push(Reading { at, node, time });
                }
            }
            Indication::Refused { from, why } => {
                self.under_way = self.under_way.saturating_sub(1);
                self.refusals.push(Refused { at, node, from, why });
            }
        }
    }
}

impl Users<Timekeeping> for Witnesses {
    fn absent(&mut self, _: NodeId) {}

    fn crashed(&mut self, _: NodeId, _: Ticks) {}

    fn outlives_crash(&self, _: NodeId, _: &Request) -> bool {
        true
    }

    fn prompted(&mut self, _: NodeId, _: &Request) {
        self.to_do += 1;
    }

    fn violations(&self) -> &[Violation] {
        self.monitor.violations()
    }

    fn missed(&mut self, _: NodeId, _: &Request) {
        self.to_do -= 1;
    }

    fn is_done(&self, ahead: Ahead) -> bool {
        let settled = self.under_way == 0 || self.idle > PATIENCE;
        self.to_do == 0 && !ahead.anything && settled
    }

    fn end<P: Process>(&mut self, _: &Cluster<P>, _: Ticks, _: bool, _: Ticks) {}

    fn findings(self) -> (Judgement, Findings) {
        let records = self.monitor.records();
        let few = records.len() <= PAIRED_MAX && !self.forgets;
        let mut judgement = Judgement {
            verdicts: vec![(Property::HB, self.monitor.verdict())],
            violations: self.monitor.violations().to_vec(),
        };
        if self.monitor.claims_exactness() {
            let inexact = if few { self.monitor.inexact() } else { None };
            let verdict = match &inexact {
                Some(_) => Verdict::Violated,
                None if few => Verdict::Holds,
                None if self.forgets => Verdict::NotChecked,
                None => Verdict::Unknown,
            };
            judgement.verdicts.push((Property::HBExact, verdict));
            judgement.violations.extend(inexact);
        }
        let keeping = Keeping {
            stamped: records.len() as u64,
            pairs: few.then(|| self.monitor.pairs()),
            records: records.to_vec(),
            readings: self.readings,
            refusals: self.refusals,
        };
        (judgement, Findings::Clock(Box::new(keeping)))
    }
}

/// What happened, and when by the clocks.
#[derive(Clone, Debug)]
pub struct Keeping {
    /// How many events there were.
    pub stamped: u64,
    /// Each of them; none where several runs are added up.
    pub records: Vec<Record>,
    /// How many pairs of them are ordered, if they were few enough to compare.
    pub pairs: Option<Pairs>,
    /// Clocks that moved by themselves; of many, the first.
    pub readings: Vec<Reading>,
    /// Messages that were not believed.
    pub refusals: Vec<Refused>,
}

impl Keeping {
    /// What the message carried whose receipt this is.
    pub fn carried(&self, receipt: &Record) -> Option<&Time> {
        let Kind::Receive { from, sent } = receipt.kind else { return None };
        let place = (sent as usize).checked_sub(1)?;
        Some(&self.records.iter().filter(|record| record.node == from).nth(place)?.time)
    }

    /// What the clock of an event read just before it, if it had ever moved.
    pub fn before(&self, record: &Record) -> Option<&Time> {
        self.clock_at(record.node, Ticks(record.at.0.checked_sub(1)?))
    }

    /// What a node's clock read at some time, if it had ever moved.
    pub fn clock_at(&self, node: NodeId, at: Ticks) -> Option<&Time> {
        let mut events =
            self.records.iter().filter(|record| record.node == node && record.at <= at);
        let event = events.next_back().map(|record| (record.at, &record.time));
        let mut ticks = self.readings.iter().filter(|tick| tick.node == node && tick.at <= at);
        let tick = ticks.next_back().map(|reading| (reading.at, &reading.time));
        match (event, tick) {
            (Some((at, event)), Some((ticked, _))) if at >= ticked => Some(event),
            (_, Some((_, tick))) => Some(tick),
            (event, None) => event.map(|(_, time)| time),
        }
    }

    pub(super) fn absorb(&mut self, other: &Self) {
        self.stamped += other.stamped;
        self.records.clear();
        self.readings.clear();
        self.refusals.clear();
        self.pairs = self.pairs.zip(other.pairs).map(|(mine, theirs)| Pairs {
            ordered: mine.ordered + theirs.ordered,
            concurrent: mine.concurrent + theirs.concurrent,
            ordered_by_clock: mine.ordered_by_clock + theirs.ordered_by_clock,
            ordered_by_lamport: mine.ordered_by_lamport + theirs.ordered_by_lamport,
        });
    }
}
