//! Every step says why: the reasons of the whole catalogue, in runs with and without faults.

use crate::cluster;
use conclave_algorithms::catalog::{ENTRIES, Entry, Family, Kind, Setting};
use conclave_core::{NodeId, Reason, Ticks, Why};
use conclave_sim::trace::{FORMAT, Header, NodeExplained, Question, Trace, VERSION};
use conclave_sim::{Act, Fault, Latency, Options, Outcome, Plan, Runnable, ScriptLine, Workload};
use std::collections::BTreeSet;
use std::sync::Arc;

mod faults;
mod moments;
mod unreached;
mod words;

/// Under so many seeds each plan is run.
const SEEDS: u64 = 4;
/// Where a detector never rests, a run takes long: it is run under so many, and cut short.
const RESTLESS: (u64, Ticks) = (1, Ticks::units(100));

fn is_restless(entry: &Entry) -> bool {
    let stands_on_one = entry.parameters.iter().any(|parameter| parameter.name == "detector");
    entry.family == Family::Detector || stands_on_one
}

/// The rows whose algorithms explain themselves.
fn explained_rows() -> impl Iterator<Item = &'static Entry> {
    ENTRIES.iter().copied().filter(|entry| !entry.why.is_empty())
}

#[test]
fn every_algorithm_explains_itself() {
    for entry in ENTRIES {
        assert!(!entry.why.is_empty(), "{} has no reasons", entry.id);
    }
}

#[test]
fn sentences_have_the_same_holes_in_both_languages_and_codes_are_unique() {
    for entry in explained_rows() {
        for table in entry.why {
            let mut codes = BTreeSet::new();
            for why in *table {
                let Why { code, rule, english, portuguese } = why;
                let at = format!("{}: {code}", entry.id);
                assert!(codes.insert(code), "{at} twice in a table");
                assert!(!rule.is_empty() && !code.contains(char::is_uppercase), "{at}");
                let holes = |text| Why::holes(text).into_iter().collect::<BTreeSet<_>>();
                assert_eq!(holes(english), holes(portuguese), "{at}");
                let name = |hole: &&str| hole.bytes().all(|byte| byte.is_ascii_lowercase());
                assert!(holes(english).iter().all(name), "{at}: {english}");
                assert_ne!(english, portuguese, "{at}");
                for text in [english, portuguese] {
                    let tidy = text.trim() == *text && !text.ends_with('.') && !text.is_empty();
                    assert!(tidy && !text.contains("  "), "{at}: '{text}'");
                }
            }
        }
    }
}

/// What is heard of one row in all its runs.
#[derive(Default)]
struct Heard {
    /// By the places of their statics: several algorithms may use the same code.
    given: BTreeSet<usize>,
    codes: BTreeSet<&'static str>,
    /// Messages after which nothing was said and nothing done.
    silent: Vec<String>,
    runs: u32,
}

fn place(why: &'static Why) -> usize {
    std::ptr::from_ref(why) as usize
}

impl Heard {
    /// The story of a run has the reasons; it is cheaper than a recording.
    fn listen(&mut self, setting: &Setting, plan: &Plan) {
        let Ok(cluster) = cluster(setting) else { return };
        let options = Options { story: true, ..Options::default() };
        let Ok(outcome) = cluster.run(plan, &options) else { return };
        self.runs += 1;
        for (place, line) in outcome.story.iter().enumerate() {
            if let Some(reason) = &line.why {
                self.hear(setting, reason);
            }
            let explained = outcome.story.get(place + 1).is_some_and(|next| next.why.is_some());
            if line.text.ends_with("and sends nothing") && !explained {
                self.silent.push(line.text.clone());
            }
        }
    }

    fn hear(&mut self, setting: &Setting, reason: &Reason) {
        let Reason { why, arguments, .. } = reason;
        let at = format!("{}: {}", setting.entry.id, why.code);
        let holes = Why::holes(why.english);
        assert_eq!(arguments.len(), holes.len(), "{at}: {holes:?} and {arguments:?}");
        for text in [reason.fill(why.english), reason.fill(why.portuguese)] {
            for hole in &holes {
                assert!(!text.contains(&format!("{{{hole}}}")), "{at}: {text}");
            }
        }
        let of_row = |entry: &&Entry| entry.why.iter().any(|table| table.contains(why));
        assert!(ENTRIES.iter().copied().any(|entry| of_row(&entry)), "{at} is in no table");
        self.given.insert(place(why));
        self.codes.insert(why.code);
    }
}

