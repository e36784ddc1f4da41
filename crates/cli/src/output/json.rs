//! Results as JSON, for programs to read. Field names and their order are a contract.

use super::entry::{example, has};
use conclave_algorithms::catalog;
use conclave_client::api::limits::is_shown;
use conclave_core::timekeeping::{Kind, Record};
use conclave_core::{NodeId, Property};
use conclave_sim::{Keeping, Names, Outcome, Summary};
use serde::{Serialize, Serializer};

/// The text of a value, with a line end. Letters that a terminal would not show, or would obey, are
/// escaped: to a program they are the same.
pub fn pretty(value: &impl Serialize) -> anyhow::Result<String> {
    Ok(escaped(&(serde_json::to_string_pretty(value)? + "\n")))
}

/// The same for JSON that is text already.
pub fn escaped(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for letter in json.chars() {
        if letter == '\n' || is_shown(letter) {
            text.push(letter);
        } else {
            for unit in letter.encode_utf16(&mut [0; 2]) {
                text += &format!("\\u{unit:04x}");
            }
        }
    }
    text
}

/// An object whose fields keep their order.
pub struct Map<'a, V>(pub Vec<(&'a str, V)>);

impl<V: Serialize> Serialize for Map<'_, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

/// One algorithm of the catalogue.
#[derive(Serialize)]
pub struct Entry {
    id: &'static str,
    family: &'static str,
    title: &'static str,
    summary: &'static str,
    paper: &'static str,
    seeds: &'static [&'static str],
    assumptions: Map<'static, &'static str>,
    has: Vec<Property>,
    lacks: Map<'static, &'static str>,
    parameters: Vec<Parameter>,
    cost: Map<'static, &'static str>,
    textbooks: &'static str,
    rejoin_without_disk: &'static str,
    example: String,
}

#[derive(Serialize)]
struct Parameter {
    name: &'static str,
    default: &'static str,
    accepted: String,
    about: &'static str,
}

impl Entry {
    /// What the catalogue says of it.
    pub fn of(entry: &'static catalog::Entry) -> Self {
        let cost = &entry.cost;
        let parameter = |parameter: &catalog::Parameter| Parameter {
            name: parameter.name,
            default: parameter.default,
            accepted: parameter.accepted(),
            about: parameter.about,
        };
        Self {
            id: entry.id,
            family: entry.family.name(),
            title: entry.title,
            summary: entry.summary,
            paper: entry.paper,
            seeds: entry.seeds,
            assumptions: Map(entry.assumptions.iter().map(|a| (a.tag, a.text)).collect()),
            has: has(entry),
            lacks: Map(entry.lacks.iter().map(|&(property, why)| (property.tag(), why)).collect()),
            parameters: entry.parameters.iter().map(parameter).collect(),
            cost: Map(cost.formulas().map(|(name, formula)| (name, formula.text)).collect()),
            textbooks: cost.textbooks(),
            rejoin_without_disk: entry.rejoin_without_disk.name(),
            example: example(entry),
        }
    }
}

/// What `sim` prints: one run, or many added up.
#[derive(Serialize)]
pub struct Run<'a> {
    algorithm: &'a str,
    family: &'a str,
    nodes: u32,
    seed: u64,
    runs: u64,
    events: u64,
    messages: u64,
    messages_by_type: Map<'a, u64>,
    virtual_time: f64,
    wall_seconds: f64,
    events_per_second: f64,
    trace_hash: Option<String>,
    properties: Map<'a, conclave_core::Verdict>,
    violations: Vec<Violation>,
    #[serde(flatten)]
    findings: Findings,
}

/// What was measured, by family.
#[derive(Serialize)]
#[serde(untagged)]
enum Findings {
    Mutex(Box<Mutex>),
    Election(Election),
    Detector(Detector),
    Clock(Clock),
}

#[derive(Serialize)]
struct Clock {
    stamped: u64,
    pairs_ordered: Option<u64>,
    pairs_concurrent: Option<u64>,
    concurrent_ordered_by_clock: Option<u64>,
    concurrent_ordered_by_lamport: Option<u64>,
    refused: usize,
    times: Vec<Stamped>,
}

/// One event with its times.
#[derive(Serialize)]
struct Stamped {
    at: f64,
    node: Name,
    event: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<Name>,
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<Name>,
    time: String,
    lamport: u64,
    vector: String,
}

#[derive(Serialize)]
struct Election {
    leader: Option<Name>,
    agreed: bool,
    time_to_leader: Option<f64>,
    leaders_seen: Vec<Name>,
    leaders_at_once: u32,
    changes: u64,
}

#[derive(Serialize)]
struct Detector {
    detection_time: Option<Summary>,
    missed: u64,
    mistakes: u64,
    mistake_rate: f64,
    mistake_duration: Option<Summary>,
    query_accuracy: f64,
}

#[derive(Serialize)]
struct Mutex {
    requests: u64,
    entries: u64,
    order: Option<Vec<Name>>,
    messages_per_entry: Option<f64>,
    client_delay: Option<Summary>,
    client_delay_serial: Option<Summary>,
    sync_delay: Option<Summary>,
    wait: Option<Summary>,
    jain: Option<f64>,
    max_bypass: u64,
    starving: Vec<Name>,
    fences: Option<[u64; 2]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lost_updates: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unfinished: Option<u64>,
}

/// A broken promise, and the command that shows it again.
#[derive(Serialize)]
struct Violation {
    property: Property,
    time: f64,
    what: String,
    replay: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
}

