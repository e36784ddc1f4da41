//! `conclave timeout`: is it worth waiting longer for an answer?

mod report;

use crate::failure::{Exit, Usage};
use crate::output::{json, print};
use conclave_core::Ticks;
use conclave_lab::files;
use conclave_sim::Answers;
use serde::Serialize;

/// The most rows of the table.
const ROWS_MAX: usize = 8;

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
    /// How long answers take: const:T, uniform:A..B, exp:MEAN, normal:MEAN:DEVIATION
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

/// What is to be said about the timeouts for some answers. Times are in units.
#[derive(Debug, Serialize)]
struct Advice {
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

/// One timeout.
#[derive(Clone, Copy, Debug, Serialize)]
struct Row {
    timeout: f64,
    /// That a live process answers later.
    probability: f64,
    /// C p: what stopping to wait costs in the mean.
    expected_cost: f64,
    /// Whether that is less than to wait on. At the advised timeout itself it may be just as much.
    stop: bool,
}

/// The timeout with the least cost in all, where time itself costs.
#[derive(Clone, Copy, Debug, Serialize)]
struct Cheapest {
    timeout: f64,
    probability: f64,
    cost: f64,
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
    Ok(Answers::parse(arguments.latency.as_deref().unwrap_or_default())?)
}

fn advise(arguments: &Timeout, answers: &Answers) -> Advice {
    let (mistake, waiting) = (arguments.cost_of_mistake, arguments.cost_of_waiting);
    let row = |timeout: f64| {
        let probability = answers.later_than(timeout);
        let expected_cost = mistake * probability;
        Row { timeout, probability, expected_cost, stop: expected_cost < waiting }
    };
    let advised = Row { stop: true, ..row(answers.first_worth_stopping(mistake, waiting)) };
    let cheapest = arguments.cost_per_unit.map(|unit| {
        let timeout = answers.cheapest(mistake, unit);
        let probability = answers.later_than(timeout);
        Cheapest { timeout, probability, cost: unit * timeout + mistake * probability }
    });
    let judged = arguments.timeout.map(|timeout| row(timeout.as_units()));
    let longest = [cheapest.map(|c| c.timeout), judged.map(|j| j.timeout)];
    let longest = longest.into_iter().flatten().fold(advised.timeout, f64::max);
    let usual = answers.first_worth_stopping(2.0, 1.0); // Half of all answers are later.
    let table = round_numbers(usual / 2.0, longest.max(usual) * 2.5).into_iter().map(row).collect();
    Advice {
        latency: arguments.latency.clone(),
        samples: match answers {
            Answers::Measured(times) => Some(times.len()),
            Answers::Constant(_)
            | Answers::Uniform(..)
            | Answers::Exponential(_)
            | Answers::Normal { .. } => None,
        },
        cost_of_mistake: mistake,
        cost_of_waiting: waiting,
        cost_per_unit: arguments.cost_per_unit,
        advised,
        cheapest,
        judged,
        table,
    }
}

/// The numbers 1, 2, 5, 10, 20, 50, … and their fractions between the two; the last few if there
/// are many.
fn round_numbers(from: f64, to: f64) -> Vec<f64> {
    let steps = (-3..15).flat_map(|power| {
        [1.0, 2.0, 5.0].map(|digit| {
            // Division keeps 0.1 what it looks like.
            if power < 0 { digit / 10_f64.powi(-power) } else { digit * 10_f64.powi(power) }
        })
    });
    let between: Vec<f64> = steps.filter(|step| (from..=to).contains(step)).collect();
    between[between.len().saturating_sub(ROWS_MAX)..].to_vec()
}

fn cost(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|cost: &f64| cost.is_finite() && *cost > 0.0);
    number.ok_or_else(|| "takes a number above 0".to_string())
}

fn span(text: &str) -> Result<Ticks, String> {
    let ticks = Ticks::parse(text).filter(|&ticks| ticks > Ticks::ZERO);
    ticks.ok_or_else(|| "takes a time above 0 in units (2.5), or 250ms, 3s".to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_numbers_are_round() {
        assert_eq!(round_numbers(35.0, 1_700.0), [50.0, 100.0, 200.0, 500.0, 1_000.0]);
        assert_eq!(round_numbers(0.05, 0.6), [0.05, 0.1, 0.2, 0.5]);
        assert_eq!(round_numbers(0.0, 1e12).len(), ROWS_MAX);
        assert!(round_numbers(0.0, 0.0).is_empty());
    }
}
