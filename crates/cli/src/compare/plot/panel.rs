//! One panel: axes, curves, and a label beside the end of each curve.

use super::axis::{Axis, Scale};
use super::labels::{Block, tops};
use super::style::{Drawn, GREY, GREY_DARK, Look, Paper, Pixel, text, text_at};
use crate::output::numbers::{count, decimal};
use crate::texts::tr;
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

/// Where a panel stands on the paper.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    pub left: i32,
    pub top: i32,
    pub width: i32,
    pub height: i32,
}

/// A quantity over the number of nodes.
pub struct Panel {
    pub title: &'static str,
    pub axis: &'static str,
    pub scale: Scale,
    pub series: Vec<Series>,
}

/// One algorithm's numbers.
pub struct Series {
    pub id: &'static str,
    pub points: Vec<Spot>,
    /// Whether it ends before the others, since more nodes were not run.
    pub cut: bool,
    /// From where on there is nothing to show of what was run.
    pub unmeasured: Option<u32>,
}

impl Series {
    /// Whether it ends before the others.
    fn ends(&self) -> bool {
        self.cut || self.unmeasured.is_some()
    }
}

/// What was measured with so many nodes.
#[derive(Clone, Copy, Debug)]
pub struct Spot {
    pub n: u32,
    pub value: f64,
    /// Half of the 95 % interval, where there is one.
    pub half: f64,
}

/// Room around the curves: for numbers and titles, and for labels.
const LEFT: i32 = 84;
const RIGHT: i32 = 256;
const TOP: i32 = 44;
const BOTTOM: i32 = 58;
/// One label.
const LABEL: i32 = 19;
/// Between labels that do not belong together.
const LABEL_GAP: i32 = 5;
/// Where labels begin, to the right of the curves.
const LABELS: i32 = 42;
/// Numbers along the lower axis keep this distance.
const TICK_MIN: i32 = 34;

/// The axes of a panel.
struct Axes {
    x: Axis,
    y: Axis,
    left: i32,
    right: i32,
    top: i32,
    bottom: i32,
}

/// Algorithms whose curves coincide.
struct Bundle<'a> {
    series: Vec<&'a Series>,
}

impl Panel {
    /// Draws it.
    pub fn draw(&self, paper: &Paper<'_>, frame: Frame) -> Drawn {
        let axes = self.axes(frame);
        paper.draw(&Text::new(tr(self.title), (axes.left, frame.top + 22), text(21, BLACK)))?;
        self.draw_axes(paper, &axes, frame)?;
        let bundles = self.bundles();
        for bundle in &bundles {
            bundle.draw(paper, &axes)?;
        }
        self.draw_labels(paper, &axes, &bundles)
    }

    fn axes(&self, frame: Frame) -> Axes {
        let left = frame.left + LEFT;
        let right = frame.left + frame.width - RIGHT;
        let top = frame.top + TOP;
        let bottom = frame.top + frame.height - BOTTOM;
        let all = || self.series.iter().flat_map(|series| &series.points);
        let values = all().flat_map(|spot| [spot.value, spot.value + spot.half]);
        Axes {
            x: Axis::tight(all().map(|spot| f64::from(spot.n)), left + 10, right - 10),
            y: Axis::round(self.scale, values, bottom, top + 6),
            left,
            right,
            top,
            bottom,
        }
    }

    fn draw_axes(&self, paper: &Paper<'_>, axes: &Axes, frame: Frame) -> Drawn {
        let Axes { left, right, top, bottom, .. } = *axes;
        for tick in axes.y.ticks() {
            let Some(y) = axes.y.place(tick) else { continue };
            paper.draw(&PathElement::new(vec![(left, y), (right, y)], GREY))?;
            let style = text_at(16, BLACK, HPos::Right);
            paper.draw(&Text::new(decimal(tick), (left - 8, y), style))?;
        }
        let mut last = i32::MIN;
        for n in self.sizes() {
            let Some(x) = axes.x.place(f64::from(n)) else { continue };
            paper.draw(&PathElement::new(vec![(x, bottom), (x, bottom + 5)], BLACK))?;
            if x.saturating_sub(last) >= TICK_MIN {
                let style = text_at(16, BLACK, HPos::Center);
                paper.draw(&Text::new(count(u64::from(n)), (x, bottom + 17), style))?;
                last = x;
            }
        }
        let corner = vec![(left, top), (left, bottom), (right, bottom)];
        paper.draw(&PathElement::new(corner, BLACK))?;
        let style = text_at(17, GREY_DARK, HPos::Center);
        let middle = ((left + right) / 2, bottom + 38);
        paper.draw(&Text::new(tr("nodes N (log scale)"), middle, style.clone()))?;
        let upright = style.transform(FontTransform::Rotate270);
        paper.draw(&Text::new(tr(self.axis), (frame.left + 24, (top + bottom) / 2), upright))?;
        Ok(())
    }

    fn sizes(&self) -> Vec<u32> {
        let all = self.series.iter().flat_map(|series| &series.points).map(|spot| spot.n);
        let mut sizes: Vec<u32> = all.collect();
        sizes.sort_unstable();
        sizes.dedup();
        sizes
    }

