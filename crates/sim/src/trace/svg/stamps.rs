//! Where nodes acted, and when in logical time.

use super::canvas::number;
use super::{Anchor, Picture};
use crate::trace::lives::Landing;
use crate::trace::{Clocks, Step, words};

impl Picture<'_> {
    /// A dot for each place where a node acted; and unless the algorithm has a clock of its own,
    /// whose times its messages show, Lamport's time: a picture has one clock.
    pub(super) fn stamps(&mut self) {
        let times = Clocks::lamport(self.trace);
        let own_clock = self.has_own_clock();
        let mut spots: Vec<(usize, f64, u64, u64)> = Vec::new();
        let drawn = |step: &Step| step.at >= self.from && !step.is_quiet_start();
        let shown = self.trace.steps().filter(|(_, step)| drawn(step));
        for (place, step) in shown {
            let index = step.node.index();
            let Some(x) = self.x(step.at) else { continue };
            match spots.iter_mut().rev().find(|spot| spot.0 == index) {
                Some(spot) if spot.1 == x => spot.3 = times[place],
                Some(_) | None => spots.push((index, x, times[place], times[place])),
            }
        }
        let mut dots = String::new();
        for (index, x, first, last) in spots {
            let y = self.y(index);
            dots += &format!("M{} {}h0", number(x), number(y));
            if !own_clock {
                let told =
                    if first == last { first.to_string() } else { format!("{first}–{last}") };
                let places = self.free_corners(index, x, y);
                self.canvas.label(&places, "l", &told);
            }
        }
        self.canvas.path("d", &dots);
    }

    /// Whether messages show the time of a clock that the algorithm itself keeps.
    pub(super) fn has_own_clock(&self) -> bool {
        self.lives.flights.iter().any(|flight| words::own_time(&flight.details).is_some())
    }

    /// The corners around a dot, those first through which no arrow goes.
    fn free_corners(&self, index: usize, x: f64, y: f64) -> Vec<(f64, f64, Anchor)> {
        let mut corners = [
            (0, x - 3.0, y - 11.0, Anchor::End),
            (0, x + 3.0, y - 11.0, Anchor::Start),
            (0, x - 3.0, y + 18.0, Anchor::End),
            (0, x + 3.0, y + 18.0, Anchor::Start),
        ];
        for flight in &self.lives.flights {
            let from = flight.from.index();
            let to = flight.to.index();
            if from == index && self.x(flight.sent) == Some(x) {
                corners[if to < index { 1 } else { 3 }].0 += 1;
            }
            if let Landing::Arrived(at) | Landing::LostAtNode(at) = flight.end
                && to == index
                && self.x(at) == Some(x)
            {
                corners[if from < index { 0 } else { 2 }].0 += 1;
            }
        }
        corners.sort_by_key(|corner| corner.0);
        corners.map(|(_, x, y, anchor)| (x, y, anchor)).to_vec()
    }
}
