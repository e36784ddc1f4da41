//! The fault matrix as people and programs read it.

use super::words;
use crate::output::{bad, beside, dim, good, odd, strong, typed, width};
use crate::texts::tr;
use conclave_algorithms::catalog::Entry;
use conclave_core::NodeId;
use conclave_lab::compare::faults::{Cell, Mishap, Verdict};
use serde::Serialize;
use std::fmt::Write;

/// What `compare --faults --json` prints. Field names and their order are a contract.
#[derive(Serialize)]
pub struct Cells<'a> {
    cells: Vec<Row<'a>>,
}

#[derive(Serialize)]
struct Row<'a> {
    algorithm: &'a str,
    fault: &'a str,
    outcome: &'a str,
    starving: Vec<String>,
    meanwhile: Option<String>,
    detail: Vec<Detail<'a>>,
    replay: Option<&'a str>,
    nodes: u32,
}

/// The worst that came of one choice of what the fault hits.
#[derive(Serialize)]
struct Detail<'a> {
    hits: &'a str,
    outcome: &'a str,
}

impl<'a> Cells<'a> {
    /// All cells, row by row.
    pub fn of(cells: &'a [Cell]) -> Self {
        Self { cells: cells.iter().map(row).collect() }
    }
}

fn row(cell: &Cell) -> Row<'_> {
    let starving = match &cell.verdict {
        Some(Verdict::Starves(nodes)) => nodes.iter().map(NodeId::to_string).collect(),
        Some(Verdict::Holds | Verdict::Stalls | Verdict::Broken) | None => Vec::new(),
    };
    let named = cell.detail.iter().filter(|(hits, _)| !hits.is_empty());
    Row {
        algorithm: cell.algorithm,
        fault: cell.mishap.id(),
        outcome: word(cell),
        starving,
        meanwhile: cell.meanwhile.as_ref().map(words::meanwhile),
        detail: named.map(|(hits, verdict)| Detail { hits, outcome: verdict.word() }).collect(),
        replay: cell.replay.as_deref(),
        nodes: cell.nodes,
    }
}

fn word(cell: &Cell) -> &'static str {
    cell.verdict.as_ref().map_or("-", Verdict::word)
}

/// The columns of each part of the matrix, with their headings:
/// few enough for the numbers of their commands on a screen of 80 columns.
const PARTS: [(&str, &[(Mishap, &str)]); 4] = [
    (
        "A crash of coordinators",
        &[(Mishap::CoordinatorCrash, "coordinator"), (Mishap::MajorityCrash, "a majority")],
    ),
    (
        "A crash of others",
        &[(Mishap::HolderCrash, "holder"), (Mishap::BystanderCrash, "bystander")],
    ),
    (
        "A return without memory",
        &[
            (Mishap::CoordinatorAmnesia, "coordinator"),
            (Mishap::HolderAmnesia, "holder"),
            (Mishap::BystanderAmnesia, "bystander"),
        ],
    ),
    (
        "A message lost, or a partition that heals",
        &[(Mishap::MessageLost, "message"), (Mishap::Partition, "partition")],
    ),
];

/// How wide a column of outcomes is: the longest heading.
const COLUMN: usize = 11;
/// Between columns, and for the number of a command.
const GAP: usize = 2;
const NUMBER: usize = 4;

const LEGEND: &str = "Each cell is the worst of several runs, with the fault at several times and \
    hitting several nodes; its command is below. holds: all who live and ask get in. starves x: x \
    waits for ever, the others go on. stalls: nobody gets in any more. S1!: two were inside at \
    once. -: there is nobody to hit. a majority: more coordinators than a majority can spare. \
    bystander: a node that neither waits nor is inside, and has no token.";

