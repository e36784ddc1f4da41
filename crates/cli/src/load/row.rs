//! What is told of an engine under load, beside what was to be expected.

use super::clients::{Load, Seen};
use super::servers::Servers;
use conclave_algorithms::catalog::{self, MutexCost, Setting};
use conclave_core::Ticks;
use conclave_lab::{Experiment, People};
use conclave_sim::{Options, Plan, Workload};
use serde::Serialize;
use std::collections::BTreeMap;
use std::time::Duration;

/// One engine under one load.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Row {
    pub workload: &'static str,
    pub system: String,
    pub pairs_per_second: f64,
    pub handoffs_per_second: f64,
    pub p50_ms: f64,
    pub p99_ms: f64,
    pub fairness: f64,
    pub server_cpu_us_per_pair: Option<f64>,
    pub nodes: usize,
    pub clients: usize,
    pub seconds: f64,
    /// How many there were to be, and how many there were.
    pub asked: u64,
    pub entries: u64,
    pub overlaps: u64,
    pub fences_rise: bool,
    /// What the counter is in the end; with no overlap and no failure, as many as entries.
    pub counter: Option<u64>,
    pub messages: Option<BTreeMap<String, u64>>,
    pub messages_per_entry: Option<f64>,
    /// The same in the simulator: as many entries, all nodes asking again as soon as they leave.
    pub simulated_messages_per_entry: Option<f64>,
    /// What the catalogue says of the first entries of a fresh cluster with this setting.
    pub formula: Option<Formula>,
    pub floor_commits_per_second: Option<f64>,
    pub ratio_to_floor: Option<f64>,
    pub failures: Vec<String>,
    /// How to replay it, if it was recorded.
    pub replay: Option<String>,
}

/// Messages per entry and exit as the catalogue has them.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Formula {
    pub light: &'static str,
    pub heavy: &'static str,
    /// The least of both with this setting.
    pub least: f64,
    /// The most, if there is one.
    pub most: Option<f64>,
}

impl Row {
    /// Puts together what was seen.
    pub fn new(load: &Load, servers: &Servers, seen: Seen, cpu: Option<f64>) -> Self {
        let verdict = &seen.verdict;
        let cluster = &servers.cluster;
        let seconds = seen.took.as_secs_f64().max(1e-9);
        let entries = verdict.entries;
        let messages = servers.messages(&load.name);
        let upkeep = upkeep(&cluster.engine);
        let counted = messages.as_ref().map(|messages| {
            let counts = messages.iter().filter(|(kind, _)| !upkeep.contains(&kind.as_str()));
            counts.map(|(_, count)| count).sum::<u64>() as f64 / entries.max(1) as f64
        });
        Self {
            workload: load.workload.name(),
            system: cluster.engine.clone(),
            pairs_per_second: entries as f64 / seconds,
            handoffs_per_second: verdict.handoffs as f64 / seconds,
            p50_ms: percentile(&seen.waits, 50),
            p99_ms: percentile(&seen.waits, 99),
            fairness: verdict.fairness,
            server_cpu_us_per_pair: cpu.map(|cpu| cpu * 1e6 / entries.max(1) as f64),
            nodes: cluster.nodes.len(),
            clients: load.clients,
            seconds,
            asked: load.clients as u64 * u64::from(load.entries),
            entries,
            overlaps: verdict.overlaps,
            fences_rise: verdict.falls == 0,
            counter: seen.counter,
            messages,
            messages_per_entry: counted,
            simulated_messages_per_entry: simulated(servers, entries),
            formula: formula(servers),
            floor_commits_per_second: None,
            ratio_to_floor: None,
            failures: seen.failures,
            replay: None,
        }
    }

    /// Puts it beside what the disk allows.
    pub fn beside(&mut self, floor: f64) {
        self.floor_commits_per_second = Some(floor);
        self.ratio_to_floor = Some(self.pairs_per_second / floor);
    }

    /// Whether two were inside at once, a fence did not rise, or the counter lost an entry.
    pub fn is_violated(&self) -> bool {
        let counted = self.counter.is_none_or(|count| count == self.entries);
        let lost = self.failures.is_empty() && !counted;
        self.overlaps > 0 || !self.fences_rise || lost
    }
}

/// The wait that so many of a hundred do not exceed, in milliseconds.
pub(super) fn percentile(sorted: &[Duration], percent: usize) -> f64 {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(rank - 1).map_or(0.0, |wait| wait.as_secs_f64() * 1e3)
}

fn cost(engine: &str) -> Option<&'static MutexCost> {
    catalog::find(engine).ok()?.cost.mutex()
}

/// The kinds of messages that no formula counts.
fn upkeep(engine: &str) -> &'static [&'static str] {
    cost(engine).map_or(&[], |cost| cost.upkeep)
}

fn formula(servers: &Servers) -> Option<Formula> {
    let cluster = &servers.cluster;
    let set = cluster.parameters.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let nodes = u32::try_from(cluster.nodes.len()).ok()?;
    let entry = catalog::find(&cluster.engine).ok()?;
    let setting: Setting = entry.setting(nodes, &set.collect::<Vec<_>>()).ok()?;
    let cost = cost(&cluster.engine)?;
    let light = (cost.light.range)(&setting);
    let heavy = (cost.heavy.range)(&setting);
    let most = light.1.max(heavy.1);
    Some(Formula {
        light: cost.light.text,
        heavy: cost.heavy.text,
        least: light.0.min(heavy.0),
        most: most.is_finite().then_some(most),
    })
}

/// What the same processes send in the simulator, where every message takes one unit.
fn simulated(servers: &Servers, entries: u64) -> Option<f64> {
    let cluster = &servers.cluster;
    let nodes = u32::try_from(cluster.nodes.len()).ok()?;
    let set = cluster.parameters.iter().map(|(name, value)| format!("{name}={value}"));
    let set: Vec<String> = set.collect();
    let experiment = Experiment::new(&cluster.engine, nodes, &set, &People::default()).ok()?;
    let rounds = u32::try_from(entries / u64::from(nodes)).ok()?.max(1);
    let until = Ticks::units(1_000 * (entries + 1_000));
    let plan = Plan { workload: Workload::AllAtOnce, rounds, until, ..Plan::default() };
    experiment.run(&plan, &Options::default()).ok()?.messages_per_entry()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_overlap_a_falling_fence_or_a_lost_entry_is_a_violation() {
        let well = Row { entries: 3, counter: Some(3), fences_rise: true, ..Row::default() };
        assert!(!well.is_violated());
        assert!(Row { overlaps: 1, ..well.clone() }.is_violated());
        assert!(Row { fences_rise: false, ..well.clone() }.is_violated());
        let lost = Row { counter: Some(2), ..well };
        assert!(lost.is_violated());
        // A client that failed may have entered and not written.
        assert!(!Row { failures: vec!["client 1".to_string()], ..lost }.is_violated());
    }

    #[test]
    fn percentiles_are_values_that_were_seen() {
        let waits: Vec<Duration> = (1..=200).map(Duration::from_millis).collect();
        assert_eq!((percentile(&waits, 50), percentile(&waits, 99)), (100.0, 198.0));
        assert_eq!(percentile(&[], 50), 0.0);
        assert_eq!(percentile(&waits[..1], 99), 1.0);
    }
}
