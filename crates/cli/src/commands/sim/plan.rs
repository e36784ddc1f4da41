//! From flags to a plan, and back to what was typed.

use super::Sim;
use crate::failure::Usage;
use crate::flags::{flag, many, one};
use crate::output::story::Viewer;
use conclave_algorithms::catalog::Family;
use conclave_core::Ticks;
use conclave_lab::files;
use conclave_lab::{Experiment, NODES_MAX, People};
use conclave_sim::{Plan, parse};

/// A run may take so many units per node, however many there are.
const LAPS: u64 = 10;
/// Detectors never have done; they are watched for this long.
const UNTIL_DETECTORS: Ticks = Ticks::units(1_000);

impl Sim {
    /// The algorithm that was asked for.
    pub fn experiment(&self) -> anyhow::Result<Experiment> {
        let nodes = self.how_many()?;
        let people = People { ids: self.ids.as_deref(), candidates: self.candidates.as_deref() };
        let experiment = Experiment::new(&self.id, nodes, &self.set, &people)?;
        let entry = experiment.setting.entry;
        if let Some(value) = self.start.as_ref().filter(|_| entry.family != Family::Election) {
            let id = entry.id;
            let family = entry.family.name();
            let accepted = format!("only elections have initiators; {id} is a {family}");
            return Err(Usage::flag("--start", value, accepted).into());
        }
        Ok(experiment)
    }

    /// How many nodes: as was said, or as many as there are ids or rates, or as usual.
    fn how_many(&self) -> anyhow::Result<u32> {
        let usual = conclave_lab::find(&self.id)?.nodes_usual();
        let rates = || self.set.iter().find_map(|set| set.strip_prefix("rates="));
        let listed = self.ids.as_deref().or_else(rates).filter(|list| *list != "none");
        let listed = listed.map(|list| list.split(',').count() as u32);
        Ok(self.nodes.or(listed).unwrap_or(usual))
    }

    /// What is to happen.
    pub fn plan(&self, experiment: &Experiment) -> anyhow::Result<Plan> {
        let names = &experiment.names;
        let mut plan = Plan { fifo: !self.no_fifo, ..Plan::default() };
        plan.value = self.value;
        plan.unprotected = self.unprotected;
        plan.serial = self.serial;
        plan.multicast = self.multicast;
        set(&mut plan.seed, self.seed);
        set(&mut plan.rounds, self.rounds);
        set(&mut plan.critical_section, self.cs);
        plan.until = self.until.unwrap_or(until(experiment));
        set(&mut plan.cancel, self.cancel);
        set(&mut plan.loss, self.loss);
        set(&mut plan.duplicate, self.duplicate);
        if let Some(text) = &self.latency {
            plan.latency = parse::latency(text, names, &files::read)?;
        }
        if let Some(text) = &self.workload {
            plan.workload = parse::workload(text, names, &files::read)?;
        }
        if let Some(text) = &self.start {
            plan.start = names.nodes("--start", text)?;
        }
        if let Some(text) = &self.dead {
            plan.dead = names.nodes("--dead", text)?;
        }
        plan.drift = each(&self.drift, |text| parse::drift(text, names))?;
        plan.backoffs = each(&self.backoff, |text| parse::backoff(text, names))?;
        plan.rules = each(&self.rule, |text| parse::rule(text, names))?;
        plan.faults = each(&self.crash, |text| parse::crash(text, names))?;
        plan.faults.extend(each(&self.restart, |text| parse::restart(text, names))?);
        plan.faults.extend(each(&self.pause, |text| parse::pause(text, names))?);
        plan.faults.extend(each(&self.partition, |text| parse::partition(text, names))?);
        plan.faults.extend(each(&self.suspect, |text| parse::suspect(text, names))?);
        parse::in_order(&mut plan.faults);
        Ok(plan)
    }

    /// Whose eyes the run is to be seen with, if it is to be told.
    pub fn viewer(&self, experiment: &Experiment) -> anyhow::Result<Option<Viewer>> {
        let Some(view) = &self.view else { return Ok(None) };
        if self.json {
            return Err(Usage::flag("--view", view, "words and --json do not go together").into());
        }
        if self.seeds.is_some() {
            return Err(Usage::flag("--view", view, "tells one run; leave out --seeds").into());
        }
        Ok(Some(Viewer::new(view, &experiment.names)?))
    }

