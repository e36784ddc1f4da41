//! Recordings of the nodes of a real cluster, replayed together.

mod report;

use super::Replay;
use crate::failure::{Exit, Usage};
use crate::output::numbers::count;
use crate::output::{self, json};
use conclave_core::{Ticks, Violation};
use conclave_lab::machines::{DETECTOR, ELECTION, LOCK};
use conclave_lab::recordings::{self, Clocks, Difference, Post, Retold, Run, Tapes, merge};
use conclave_net::Key;
use conclave_sim::quoted;
use conclave_sim::trace::Trace;
use report::Report;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Which machine of a real cluster is told.
#[derive(Clone, Debug, clap::Args)]
#[group(multiple = false)]
pub struct Which {
    /// Of a real cluster: show this lock (the one that did most, if nothing is said)
    #[arg(long, value_name = "NAME", help_heading = "Run")]
    lock: Option<String>,
    /// Of a real cluster: show the election
    #[arg(long, help_heading = "Run")]
    election: bool,
    /// Of a real cluster: show the failure detector
    #[arg(long, help_heading = "Run")]
    detector: bool,
}

impl Which {
    /// Refuses to choose where there is no choice.
    pub fn vet(&self) -> Result<(), Usage> {
        let flag = match self {
            Self { lock: Some(_), .. } => "--lock",
            Self { election: true, .. } => "--election",
            Self { detector: true, .. } => "--detector",
            Self { lock: None, election: false, detector: false } => return Ok(()),
        };
        Err(Usage(format!("{flag}: chooses among recordings of nodes (.rec)")))
    }

    /// The machine that is meant.
    fn choose(&self, machines: &BTreeMap<Key, u64>) -> Result<Key, Usage> {
        let busiest = || {
            let locks = machines.iter().filter(|(key, _)| key.starts_with(LOCK));
            let busiest = locks.max_by_key(|(key, steps)| (**steps, Reverse(*key)));
            busiest.or(machines.iter().next_back()).map(|(key, _)| key.clone())
        };
        let key: Option<Key> = match self {
            Self { lock: Some(name), .. } => Some(format!("{LOCK}{name}").into()),
            Self { election: true, .. } => Some(ELECTION.into()),
            Self { detector: true, .. } => Some(DETECTOR.into()),
            Self { lock: None, election: false, detector: false } => busiest(),
        };
        let known = key.clone().filter(|key| machines.contains_key(key));
        known.ok_or_else(|| match key {
            Some(key) if !machines.is_empty() => {
                Usage(format!("nothing of {key} is recorded; there are: {}", list(machines)))
            }
            _ => Usage("nothing is recorded: no machine took a step".to_string()),
        })
    }
}

/// Whether this is a recording of a node, by its name or by how it begins.
pub fn is_recording(file: &str) -> bool {
    let mut begins = [0; 8];
    let read = File::open(file).and_then(|mut file| file.read_exact(&mut begins));
    read.is_ok() && begins == *b"conclave" || Path::new(file).extension() == Some("rec".as_ref())
}

/// Reads, puts together, runs again, judges, draws.
pub fn run(arguments: &Replay) -> anyhow::Result<Exit> {
    let tapes = Tapes::read(&arguments.files)?;
    let machines = tapes.machines();
    let key = arguments.which.choose(&machines)?;
    let command = format!("conclave replay {}", typed(&arguments.files, &key));
    let (experiment, header) = recordings::header(&tapes.header().settings, &key, command)?;
    let found = match replay(&tapes, &machines, &key) {
        Ok(found) => Ok(found),
        Err(Fault::Difference(difference)) => Err(difference),
        Err(Fault::Usage(usage)) => return Err(usage.into()),
    };
    let report = Report::new(&tapes, &machines, &key, &experiment, &found)?;
    output::print(&match arguments.json {
        true => json::pretty(&report)?,
        false => report.told(),
    })?;
    let exit = report.exit();
    if let Ok(found) = found {
        let trace = Trace { header, records: found.run.records };
        let window = arguments.stretch.of(&trace);
        arguments.drawing.write_within(&experiment, &trace, window.as_ref())?;
    }
    Ok(exit)
}

/// The same machine of the same files, as it is typed.
fn typed(files: &[String], key: &Key) -> String {
    let files: Vec<String> = files.iter().map(|file| quoted(file)).collect();
    format!("{} {}", files.join(" "), flag(key))
}

/// The flag that shows a machine.
fn flag(key: &str) -> String {
    match key.strip_prefix(LOCK) {
        Some(name) => format!("--lock {}", quoted(name)),
        None => format!("--{key}"),
    }
}

/// What came of running every machine again.
pub struct Found {
    /// The run that was asked for.
    run: Retold,
    /// The promises that other machines broke.
    elsewhere: Vec<(Key, Violation)>,
    /// How many steps were run again, those of all machines together.
    steps: u64,
    /// By tape: how far its clock was put forward.
    shifts: Vec<Ticks>,
    /// By how much at most a step was put off that no even clock explains.
    strained: Ticks,
}

/// Why it came to nothing.
enum Fault {
    Usage(Usage),
    Difference(Difference),
}

impl From<Usage> for Fault {
    fn from(usage: Usage) -> Self {
        Self::Usage(usage)
    }
}

impl From<Difference> for Fault {
    fn from(difference: Difference) -> Self {
        Self::Difference(difference)
    }
}

/// Runs all machines of all nodes again.
fn replay(tapes: &Tapes, machines: &BTreeMap<Key, u64>, chosen: &Key) -> Result<Found, Fault> {
    let settings = recordings::settings(&tapes.header().settings)?;
    let post = Post::of(tapes)?;
    let clocks = Clocks::of(tapes, &post);
    let again = |key: &Key| -> Result<(Retold, Ticks), Fault> {
        let merged = merge(tapes, &post, &clocks, key)?;
        let run = Run { tapes, post: &post, clocks: &clocks, merged: &merged };
        Ok((recordings::again(&settings, key, run)??, merged.strained))
    };
    let (run, strained) = again(chosen)?;
    let mut steps = run.steps;
    let mut elsewhere = Vec::new();
    for key in machines.keys().filter(|key| *key != chosen) {
        let (other, _) = again(key)?;
        steps += other.steps;
        elsewhere.extend(other.violations.into_iter().map(|broken| (key.clone(), broken)));
    }
    let shifts = (0..tapes.tapes.len()).map(|tape| clocks.shift(tape)).collect();
    Ok(Found { run, elsewhere, steps, shifts, strained })
}

/// The machines with the numbers of their steps.
fn list(machines: &BTreeMap<Key, u64>) -> String {
    let told = machines.iter().map(|(key, steps)| format!("{key} ({})", count(*steps)));
    told.collect::<Vec<_>>().join(", ")
}