    /// The curves, those that coincide together.
    fn bundles(&self) -> Vec<Bundle<'_>> {
        let mut bundles: Vec<Bundle<'_>> = Vec::new();
        for series in self.series.iter().filter(|series| !series.points.is_empty()) {
            match bundles.iter_mut().find(|bundle| coincide(bundle.series[0], series)) {
                Some(bundle) => bundle.series.push(series),
                None => bundles.push(Bundle { series: vec![series] }),
            }
        }
        bundles
    }

    fn draw_labels(&self, paper: &Paper<'_>, axes: &Axes, bundles: &[Bundle<'_>]) -> Drawn {
        let mut ends: Vec<(Pixel, &Bundle<'_>)> = bundles
            .iter()
            .filter_map(|bundle| Some((*bundle.pixels(axes, 0).last()?, bundle)))
            .collect();
        ends.sort_by_key(|((_, y), _)| *y);
        let height = |bundle: &Bundle<'_>| LABEL * bundle.series.len() as i32;
        let blocks: Vec<Block> =
            ends.iter().map(|((_, at), b)| Block { at: *at, height: height(b) }).collect();
        let tops = tops(&blocks, LABEL_GAP, (axes.top - 10, axes.bottom + 40));
        for (((x, y), bundle), top) in ends.into_iter().zip(tops) {
            let edge = axes.right + LABELS - 8;
            let bottom = top + height(bundle);
            let begin = if bundle.series[0].ends() { x + 20 } else { x + 10 };
            let way = vec![(begin, y), (axes.right + 4, y), (edge, (top + bottom) / 2)];
            paper.draw(&PathElement::new(way, GREY_DARK))?;
            if bundle.series.len() > 1 {
                let bracket = vec![
                    (edge + 5, top + 2),
                    (edge, top + 2),
                    (edge, bottom - 2),
                    (edge + 5, bottom - 2),
                ];
                paper.draw(&PathElement::new(bracket, GREY_DARK))?;
            }
            for (row, series) in (0..).zip(&bundle.series) {
                let y = top + LABEL * row + LABEL / 2;
                label(paper, (axes.right + LABELS, y), series.id)?;
            }
        }
        Ok(())
    }
}

/// A piece of the curve, and whose it is.
fn label(paper: &Paper<'_>, (x, y): Pixel, id: &'static str) -> Drawn {
    let look = Look::of(id);
    look.line(paper, &[(x, y), (x + 28, y)])?;
    look.marker(paper, (x + 14, y))?;
    paper.draw(&Text::new(id, (x + 34, y), text(16, BLACK)))?;
    Ok(())
}

/// Whether two curves cannot be told apart.
fn coincide(a: &Series, b: &Series) -> bool {
    let close = |(a, b): (&Spot, &Spot)| {
        a.n == b.n && (a.value - b.value).abs() <= 0.01 * a.value.abs().max(b.value.abs())
    };
    a.ends() == b.ends()
        && a.points.len() == b.points.len()
        && a.points.iter().zip(&b.points).all(close)
}

impl Bundle<'_> {
    fn draw(&self, paper: &Paper<'_>, axes: &Axes) -> Drawn {
        let many = self.series.len() as i32;
        // Lines of a bundle lie side by side; the more there are, the closer.
        let apart = if many > 6 { 2 } else { 3 };
        for (index, series) in (0..).zip(&self.series) {
            let shift = (2 * index - many + 1) * apart / 2;
            Look::of(series.id).line(paper, &self.pixels(axes, shift))?;
        }
        // At each point only one of them has its marker: it would cover the others.
        for (place, pixel) in self.pixels(axes, 0).into_iter().enumerate() {
            let series = self.series[place % self.series.len()];
            Look::of(series.id).marker(paper, pixel)?;
        }
        self.whiskers(paper, axes)?;
        self.cross(paper, axes)
    }

    fn pixels(&self, axes: &Axes, shift: i32) -> Vec<Pixel> {
        let points = &self.series[0].points;
        let place = |spot: &Spot| {
            Some((axes.x.place(f64::from(spot.n))?, axes.y.place(spot.value)? + shift))
        };
        points.iter().filter_map(place).collect()
    }

    /// The 95 % interval around each point, where it is not too small to be seen.
    fn whiskers(&self, paper: &Paper<'_>, axes: &Axes) -> Drawn {
        let series = self.series[0];
        for spot in series.points.iter().filter(|spot| spot.half > 0.0) {
            let place = |value| axes.y.place(value).map(|y| y.clamp(axes.top, axes.bottom));
            let low = place(spot.value - spot.half).unwrap_or(axes.bottom);
            let ends = (axes.x.place(f64::from(spot.n)), place(spot.value + spot.half));
            let (Some(x), Some(high)) = ends else { continue };
            let style = Look::of(series.id).colour.stroke_width(1);
            for line in [
                [(x, low), (x, high)],
                [(x - 4, low), (x + 4, low)],
                [(x - 4, high), (x + 4, high)],
            ] {
                paper.draw(&PathElement::new(line.to_vec(), style))?;
            }
        }
        Ok(())
    }

    /// A cross behind the last point of what has none with more nodes.
    fn cross(&self, paper: &Paper<'_>, axes: &Axes) -> Drawn {
        let last = self.pixels(axes, 0).pop().filter(|_| self.series[0].ends());
        let Some((x, y)) = last else { return Ok(()) };
        let x = x + 13;
        for line in [[(x - 5, y - 5), (x + 5, y + 5)], [(x - 5, y + 5), (x + 5, y - 5)]] {
            paper.draw(&PathElement::new(line.to_vec(), BLACK.stroke_width(2)))?;
        }
        Ok(())
    }
}
