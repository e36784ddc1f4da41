//! `conclave sim`: one simulated run, or many.

pub(crate) mod plan;

use crate::drawing::Drawing;
use crate::failure::Exit;
use crate::output::run::{Broken, Report};
use crate::output::{self, json};
use crate::texts::remark;
use conclave_core::{Ticks, Verdict, Violation};
use conclave_lab::Experiment;
use conclave_sim::{Options, Plan, Sweep};
use indicatif::{ProgressBar, ProgressStyle};
use std::time::{Duration, Instant};

/// So long people may wait for a violating run to be made small.
const SHRINK_TIME: Duration = Duration::from_secs(3);
/// A run with more events than this stays as it is: its decisions would fill the memory.
const SHRINK_EVENTS_MAX: u64 = 500_000;

/// One simulated run of an algorithm, or many (--seeds), judged and measured
#[derive(Debug, clap::Args)]
#[command(after_help = "Times are in units of one message (2.5), or 250ms, 3s. Nodes are 1 to N, \
    coordinators c1, c2, …\n\nExamples:\n  \
    conclave sim ricart-agrawala --nodes 7\n  \
    conclave sim central --crash 1@5 --view all\n  \
    conclave sim ricart-agrawala --nodes 3 --trace run.svg --trace run.jsonl\n  \
    conclave sim maekawa --set sanders=false --latency exp:2 --seeds 1000")]
pub struct Sim {
    /// The algorithm; 'conclave algorithms' lists them
    #[arg(value_name = "ID")]
    id: String,
    /// How many nodes want to enter [default: 7]
    #[arg(long, value_name = "N", value_parser = plan::nodes, help_heading = "Setting")]
    nodes: Option<u32>,
    /// Other names for the nodes, in order
    #[arg(long, value_name = "ID,…", help_heading = "Setting")]
    ids: Option<String>,
    /// A parameter of the algorithm; may be repeated
    #[arg(long, value_name = "NAME=VALUE", help_heading = "Setting")]
    set: Vec<String>,
    /// all-at-once, single:ID, closed:THINK, poisson:RATE or script:FILE
    #[arg(long, value_name = "WHAT", help_heading = "Setting")]
    workload: Option<String>,
    /// How often each node enters [default: 1]
    #[arg(long, value_name = "R", value_parser = plan::rounds, help_heading = "Setting")]
    rounds: Option<u32>,
    /// How long a node stays inside [default: 10]
    #[arg(long, value_name = "T", value_parser = plan::ticks, help_heading = "Setting")]
    cs: Option<Ticks>,
    /// The probability that a waiter withdraws and asks again
    #[arg(long, value_name = "P", value_parser = plan::probability, help_heading = "Setting")]
    cancel: Option<f64>,
    /// Watch a shared number that starts at V: read on entering, written, one larger, on leaving
    #[arg(long, value_name = "V", help_heading = "Setting")]
    value: Option<u64>,
    /// Let everybody in without asking the algorithm
    #[arg(long, help_heading = "Setting")]
    unprotected: bool,
    /// Who begins an election
    #[arg(long, value_name = "ID,…", help_heading = "Setting")]
    start: Option<String>,
    /// Who may be elected
    #[arg(long, value_name = "ID,…", help_heading = "Setting")]
    candidates: Option<String>,
    /// What a node is made to do beside the workload: acquire, release, cancel, campaign
    #[arg(long, value_name = "T,ID,ACT", help_heading = "Setting")]
    act: Vec<String>,

    /// unit, const:T, uniform:A..B, exp:MEAN, normal:MEAN:DEVIATION, lognormal:MEDIAN:SIGMA,
    /// pareto:MIN:SHAPE, samples:FILE, or a file with a line per link: links:FILE
    #[arg(long, value_name = "TIME", help_heading = "Network")]
    latency: Option<String>,
    /// Let messages of one link overtake each other
    #[arg(long, help_heading = "Network")]
    no_fifo: bool,
    /// The probability that a message is lost
    #[arg(long, value_name = "P", value_parser = plan::probability, help_heading = "Network")]
    loss: Option<f64>,
    /// The probability that a message arrives twice
    #[arg(long, value_name = "P", value_parser = plan::probability, help_heading = "Network")]
    duplicate: Option<f64>,
    /// What happens to particular messages
    #[arg(long, value_name = "RULE", help_heading = "Network")]
    rule: Vec<String>,
    /// A sender emits one message per unit of time
    #[arg(long, help_heading = "Network")]
    serial: bool,
    /// The same message to several nodes at once counts as one, if it is no reply
    #[arg(long, help_heading = "Network")]
    multicast: bool,

    /// A node stops
    #[arg(long, value_name = "ID@T", help_heading = "Faults")]
    crash: Vec<String>,
    /// It comes back, with its disk or without
    #[arg(long, value_name = "ID@T[:amnesia]", help_heading = "Faults")]
    restart: Vec<String>,
    /// A node does nothing for a while
    #[arg(long, value_name = "ID@T+D", help_heading = "Faults")]
    pause: Vec<String>,
    /// Groups of nodes cannot reach each other for a while
    #[arg(long, value_name = "1,2/3,4@T..T", help_heading = "Faults")]
    partition: Vec<String>,
    /// A clock that runs at another rate
    #[arg(long, value_name = "ID:RATE", help_heading = "Faults")]
    drift: Vec<String>,
    /// P is told, wrongly, that Q crashed
    #[arg(long, value_name = "P:Q@T[+D]", help_heading = "Faults")]
    suspect: Vec<String>,
    /// Who is dead from the beginning
    #[arg(long, value_name = "ID,…", help_heading = "Faults")]
    dead: Option<String>,
    /// What a node's random pauses take, instead of a random time
    #[arg(long, value_name = "ID:T", help_heading = "Faults")]
    backoff: Vec<String>,

