//! Validation of a plan: whether it makes sense for a cluster.

use crate::error::Error;
use crate::oracle::listens;
use crate::plan::{Act, Action, Fault, Latency, MessageRule, Plan, Workload};
use crate::workload::Exercised;
use conclave_core::{Cluster, NodeId, NodeSet, Oracle, Process, Recovery, Ticks};

/// Refuses a plan that names nodes that do not exist, impossible probabilities, or faults that the
/// algorithm has no rule for.
pub(crate) fn plan<P>(cluster: &Cluster<P>, plan: &Plan) -> Result<(), Error>
where
    P: Process<Provides: Exercised, Uses: Oracle>,
{
    for (flag, value) in
        [("--loss", plan.loss), ("--duplicate", plan.duplicate), ("--cancel", plan.cancel)]
    {
        if !(0.0..=1.0).contains(&value) {
            return Err(Error::value(flag, value, "a probability from 0 to 1"));
        }
    }
    if plan.rounds == 0 {
        return Err(Error::value("--rounds", 0, "at least 1"));
    }
    latency(&plan.latency, cluster)?;
    P::Provides::check(cluster, plan)?;
    for &node in &plan.dead {
        known("--dead", node, cluster)?;
    }
    for &(node, rate) in &plan.drift {
        known("--drift", node, cluster)?;
        if !(rate > 0.0 && rate.is_finite()) {
            return Err(Error::value(
                "--drift",
                rate,
                "a rate above 0; 1 is a clock that is right",
            ));
        }
    }
    plan.rules.iter().try_for_each(|one| rule(one, cluster))?;
    for &(node, _) in &plan.backoffs {
        known("--backoff", node, cluster)?;
    }
    plan.faults.iter().try_for_each(|(at, fault)| check_fault(*at, fault, cluster))
}

fn rule<P: Process>(rule: &MessageRule, cluster: &Cluster<P>) -> Result<(), Error> {
    for node in [rule.from, rule.to].into_iter().flatten() {
        known("--rule", node, cluster)?;
    }
    if rule.action == Action::Delay(Ticks::ZERO) {
        return Err(Error::value(
            "--rule",
            "=0",
            "a message takes some time, or time might stand still",
        ));
    }
    Ok(())
}

fn latency<P: Process>(latency: &Latency, cluster: &Cluster<P>) -> Result<(), Error> {
    let no_time = "a message takes some time, or time might stand still";
    match latency {
        Latency::Constant(Ticks::ZERO) | Latency::Uniform(_, Ticks::ZERO) => {
            Err(Error::value("--latency", 0, no_time))
        }
        Latency::Exponential(Ticks::ZERO) => Err(Error::value("--latency", "exp:0", no_time)),
        Latency::Uniform(min, max) if min > max => {
            let value = format!("uniform:{min}..{max}");
            Err(Error::value("--latency", value, "the smaller bound comes first"))
        }
        Latency::Links { others, links } => {
            self::latency(others, cluster)?;
            links.iter().try_for_each(|(&(from, to), link)| {
                known("--latency", from, cluster)?;
                known("--latency", to, cluster)?;
                self::latency(link, cluster)
            })
        }
        Latency::Standard
        | Latency::Constant(_)
        | Latency::Uniform(..)
        | Latency::Exponential(_) => Ok(()),
    }
}

pub(crate) fn workload<P: Process>(workload: &Workload, cluster: &Cluster<P>) -> Result<(), Error> {
    let client = |node: NodeId| {
        if node.0 < cluster.clients {
            return Ok(());
        }
        let accepted = format!("only clients ask to enter: 1 to {}", cluster.clients);
        Err(Error::value("--workload", name(node, cluster), &accepted))
    };
    match workload {
        Workload::Single(node) => client(*node),
        Workload::Script(lines) => lines.iter().try_for_each(|line| {
            client(line.node)?;
            match line.act {
                Act::Tell(to) => client(to),
                Act::Acquire | Act::Release | Act::Cancel => Ok(()),
                Act::Event => {
                    let accepted = "nobody looks at clocks here; take acquire, release or cancel";
                    Err(Error::value("--workload", "event", accepted))
                }
                Act::Campaign => {
                    let accepted = "nobody leads here; take acquire, release, cancel or tell:ID";
                    Err(Error::value("--workload", "campaign", accepted))
                }
            }
        }),
        Workload::Poisson(rate) if !(*rate > 0.0 && rate.is_finite()) => Err(Error::value(
            "--workload",
            format!("poisson:{rate}"),
            "a rate above 0 per unit of time",
        )),
        Workload::AllAtOnce | Workload::Closed(_) | Workload::Poisson(_) => Ok(()),
    }
}

fn check_fault<P>(at: Ticks, fault: &Fault, cluster: &Cluster<P>) -> Result<(), Error>
where
    P: Process<Provides: Exercised, Uses: Oracle>,
{
    match fault {
        Fault::Crash(node) => known("--crash", *node, cluster),
        Fault::Pause { node, .. } => known("--pause", *node, cluster),
        Fault::Restart { node, amnesia } => {
            known("--restart", *node, cluster)?;
            let crash_stop = matches!((cluster.fresh)(*node).after_crash(), Recovery::Never);
            if crash_stop && !amnesia {
                let value = format!("{}@{at}", name(*node, cluster));
                let accepted = "this algorithm has no rule for a return; add ':amnesia'";
                return Err(Error::value("--restart", value, accepted));
            }
            Ok(())
        }
        Fault::Partition { groups, until } => partition(at, groups, *until, cluster),
        Fault::Suspect { by, of, .. } => {
            known("--suspect", *by, cluster)?;
            known("--suspect", *of, cluster)?;
            if !listens::<P>() {
                let value = format!("{}:{}", name(*by, cluster), name(*of, cluster));
                return Err(Error::value(
                    "--suspect",
                    value,
                    "this algorithm listens to no suspicions",
                ));
            }
            Ok(())
        }
    }
}

fn partition<P: Process>(
    at: Ticks,
    groups: &[Vec<NodeId>],
    until: Ticks,
    cluster: &Cluster<P>,
) -> Result<(), Error> {
    let mut seen = NodeSet::default();
    for &node in groups.iter().flatten() {
        known("--partition", node, cluster)?;
        if !seen.insert(node) {
            let value = name(node, cluster);
            return Err(Error::value("--partition", value, "each node is on one side only"));
        }
    }
    if until < at {
        return Err(Error::value("--partition", format!("{at}..{until}"), "ends before it begins"));
    }
    Ok(())
}

pub(crate) fn known<P: Process>(
    flag: &'static str,
    node: NodeId,
    cluster: &Cluster<P>,
) -> Result<(), Error> {
    if node.0 < cluster.nodes() {
        return Ok(());
    }
    let accepted = match cluster.coordinators {
        0 => format!("nodes are 1 to {}", cluster.clients),
        m => format!("nodes are 1 to {} and c1 to c{m}", cluster.clients),
    };
    Err(Error::value(flag, name(node, cluster), &accepted))
}

fn name<P: Process>(node: NodeId, cluster: &Cluster<P>) -> String {
    match node.0.checked_sub(cluster.clients) {
        Some(coordinator) if coordinator < cluster.coordinators => format!("c{}", coordinator + 1),
        Some(_) | None => node.to_string(),
    }
}
