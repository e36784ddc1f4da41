//! The fault matrix of elections as people and programs read it.

use crate::output::{bad, beside, dim, good, odd, strong, typed};
use crate::texts::tr;
use conclave_lab::compare::faults::elections::{Cell, Mishap, Verdict};
use serde::Serialize;
use std::fmt::Write;

/// What `compare --family election --faults --json` prints.
#[derive(Serialize)]
pub struct Cells<'a> {
    cells: Vec<Row<'a>>,
}

#[derive(Serialize)]
struct Row<'a> {
    algorithm: &'a str,
    nodes: u32,
    fault: &'a str,
    outcome: &'a str,
    wrong: u32,
    runs: u32,
    replay: Option<&'a str>,
}

impl<'a> Cells<'a> {
    /// All cells, row by row.
    pub fn of(cells: &'a [Cell]) -> Self {
        let row = |cell: &'a Cell| Row {
            algorithm: cell.algorithm,
            nodes: cell.nodes,
            fault: cell.mishap.id(),
            outcome: word(cell),
            wrong: cell.wrong.0,
            runs: cell.wrong.1,
            replay: cell.replay.as_deref(),
        };
        Self { cells: cells.iter().map(row).collect() }
    }
}

fn word(cell: &Cell) -> &'static str {
    cell.verdict.map_or("-", Verdict::word)
}

/// The columns of each part of the matrix, with their headings.
const PARTS: [(&str, &[(Mishap, &str)]); 3] = [
    (
        "A crash while the election is under way",
        &[
            (Mishap::InitiatorCrash, "initiator"),
            (Mishap::WinnerCrash, "winner"),
            (Mishap::BystanderCrash, "another"),
        ],
    ),
    (
        "The leader crashes after the election",
        &[(Mishap::LeaderCrash, "for good"), (Mishap::LeaderAmnesia, "forgets")],
    ),
    (
        "A message lost, or a partition that heals",
        &[(Mishap::MessageLost, "message"), (Mishap::Partition, "partition")],
    ),
];

/// How wide a column of outcomes is.
const COLUMN: usize = 11;

const LEGEND: &str = "Each cell is the worst of several runs, with the fault at several times and \
    hitting several nodes; its command is below, with how many of the runs went wrong. holds: all \
    that live follow the one that should lead. no leader: somebody follows nobody (E2). E1!: not \
    all follow the one that should lead. goes on: the run had not come to rest at 3,000 units. \
    -: there is nobody to hit.";

/// A matrix for each number of nodes, the legend, and the commands behind the cells.
pub fn text(cells: &[Cell]) -> String {
    let mut text = String::new();
    for n in distinct(cells, |cell| cell.nodes) {
        let of_size: Vec<&Cell> = cells.iter().filter(|cell| cell.nodes == n).collect();
        for (title, columns) in PARTS {
            let _ = writeln!(text, "{}", strong(format!("{title}, N = {n}")));
            text += &part(&of_size, columns);
            text.push('\n');
        }
    }
    text += &beside("", 0, LEGEND);
    text + &commands(cells)
}

fn part(cells: &[&Cell], columns: &[(Mishap, &str)]) -> String {
    let lead = cells.iter().map(|cell| cell.algorithm.len()).max().unwrap_or(0) + 2;
    let mut line = format!("{:lead$}", "");
    for (_, heading) in columns {
        let _ = write!(line, "{:COLUMN$}", tr(heading));
    }
    let mut text = dim(line.trim_end()) + "\n";
    for id in distinct(cells, |cell| cell.algorithm) {
        let mut line = format!("{id:lead$}");
        for (mishap, _) in columns {
            let Some(cell) =
                cells.iter().find(|cell| cell.algorithm == id && cell.mishap == *mishap)
            else {
                continue;
            };
            let padding = COLUMN - tr(outcome(cell)).chars().count();
            let _ = write!(line, "{}{:padding$}", coloured(cell), "");
        }
        text += &(line.trim_end().to_string() + "\n");
    }
    text
}

fn outcome(cell: &Cell) -> &'static str {
    match cell.verdict {
        Some(Verdict::Divided) => "E1!",
        Some(Verdict::Holds | Verdict::GoesOn | Verdict::Unled) | None => word(cell),
    }
}

fn coloured(cell: &Cell) -> String {
    let text = outcome(cell);
    match cell.verdict {
        None => dim(text),
        Some(Verdict::Holds) => good(text),
        Some(Verdict::GoesOn | Verdict::Unled) => odd(text),
        Some(Verdict::Divided) => bad(text),
    }
}

fn commands(cells: &[Cell]) -> String {
    let mut text = String::new();
    for id in distinct(cells, |cell| cell.algorithm) {
        let _ = writeln!(text, "\n{}", strong(id));
        for cell in cells.iter().filter(|cell| cell.algorithm == id) {
            let Some(replay) = &cell.replay else { continue };
            let (wrong, runs) = cell.wrong;
            let lead = dim(format!("  {:17}", cell.mishap.id().replace('-', " ")));
            let told = dim(format!("{wrong} of {runs} runs, N = {}", cell.nodes));
            let _ = writeln!(text, "{lead}{:9}  {told}", coloured(cell));
            let _ = writeln!(text, "      {}", typed(replay));
        }
    }
    text
}

/// Each once, in order.
fn distinct<C, T: PartialEq>(cells: &[C], of: impl Fn(&C) -> T) -> Vec<T> {
    let mut known = Vec::new();
    for value in cells.iter().map(of) {
        if !known.contains(&value) {
            known.push(value);
        }
    }
    known
}
