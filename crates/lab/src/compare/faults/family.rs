//! The runs behind a cell: the same fault at several times, hitting several nodes.

use super::{Mishap, Trial};
use crate::{Error, Experiment};
use conclave_core::{NodeId, Ticks};
use conclave_sim::{Act, Action, Entry, Fault, MessageRule, Options, Plan, ScriptLine, Workload};

/// How often each node enters, and how often when it is to show who can go on.
const ROUNDS: u32 = 3;
const ROUNDS_LONGER: u32 = 9;
/// How far the rounds of a script lie apart: enough for all to be served, and not enough.
const ROUND_SPANS: [Ticks; 2] = [Ticks::units(100), Ticks::units(20)];
/// How many of the messages of a kind are lost, each in a run of its own.
const LOST_MAX: u32 = 40;
/// How long a partition lasts.
const CUT_SPAN: Ticks = Ticks::units(60);
/// Half of a critical section.
const HALF: Ticks = Ticks::units(5);
/// When a fault may hurt, from an entry on: just inside, well inside, and when all that the exit
/// set off is on its way.
const MOMENTS: [Ticks; 3] = [Ticks::UNIT, HALF, Ticks(10_500)];
/// How long a node stays inside.
const INSIDE: Ticks = Ticks::units(10);
/// Whoever waits for ever has done so long before.
const UNTIL: Ticks = Ticks::units(10_000);

/// All faulty runs of one algorithm.
pub struct Family<'a> {
    experiment: &'a Experiment,
    /// Runs in which all compete, without a fault.
    contended: Vec<Base>,
    /// Runs in which some never ask, without a fault.
    scripted: Vec<Base>,
    coordinators: Vec<NodeId>,
}

/// A run without a fault, and what happened in it.
struct Base {
    plan: Plan,
    longer: Plan,
    entered: Vec<Entry>,
    kinds: Vec<(&'static str, u64)>,
}

impl Base {
    fn run(experiment: &Experiment, plan: Plan, longer: Plan) -> Result<Self, Error> {
        let outcome = experiment.run(&plan, &Options::default())?;
        let entered = outcome.mutex().entered.clone().unwrap_or_default();
        Ok(Self { plan, longer, entered, kinds: outcome.messages_by_kind })
    }

    /// This run with something going wrong.
    fn with(&self, hits: &str, faults: Vec<(Ticks, Fault)>) -> Trial {
        let plan = Plan { faults: faults.clone(), ..self.plan.clone() };
        let longer = Plan { faults, ..self.longer.clone() };
        Trial { plan, longer, hits: hits.to_string() }
    }

    /// This run without the nth message of a kind.
    fn without(&self, kind: &str, nth: u32) -> Trial {
        let rules = vec![MessageRule {
            from: None,
            to: None,
            kind: Some(kind.to_string()),
            nth: Some(nth),
            action: Action::Drop,
        }];
        let plan = Plan { rules: rules.clone(), ..self.plan.clone() };
        let longer = Plan { rules, ..self.longer.clone() };
        Trial { plan, longer, hits: kind.to_string() }
    }

    /// Times at which a fault may hurt: somebody is inside, or has just left.
    fn moments(&self) -> impl Iterator<Item = Ticks> {
        let early = self.entered.iter().take(5).map(|entry| entry.at);
        early.flat_map(|at| MOMENTS.map(|moment| at + moment))
    }

    /// Whether a node of a script that was let in at this time does not ask again before that.
    fn is_idle(&self, entry: &Entry, before: Ticks) -> bool {
        let again = entry.at + INSIDE..before;
        entry.at + INSIDE <= before
            && match &self.plan.workload {
                Workload::Script(lines) => {
                    !lines.iter().any(|line| line.node == entry.node && again.contains(&line.at))
                }
                Workload::AllAtOnce
                | Workload::Single(_)
                | Workload::Closed(_)
                | Workload::Poisson(_) => false,
            }
    }
}

impl<'a> Family<'a> {
    /// Runs without a fault first, to learn who is where at what time.
    pub fn new(experiment: &'a Experiment) -> Result<Self, Error> {
        let closed = |think, seed| (Workload::Closed(Ticks::units(think)), seed, ROUNDS);
        let mut contended = Vec::new();
        for (workload, seed, rounds) in [
            (Workload::AllAtOnce, 1, 1),
            (Workload::AllAtOnce, 1, ROUNDS),
            closed(20, 1),
            closed(100, 2),
        ] {
            let plan = Plan { workload, seed, rounds, until: UNTIL, ..Plan::default() };
            let longer = Plan { rounds: ROUNDS_LONGER, ..plan.clone() };
            contended.push(Base::run(experiment, plan, longer)?);
        }
        let mut scripted = Vec::new();
        for span in ROUND_SPANS {
            let plan = |rounds| Plan {
                workload: Workload::Script(script(experiment.names.clients, rounds, span)),
                until: UNTIL,
                ..Plan::default()
            };
            scripted.push(Base::run(experiment, plan(ROUNDS), plan(ROUNDS_LONGER))?);
        }
        Ok(Self { experiment, contended, scripted, coordinators: coordinators(experiment) })
    }

