//! `conclave bench check`: unique states per CPU-second, beside those of stateright.

use super::measure_all;
use crate::failure::Exit;
use crate::memory::peak_of;
use crate::output::{json, numbers, print, table::Table};
use crate::{cpu, peer};
use anyhow::{bail, ensure};
use conclave_algorithms::catalog::{self, Cluster, Setting, Visitor};
use conclave_check::{Checkable, Limits, Report};
use conclave_core::detector::Detector;
use conclave_core::election::Election;
use conclave_core::mutex::Mutex;
use conclave_core::timekeeping::Timekeeping;
use conclave_core::{Bounds, Oracle, Process, Property};
use serde::Serialize;

/// The checker: states per CPU-second beside those of stateright, and bytes per state
///
/// Both look at every state of the same algorithms, the very same code, with three nodes and links
/// that keep the order, for S1 and V1, on all cores and without any reduction; that they find
/// equally many is made sure of. They run in turn and the best of each is kept, since other work
/// on the machine can only slow them down.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  conclave bench check --repeat 9 --json")]
pub struct Check {
    /// How often each is run
    #[arg(long, value_name = "K", default_value_t = 3)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1000))]
    repeat: u32,
    /// How often each node asks
    #[arg(long, value_name = "R", default_value_t = 4)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=100))]
    requests: u32,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What is looked at.
const RUNS: [&str; 3] = ["ricart-agrawala", "maekawa", "suzuki-kasami"];
const NODES: u32 = 3;

#[derive(Debug, Serialize)]
struct Row {
    name: &'static str,
    unique_states: u64,
    states_per_cpu_second: f64,
    peer_states_per_cpu_second: f64,
    ratio: f64,
    bytes_per_state: f64,
}

/// Runs it.
pub fn run(arguments: &Check) -> anyhow::Result<Exit> {
    let rows = measure_all(&RUNS, |name| measure(name, arguments))?;
    if arguments.json {
        print(&json::pretty(&serde_json::json!({ "rows": rows }))?)?;
    } else {
        print(&as_table(&rows))?;
    }
    Ok(Exit::Done)
}

fn as_table(rows: &[Row]) -> String {
    let headings = ["run", "states", "per CPU-s", "stateright", "ratio", "bytes/state"];
    let mut table = Table::new(crate::output::width(), &headings).right(1..6);
    for row in rows {
        table.row([
            row.name.to_string(),
            numbers::count(row.unique_states),
            numbers::rate(row.states_per_cpu_second),
            numbers::rate(row.peer_states_per_cpu_second),
            numbers::decimal(row.ratio),
            numbers::decimal(row.bytes_per_state),
        ]);
    }
    table.render()
}

/// The best of several searches by each of the two, taken in turn.
fn measure(name: &'static str, arguments: &Check) -> anyhow::Result<Row> {
    let setting = catalog::find(name)?.setting(NODES, &[])?;
    let requests = arguments.requests;
    // Not among those that are timed: to count what threads allocate slows them down.
    let (first, bytes) = peak_of(|| look(&setting, requests));
    let unique_states = first?;
    let (mut best, mut peer_best) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..arguments.repeat {
        let (found, seconds) = cpu::seconds_of(|| look(&setting, requests));
        ensure!(found? == unique_states, "{name}: not as many states as the last time");
        best = best.min(seconds);
        let (found, seconds) = cpu::seconds_of(|| peer::unique_states(&setting, requests));
        let found = found?;
        ensure!(found == unique_states, "{name}: {unique_states} states, stateright: {found}");
        peer_best = peer_best.min(seconds);
    }
    let states = unique_states as f64;
    Ok(Row {
        name,
        unique_states,
        states_per_cpu_second: states / best,
        peer_states_per_cpu_second: states / peer_best,
        ratio: peer_best / best,
        bytes_per_state: bytes as f64 / states,
    })
}

/// How many different states our own checker finds.
fn look(setting: &Setting, requests: u32) -> anyhow::Result<u64> {
    let bounds = Bounds { requests: Some(requests), ..Bounds::default() };
    let limits = Limits {
        states_max: u64::MAX,
        partial_order: false,
        symmetry: false,
        properties: vec![Property::S1, Property::V1],
        ..Limits::default()
    };
    let report = catalog::visit(setting, Look { bounds, limits })??;
    let id = setting.entry.id;
    ensure!(report.is_complete(), "{id}: not everything was looked at: {:?}", report.stop);
    ensure!(report.stories.is_empty(), "{id}: a promise does not hold");
    Ok(report.unique_states)
}

struct Look {
    bounds: Bounds,
    limits: Limits,
}

impl Visitor for Look {
    type Output = anyhow::Result<Report>;

    fn mutex<P>(self, cluster: Cluster<P>) -> anyhow::Result<Report>
    where
        P: Process<Provides = Mutex, Uses: Oracle>,
    {
        Ok(cluster.check(&self.bounds, &self.limits, &|_| {}))
    }

    fn election<P>(self, _: Cluster<P>) -> anyhow::Result<Report>
    where
        P: Process<Provides = Election, Uses: Oracle>,
    {
        bail!(peer::ONLY_MUTEX)
    }

    fn detector<P>(self, _: Cluster<P>) -> anyhow::Result<Report>
    where
        P: Process<Provides = Detector, Uses: Oracle>,
    {
        bail!(peer::ONLY_MUTEX)
    }

    fn clock<P>(self, _: Cluster<P>) -> anyhow::Result<Report>
    where
        P: Process<Provides = Timekeeping, Uses: Oracle>,
    {
        bail!(peer::ONLY_MUTEX)
    }
}
