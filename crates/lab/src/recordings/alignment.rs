//! Clock skew between nodes: by how much their clocks were apart, as the recordings show.
//!
//! A message cannot arrive before it was sent. Where it seems to, one of the two clocks was wrong.
//! The clock of a tape is then put forward as a whole, so that the stretches of time between the
//! events of a node stay what they were.

use super::{Place, Post, Tapes};
use conclave_core::Ticks;
use std::collections::BTreeMap;

/// The corrected clock of every tape.
#[derive(Debug)]
pub struct Clocks {
    /// When each tape began, in microseconds since 1970, as it says itself.
    started: Vec<i64>,
    /// By how much each is put forward.
    shifts: Vec<i64>,
}

impl Clocks {
    /// Puts clocks forward as far as the messages demand.
    pub fn of(tapes: &Tapes, post: &Post) -> Self {
        let started = tapes.tapes.iter().map(|tape| tape.header().started as i64).collect();
        let mut clocks = Self { started, shifts: vec![0; tapes.tapes.len()] };
        let spans = clocks.spans(tapes, post);
        if spans.values().any(|span| *span < 0) {
            // As if a message took as long one way as the other; failing that, no time at all.
            let fair = |(from, to): (usize, usize), span: i64| {
                spans.get(&(to, from)).map_or(0, |back| ((span + back) / 2).max(0))
            };
            if !clocks.settle(&spans, fair) {
                clocks.shifts.fill(0);
                clocks.settle(&spans, |_, _| 0);
            }
        }
        clocks
    }

    /// The time of a place, in microseconds since 1970.
    pub fn at(&self, tape: usize, at: Ticks) -> i64 {
        self.started[tape].saturating_add(self.shifts[tape]).saturating_add_unsigned(at.0)
    }

    /// By how much a clock was put forward.
    pub fn shift(&self, tape: usize) -> Ticks {
        Ticks(self.shifts[tape].unsigned_abs())
    }

    /// From one tape to another: the shortest time that anything took; below 0 if clocks are wrong.
    fn spans(&self, tapes: &Tapes, post: &Post) -> BTreeMap<(usize, usize), i64> {
        let mut spans: BTreeMap<(usize, usize), i64> = BTreeMap::new();
        let mut span = |from: (usize, Ticks), to: (usize, Ticks)| {
            let took = self.at(to.0, to.1) - self.at(from.0, from.1);
            let least = spans.entry((from.0, to.0)).or_insert(took);
            *least = took.min(*least);
        };
        let at = |place: Place| tapes.step(place).map_or(Ticks::ZERO, |step| step.at);
        for (letter, &received) in &post.received {
            if let Some(&sent) = post.sent.get(letter) {
                span((sent.tape, at(sent)), (received.tape, at(received)));
            }
        }
        for (next, pair) in (1..).zip(tapes.tapes.windows(2)) {
            if pair[0].header().node == pair[1].header().node {
                span((next - 1, pair[0].end()), (next, Ticks::ZERO));
            }
        }
        spans
    }

    /// Puts clocks forward until everything takes at least so long; false if that has no end,
    /// since a clock did not go evenly.
    fn settle(
        &mut self,
        spans: &BTreeMap<(usize, usize), i64>,
        least: impl Fn((usize, usize), i64) -> i64,
    ) -> bool {
        for _ in 0..=self.shifts.len() {
            let mut moved = false;
            for (&(from, to), &span) in spans {
                let wanted = self.shifts[from] - span + least((from, to), span);
                moved |= wanted > self.shifts[to];
                self.shifts[to] = self.shifts[to].max(wanted);
            }
            if !moved {
                return true;
            }
        }
        false
    }
}
