//! Conditions of a comparison, where they are not those that formulas speak of: other latencies,
//! losses, workloads and parameters, and under how many seeds.

use crate::{Error, Experiment, People, Usage, files};
use conclave_algorithms::catalog::{Entry, Setting};
use conclave_sim::{Plan, Workload, parse};

/// So many seeds are tried where chance plays a part and nobody said how many.
const SEEDS: u64 = 10;

/// What algorithms are compared under.
#[derive(Clone, Debug, Default)]
pub struct Conditions {
    /// Parameters, `name=value`; each is set where an algorithm has it.
    pub set: Vec<String>,
    /// How long messages take, if not one unit.
    pub latency: Option<String>,
    /// Who asks when, if not all at once.
    pub workload: Option<String>,
    /// The probability that a message is lost.
    pub loss: f64,
    /// How many seeds, if it was said.
    pub seeds: Option<u64>,
}

impl Conditions {
    /// Whether these are the conditions that formulas speak of.
    pub fn are_the_formulas(&self) -> bool {
        self.latency.is_none() && self.workload.is_none() && self.loss == 0.0
    }

    /// What is not as formulas have it, as flags.
    pub fn flags(&self) -> String {
        let mut flags: Vec<String> = self.set.iter().map(|set| format!("--set {set}")).collect();
        flags.extend(self.latency.iter().map(|latency| format!("--latency {latency}")));
        flags.extend(self.workload.iter().map(|workload| format!("--workload {workload}")));
        flags.extend((self.loss > 0.0).then(|| format!("--loss {}", self.loss)));
        flags.join(" ")
    }

    /// The seeds to run under, from 1.
    pub fn seeds(&self) -> std::ops::RangeInclusive<u64> {
        let usual = if self.are_the_formulas() { 1 } else { SEEDS };
        1..=self.seeds.unwrap_or(usual)
    }

    /// Refuses a parameter that none of these algorithms has.
    pub fn vet(&self, entries: &[&'static Entry]) -> Result<(), Usage> {
        let unknown = |text: &&String| !entries.iter().any(|entry| has(entry, text));
        match self.set.iter().find(unknown) {
            Some(text) => {
                let accepted = "none of the algorithms compared has this parameter; \
                                'conclave algorithms ID' lists those of one";
                Err(Usage::flag("--set", text, accepted))
            }
            None => Ok(()),
        }
    }

    /// The algorithm with so many nodes, and those of the parameters that it has.
    pub fn experiment(
        &self,
        entry: &'static Entry,
        n: u32,
        people: &People<'_>,
    ) -> Result<Experiment, Error> {
        let set: Vec<String> = self.set.iter().filter(|text| has(entry, text)).cloned().collect();
        Experiment::new(entry.id, n, &set, people)
    }

    /// The same, for its formulas alone: where a parameter takes a file, that is not read.
    pub fn setting(&self, entry: &'static Entry, n: u32) -> Result<Setting, Error> {
        let takes_file = self.set.iter().filter(|text| has(entry, text)).any(|text| {
            let (name, value) = text.split_once('=').unwrap_or((text, ""));
            entry.parameters.iter().any(|known| known.name == name && known.wants_file(value))
        });
        if self.set.is_empty() || takes_file {
            return Ok(entry.setting(n, &[])?);
        }
        let pairs = self.set.iter().filter(|text| has(entry, text));
        let pairs: Vec<_> = pairs.map(|text| text.split_once('=').unwrap_or((text, ""))).collect();
        Ok(entry.setting(n, &pairs)?)
    }

    /// A plan under these conditions.
    pub fn plan(&self, experiment: &Experiment, seed: u64, usual: Plan) -> Result<Plan, Error> {
        let latency = match &self.latency {
            Some(text) => parse::latency(text, &experiment.names, &files::read)?,
            None => usual.latency.clone(),
        };
        Ok(Plan { latency, loss: self.loss, seed, ..usual })
    }

    /// Who asks when: as was said, or all at once.
    pub fn asking(&self, experiment: &Experiment) -> Result<Workload, Error> {
        match &self.workload {
            Some(text) => Ok(parse::workload(text, &experiment.names, &files::read)?),
            None => Ok(Workload::AllAtOnce),
        }
    }
}

fn has(entry: &Entry, text: &str) -> bool {
    let name = text.split('=').next().unwrap_or_default();
    entry.parameters.iter().any(|parameter| parameter.name == name)
}