    /// The runs behind one cell; none where this cannot go wrong.
    pub fn trials(&self, mishap: Mishap) -> Vec<Trial> {
        match mishap {
            Mishap::CoordinatorCrash if self.all_arbitrate() => self.bystanders(&crash),
            Mishap::CoordinatorCrash => self.at_coordinators(&self.spared(), &crash),
            Mishap::MajorityCrash => self.at_coordinators(&self.needed(), &crash),
            Mishap::HolderCrash => self.holders(&crash),
            Mishap::BystanderCrash => self.bystanders(&crash),
            Mishap::MessageLost => self.losses(),
            Mishap::Partition => self.partitions(),
            Mishap::CoordinatorAmnesia if self.all_arbitrate() => self.arbiters_forget(),
            Mishap::CoordinatorAmnesia => {
                self.at_coordinators(&[self.spared(), self.needed()].concat(), &forget)
            }
            Mishap::HolderAmnesia => self.holders(&forget),
            Mishap::BystanderAmnesia => self.bystanders(&forget),
        }
    }

    /// Whether every client is also an arbiter for others.
    fn all_arbitrate(&self) -> bool {
        has_parameter(self.experiment, "quorums")
    }

    /// Coordinators that a majority can spare: the first, the last, as many as possible.
    fn spared(&self) -> Vec<Vec<NodeId>> {
        let all = &self.coordinators;
        let spare = (all.len().saturating_sub(1) / 2).max(1);
        let mut groups: Vec<Vec<NodeId>> = [all.first(), all.last()]
            .into_iter()
            .flatten()
            .map(|&node| vec![node])
            .chain([all.iter().rev().take(spare).copied().collect()])
            .collect();
        groups.iter_mut().for_each(|group| group.sort_unstable());
        groups.dedup();
        groups.retain(|group| !group.is_empty());
        groups
    }

    /// Coordinators without which there is no majority; none if there is only one at all.
    fn needed(&self) -> Vec<Vec<NodeId>> {
        let all = &self.coordinators;
        let majority: Vec<NodeId> = all.iter().take(all.len() / 2 + 1).copied().collect();
        if all.len() > 1 { vec![majority] } else { Vec::new() }
    }

    fn at_coordinators(&self, groups: &[Vec<NodeId>], strike: &Strike<'_>) -> Vec<Trial> {
        let mut trials = Vec::new();
        for group in groups {
            for base in &self.contended {
                for at in base.moments() {
                    trials.push(base.with(&self.names(group), strike(group, at)));
                }
            }
        }
        trials
    }

    /// Who is inside is hit, unless it is a coordinator too.
    fn holders(&self, strike: &Strike<'_>) -> Vec<Trial> {
        let mut trials = Vec::new();
        for base in &self.contended {
            let plain = base.entered.iter().filter(|e| !self.coordinators.contains(&e.node));
            for entry in plain.take(5) {
                trials.push(base.with("", strike(&[entry.node], entry.at + HALF)));
            }
        }
        trials
    }

    /// While another is inside, somebody is hit who never asked, or who has left.
    fn bystanders(&self, strike: &Strike<'_>) -> Vec<Trial> {
        let clients = (0..self.experiment.names.clients).map(NodeId);
        let idle: Vec<NodeId> =
            clients.filter(|node| !competes(*node) && !self.coordinators.contains(node)).collect();
        let mut trials = Vec::new();
        for base in &self.scripted {
            for pair in base.entered.windows(2).take(5) {
                let before = &pair[0];
                let now = &pair[1];
                let at = now.at + HALF;
                for &node in &idle {
                    trials.push(base.with("never asked", strike(&[node], at)));
                }
                if base.is_idle(before, at) && !self.coordinators.contains(&before.node) {
                    trials.push(base.with("has been inside", strike(&[before.node], at)));
                }
            }
        }
        trials
    }

