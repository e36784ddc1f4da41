//! Every claim of the catalogue and of the lock table, one line each.

use super::{Check, search};
use crate::failure::Exit;
use crate::output::check::{Checked, Retelling};
use crate::output::numbers::{count, local};
use crate::output::{self, bad, good, json, odd, strong};
use crate::texts::tr;
use conclave_algorithms::catalog::{Claim, Entry};
use conclave_core::{Property, Verdict};
use conclave_lab::{Experiment, People};
use serde::Serialize;
use serde_json::Value;

/// What `check --all` prints.
#[derive(Serialize)]
struct Rows {
    rows: Vec<Row>,
}

/// One claim, and what was found.
#[derive(Serialize)]
struct Row {
    algorithm: &'static str,
    set: Vec<String>,
    nodes: u32,
    bounds: Value,
    unique_states: u64,
    claimed_states: u64,
    complete: bool,
    seconds: f64,
    properties: Vec<(Property, Verdict)>,
    claimed: Vec<(Property, Verdict)>,
    ok: bool,
}

/// Looks at every claim, and says of each whether it is true.
pub fn run(arguments: &Check) -> anyhow::Result<Exit> {
    if !arguments.json {
        let [algorithm, nodes, states, seconds, found] =
            ["algorithm", "nodes", "states", "seconds", "found"].map(tr);
        let heading = format!("{algorithm:26}{nodes:>6}{states:>13}{seconds:>9}  {found}");
        output::print(&format!("{}\n", strong(heading)))?;
    }
    let mut rows = Vec::new();
    for (entry, claim) in conclave_lab::claims() {
        let (row, line) = look(arguments, entry, claim)?;
        if !arguments.json {
            output::print(&line)?;
        }
        rows.push(row);
    }
    let (all, wrong) = (rows.len(), rows.iter().filter(|row| !row.ok).count());
    let incomplete = rows.iter().filter(|row| !row.ok).all(|row| !row.complete);
    output::print(&match arguments.json {
        true => json::pretty(&Rows { rows })?,
        false => format!("\n{}\n", tr(&format!("{} of {all} as claimed", all - wrong))),
    })?;
    Ok(match wrong {
        0 => Exit::Done,
        _ if incomplete => Exit::Incomplete,
        _ => Exit::Failed,
    })
}

fn look(arguments: &Check, entry: &Entry, claim: &Claim) -> anyhow::Result<(Row, String)> {
    let set: Vec<String> =
        claim.set.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let experiment = Experiment::new(entry.id, claim.nodes, &set, &People::default())?;
    let bounds = claim.bounds(&experiment.setting);
    let mut limits = arguments.limits(&experiment)?;
    limits.properties = claim.properties();
    let report = search(|progress| experiment.check(&bounds, &limits, progress))?;
    let told = report.stories.iter().map(|story| Retelling::of(&experiment, story));
    let stories = told.collect::<anyhow::Result<Vec<_>>>()?;
    let seen = stories.iter().all(Retelling::is_seen);
    let checked =
        Checked { experiment: &experiment, bounds, limits, dropped: None, report, stories };
    let found = checked.verdicts();
    let report = &checked.report;
    // Without reductions there are more states, as there should be.
    let counted = report.unique_states == claim.states || arguments.spares_nothing();
    let row = Row {
        algorithm: entry.id,
        set,
        nodes: claim.nodes,
        bounds: serde_json::to_value(&checked.bounds)?,
        unique_states: report.unique_states,
        claimed_states: claim.states,
        complete: report.is_complete(),
        seconds: report.seconds,
        ok: seen && counted && found.iter().all(|verdict| claim.verdicts.contains(verdict)),
        properties: found,
        claimed: claim.verdicts.to_vec(),
    };
    let line = line(&row, &checked.bounds_in_words());
    Ok((row, line))
}

fn line(row: &Row, bounds: &str) -> String {
    let name = match row.set.is_empty() {
        true => row.algorithm.to_string(),
        false => format!("{} {}", row.algorithm, row.set.join(" ")),
    };
    let verdict = |&(property, verdict): &(Property, Verdict)| {
        let word = format!("{property} {verdict}");
        match verdict {
            Verdict::Holds => good(word),
            Verdict::Violated => odd(word),
            Verdict::Unknown | Verdict::NotChecked => bad(word),
        }
    };
    let found: Vec<String> = row.properties.iter().map(verdict).collect();
    let states = count(row.unique_states);
    let seconds = local(&format!("{:.1}", row.seconds));
    let mut text = format!("{name:26}{:>6}{states:>13}{seconds:>9}  ", row.nodes);
    if name.len() > 25 {
        text = format!("{name}\n{:26}{:>6}{states:>13}{seconds:>9}  ", "", row.nodes);
    }
    text += &format!("{}  ({bounds})\n", found.join(", "));
    if !row.ok {
        let claimed: Vec<String> = row.claimed.iter().map(|(p, v)| format!("{p} {v}")).collect();
        let claimed = format!("{}, {} states", claimed.join(", "), count(row.claimed_states));
        text += &format!("{:54}  {}\n", "", bad(format!("not as claimed: {claimed}")));
    }
    text
}
