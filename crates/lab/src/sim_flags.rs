//! The flags of `conclave sim` that decide a run: read by the command line and, as one line of
//! text, by the page. From flags to an [`Experiment`] and a [`Plan`], and back to what was typed.

mod line;
mod typed;
pub mod values;

pub use typed::{flag, many, one};

use crate::{Error, Experiment, People, Usage, rows};
use conclave_algorithms::catalog::Family;
use conclave_core::Ticks;
use conclave_sim::parse::Read;
use conclave_sim::{Plan, parse};

/// A run may take so many units per node, however many there are.
const LAPS: u64 = 10;
/// Detectors never have done; they are watched for this long.
const UNTIL_DETECTORS: Ticks = Ticks::units(1_000);

/// The flags as they were typed, each under its own name.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(missing_docs, reason = "the help of 'conclave sim' says what each is")]
pub struct SimFlags {
    pub id: String,
    pub nodes: Option<u32>,
    pub ids: Option<String>,
    pub set: Vec<String>,
    pub workload: Option<String>,
    pub rounds: Option<u32>,
    pub cs: Option<Ticks>,
    pub cancel: Option<f64>,
    pub value: Option<u64>,
    pub unprotected: bool,
    pub start: Option<String>,
    pub candidates: Option<String>,
    pub act: Vec<String>,
    pub latency: Option<String>,
    pub no_fifo: bool,
    pub loss: Option<f64>,
    pub duplicate: Option<f64>,
    pub rule: Vec<String>,
    pub serial: bool,
    pub multicast: bool,
    pub crash: Vec<String>,
    pub restart: Vec<String>,
    pub pause: Vec<String>,
    pub partition: Vec<String>,
    pub drift: Vec<String>,
    pub suspect: Vec<String>,
    pub dead: Option<String>,
    pub backoff: Vec<String>,
    pub seed: Option<u64>,
    pub until: Option<Ticks>,
}

impl SimFlags {
    /// The algorithm that was asked for. `read` reads the files that parameters name.
    pub fn experiment(&self, read: Read<'_>) -> Result<Experiment, Error> {
        let nodes = self.how_many()?;
        let people = People { ids: self.ids.as_deref(), candidates: self.candidates.as_deref() };
        let experiment = Experiment::with_files(&self.id, nodes, &self.set, &people, read)?;
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
    pub fn how_many(&self) -> Result<u32, Error> {
        let usual = rows::find(&self.id)?.nodes_usual();
        let rates = || self.set.iter().find_map(|set| set.strip_prefix("rates="));
        let listed = self.ids.as_deref().or_else(rates).filter(|list| *list != "none");
        let listed = listed.map(|list| list.split(',').count() as u32);
        Ok(self.nodes.or(listed).unwrap_or(usual))
    }

    /// What is to happen. `read` reads the files that flags name.
    pub fn plan(&self, experiment: &Experiment, read: Read<'_>) -> Result<Plan, Error> {
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
            plan.latency = parse::latency(text, names, read)?;
        }
        if let Some(text) = &self.workload {
            plan.workload = parse::workload(text, names, read)?;
        }
        plan.acts = parse::sorted(each(&self.act, |text| parse::act(text, names))?);
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