    /// The flags that set the scene, as they were typed.
    pub fn typed(&self) -> Vec<String> {
        let mut typed = Vec::new();
        one(&mut typed, "--ids", &self.ids);
        many(&mut typed, "--set", &self.set);
        one(&mut typed, "--workload", &self.workload);
        one(&mut typed, "--rounds", &self.rounds);
        one(&mut typed, "--cs", &self.cs);
        one(&mut typed, "--cancel", &self.cancel);
        one(&mut typed, "--value", &self.value);
        flag(&mut typed, "--unprotected", self.unprotected);
        one(&mut typed, "--start", &self.start);
        one(&mut typed, "--candidates", &self.candidates);
        one(&mut typed, "--latency", &self.latency);
        flag(&mut typed, "--no-fifo", self.no_fifo);
        one(&mut typed, "--loss", &self.loss);
        one(&mut typed, "--duplicate", &self.duplicate);
        many(&mut typed, "--rule", &self.rule);
        flag(&mut typed, "--serial", self.serial);
        flag(&mut typed, "--multicast", self.multicast);
        many(&mut typed, "--crash", &self.crash);
        many(&mut typed, "--restart", &self.restart);
        many(&mut typed, "--pause", &self.pause);
        many(&mut typed, "--partition", &self.partition);
        many(&mut typed, "--drift", &self.drift);
        many(&mut typed, "--suspect", &self.suspect);
        one(&mut typed, "--dead", &self.dead);
        many(&mut typed, "--backoff", &self.backoff);
        one(&mut typed, "--until", &self.until);
        one(&mut typed, "--check", &self.check);
        typed
    }

    /// The command that shows one run again.
    pub fn replay(&self, seed: u64) -> String {
        let mut words = vec![format!("conclave sim {}", self.id)];
        if self.ids.is_none() {
            // What cannot be found was not run.
            words.extend(self.how_many().map(|nodes| format!("--nodes {nodes}")).ok());
        }
        words.extend(self.typed());
        words.push(format!("--seed {seed}"));
        words.join(" ")
    }
}

/// When a run is cut short: one lap of a large ring takes longer than all that happens elsewhere.
fn until(experiment: &Experiment) -> Ticks {
    match experiment.setting.entry.family {
        Family::Detector => UNTIL_DETECTORS,
        Family::Mutex | Family::Election | Family::Clock => {
            Plan::default().until.max(Ticks::units(u64::from(experiment.setting.n) * LAPS))
        }
    }
}

fn set<T: Copy>(place: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *place = value;
    }
}

fn each<T>(
    texts: &[String],
    parse: impl Fn(&str) -> Result<T, conclave_sim::Error>,
) -> Result<Vec<T>, conclave_sim::Error> {
    texts.iter().map(|text| parse(text)).collect()
}

// What single flags take, for clap.

pub fn nodes(text: &str) -> Result<u32, String> {
    let number = text.parse().ok().filter(|nodes| (1..=NODES_MAX).contains(nodes));
    number.ok_or_else(|| format!("takes a whole number from 1 to {NODES_MAX}"))
}

pub fn rounds(text: &str) -> Result<u32, String> {
    let number = text.parse().ok().filter(|rounds| *rounds >= 1);
    number.ok_or_else(|| "takes a whole number from 1".to_string())
}

pub fn seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| "takes a whole number from 0 to 2^64-1".to_string())
}

pub fn seeds(text: &str) -> Result<u64, String> {
    let number = text.parse().ok().filter(|seeds| *seeds >= 1);
    number.ok_or_else(|| "takes a whole number from 1".to_string())
}

pub fn ticks(text: &str) -> Result<Ticks, String> {
    Ticks::parse(text).ok_or_else(|| "takes a time in units (2.5), or 250ms, 3s".to_string())
}

pub fn probability(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|probability| (0.0..=1.0).contains(probability));
    number.ok_or_else(|| "takes a probability from 0 to 1".to_string())
}

pub fn check(text: &str) -> Result<String, String> {
    match text {
        "HB" => Ok(text.to_string()),
        _ => Err("takes HB; all other properties are always judged".to_string()),
    }
}
