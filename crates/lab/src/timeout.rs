//! The timeout calculator: how long to wait for an answer before its sender is taken for dead.
//!
//! A mistake (taking a live process for dead) costs C, waiting on costs E, and p(t) is the
//! probability that a live process answers later than t. The timeout to take is the first t with
//! C p(t) < E. Times are in units.

use conclave_core::Ticks;
use conclave_sim::Answers;
use serde::Serialize;

/// The most rows of the table.
const ROWS_MAX: usize = 8;

/// What mistakes and waiting cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Costs {
    /// Of taking a live process for dead: C.
    pub mistake: f64,
    /// Of waiting on: E.
    pub waiting: f64,
    /// Of each unit of waiting, where time itself costs.
    pub per_unit: Option<f64>,
}

/// What is to be said about the timeouts for some answers.
#[derive(Clone, Debug)]
pub struct Advice {
    /// How many answers were measured, if they were.
    pub samples: Option<usize>,
    /// The first timeout at which to stop costs less than to wait on.
    pub advised: Row,
    /// The timeout with the least cost in all, where time itself costs.
    pub cheapest: Option<Cheapest>,
    /// The timeout that was asked about.
    pub judged: Option<Row>,
    /// Round numbers around these.
    pub table: Vec<Row>,
}

/// One timeout.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Row {
    /// How long.
    pub timeout: f64,
    /// That a live process answers later.
    pub probability: f64,
    /// C p: what stopping to wait costs in the mean.
    pub expected_cost: f64,
    /// Whether that is less than to wait on. At the advised timeout itself it may be just as much.
    pub stop: bool,
}

/// The timeout with the least cost in all.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Cheapest {
    /// How long.
    pub timeout: f64,
    /// That a live process answers later.
    pub probability: f64,
    /// What it costs.
    pub cost: f64,
}

/// What timeout to take for such answers; and what to think of one.
pub fn advise(answers: &Answers, costs: Costs, asked: Option<Ticks>) -> Advice {
    let Costs { mistake, waiting, per_unit } = costs;
    let row = |timeout: f64| {
        let probability = answers.later_than(timeout);
        let expected_cost = mistake * probability;
        Row { timeout, probability, expected_cost, stop: expected_cost < waiting }
    };
    let advised = Row { stop: true, ..row(answers.first_worth_stopping(mistake, waiting)) };
    let cheapest = per_unit.map(|unit| {
        let timeout = answers.cheapest(mistake, unit);
        let probability = answers.later_than(timeout);
        Cheapest { timeout, probability, cost: unit * timeout + mistake * probability }
    });
    let judged = asked.map(|timeout| row(timeout.as_units()));
    let longest = [cheapest.map(|c| c.timeout), judged.map(|j| j.timeout)];
    let longest = longest.into_iter().flatten().fold(advised.timeout, f64::max);
    let usual = answers.first_worth_stopping(2.0, 1.0); // Half of all answers are later.
    let table = round_numbers(usual / 2.0, longest.max(usual) * 2.5).into_iter().map(row).collect();
    let samples = match answers {
        Answers::Measured(times) => Some(times.len()),
        Answers::Constant(_)
        | Answers::Uniform(..)
        | Answers::Exponential(_)
        | Answers::Normal { .. }
        | Answers::LogNormal { .. }
        | Answers::Pareto { .. } => None,
    };
    Advice { samples, advised, cheapest, judged, table }
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
