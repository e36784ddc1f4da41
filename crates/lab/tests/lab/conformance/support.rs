//! Runs any algorithm of the catalogue by name.
#![allow(clippy::disallowed_methods, reason = "the number of seeds comes from the environment")]

use crate::cluster;
use conclave_algorithms::catalog::{self, ENTRIES, Entry, Family, Setting};
use conclave_core::{NodeId, Property, Ticks, Verdict};
use conclave_sim::{
    Act, Fault, Names, Options, Outcome, Plan, ScriptLine, Workload, flags, quoted,
};

/// An algorithm with a size and parameters; every test is one of these under some plan.
pub fn setting(id: &str, n: u32, set: &[(&str, &str)]) -> Setting {
    let entry = catalog::find(id).unwrap_or_else(|error| panic!("{error}"));
    entry.setting(n, set).unwrap_or_else(|error| panic!("{error}"))
}

/// All rows of a family.
pub fn rows(family: Family) -> impl Iterator<Item = &'static Entry> {
    ENTRIES.iter().copied().filter(move |entry| entry.family == family)
}

/// All locks that stand on an election.
pub fn led() -> impl Iterator<Item = &'static str> {
    rows(Family::Mutex).filter(|entry| entry.is_led()).map(|entry| entry.id)
}

/// Asserts that each of these rows is in a table, or left out of it with a reason: nobody is
/// forgotten, and nobody is excused for longer than needed.
#[track_caller]
pub fn assert_none_forgotten(
    rows: impl Iterator<Item = &'static Entry>,
    table: &str,
    has: impl Fn(&str) -> bool,
    left_out: &[(&str, &str)],
) {
    let left_out = |id: &str| left_out.iter().any(|(known, why)| *known == id && !why.is_empty());
    for Entry { id, .. } in rows {
        match (has(id), left_out(id)) {
            (true, false) | (false, true) => {}
            (false, false) => panic!("{id} is missing in {table}: add it, or say why it is not"),
            (true, true) => panic!("{id} is in {table}, and no longer to be left out of it"),
        }
    }
}

/// Runs a setting by a plan, with every promise watched.
pub fn simulate(setting: &Setting, plan: &Plan) -> Outcome {
    let promises_bound = setting.entry.promises(Property::BW, &setting.params);
    let bypass_bound = setting.entry.bypass.filter(|_| promises_bound).map(|bound| bound(setting));
    let options =
        Options { order: setting.n <= 64, bypass_bound, hash: true, ..Options::default() };
    let cluster = cluster(setting).unwrap_or_else(|error| panic!("{error}"));
    cluster.run(plan, &options).unwrap_or_else(|error| panic!("{error}"))
}

/// The standard setting: everybody asks at time 0.
pub fn all_at_once(id: &str, n: u32, set: &[(&str, &str)]) -> Outcome {
    simulate(&setting(id, n, set), &Plan::default())
}

/// One client alone.
pub fn single(id: &str, n: u32, set: &[(&str, &str)], node: u32) -> Outcome {
    let plan = Plan { workload: Workload::Single(NodeId(node)), ..Plan::default() };
    simulate(&setting(id, n, set), &plan)
}

/// The nodes, as indices from 0, in the order they entered.
pub fn order(outcome: &Outcome) -> Vec<u32> {
    outcome.mutex().order.iter().flatten().map(|node| node.0).collect()
}

/// How many messages of a kind were sent.
pub fn sent(outcome: &Outcome, kind: &str) -> u64 {
    let known = outcome.messages_by_kind.iter().find(|(known, _)| *known == kind);
    known.map_or(0, |(_, count)| *count)
}

/// How many seeds random runs get: what `CONCLAVE_SEEDS` says, or 100.
pub fn seeds() -> u64 {
    let set = std::env::var("CONCLAVE_SEEDS").ok();
    set.map_or(100, |text| text.parse().expect("CONCLAVE_SEEDS is a number"))
}

/// Asserts that every promise of the catalogue was kept.
pub fn assert_kept(setting: &Setting, plan: &Plan, outcome: &Outcome) {
    for property in (setting.entry.has)(&setting.params) {
        let verdict = outcome.verdict(property);
        assert!(
            matches!(verdict, Verdict::Holds | Verdict::NotChecked),
            "{property} {verdict}: {:?}\nreplay: {}",
            outcome.violations,
            command(setting, plan),
        );
    }
}

/// The command that shows this run again.
fn command(setting: &Setting, plan: &Plan) -> String {
    let cluster = cluster(setting).unwrap_or_else(|error| panic!("{error}"));
    let names = Names::new(cluster.clients(), cluster.coordinators());
    let mut words = vec![format!("conclave sim {} --nodes {}", setting.entry.id, setting.n)];
    for parameter in setting.entry.parameters {
        let value = setting.params.text(parameter.name);
        if value != parameter.default {
            words.push(format!("--set {}", quoted(&format!("{}={value}", parameter.name))));
        }
    }
    words.extend(flags(plan, &names));
    words.join(" ")
}

/// Asserts that a promise was broken, or kept.
#[track_caller]
pub fn assert_verdict(outcome: &Outcome, property: Property, verdict: Verdict) {
    assert_eq!(outcome.verdict(property), verdict, "{property}: {:?}", outcome.violations);
}

/// A script of requests: (time in units, node).
pub fn asks(lines: &[(u64, u32)]) -> Workload {
    let line = |&(at, node): &(u64, u32)| ScriptLine {
        at: Ticks::units(at),
        node: NodeId(node),
        act: Act::Acquire,
    };
    Workload::Script(lines.iter().map(line).collect())
}

/// A crash at a time in units.
pub fn crash(node: u32, at: u64) -> (Ticks, Fault) {
    (Ticks::units(at), Fault::Crash(NodeId(node)))
}

/// A return at a time in units.
pub fn restart(node: u32, at: u64, amnesia: bool) -> (Ticks, Fault) {
    (Ticks::units(at), Fault::Restart { node: NodeId(node), amnesia })
}
