//! The arrows.

use super::Picture;
use super::canvas::number;
use crate::trace::lives::{Flight, Landing};
use crate::trace::words;

/// An arrow ends a little before the middle of its line's dot.
const DOT: f64 = 4.0;
/// A lost message goes so far of its way.
const LOST_AT: f64 = 0.45;
/// Where along an arrow its label may stand: the first place that is free is taken.
const LABEL_AT: [f64; 7] = [0.5, 0.36, 0.64, 0.28, 0.72, 0.43, 0.57];

impl Picture<'_> {
    pub(super) fn messages(&mut self) {
        let arrows: Vec<(usize, Arrow)> = (0..self.lives.flights.len())
            .map(|place| (place, self.arrow(&self.lives.flights[place])))
            .collect();
        for (place, arrow) in &arrows {
            let flight = &self.lives.flights[*place];
            let kind = self.kinds.iter().position(|kind| *kind == flight.label).unwrap_or(0);
            let class = format!("a{kind}{}", arrow.extra);
            let [x0, y0, x1, y1] = [arrow.from.0, arrow.from.1, arrow.to.0, arrow.to.1].map(number);
            let d = format!("M{x0} {y0}L{x1} {y1}");
            if flight.details.is_empty() {
                self.canvas.path(&class, &d);
            } else {
                let details = self.trace.header.tell(&flight.details);
                let hint = format!("{} {details}", flight.label);
                self.canvas.path_with_hint(&class, &d, &hint);
            }
        }
        for (place, arrow) in arrows {
            self.label_arrow(place, &arrow);
        }
    }

    /// From where to where, on paper.
    fn arrow(&self, flight: &Flight) -> Arrow {
        let from = (self.scale.x(flight.sent), self.y(flight.from.index()));
        let y = self.y(flight.to.index());
        let partly =
            |x: f64, part: f64| (from.0 + (x - from.0) * part, from.1 + (y - from.1) * part);
        match flight.end {
            Landing::Arrived(at) => Arrow::shortened(from, (self.scale.x(at), y), ""),
            Landing::LostAtNode(at) => Arrow { from, to: (self.scale.x(at), y), extra: " x" },
            Landing::Lost => {
                let reach = self.ordinary_reach(from.0);
                Arrow { from, to: partly(from.0 + reach, LOST_AT), extra: " x" }
            }
            // It should have arrived, and nobody saw that it did.
            Landing::UnderWay if flight.due.is_some_and(|due| due <= self.lives.end) => {
                let due = flight.due.unwrap_or_default();
                Arrow { from, to: (self.scale.x(due), y), extra: " u" }
            }
            Landing::UnderWay => {
                let way = flight.due.map_or(1, |due| due.since(flight.sent).0).max(1);
                let gone = self.lives.end.since(flight.sent).0 as f64 / way as f64;
                let part = gone.clamp(0.15, 1.0);
                let x = from.0 + (self.scale.end() - from.0).max(12.0) / part;
                Arrow { from, to: partly(x, part), extra: " u" }
            }
        }
    }

    /// How far a message that was lost would have gone to the right.
    fn ordinary_reach(&self, x: f64) -> f64 {
        (self.scale.end() + 20.0 - x).clamp(30.0, 84.0)
    }

    fn label_arrow(&mut self, place: usize, arrow: &Arrow) {
        let dx = arrow.to.0 - arrow.from.0;
        let dy = arrow.to.1 - arrow.from.1;
        let angle = dy.atan2(dx.max(0.1));
        let Flight { label, details, .. } = &self.lives.flights[place];
        let text = words::caption(label, details);
        if super::width_of(&text, 10.0) > dx.hypot(dy) - 8.0 {
            return; // The colour must do.
        }
        for part in LABEL_AT {
            let middle = (arrow.from.0 + dx * part, arrow.from.1 + dy * part);
            if self.canvas.slanted(middle, angle, "n", &text) {
                return;
            }
        }
    }
}

/// An arrow on paper.
struct Arrow {
    from: (f64, f64),
    to: (f64, f64),
    /// A class more: lost, or still under way.
    extra: &'static str,
}

impl Arrow {
    fn shortened(from: (f64, f64), to: (f64, f64), extra: &'static str) -> Self {
        let dx = to.0 - from.0;
        let dy = to.1 - from.1;
        let length = dx.hypot(dy);
        let part = if length > DOT { 1.0 - DOT / length } else { 1.0 };
        Self { from, to: (from.0 + dx * part, from.1 + dy * part), extra }
    }
}
