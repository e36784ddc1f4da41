//! Changes to a scenario: flags of the simulator that replace what its file says.

use crate::{Error, files};
use conclave_core::Ticks;
use conclave_sim::{Fault, Names, Plan, parse};

/// What is different from the file; what is not mentioned stays.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changes {
    /// Parameters of the algorithm, `name=value`.
    pub set: Vec<String>,
    /// Where chance comes from.
    pub seed: Option<u64>,
    /// How often each client enters.
    pub rounds: Option<u32>,
    /// How long it stays inside.
    pub cs: Option<Ticks>,
    /// Who asks when.
    pub workload: Option<String>,
    /// How long messages take.
    pub latency: Option<String>,
    /// The probability that a message is lost.
    pub loss: Option<f64>,
    /// The probability that it arrives twice.
    pub duplicate: Option<f64>,
    /// Who crashes when.
    pub crash: Vec<String>,
    /// Who comes back when.
    pub restart: Vec<String>,
    /// Who is stopped when.
    pub pause: Vec<String>,
    /// How the network is cut.
    pub partition: Vec<String>,
    /// Who is suspected wrongly.
    pub suspect: Vec<String>,
    /// When the run is cut short.
    pub until: Option<Ticks>,
}

/// How one kind of fault is read.
type Read = fn(&str, &Names) -> Result<(Ticks, Fault), conclave_sim::Error>;
/// One kind of fault: those that were given, how one is read, and whether a fault is of this kind.
type Kind<'a> = (&'a [String], Read, fn(&Fault) -> bool);

impl Changes {
    /// Whether the file is run as it is.
    pub fn are_none(&self) -> bool {
        *self == Self::default()
    }

    /// The plan of the file with these changes.
    pub fn apply(&self, mut plan: Plan, names: &Names) -> Result<Plan, Error> {
        plan.seed = self.seed.unwrap_or(plan.seed);
        plan.rounds = self.rounds.unwrap_or(plan.rounds);
        plan.critical_section = self.cs.unwrap_or(plan.critical_section);
        plan.loss = self.loss.unwrap_or(plan.loss);
        plan.duplicate = self.duplicate.unwrap_or(plan.duplicate);
        plan.until = self.until.unwrap_or(plan.until);
        if let Some(text) = &self.workload {
            plan.workload = parse::workload(text, names, &files::read)?;
        }
        if let Some(text) = &self.latency {
            plan.latency = parse::latency(text, names, &files::read)?;
        }
        let kinds: [Kind<'_>; 5] = [
            (&self.crash, parse::crash, |fault| matches!(fault, Fault::Crash(_))),
            (&self.restart, parse::restart, |fault| matches!(fault, Fault::Restart { .. })),
            (&self.pause, parse::pause, |fault| matches!(fault, Fault::Pause { .. })),
            (&self.partition, parse::partition, |fault| matches!(fault, Fault::Partition { .. })),
            (&self.suspect, parse::suspect, |fault| matches!(fault, Fault::Suspect { .. })),
        ];
        for (texts, read, is_of_kind) in kinds {
            if !texts.is_empty() {
                plan.faults.retain(|(_, fault)| !is_of_kind(fault));
            }
            for text in texts {
                plan.faults.push(read(text, names)?);
            }
        }
        parse::in_order(&mut plan.faults);
        Ok(plan)
    }
}
