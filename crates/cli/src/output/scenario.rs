//! Scenarios on the screen: their story, what was expected of them, and what came of it.

pub mod json;
pub mod words;

use super::numbers::of;
use super::{bad, beside, columns, dim, good, labelled, odd, strong, typed, width, wrap};
use crate::invocation;
use crate::lang::Lang;
use crate::texts::{phrase, sentence, tr};
use conclave_algorithms::catalog;
use conclave_core::Verdict;
use conclave_lab::Experiment;
use conclave_lab::scenarios::{Ran, ScenarioFile};
use conclave_sim::{Check, Outcome, Plan};
use std::fmt::Write;

/// How far the text stands from the margin.
const COLUMN: usize = 12;

/// A scenario among all, and what came of it, or why it was skipped.
pub struct Row {
    /// The scenario.
    pub file: ScenarioFile,
    /// What came of its runs.
    pub ran: Result<Vec<Ran>, String>,
}

impl Row {
    /// Whether all came out as expected; `None` if it was skipped.
    pub fn ok(&self) -> Option<bool> {
        self.ran.as_ref().ok().map(|runs| runs.iter().all(Ran::ok))
    }
}

/// All scenarios: those to meet first, then the others by algorithm.
pub fn list(all: &[ScenarioFile]) -> String {
    let column = 4 + all.iter().map(|file| file.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    let mut before = "";
    for file in in_order(all) {
        let scenario = file.head();
        let title = match scenario.front {
            Some(_) => phrase("to begin with"),
            None => &scenario.algorithm,
        };
        if before != title {
            let gap = if before.is_empty() { "" } else { "\n" };
            let _ = writeln!(text, "{gap}{}", strong(title));
            before = title;
        }
        let lead = format!("  {:padding$}", file.name, padding = column - 2);
        text += &beside(&lead, column, Lang::spoken().of(&scenario.title));
    }
    let hint = |act: &str| typed(format!("conclave scenario {act} NAME"));
    let line = format!("{}, {}", hint("show"), hint("run"));
    let line = if columns(&line) > width() { line.replacen(", ", "\n", 1) } else { line };
    text + &format!("\n{line}\n")
}

/// Those to meet first, then in the order of the catalogue.
pub fn in_order(all: &[ScenarioFile]) -> Vec<&ScenarioFile> {
    let place = |file: &&ScenarioFile| {
        let scenario = file.head();
        let known = catalog::ENTRIES.iter().position(|entry| entry.id == scenario.algorithm);
        let algorithm = known.unwrap_or(catalog::ENTRIES.len());
        (scenario.front.unwrap_or(u32::MAX), algorithm, scenario.algorithm.clone())
    };
    let mut sorted: Vec<&ScenarioFile> = all.iter().collect();
    sorted.sort_by_key(place);
    sorted
}

/// Which run of several this is.
pub fn part(ran: &Ran) -> String {
    match &ran.part {
        Some(part) => {
            format!("\n{}  {}\n", strong(Lang::spoken().of(part)), dim(about(&ran.experiment)))
        }
        None => String::new(),
    }
}

/// What it is called, where it is from, and what it is about.
pub fn heading(file: &ScenarioFile, experiment: Option<&Experiment>) -> String {
    let ScenarioFile { name, .. } = file;
    let scenario = file.head();
    let about = match (file.runs.len(), experiment) {
        (1, Some(experiment)) => about(experiment),
        (1, None) => scenario.algorithm.clone(),
        (runs, _) => format!("{runs} {}", phrase("runs")),
    };
    let about = format!("{name}: {about}; {}", sentence(&scenario.source));
    format!("{}\n{}\n", strong(Lang::spoken().of(&scenario.title)), dim(about))
}

/// The same, without what gives away how it ends.
pub fn heading_unrevealed(file: &ScenarioFile, experiment: Option<&Experiment>) -> String {
    let scenario = file.head();
    let about = match (file.runs.len(), experiment) {
        (1, Some(experiment)) => about(experiment),
        (1, None) => scenario.algorithm.clone(),
        (runs, _) => format!("{}, {runs} {}", scenario.algorithm, phrase("runs")),
    };
    let asked = scenario
        .question
        .as_ref()
        .map(|question| format!("\n{}\n", wrap(Lang::spoken().of(question), width()).join("\n")));
    let source = dim(format!("{}; {}", file.typed, sentence(&scenario.source)));
    format!("{}\n{source}\n{}", strong(about), asked.unwrap_or_default())
}

/// All scenarios by names and sizes alone.
pub fn unrevealed(all: &[ScenarioFile]) -> String {
    let mut text = String::new();
    for file in in_order(all) {
        let nodes = of(u64::from(file.head().nodes), phrase("node"));
        let runs = match file.runs.len() {
            1 => format!("1 {}", phrase("run")),
            runs => format!("{runs} {}", phrase("runs")),
        };
        let about = format!("{nodes}, {runs}; {}", sentence(&file.head().source));
        let _ = writeln!(text, "  {:30}  {}", file.number_among(all), dim(about));
    }
    let _ = writeln!(text, "\n{}", typed("conclave scenario run NAME --predict"));
    text
}

/// The algorithm and its size, in a few words.
pub fn about(experiment: &Experiment) -> String {
    let Experiment { setting, names, .. } = experiment;
    let mut nodes = of(u64::from(setting.n), phrase("node"));
    if names.coordinators > 0 {
        let coordinator = phrase("coordinator");
        let m = u64::from(names.coordinators);
        let plural = of(m, coordinator).replace("coordenadors", "coordenadores");
        nodes = format!("{nodes} + {plural}");
    }
    format!("{}, {nodes}", setting.entry.id)
}

/// The story.
pub fn text(file: &ScenarioFile) -> String {
    let lines = wrap(Lang::spoken().of(&file.head().text), width());
    format!("\n{}\n", lines.join("\n"))
}

/// The story, if these are the runs that it is about.
pub fn text_of(file: &ScenarioFile, runs: &[Ran]) -> String {
    if runs.iter().all(|ran| ran.judged) { text(file) } else { String::new() }
}

/// The command that gives the same run, unless flags cannot say it.
pub fn command(experiment: &Experiment, plan: &Plan) -> Option<String> {
    (!experiment.needs_file()).then(|| experiment.command(plan))
}

/// How to get these runs without the scenario.
pub fn set_up(file: &ScenarioFile, commands: &[Option<String>]) -> String {
    let label = phrase("set-up");
    if let Some(reason) = file.skipped() {
        return format!("\n{}", labelled(label, COLUMN, &reason));
    }
    let unsaid = phrase("flags cannot say it: the file has the text of another");
    if let [None] = commands {
        return format!("\n{}", labelled(label, COLUMN, unsaid));
    }
    let mut text = format!("\n{}\n", strong(label));
    for command in commands {
        let told = command.as_deref().map_or(dim(unsaid), |command| typed(folded(command)));
        let _ = writeln!(text, "  {told}");
    }
    text
}

/// A long command on several lines, as a shell takes it.
fn folded(command: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    for (index, part) in command.split(" --").enumerate() {
        let part = if index == 0 { part.to_string() } else { format!("--{part}") };
        match lines.last_mut() {
            Some(line) if line.chars().count() + part.chars().count() + 7 <= width() => {
                line.push(' ');
                line.push_str(&part);
            }
            Some(_) | None => lines.push(part),
        }
    }
    lines.join(" \\\n    ")
}

/// What must come of it, or how to learn that.
pub fn answer(file: &ScenarioFile, ran: Option<&[Ran]>, asked: bool) -> String {
    let Some(runs) = ran else {
        let hint = match asked {
            true => return String::new(), // It cannot be run, and the set-up said why.
            false => phrase("what comes of it:"),
        };
        let command = format!("conclave scenario show {} --answer", file.typed);
        return format!("\n{hint} {}\n", typed(command));
    };
    let of_run = |ran: &Ran| {
        let mut rows = vec![[String::new(), phrase("expected").to_string()]];
        rows.extend(ran.checks.iter().map(|check| {
            let label = words::label(&check.what).to_string();
            [label, words::shown(&check.expected)]
        }));
        let ends = ran.checks.iter().map(meaning);
        let table = aligned(&rows, std::iter::once(String::new()).chain(ends));
        format!("{}\n{table}", part(ran))
    };
    runs.iter().map(of_run).collect()
}

/// What was expected, beside what was seen.
pub fn checks(ran: &Ran) -> String {
    let checks = &ran.checks;
    let headings = ["", phrase("expected"), phrase("observed")];
    let mut rows = vec![headings.map(String::from)];
    rows.extend(checks.iter().map(|check| cells(check, &check.expected)));
    let ends = checks.iter().map(|check| {
        let word = match check.ok {
            _ if !ran.judged => dim("-"),
            true => good("ok"),
            false => bad(phrase("not ok")),
        };
        format!("{word}  {}", meaning(check))
    });
    format!("\n{}", aligned(&rows, std::iter::once(String::new()).chain(ends)))
}

/// What was guessed, beside what was seen.
pub fn guessed(checks: &[Check], guesses: &[String]) -> String {
    let headings = ["", phrase("your guess"), phrase("observed")];
    let mut rows = vec![headings.map(String::from)];
    let mut ends = vec![String::new()];
    let mut right = 0;
    for (check, guess) in checks.iter().zip(guesses) {
        let same = words::same(&check.what, guess, &check.observed);
        right += usize::from(same);
        rows.push(cells(check, if guess.is_empty() { "-" } else { guess }));
        ends.push(match same {
            true => good(phrase("right")),
            false if guess.is_empty() => String::new(),
            false => odd(phrase("not so")),
        });
    }
    let of = phrase("guessed right");
    let table = aligned(&rows, ends.into_iter());
    format!("\n{table}\n{right}/{} {of}\n", checks.len())
}

fn cells(check: &Check, beside: &str) -> [String; 3] {
    let label = words::label(&check.what);
    [label.to_string(), words::shown(beside), words::shown(&check.observed)]
}

fn meaning(check: &Check) -> String {
    let property = words::property(&check.what);
    property.map(|property| dim(words::meaning(property))).unwrap_or_default()
}

/// Every property in a word, on one line.
pub fn verdicts(outcome: &Outcome) -> String {
    let mut told = Vec::new();
    for &(property, verdict) in &outcome.verdicts {
        let named = format!("{property} {}", words::value(&verdict.to_string()));
        told.push(match verdict {
            Verdict::Holds => good(property),
            Verdict::Violated => bad(named),
            Verdict::Unknown => odd(named),
            Verdict::NotChecked => dim(named),
        });
    }
    let label = format!("{:COLUMN$}", phrase("properties"));
    format!("\n{}{}\n", strong(label), told.join("  "))
}

/// Whether it came out as expected, and how to see more.
pub fn result(file: &ScenarioFile, runs: &[Ran], told: bool) -> String {
    let changed = runs.iter().any(|ran| !ran.judged);
    let word = match runs.iter().all(Ran::ok) {
        _ if changed => odd(phrase("not judged: this is not the run that the file speaks of")),
        true => good(phrase("as expected")),
        false => bad(phrase("not as expected")),
    };
    let same = match changed {
        true => invocation::typed_again(),
        false => format!("conclave scenario run {}", file.typed),
    };
    let story = format!("{same} --view all");
    let hint = match told {
        true => String::new(),
        false => format!("; {} {}", phrase("told in full:"), typed(story)),
    };
    format!("\n{word}{hint}\n")
}

/// All scenarios with their results, then what is not as it should be.
pub fn table(rows: &[Row]) -> String {
    let headings = [phrase("scenario"), phrase("algorithm"), phrase("checks ok")];
    let mut cells = vec![headings.map(String::from)];
    let mut ends = vec![strong(phrase("result"))];
    let mut notes = String::new();
    for row in rows {
        let (checks, end) = match (&row.ran, row.ok()) {
            (Ok(runs), Some(true)) => (count(runs), good(phrase("as expected"))),
            (Ok(runs), _) => (count(runs), bad(phrase("not as expected"))),
            (Err(_), _) => ("-".to_string(), odd(phrase("skipped"))),
        };
        let ScenarioFile { name, .. } = &row.file;
        let others = row.file.runs.len() - 1;
        let others = if others == 0 { String::new() } else { format!(" +{others}") };
        let algorithm = format!("{}{others}", row.file.head().algorithm);
        cells.push([name.clone(), algorithm, checks]);
        ends.push(end);
        notes += &match &row.ran {
            Ok(runs) => runs.iter().map(|ran| wrong(name, ran)).collect(),
            Err(reason) => {
                let told = format!("{name}: {} {reason}", phrase("skipped:"));
                wrap(&told, width()).join("\n  ") + "\n"
            }
        };
    }
    if !notes.is_empty() {
        notes.insert(0, '\n');
    }
    format!("{}{notes}\n{}\n", aligned(&cells, ends.into_iter()), total(rows))
}

fn count(runs: &[Ran]) -> String {
    let right: usize = runs.iter().map(Ran::right).sum();
    let all: usize = runs.iter().map(|ran| ran.checks.len()).sum();
    format!("{right}/{all}")
}

/// What is not as it should be, a line each.
fn wrong(name: &str, ran: &Ran) -> String {
    let part =
        ran.part.as_ref().map(|part| format!(" ({})", Lang::spoken().of(part))).unwrap_or_default();
    let wrong = ran.checks.iter().filter(|check| !check.ok).map(|check| {
        let [what, expected, observed] = cells(check, &check.expected);
        let was = phrase("expected");
        let seen = phrase("observed");
        let told = format!("{name}{part}: {what}: {was} {expected}, {seen} {observed}");
        wrap(&told, width()).join("\n  ") + "\n"
    });
    wrong.collect()
}

fn total(rows: &[Row]) -> String {
    let good = rows.iter().filter(|row| row.ok() == Some(true)).count();
    let skipped = rows.iter().filter(|row| row.ran.is_err()).count();
    let told = tr(&format!("{good} of {} as expected", rows.len())).into_owned();
    match skipped {
        0 => told,
        skipped => format!("{told}, {}", tr(&format!("{skipped} skipped"))),
    }
}

/// Rows with their columns under each other, the first emphasised, each with an end of its own.
/// Only the ends may have colours.
fn aligned<const N: usize>(rows: &[[String; N]], ends: impl Iterator<Item = String>) -> String {
    let mut widths = [0; N];
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let mut text = String::new();
    for (index, (row, end)) in rows.iter().zip(ends).enumerate() {
        let padded = |(cell, width): (&String, &usize)| format!("{cell:width$}  ");
        let cells: String = row.iter().zip(&widths).map(padded).collect();
        let cells = match (end.is_empty(), index) {
            (true, 0) => strong(cells.trim_end()),
            (false, 0) => strong(cells),
            (true, _) => cells.trim_end().to_string(),
            (false, _) => cells,
        };
        let _ = writeln!(text, "{}", format!("{cells}{end}").trim_end());
    }
    text
}
