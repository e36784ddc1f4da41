//! The comparison of elections as a table, and what textbooks say.

use crate::compare::words;
use crate::output::numbers::{count, decimal, range};
use crate::output::{bad, beside, dim, strong};
use crate::texts::tr;
use conclave_lab::compare::elections::{Measured, Point, Sample, Spread};
use std::fmt::Write;

/// How far texts stand from the margin.
const COLUMN: usize = 16;

/// All that was measured: who begins alone, all at once, and how long it takes.
pub fn text(measured: &Measured) -> String {
    let points = &measured.points;
    let mut text = String::new();
    let one = |point: &Point| Line {
        off: point.one_is_outside(),
        ..cells(&point.one.messages, point.one.messages_half, point.ranges.one, None)
    };
    let all = |point: &Point| Line {
        off: point.all_is_outside(),
        ..cells(&point.all.messages, point.all.messages_half, point.ranges.all, point.all_mean())
    };
    let time = |point: &Point| {
        let row = cells(&point.one.time, point.one.time_half, point.ranges.time, None);
        Line { off: row.off && point.judged, ..row }
    };
    text += &block("Messages, one node begins", points, &one);
    text += &block("Messages, all begin at once", points, &all);
    text += &block("Units of time until all know, one node begins", points, &time);
    text + &notes(measured) + &formulas(points)
}

/// One line of a table.
struct Line {
    numbers: [String; 4],
    off: bool,
}

fn cells(spread: &Spread, half: Option<f64>, formula: (f64, f64), mean: Option<f64>) -> Line {
    let number = |value: f64| if value.is_finite() { decimal(value) } else { "-".to_string() };
    let mean = mean.map_or(String::new(), |mean| format!(", mean {}", decimal(mean)));
    Line {
        numbers: [
            number(spread.best),
            words::with_half(number(spread.mean), half),
            number(spread.worst),
            tr(&format!("{}{mean}", range(formula))).into_owned(),
        ],
        off: spread.is_outside(formula),
    }
}

fn block(title: &str, points: &[Point], line: &dyn Fn(&Point) -> Line) -> String {
    let headings = ["algorithm", "N", "best", "mean", "worst", "formula"];
    let mut rows = vec![(headings.map(|heading| tr(heading).into_owned()), false)];
    for point in points {
        let Line { numbers: [best, mean, worst, formula], off } = line(point);
        let name = point.setting.entry.id.to_string();
        rows.push(([name, count(u64::from(point.setting.n)), best, mean, worst, formula], off));
    }
    let wide = |column: usize| rows.iter().map(|(row, _)| row[column].chars().count()).max();
    let widths: [usize; 6] = std::array::from_fn(|column| wide(column).unwrap_or(0));
    let mut text = format!("{}\n", strong(title));
    for (index, (row, off)) in rows.iter().enumerate() {
        let mut told = format!("{:1$}", row[0], widths[0]);
        for column in 1..5 {
            let _ = write!(told, "  {:>1$}", row[column], widths[column]);
        }
        let _ = write!(told, "  {}", row[5]);
        let told = if *off {
            bad(&told)
        } else if index == 0 {
            dim(&told)
        } else {
            told
        };
        let _ = writeln!(text, "{told}");
    }
    text + "\n"
}

fn notes(measured: &Measured) -> String {
    let mut text = String::new();
    let mut say = |told: &str| text += &beside("", 0, told);
    if measured.points.iter().any(|point| !point.every_order) {
        say(
            "Up to 6 nodes every order of the ids and everybody who may begin was tried; of more, \
             some orders, sorted ones among them.",
        );
    }
    let dead: Vec<&str> = distinct(measured, |point| point.cost().without_last);
    if !dead.is_empty() {
        let told = format!("{}: the highest of the N nodes has just died.", dead.join(", "));
        say(&told);
    }
    if measured.seeds > 1 {
        say(&words::interval(measured.seeds));
    }
    if measured.points.iter().any(|point| !point.judged) {
        say(words::NOT_JUDGED);
    }
    for id in distinct(measured, Point::is_outside) {
        say(&bad(format!("{id}: measured outside what its formula allows")));
    }
    let failed = |sample: &Sample| sample.failed > 0;
    for id in distinct(measured, |point| failed(&point.one) || failed(&point.all)) {
        say(&format!("{id}: some runs came to no agreed leader"));
    }
    for one in &measured.omitted {
        say(&format!("without {}, N = {}: {}", one.entry.id, one.nodes, words::why(&one.why)));
    }
    text
}

fn distinct(measured: &Measured, is: impl Fn(&Point) -> bool) -> Vec<&'static str> {
    let mut ids: Vec<&'static str> = measured
        .points
        .iter()
        .filter(|point| is(point))
        .map(|point| point.setting.entry.id)
        .collect();
    ids.dedup();
    ids
}

/// The formulas as books write them, and where books differ.
fn formulas(points: &[Point]) -> String {
    let mut text = format!("\n{}\n", strong("The formulas, and where textbooks differ"));
    let mut told = "";
    for point in points {
        let entry = point.setting.entry;
        if std::mem::replace(&mut told, entry.id) == entry.id {
            continue;
        }
        let cost = point.cost();
        let mean = cost
            .all_mean
            .as_ref()
            .map_or(String::new(), |mean| format!("; mean {}", tr(mean.text)));
        let all = format!("{}{mean}", tr(cost.all.text));
        let _ = writeln!(text, "\n{}", strong(entry.id));
        for (label, told) in [
            ("one begins", cost.one.text),
            ("all begin", &all),
            ("time", cost.time.text),
            ("textbooks", cost.textbooks),
        ] {
            if !told.is_empty() {
                text += &beside(&dim(format!("  {label:14}")), COLUMN, told);
            }
        }
    }
    text
}
