//! Engines under load, as people see them.

use super::row::{Formula, Row};
use crate::output::numbers::{count, decimal, range, rate};
use crate::output::{bad, dim, good, labelled, odd, strong};

/// Where texts begin.
const COLUMN: usize = 11;
/// Of many clients that failed in the same way, a few speak for all.
const FAILURES_SHOWN: usize = 5;

const HEADINGS: [&str; 10] = [
    "engine",
    "pairs/s",
    "of floor",
    "p50 ms",
    "p99 ms",
    "fair",
    "msgs",
    "sim",
    "catalogue",
    "CPU µs",
];

/// The rows, and what is to be said of them.
pub fn table(rows: &[Row]) -> String {
    let Some(first) = rows.first() else { return String::new() };
    let Row { nodes, clients, workload, .. } = first;
    let each = first.asked / *clients as u64;
    let told = format!("{nodes} nodes, {clients} clients x {each} entries, workload {workload}");
    let mut lines = vec![HEADINGS.map(ToString::to_string)];
    lines.extend(rows.iter().map(cells));
    format!("{told}\n\n{}{}", aligned(&lines), remarks(rows))
}

fn cells(row: &Row) -> [String; 10] {
    let known = |number: Option<f64>, show: fn(f64) -> String| number.map_or("-".into(), show);
    let share = |ratio: f64| format!("{:.0} %", ratio * 100.0);
    [
        row.system.clone(),
        tenths(row.pairs_per_second),
        known(row.ratio_to_floor, share),
        tenths(row.p50_ms),
        tenths(row.p99_ms),
        decimal(row.fairness),
        known(row.messages_per_entry, decimal),
        known(row.simulated_messages_per_entry, decimal),
        row.formula.map_or("-".to_string(), formula),
        known(row.server_cpu_us_per_pair, |cpu| count(cpu.round() as u64)),
    ]
}

pub(super) fn tenths(number: f64) -> String {
    decimal((number * 10.0).round() / 10.0)
}

fn formula(formula: Formula) -> String {
    range((formula.least, formula.most.unwrap_or(f64::INFINITY)))
}

/// Numbers to the right, a name to the left, the first line emphasised. A name is never broken.
pub(super) fn aligned<const N: usize>(lines: &[[String; N]]) -> String {
    let wide = |column: usize| lines.iter().map(|line| line[column].chars().count()).max();
    let mut text = String::new();
    for (index, line) in lines.iter().enumerate() {
        let padded = line.iter().enumerate().map(|(column, cell)| {
            let width = wide(column).unwrap_or_default();
            if column == 0 { format!("{cell:width$}") } else { format!("{cell:>width$}") }
        });
        let padded = padded.collect::<Vec<_>>().join("  ");
        text += &if index == 0 { strong(&padded) } else { padded };
        text.push('\n');
    }
    text
}

fn remarks(rows: &[Row]) -> String {
    let mut text = "\n".to_string();
    for row in rows {
        text += &wrong(row);
    }
    if !rows.iter().any(Row::is_violated) {
        let told = good("never two inside at once; every fence larger than the one before");
        text += &labelled("promises", COLUMN, &told);
    }
    if let Some(floor) = rows.iter().find_map(|row| row.floor_commits_per_second) {
        let told = format!("{} synced commits/s by one store alone, at best", rate(floor));
        text += &labelled("floor", COLUMN, &told);
    }
    let told = "per entry, on the wire; in the simulator under the same load; as the catalogue has \
                it for the first entries of a fresh cluster";
    text += &labelled("msgs", COLUMN, told);
    if let [row] = rows
        && let Some(messages) = &row.messages
    {
        let kinds = messages.iter().map(|(kind, number)| format!("{kind} {}", count(*number)));
        text += &labelled("kinds", COLUMN, &kinds.collect::<Vec<_>>().join(", "));
    }
    if let Some(replay) = rows.first().and_then(|row| row.replay.as_ref()) {
        let others = if rows.len() > 1 { ", and so on for each engine" } else { "" };
        text += &labelled("replay", COLUMN, &format!("{replay}{others}"));
    }
    text
}

/// What is wrong with a row.
fn wrong(row: &Row) -> String {
    let mut told = Vec::new();
    if row.overlaps > 0 {
        told.push(bad(format!("{} entries while another was inside", row.overlaps)));
    }
    if !row.fences_rise {
        told.push(bad("a fence did not rise"));
    }
    if row.is_violated() && row.overlaps == 0 && row.fences_rise {
        let count = row.counter.unwrap_or_default();
        told.push(bad(format!("the counter is {count} after {} entries", row.entries)));
    }
    if row.entries < row.asked {
        told.push(odd(format!("{} of {} entries", row.entries, row.asked)));
    }
    told.extend(row.failures.iter().take(FAILURES_SHOWN).cloned());
    if row.failures.len() > FAILURES_SHOWN {
        told.push(dim(format!("and {} more", row.failures.len() - FAILURES_SHOWN)));
    }
    match told.is_empty() {
        true => String::new(),
        false => labelled("", 0, &format!("{}: {}", row.system, told.join("; "))),
    }
}
