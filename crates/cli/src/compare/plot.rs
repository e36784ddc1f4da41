//! The comparison as a picture: four panels over the number of nodes.

mod axis;
mod labels;
mod panel;
pub mod style;

use axis::Scale;
use conclave_lab::compare::elections;
use conclave_lab::compare::measure::Point;
use panel::{Frame, Panel, Series};
use plotters::prelude::*;
use style::{Paper, text};

const SIZE: (u32, u32) = (1440, 1080);
/// Above the panels, and below them.
const TOP: i32 = 64;
const BOTTOM: i32 = 46;

const TITLE: &str = "Mutual exclusion: what an entry costs, and how it grows";
const CAPTION: &str = "One message takes one unit of time. Curves that coincide are drawn side by \
    side and share a bracket; each has its marker at some of the points only.";

const TITLE_ELECTIONS: &str = "Elections: what they cost, and how it grows";

/// Draws what was measured of mutual exclusion.
pub fn svg(points: &[Point]) -> anyhow::Result<String> {
    on_paper(TITLE, panels(points))
}

/// Draws what was measured of elections.
pub fn elections(points: &[elections::Point]) -> anyhow::Result<String> {
    on_paper(TITLE_ELECTIONS, election_panels(points))
}

fn on_paper(title: &str, panels: [Panel; 4]) -> anyhow::Result<String> {
    let mut svg = String::new();
    {
        let paper = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        draw(&paper, title, panels).map_err(|error| anyhow::anyhow!("--plot: {error}"))?;
        paper.present()?;
    }
    Ok(svg)
}

fn draw(paper: &Paper<'_>, heading: &str, panels: [Panel; 4]) -> style::Drawn {
    paper.fill(&WHITE)?;
    let width = SIZE.0 as i32;
    let height = SIZE.1 as i32;
    let title = text(30, BLACK);
    paper.draw(&Text::new(heading, (40, 24), title))?;
    let caption = text(17, style::GREY_DARK);
    paper.draw(&Text::new(CAPTION, (40, height - BOTTOM + 12), caption))?;
    let half = width / 2;
    let tall = (height - TOP - BOTTOM) / 2;
    for (index, panel) in (0..).zip(panels) {
        let left = half * (index % 2);
        let top = TOP + tall * (index / 2);
        let frame = Frame { left, top, width: half, height: tall };
        panel.draw(paper, frame)?;
    }
    Ok(())
}

fn panels(points: &[Point]) -> [Panel; 4] {
    [
        Panel {
            title: "Messages per entry and exit, all asking at once",
            axis: "messages (log scale)",
            scale: Scale::Log,
            series: series(points, |point| point.heavy.map(|heavy| heavy.messages)),
        },
        Panel {
            title: "Delay before an entry, nobody else asking",
            axis: "message times (log scale)",
            scale: Scale::Log,
            series: series(points, |point| point.light.map(|light| light.delay)),
        },
        Panel {
            title: "From one exit to the next entry, all asking at once",
            axis: "message times (log scale)",
            scale: Scale::Log,
            series: series(points, |point| point.heavy.and_then(|heavy| heavy.sync_delay)),
        },
        Panel {
            title: "Fairness when all ask again and again",
            axis: "Jain's index (1 is fair)",
            scale: Scale::Share,
            series: series(points, |point| point.saturated.map(|saturated| saturated.jain)),
        },
    ]
}

fn election_panels(points: &[elections::Point]) -> [Panel; 4] {
    let panel = |title, axis, value: fn(&elections::Point) -> f64| Panel {
        title,
        axis,
        scale: Scale::Log,
        series: curves(points.iter().map(|point| {
            (point.setting.entry.id, point.setting.n, Some(value(point)).filter(|v| v.is_finite()))
        })),
    };
    let messages = "messages (log scale)";
    let time = "units of time (log scale)";
    [
        panel("Messages, one node begins, mean", messages, |point| point.one.messages.mean),
        panel("Messages, one node begins, worst found", messages, |p| p.one.messages.worst),
        panel("Messages, all begin at once, mean", messages, |point| point.all.messages.mean),
        panel("Time until all know, one node begins, mean", time, |point| point.one.time.mean),
    ]
}

/// The measured numbers of each algorithm over the number of nodes.
fn series(points: &[Point], value: impl Fn(&Point) -> Option<f64>) -> Vec<Series> {
    curves(points.iter().map(|point| {
        let setting = &point.experiment.setting;
        (setting.entry.id, setting.n, value(point))
    }))
}

fn curves(points: impl Iterator<Item = (&'static str, u32, Option<f64>)>) -> Vec<Series> {
    let mut all: Vec<Series> = Vec::new();
    for (id, n, value) in points {
        if all.last().is_none_or(|last| last.id != id) {
            all.push(Series { id, points: Vec::new() });
        }
        if let (Some(series), Some(value)) = (all.last_mut(), value) {
            series.points.push((n, value));
        }
    }
    all
}
