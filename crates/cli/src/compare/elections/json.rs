//! The comparison of elections as JSON. Field names and their order are a contract.

use crate::compare::words::LeftOut;
use conclave_algorithms::catalog::Formula;
use conclave_lab::compare::elections::{Measured, Point, Sample, Spread};
use serde::Serialize;

/// What `compare --family election` prints.
#[derive(Serialize)]
pub struct Comparison {
    rows: Vec<Row>,
    omitted: Vec<LeftOut>,
}

/// One election with so many nodes, begun by one or by all.
#[derive(Serialize)]
struct Row {
    algorithm: &'static str,
    nodes: u32,
    load: &'static str,
    messages: Numbers,
    formula: &'static str,
    formula_low: Option<f64>,
    formula_high: Option<f64>,
    formula_mean: Option<f64>,
    time: Numbers,
    time_formula: Option<&'static str>,
    runs: u32,
    failed: u32,
    every_order: bool,
    highest_dead: bool,
    outside: bool,
    textbooks: &'static str,
    seeds: u64,
    half_width_95: HalfWidths,
}

/// Half of the 95 % interval of each mean over the seeds; null of one seed.
#[derive(Serialize)]
struct HalfWidths {
    messages: Option<f64>,
    time: Option<f64>,
}

#[derive(Serialize)]
struct Numbers {
    best: Option<f64>,
    mean: Option<f64>,
    worst: Option<f64>,
}

impl Numbers {
    fn of(spread: &Spread) -> Self {
        let Spread { best, mean, worst } = *spread;
        Self { best: finite(best), mean: finite(mean), worst: finite(worst) }
    }
}

impl Comparison {
    /// All that was measured.
    pub fn of(measured: &Measured) -> Self {
        let rows = measured.points.iter().flat_map(|point| {
            let cost = point.cost();
            [
                row(point, "one", &point.one, &cost.one, point.ranges.one),
                row(point, "all", &point.all, &cost.all, point.ranges.all),
            ]
        });
        let rows = rows.map(|row| Row { seeds: measured.seeds, ..row });
        Self { rows: rows.collect(), omitted: LeftOut::all(&measured.omitted) }
    }
}

fn row(
    point: &Point,
    load: &'static str,
    sample: &Sample,
    formula: &Formula,
    range: (f64, f64),
) -> Row {
    let cost = point.cost();
    let alone = load == "one";
    Row {
        algorithm: point.setting.entry.id,
        nodes: point.setting.n,
        load,
        messages: Numbers::of(&sample.messages),
        formula: formula.text,
        formula_low: finite(range.0),
        formula_high: finite(range.1),
        formula_mean: point.all_mean().filter(|_| !alone),
        time: Numbers::of(&sample.time),
        time_formula: alone.then_some(cost.time.text),
        runs: sample.runs,
        failed: sample.failed,
        every_order: point.every_order,
        highest_dead: cost.without_last,
        outside: point.judged && sample.messages.is_outside(range)
            || point.judged && alone && sample.time.is_outside(point.ranges.time)
            || !alone && point.mean_is_off(),
        textbooks: cost.textbooks,
        seeds: 1,
        half_width_95: HalfWidths { messages: sample.messages_half, time: sample.time_half },
    }
}

fn finite(number: f64) -> Option<f64> {
    number.is_finite().then_some(number)
}
