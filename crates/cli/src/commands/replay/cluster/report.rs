//! What people see of recordings that were replayed together.

use super::{Found, flag, list};
use crate::failure::Exit;
use crate::output::numbers::{count, local, of};
use crate::output::story::in_words;
use crate::output::{bad, dim, good, labelled, odd, strong};
use crate::texts::{sentence, tr};
use conclave_core::{Ticks, Verdict, Violation};
use conclave_lab::Experiment;
use conclave_lab::recordings::{self, Difference, MissingStarts, Tape, Tapes};
use conclave_net::Key;
use serde::Serialize;
use std::collections::BTreeMap;

const COLUMN: usize = 12;
/// So many machines are named in one line.
const NAMED_MAX: usize = 5;

/// What came of it.
#[derive(Serialize)]
pub struct Report {
    cluster: String,
    settings: String,
    machine: String,
    algorithm: String,
    nodes: u32,
    recordings: Vec<Told>,
    /// Nodes of which there is no recording.
    missing: Vec<u32>,
    /// Starts of the other nodes of which there is none.
    missing_starts: Vec<Starts>,
    /// Steps by machine.
    machines: BTreeMap<String, u64>,
    steps: u64,
    verified: bool,
    difference: Option<String>,
    /// What became of the promises of the machine that is shown.
    properties: BTreeMap<&'static str, Verdict>,
    /// Those that any machine broke, the one that is shown first.
    violations: Vec<Broken>,
    /// By how much at most a step was put off, in milliseconds.
    put_off: f64,
}

/// What is said of one file.
#[derive(Serialize)]
struct Told {
    file: String,
    node: u32,
    start: u32,
    entries: usize,
    /// Whether its end is missing.
    cut_off: bool,
    /// By how much its clock was put forward, in milliseconds.
    put_forward: f64,
}

/// Starts of a node, from one to another.
#[derive(Serialize)]
struct Starts {
    node: u32,
    first: u32,
    last: u32,
}

/// A promise that a machine broke, or one that it never made.
#[derive(Serialize)]
struct Broken {
    machine: String,
    property: &'static str,
    time: f64,
    what: String,
    promised: bool,
}

impl Report {
    /// Puts together what is known.
    pub fn new(
        tapes: &Tapes,
        machines: &BTreeMap<Key, u64>,
        key: &Key,
        experiment: &Experiment,
        found: &Result<Found, Difference>,
    ) -> anyhow::Result<Self> {
        let header = tapes.header();
        let shifts = found.as_ref().map_or(&[][..], |found| &found.shifts);
        let shift = |tape: usize| shifts.get(tape).copied().unwrap_or_default();
        let recordings =
            tapes.tapes.iter().enumerate().map(|(place, tape)| told(tape, shift(place)));
        let run = found.as_ref().ok().map(|found| &found.run);
        let verdicts = run.map_or(&[][..], |run| &run.verdicts).iter();
        Ok(Self {
            cluster: header.cluster.clone(),
            settings: header.settings.clone(),
            machine: key.to_string(),
            algorithm: experiment.setting.entry.id.to_string(),
            nodes: header.n,
            recordings: recordings.collect(),
            missing: tapes.missing().iter().map(|node| node.0 + 1).collect(),
            missing_starts: tapes.missing_starts().into_iter().map(Starts::from).collect(),
            machines: machines.iter().map(|(key, steps)| (key.to_string(), *steps)).collect(),
            steps: found.as_ref().map_or(0, |found| found.steps),
            verified: found.is_ok(),
            difference: found.as_ref().err().map(|difference| place(tapes, difference)),
            properties: verdicts.map(|(property, verdict)| (property.tag(), *verdict)).collect(),
            violations: match found {
                Ok(found) => all_broken(found, key, experiment, &header.settings)?,
                Err(_) => Vec::new(),
            },
            put_off: found.as_ref().map_or(0.0, |found| found.strained.as_units()),
        })
    }

    /// How the command ends.
    pub fn exit(&self) -> Exit {
        match (self.verified, self.violations.iter().any(|broken| broken.promised)) {
            (false, _) => Exit::Failed,
            (true, true) => Exit::Violated,
            (true, false) => Exit::Done,
        }
    }

    /// The same for people.
    pub fn told(&self) -> String {
        let Self { cluster, machine, algorithm, .. } = self;
        let nodes = of(u64::from(self.nodes), "node");
        let mut text = format!("{}\n", strong(format!("{machine} by {algorithm}")));
        text += &dim(format!("{nodes} of cluster {cluster}\n"));
        for told in &self.recordings {
            text += &labelled(&format!("node {}", told.node), COLUMN, &told.words());
        }
        for node in &self.missing {
            let words = "no recording: it is known only by what others received from it";
            text += &labelled(&format!("node {node}"), COLUMN, words);
        }
        for starts in &self.missing_starts {
            text += &labelled(&format!("node {}", starts.node), COLUMN, &starts.words());
        }
        if self.put_off >= 1.0 {
            let ms = local(&self.put_off.to_string());
            let words = format!("a step seems up to {ms} ms too early for its message: put off");
            text += &labelled("clocks", COLUMN, &words);
        }
        let others = self.machines.iter().filter(|(key, _)| *key != machine);
        let others: BTreeMap<Key, u64> =
            others.map(|(key, steps)| (key.as_str().into(), *steps)).collect();
        if !others.is_empty() {
            text += &labelled("not shown", COLUMN, &list(&others));
        }
        text + &self.judged() + &self.verdict()
    }

