//! The comparison as a picture: four panels over the number of nodes.

mod axis;
mod labels;
mod panel;
pub mod style;

use super::words;
use crate::output::numbers::count;
use crate::texts::tr;
use axis::Scale;
use conclave_lab::compare::measure::{Measured, Note, Point};
use conclave_lab::compare::{Estimate, Omitted, elections};
use panel::{Frame, Panel, Series, Spot};
use plotters::prelude::*;
use std::collections::BTreeMap;
use style::{Paper, text};

const SIZE: (u32, u32) = (1440, 1080);
/// Above the panels, and below them.
const TOP: i32 = 64;
const BOTTOM: i32 = 46;
/// Between the lines below the panels.
const NOTE: i32 = 22;

const TITLE: &str = "Mutual exclusion: what an entry costs, and how it grows";
const UNIT: &str = "One message takes one unit of time.";
const CAPTION: &str = "Curves that coincide are drawn side by \
    side and share a bracket; each has its marker at some of the points only.";

const TITLE_ELECTIONS: &str = "Elections: what they cost, and how it grows";

/// Draws what was measured of mutual exclusion.
pub fn svg(measured: &Measured) -> anyhow::Result<String> {
    let panels = panels(&measured.points, &measured.omitted);
    let mut notes = notes(&measured.omitted, measured.seeds, &measured.under);
    for (id, n) in unmeasured(&panels) {
        let mut here = measured.points.iter().filter(|point| {
            let setting = &point.experiment.setting;
            (setting.entry.id, setting.n) == (id, n)
        });
        let why = here.find_map(|point| point.notes.iter().find(|note| is_reason(**note)));
        let why = why.map_or(String::new(), |note| format!(": {}", words::note(*note)));
        notes.push(format!("× no figure: {id} from N = {}{why}", count(u64::from(n))));
    }
    on_paper(TITLE, panels, &notes)
}

/// Draws what was measured of elections.
pub fn elections(measured: &elections::Measured) -> anyhow::Result<String> {
    let panels = election_panels(&measured.points, &measured.omitted);
    let mut notes = notes(&measured.omitted, measured.seeds, &measured.under);
    for (id, n) in unmeasured(&panels) {
        notes.push(format!("× no figure: {id} from N = {}", count(u64::from(n))));
    }
    on_paper(TITLE_ELECTIONS, panels, &notes)
}

/// The curves that end though more nodes were run: each once, with the least N that has no figure.
fn unmeasured(panels: &[Panel]) -> BTreeMap<&'static str, u32> {
    let mut least = BTreeMap::new();
    for series in panels.iter().flat_map(|panel| &panel.series) {
        if let Some(n) = series.unmeasured {
            let known = least.entry(series.id).or_insert(n);
            *known = n.min(*known);
        }
    }
    least
}

/// Whether a note tells why there is no figure.
fn is_reason(note: Note) -> bool {
    match note {
        Note::NoLightLoad(_) | Note::NotAllGotIn { .. } => true,
        Note::Upkeep(_) | Note::FewRounds { .. } | Note::Sampled(_) => false,
    }
}

/// How to read it, under which conditions, what the bars are, and why curves end early: each
/// algorithm once, with the least N left out.
fn notes(omitted: &[Omitted], seeds: u64, under: &str) -> Vec<String> {
    let mut lines = match under {
        "" => vec![format!("{} {}", tr(UNIT), tr(CAPTION))],
        under => vec![CAPTION.to_string(), format!("Measured with {under}.")],
    };
    if seeds > 1 {
        let seeds = count(seeds);
        lines.push(format!("Bars: 95 % interval of the mean, by Student's t over {seeds} seeds."));
    }
    let mut told = "";
    for one in omitted {
        if std::mem::replace(&mut told, one.entry.id) != one.entry.id {
            let n = count(u64::from(one.nodes));
            let why = words::why(&one.why);
            lines.push(format!("× not run: {} from N = {n}: {why}", one.entry.id));
        }
    }
    lines
}

fn on_paper(title: &str, panels: [Panel; 4], notes: &[String]) -> anyhow::Result<String> {
    let mut svg = String::new();
    {
        let size = (SIZE.0, SIZE.1 + NOTE as u32 * (notes.len() as u32 - 1));
        let paper = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        draw(&paper, title, panels, notes).map_err(|error| anyhow::anyhow!("--plot: {error}"))?;
        paper.present()?;
    }
    Ok(svg)
}