    /// Where all chance comes from [default: 1]
    #[arg(long, value_name = "S", value_parser = plan::seed, help_heading = "Run")]
    seed: Option<u64>,
    /// So many runs, under consecutive seeds, on all cores
    #[arg(long, value_name = "K", value_parser = plan::seeds, help_heading = "Run")]
    seeds: Option<u64>,
    /// When a run that does not end by itself is cut short [default: 100000 or 10
    /// per node; detectors: 1000]
    #[arg(long, value_name = "T", value_parser = plan::ticks, help_heading = "Run")]
    until: Option<Ticks>,
    /// Judge HB also with more than 64 nodes
    #[arg(long, value_name = "HB", value_parser = plan::check, help_heading = "Run")]
    check: Option<String>,
    /// Tell the run in words, as this process saw it
    #[arg(long, value_name = "ID|all", help_heading = "Run")]
    view: Option<String>,
    #[command(flatten)]
    drawing: Drawing,
    /// Print one JSON object
    #[arg(long, help_heading = "Run")]
    json: bool,
}

/// Runs, judges, prints.
pub fn run(arguments: &Sim) -> anyhow::Result<Exit> {
    let experiment = arguments.experiment()?;
    let plan = arguments.plan(&experiment)?;
    let viewer = arguments.viewer(&experiment)?;
    arguments.drawing.vet(arguments.seeds.is_some())?;
    let options = Options {
        story: viewer.is_some(),
        trace: arguments.drawing.is_wanted(),
        ..experiment.options(arguments.check.is_some())
    };
    let begun = Instant::now();
    let sweep = match arguments.seeds {
        None => single(&experiment, &plan, &options)?,
        Some(runs) => many(&experiment, &plan, &options, runs)?,
    };
    let report = Report {
        wall_seconds: begun.elapsed().as_secs_f64(),
        experiment: &experiment,
        plan: &plan,
        typed: arguments.typed(),
        bypass_bound: options.bypass_bound,
        many: arguments.seeds.is_some(),
        outcome: sweep.total,
        runs: sweep.runs,
        broken: broken(arguments, sweep.violations),
    };
    output::print(&match viewer {
        Some(viewer) => viewer.tell(&report),
        None if arguments.json => json::pretty(&json::Run::of(&report))?,
        None => report.text(),
    })?;
    let Report { outcome, .. } = &report;
    let command = || arguments.replay(plan.seed);
    arguments.drawing.of_run(&experiment, outcome, command)?;
    if !arguments.json {
        shorten(arguments, &report)?;
    }
    Ok(exit(&report))
}

fn single(experiment: &Experiment, plan: &Plan, options: &Options) -> anyhow::Result<Sweep> {
    let mut total = experiment.run(plan, options)?;
    let violations = std::mem::take(&mut total.violations);
    let violations = violations.into_iter().map(|violation| (plan.seed, violation)).collect();
    Ok(Sweep { seed: plan.seed, runs: 1, total, violations })
}

fn many(
    experiment: &Experiment,
    plan: &Plan,
    options: &Options,
    runs: u64,
) -> anyhow::Result<Sweep> {
    let bar = ProgressBar::new(runs);
    let template = format!("{{wide_bar}} {}", remark("{pos}/{len} runs, {eta} left"));
    bar.set_style(ProgressStyle::with_template(&template)?);
    let sweep = experiment.sweep(plan, runs, options, &|| bar.inc(1));
    bar.finish_and_clear();
    Ok(sweep?)
}

fn broken(arguments: &Sim, violations: Vec<(u64, Violation)>) -> Vec<Broken> {
    let with_replay =
        |(seed, violation)| Broken { seed, replay: arguments.replay(seed), violation };
    violations.into_iter().map(with_replay).collect()
}

/// Looks for a smaller plan that breaks the same promise, and prints the command that runs it.
fn shorten(arguments: &Sim, report: &Report<'_>) -> anyhow::Result<()> {
    let Some(worst) = report.worst() else { return Ok(()) };
    if report.experiment.play().is_some() {
        return Ok(()); // An example is as short as it can be.
    }
    if report.outcome.events / report.runs > SHRINK_EVENTS_MAX {
        return Ok(());
    }
    let plan = Plan { seed: worst.seed, ..report.plan.clone() };
    let property = worst.violation.property;
    let small = report.experiment.shrink(&plan, property, SHRINK_TIME);
    if small == plan {
        return Ok(());
    }
    let check = if arguments.check.is_some() { " --check HB" } else { "" };
    let command = report.experiment.command(&small) + check;
    output::print(&report.shortest(property, &command))
}

fn exit(report: &Report<'_>) -> Exit {
    let mut verdicts = report.outcome.verdicts.iter();
    if !report.broken.is_empty() {
        Exit::Violated
    } else if verdicts.any(|(_, verdict)| *verdict == Verdict::Unknown) {
        Exit::Incomplete
    } else {
        Exit::Done
    }
}
