//! Flags as they were typed, to be typed again.

use super::SimFlags;
use conclave_sim::quoted;
use std::fmt::Display;

impl SimFlags {
    /// The flags that set the scene, as they were typed: all but `--nodes` and `--seed`.
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
        many(&mut typed, "--act", &self.act);
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
        typed
    }
}

/// A flag that may have been given.
pub fn one(typed: &mut Vec<String>, flag: &str, value: &Option<impl Display>) {
    typed.extend(value.iter().map(|value| format!("{flag} {}", quoted(&value.to_string()))));
}

/// A flag that may have been given more than once.
pub fn many(typed: &mut Vec<String>, flag: &str, values: &[String]) {
    typed.extend(values.iter().map(|value| format!("{flag} {}", quoted(value))));
}

/// A flag that is on or off.
pub fn flag(typed: &mut Vec<String>, flag: &str, on: bool) {
    typed.extend(on.then(|| flag.to_string()));
}
