//! The catalogue in words.

use super::table::Table;
use super::{dim, labelled, odd, strong, typed, width, wrap};
use conclave_algorithms::catalog::{self, Entry, Parameter, Setting};
use conclave_core::Property;
use std::fmt::Write;

/// How far texts stand from the margin.
const COLUMN: usize = 14;

/// All algorithms, one row each.
pub fn list() -> String {
    let headings = ["algorithm", "messages, light load", "messages, heavy load", "promises"];
    let mut table = Table::new(width(), &headings);
    for entry in catalog::ENTRIES {
        let has = tags(&has(entry));
        table.row([entry.id, entry.cost.light.text, entry.cost.heavy.text, &has]);
    }
    let mut text = table.render();
    text.push('\n');
    text += &legend();
    let _ = writeln!(
        text,
        "Messages are per entry and exit: {} is one who enters alone, {} is\n\
         everybody asking at once. {} shows one in full.",
        strong("light"),
        strong("heavy"),
        typed("conclave algorithms ID"),
    );
    text
}

fn legend() -> String {
    let mut text = String::new();
    for property in Property::MUTEX {
        let _ = writeln!(text, "{:8}{}", strong(format!("{property:8}")), property.meaning());
    }
    text.push('\n');
    text
}

/// One algorithm: all that the catalogue says of it.
pub fn in_full(entry: &'static Entry) -> String {
    let mut text = format!("{}  {}\n", strong(entry.title), dim(entry.id));
    for line in wrap(entry.summary, width()) {
        let _ = writeln!(text, "{line}");
    }
    text.push('\n');
    text += &labelled("paper", COLUMN, entry.paper);
    text += &labelled("notes", COLUMN, &entry.seeds.join(", "));
    text.push('\n');
    for (index, assumption) in entry.assumptions.iter().enumerate() {
        let label = if index == 0 { "assumes" } else { "" };
        text += &labelled(label, COLUMN, &format!("{}  {}", assumption.tag, assumption.text));
    }
    text.push('\n');
    text += &promises(entry);
    text.push('\n');
    text += &costs(entry);
    if !entry.parameters.is_empty() {
        text.push('\n');
        text += &parameters(entry.parameters);
    }
    text.push('\n');
    let rejoin = format!("{} (a node that comes back without its disk)", entry.rejoin_without_disk.name());
    text += &labelled("rejoin", COLUMN, &rejoin);
    let _ = writeln!(text, "{}{}", strong(format!("{:COLUMN$}", "try")), typed(example(entry)));
    text
}

fn promises(entry: &'static Entry) -> String {
    let mut text = String::new();
    for (index, property) in has(entry).into_iter().enumerate() {
        let label = if index == 0 { "has" } else { "" };
        text += &labelled(label, COLUMN, &format!("{property:7} {}", property.meaning()));
    }
    for (index, (property, reason)) in entry.lacks.iter().enumerate() {
        let label = strong(format!("{:COLUMN$}", if index == 0 { "lacks" } else { "" }));
        let column = COLUMN + 8;
        for (index, line) in wrap(reason, width() - column).into_iter().enumerate() {
            let _ = match index {
                0 => writeln!(text, "{label}{}{line}", odd(format!("{property:8}"))),
                _ => writeln!(text, "{:column$}{line}", ""),
            };
        }
    }
    text
}

fn costs(entry: &'static Entry) -> String {
    let cost = &entry.cost;
    let rows = [
        ("messages", "light load", &cost.light),
        ("", "heavy load", &cost.heavy),
        ("delay", "before entry", &cost.client_delay),
        ("", "  serially", &cost.client_delay_serial),
        ("", "exit to entry", &cost.sync_delay),
    ];
    let mut text = String::new();
    for (label, what, formula) in rows {
        let column = COLUMN + 15;
        for (index, line) in wrap(formula.text, width() - column).into_iter().enumerate() {
            let _ = match index {
                0 => writeln!(text, "{}{what:15}{line}", strong(format!("{label:COLUMN$}"))),
                _ => writeln!(text, "{:column$}{line}", ""),
            };
        }
    }
    text + &labelled("textbooks", COLUMN, cost.textbooks)
}

fn parameters(parameters: &[Parameter]) -> String {
    let mut text = String::new();
    for (index, parameter) in parameters.iter().enumerate() {
        let label = strong(format!("{:COLUMN$}", if index == 0 { "--set" } else { "" }));
        let takes = format!("{}={}", parameter.name, accepted(parameter));
        let _ = writeln!(text, "{label}{}", typed(takes));
        for line in wrap(parameter.about, width() - COLUMN - 2) {
            let _ = writeln!(text, "{:column$}{line}", "", column = COLUMN + 2);
        }
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
    format!("conclave sim {} --nodes 7", entry.id)
}

/// What it promises when nothing is set.
pub fn has(entry: &'static Entry) -> Vec<Property> {
    default_setting(entry).map_or_else(Vec::new, |setting| {
        let mut has = (entry.has)(&setting.params);
        has.sort_unstable();
        has
    })
}

fn default_setting(entry: &'static Entry) -> Option<Setting> {
    entry.setting(7, &[]).ok()
}

fn tags(properties: &[Property]) -> String {
    properties.iter().map(|property| property.tag()).collect::<Vec<_>>().join(" ")
}
