//! The comparison as tables: measured beside formula, and what textbooks say.

use super::words;
use crate::output::numbers::{count, decimal};
use crate::output::{bad, beside, dim, strong, width};
use crate::texts::tr;
use conclave_lab::compare::Estimate;
use conclave_lab::compare::measure::{self, Beside, Measured, Point};
use std::fmt::Write;

/// A column: its heading, and what each row has there.
struct Column<'a> {
    title: &'a str,
    cells: Vec<Cell>,
}

/// A text, and whether it is to catch the eye.
struct Cell {
    text: String,
    outside: bool,
}

/// Columns that belong together under one heading.
struct Group<'a> {
    title: &'a str,
    columns: Vec<Column<'a>>,
}

/// Between columns.
const GAP: usize = 1;
/// Between groups of columns.
const GROUP_GAP: usize = 2;

/// All that was measured, in as many tables as the width asks for.
pub fn text(measured: &Measured) -> String {
    let points = &measured.points;
    let width = width();
    let lead = lead(points);
    let size = common_size(points).map_or(String::new(), |n| format!(", N = {}", count(n.into())));
    let mut text = strong(format!("Measured beside formula{size}")) + "\n\n";
    let mut shown: Vec<Group<'_>> = Vec::new();
    let mut used = lead.width();
    for group in groups(points) {
        if used + GROUP_GAP + group.width() > width && !shown.is_empty() {
            text += &render(&lead, &shown);
            text.push('\n');
            shown = Vec::new();
            used = lead.width();
        }
        used += GROUP_GAP + group.width();
        shown.push(group);
    }
    text += &render(&lead, &shown);
    text.push('\n');
    text + &legend(measured) + &notes(measured) + &formulas(points)
}

/// Which algorithm, and how many nodes.
fn lead(points: &[Point]) -> Group<'_> {
    let mut before = "";
    let names = points.iter().map(|point| {
        let id = point.experiment.setting.entry.id;
        let again = std::mem::replace(&mut before, id) == id;
        plain(if again { String::new() } else { id.to_string() })
    });
    let mut columns = vec![Column { title: "algorithm", cells: names.collect() }];
    if common_size(points).is_none() {
        let sizes = points.iter().map(|point| plain(count(u64::from(point.experiment.setting.n))));
        columns.push(Column { title: "N", cells: sizes.collect() });
    }
    Group { title: "", columns }
}

/// How many nodes all of them have, if it is the same everywhere.
fn common_size(points: &[Point]) -> Option<u32> {
    let first = points.first()?.experiment.setting.n;
    points.iter().all(|point| point.experiment.setting.n == first).then_some(first)
}

fn groups(points: &[Point]) -> Vec<Group<'_>> {
    let jain = |point: &Point| match point.saturated {
        Some(saturated) => plain(shown(saturated.jain)),
        None => plain("-".to_string()),
    };
    let bypass = |point: &Point| match point.saturated {
        Some(saturated) => Cell {
            text: count(saturated.bypass),
            outside: point.bypass_bound().is_some_and(|bound| saturated.bypass > bound),
        },
        None => plain("-".to_string()),
    };
    let bound =
        |point: &Point| plain(point.bypass_bound().map_or_else(|| tr("none").into_owned(), count));
    let column = |title, cell: &dyn Fn(&Point) -> Cell| Column {
        title,
        cells: points.iter().map(cell).collect(),
    };
    vec![
        pair(points, "messages, light", Point::light_messages),
        pair(points, "messages, heavy", Point::heavy_messages),
        pair(points, "delay", Point::delay),
        pair(points, "delay, serially", Point::delay_serial),
        pair(points, "exit to entry", Point::sync_delay),
        Group {
            title: "fairness",
            columns: vec![column("Jain", &jain), column("most", &bypass), column("bound", &bound)],
        },
    ]
}

/// A measured number and its formula.
fn pair<'a>(points: &[Point], title: &'a str, of: fn(&Point) -> Beside) -> Group<'a> {
    let both: Vec<Beside> = points.iter().map(of).collect();
    let measured = both.iter().map(|beside| Cell {
        text: beside.measured.map_or("-".to_string(), shown),
        outside: beside.is_outside(),
    });
    let formula = both.iter().map(|beside| plain(range(beside.range)));
    Group {
        title,
        columns: vec![
            Column { title: "measured", cells: measured.collect() },
            Column { title: "formula", cells: formula.collect() },
        ],
    }
}

fn shown(measured: Estimate) -> String {
    words::with_half(decimal(measured.mean), measured.half)
}

/// The least and the most of a formula, in few letters.
fn range((low, high): (f64, f64)) -> String {
    match (decimal(low), decimal(high)) {
        (low, high) if low == high => low,
        (low, _) if high.is_infinite() => format!("≥{low}"),
        (low, high) => format!("{low}..{high}"),
    }
}

fn plain(text: String) -> Cell {
    Cell { text, outside: false }
}

impl Column<'_> {
    fn width(&self) -> usize {
        let cells = self.cells.iter().map(|cell| cell.text.chars().count());
        cells.chain([tr(self.title).chars().count()]).max().unwrap_or(0)
    }
}