/// Matrix, legend, and the commands behind the cells.
pub fn text(entries: &[&'static Entry], cells: &[Cell], nodes: &[u32]) -> String {
    let mut text = String::new();
    for n in nodes {
        for (title, columns) in PARTS {
            let _ = writeln!(text, "{}", strong(format!("{title}, N = {n}")));
            text += &part(entries, cells, *n, columns);
            text.push('\n');
        }
    }
    text += &beside("", 0, LEGEND);
    text + &commands(entries, cells)
}

/// The cells that have a command, in the order of their numbers.
fn numbered(cells: &[Cell]) -> impl Iterator<Item = (usize, &Cell)> {
    (1..).zip(cells.iter().filter(|cell| cell.replay.is_some()))
}

fn part(entries: &[&'static Entry], cells: &[Cell], n: u32, columns: &[(Mishap, &str)]) -> String {
    let lead = entries.iter().map(|entry| entry.id.len()).max().unwrap_or(0);
    // With room enough, each cell shows the number of its command.
    let roomy = width() >= lead + columns.len() * (GAP + NUMBER + COLUMN);
    let gap = if roomy { GAP + NUMBER } else { GAP };
    let mut line = format!("{:lead$}", "");
    for (_, heading) in columns {
        let _ = write!(line, "{:gap$}{:COLUMN$}", "", tr(heading));
    }
    let mut text = dim(line.trim_end()) + "\n";
    for entry in entries {
        let mut line = format!("{:lead$}", entry.id);
        let mut padding = 0;
        for (mishap, _) in columns {
            let Some(cell) = find(cells, entry, n, *mishap) else { continue };
            let number = numbered(cells).find(|(_, other)| std::ptr::eq(*other, cell));
            let number = number.filter(|_| roomy).map(|(number, _)| format!("{number} "));
            let number = number.unwrap_or_default();
            let before = padding + gap - number.len();
            let _ = write!(line, "{:before$}{}{}", "", dim(number), coloured(cell));
            padding = COLUMN - outcome(cell).chars().count();
        }
        text += &(line + "\n");
    }
    text
}

/// What came of it, in at most a column's width.
fn outcome(cell: &Cell) -> String {
    match &cell.verdict {
        Some(Verdict::Broken) => "S1!".to_string(),
        Some(Verdict::Starves(nodes)) => starves(nodes),
        Some(Verdict::Holds | Verdict::Stalls) | None => tr(word(cell)).into_owned(),
    }
}

fn coloured(cell: &Cell) -> String {
    let text = outcome(cell);
    match &cell.verdict {
        None => dim(text),
        Some(Verdict::Holds) => good(text),
        Some(Verdict::Starves(_) | Verdict::Stalls) => odd(text),
        Some(Verdict::Broken) => bad(text),
    }
}

/// Who starves, as far as there is room.
fn starves(nodes: &[NodeId]) -> String {
    let names: Vec<String> = nodes.iter().map(NodeId::to_string).collect();
    let told = |who: &str| tr(&format!("starves {who}")).into_owned();
    let all = told(&names.join(","));
    if all.len() <= COLUMN { all } else { told(&format!("{}×", nodes.len())) }
}

fn commands(entries: &[&'static Entry], cells: &[Cell]) -> String {
    let mut text = String::new();
    for entry in entries {
        let _ = writeln!(text, "\n{}", strong(entry.id));
        for (number, cell) in numbered(cells).filter(|(_, cell)| cell.algorithm == entry.id) {
            let mishap = cell.mishap.id().replace('-', " ");
            let lead = format!("{number:4}  {:20}", tr(&mishap));
            let column = lead.chars().count() + outcome(cell).chars().count() + 2;
            let lead = format!("{}{}  ", dim(lead), coloured(cell));
            let _ = writeln!(text, "{}", beside(&lead, column, &summary(cell)).trim_end());
            let _ = writeln!(text, "      {}", typed(cell.replay.as_deref().unwrap_or_default()));
        }
    }
    text
}

/// What it depends on, and what went on meanwhile.
fn summary(cell: &Cell) -> String {
    let mut told = Vec::new();
    let differ = cell.detail.iter().any(|(_, verdict)| Some(verdict) != cell.verdict.as_ref());
    if differ {
        let of =
            |(hits, verdict): &(String, Verdict)| format!("{} {}", tr(hits), tr(verdict.word()));
        told.push(format!("({})", cell.detail.iter().map(of).collect::<Vec<_>>().join("; ")));
    }
    let meanwhile = cell.meanwhile.as_ref().map(words::meanwhile);
    told.extend(meanwhile.map(|meanwhile| {
        let told = format!("while cut, {meanwhile}");
        tr(&told).into_owned()
    }));
    told.join(" ")
}

fn find<'a>(cells: &'a [Cell], entry: &Entry, n: u32, mishap: Mishap) -> Option<&'a Cell> {
    let of_entry = |cell: &&Cell| cell.algorithm == entry.id && cell.nodes == n;
    cells.iter().filter(of_entry).find(|cell| cell.mishap == mishap)
}
