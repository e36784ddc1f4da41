//! Systems beside each other, as people see them.

use super::beside::Median;
use super::table::{aligned, tenths};
use crate::output::numbers::{count, decimal};
use crate::output::{bad, good, labelled, odd, strong};

/// Where texts begin.
const COLUMN: usize = 11;
/// Of many failures a few speak for all.
const FAILURES_SHOWN: usize = 5;

const HEADINGS: [&str; 8] =
    ["system", "pairs/s", "hand-offs/s", "p50 ms", "p99 ms", "max/min", "CPU µs", "ratio"];
const FAIL_OVER: [&str; 7] =
    ["system", "kills", "node dies, s", "9 of 10", "at most", "client dies, s", "at most"];
const SESSIONS: [&str; 5] = ["system", "keepalives/s", "p50 ms", "p99 ms", "cores"];
const NAMES: [&str; 5] = ["system", "names/s", "MiB before", "in use", "given back"];

/// One table for each workload, and what is to be said of them.
pub fn beside_table(rows: &[Median], seconds: u64) -> String {
    let Some(first) = rows.first() else { return String::new() };
    let mut text = format!("medians of {} runs, {seconds} s each\n", first.runs);
    for workload in rows.chunk_by(|one, next| one.workload == next.workload) {
        let Some(row) = workload.first() else { continue };
        text += &format!("\n{}\n", strong(heading(row)));
        text += &match row.workload {
            "fail-over" => table(FAIL_OVER, workload.iter().map(fail_over)),
            "sessions" => table(SESSIONS, workload.iter().map(sessions)),
            "names" => table(NAMES, workload.iter().map(names)),
            _ => table(HEADINGS, workload.iter().map(cells)),
        };
    }
    text + &remarks(rows)
}

fn heading(row: &Median) -> String {
    let Median { workload, clients, .. } = row;
    match *workload {
        "uncontended" => format!("{workload}: {clients} client"),
        "wide" => format!("{workload}: {clients} clients, a lock each"),
        "sessions" => format!("{workload}: {} kept alive", count(*clients as u64)),
        "names" => format!("{workload}: taken and given back"),
        _ => format!("{workload}: {clients} clients, one lock"),
    }
}

fn table<const N: usize>(headings: [&str; N], rows: impl Iterator<Item = [String; N]>) -> String {
    let mut lines = vec![headings.map(ToString::to_string)];
    lines.extend(rows);
    aligned(&lines)
}

fn cells(row: &Median) -> [String; 8] {
    let known = |number: Option<f64>, show: fn(f64) -> String| number.map_or("-".into(), show);
    let whole = |number: f64| count(number.round() as u64);
    let handoffs = (row.workload == "contended").then_some(row.handoffs_per_second);
    [
        row.system.clone(),
        whole(row.pairs_per_second),
        known(handoffs, whole),
        decimal(row.p50_ms),
        decimal(row.p99_ms),
        known(row.most_over_least, decimal),
        known(row.server_cpu_us_per_pair, whole),
        known(row.first_over_this, tenths),
    ]
}

fn fail_over(row: &Median) -> [String; 7] {
    let seconds = |time: Option<f64>| time.map_or("-".to_string(), |time| decimal(time / 1e3));
    [
        row.system.clone(),
        count(row.kills as u64),
        seconds(row.node_killed_ms),
        seconds(row.node_killed_ms_p90),
        seconds(row.node_killed_ms_max),
        seconds(row.client_killed_ms),
        seconds(row.client_killed_ms_max),
    ]
}

fn sessions(row: &Median) -> [String; 5] {
    [
        row.system.clone(),
        count(row.pairs_per_second.round() as u64),
        decimal(row.p50_ms),
        decimal(row.p99_ms),
        row.server_cores.map_or("-".to_string(), decimal),
    ]
}

fn names(row: &Median) -> [String; 5] {
    let [before, in_use, after] = row.names_memory_mib.map_or([None; 3], |all| all.map(Some));
    let whole =
        |memory: Option<f64>| memory.map_or("-".to_string(), |mib| count(mib.round() as u64));
    let rate = count(row.pairs_per_second.round() as u64);
    [row.system.clone(), rate, whole(before), whole(in_use), whole(after)]
}

fn remarks(rows: &[Median]) -> String {
    let mut text = "\n".to_string();
    for row in rows {
        text += &wrong(row);
    }
    if !rows.iter().any(Median::is_violated) {
        let told = good("never two inside at once; every fence larger than the one before");
        text += &labelled("promises", COLUMN, &told);
    }
    let workload = rows.first().map(|row| row.workload);
    let first = rows.iter().filter(|row| Some(row.workload) == workload);
    let rests = first.filter_map(|row| {
        let whole = |memory: f64| count(memory.round() as u64);
        let at_rest = row.memory_at_rest_mib.map(whole)?;
        let after = row.memory_after_load_mib.map(whole)?;
        Some(format!("{} {at_rest} and {after}", row.system))
    });
    let rests: Vec<String> = rests.collect();
    if !rests.is_empty() {
        text += &labelled(
            "memory",
            COLUMN,
            &format!("MiB of all servers, at rest and after load: {}", rests.join(", ")),
        );
    }
    let told = "how many times as fast the first system is; CPU µs: of all servers, per pair";
    text + &labelled("ratio", COLUMN, told)
}

/// What is wrong with a row.
fn wrong(row: &Median) -> String {
    let mut told = Vec::new();
    if row.overlaps > 0 {
        told.push(bad(format!("{} entries while another was inside", row.overlaps)));
    }
    if row.falls > 0 {
        told.push(bad("a fence did not rise"));
    }
    told.extend(row.failures.iter().take(FAILURES_SHOWN).map(odd));
    match told.is_empty() {
        true => String::new(),
        false => labelled("", 0, &format!("{}, {}: {}", row.system, row.workload, told.join("; "))),
    }
}

impl Median {
    /// Whether two were inside at once, or a fence did not rise.
    pub fn is_violated(&self) -> bool {
        self.overlaps > 0 || self.falls > 0
    }
}
