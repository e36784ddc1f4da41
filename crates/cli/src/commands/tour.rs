//! `conclave tour`: what this is, and where to start.

use crate::failure::Exit;
use crate::invocation::in_same_language;
use crate::lang::Lang;
use crate::output::{beside, dim, print, strong, typed, width, wrap};
use conclave_algorithms::catalog::{self, Family};
use conclave_lab::scenarios::ScenarioFile;
use std::fmt::Write;

/// How far the ids stand from the margin.
const COLUMN: usize = 18;

/// A text beside a command that has less room comes below it.
const ROOM_MIN: usize = 24;

const ABOUT: &str = "Conclave runs the classic algorithms by which processes that share nothing \
    but a network agree on who may enter, who leads, and what came first. Each is written once, as \
    its paper has it; here it meets loss, crashes and partitions, and is measured beside its \
    formula.";

const TRY: [(&str, &str); 4] = [
    ("conclave sim ricart-agrawala --nodes 7", "a run beside the textbook's numbers"),
    ("conclave compare --faults", "what breaks which algorithm"),
    ("conclave compare --family election", "what elections cost"),
    ("conclave scenario list", "every file worth knowing"),
];

/// Prints what this is, what it knows, and where to start.
pub fn run() -> anyhow::Result<Exit> {
    print(&tour(&ScenarioFile::all()?))?;
    Ok(Exit::Done)
}

fn tour(scenarios: &[ScenarioFile]) -> String {
    let lines = wrap(ABOUT, width()).join("\n");
    let mut text = lines.replacen("Conclave", &strong("Conclave"), 1) + "\n\n";
    for family in Family::ALL {
        let ids: Vec<&str> = catalog::ENTRIES
            .iter()
            .filter(|entry| entry.family == family)
            .map(|entry| entry.id)
            .collect();
        if !ids.is_empty() {
            let lead = strong(format!("{:COLUMN$}", family.question()));
            text += &beside(&lead, COLUMN, &ids.join("  "));
        }
    }
    text += &front_door(scenarios);
    let _ = writeln!(text, "\n{}", strong("Worth trying"));
    let commands = TRY.map(|(command, about)| (in_same_language(command), about));
    let column = 4 + commands.iter().map(|(command, _)| command.len()).max().unwrap_or(0);
    for (command, about) in commands {
        let gap = " ".repeat(column - 2 - command.len());
        let lead = format!("  {}", typed(command));
        text += &match width().checked_sub(column) {
            Some(room) if room >= ROOM_MIN => beside(&(lead + &gap), column, &dim(about)),
            Some(_) | None => format!("{lead}\n{}", beside("      ", 6, &dim(about))),
        };
    }
    text
}

/// The few scenarios that everybody should meet first.
fn front_door(scenarios: &[ScenarioFile]) -> String {
    let mut front: Vec<&ScenarioFile> =
        scenarios.iter().filter(|file| file.head().front.is_some()).collect();
    front.sort_by_key(|file| file.head().front);
    if front.is_empty() {
        return String::new();
    }
    let command = typed("conclave scenario run NAME");
    let mut text = format!("\n{}  {command}\n", strong("To begin with"));
    let longest = front.iter().map(|file| file.name.len()).max().unwrap_or(0);
    for file in front {
        let lead = format!("  {:longest$}  ", file.name);
        text += &beside(&lead, longest + 4, Lang::spoken().of(&file.head().title));
    }
    text
}
