//! Validation of a plan: whether it makes sense for a cluster.

use crate::error::Error;
use crate::oracle::listens;
use crate::plan::{Act, Action, Fault, Latency, MessageRule, Plan, ScriptLine, Workload};
use crate::workload::Exercised;
use conclave_core::{Cluster, NodeId, NodeSet, Oracle, Process, Recovery, Ticks};

/// Refuses a plan that cannot be run.
pub(crate) fn plan<P>(cluster: &Cluster<P>, plan: &Plan) -> Result<(), Error>
where
    P: Process<Provides: Exercised, Uses: Oracle>,
{
    all(cluster, plan).into_iter().next().map_or(Ok(()), Err)
}

/// All that is wrong with a plan: that it names nodes that do not exist, impossible probabilities,
/// or faults that the algorithm has no rule for.
pub(crate) fn all<P>(cluster: &Cluster<P>, plan: &Plan) -> Vec<Error>
where
    P: Process<Provides: Exercised, Uses: Oracle>,
{
    let probability = |(flag, value): (_, f64)| match value {
        0.0..=1.0 => Ok(()),
        _ => Err(Error::value(flag, value, "a probability from 0 to 1")),
    };
    let chances =
        [("--loss", plan.loss), ("--duplicate", plan.duplicate), ("--cancel", plan.cancel)];
    let rounds = match plan.rounds {
        0 => Err(Error::value("--rounds", 0, "at least 1")),
        _ => Ok(()),
    };
    let own = [rounds, latency(&plan.latency, cluster)];
    let numbers = chances.into_iter().map(probability).chain(own);
    let workload = P::Provides::check(cluster, plan).into_iter().map(Err);
    let dead = plan.dead.iter().map(|node| known("--dead", *node, cluster));
    let drift = plan.drift.iter().map(|(node, rate)| drift(*node, *rate, cluster));
    let rules = plan.rules.iter().map(|one| rule(one, cluster));
    let acts = plan.acts.iter().map(|line| act(line, cluster));
    let backoffs = plan.backoffs.iter().map(|(node, _)| known("--backoff", *node, cluster));
    let faults = plan.faults.iter().map(|(at, fault)| check_fault(*at, fault, cluster));
    let nodes = dead.chain(drift).chain(rules).chain(acts).chain(backoffs).chain(faults);
    numbers.chain(workload).chain(nodes).filter_map(Result::err).collect()
}

fn drift<P: Process>(node: NodeId, rate: f64, cluster: &Cluster<P>) -> Result<(), Error> {
    known("--drift", node, cluster)?;
    if rate > 0.0 && rate.is_finite() {
        return Ok(());
    }
    Err(Error::value("--drift", rate, "a rate above 0; 1 is a clock that is right"))
}

/// Whether there is somebody who can be made to do this.
fn act<P>(line: &ScriptLine, cluster: &Cluster<P>) -> Result<(), Error>
where
    P: Process<Provides: Exercised>,
{
    known("--act", line.node, cluster)?;
    if let Act::Tell(to) = line.act {
        known("--act", to, cluster)?;
    }
    let somebody = line.node.0 < cluster.clients && cluster.play.is_none();
    if somebody && P::Provides::prompts(line.act).is_some() {
        return Ok(());
    }
    let value = format!("{},{}", line.at, name(line.node, cluster));
    Err(Error::value("--act", value, "nobody does that on this node"))
}

fn rule<P: Process>(rule: &MessageRule, cluster: &Cluster<P>) -> Result<(), Error> {
    for node in [rule.from, rule.to].into_iter().flatten() {
        known("--rule", node, cluster)?;
    }
    if matches!(rule.action, Action::Delay(Ticks::ZERO) | Action::Again(Ticks::ZERO)) {
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
        Latency::Measured(times) if times.first().is_none_or(|&least| least == Ticks::ZERO) => {
            Err(Error::value("--latency", "samples", no_time))
        }
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
        | Latency::Exponential(_)
        | Latency::Normal { .. }
        | Latency::LogNormal { .. }
        | Latency::Pareto { .. }
        | Latency::Measured(_) => Ok(()),
    }
}

