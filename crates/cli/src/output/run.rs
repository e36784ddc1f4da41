//! The report of a run, or of many, on one screen.

mod clock;
mod detector;
mod election;
mod mutex;

use super::entry::tags_width;
use super::numbers::{count, decimal, of, rate};
use super::{bad, dim, good, labelled, odd, strong, typed, width, wrap};
use crate::texts::{sentence, tr};
use conclave_core::{NodeId, Property, Verdict, Violation};
use conclave_lab::Experiment;
use conclave_sim::{Ending, Findings, Outcome, Plan};
use std::fmt::Write;

/// How far the text stands from the margin.
const COLUMN: usize = 12;
/// More nodes than this are shown by the first and the last.
const NODES_SHOWN: usize = 20;

/// All there is to say about a run, or about many added up.
pub struct Report<'a> {
    /// What was run.
    pub experiment: &'a Experiment,
    /// By which plan.
    pub plan: &'a Plan,
    /// The flags that made it.
    pub typed: Vec<String>,
    /// The bound that `BW` was judged by.
    pub bypass_bound: Option<u64>,
    /// What came of it.
    pub outcome: Outcome,
    /// How many runs.
    pub runs: u64,
    /// Whether many were asked for.
    pub many: bool,
    /// What was violated.
    pub broken: Vec<Broken>,
    /// How long it took, in real time.
    pub wall_seconds: f64,
}

/// A broken promise, and how to see it again.
pub struct Broken {
    /// The seed it was seen under.
    pub seed: u64,
    /// What was seen.
    pub violation: Violation,
    /// The command that shows it again.
    pub replay: String,
}

