//! `conclave bench sim`: events per second, against a floor measured in the same run.

use super::measure_all;
use crate::failure::Exit;
use crate::output::{json, numbers, print, table::Table};
use conclave_core::Ticks;
use conclave_lab::{Experiment, People};
use conclave_memory::peak_of;
use conclave_sim::{Options, Plan, Shape};
use serde::Serialize;
use std::time::Instant;

/// The simulator: events per second beside the bare event wheel, and bytes per node
///
/// The floor moves the same events at the same simulated times through the same wheel, to a handler
/// that only counts them. Both are run in turn and the best of each is kept, since other work on
/// the machine can only slow them down.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  conclave bench sim --repeat 21 --json")]
pub struct Sim {
    /// How often each is run
    #[arg(long, value_name = "K", default_value_t = 9)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1000))]
    repeat: u32,
    /// Divide the number of nodes by this
    #[arg(long, value_name = "D", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=100))]
    divide: u32,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What is run: everybody asks at once, one round.
const RUNS: [(&str, &str, u32, bool); 4] = [
    ("token-ring, one lap", "token-ring", 1_000_000, false),
    ("naimi-trehel, all at once", "naimi-trehel", 1_000_000, false),
    ("ricart-agrawala, all at once", "ricart-agrawala", 1_000, false),
    ("token-ring, one lap, hashed", "token-ring", 1_000_000, true),
];

#[derive(Debug, Serialize)]
struct Row {
    name: &'static str,
    nodes: u32,
    events: u64,
    messages: u64,
    events_per_second: f64,
    floor_events_per_second: f64,
    ratio_to_floor: f64,
    bytes_per_node: f64,
}

/// Runs it.
pub fn run(arguments: &Sim) -> anyhow::Result<Exit> {
    let rows = measure_all(&RUNS, |&(name, id, nodes, hash)| {
        let nodes = (nodes / arguments.divide).max(2);
        let experiment = Experiment::new(id, nodes, &[], &People::default())?;
        let keep = if hash { Keep::Hash } else { Keep::Nothing };
        measure(name, &experiment, keep, arguments.repeat)
    })?;
    if arguments.json {
        print(&json::pretty(&serde_json::json!({ "rows": rows }))?)?;
    } else {
        print(&as_table(&rows))?;
    }
    Ok(Exit::Done)
}

fn as_table(rows: &[Row]) -> String {
    let headings = ["run", "nodes", "messages", "events/s", "floor", "of floor", "bytes/node"];
    let mut table = Table::new(crate::output::width(), &headings).right(1..7);
    for row in rows {
        table.row([
            row.name.to_string(),
            numbers::count(u64::from(row.nodes)),
            numbers::count(row.messages),
            numbers::rate(row.events_per_second),
            numbers::rate(row.floor_events_per_second),
            format!("{:.0} %", row.ratio_to_floor * 100.0),
            numbers::decimal(row.bytes_per_node),
        ]);
    }
    table.render()
}

/// The best of several runs of simulator and floor, taken in turn.
fn measure(
    name: &'static str,
    experiment: &Experiment,
    keep: Keep,
    repeat: u32,
) -> anyhow::Result<Row> {
    let n = experiment.setting.n;
    let shape = time(experiment, Keep::Shape)?.shape;
    let shape = shape.expect("a run that keeps its shape has one");
    let (mut best, mut floor) = (None::<Timing>, f64::INFINITY);
    for _ in 0..repeat {
        let timing = time(experiment, keep)?;
        let replay = shape.replay(n, experiment.event_size());
        let begin = Instant::now();
        let moved = replay();
        floor = floor.min(begin.elapsed().as_secs_f64() / moved as f64);
        if best.as_ref().is_none_or(|best| timing.seconds < best.seconds) {
            best = Some(timing);
        }
    }
    let best = best.expect("it ran at least once");
    let events_per_second = best.events as f64 / best.seconds;
    Ok(Row {
        name,
        nodes: n,
        events: best.events,
        messages: best.messages,
        events_per_second,
        floor_events_per_second: floor.recip(),
        ratio_to_floor: events_per_second * floor,
        bytes_per_node: best.bytes as f64 / f64::from(n),
    })
}

/// What to keep of a run beyond its figures.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Keep {
    Nothing,
    Hash,
    Shape,
}

struct Timing {
    seconds: f64,
    events: u64,
    messages: u64,
    bytes: usize,
    shape: Option<Shape>,
}

fn time(experiment: &Experiment, keep: Keep) -> anyhow::Result<Timing> {
    let plan = Plan { until: Ticks(u64::MAX / 2), ..Plan::default() };
    let options = Options {
        order: false,
        hash: keep == Keep::Hash,
        shape: keep == Keep::Shape,
        ..experiment.options(false)
    };
    let (timing, bytes) = peak_of(|| {
        let prepared = experiment.prepare(&plan, &options)?;
        let started = prepared.events();
        let begin = Instant::now();
        let outcome = prepared.run();
        let seconds = begin.elapsed().as_secs_f64();
        anyhow::Ok((seconds, outcome.events - started, outcome))
    });
    let (seconds, events, outcome) = timing?;
    let messages = outcome.messages;
    let shape = outcome.shape;
    Ok(Timing { seconds, events, messages, bytes, shape })
}
