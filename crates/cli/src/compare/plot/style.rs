//! How an algorithm looks: a colour, a marker and a dash that stay its own in every picture.

use conclave_algorithms::catalog;
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// What is drawn on.
pub type Paper<'a> = DrawingArea<SVGBackend<'a>, Shift>;
/// Whether it could be drawn.
pub type Drawn = Result<(), Box<dyn std::error::Error>>;

/// A pixel.
pub type Pixel = (i32, i32);

pub const GREY: RGBColor = RGBColor(222, 222, 222);
pub const GREY_DARK: RGBColor = RGBColor(90, 90, 90);

/// Okabe and Ito's colours, which can be told apart by the colour-blind; without their yellow,
/// which is hard to see on white.
const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 0, 0),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(0, 158, 115),
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(204, 121, 167),
];

/// The corners of a marker, in pixels around its middle; a circle has none.
const MARKERS: [&[Pixel]; 7] = [
    &[],
    &[(-5, -5), (5, -5), (5, 5), (-5, 5)],
    &[(0, -6), (6, 5), (-6, 5)],
    &[(0, -7), (7, 0), (0, 7), (-7, 0)],
    &[(0, 6), (6, -5), (-6, -5)],
    &[
        (-2, -6),
        (2, -6),
        (2, -2),
        (6, -2),
        (6, 2),
        (2, 2),
        (2, 6),
        (-2, 6),
        (-2, 2),
        (-6, 2),
        (-6, -2),
        (-2, -2),
    ],
    &[(-6, -3), (0, -7), (6, -3), (6, 4), (0, 7), (-6, 4)],
];

/// How one algorithm looks.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    pub colour: RGBColor,
    marker: &'static [Pixel],
    /// The second half of a family has the colours again, with dashes and hollow markers.
    second: bool,
}

impl Look {
    /// The look of this algorithm, by its place among those that answer the same question.
    pub fn of(id: &str) -> Self {
        let family = catalog::find(id).map(|entry| entry.family).ok();
        let mut rivals = catalog::ENTRIES.iter().filter(|entry| Some(entry.family) == family);
        let place = rivals.position(|entry| entry.id == id).unwrap_or(0);
        let kind = place % COLOURS.len();
        let second = place / COLOURS.len() % 2 == 1;
        Self { colour: COLOURS[kind], marker: MARKERS[kind], second }
    }

    /// Draws a line through these pixels.
    pub fn line(&self, paper: &Paper<'_>, pixels: &[Pixel]) -> Drawn {
        let style = self.colour.stroke_width(2);
        if !self.second {
            paper.draw(&PathElement::new(pixels.to_vec(), style))?;
            return Ok(());
        }
        for dash in dashes(pixels, 7.0, 4.0) {
            paper.draw(&PathElement::new(dash, style))?;
        }
        Ok(())
    }

    /// Draws its marker around a pixel.
    pub fn marker(&self, paper: &Paper<'_>, (x, y): Pixel) -> Drawn {
        let filling = if self.second { WHITE } else { self.colour };
        let edge = self.colour.stroke_width(2);
        if self.marker.is_empty() {
            paper.draw(&Circle::new((x, y), 5, filling.filled()))?;
            paper.draw(&Circle::new((x, y), 5, edge))?;
            return Ok(());
        }
        let mut corners: Vec<Pixel> = self.marker.iter().map(|(dx, dy)| (x + dx, y + dy)).collect();
        paper.draw(&Polygon::new(corners.clone(), filling.filled()))?;
        corners.extend(corners.first().copied());
        paper.draw(&PathElement::new(corners, edge))?;
        Ok(())
    }
}

/// Cuts a line into dashes of this length, with gaps between them.
fn dashes(pixels: &[Pixel], dash: f64, gap: f64) -> Vec<Vec<Pixel>> {
    let mut all = Vec::new();
    let mut begun = 0.0;
    for pair in pixels.windows(2) {
        let ((x0, y0), (x1, y1)) = (pair[0], pair[1]);
        let dx = f64::from(x1 - x0);
        let dy = f64::from(y1 - y0);
        let length = dx.hypot(dy);
        let at = |way: f64| {
            let part = (way / length).clamp(0.0, 1.0);
            (x0 + (dx * part).round() as i32, y0 + (dy * part).round() as i32)
        };
        let mut way = -begun;
        while way < length {
            if way + dash > 0.0 {
                all.push(vec![at(way.max(0.0)), at((way + dash).min(length))]);
            }
            way += dash + gap;
        }
        // The next stretch goes on where this one ended.
        begun = (dash + gap - (way - length)).max(0.0);
    }
    all
}

/// Plain text, its middle to the right of where it is put.
pub fn text(size: i32, colour: RGBColor) -> TextStyle<'static> {
    let pos = Pos::new(HPos::Left, VPos::Center);
    ("sans-serif", size).into_font().color(&colour).pos(pos)
}

/// The same with another anchor.
pub fn text_at(size: i32, colour: RGBColor, horizontal: HPos) -> TextStyle<'static> {
    text(size, colour).pos(Pos::new(horizontal, VPos::Center))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_algorithms_of_a_family_look_alike() {
        let look = |entry: &&catalog::Entry| format!("{:?} {:?}", entry.family, Look::of(entry.id));
        let looks: Vec<String> = catalog::ENTRIES.iter().map(look).collect();
        for (index, look) in looks.iter().enumerate() {
            assert!(!looks[..index].contains(look), "{look}");
        }
    }

    #[test]
    fn dashes_go_on_around_a_corner() {
        let cut = dashes(&[(0, 0), (10, 0), (10, 10)], 4.0, 2.0);
        assert_eq!(cut[..3], [[(0, 0), (4, 0)], [(6, 0), (10, 0)], [(10, 2), (10, 6)]]);
    }
}
