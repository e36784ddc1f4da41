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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Command, Conclave};
    use clap::{CommandFactory, Parser};

    /// The flags of a line, read by clap.
    fn by_clap(words: &[&str]) -> Option<SimFlags> {
        let parsed = Conclave::try_parse_from(["conclave", "sim"].iter().chain(words)).ok()?;
        let Command::Sim(sim) = parsed.command else { return None };
        Some(sim.flags())
    }

    #[test]
    fn a_line_is_read_as_the_command_line_is() {
        let lines: &[&[&str]] = &[
            &["lamport"],
            &["lamport", "--nodes", "5", "--seed=7", "--latency", "uniform:1..20", "--no-fifo"],
            &["bully", "--ids", "3,17", "--start", "3", "--dead", "17", "--candidates", "3"],
            &["central", "--set", "busy=try", "--set", "coordinator=separate", "--cs", "2.5"],
            &["raymond", "--rule", "1>2:REQUEST#1=drop", "--rule", "*>*=3", "--crash", "1@5"],
            &["raymond", "--act", "9,1,acquire", "--restart", "1@9", "--pause", "2@3+4"],
            &["raymond", "--partition", "1/2@3..", "--drift", "1:2", "--backoff", "1:20"],
            &["raymond", "--cancel", "0.5", "--loss", "0.1", "--duplicate", "0.2", "--value", "4"],
            &["raymond", "--unprotected", "--serial", "--multicast", "--until", "3s"],
            &["raymond", "--rounds", "3", "--workload", "closed:5", "--suspect", "1:2@4"],
        ];
        for words in lines {
            let quoted: Vec<String> = words[1..].iter().map(|word| format!("'{word}'")).collect();
            let line = SimFlags::of_line(words[0], &quoted.join(" ")).ok();
            assert!(line.is_some(), "{words:?}");
            assert_eq!(line, by_clap(words), "{words:?}");
        }
        let twice = "--nodes 2 --nodes 3";
        for wrong in ["--nodes x", "--nodes 0", "--loss 2", "--cs", twice, "--frob 1"] {
            let words: Vec<&str> = ["lamport"].into_iter().chain(wrong.split(' ')).collect();
            assert!(by_clap(&words).is_none() && SimFlags::of_line("lamport", wrong).is_err());
        }
    }

    #[test]
    fn every_flag_that_decides_a_run_can_be_in_a_line() {
        let shows = ["seeds", "check", "view", "trace", "frames", "json", "lang", "help"];
        let command = Conclave::command();
        let sim = command.find_subcommand("sim").expect("it is a command");
        for argument in sim.get_arguments().filter(|argument| argument.get_long().is_some()) {
            let name = argument.get_long().unwrap_or_default();
            let refused = SimFlags::of_line("lamport", &format!("--{name}")).err();
            let unknown = refused.is_some_and(|told| told.0.ends_with("no such flag here"));
            assert_eq!(unknown, shows.contains(&name), "--{name}");
        }
    }
}
