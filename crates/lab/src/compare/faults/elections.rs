//! What faults do to each election: every cell of the matrix is the worst of several runs.

use crate::compare::Conditions;
use crate::parallel::Progress;
use crate::{Error, Experiment};
use conclave_algorithms::catalog::Entry;
use conclave_core::{NodeId, Property, Ticks, Verdict as Judgement};
use conclave_sim::{Action, Fault, MessageRule, Options, Outcome, Plan};

/// How many of the messages of a kind are lost, and how many moments are tried, at most.
const LOST_MAX: u32 = 30;
const MOMENTS_MAX: u64 = 12;
/// How long a partition lasts, and how long after an election its leader is hit.
const CUT_SPAN: Ticks = Ticks::units(60);
const LATER: Ticks = Ticks::units(30);
const UNTIL: Ticks = Ticks::units(3_000);

/// What goes wrong in an election.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mishap {
    /// Who began crashes while the election is under way.
    InitiatorCrash,
    /// Who should win crashes while it is under way.
    WinnerCrash,
    /// Another node does.
    BystanderCrash,
    /// The leader crashes after the election.
    LeaderCrash,
    /// The leader crashes after the election and comes back without its memory.
    LeaderAmnesia,
    /// One message is lost.
    MessageLost,
    /// The nodes fall into two groups for a while.
    Partition,
}

impl Mishap {
    /// In the order of the matrix.
    pub const ALL: [Self; 7] = [
        Self::InitiatorCrash,
        Self::WinnerCrash,
        Self::BystanderCrash,
        Self::LeaderCrash,
        Self::LeaderAmnesia,
        Self::MessageLost,
        Self::Partition,
    ];

    /// Its name for programs.
    pub fn id(self) -> &'static str {
        match self {
            Self::InitiatorCrash => "initiator-crash",
            Self::WinnerCrash => "winner-crash",
            Self::BystanderCrash => "bystander-crash",
            Self::LeaderCrash => "leader-crash",
            Self::LeaderAmnesia => "leader-amnesia",
            Self::MessageLost => "message-lost",
            Self::Partition => "partition",
        }
    }
}

/// What came of a fault, the worst last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// All that live follow the one that should lead.
    Holds,
    /// The run had not come to rest when it was cut short.
    GoesOn,
    /// Somebody never comes to follow anybody.
    Unled,
    /// They do not all follow the one that should lead.
    Divided,
}

impl Verdict {
    /// In a word or two.
    pub fn word(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::GoesOn => "goes on",
            Self::Unled => "no leader",
            Self::Divided => "E1 broken",
        }
    }

    fn of(outcome: &Outcome) -> Self {
        let of = |property| outcome.verdict(property);
        match (of(Property::E1), of(Property::E2)) {
            (_, Judgement::Violated) => Self::Unled,
            (Judgement::Violated, _) => Self::Divided,
            (Judgement::Unknown, _) | (_, Judgement::Unknown) => Self::GoesOn,
            (_, _) => Self::Holds,
        }
    }
}

/// One cell of the matrix.
pub struct Cell {
    /// Whose.
    pub algorithm: &'static str,
    /// With how many nodes.
    pub nodes: u32,
    /// What goes wrong.
    pub mishap: Mishap,
    /// What came of it in the worst run; `None` where it cannot happen.
    pub verdict: Option<Verdict>,
    /// In how many runs it came to something else than it should, and of how many.
    pub wrong: (u32, u32),
    /// The command that shows the worst.
    pub replay: Option<String>,
}