#[test]
fn every_reason_is_given_in_some_run_and_no_message_is_ignored_without_one() {
    let rows: Vec<&'static Entry> = explained_rows().collect();
    let heard: Vec<(&Entry, Heard)> = rows.iter().map(|&entry| (entry, heard_of(entry))).collect();
    let given: BTreeSet<usize> =
        heard.iter().flat_map(|(_, heard)| &heard.given).copied().collect();
    let mut wrong = Vec::new();
    for (entry, heard) in &heard {
        assert!(heard.runs > 0, "{} was not run", entry.id);
        let silent = heard.silent.first().map(|line| format!("{}: in silence {line}", entry.id));
        wrong.extend(silent);
        for why in entry.why.iter().copied().flatten().copied() {
            let excuse = unreached::excuse(entry.id, why.code);
            match (given.contains(&place(why)), excuse) {
                (true, None) | (false, Some(_)) => {}
                (false, None) => wrong.push(format!("{}: {} is never given", entry.id, why.code)),
                (true, Some(_)) => {
                    wrong.push(format!("{}: {} needs no excuse any more", entry.id, why.code));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_runs_with_particular_faults_give_the_reasons_that_they_are_for() {
    for run in faults::RUNS {
        let (id, flags, codes) = run;
        let (experiment, plan) = faults::read(*run);
        let mut heard = Heard::default();
        heard.listen(&experiment.setting, &plan);
        let missing: Vec<_> = codes.iter().filter(|code| !heard.codes.contains(*code)).collect();
        assert!(missing.is_empty(), "{id} {flags}: {missing:?}");
    }
}

fn heard_of(entry: &'static Entry) -> Heard {
    let mut heard = Heard::default();
    let (seeds, until) = if is_restless(entry) { RESTLESS } else { (SEEDS, Ticks(u64::MAX)) };
    for setting in settings(entry) {
        for seed in 1..=seeds {
            for plan in plans(entry.family, seed) {
                let until = plan.until.min(until);
                heard.listen(&setting, &Plan { until, ..plan });
            }
        }
    }
    for run in faults::RUNS.iter().filter(|(id, ..)| *id == entry.id) {
        let (experiment, plan) = faults::read(*run);
        heard.listen(&experiment.setting, &plan);
    }
    heard
}

/// The usual setting, small ones, and one for each other value of a parameter.
fn settings(entry: &'static Entry) -> Vec<Setting> {
    let mut settings: Vec<Setting> =
        [5, 1, 2].iter().filter_map(|&n| entry.setting(n, &[]).ok()).collect();
    for parameter in entry.parameters {
        let values: Vec<&str> = match &parameter.kind {
            Kind::Choice(choices) | Kind::ChoiceOrFile(choices) => choices.to_vec(),
            Kind::Flag => vec!["true", "false"],
            Kind::Time { .. } => vec!["8"],
            Kind::Number { .. } | Kind::Text { .. } => Vec::new(),
        };
        let others = values.into_iter().filter(|value| *value != parameter.default);
        settings
            .extend(others.filter_map(|value| entry.setting(5, &[(parameter.name, value)]).ok()));
    }
    settings.extend(unreached::settings(entry));
    settings
}

/// A calm run in which the application speaks, and two stormy ones.
fn plans(family: Family, seed: u64) -> Vec<Plan> {
    let mutex = family == Family::Mutex;
    let until = Ticks::units(if family == Family::Detector { 100 } else { 200 });
    let calm = Plan {
        seed,
        latency: Latency::Exponential(Ticks::units(2)),
        cancel: if mutex { 0.3 } else { 0.0 },
        workload: if mutex { Workload::Closed(Ticks::units(2)) } else { Workload::AllAtOnce },
        rounds: 3,
        until,
        ..Plan::default()
    };
    let line = |at, node, act| ScriptLine { at: Ticks::units(at), node: NodeId(node), act };
    let telling = vec![
        line(0, 0, Act::Acquire),
        line(1, 1, Act::Tell(NodeId(0))),
        line(1, 1, Act::Acquire),
        line(2, 0, Act::Tell(NodeId(1))),
    ];
    let told = Plan { workload: Workload::Script(telling), ..calm.clone() };
    let at = |fault, time| (Ticks::units(time), fault);
    let restart = |node, amnesia| Fault::Restart { node: NodeId(node), amnesia };
    let crash = |node| Fault::Crash(NodeId(node));
    let groups = vec![vec![NodeId(0), NodeId(1)], vec![NodeId(2), NodeId(3)]];
    let partition = Fault::Partition { groups, until: Ticks::units(70) };
    let stormy = Plan { duplicate: 0.15, loss: 0.05, ..calm.clone() };
    let disks = vec![at(crash(1), 12), at(restart(1, !mutex), 20), at(partition, 50)];
    let forgetful = vec![at(restart(0, true), 15), at(crash(4), 20), at(restart(4, true), 60)];
    let several = Plan { start: [0, 2, 4].map(NodeId).to_vec(), ..stormy.clone() };
    vec![
        told,
        Plan { loss: 0.0, duplicate: 0.0, ..several.clone() },
        several,
        Plan { faults: disks, ..stormy.clone() },
        Plan { faults: forgetful, ..stormy.clone() },
        Plan { duplicate: 0.3, ..calm.clone() },
        calm,
        stormy,
    ]
}

/// A run of a setting, written down; none where the plan does not fit it.
fn recorded(setting: &Setting, plan: &Plan) -> Option<(Trace, Outcome, Arc<dyn Runnable>)> {
    let cluster = cluster(setting).ok()?;
    let options = Options { trace: true, ..Options::default() };
    let outcome = cluster.run(plan, &options).ok()?;
    let nodes = (0..cluster.clients() + cluster.coordinators()).map(NodeId);
    let header = Header {
        format: FORMAT.to_string(),
        version: VERSION,
        algorithm: setting.entry.id.to_string(),
        nodes: setting.n,
        names: nodes.map(|node| node.to_string()).collect(),
        links: Some(cluster.links().clone()),
        ..Header::default()
    };
    Some((Trace { header, records: outcome.records.clone() }, outcome, cluster))
}

/// The nodes in the middle and at the end of a run, explained.
fn explained(setting: &Setting, plan: &Plan) -> Vec<NodeExplained> {
    let Some((trace, _, cluster)) = recorded(setting, plan) else { return Vec::new() };
    let at = |at| cluster.explain(&trace, &Question { window: 0..0, at });
    let len = trace.records.len();
    let asked = [len / 2, len].map(at).into_iter();
    let explained = asked.map(|told| told.unwrap_or_else(|what| panic!("{what}")));
    explained.flat_map(|told| told.nodes).collect()
}