fn draw(paper: &Paper<'_>, heading: &str, panels: [Panel; 4], notes: &[String]) -> style::Drawn {
    paper.fill(&WHITE)?;
    let width = SIZE.0 as i32;
    let height = SIZE.1 as i32;
    let title = text(30, BLACK);
    paper.draw(&Text::new(tr(heading), (40, 24), title))?;
    let caption = text(17, style::GREY_DARK);
    for (row, note) in (0..).zip(notes) {
        let at = (40, height - BOTTOM + 12 + NOTE * row);
        paper.draw(&Text::new(tr(note), at, caption.clone()))?;
    }
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

fn panels(points: &[Point], omitted: &[Omitted]) -> [Panel; 4] {
    [
        Panel {
            title: "Messages per entry and exit, all asking at once",
            axis: "messages (log scale)",
            scale: Scale::Log,
            series: series(points, omitted, |point| point.heavy.map(|heavy| heavy.messages)),
        },
        Panel {
            title: "Delay before an entry, nobody else asking",
            axis: "message times (log scale)",
            scale: Scale::Log,
            series: series(points, omitted, |point| point.light.map(|light| light.delay)),
        },
        Panel {
            title: "From one exit to the next entry, all asking at once",
            axis: "message times (log scale)",
            scale: Scale::Log,
            series: series(points, omitted, |point| point.heavy.and_then(|heavy| heavy.sync_delay)),
        },
        Panel {
            title: "Fairness when all ask again and again",
            axis: "Jain's index (1 is fair)",
            scale: Scale::Share,
            series: series(points, omitted, |point| {
                point.saturated.map(|saturated| saturated.jain)
            }),
        },
    ]
}

fn election_panels(points: &[elections::Point], omitted: &[Omitted]) -> [Panel; 4] {
    let panel = |title, axis, value: fn(&elections::Point) -> (f64, Option<f64>)| Panel {
        title,
        axis,
        scale: Scale::Log,
        series: curves(
            omitted,
            points.iter().map(|point| {
                let (mean, half) = value(point);
                let measured = Some(Estimate { mean, half }).filter(|it| it.mean.is_finite());
                (point.setting.entry.id, point.setting.n, measured)
            }),
        ),
    };
    let messages = "messages (log scale)";
    let time = "units of time (log scale)";
    [
        panel("Messages, one node begins, mean", messages, |point| {
            (point.one.messages.mean, point.one.messages_half)
        }),
        panel("Messages, one node begins, worst found", messages, |point| {
            (point.one.messages.worst, None)
        }),
        panel("Messages, all begin at once, mean", messages, |point| {
            (point.all.messages.mean, point.all.messages_half)
        }),
        panel("Time until all know, one node begins, mean", time, |point| {
            (point.one.time.mean, point.one.time_half)
        }),
    ]
}

/// The measured numbers of each algorithm over the number of nodes.
fn series(
    points: &[Point],
    omitted: &[Omitted],
    value: impl Fn(&Point) -> Option<Estimate>,
) -> Vec<Series> {
    curves(
        omitted,
        points.iter().map(|point| {
            let setting = &point.experiment.setting;
            (setting.entry.id, setting.n, value(point))
        }),
    )
}

fn curves(
    omitted: &[Omitted],
    points: impl Iterator<Item = (&'static str, u32, Option<Estimate>)>,
) -> Vec<Series> {
    let mut all: Vec<Series> = Vec::new();
    for (id, n, value) in points {
        if all.last().is_none_or(|last| last.id != id) {
            let cut = omitted.iter().any(|one| one.entry.id == id && one.nodes > n);
            all.push(Series { id, points: Vec::new(), cut, unmeasured: None });
        }
        let Some(series) = all.last_mut() else { continue };
        match value {
            Some(Estimate { mean, half }) => {
                series.points.push(Spot { n, value: mean, half: half.unwrap_or(0.0) });
                series.unmeasured = None;
            }
            None => series.unmeasured = series.unmeasured.or(Some(n)),
        }
    }
    all
}
