//! The upper half: all coordinators in a row, and the two sets as brackets above and below.

use super::{BLUE, LEFT, ORANGE, RED, SIZE};
use crate::compare::plot::style::{Drawn, Paper, text_at};
use crate::texts::tr;
use conclave_lab::quorum::Case;
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

/// Where the row lies below the top of this half, and how far from it the brackets are.
const ROW: i32 = 96;
const BRACKET: i32 = 36;
/// A coordinator is at most this large.
const RADIUS_MAX: i32 = 22;

/// Draws the two sets, as far apart as they can be.
pub fn draw(paper: &Paper<'_>, case: Case, top: i32) -> Drawn {
    let row = Row::new(case, top + ROW);
    let n = case.coordinators;
    let m = case.votes;
    let outside = case.crashes();
    for (from, to, colour) in [(0, outside, BLUE), (outside, m, RED), (m, n, ORANGE)] {
        row.part(paper, from, to, colour)?;
    }
    let holder = format!("the holder's set: {m}");
    row.bracket(paper, (0, m), -BRACKET, BLUE, &holder)?;
    let rival = format!("the rival's set: {m}, of which n-m = {outside} are its own");
    row.bracket(paper, (outside, n), BRACKET, ORANGE, &rival)?;
    let both = format!("in both: 2m-n = {}", case.overlap());
    let under = (row.place(outside) + 2, row.y + BRACKET + 44);
    paper.draw(&Text::new(tr(&both), under, text_at(17, RED, HPos::Left)))?;
    Ok(())
}

/// The coordinators side by side.
struct Row {
    y: i32,
    n: u32,
    left: f64,
    step: f64,
}

impl Row {
    fn new(case: Case, y: i32) -> Self {
        let room = f64::from(SIZE.0 as i32 - 2 * LEFT);
        let n = case.coordinators;
        let step = (room / f64::from(n)).min(f64::from(RADIUS_MAX) * 2.6);
        Self { y, n, left: f64::from(LEFT), step }
    }

    /// The left edge of a place.
    fn place(&self, place: u32) -> i32 {
        (self.left + self.step * f64::from(place)).round() as i32
    }

    /// The coordinators of some places; where there is no room for each, one bar.
    fn part(&self, paper: &Paper<'_>, from: u32, to: u32, colour: RGBColor) -> Drawn {
        let radius = ((self.step / 2.0) as i32 - 2).min(RADIUS_MAX);
        if radius < 2 {
            let corners = [(self.place(from), self.y - 8), (self.place(to), self.y + 8)];
            paper.draw(&Rectangle::new(corners, colour.filled()))?;
            return Ok(());
        }
        for place in from..to {
            let middle = (self.place(place) + self.place(place + 1)) / 2;
            paper.draw(&Circle::new((middle, self.y), radius, colour.filled()))?;
            if radius >= 9 && self.n < 100 {
                let style = text_at(13, WHITE, HPos::Center);
                paper.draw(&Text::new(format!("c{}", place + 1), (middle, self.y), style))?;
            }
        }
        Ok(())
    }

    /// A bracket over some places, its words beyond it; further up or down, if that is negative or
    /// positive.
    fn bracket(
        &self,
        paper: &Paper<'_>,
        (from, to): (u32, u32),
        away: i32,
        colour: RGBColor,
        words: &str,
    ) -> Drawn {
        let left = self.place(from) + 2;
        let right = self.place(to) - 2;
        let edge = self.y + away;
        let tip = edge - away.signum() * 10;
        let way = vec![(left, tip), (left, edge), (right, edge), (right, tip)];
        paper.draw(&PathElement::new(way, colour.stroke_width(3)))?;
        let style = text_at(17, BLACK, HPos::Left);
        paper.draw(&Text::new(tr(words), (left, edge + away.signum() * 18), style))?;
        Ok(())
    }
}
