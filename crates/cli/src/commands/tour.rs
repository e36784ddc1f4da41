//! `conclave` by itself: a short tour.

use crate::failure::Exit;
use crate::output::{dim, print, strong, typed};
use conclave_algorithms::catalog;
use std::fmt::Write;

/// The catalogue by the idea behind each algorithm; whatever is in no group comes last.
const GROUPS: [(&str, &[&str]); 3] = [
    (
        "Ask a coordinator, or a few",
        &["central", "central-failover", "voting", "quorum", "total-order"],
    ),
    ("Ask everybody, or enough", &["lamport", "ricart-agrawala", "roucairol-carvalho", "maekawa"]),
    (
        "Wait for the token",
        &["token-ring", "token-ring-regenerating", "suzuki-kasami", "raymond", "naimi-trehel"],
    ),
];

const TRY: [(&str, &str); 3] = [
    ("conclave sim ricart-agrawala --nodes 7", "a run beside the textbook's numbers"),
    ("conclave scenario run quorum-c4-forgets", "one node forgets, and two are inside"),
    ("conclave compare --faults", "what breaks which algorithm"),
];

/// Prints what this is, what it knows, and where to start.
pub fn run() -> anyhow::Result<Exit> {
    print(&tour())?;
    Ok(Exit::Done)
}

fn tour() -> String {
    let mut text = String::new();
    text += &strong("Conclave");
    text += " runs the classic algorithms by which processes that share nothing but a\n\
             network agree on who may enter. Each is written once, as its paper has it; here\n\
             it meets loss, crashes and partitions, and is measured beside its formula.\n";
    for (title, ids) in GROUPS {
        group(&mut text, title, |id| ids.contains(&id));
    }
    group(&mut text, "And", |id| !GROUPS.iter().any(|(_, ids)| ids.contains(&id)));
    let _ = writeln!(text, "\n{}", strong("Worth trying"));
    for (command, about) in TRY {
        let _ = writeln!(
            text,
            "  {}{:padding$}{}",
            typed(command),
            "",
            dim(about),
            padding = 41 - command.len()
        );
    }
    text
}

fn group(text: &mut String, title: &str, belongs: impl Fn(&str) -> bool) {
    let mut entries = catalog::ENTRIES.iter().filter(|entry| belongs(entry.id)).peekable();
    if entries.peek().is_some() {
        let _ = writeln!(text, "\n{}", strong(title));
    }
    for entry in entries {
        let _ = writeln!(text, "  {:25}{}", entry.id, entry.title);
    }
}