impl Report<'_> {
    /// The whole report.
    pub fn text(&self) -> String {
        let mut text = self.header();
        text.push('\n');
        text += &self.messages();
        text += &match &self.outcome.findings {
            Findings::Mutex(entering) => self.entering(entering),
            Findings::Election(leading) => self.leading(leading),
            Findings::Detector(watching) => self.watching(watching),
            Findings::Clock(keeping) => self.keeping(keeping),
        };
        text.push('\n');
        text += &self.properties();
        text + &self.ending()
    }

    /// What was run, and how.
    pub fn header(&self) -> String {
        let setting = &self.experiment.setting;
        let mut nodes = of(u64::from(setting.n), "node");
        if self.experiment.names.coordinators > 0 {
            let m = u64::from(self.experiment.names.coordinators);
            let others = if self.experiment.names.application {
                tr("the application").into_owned()
            } else {
                of(m, "coordinator")
            };
            nodes = format!("{nodes} + {others}");
        }
        let seeds = match self.many {
            true => format!(
                "seeds {} to {}",
                self.plan.seed,
                self.plan.seed.wrapping_add(self.runs - 1)
            ),
            false => format!("seed {}", self.plan.seed),
        };
        let flags = match self.typed.as_slice() {
            [] => format!("standard setting: each message takes 1, {}", self.standard()),
            typed => typed.join(" "),
        };
        let about = format!("{nodes}, {seeds}");
        let mut text = format!("{}  {}\n", strong(setting.entry.id), tr(&about));
        for line in wrap(&flags, width()) {
            let _ = writeln!(text, "{}", dim(line));
        }
        text
    }

    fn standard(&self) -> &'static str {
        match &self.outcome.findings {
            Findings::Mutex(_) => "all ask at 0, 10 inside",
            Findings::Election(_) => "the first node calls for an election at 0",
            Findings::Detector(_) => "nobody crashes",
            Findings::Clock(_) => "each node tells the next",
        }
    }

    /// When it ended, and why.
    fn time(&self) -> String {
        let ended = match self.outcome.ending {
            Ending::Quiet => "then all is quiet",
            Ending::Done => self.done(),
            Ending::CutShort if self.is_endless() => "as long as it was watched",
            Ending::CutShort => "then cut short",
        };
        let end = decimal(self.outcome.end.as_units());
        let longest = if self.many { " in the longest run" } else { "" };
        labelled("time", COLUMN, &format!("{end} units{longest}, {ended}"))
    }

    /// Whether such a run goes on until it is told to stop.
    fn is_endless(&self) -> bool {
        matches!(self.outcome.findings, Findings::Detector(_))
    }

    fn done(&self) -> &'static str {
        match &self.outcome.findings {
            Findings::Mutex(_) => "then the last has left",
            Findings::Election(_) => "then all agree",
            Findings::Detector(_) => "then nothing is left to watch",
            Findings::Clock(_) => "then nothing is under way",
        }
    }

    /// What was violated, in words; then the figures of the simulation itself.
    pub fn ending(&self) -> String {
        let mut text = self.violations();
        if self.outcome.ending == Ending::CutShort && !self.is_endless() {
            let until = decimal(self.plan.until.as_units());
            let which = if self.many { "at least one run was" } else { "the run was" };
            let _ = writeln!(text, "\n{}", odd(format!("{which} cut short at {until} (--until)")));
        }
        let hash = self.outcome.hash.map(|hash| format!(", trace {hash:016x}"));
        let figures = format!(
            "{}, {} events/s{}",
            of(self.outcome.events, "event"),
            rate(self.events_per_second()),
            hash.unwrap_or_default()
        );
        let _ = writeln!(text, "\n{}", dim(figures));
        text
    }

    /// The smallest plan that was found to break the same promise.
    pub fn shortest(&self, property: Property, command: &str) -> String {
        format!(
            "\n{}\n  {}\n",
            tr(&format!("shortest found that breaks {property}:")),
            typed(command)
        )
    }

    /// The violation to look at first: of a promise that was made, if there is one.
    pub fn worst(&self) -> Option<&Broken> {
        let promised = |broken: &&Broken| self.promises(broken.violation.property);
        self.broken.iter().find(promised).or(self.broken.first())
    }

    /// How fast the simulation was.
    pub fn events_per_second(&self) -> f64 {
        self.outcome.events as f64 / self.wall_seconds.max(1e-9)
    }

    fn promises(&self, property: Property) -> bool {
        let setting = &self.experiment.setting;
        setting.entry.promises(property, &setting.params)
    }

    /// Nodes by their names; of too many, the first and the last.
    fn nodes(&self, nodes: &[NodeId]) -> String {
        let name = |node: &NodeId| self.experiment.names.name(*node);
        let mut shown: Vec<String> = nodes.iter().take(NODES_SHOWN).map(name).collect();
        if let Some(last) = nodes.last().filter(|_| nodes.len() > NODES_SHOWN) {
            shown.extend(["…".to_string(), name(last)]);
        }
        shown.join(" ")
    }

    fn messages(&self) -> String {
        let outcome = &self.outcome;
        let kinds: Vec<String> = outcome
            .messages_by_kind
            .iter()
            .map(|(kind, number)| format!("{kind} {}", count(*number)))
            .collect();
        let kinds =
            if kinds.is_empty() { String::new() } else { format!(": {}", kinds.join(", ")) };
        let mut text = labelled("messages", COLUMN, &format!("{}{kinds}", count(outcome.messages)));
        if outcome.upkeep > 0 {
            let told = format!("{} of these are upkeep, whoever asks", count(outcome.upkeep));
            text += &labelled("", COLUMN, &told);
        }
        if let Some(per_entry) = outcome.messages_per_entry() {
            let without = if outcome.upkeep > 0 { ", without upkeep" } else { "" };
            text += &labelled("per entry", COLUMN, &(decimal(per_entry) + without));
        }
        text + &self.formula().unwrap_or_default()
    }

    fn properties(&self) -> String {
        let mut text = String::new();
        let tags = tags_width(self.outcome.verdicts.iter().map(|(property, _)| *property));
        for &(property, verdict) in &self.outcome.verdicts {
            let word = format!("{verdict:13}");
            let word = match verdict {
                Verdict::Holds => good(word),
                Verdict::Violated if self.promises(property) => bad(word),
                Verdict::Violated | Verdict::Unknown => odd(word),
                Verdict::NotChecked => dim(word),
            };
            let broken =
                || self.broken.iter().filter(|broken| broken.violation.property == property);
            let told = match broken().next() {
                Some(first) if self.many => {
                    let runs = of(self.runs, "run");
                    let times = count(broken().count() as u64);
                    format!("in {times} of {runs}, first under seed {}", first.seed)
                }
                Some(_) | None => property.meaning().to_string(),
            };
            let lacking = verdict == Verdict::Violated && !self.promises(property);
            let beside = if lacking { odd(" (not promised)") } else { String::new() };
            let told = tr(&told);
            let _ = writeln!(text, "{}{word}{told}{beside}", strong(format!("{property:tags$}")));
        }
        text
    }

    /// The first violation of each promise in words, and how to see it again.
    fn violations(&self) -> String {
        let mut text = String::new();
        let mut told = Vec::new();
        for broken in &self.broken {
            let Violation { property, at, what } = &broken.violation;
            if told.contains(property) {
                continue;
            }
            told.push(*property);
            let seed =
                if self.many { format!(" under seed {}", broken.seed) } else { String::new() };
            let title = format!("{property} violated at {}{seed}:", decimal(at.as_units()));
            let title = tr(&title);
            let what = self.experiment.names.tell(what);
            let what = sentence(&what);
            let colour = if self.promises(*property) { bad(&title) } else { odd(&title) };
            for line in wrap(&format!("{title} {what}"), width()) {
                let _ = writeln!(text, "{}", line.replace(&*title, &colour));
            }
        }
        if let Some(broken) = self.worst() {
            let _ = writeln!(text, "{} {}", tr("replay:"), typed(&broken.replay));
        }
        if text.is_empty() { text } else { format!("\n{text}") }
    }

    /// Each verdict in a word, on one line.
    pub fn verdicts(&self) -> String {
        let told = |&(property, verdict): &(Property, Verdict)| match verdict {
            Verdict::Holds => good(property),
            Verdict::Violated => bad(format!("{property} violated")),
            Verdict::Unknown => odd(format!("{property} unknown")),
            Verdict::NotChecked => dim(format!("{property} not checked")),
        };
        let told: Vec<String> = self.outcome.verdicts.iter().map(told).collect();
        format!("{}{}\n", strong(format!("{:COLUMN$}", "properties")), told.join("  "))
    }
}
