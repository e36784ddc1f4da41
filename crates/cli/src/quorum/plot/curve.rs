//! The lower half: the probability of a violation over the number of votes.

use super::super::report::scientific;
use super::{BLUE, LEFT, RED, SIZE};
use crate::compare::plot::style::{Drawn, GREY, GREY_DARK, Paper, Pixel, text, text_at};
use crate::texts::tr;
use conclave_lab::quorum::Case;
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

/// Room around the curves.
const ABOVE: i32 = 54;
const BELOW: i32 = 64;
const NUMBERS: i32 = 80;
const LABELS: i32 = 130;
/// How many numbers an axis has at most.
const TICKS_MAX: u32 = 9;

/// The axes: votes from left to right, powers of ten from top to bottom.
struct Axes {
    left: i32,
    right: i32,
    top: i32,
    bottom: i32,
    votes: (u32, u32),
    /// The exponent at the bottom; at the top it is 0.
    lowest: f64,
}

/// Draws the curve of this case, and those of a probability ten times as large and as small.
pub fn draw(paper: &Paper<'_>, case: Case, top: i32) -> Drawn {
    let cases = [10.0, 1.0, 0.1]
        .map(|factor| Case { probability: (case.probability * factor).min(1.0), ..case });
    let axes = Axes::new(&cases, top);
    let title = "Probability that a second gets in, over the votes that are needed";
    paper.draw(&Text::new(tr(title), (LEFT, top + 20), text(21, BLACK)))?;
    axes.draw(paper)?;
    for one in cases.into_iter().filter(|one| *one != case) {
        axes.curve(paper, one, GREY_DARK.stroke_width(1))?;
    }
    axes.curve(paper, case, BLUE.stroke_width(3))?;
    axes.mark(paper, case)?;
    Ok(())
}

impl Axes {
    fn new(cases: &[Case], top: i32) -> Self {
        // The more votes, the less likely.
        let ends = cases.iter().map(|&case| Case { votes: case.coordinators, ..case });
        let logs = ends.map(|case| case.violation().log10()).filter(|log| log.is_finite());
        let lowest = logs.fold(-1.0, f64::min);
        let step = power_step(lowest);
        let n = cases.first().map_or(1, |case| case.coordinators);
        Self {
            left: LEFT + NUMBERS,
            right: SIZE.0 as i32 - LEFT - LABELS,
            top: top + ABOVE,
            bottom: SIZE.1 as i32 - BELOW,
            votes: (n / 2 + 1, n),
            lowest: (lowest / step).floor() * step,
        }
    }

    fn middle(&self) -> i32 {
        (self.left + self.right) / 2
    }

    fn x(&self, votes: u32) -> i32 {
        let (low, high) = self.votes;
        if low == high {
            return self.middle();
        }
        let part = f64::from(votes - low) / f64::from(high - low);
        self.left + 10 + (part * f64::from(self.right - self.left - 20)).round() as i32
    }

    fn y(&self, log10: f64) -> i32 {
        self.top + (log10 / self.lowest * f64::from(self.bottom - self.top)).round() as i32
    }

    /// Where a case lies; nowhere if nothing can happen.
    fn point(&self, case: Case) -> Option<Pixel> {
        let log10 = case.violation().log10();
        log10.is_finite().then(|| (self.x(case.votes), self.y(log10)))
    }

    /// The number of votes that was asked about, with lines to both axes.
    fn mark(&self, paper: &Paper<'_>, case: Case) -> Drawn {
        let Some((x, y)) = self.point(case) else { return Ok(()) };
        let lines = vec![(self.left, y), (x, y), (x, self.bottom)];
        paper.draw(&PathElement::new(lines, RED.stroke_width(1)))?;
        paper.draw(&Circle::new((x, y), 7, RED.filled()))?;
        // The curves fall, so there is room above them on the right.
        let told = format!("m = {}: {}", case.votes, scientific(case.violation(), 3));
        let place = (self.right - 14, self.top + 26);
        paper.draw(&Text::new(told, place, text_at(20, RED, HPos::Right)))?;
        Ok(())
    }

    fn curve(&self, paper: &Paper<'_>, case: Case, style: ShapeStyle) -> Drawn {
        let step = (case.coordinators / 500).max(1) as usize;
        let mut cases: Vec<Case> = case.over_votes().step_by(step).collect();
        cases.extend(case.over_votes().last());
        let points: Vec<Pixel> = cases.into_iter().filter_map(|one| self.point(one)).collect();
        if let Some(&(x, y)) = points.last() {
            let label = format!("P = {:.3e}", case.probability);
            let label = label.replace(".000", "");
            paper.draw(&Text::new(label, (x + 12, y), text(16, GREY_DARK)))?;
        }
        if points.len() <= 40 {
            for &point in &points {
                paper.draw(&Circle::new(point, 3, style.color.filled()))?;
            }
        }
        paper.draw(&PathElement::new(points, style))?;
        Ok(())
    }

    fn draw(&self, paper: &Paper<'_>) -> Drawn {
        let step = power_step(self.lowest);
        let mut power = 0.0;
        while power >= self.lowest {
            let y = self.y(power);
            paper.draw(&PathElement::new(vec![(self.left, y), (self.right, y)], GREY))?;
            let number = if power == 0.0 { "1".to_string() } else { format!("1e{power}") };
            let style = text_at(16, BLACK, HPos::Right);
            paper.draw(&Text::new(number, (self.left - 8, y), style))?;
            power -= step;
        }
        let (low, high) = self.votes;
        let step = ((high - low) / TICKS_MAX + 1) as usize;
        for votes in (low..=high).rev().step_by(step) {
            let x = self.x(votes);
            let top = self.bottom;
            let bottom = self.bottom + 5;
            paper.draw(&PathElement::new(vec![(x, top), (x, bottom)], BLACK))?;
            let style = text_at(16, BLACK, HPos::Center);
            paper.draw(&Text::new(votes.to_string(), (x, bottom + 12), style))?;
        }
        let corner =
            vec![(self.left, self.top), (self.left, self.bottom), (self.right, self.bottom)];
        paper.draw(&PathElement::new(corner, BLACK))?;
        let style = text_at(17, GREY_DARK, HPos::Center);
        let words = "votes m that let a client in";
        paper.draw(&Text::new(tr(words), (self.middle(), self.bottom + 42), style))?;
        Ok(())
    }
}

/// How many powers of ten lie between two numbers of the axis: 1, 2, 5, 10, 20, …
fn power_step(lowest: f64) -> f64 {
    let decades = (0..6).flat_map(|power| [1.0, 2.0, 5.0].map(|digit| digit * 10_f64.powi(power)));
    decades.into_iter().find(|step| -lowest / step <= f64::from(TICKS_MAX)).unwrap_or(-lowest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_axis_goes_down_in_round_steps() {
        assert_eq!([-1.0, -9.0, -10.0, -59.0, -128.0].map(power_step), [1.0, 1.0, 2.0, 10.0, 20.0]);
    }
}
