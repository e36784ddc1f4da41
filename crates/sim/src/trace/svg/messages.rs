//! The arrows.

use super::Picture;
use super::canvas::number;
use super::lanes;
use super::strips::Strip;
use crate::trace::lives::{Flight, Landing};
use crate::trace::words;

/// An arrow ends a little before the middle of its line's dot.
const DOT: f64 = 4.0;
/// A lost message goes so far of its way.
const LOST_AT: f64 = 0.45;
/// Where along an arrow its label may stand: the first place that is free is taken.
const LABEL_AT: [f64; 7] = [0.5, 0.36, 0.64, 0.28, 0.72, 0.43, 0.57];

type Point = (f64, f64);

/// An arrow in an unbroken drawing: as far along as the scale says, and as far down as nodes are.
pub(super) struct Arrow {
    from: Point,
    to: Point,
    /// A class more: lost, or still under way.
    extra: &'static str,
}

/// What of an arrow is in a strip, and whether its beginning and its end are.
struct Piece {
    from: Point,
    to: Point,
    begins: bool,
    ends: bool,
}

impl Picture<'_> {
    /// All arrows, side by side where they would cover each other.
    pub(super) fn arrows(&self) -> Vec<Arrow> {
        let arrows = self.lives.flights.iter().map(|flight| self.arrow(flight));
        let mut arrows: Vec<Arrow> = arrows.collect();
        let lines: Vec<lanes::Line> = arrows.iter().map(|arrow| (arrow.from, arrow.to)).collect();
        for (arrow, (from, to)) in arrows.iter_mut().zip(lanes::apart(&lines)) {
            (arrow.from, arrow.to) = (from, to);
        }
        arrows
    }

    /// What of the arrows is in this strip, then as many of their labels as there is room for.
    pub(super) fn messages(&mut self, arrows: &[Arrow]) {
        let mut pieces = Vec::new();
        for (place, arrow) in arrows.iter().enumerate() {
            if let Some(piece) = arrow.within(&self.outer_strip()) {
                self.draw_piece(place, &piece, arrow.extra);
                pieces.push((place, piece));
            }
        }
        for (place, piece) in pieces {
            self.label_piece(place, &piece);
        }
    }

    fn draw_piece(&mut self, place: usize, piece: &Piece, extra: &str) {
        let flight = &self.lives.flights[place];
        let kind = self.kinds.iter().position(|kind| *kind == flight.label).unwrap_or(0);
        let onward = if piece.ends { extra } else { " z" };
        let since = if piece.begins { "" } else { " y" };
        let class = format!("a{kind}{onward}{since}");
        let (x0, y0) = self.on_page(piece.from);
        let (x1, y1) = self.on_page(piece.to);
        let [x0, y0, x1, y1] = [x0, y0, x1, y1].map(number);
        let d = format!("M{x0} {y0}L{x1} {y1}");
        let told = words::named(&flight.label, &flight.details, self.language);
        if told == flight.label {
            self.canvas.path(&class, &d);
        } else {
            let hint = self.trace.header.tell(&told);
            self.canvas.path_with_hint(&class, &d, &hint);
        }
    }

    /// From where to where.
    fn arrow(&self, flight: &Flight) -> Arrow {
        let from = (self.scale.x(flight.sent), self.down(flight.from.index()));
        let y = self.down(flight.to.index());
        let partly =
            |x: f64, part: f64| (from.0 + (x - from.0) * part, from.1 + (y - from.1) * part);
        let (to, extra) = match flight.end {
            Landing::Arrived(at) => ((self.scale.x(at), y), ""),
            Landing::LostAtNode(at) => ((self.scale.x(at), y), " x"),
            Landing::Lost => (partly(from.0 + self.ordinary_reach(from.0), LOST_AT), " x"),
            // It should have arrived, and nobody saw that it did.
            Landing::UnderWay if flight.due.is_some_and(|due| due <= self.lives.end) => {
                let due = flight.due.unwrap_or_default();
                ((self.scale.x(due), y), " u")
            }
            Landing::UnderWay => {
                let way = flight.due.map_or(1, |due| due.since(flight.sent).0).max(1);
                let gone = self.lives.end.since(flight.sent).0 as f64 / way as f64;
                let part = gone.clamp(0.15, 1.0);
                let x = from.0 + (self.scale.end() - from.0).max(12.0) / part;
                (partly(x, part), " u")
            }
        };
        Arrow { from, to, extra }
    }

    /// How far a message that was lost would have gone to the right.
    fn ordinary_reach(&self, x: f64) -> f64 {
        (self.scale.end() + 20.0 - x).clamp(30.0, 84.0)
    }

    fn label_piece(&mut self, place: usize, piece: &Piece) {
        let from = self.on_page(piece.from);
        let to = self.on_page(piece.to);
        let dx = to.0 - from.0;
        let dy = to.1 - from.1;
        let angle = dy.atan2(dx.max(0.1));
        let Flight { label, details, again, .. } = &self.lives.flights[place];
        let mut text = words::caption(label, details);
        if *again {
            text += self.language.pick(" again", " de novo");
        }
        if super::width_of(&text, 10.0) > dx.hypot(dy) - 8.0 {
            return; // The colour must do.
        }
        for part in LABEL_AT {
            let middle = (from.0 + dx * part, from.1 + dy * part);
            if self.canvas.slanted(middle, angle, "n", &text) {
                return;
            }
        }
    }
}

impl Arrow {
    /// Whether a break at this place would cut it.
    pub fn is_cut_at(&self, place: f64) -> bool {
        self.from.0 < place && place < self.to.0
    }

    fn within(&self, strip: &Strip) -> Option<Piece> {
        let Self { from, to, .. } = *self;
        let low = from.0.min(to.0);
        let high = from.0.max(to.0);
        if high < strip.from || low > strip.to {
            return None;
        }
        let at = |x: f64| {
            let part = if to.0 == from.0 { 0.0 } else { (x - from.0) / (to.0 - from.0) };
            (x, from.1 + (to.1 - from.1) * part)
        };
        let begins = strip.from <= from.0;
        let ends = to.0 <= strip.to;
        let to = if ends { self.head() } else { at(strip.to) };
        Some(Piece { from: if begins { from } else { at(strip.from) }, to, begins, ends })
    }

    /// Where it ends: an arrow that arrives, a little before the dot.
    fn head(&self) -> Point {
        let dx = self.to.0 - self.from.0;
        let dy = self.to.1 - self.from.1;
        let length = dx.hypot(dy);
        let part = if self.extra.is_empty() && length > DOT { 1.0 - DOT / length } else { 1.0 };
        (self.from.0 + dx * part, self.from.1 + dy * part)
    }
}