/// All that is wrong with a workload of those who want to enter.
pub(crate) fn workload<P: Process>(workload: &Workload, cluster: &Cluster<P>) -> Vec<Error> {
    let checked = match workload {
        Workload::Single(node) => client(*node, cluster),
        Workload::Script(lines) => {
            return each(lines, |line| {
                client(line.node, cluster)?;
                match line.act {
                    Act::Tell(to) => client(to, cluster),
                    Act::Acquire | Act::Release | Act::Cancel => Ok(()),
                    Act::Event => {
                        let accepted =
                            "nobody looks at clocks here; take acquire, release or cancel";
                        Err(Error::value("--workload", "event", accepted))
                    }
                    Act::Campaign => {
                        let accepted =
                            "nobody leads here; take acquire, release, cancel or tell:ID";
                        Err(Error::value("--workload", "campaign", accepted))
                    }
                }
            });
        }
        Workload::Poisson(rate) if !(*rate > 0.0 && rate.is_finite()) => {
            let typed = format!("poisson:{rate}");
            Err(Error::value("--workload", typed, "a rate above 0 per unit of time"))
        }
        Workload::AllAtOnce | Workload::Closed(_) | Workload::Poisson(_) => Ok(()),
    };
    checked.err().into_iter().collect()
}

fn client<P: Process>(node: NodeId, cluster: &Cluster<P>) -> Result<(), Error> {
    if node.0 < cluster.clients {
        return Ok(());
    }
    let accepted = format!("only clients ask to enter: 1 to {}", cluster.clients);
    Err(Error::value("--workload", name(node, cluster), &accepted))
}

