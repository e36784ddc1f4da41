//! The catalogue in words.

use super::{beside, dim, good, labelled, odd, strong, typed, width, wrap};
use crate::texts::tr;
use conclave_algorithms::catalog::{self, Entry, Family, Parameter};
use conclave_core::Property;
use std::fmt::Write;

/// How far texts stand from the margin.
const COLUMN: usize = 14;

const LEGEND: &str = "Messages per entry and exit: light when one enters alone, heavy when all \
    ask at once; per election: one when one node begins, all when all do. One in full:";

/// All algorithms: what each costs and promises.
pub fn list() -> String {
    let mut text = String::new();
    for family in Family::ALL {
        let mut entries = of_family(family).peekable();
        if entries.peek().is_some() {
            let _ = writeln!(text, "{}\n", typed(tr(family.question())));
        }
        for entry in entries {
            text += &in_short(entry);
        }
    }
    let families =
        [&Property::MUTEX[..], &Property::ELECTION, &Property::DETECTOR, &Property::CLOCK];
    for &property in families.into_iter().flatten() {
        let _ = writeln!(text, "{}{}", strong(format!("{property:9}")), tr(property.meaning()));
    }
    text.push('\n');
    let legend = format!("{} {}", tr(LEGEND), typed("conclave algorithms ID"));
    text + &beside("", 0, &legend)
}

fn of_family(family: Family) -> impl Iterator<Item = &'static Entry> {
    catalog::ENTRIES.iter().copied().filter(move |entry| entry.family == family)
}

fn in_short(entry: &'static Entry) -> String {
    let mut text = format!("{}  {}\n", strong(entry.id), tr(entry.title));
    let mut line = |what: &str, told: &str| {
        text += &beside(&dim(format!("  {what:7}")), 9, told);
    };
    for (what, formula) in entry.cost.formulas().take(2) {
        line(what, formula.text);
    }
    let tags: Vec<&str> = has(entry).iter().map(|property| property.tag()).collect();
    line("has", &tags.join(" "));
    text + "\n"
}

/// One algorithm: all that the catalogue says of it.
pub fn in_full(entry: &'static Entry) -> String {
    let mut text = format!("{}  {}\n", strong(entry.title), dim(entry.id));
    for line in wrap(entry.summary, width()) {
        let _ = writeln!(text, "{line}");
    }
    text.push('\n');
    text += &labelled("paper", COLUMN, entry.paper);
    if !entry.seeds.is_empty() {
        text += &labelled("notes", COLUMN, &entry.seeds.join(", "));
    }
    text.push('\n');
    for (index, assumption) in entry.assumptions.iter().enumerate() {
        let label = strong(format!("{:COLUMN$}", if index == 0 { "assumes" } else { "" }));
        text += &beside(&format!("{label}{:8}", assumption.tag), COLUMN + 8, assumption.text);
    }
    text.push('\n');
    text += &promises(entry);
    let costs = costs(entry);
    if !costs.is_empty() {
        text.push('\n');
        text += &costs;
    }
    if !entry.parameters.is_empty() {
        text.push('\n');
        text += &parameters(entry.parameters);
    }
    text.push('\n');
    let rejoin =
        format!("{} (a node that comes back without its disk)", entry.rejoin_without_disk.name());
    text += &labelled("rejoin", COLUMN, &rejoin);
    let _ = writeln!(text, "{}{}", strong(format!("{:COLUMN$}", "try")), typed(example(entry)));
    text
}

/// The column that the tags of these properties need, with a space behind the longest, too.
pub fn tags_width(properties: impl IntoIterator<Item = Property>) -> usize {
    properties.into_iter().map(|property| property.tag().len() + 1).max().unwrap_or(0).max(8)
}

fn promises(entry: &'static Entry) -> String {
    let mut text = String::new();
    let lacks = entry.lacks.iter().map(|(property, _)| *property);
    let width = tags_width(has(entry).into_iter().chain(lacks));
    for (index, property) in has(entry).into_iter().enumerate() {
        let label = strong(format!("{:COLUMN$}", if index == 0 { "has" } else { "" }));
        let lead = format!("{label}{}", good(format!("{property:width$}")));
        text += &beside(&lead, COLUMN + width, property.meaning());
    }
    for (index, (property, reason)) in entry.lacks.iter().enumerate() {
        let label = strong(format!("{:COLUMN$}", if index == 0 { "lacks" } else { "" }));
        let lead = format!("{label}{}", odd(format!("{property:width$}")));
        text += &beside(&lead, COLUMN + width, reason);
    }
    text
}

fn costs(entry: &'static Entry) -> String {
    let words = |name: &str| match name {
        "light" => ("messages", "light load"),
        "heavy" => ("", "heavy load"),
        "client_delay" => ("delay", "before entry"),
        "client_delay_serial" => ("", "  serially"),
        "sync_delay" => ("", "exit to entry"),
        "one" => ("messages", "one begins"),
        "all" => ("", "all begin"),
        "all_mean" => ("", "  on average"),
        _ => ("time", "one begins"),
    };
    let mut text = String::new();
    for (name, formula) in entry.cost.formulas() {
        let (label, what) = words(name);
        let what = format!("{what:15}");
        let lead = format!("{}{}", strong(format!("{label:COLUMN$}")), tr(&what));
        text += &beside(&lead, COLUMN + 15, formula.text);
    }
    match entry.cost.textbooks() {
        "" => text,
        textbooks => text + &labelled("textbooks", COLUMN, textbooks),
    }
}

fn parameters(parameters: &[Parameter]) -> String {
    let mut text = String::new();
    for (index, parameter) in parameters.iter().enumerate() {
        let label = strong(format!("{:COLUMN$}", if index == 0 { "--set" } else { "" }));
        let takes = format!("{}={}", parameter.name, accepted(parameter));
        let _ = writeln!(text, "{label}{}", typed(takes));
        let column = COLUMN + 2;
        text += &beside(&format!("{:column$}", ""), column, parameter.about);
    }
    text
}

/// What a parameter takes, the default first, whether or not it is one of the words.
fn accepted(parameter: &Parameter) -> String {
    let accepted = parameter.accepted();
    match accepted.split('|').next() {
        Some(first) if first == parameter.default => accepted,
        Some(_) | None => format!("{}|{accepted}", parameter.default),
    }
}

/// A command that shows it at work.
pub fn example(entry: &Entry) -> String {
    let rest = match entry.family {
        Family::Mutex | Family::Election | Family::Clock => "",
        Family::Detector => " --latency exp:2 --crash 3@100",
    };
    format!("conclave sim {} --nodes {}{rest}", entry.id, entry.nodes_usual())
}

/// What it promises when nothing is set.
pub fn has(entry: &'static Entry) -> Vec<Property> {
    let setting = entry.setting(7, &[]).expect("defaults are valid");
    let mut has = (entry.has)(&setting.params);
    has.sort_unstable();
    has
}