/// The whole matrix, row by row, for each number of nodes.
pub fn all(
    entries: &[&'static Entry],
    nodes: &[u32],
    conditions: &Conditions,
    progress: Progress<'_>,
) -> Result<Vec<Cell>, Error> {
    let experiments = super::experiments(entries, nodes, conditions)?;
    super::matrix(&experiments, Mishap::ALL, progress, cell)
}

fn cell(experiment: &Experiment, mishap: Mishap) -> Result<Cell, Error> {
    let mut cell = Cell {
        algorithm: experiment.setting.entry.id,
        nodes: experiment.setting.n,
        mishap,
        verdict: None,
        wrong: (0, 0),
        replay: None,
    };
    for base in Base::all(experiment)? {
        for plan in base.trials(mishap) {
            let verdict = Verdict::of(&experiment.run(&plan, &Options::default())?);
            cell.wrong.1 += 1;
            cell.wrong.0 += u32::from(verdict != Verdict::Holds);
            if cell.verdict.is_none_or(|worst| verdict > worst) {
                cell.verdict = Some(verdict);
                cell.replay = Some(experiment.command(&plan));
            }
        }
    }
    Ok(cell)
}

/// An election without a fault, and what happened in it.
struct Base {
    plan: Plan,
    leader: Option<NodeId>,
    decided: Ticks,
    kinds: Vec<(&'static str, u64)>,
    n: u32,
}

impl Base {
    /// Begun by the first node, by one in the middle, and by all.
    fn all(experiment: &Experiment) -> Result<Vec<Self>, Error> {
        let n = experiment.names.clients;
        let all = (0..n).map(NodeId).collect();
        let starts = [vec![NodeId(0)], vec![NodeId(n / 2)], all];
        starts.into_iter().map(|start| Self::run(experiment, start)).collect()
    }

    fn run(experiment: &Experiment, start: Vec<NodeId>) -> Result<Self, Error> {
        let plan = Plan { start, until: UNTIL, ..Plan::default() };
        let outcome = experiment.run(&plan, &Options::default())?;
        let leading = outcome.election();
        let last = leading.time_to_leader.summary().map_or(0.0, |times| times.max);
        Ok(Self {
            leader: leading.beliefs.first().copied().flatten(),
            decided: Ticks::units(last.ceil() as u64),
            kinds: outcome.messages_by_kind.clone(),
            n: experiment.names.clients,
            plan,
        })
    }

    fn trials(&self, mishap: Mishap) -> Vec<Plan> {
        let initiator = self.plan.start.first().copied();
        let others = || {
            let known = |node: &NodeId| Some(*node) != initiator && Some(*node) != self.leader;
            (0..self.n).map(NodeId).filter(known)
        };
        match mishap {
            Mishap::InitiatorCrash => self.under_way(initiator.filter(|_| self.one_begins())),
            Mishap::WinnerCrash => self.under_way(self.leader),
            Mishap::BystanderCrash => self.under_way(others()),
            Mishap::LeaderCrash => self.afterwards(|leader, at| vec![(at, Fault::Crash(leader))]),
            Mishap::LeaderAmnesia => self.afterwards(|leader, at| {
                let back = Fault::Restart { node: leader, amnesia: true };
                vec![(at, Fault::Crash(leader)), (at + LATER, back)]
            }),
            Mishap::MessageLost => self.losses(),
            Mishap::Partition => self.partitions(),
        }
    }

    fn one_begins(&self) -> bool {
        self.plan.start.len() == 1
    }

    /// Between messages, from the first to the last.
    fn moments(&self) -> impl Iterator<Item = Ticks> + use<> {
        let units = self.decided.0 / Ticks::UNIT.0;
        let step = units / MOMENTS_MAX + 1;
        (0..=units).step_by(step as usize).map(|unit| Ticks::units(unit) + Ticks(500))
    }

    fn with(&self, faults: Vec<(Ticks, Fault)>) -> Plan {
        Plan { faults, ..self.plan.clone() }
    }

    fn under_way(&self, nodes: impl IntoIterator<Item = NodeId>) -> Vec<Plan> {
        let crash = |node| self.moments().map(move |at| vec![(at, Fault::Crash(node))]);
        nodes.into_iter().flat_map(crash).map(|faults| self.with(faults)).collect()
    }

    fn afterwards(&self, strike: impl Fn(NodeId, Ticks) -> Vec<(Ticks, Fault)>) -> Vec<Plan> {
        let struck = |leader| self.with(strike(leader, self.decided + LATER));
        self.leader.map(struck).into_iter().collect()
    }

    fn losses(&self) -> Vec<Plan> {
        let mut plans = Vec::new();
        for &(kind, count) in &self.kinds {
            let count = u32::try_from(count).unwrap_or(u32::MAX);
            for nth in (1..=count).step_by((count / LOST_MAX + 1) as usize) {
                let kind = Some(kind.to_string());
                let action = Action::Drop;
                let rule = MessageRule { from: None, to: None, kind, nth: Some(nth), action };
                plans.push(Plan { rules: vec![rule], ..self.plan.clone() });
            }
        }
        plans
    }

    /// Two halves, and the last node alone.
    fn partitions(&self) -> Vec<Plan> {
        let mut plans = Vec::new();
        for at in self.moments() {
            for first in [self.n.div_ceil(2), self.n - 1] {
                let groups =
                    vec![(0..first).map(NodeId).collect(), (first..self.n).map(NodeId).collect()];
                let cut = Fault::Partition { groups, until: at + CUT_SPAN };
                plans.push(self.with(vec![(at, cut)]));
            }
        }
        plans
    }
}
