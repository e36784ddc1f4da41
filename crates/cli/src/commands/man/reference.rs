//! The reference in Markdown: every command and flag in the words of `--help`, and the algorithms
//! and properties in those of the catalogue.

use super::{after_help, name, visible};
use clap::{Arg, Command};
use conclave_algorithms::catalog::{self, Family};
use conclave_core::Property;
use std::fmt::Write;

const HEAD: &str = "\
# Reference

Every command and flag, in the words of `--help`; [algorithms](#algorithms) and
[properties](#properties) follow. This file is what `conclave man --markdown` prints. After a
change, `REWRITE=1 cargo test -p conclave --test lab_commands manual` writes it anew.

Every command also takes `-h`, `--help`; `-V`, `--version`; and `--lang en` or `--lang pt`, the
language of what people read, which otherwise is that of `LC_ALL`, `LC_MESSAGES` or `LANG`. What
prints a result prints it as JSON with `--json`, in English but for the stories of scenarios.

| exit code | meaning |
|---|---|
| 0 | done |
| 1 | it failed; also a scenario that does not come out as expected |
| 2 | wrong use: nothing was done |
| 3 | a property was violated |
| 4 | not complete: bounds were reached, and nothing was found |

`lock` and `elect` end with the code of the command that they run, with 75 if the lock or leadership
could not be had in time, and with 76 if it was lost: see [running.md](running.md).

";

const FENCE: &str = "
A *fence*, or fencing token, is a number that comes with each entry and is larger than at every
entry before. Hand it to the resource that the lock protects, and let the resource refuse smaller
ones: no lock on a network can promise more to a process that may be paused.
";

/// The whole program as one document.
pub fn markdown(program: &Command) -> String {
    let mut text = HEAD.to_string();
    for command in visible(program) {
        let name = name(command);
        let _ = writeln!(text, "- [`{name}`](#{}): {}", anchor(name), about(command));
    }
    for command in visible(program) {
        section(&mut text, command, 2);
    }
    algorithms(&mut text);
    properties(&mut text);
    text
}

/// What can be simulated, checked and, if it is a mutex, served.
fn algorithms(text: &mut String) {
    let _ = writeln!(text, "\n## Algorithms\n");
    let _ = writeln!(text, "`conclave algorithms ID` tells the rest: paper, assumptions, costs.");
    for family in Family::ALL {
        let name = family.name();
        let question = family.question();
        let _ = writeln!(text, "\n| {name} | {question} |\n|---|---|");
        for entry in catalog::ENTRIES.iter().filter(|entry| entry.family == family) {
            let _ = writeln!(text, "| `{}` | {} |", entry.id, escaped(entry.summary));
        }
    }
}

/// What a run is judged by.
fn properties(text: &mut String) {
    let _ = writeln!(text, "\n## Properties\n\n| property | meaning |\n|---|---|");
    let families: [&[Property]; 4] =
        [&Property::MUTEX, &Property::ELECTION, &Property::DETECTOR, &Property::CLOCK];
    for property in families.concat() {
        let _ = writeln!(text, "| `{property}` | {} |", property.meaning());
    }
    *text += FENCE;
}

fn section(text: &mut String, command: &Command, depth: usize) {
    let _ = writeln!(text, "\n{} {}\n", "#".repeat(depth), name(command));
    let long = command.get_long_about().or_else(|| command.get_about());
    let long = long.map(ToString::to_string).unwrap_or_default();
    let _ = writeln!(text, "{}\n", escaped(long.trim_end()));
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim().trim_start_matches("Usage: ");
    let _ = writeln!(text, "```text\n{usage}\n```");
    table(text, command);
    let (notes, examples) = after_help(command);
    if !notes.is_empty() {
        let _ = writeln!(text, "\n{}", escaped(&notes.join("\n")));
    }
    if !examples.is_empty() {
        let _ = writeln!(text, "\n```sh\n{}\n```", examples.join("\n"));
    }
    for below in visible(command) {
        section(text, below, depth + 1);
    }
}

/// What every command takes is told once, at the beginning.
const OF_ALL: [&str; 3] = ["help", "version", "lang"];

/// The arguments and flags under the headings of `--help`, or under none.
fn table(text: &mut String, command: &Command) {
    let own =
        |argument: &&Arg| !argument.is_hide_set() && !OF_ALL.contains(&argument.get_id().as_str());
    let all: Vec<&Arg> = command.get_arguments().filter(own).collect();
    let mut headings = Vec::new();
    for heading in all.iter().map(|argument| argument.get_help_heading()) {
        if !headings.contains(&heading) {
            headings.push(heading);
        }
    }
    for heading in headings {
        let title = heading.unwrap_or("argument").to_lowercase();
        let _ = writeln!(text, "\n| {title} | what |\n|---|---|");
        for argument in all.iter().filter(|argument| argument.get_help_heading() == heading) {
            let _ = writeln!(text, "| {} | {} |", typed(argument), told(argument));
        }
    }
}

/// How an argument is typed.
fn typed(argument: &Arg) -> String {
    let values = match argument.get_value_names() {
        Some(names) if argument.get_action().takes_values() => names.join(" "),
        Some(_) | None => String::new(),
    };
    let short = argument.get_short().map(|short| format!("-{short}"));
    let long = argument.get_long().map(|long| format!("--{long}"));
    let mut ways: Vec<String> = [short, long].into_iter().flatten().collect();
    let value = values.replace('|', "\\|");
    match ways.last_mut() {
        None => return format!("`{value}`"),
        Some(last) if !value.is_empty() => *last = format!("{last} {value}"),
        Some(_) => {}
    }
    let ways: Vec<String> = ways.iter().map(|way| format!("`{way}`")).collect();
    ways.join(", ")
}

/// What an argument is for, and what it is when not given.
fn told(argument: &Arg) -> String {
    let help = argument.get_long_help().or_else(|| argument.get_help());
    let help = help.map(ToString::to_string).unwrap_or_default();
    let mut told = escaped(&help.replace('\n', " "));
    let defaults = argument.get_default_values();
    if !defaults.is_empty() && argument.get_action().takes_values() {
        let defaults: Vec<_> = defaults.iter().map(|value| value.to_string_lossy()).collect();
        let _ = write!(told, " (default `{}`)", defaults.join(" "));
    }
    told
}

/// Words that Markdown would take for marks of its own.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '<' | '*' | '_' | '|' | '\\') {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

fn about(command: &Command) -> String {
    escaped(&command.get_about().map(ToString::to_string).unwrap_or_default())
}

/// Where a heading of this name is found within the document.
fn anchor(name: &str) -> String {
    name.replace(' ', "-")
}
