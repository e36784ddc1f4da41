//! From clap's flags to those that the lab reads, and to what was typed.

use super::Sim;
use crate::failure::Usage;
use crate::output::story::Viewer;
use conclave_lab::sim_flags::one;
use conclave_lab::{Experiment, SimFlags, files};
use conclave_sim::Plan;

pub use conclave_lab::sim_flags::values::{nodes, probability, rounds, seed, ticks};

impl Sim {
    /// The flags that decide the run.
    pub fn flags(&self) -> SimFlags {
        SimFlags {
            id: self.id.clone(),
            nodes: self.nodes,
            ids: self.ids.clone(),
            set: self.set.clone(),
            workload: self.workload.clone(),
            rounds: self.rounds,
            cs: self.cs,
            cancel: self.cancel,
            value: self.value,
            unprotected: self.unprotected,
            start: self.start.clone(),
            candidates: self.candidates.clone(),
            act: self.act.clone(),
            latency: self.latency.clone(),
            no_fifo: self.no_fifo,
            loss: self.loss,
            duplicate: self.duplicate,
            rule: self.rule.clone(),
            serial: self.serial,
            multicast: self.multicast,
            crash: self.crash.clone(),
            restart: self.restart.clone(),
            pause: self.pause.clone(),
            partition: self.partition.clone(),
            drift: self.drift.clone(),
            suspect: self.suspect.clone(),
            dead: self.dead.clone(),
            backoff: self.backoff.clone(),
            seed: self.seed,
            until: self.until,
        }
    }

    /// The algorithm that was asked for.
    pub fn experiment(&self) -> anyhow::Result<Experiment> {
        Ok(self.flags().experiment(&files::read)?)
    }

    /// What is to happen.
    pub fn plan(&self, experiment: &Experiment) -> anyhow::Result<Plan> {
        Ok(self.flags().plan(experiment, &files::read)?)
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
        let mut typed = self.flags().typed();
        one(&mut typed, "--check", &self.check);
        typed
    }

    /// The command that shows one run again.
    pub fn replay(&self, seed: u64) -> String {
        let mut words = vec![format!("conclave sim {}", self.id)];
        if self.ids.is_none() {
            // What cannot be found was not run.
            words.extend(self.flags().how_many().map(|nodes| format!("--nodes {nodes}")).ok());
        }
        words.extend(self.typed());
        words.push(format!("--seed {seed}"));
        words.join(" ")
    }
}

// What single flags take, for clap.

pub fn seeds(text: &str) -> Result<u64, String> {
    let number = text.parse().ok().filter(|seeds| *seeds >= 1);
    number.ok_or_else(|| "takes a whole number from 1".to_string())
}

pub fn check(text: &str) -> Result<String, String> {
    match text {
        "HB" => Ok(text.to_string()),
        _ => Err("takes HB; all other properties are always judged".to_string()),
    }
}
