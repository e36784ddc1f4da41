//! `conclave bench check`: unique states per CPU-second, beside those of stateright.

use super::measure_all;
use crate::cpu;
use crate::failure::Exit;
use crate::output::{dim, json, numbers, print, table::Table};
use anyhow::ensure;
use conclave_check::Limits;
use conclave_core::{Bounds, Property};
use conclave_lab::{Experiment, People};
use conclave_memory::peak_of;
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

/// In the place of a figure that was not measured.
const UNKNOWN: &str = "-";
const WITHOUT_STATERIGHT: &str = "\nstateright is not in this binary; to compare: \
    cargo run --release --features stateright -- bench check\n";

#[derive(Debug, Serialize)]
struct Row {
    name: &'static str,
    unique_states: u64,
    states_per_cpu_second: f64,
    /// Those of stateright, if it was built in.
    peer_states_per_cpu_second: Option<f64>,
    ratio: Option<f64>,
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
            row.peer_states_per_cpu_second.map_or(UNKNOWN.to_string(), numbers::rate),
            row.ratio.map_or(UNKNOWN.to_string(), numbers::decimal),
            numbers::decimal(row.bytes_per_state),
        ]);
    }
    match cfg!(feature = "stateright") {
        true => table.render(),
        false => table.render() + &dim(WITHOUT_STATERIGHT),
    }
}

/// The best of several searches by each of the two, taken in turn.
fn measure(name: &'static str, arguments: &Check) -> anyhow::Result<Row> {
    let experiment = Experiment::new(name, NODES, &[], &People::default())?;
    let requests = arguments.requests;
    // Not among those that are timed: to count what threads allocate slows them down.
    let (first, bytes) = peak_of(|| look(&experiment, requests));
    let unique_states = first?;
    let mut best = f64::INFINITY;
    let mut peer_best = None;
    for _ in 0..arguments.repeat {
        let (found, seconds) = cpu::seconds_of(|| look(&experiment, requests));
        ensure!(found? == unique_states, "{name}: not as many states as the last time");
        best = best.min(seconds);
        if let Some((found, seconds)) = look_by_peer(&experiment, requests)? {
            ensure!(found == unique_states, "{name}: {unique_states} states, stateright: {found}");
            peer_best = Some(peer_best.map_or(seconds, |best: f64| best.min(seconds)));
        }
    }
    let states = unique_states as f64;
    Ok(Row {
        name,
        unique_states,
        states_per_cpu_second: states / best,
        peer_states_per_cpu_second: peer_best.map(|seconds| states / seconds),
        ratio: peer_best.map(|seconds| seconds / best),
        bytes_per_state: bytes as f64 / states,
    })
}

/// How many different states our own checker finds.
fn look(experiment: &Experiment, requests: u32) -> anyhow::Result<u64> {
    let bounds = Bounds { requests: Some(requests), ..Bounds::default() };
    let limits = Limits {
        states_max: u64::MAX,
        partial_order: false,
        symmetry: false,
        // Not V1: it is judged in cycles too, which takes further walks, and the peer makes none.
        properties: vec![Property::S1],
        ..Limits::default()
    };
    let report = experiment.check(&bounds, &limits, &|_| {})?;
    let id = experiment.setting.entry.id;
    ensure!(report.is_complete(), "{id}: not everything was looked at: {:?}", report.stop);
    ensure!(report.stories.is_empty(), "{id}: a promise does not hold");
    Ok(report.unique_states)
}

/// How many stateright finds, and in how many CPU-seconds.
#[cfg(feature = "stateright")]
fn look_by_peer(experiment: &Experiment, requests: u32) -> anyhow::Result<Option<(u64, f64)>> {
    let unique_states = || conclave_lab::stateright::unique_states(&experiment.setting, requests);
    let (found, seconds) = cpu::seconds_of(unique_states);
    Ok(Some((found?, seconds)))
}

/// It is not in this binary.
#[cfg(not(feature = "stateright"))]
fn look_by_peer(_: &Experiment, _: u32) -> anyhow::Result<Option<(u64, f64)>> {
    Ok(None)
}
