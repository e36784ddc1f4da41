//! Comparison on the spot: every mutex, or election, measured over several numbers of nodes.

use super::Refused;
use crate::compare::{Conditions, Estimate, elections, measure};
use conclave_algorithms::catalog::{ENTRIES, Entry, Family};
use serde::{Deserialize, Serialize};

/// More nodes than this take too long for somebody who waits.
const NODES_MAX: u32 = 64;
/// So many numbers of nodes make a curve.
const SIZES_MAX: usize = 8;
/// And so many nodes in all: nobody can take back a comparison that is under way.
const TOTAL_MAX: u32 = 128;

/// What is to be compared.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "docs/lab.md tells the fields")]
pub struct CompareQuestion {
    pub family: String,
    #[serde(default)]
    pub nodes: Vec<u32>,
    #[serde(default)]
    pub lang: Option<String>,
}

/// What was measured.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "docs/lab.md tells the fields")]
pub struct Compared {
    pub family: String,
    pub rows: Vec<Row>,
}

/// One algorithm with so many nodes, under one load.
#[derive(Clone, Debug, Default, Serialize)]
#[expect(missing_docs, reason = "docs/lab.md tells the fields")]
pub struct Row {
    pub algorithm: &'static str,
    pub nodes: u32,
    pub load: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub messages_per_entry: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub messages: Option<f64>,
    pub formula: String,
    pub formula_low: Option<f64>,
    pub formula_high: Option<f64>,
    pub client_delay: Option<f64>,
    pub sync_delay: Option<f64>,
    pub time: Option<f64>,
    pub jain: Option<f64>,
}

/// Measures.
pub fn compare(question: &CompareQuestion) -> Result<Compared, Refused> {
    let mut nodes = match question.nodes.as_slice() {
        [] => vec![2, 4, 8, 16],
        nodes => nodes.to_vec(),
    };
    if nodes.len() > SIZES_MAX || nodes.iter().any(|n| !(1..=NODES_MAX).contains(n)) {
        let words = format!("takes at most {SIZES_MAX} numbers of nodes, from 1 to {NODES_MAX}");
        return Err(Refused::new("nodes", words));
    }
    nodes.sort_unstable();
    nodes.dedup();
    if nodes.iter().sum::<u32>() > TOTAL_MAX {
        return Err(Refused::new("nodes", format!("takes at most {TOTAL_MAX} nodes in all")));
    }
    let entries = |family| -> Vec<&'static Entry> {
        ENTRIES.iter().copied().filter(|entry| entry.family == family).collect()
    };
    let rows = match question.family.as_str() {
        "mutex" => locks(&entries(Family::Mutex), &nodes)?,
        "election" => leaders(&entries(Family::Election), &nodes)?,
        other => {
            let words = format!("{other}: takes mutex or election");
            return Err(Refused::new("family", words));
        }
    };
    Ok(Compared { family: question.family.clone(), rows })
}

fn locks(entries: &[&'static Entry], nodes: &[u32]) -> Result<Vec<Row>, Refused> {
    let measured = measure::all(entries, nodes, &Conditions::default(), &|_, _| {});
    let measured = measured.map_err(Refused::of("nodes"))?;
    let rows = measured.points.iter().flat_map(|point| {
        let setting = &point.experiment.setting;
        let row = |load, messages: measure::Beside| Row {
            algorithm: setting.entry.id,
            nodes: setting.n,
            load,
            messages_per_entry: mean(messages.measured),
            formula: messages.text.to_string(),
            formula_low: finite(messages.range.0),
            formula_high: finite(messages.range.1),
            ..Row::default()
        };
        let light = Row {
            client_delay: mean(point.delay().measured),
            ..row("light", point.light_messages())
        };
        let heavy = Row {
            sync_delay: mean(point.sync_delay().measured),
            jain: point.saturated.map(|saturated| saturated.jain.mean),
            ..row("heavy", point.heavy_messages())
        };
        [light, heavy]
    });
    Ok(rows.collect())
}

fn leaders(entries: &[&'static Entry], nodes: &[u32]) -> Result<Vec<Row>, Refused> {
    let measured = elections::all(entries, nodes, &Conditions::default(), &|_, _| {});
    let measured = measured.map_err(Refused::of("nodes"))?;
    let rows = measured.points.iter().flat_map(|point| {
        let row = |load, sample: &elections::Sample, formula: &str, range: (f64, f64)| Row {
            algorithm: point.setting.entry.id,
            nodes: point.setting.n,
            load,
            messages: finite(sample.messages.mean),
            time: finite(sample.time.mean),
            formula: formula.to_string(),
            formula_low: finite(range.0),
            formula_high: finite(range.1),
            ..Row::default()
        };
        let cost = point.cost();
        let one = row("one", &point.one, cost.one.text, point.ranges.one);
        [one, row("all", &point.all, cost.all.text, point.ranges.all)]
    });
    Ok(rows.collect())
}

fn mean(estimate: Option<Estimate>) -> Option<f64> {
    estimate.and_then(|estimate| finite(estimate.mean))
}

fn finite(number: f64) -> Option<f64> {
    number.is_finite().then_some(number)
}