/// A node as people know it: a number, unless it was given another name.
#[derive(Serialize)]
#[serde(untagged)]
enum Name {
    Number(u64),
    Word(String),
}

impl Name {
    fn of(name: String) -> Self {
        name.parse().map_or(Self::Word(name), Self::Number)
    }
}

impl<'a> Run<'a> {
    /// The result of a report.
    pub fn of(report: &'a super::run::Report<'a>) -> Self {
        let outcome: &Outcome = &report.outcome;
        let entry = report.experiment.setting.entry;
        Self {
            algorithm: entry.id,
            family: entry.family.name(),
            nodes: report.experiment.setting.n,
            seed: report.plan.seed,
            runs: report.runs,
            events: outcome.events,
            messages: outcome.messages,
            messages_by_type: Map(outcome.messages_by_kind.clone()),
            virtual_time: outcome.end.as_units(),
            wall_seconds: report.wall_seconds,
            events_per_second: report.events_per_second(),
            trace_hash: outcome.hash.map(|hash| format!("{hash:016x}")),
            properties: Map(outcome.verdicts.iter().map(|&(p, v)| (p.tag(), v)).collect()),
            violations: report.broken.iter().map(|broken| violation(report, broken)).collect(),
            findings: Findings::of(outcome, &report.experiment.names),
        }
    }
}

impl Findings {
    fn of(outcome: &Outcome, names: &Names) -> Self {
        let name = |&node: &NodeId| Name::of(names.name(node));
        match &outcome.findings {
            conclave_sim::Findings::Mutex(entering) => Self::Mutex(Box::new(Mutex {
                requests: entering.requests,
                entries: entering.entries,
                order: entering.order.as_ref().map(|order| order.iter().map(name).collect()),
                messages_per_entry: outcome.messages_per_entry(),
                client_delay: entering.client_delay.summary(),
                client_delay_serial: entering.client_delay_serial.summary(),
                sync_delay: entering.sync_delay.summary(),
                wait: entering.wait.summary(),
                jain: entering.jain,
                max_bypass: entering.bypass_max,
                starving: entering.starving.iter().map(|node| name(&node)).collect(),
                fences: entering.fences.map(|(first, last)| [first, last]),
                value: entering.shared.as_ref().map(|shared| shared.value),
                lost_updates: entering.shared.as_ref().map(|shared| shared.lost),
                unfinished: entering.shared.as_ref().map(|shared| shared.unfinished),
            })),
            conclave_sim::Findings::Election(leading) => Self::Election(Election {
                leader: leading.leader.as_ref().map(name),
                agreed: leading.agreed,
                time_to_leader: leading.time_to_leader.summary().map(|times| times.max),
                leaders_seen: leading.leaders_seen.iter().map(name).collect(),
                leaders_at_once: leading.at_once,
                changes: leading.changes,
            }),
            conclave_sim::Findings::Detector(watching) => Self::Detector(Detector {
                detection_time: watching.detection_time.summary(),
                missed: watching.missed,
                mistakes: watching.mistakes,
                mistake_rate: watching.mistake_rate(),
                mistake_duration: watching.mistake_duration.summary(),
                query_accuracy: watching.query_accuracy(),
            }),
            conclave_sim::Findings::Clock(keeping) => Self::Clock(Clock::of(keeping, names)),
        }
    }
}

impl Clock {
    fn of(keeping: &Keeping, names: &Names) -> Self {
        let pairs = keeping.pairs;
        Self {
            stamped: keeping.stamped,
            pairs_ordered: pairs.map(|pairs| pairs.ordered),
            pairs_concurrent: pairs.map(|pairs| pairs.concurrent),
            concurrent_ordered_by_clock: pairs.map(|pairs| pairs.ordered_by_clock),
            concurrent_ordered_by_lamport: pairs.map(|pairs| pairs.ordered_by_lamport),
            refused: keeping.refusals.len(),
            times: keeping.records.iter().map(|record| stamped(record, names)).collect(),
        }
    }
}

fn stamped(record: &Record, names: &Names) -> Stamped {
    let name = |node| Name::of(names.name(node));
    let (event, from, to) = match record.kind {
        Kind::Local => ("local", None, None),
        Kind::Send { to } => ("send", None, Some(name(to))),
        Kind::Receive { from, .. } => ("receive", Some(name(from)), None),
    };
    Stamped {
        at: record.at.as_units(),
        node: name(record.node),
        event,
        from,
        to,
        time: record.time.to_string(),
        lamport: record.lamport,
        vector: record.vector.to_string(),
    }
}

fn violation(report: &super::run::Report<'_>, broken: &super::run::Broken) -> Violation {
    Violation {
        property: broken.violation.property,
        time: broken.violation.at.as_units(),
        what: report.experiment.names.tell(&broken.violation.what),
        replay: broken.replay.clone(),
        seed: report.many.then_some(broken.seed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_seen_is_escaped_and_means_the_same() {
        let label = "a\u{202e}b\u{200d}\u{e0100}\u{7f}\u{9b}\n\u{1b}, São Paulo \u{1f512}";
        let text = pretty(&serde_json::json!({ "label": label })).unwrap();
        assert!(text.chars().all(|letter| letter == '\n' || is_shown(letter)), "{text:?}");
        assert!(text.contains("São Paulo \u{1f512}") && text.lines().count() == 3, "{text}");
        let read: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(read["label"], label);
    }
}