/// What is wrong with the lines of a script.
pub(crate) fn each(
    lines: &[ScriptLine],
    check: impl Fn(&ScriptLine) -> Result<(), Error>,
) -> Vec<Error> {
    lines.iter().filter_map(|line| check(line).err()).collect()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toys::{crier, desk, ears};
    use crate::{Options, Runnable, ScriptLine};
    use std::collections::BTreeMap;

    /// Whether three nodes that share a desk take the plan; if not, which flag they object to.
    fn taken(plan: &Plan) -> Result<(), &'static str> {
        desk(3).run(plan, &Options::default()).map(drop).map_err(|error| {
            let Error::BadValue { flag, .. } = error else { panic!("{error}") };
            flag
        })
    }

    fn with(change: impl FnOnce(&mut Plan)) -> Result<(), &'static str> {
        let mut plan = Plan::default();
        change(&mut plan);
        taken(&plan)
    }

    const LAST: NodeId = NodeId(2);
    const NOBODY: NodeId = NodeId(3);

    #[test]
    fn a_fault_names_a_node_that_there_is() {
        let at = Ticks::units(5);
        let fault = |fault: Fault| with(|plan| plan.faults = vec![(at, fault)]);
        for (node, expected) in [(LAST, [Ok(()); 3]), (NOBODY, [Err(""); 3])] {
            let found = [
                fault(Fault::Crash(node)),
                fault(Fault::Pause { node, span: Ticks::UNIT }),
                fault(Fault::Restart { node, amnesia: true }),
            ];
            assert_eq!(found.map(|taken| taken.map_err(|_| "")), expected);
        }
        let named = |change: fn(&mut Plan, NodeId)| {
            let of = |node| with(|plan| change(plan, node));
            assert!(of(LAST).is_ok());
            of(NOBODY).expect_err("there is no such node")
        };
        assert_eq!(named(|plan, node| plan.dead = vec![node]), "--dead");
        assert_eq!(named(|plan, node| plan.drift = vec![(node, 1.5)]), "--drift");
        assert_eq!(named(|plan, node| plan.backoffs = vec![(node, Ticks::UNIT)]), "--backoff");
        assert_eq!(named(|plan, node| plan.workload = Workload::Single(node)), "--workload");
    }

    #[test]
    fn both_ends_of_a_link_and_of_a_rule_must_be_there() {
        let links = |from, to| {
            let links = BTreeMap::from([((from, to), Latency::Constant(Ticks(3)))]);
            with(|plan| plan.latency = Latency::Links { others: Latency::Standard.into(), links })
        };
        assert_eq!(links(NodeId(0), LAST), Ok(()));
        assert_eq!(links(NodeId(0), NOBODY), Err("--latency"));
        assert_eq!(links(NOBODY, NodeId(0)), Err("--latency"));
        let rule = |from, to, action| {
            let rule = MessageRule { from, to, kind: None, nth: None, action };
            with(|plan| plan.rules = vec![rule])
        };
        assert_eq!(rule(Some(LAST), None, Action::Drop), Ok(()));
        assert_eq!(rule(Some(NOBODY), None, Action::Drop), Err("--rule"));
        assert_eq!(rule(None, Some(NOBODY), Action::Drop), Err("--rule"));
        assert_eq!(rule(None, None, Action::Delay(Ticks(1))), Ok(()));
        assert_eq!(rule(None, None, Action::Delay(Ticks::ZERO)), Err("--rule"));
    }

    #[test]
    fn every_message_takes_some_time() {
        let latency = |latency| with(|plan| plan.latency = latency);
        let uniform = |min, max| latency(Latency::Uniform(Ticks(min), Ticks(max)));
        assert_eq!([uniform(0, 1), uniform(4, 4), uniform(4, 5)], [Ok(()); 3]);
        assert_eq!([uniform(0, 0), uniform(5, 4)], [Err("--latency"); 2]);
        assert_eq!(latency(Latency::Constant(Ticks(1))), Ok(()));
        assert_eq!(latency(Latency::Constant(Ticks::ZERO)), Err("--latency"));
        assert_eq!(latency(Latency::Exponential(Ticks::ZERO)), Err("--latency"));
    }

    #[test]
    fn chances_rates_and_rounds_are_within_their_limits() {
        for (chance, fits) in [(-0.1, false), (0.0, true), (1.0, true), (1.1, false)] {
            assert_eq!(with(|plan| plan.cancel = chance).is_ok(), fits, "{chance}");
            assert_eq!(with(|plan| plan.loss = chance).is_ok(), fits, "{chance}");
            let copying = Plan { duplicate: chance, ..Plan::default() };
            let taken = crier(3, &[(1, 7)]).run(&copying, &Options::default());
            assert_eq!(taken.is_ok(), fits, "{chance}");
        }
        assert_eq!(with(|plan| plan.rounds = 0), Err("--rounds"));
        for rate in [0.0, -1.0, f64::INFINITY, f64::NAN] {
            assert_eq!(with(|plan| plan.drift = vec![(LAST, rate)]), Err("--drift"));
            assert_eq!(with(|plan| plan.workload = Workload::Poisson(rate)), Err("--workload"));
        }
    }

    #[test]
    fn a_partition_has_each_node_on_one_side_and_ends_after_it_begins() {
        let partition = |groups: Vec<Vec<NodeId>>, until| {
            let fault = Fault::Partition { groups, until: Ticks::units(until) };
            with(|plan| plan.faults = vec![(Ticks::units(5), fault)])
        };
        let apart = || vec![vec![NodeId(0)], vec![LAST]];
        assert_eq!((partition(apart(), 5), partition(apart(), 9)), (Ok(()), Ok(())));
        assert_eq!(partition(apart(), 4), Err("--partition"));
        assert_eq!(partition(vec![vec![LAST], vec![NodeId(0), LAST]], 9), Err("--partition"));
        assert_eq!(partition(vec![vec![NodeId(0)], vec![NOBODY]], 9), Err("--partition"));
    }

    #[test]
    fn an_algorithm_is_told_only_what_it_has_a_rule_for() {
        let suspect = Fault::Suspect { by: NodeId(0), of: LAST, span: None };
        let told = Plan { faults: vec![(Ticks::UNIT, suspect)], ..Plan::default() };
        assert_eq!(taken(&told), Err("--suspect"));
        assert!(ears(3).run(&told, &Options::default()).is_ok());
        let returns = |amnesia| {
            let fault = Fault::Restart { node: LAST, amnesia };
            let plan = Plan { faults: vec![(Ticks::UNIT, fault)], ..Plan::default() };
            crier(3, &[]).run(&plan, &Options::default()).is_ok()
        };
        assert_eq!((returns(false), returns(true)), (false, true), "it has no rule for a return");
        let line = |act| {
            let line = ScriptLine { at: Ticks::UNIT, node: NodeId(0), act };
            with(|plan| plan.workload = Workload::Script(vec![line]))
        };
        assert_eq!(line(Act::Tell(LAST)), Ok(()));
        assert_eq!(line(Act::Tell(NOBODY)), Err("--workload"));
        assert_eq!([line(Act::Event), line(Act::Campaign)], [Err("--workload"); 2]);
    }
}
