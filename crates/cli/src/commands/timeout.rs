//! `conclave timeout`: is it worth waiting longer for an answer?

mod report;

use crate::failure::{Exit, Usage};
use crate::output::{json, print};
use conclave_core::Ticks;
use conclave_lab::files;
use conclave_lab::timeout::{self, Cheapest, Costs, Row};
use conclave_sim::Answers;
use serde::Serialize;

/// How long to wait for an answer before its sender is taken for dead
///
/// A mistake (taking a live process for dead) costs C, waiting on costs E, and p(t) is the
/// probability that a live process answers later than t. The timeout to take is the first t with
/// C p(t) < E. Times are in units, which are milliseconds on a network.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    conclave timeout --latency exp:100 --cost-of-mistake 1000 --cost-of-waiting 1\n  \
    conclave timeout --samples answer-times.txt --timeout 500\n  \
    conclave timeout --latency normal:20:4 --cost-of-mistake 5000 --cost-per-unit 2")]
pub struct Timeout {
    /// How long answers take: const:T, uniform:A..B, exp:MEAN, normal:MEAN:DEVIATION,
    /// lognormal:MEDIAN:SIGMA, pareto:MIN:SHAPE or samples:FILE
    #[arg(long, value_name = "LATENCY", required_unless_present = "samples")]
    latency: Option<String>,
    /// A file of measured times, one per line
    #[arg(long, value_name = "FILE", conflicts_with = "latency")]
    samples: Option<String>,
    /// What it costs to take a live process for dead: C
    #[arg(long, value_name = "C", default_value = "1000", value_parser = cost)]
    cost_of_mistake: f64,
    /// What it costs to wait on: E
    #[arg(long, value_name = "E", default_value = "1", value_parser = cost)]
    cost_of_waiting: f64,
    /// What each unit of waiting costs; tells the timeout with the least cost in all
    #[arg(long, value_name = "COST", value_parser = cost)]
    cost_per_unit: Option<f64>,
    /// Judge this timeout
    #[arg(long, value_name = "T", value_parser = span)]
    timeout: Option<Ticks>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// What is printed as JSON. Field names and their order are a contract.
#[derive(Debug, Serialize)]
struct Printed {
    /// As it was typed.
    latency: Option<String>,
    /// How many were measured.
    samples: Option<usize>,
    cost_of_mistake: f64,
    cost_of_waiting: f64,
    cost_per_unit: Option<f64>,
    advised: Row,
    cheapest: Option<Cheapest>,
    judged: Option<Row>,
    table: Vec<Row>,
}

/// Computes and prints the advice.
pub fn run(arguments: &Timeout) -> anyhow::Result<Exit> {
    let advice = advise(arguments, &answers(arguments)?);
    print(&if arguments.json { json::pretty(&advice)? } else { report::text(&advice) })?;
    Ok(Exit::Done)
}

fn answers(arguments: &Timeout) -> anyhow::Result<Answers> {
    if let Some(path) = &arguments.samples {
        let text = files::read(path).map_err(|reason| Usage::flag("--samples", path, reason))?;
        return Ok(Answers::measured(&text)?);
    }
    Ok(Answers::parse(arguments.latency.as_deref().unwrap_or_default(), &files::read)?)
}

fn advise(arguments: &Timeout, answers: &Answers) -> Printed {
    let Timeout { cost_of_mistake, cost_of_waiting, cost_per_unit, .. } = *arguments;
    let costs =
        Costs { mistake: cost_of_mistake, waiting: cost_of_waiting, per_unit: cost_per_unit };
    let advice = timeout::advise(answers, costs, arguments.timeout);
    Printed {
        latency: arguments.latency.clone(),
        samples: advice.samples,
        cost_of_mistake,
        cost_of_waiting,
        cost_per_unit,
        advised: advice.advised,
        cheapest: advice.cheapest,
        judged: advice.judged,
        table: advice.table,
    }
}

fn cost(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|cost: &f64| cost.is_finite() && *cost > 0.0);
    number.ok_or_else(|| "takes a number above 0".to_string())
}

fn span(text: &str) -> Result<Ticks, String> {
    let ticks = Ticks::parse(text).filter(|&ticks| ticks > Ticks::ZERO);
    ticks.ok_or_else(|| "takes a time above 0 in units (2.5), or 250ms, 3s".to_string())
}
