//! The comparison as JSON. Field names and their order are a contract.

use super::words::{self, LeftOut};
use conclave_lab::compare::Estimate;
use conclave_lab::compare::measure::{Beside, Measured, Point};
use serde::Serialize;

/// What `compare` prints.
#[derive(Serialize)]
pub struct Comparison<'a> {
    rows: Vec<Row<'a>>,
    omitted: Vec<LeftOut>,
}

/// One algorithm with so many nodes under one load. What is not measured there is null.
#[derive(Serialize)]
struct Row<'a> {
    algorithm: &'a str,
    nodes: u32,
    load: &'static str,
    messages_per_entry: Option<f64>,
    formula: &'static str,
    formula_low: Option<f64>,
    formula_high: Option<f64>,
    client_delay: Option<f64>,
    client_delay_serial: Option<f64>,
    sync_delay: Option<f64>,
    wait: Option<f64>,
    jain: Option<f64>,
    max_bypass: Option<u64>,
    bypass_bound: Option<u64>,
    client_delay_formula: Option<Formula>,
    client_delay_serial_formula: Option<Formula>,
    sync_delay_formula: Option<Formula>,
    outside: Vec<&'static str>,
    notes: Vec<String>,
    textbooks: &'static str,
    seeds: u64,
    half_width_95: HalfWidths,
}

/// Half of the 95 % interval of each mean over the seeds; null of a single run.
#[derive(Default, Serialize)]
struct HalfWidths {
    messages_per_entry: Option<f64>,
    client_delay: Option<f64>,
    client_delay_serial: Option<f64>,
    sync_delay: Option<f64>,
    wait: Option<f64>,
    jain: Option<f64>,
}

/// A formula as people write it, and what it comes to; a bound that is not finite is null.
#[derive(Serialize)]
struct Formula {
    text: &'static str,
    low: Option<f64>,
    high: Option<f64>,
}

impl<'a> Comparison<'a> {
    /// All that was measured.
    pub fn of(measured: &'a Measured) -> Self {
        let rows = measured.points.iter().flat_map(|point| [light(point), heavy(point)]);
        let rows = rows.map(|row| Row { seeds: measured.seeds, ..row });
        Self { rows: rows.collect(), omitted: LeftOut::all(&measured.omitted) }
    }
}

fn light(point: &Point) -> Row<'_> {
    let delay = point.delay();
    let serial = point.delay_serial();
    let messages = point.light_messages();
    Row {
        client_delay: mean(delay.measured),
        client_delay_serial: mean(serial.measured),
        half_width_95: HalfWidths {
            messages_per_entry: half(messages.measured),
            client_delay: half(delay.measured),
            client_delay_serial: half(serial.measured),
            ..HalfWidths::default()
        },
        client_delay_formula: Some(Formula::of(&delay)),
        client_delay_serial_formula: Some(Formula::of(&serial)),
        outside: outside(&[
            ("messages_per_entry", messages),
            ("client_delay", delay),
            ("client_delay_serial", serial),
        ]),
        ..row(point, "light", &messages)
    }
}

fn heavy(point: &Point) -> Row<'_> {
    let sync = point.sync_delay();
    let messages = point.heavy_messages();
    let wait = point.heavy.map(|heavy| heavy.wait);
    let jain = point.saturated.map(|saturated| saturated.jain);
    Row {
        sync_delay: mean(sync.measured),
        sync_delay_formula: Some(Formula::of(&sync)),
        wait: mean(wait),
        jain: mean(jain),
        half_width_95: HalfWidths {
            messages_per_entry: half(messages.measured),
            sync_delay: half(sync.measured),
            wait: half(wait),
            jain: half(jain),
            ..HalfWidths::default()
        },
        max_bypass: point.saturated.map(|saturated| saturated.bypass),
        bypass_bound: point.bypass_bound(),
        outside: outside(&[("messages_per_entry", messages), ("sync_delay", sync)]),
        ..row(point, "heavy", &messages)
    }
}

fn row<'a>(point: &'a Point, load: &'static str, messages: &Beside) -> Row<'a> {
    let entry = point.experiment.setting.entry;
    Row {
        algorithm: entry.id,
        nodes: point.experiment.setting.n,
        load,
        messages_per_entry: mean(messages.measured),
        formula: messages.text,
        formula_low: finite(messages.range.0),
        formula_high: finite(messages.range.1),
        client_delay: None,
        client_delay_serial: None,
        sync_delay: None,
        wait: None,
        jain: None,
        max_bypass: None,
        bypass_bound: None,
        client_delay_formula: None,
        client_delay_serial_formula: None,
        sync_delay_formula: None,
        outside: Vec::new(),
        notes: point.notes.iter().copied().map(words::note).collect(),
        textbooks: entry.cost.textbooks(),
        seeds: 1,
        half_width_95: HalfWidths::default(),
    }
}

fn mean(measured: Option<Estimate>) -> Option<f64> {
    measured.map(|measured| measured.mean)
}

fn half(measured: Option<Estimate>) -> Option<f64> {
    measured.and_then(|measured| measured.half)
}

impl Formula {
    fn of(beside: &Beside) -> Self {
        let (low, high) = beside.range;
        Self { text: beside.text, low: finite(low), high: finite(high) }
    }
}

fn outside(measured: &[(&'static str, Beside)]) -> Vec<&'static str> {
    measured.iter().filter(|(_, beside)| beside.is_outside()).map(|(name, _)| *name).collect()
}

fn finite(bound: f64) -> Option<f64> {
    bound.is_finite().then_some(bound)
}
