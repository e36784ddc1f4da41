//! Scenarios on the screen: their story, what was expected of them, and what came of it.

pub mod json;
pub mod words;

use super::numbers::of;
use super::{bad, beside, dim, good, labelled, odd, strong, typed, width, wrap};
use crate::lang::Lang;
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
pub fn list(all: &[ScenarioFile], lang: Lang) -> String {
    let column = 4 + all.iter().map(|file| file.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    let mut before = "";
    for file in in_order(all) {
        let scenario = file.head();
        let title = match scenario.front {
            Some(_) => lang.pick("to begin with", "para começar"),
            None => &scenario.algorithm,
        };
        if before != title {
            let gap = if before.is_empty() { "" } else { "\n" };
            let _ = writeln!(text, "{gap}{}", strong(title));
            before = title;
        }
        let lead = format!("  {:padding$}", file.name, padding = column - 2);
        text += &beside(&lead, column, lang.of(&scenario.title));
    }
    let hint = |act: &str| typed(format!("conclave scenario {act} NAME{}", lang.flag()));
    let _ = writeln!(text, "\n{}, {}", hint("show"), hint("run"));
    text
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
pub fn part(ran: &Ran, lang: Lang) -> String {
    match &ran.part {
        Some(part) => {
            format!("\n{}  {}\n", strong(lang.of(part)), dim(about(&ran.experiment, lang)))
        }
        None => String::new(),
    }
}

/// What it is called, where it is from, and what it is about.
pub fn heading(file: &ScenarioFile, experiment: Option<&Experiment>, lang: Lang) -> String {
    let ScenarioFile { name, .. } = file;
    let scenario = file.head();
    let about = match (file.runs.len(), experiment) {
        (1, Some(experiment)) => about(experiment, lang),
        (1, None) => scenario.algorithm.clone(),
        (runs, _) => format!("{runs} {}", lang.pick("runs", "execuções")),
    };
    let about = format!("{name}: {about}; {}", scenario.source);
    format!("{}\n{}\n", strong(lang.of(&scenario.title)), dim(about))
}

/// The same, without what gives away how it ends.
pub fn heading_unrevealed(
    file: &ScenarioFile,
    experiment: Option<&Experiment>,
    lang: Lang,
) -> String {
    let scenario = file.head();
    let about = match (file.runs.len(), experiment) {
        (1, Some(experiment)) => about(experiment, lang),
        (1, None) => scenario.algorithm.clone(),
        (runs, _) => format!("{}, {runs} {}", scenario.algorithm, lang.pick("runs", "execuções")),
    };
    let asked = scenario
        .question
        .as_ref()
        .map(|question| format!("\n{}\n", wrap(lang.of(question), width()).join("\n")));
    let source = dim(format!("{}; {}", file.typed, scenario.source));
    format!("{}\n{source}\n{}", strong(about), asked.unwrap_or_default())
}

/// All scenarios by names and sizes alone.
pub fn unrevealed(all: &[ScenarioFile], lang: Lang) -> String {
    let mut text = String::new();
    for file in in_order(all) {
        let runs = file.runs.len() as u64;
        let nodes = of(u64::from(file.head().nodes), lang.pick("node", "nó"));
        let runs = match lang {
            Lang::En => of(runs, "run"),
            Lang::Pt if runs == 1 => "1 execução".to_string(),
            Lang::Pt => format!("{runs} execuções"),
        };
        let about = format!("{nodes}, {runs}; {}", file.head().source);
        let _ = writeln!(text, "  {:30}  {}", file.number_among(all), dim(about));
    }
    let hint = typed(format!("conclave scenario run NAME --predict{}", lang.flag()));
    let _ = writeln!(text, "\n{hint}");
    text
}

/// The algorithm and its size, in a few words.
pub fn about(experiment: &Experiment, lang: Lang) -> String {
    let Experiment { setting, names, .. } = experiment;
    let mut nodes = of(u64::from(setting.n), lang.pick("node", "nó"));
    if names.coordinators > 0 {
        let coordinator = lang.pick("coordinator", "coordenador");
        let m = u64::from(names.coordinators);
        let plural = of(m, coordinator).replace("coordenadors", "coordenadores");
        nodes = format!("{nodes} + {plural}");
    }
    format!("{}, {nodes}", setting.entry.id)
}

/// The story.
pub fn text(file: &ScenarioFile, lang: Lang) -> String {
    let lines = wrap(lang.of(&file.head().text), width());
    format!("\n{}\n", lines.join("\n"))
}

/// The command that gives the same run, unless flags cannot say it.
pub fn command(experiment: &Experiment, plan: &Plan) -> Option<String> {
    (!experiment.needs_file()).then(|| experiment.command(plan))
}

/// How to get these runs without the scenario.
pub fn set_up(file: &ScenarioFile, commands: &[Option<String>], lang: Lang) -> String {
    let label = lang.pick("set-up", "montagem");
    if let Some(reason) = file.skipped() {
        return format!("\n{}", labelled(label, COLUMN, &reason));
    }
    let unsaid = lang.pick(
        "flags cannot say it: the file has the text of another",
        "não cabe em opções: o arquivo traz o texto de outro",
    );
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
pub fn answer(file: &ScenarioFile, ran: Option<&[Ran]>, asked: bool, lang: Lang) -> String {
    let Some(runs) = ran else {
        let hint = match asked {
            true => return String::new(), // It cannot be run, and the set-up said why.
            false => lang.pick("what comes of it:", "o que acontece:"),
        };
        let command = format!("conclave scenario show {} --answer{}", file.typed, lang.flag());
        return format!("\n{hint} {}\n", typed(command));
    };
    let of_run = |ran: &Ran| {
        let mut rows = vec![[String::new(), lang.pick("expected", "esperado").to_string()]];
        rows.extend(ran.checks.iter().map(|check| {
            let label = words::label(&check.what, lang).to_string();
            [label, words::value(&check.expected, lang).into()]
        }));
        let ends = ran.checks.iter().map(|check| meaning(check, lang));
        let table = aligned(&rows, std::iter::once(String::new()).chain(ends));
        format!("{}\n{table}", part(ran, lang))
    };
    runs.iter().map(of_run).collect()
}

/// What was expected, beside what was seen.
pub fn checks(ran: &Ran, lang: Lang) -> String {
    let checks = &ran.checks;
    let headings = ["", lang.pick("expected", "esperado"), lang.pick("observed", "observado")];
    let mut rows = vec![headings.map(String::from)];
    rows.extend(checks.iter().map(|check| cells(check, &check.expected, lang)));
    let ends = checks.iter().map(|check| {
        let word = match check.ok {
            _ if !ran.judged => dim("-"),
            true => good("ok"),
            false => bad(lang.pick("not ok", "não ok")),
        };
        format!("{word}  {}", meaning(check, lang))
    });
    format!("\n{}", aligned(&rows, std::iter::once(String::new()).chain(ends)))
}

/// What was guessed, beside what was seen.
pub fn guessed(checks: &[Check], guesses: &[String], lang: Lang) -> String {
    let headings = ["", lang.pick("your guess", "palpite"), lang.pick("observed", "observado")];
    let mut rows = vec![headings.map(String::from)];
    let mut ends = vec![String::new()];
    let mut right = 0;
    for (check, guess) in checks.iter().zip(guesses) {
        let same = words::same(&check.what, guess, &check.observed);
        right += usize::from(same);
        rows.push(cells(check, if guess.is_empty() { "-" } else { guess }, lang));
        ends.push(match same {
            true => good(lang.pick("right", "certo")),
            false if guess.is_empty() => String::new(),
            false => odd(lang.pick("not so", "não")),
        });
    }
    let of = lang.pick("guessed right", "palpites certos");
    let table = aligned(&rows, ends.into_iter());
    format!("\n{table}\n{right}/{} {of}\n", checks.len())
}

fn cells(check: &Check, beside: &str, lang: Lang) -> [String; 3] {
    let label = words::label(&check.what, lang);
    [label, words::value(beside, lang), words::value(&check.observed, lang)].map(String::from)
}

fn meaning(check: &Check, lang: Lang) -> String {
    let property = words::property(&check.what);
    property.map(|property| dim(words::meaning(property, lang))).unwrap_or_default()
}

/// Every property in a word, on one line.
pub fn verdicts(outcome: &Outcome, lang: Lang) -> String {
    let mut told = Vec::new();
    for &(property, verdict) in &outcome.verdicts {
        let named = format!("{property} {}", words::value(&verdict.to_string(), lang));
        told.push(match verdict {
            Verdict::Holds => good(property),
            Verdict::Violated => bad(named),
            Verdict::Unknown => odd(named),
            Verdict::NotChecked => dim(named),
        });
    }
    let label = format!("{:COLUMN$}", lang.pick("properties", "promessas"));
    format!("\n{}{}\n", strong(label), told.join("  "))
}

/// Whether it came out as expected, and how to see more.
pub fn result(file: &ScenarioFile, runs: &[Ran], told: bool, lang: Lang) -> String {
    let word = match runs.iter().all(Ran::ok) {
        _ if runs.iter().any(|ran| !ran.judged) => odd(lang.pick(
            "not judged: this is not the run that the file speaks of",
            "sem julgamento: não é a execução de que o arquivo fala",
        )),
        true => good(lang.pick("as expected", "como esperado")),
        false => bad(lang.pick("not as expected", "não como esperado")),
    };
    let story = format!("conclave scenario run {} --view all{}", file.typed, lang.flag());
    let hint = match told {
        true => String::new(),
        false => format!("; {} {}", lang.pick("told in full:", "por extenso:"), typed(story)),
    };
    format!("\n{word}{hint}\n")
}

/// All scenarios with their results, then what is not as it should be.
pub fn table(rows: &[Row], lang: Lang) -> String {
    let headings = [
        lang.pick("scenario", "cenário"),
        lang.pick("algorithm", "algoritmo"),
        lang.pick("checks ok", "checagens"),
    ];
    let mut cells = vec![headings.map(String::from)];
    let mut ends = vec![strong(lang.pick("result", "resultado"))];
    let mut notes = String::new();
    for row in rows {
        let (checks, end) = match (&row.ran, row.ok()) {
            (Ok(runs), Some(true)) => {
                (count(runs), good(lang.pick("as expected", "como esperado")))
            }
            (Ok(runs), _) => (count(runs), bad(lang.pick("not as expected", "não como esperado"))),
            (Err(_), _) => ("-".to_string(), odd(lang.pick("skipped", "pulado"))),
        };
        let ScenarioFile { name, .. } = &row.file;
        let others = row.file.runs.len() - 1;
        let others = if others == 0 { String::new() } else { format!(" +{others}") };
        let algorithm = format!("{}{others}", row.file.head().algorithm);
        cells.push([name.clone(), algorithm, checks]);
        ends.push(end);
        notes += &match &row.ran {
            Ok(runs) => runs.iter().map(|ran| wrong(name, ran, lang)).collect(),
            Err(reason) => {
                let told = format!("{name}: {} {reason}", lang.pick("skipped:", "pulado:"));
                wrap(&told, width()).join("\n  ") + "\n"
            }
        };
    }
    if !notes.is_empty() {
        notes.insert(0, '\n');
    }
    format!("{}{notes}\n{}\n", aligned(&cells, ends.into_iter()), total(rows, lang))
}

fn count(runs: &[Ran]) -> String {
    let right: usize = runs.iter().map(Ran::right).sum();
    let all: usize = runs.iter().map(|ran| ran.checks.len()).sum();
    format!("{right}/{all}")
}

/// What is not as it should be, a line each.
fn wrong(name: &str, ran: &Ran, lang: Lang) -> String {
    let part = ran.part.as_ref().map(|part| format!(" ({})", lang.of(part))).unwrap_or_default();
    let wrong = ran.checks.iter().filter(|check| !check.ok).map(|check| {
        let [what, expected, observed] = cells(check, &check.expected, lang);
        let was = lang.pick("expected", "esperado");
        let seen = lang.pick("observed", "observado");
        let told = format!("{name}{part}: {what}: {was} {expected}, {seen} {observed}");
        wrap(&told, width()).join("\n  ") + "\n"
    });
    wrong.collect()
}

fn total(rows: &[Row], lang: Lang) -> String {
    let good = rows.iter().filter(|row| row.ok() == Some(true)).count();
    let skipped = rows.iter().filter(|row| row.ran.is_err()).count();
    let mut told = match lang {
        Lang::En => format!("{good} of {} as expected", rows.len()),
        Lang::Pt => format!("{good} de {} como esperado", rows.len()),
    };
    if skipped > 0 {
        let _ = write!(told, ", {skipped} {}", lang.pick("skipped", "pulados"));
    }
    told
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
