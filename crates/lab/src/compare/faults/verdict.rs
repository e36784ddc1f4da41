//! What came of a fault.

use super::Trial;
use crate::{Error, Experiment};
use conclave_core::{NodeId, Property, Ticks, Verdict as Judgement};
use conclave_sim::{Act, Fault, Options, Outcome, Plan, Workload};

/// What came of a fault, the worst last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// All who live and want to enter do.
    Holds,
    /// These wait for ever; the others go on.
    Starves(Vec<NodeId>),
    /// Nobody enters any more.
    Stalls,
    /// Two were inside at once.
    Broken,
}

impl Verdict {
    /// In a word.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Starves(_) => "starves",
            Self::Stalls => "stalls",
            Self::Broken => "S1 broken",
        }
    }

    /// Whether this is worse; to starve more nodes is not.
    pub fn is_worse_than(&self, other: &Self) -> bool {
        let badness = |verdict: &Self| match verdict {
            Self::Holds => 0,
            Self::Starves(_) => 1,
            Self::Stalls => 2,
            Self::Broken => 3,
        };
        badness(self) > badness(other)
    }
}

/// Who entered while the network was cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Meanwhile {
    /// Nobody.
    Nobody,
    /// Only these nodes, all on one side of the cut.
    Only(Vec<String>),
    /// Nodes on both sides.
    BothSides,
}

/// Runs a trial and says what came of it.
pub fn judge(experiment: &Experiment, trial: &Trial) -> Result<Verdict, Error> {
    let outcome = experiment.run(&trial.plan, &Options::default())?;
    if outcome.verdict(Property::S1) == Judgement::Violated {
        return Ok(Verdict::Broken);
    }
    if outcome.verdict(Property::V2) != Judgement::Violated {
        return Ok(Verdict::Holds);
    }
    // Somebody waits for ever. Whether the others could go on for ever shows when they want to.
    let longer = experiment.run(&trial.longer, &Options::default())?;
    let (served, waiting) = divide(experiment, &trial.longer, &longer);
    if !waiting.is_empty() {
        return Ok(if served.is_empty() { Verdict::Stalls } else { Verdict::Starves(waiting) });
    }
    // Another request heals it; but whoever caused it need not ask again.
    let (_, waiting) = divide(experiment, &trial.plan, &outcome);
    Ok(if waiting.len() > 1 { Verdict::Stalls } else { Verdict::Starves(waiting) })
}

/// Those that live and want to enter: who got in as often as it wanted, and who waits for ever.
fn divide(experiment: &Experiment, plan: &Plan, outcome: &Outcome) -> (Vec<NodeId>, Vec<NodeId>) {
    let clients = (0..experiment.names.clients).map(NodeId);
    let wanting = clients.filter(|&node| !is_gone(plan, node) && wants(plan, node));
    wanting.partition(|&node| is_served(plan, outcome, node))
}

/// Who entered while the network was cut, if it was.
pub fn meanwhile(experiment: &Experiment, plan: &Plan) -> Result<Option<Meanwhile>, Error> {
    let cut = plan.faults.iter().find_map(|(at, fault)| match fault {
        Fault::Partition { groups, until } => Some((*at, *until, groups)),
        Fault::Crash(_) | Fault::Restart { .. } | Fault::Pause { .. } | Fault::Suspect { .. } => {
            None
        }
    });
    let Some((from, until, groups)) = cut else { return Ok(None) };
    let outcome = experiment.run(plan, &Options::default())?;
    // Whoever was let in just before may still be on its way.
    let begun = from + Ticks::units(12);
    let entered = |group: &[NodeId]| {
        let entries = outcome.mutex().entered.as_deref().unwrap_or_default().iter();
        entries.filter(|e| group.contains(&e.node) && e.at > begun && e.at < until).count()
    };
    let busy: Vec<&Vec<NodeId>> = groups.iter().filter(|group| entered(group) > 0).collect();
    let names = |group: &[NodeId]| {
        let clients = group.iter().filter(|node| node.0 < experiment.names.clients);
        clients.map(|node| experiment.names.name(*node)).collect()
    };
    Ok(Some(match busy[..] {
        [] => Meanwhile::Nobody,
        [one] => Meanwhile::Only(names(one)),
        [..] => Meanwhile::BothSides,
    }))
}

/// Whether this node crashes and does not come back.
fn is_gone(plan: &Plan, node: NodeId) -> bool {
    let last = plan.faults.iter().rev().find_map(|(_, fault)| match fault {
        Fault::Crash(crashed) => (*crashed == node).then_some(true),
        Fault::Restart { node: back, .. } => (*back == node).then_some(false),
        Fault::Pause { .. } | Fault::Partition { .. } | Fault::Suspect { .. } => None,
    });
    last.unwrap_or(false)
}

fn wants(plan: &Plan, node: NodeId) -> bool {
    match &plan.workload {
        Workload::Script(lines) => lines.iter().any(|line| line.node == node),
        Workload::Single(only) => *only == node,
        Workload::AllAtOnce | Workload::Closed(_) | Workload::Poisson(_) => true,
    }
}

/// Whether this node got in as often as it wanted; in a script, when it wanted last, for whoever
/// asks while it waits or is inside asks in vain.
fn is_served(plan: &Plan, outcome: &Outcome, node: NodeId) -> bool {
    let entries = || outcome.mutex().entered.iter().flatten().filter(|entry| entry.node == node);
    match &plan.workload {
        Workload::Script(lines) => {
            let asked = lines.iter().filter(|line| line.node == node && line.act == Act::Acquire);
            let asked = asked.map(|line| line.at).max();
            entries().next_back().map(|entry| entry.at + plan.critical_section) >= asked
        }
        Workload::AllAtOnce | Workload::Single(_) | Workload::Closed(_) | Workload::Poisson(_) => {
            entries().count() >= plan.rounds as usize
        }
    }
}