    /// While one is inside, another forgets whom it let in.
    fn arbiters_forget(&self) -> Vec<Trial> {
        let mut trials = Vec::new();
        for base in self.contended.iter().chain(&self.scripted) {
            for entry in base.entered.iter().take(5) {
                for node in entry.node.others(self.experiment.names.clients) {
                    trials.push(base.with("", forget(&[node], entry.at + MOMENTS[0])));
                }
            }
        }
        trials
    }

    /// Messages from the whole run, and all of the last broadcast: what is lost there is made good
    /// by no later message.
    fn losses(&self) -> Vec<Trial> {
        let mut trials = Vec::new();
        let broadcast = self.experiment.setting.n - 1;
        for base in &self.contended {
            for &(kind, count) in &base.kinds {
                let count = u32::try_from(count).unwrap_or(u32::MAX);
                let last = count.saturating_sub(broadcast);
                let spread = (1..=last).step_by((last / LOST_MAX + 1) as usize);
                let points = spread.chain(last + 1..=count);
                trials.extend(points.map(|nth| base.without(kind, nth)));
            }
        }
        trials
    }

    fn partitions(&self) -> Vec<Trial> {
        let mut trials = Vec::new();
        for groups in self.splits() {
            let hits: Vec<String> = groups.iter().map(|group| self.names(group)).collect();
            for base in &self.contended {
                for at in base.moments() {
                    let groups = groups.to_vec();
                    let fault = Fault::Partition { groups, until: at + CUT_SPAN };
                    trials.push(base.with(&hits.join("/"), vec![(at, fault)]));
                }
            }
        }
        trials
    }

    /// Two halves, and one node alone; coordinators on their own go with the larger side.
    fn splits(&self) -> [[Vec<NodeId>; 2]; 2] {
        let n = self.experiment.names.clients;
        let apart: Vec<NodeId> =
            self.coordinators.iter().copied().filter(|node| node.0 >= n).collect();
        let minority = apart.len().saturating_sub(1) / 2;
        let split = |at: u32, few: usize| {
            let (left, right) = apart.split_at(few);
            let small = (at..n).map(NodeId).chain(left.iter().copied()).collect();
            let large = (0..at).map(NodeId).chain(right.iter().copied()).collect();
            [large, small]
        };
        [split(n.div_ceil(2), minority), split(n - 1, 0)]
    }

    fn names(&self, nodes: &[NodeId]) -> String {
        nodes.iter().map(|node| self.experiment.names.name(*node)).collect::<Vec<_>>().join(",")
    }
}

/// What goes wrong when these nodes are hit at this time.
type Strike<'a> = dyn Fn(&[NodeId], Ticks) -> Vec<(Ticks, Fault)> + 'a;

fn crash(nodes: &[NodeId], at: Ticks) -> Vec<(Ticks, Fault)> {
    nodes.iter().map(|&node| (at, Fault::Crash(node))).collect()
}

/// They come back at once: no message is lost, only what they knew.
fn forget(nodes: &[NodeId], at: Ticks) -> Vec<(Ticks, Fault)> {
    let back = |&node: &NodeId| (at, Fault::Restart { node, amnesia: true });
    crash(nodes, at).into_iter().chain(nodes.iter().map(back)).collect()
}

/// Whether a node of a script asks at all.
fn competes(node: NodeId) -> bool {
    node.0 % 2 == 1
}

fn script(clients: u32, rounds: u32, span: Ticks) -> Vec<ScriptLine> {
    let round = |round: u32| {
        let at = Ticks(span.0 * u64::from(round));
        let competitors = (0..clients).map(NodeId).filter(|node| competes(*node));
        competitors.map(move |node| ScriptLine { at, node, act: Act::Acquire })
    };
    (0..rounds).flat_map(round).collect()
}

/// Who coordinates: nodes of their own, the first clients, or whoever is elected.
fn coordinators(experiment: &Experiment) -> Vec<NodeId> {
    let n = experiment.names.clients;
    let apart = experiment.names.coordinators;
    if apart > 0 {
        return (n..n + apart).map(NodeId).collect();
    }
    if has_parameter(experiment, "election") {
        return vec![NodeId(n - 1)];
    }
    if !has_parameter(experiment, "coordinator") {
        return Vec::new();
    }
    let several = has_parameter(experiment, "coordinators");
    let several = several.then(|| experiment.setting.params.number("coordinators")).flatten();
    (0..several.unwrap_or(1)).map(NodeId).collect()
}

fn has_parameter(experiment: &Experiment, name: &str) -> bool {
    experiment.setting.entry.parameters.iter().any(|parameter| parameter.name == name)
}