impl Group<'_> {
    fn width(&self) -> usize {
        let columns: usize = self.columns.iter().map(Column::width).sum();
        let columns = columns + GAP * (self.columns.len() - 1);
        columns.max(tr(self.title).chars().count())
    }

    /// One line of this group: names to the left, numbers to the right.
    fn line(&self, cell: impl Fn(&Column<'_>) -> (String, bool)) -> String {
        let mut line = String::new();
        let mut used = 0;
        for (index, column) in self.columns.iter().enumerate() {
            let (text, outside) = cell(column);
            let gap = if index > 0 { GAP } else { 0 };
            let padding = column.width() - text.chars().count();
            used += gap + column.width();
            let text = if outside { bad(text) } else { text };
            line += &match column.title {
                "algorithm" => format!("{:gap$}{text}{:padding$}", "", ""),
                _ => format!("{:gap$}{:padding$}{text}", "", ""),
            };
        }
        line + &" ".repeat(self.width().saturating_sub(used))
    }
}

fn render(lead: &Group<'_>, groups: &[Group<'_>]) -> String {
    let gap = " ".repeat(GROUP_GAP);
    let all: Vec<&Group<'_>> = [lead].into_iter().chain(groups).collect();
    let join = |parts: Vec<String>| parts.join(&gap).trim_end().to_string();
    let titles = all.iter().map(|group| format!("{:<1$}", tr(group.title), group.width()));
    let headings =
        all.iter().map(|group| group.line(|column| (tr(column.title).into_owned(), false)));
    let mut text = strong(join(titles.collect())) + "\n";
    text += &(dim(join(headings.collect())) + "\n");
    let rows = lead.columns.first().map_or(0, |column| column.cells.len());
    for row in 0..rows {
        let cells = all.iter().map(|group| {
            group.line(|column| (column.cells[row].text.clone(), column.cells[row].outside))
        });
        text += &(join(cells.collect()) + "\n");
    }
    text
}

const LEGEND: &str = "Messages are counted per entry and exit. Light load: one client of a fresh \
    cluster enters alone; the mean over all clients. Heavy load: all ask at the same time, once. \
    Delay before entry, in message times, when nobody else wants in: the time from request to \
    entry, where messages travel in parallel; or serially, the messages until then one after the \
    other. Exit to entry: from one exit to the next entry, at heavy load. Fairness: Jain's index \
    when all ask again and again (1 is fair), and the most that passed a request once it was \
    known.";

fn legend(measured: &Measured) -> String {
    let mut text = beside("", 0, LEGEND);
    if measured.seeds > 1 {
        text += &beside("", 0, &words::interval(measured.seeds));
    }
    if measured.points.iter().flat_map(besides).any(|beside| !beside.judged) {
        text += &beside("", 0, words::NOT_JUDGED);
    }
    let outside = measured.points.iter().flat_map(besides).filter(Beside::is_outside).count();
    if outside > 0 {
        let told = format!("{outside} measured outside the formula");
        let _ = writeln!(text, "{}", bad(told));
    }
    text
}

fn besides(point: &Point) -> [Beside; 5] {
    [
        point.light_messages(),
        point.heavy_messages(),
        point.delay(),
        point.delay_serial(),
        point.sync_delay(),
    ]
}

fn notes(measured: &Measured) -> String {
    let noted = measured.points.iter().filter(|point| !point.notes.is_empty()).map(|point| {
        let setting = &point.experiment.setting;
        let notes: Vec<String> = point.notes.iter().copied().map(words::note).collect();
        (setting.entry.id, setting.n, notes.join("; "))
    });
    let omitted = measured.omitted.iter();
    let omitted =
        omitted.map(|one| (one.entry.id, one.nodes, format!("left out, {}", words::why(&one.why))));
    let mut text = String::new();
    for (id, n, told) in noted.chain(omitted) {
        let told = format!("{id}, N = {}: {told}", count(u64::from(n)));
        text += &beside(&dim("note  "), 6, &told);
    }
    text
}

/// How far texts stand from the margin.
const COLUMN: usize = 12;

/// The formulas as books write them, and where books differ.
fn formulas(points: &[Point]) -> String {
    let mut text = format!("\n{}\n", strong("The formulas, and where textbooks differ"));
    let mut told = "";
    for point in points {
        let entry = point.experiment.setting.entry;
        if std::mem::replace(&mut told, entry.id) == entry.id {
            continue;
        }
        let cost = measure::cost_of(entry);
        let delay = format!(
            "{}; serially {}; exit to entry {}",
            bracketed(cost.client_delay.text),
            bracketed(cost.client_delay_serial.text),
            bracketed(cost.sync_delay.text)
        );
        let messages = if cost.light.text == cost.heavy.text {
            cost.light.text.to_string()
        } else {
            format!("light {}; heavy {}", bracketed(cost.light.text), bracketed(cost.heavy.text))
        };
        let _ = writeln!(text, "\n{}", strong(entry.id));
        for (label, told) in
            [("messages", &*messages), ("delay", &delay), ("textbooks", cost.textbooks)]
        {
            if !told.is_empty() {
                text += &beside(&dim(format!("  {label:10}")), COLUMN, told);
            }
        }
    }
    text
}

/// A formula that has a semicolon of its own does not run into the next.
fn bracketed(formula: &str) -> String {
    let formula = tr(formula);
    if formula.contains(';') { format!("[{formula}]") } else { formula.into_owned() }
}
