//! From time to place. Long stretches in which nothing happens are shortened, short ones widened.

use crate::trace::lives::{Landing, Lives};
use crate::trace::{Record, Trace};
use conclave_core::Ticks;
use std::collections::BTreeMap;

/// How far an ordinary message travels to the right.
const MESSAGE: f64 = 84.0;
/// The same where there are many lines, so that arrows do not get too steep.
const MESSAGE_MANY: f64 = 112.0;
/// Two different moments are at least so far apart.
const GAP_MIN: f64 = 15.0;
/// A stretch without events is not wider than this.
const GAP_MAX: f64 = 130.0;

/// Where each moment of a run is drawn.
pub(super) struct Scale {
    places: BTreeMap<Ticks, f64>,
    /// Moments at which something happened, as opposed to those that only need a place.
    real: Vec<Ticks>,
    breaks: Vec<f64>,
}

impl Scale {
    /// A scale on which every moment of the run since then has its own place, the first at 0.
    pub fn of(trace: &Trace, lives: &Lives, from: Ticks) -> Self {
        let moments = moments(trace, lives, from);
        let message = ordinary(lives);
        let many = trace.header.names.len() > 5;
        let reach = if many { MESSAGE_MANY } else { MESSAGE };
        let mut places = BTreeMap::new();
        let mut x = 0.0;
        let mut before = None;
        let mut breaks = Vec::new();
        for &at in &moments {
            if let Some(before) = before {
                let natural = reach * at.since(before).0 as f64 / message;
                let gap = natural.clamp(GAP_MIN, GAP_MAX);
                if natural > GAP_MAX {
                    breaks.push(x + gap / 2.0);
                }
                x += gap;
            }
            before = Some(at);
            places.insert(at, x);
        }
        let half_way = lost(lives);
        let real = |at: &Ticks| !half_way.contains(at) || happened(trace, *at);
        Self { places, real: moments.into_iter().filter(real).collect(), breaks }
    }

    /// Where a moment is; one between two known moments is between their places.
    pub fn x(&self, at: Ticks) -> f64 {
        let before = self.places.range(..=at).next_back();
        let after = self.places.range(at..).next();
        match (before, after) {
            (Some((t0, x0)), Some((t1, x1))) if t1 > t0 => {
                x0 + (x1 - x0) * at.since(*t0).0 as f64 / t1.since(*t0).0 as f64
            }
            (Some((_, x)), _) | (None, Some((_, x))) => *x,
            (None, None) => 0.0,
        }
    }

    pub fn end(&self) -> f64 {
        self.places.last_key_value().map_or(0.0, |(_, x)| *x)
    }

    /// Every place that a moment has, in order.
    pub fn places(&self) -> Vec<f64> {
        self.places.values().copied().collect()
    }

    /// Every moment at which something happened.
    pub fn ticks(&self) -> Vec<Ticks> {
        self.real.clone()
    }

    /// Where time was shortened.
    pub fn breaks(&self) -> Vec<f64> {
        self.breaks.clone()
    }
}

/// When something happens that is drawn, in order.
fn moments(trace: &Trace, lives: &Lives, from: Ticks) -> Vec<Ticks> {
    let quiet = |record: &&Record| !record.step().is_some_and(|step| step.is_quiet_start());
    let mut moments: Vec<Ticks> = trace.records.iter().filter(quiet).map(Record::at).collect();
    moments.push(from);
    moments.extend(lost(lives));
    moments.retain(|at| *at >= from);
    moments.sort_unstable();
    moments.dedup();
    moments
}

/// Where the arrows of lost messages end.
fn lost(lives: &Lives) -> Vec<Ticks> {
    let lost = lives.flights.iter().filter(|flight| flight.end == Landing::Lost);
    let half_way = Ticks((ordinary(lives) * 0.6) as u64);
    lost.map(|flight| flight.sent + half_way).collect()
}

fn happened(trace: &Trace, at: Ticks) -> bool {
    trace.records.iter().any(|record| record.at() == at)
}

/// How long messages take: the middle one of all that arrive.
fn ordinary(lives: &Lives) -> f64 {
    let arrived = lives.flights.iter().filter_map(|flight| match flight.end {
        Landing::Arrived(at) | Landing::LostAtNode(at) => Some(at.since(flight.sent).0),
        Landing::Lost | Landing::UnderWay => None,
    });
    let mut spans: Vec<u64> = arrived.filter(|span| *span > 0).collect();
    spans.sort_unstable();
    spans.get(spans.len() / 2).map_or(Ticks::UNIT.0 as f64, |span| *span as f64)
}
