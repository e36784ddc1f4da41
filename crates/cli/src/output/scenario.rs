//! Scenarios on the screen: their story, what was expected of them, and what came of it.

pub mod json;
pub mod words;

use super::numbers::of;
use super::{bad, beside, dim, good, labelled, odd, strong, typed, width, wrap};
use crate::lang::Lang;
use crate::situation::{Ran, Situation};
use crate::subject::Subject;
use conclave_algorithms::catalog;
use conclave_core::Verdict;
use conclave_sim::{Check, Outcome, Plan};
use std::fmt::Write;

/// How far the text stands from the margin.
const COLUMN: usize = 12;

/// A scenario among all, and what came of it, or why it was skipped.
pub struct Row {
    /// The scenario.
    pub situation: Situation,
    /// What came of it.
    pub ran: Result<Ran, String>,
}

/// All scenarios, by algorithm.
pub fn list(all: &[Situation], lang: Lang) -> String {
    let column = 4 + all.iter().map(|situation| situation.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    let mut before = "";
    for Situation { name, scenario, .. } in by_algorithm(all) {
        if before != scenario.algorithm {
            let gap = if before.is_empty() { "" } else { "\n" };
            let _ = writeln!(text, "{gap}{}", strong(&scenario.algorithm));
            before = &scenario.algorithm;
        }
        let lead = format!("  {name:padding$}", padding = column - 2);
        text += &beside(&lead, column, lang.of(&scenario.title));
    }
    let hint = typed("conclave scenario show NAME");
    let _ = writeln!(text, "\n{}, {}", hint, typed("conclave scenario run NAME"));
    text
}

/// In the order of the catalogue.
fn by_algorithm(all: &[Situation]) -> Vec<&Situation> {
    let place = |situation: &&Situation| {
        let id = &situation.scenario.algorithm;
        let known = catalog::ENTRIES.iter().position(|entry| entry.id == id);
        (known.unwrap_or(catalog::ENTRIES.len()), id.clone())
    };
    let mut sorted: Vec<&Situation> = all.iter().collect();
    sorted.sort_by_key(place);
    sorted
}

/// What it is called, where it is from, and what it is about.
pub fn heading(situation: &Situation, subject: Option<&Subject>, lang: Lang) -> String {
    let Situation { name, scenario, .. } = situation;
    let clients = u64::from(scenario.nodes);
    let mut nodes = of(clients, lang.pick("node", "nó"));
    if let Some(m) = subject.map(|subject| subject.names.coordinators).filter(|m| *m > 0) {
        let coordinator = lang.pick("coordinator", "coordenador");
        let plural = of(u64::from(m), coordinator).replace("coordenadors", "coordenadores");
        nodes = format!("{nodes} + {plural}");
    }
    let about = format!("{name}: {}, {nodes}; {}", scenario.algorithm, scenario.source);
    format!("{}\n{}\n", strong(lang.of(&scenario.title)), dim(about))
}

/// The story.
pub fn text(situation: &Situation, lang: Lang) -> String {
    let lines = wrap(lang.of(&situation.scenario.text), width());
    format!("\n{}\n", lines.join("\n"))
}

/// The command that gives the same run, unless flags cannot say it.
pub fn command(subject: &Subject, plan: &Plan) -> Option<String> {
    (!subject.needs_file()).then(|| subject.command(plan))
}

/// How to get this run without the scenario.
pub fn set_up(situation: &Situation, command: Option<&str>, lang: Lang) -> String {
    let Some(command) = command else {
        let told = match situation.skipped() {
            Some(reason) => reason,
            None => {
                let told = lang.pick(
                    "flags cannot say it: the file has the text of another",
                    "não cabe em opções: o arquivo traz o texto de outro",
                );
                told.to_string()
            }
        };
        return format!("\n{}", labelled(lang.pick("set-up", "montagem"), COLUMN, &told));
    };
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
    let label = strong(lang.pick("set-up", "montagem"));
    format!("\n{label}\n  {}\n", typed(lines.join(" \\\n    ")))
}

/// What must come of it, or how to learn that.
pub fn answer(situation: &Situation, checks: Option<&[Check]>, asked: bool, lang: Lang) -> String {
    let Some(checks) = checks else {
        let hint = match asked {
            true => return String::new(), // It cannot be run, and the set-up said why.
            false => lang.pick("what comes of it:", "o que acontece:"),
        };
        let command = format!("conclave scenario show {} --answer", situation.typed);
        return format!("\n{hint} {}\n", typed(command));
    };
    let mut rows = vec![[String::new(), lang.pick("expected", "esperado").to_string()]];
    rows.extend(checks.iter().map(|check| {
        [words::label(&check.what, lang).to_string(), words::value(&check.expected, lang).into()]
    }));
    let ends = checks.iter().map(|check| meaning(check, lang));
    format!("\n{}", aligned(&rows, std::iter::once(String::new()).chain(ends)))
}

/// What was expected, beside what was seen.
pub fn checks(checks: &[Check], lang: Lang) -> String {
    let headings = ["", lang.pick("expected", "esperado"), lang.pick("observed", "observado")];
    let mut rows = vec![headings.map(String::from)];
    rows.extend(checks.iter().map(|check| cells(check, &check.expected, lang)));
    let ends = checks.iter().map(|check| {
        let word = if check.ok { good("ok") } else { bad(lang.pick("not ok", "não ok")) };
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
pub fn result(situation: &Situation, ran: &Ran, told: bool, lang: Lang) -> String {
    let word = match ran.ok() {
        true => good(lang.pick("as expected", "como esperado")),
        false => bad(lang.pick("not as expected", "não como esperado")),
    };
    let story = format!("conclave scenario run {} --view all", situation.typed);
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
    for Row { situation, ran } in rows {
        let Situation { name, scenario, .. } = situation;
        let (checks, end) = match ran {
            Ok(ran) if ran.ok() => (count(ran), good(lang.pick("as expected", "como esperado"))),
            Ok(ran) => (count(ran), bad(lang.pick("not as expected", "não como esperado"))),
            Err(_) => ("-".to_string(), odd(lang.pick("skipped", "pulado"))),
        };
        cells.push([name.clone(), scenario.algorithm.clone(), checks]);
        ends.push(end);
        notes += &note(name, ran, lang);
    }
    if !notes.is_empty() {
        notes.insert(0, '\n');
    }
    format!("{}{notes}\n{}\n", aligned(&cells, ends.into_iter()), total(rows, lang))
}

fn count(ran: &Ran) -> String {
    format!("{}/{}", ran.right(), ran.checks.len())
}

fn note(name: &str, ran: &Result<Ran, String>, lang: Lang) -> String {
    let ran = match ran {
        Ok(ran) => ran,
        Err(reason) => {
            let told = format!("{name}: {} {reason}", lang.pick("skipped:", "pulado:"));
            return wrap(&told, width()).join("\n  ") + "\n";
        }
    };
    let wrong = ran.checks.iter().filter(|check| !check.ok).map(|check| {
        let [what, expected, observed] = cells(check, &check.expected, lang);
        let (was, seen) = (lang.pick("expected", "esperado"), lang.pick("observed", "observado"));
        let told = format!("{name}: {what}: {was} {expected}, {seen} {observed}");
        wrap(&told, width()).join("\n  ") + "\n"
    });
    wrong.collect()
}

fn total(rows: &[Row], lang: Lang) -> String {
    let good = rows.iter().filter(|row| row.ran.as_ref().is_ok_and(Ran::ok)).count();
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