    fn judged(&self) -> String {
        let judged = self.properties.iter().filter(|(_, verdict)| **verdict != Verdict::NotChecked);
        let word = |verdict: &Verdict| tr(&verdict.to_string()).into_owned();
        let words: Vec<String> =
            judged.map(|(tag, verdict)| format!("{tag} {}", word(verdict))).collect();
        let mut text = match words.is_empty() {
            true => String::new(),
            false => labelled("judged", COLUMN, &words.join(", ")),
        };
        for broken in &self.violations {
            text += &match (broken.machine == self.machine, broken.promised) {
                (true, true) => format!("{}\n", bad(broken.words())),
                (true, false) => {
                    format!("{}\n", odd(broken.words() + " " + &tr("(it does not promise that)")))
                }
                (false, true) => format!("{}\n", bad(broken.words_elsewhere())),
                (false, false) => continue,
            };
        }
        text + &self.unpromised_elsewhere()
    }

    /// What machines that are not shown did without having promised otherwise: in short, for there
    /// may be many.
    fn unpromised_elsewhere(&self) -> String {
        let mut machines: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        let elsewhere = |broken: &&Broken| broken.machine != self.machine && !broken.promised;
        for broken in self.violations.iter().filter(elsewhere) {
            machines.entry(broken.property).or_default().push(&broken.machine);
        }
        let told = |(property, machines): (&&str, &Vec<&str>)| {
            let named = machines[..machines.len().min(NAMED_MAX)].join(", ");
            let more = match machines.len().saturating_sub(NAMED_MAX) {
                0 => String::new(),
                more => format!(" and {} more", count(more as u64)),
            };
            format!("{}\n", odd(format!("{property} violated in {named}{more} (not promised)")))
        };
        machines.iter().map(told).collect()
    }

    /// Whether all that the nodes did is recorded, as far as that can be known.
    fn is_whole(&self) -> bool {
        let cut = self.recordings.iter().any(|told| told.cut_off);
        !cut && self.missing.is_empty() && self.missing_starts.is_empty()
    }

    fn verdict(&self) -> String {
        match &self.difference {
            Some(difference) => format!("{} {}\n", bad("not as recorded:"), in_words(difference)),
            None => {
                let steps = of(self.steps, "step");
                let machines = of(self.machines.len() as u64, "machine");
                let known = if self.is_whole() { "" } else { ", as far as they are recorded" };
                let told = format!("{steps} of {machines} run again, all as recorded{known}");
                format!("{} {}\n", good("verified:"), tr(&told))
            }
        }
    }
}

impl Starts {
    fn words(&self) -> String {
        let Self { first, last, .. } = self;
        let which = match first == last {
            true => format!("start {first}"),
            false => format!("starts {first} to {last}"),
        };
        format!("{which}: no recording, known only by what others received from it")
    }
}

impl From<MissingStarts> for Starts {
    fn from(starts: MissingStarts) -> Self {
        let MissingStarts { node, first, last } = starts;
        Self { node: node.0 + 1, first, last }
    }
}

impl Broken {
    fn new(machine: &Key, experiment: &Experiment, violation: &Violation) -> Self {
        let Violation { property, at, what } = violation;
        Self {
            machine: machine.to_string(),
            property: property.tag(),
            time: at.as_units(),
            what: experiment.header(String::new()).tell(what),
            promised: experiment.setting.entry.promises(*property, &experiment.setting.params),
        }
    }

    fn words(&self) -> String {
        let Self { property, time, what, .. } = self;
        let title = format!("{property} violated at {}:", local(&time.to_string()));
        format!("{} {}", tr(&title), sentence(what))
    }

    fn words_elsewhere(&self) -> String {
        let machine = &self.machine;
        let shown = format!("({} shows it)", flag(machine));
        format!("{machine}: {} {}", self.words(), tr(&shown))
    }
}

impl Told {
    fn words(&self) -> String {
        let Self { file, start, put_forward, .. } = self;
        let entries = count(self.entries as u64);
        let told = match self.cut_off {
            true => format!("{file}, cut off after {entries} entries"),
            false => format!("{file}, {entries} entries"),
        };
        let mut words = tr(&told).into_owned();
        if *start > 1 {
            words = format!("{words}, {}", tr(&format!("start {start} of this node")));
        }
        if *put_forward > 0.0 {
            let ms = local(&put_forward.to_string());
            let told = format!("its clock was behind, and is put forward by {ms} ms");
            words = format!("{words}; {}", tr(&told));
        }
        words
    }
}

fn told(tape: &Tape, shift: Ticks) -> Told {
    let header = tape.header();
    Told {
        file: tape.file.clone(),
        node: header.node.0 + 1,
        start: header.incarnation,
        entries: tape.recording.entries.len(),
        cut_off: tape.recording.cut,
        put_forward: shift.as_units(),
    }
}

/// Where a difference is, and what it is.
fn place(tapes: &Tapes, difference: &Difference) -> String {
    let Difference { place, what } = difference;
    let tape = &tapes.tapes[place.tape];
    let at = tapes.step(*place).map_or(Ticks::ZERO, |step| step.at);
    format!("{}, entry {}, {at} ms after its start: {what}", tape.file, place.entry + 1)
}

/// What all machines broke.
fn all_broken(
    found: &Found,
    key: &Key,
    experiment: &Experiment,
    settings: &str,
) -> anyhow::Result<Vec<Broken>> {
    let shown = found.run.violations.iter().map(|broken| Broken::new(key, experiment, broken));
    let mut all: Vec<Broken> = shown.collect();
    for (key, broken) in &found.elsewhere {
        let (experiment, _) = recordings::header(settings, key, String::new())?;
        all.push(Broken::new(key, &experiment, broken));
    }
    Ok(all)
}
