//! The source documents: every command of `docs/seeds.md` does what its row says.

use crate::support::conclave;
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The commands of a document, each with the words of its row.
fn rows(file: &str) -> Vec<(String, String)> {
    let text = fs::read_to_string(root().join("docs").join(file)).expect("a document");
    let rows = text.lines().filter(|line| line.starts_with("| "));
    let commands = rows.filter_map(|row| {
        let typed = row.split("`conclave ").nth(1)?.split('`').next()?;
        Some((typed.to_string(), row.to_string()))
    });
    commands.collect()
}

/// The scenario that a command runs, if it does.
fn scenario(typed: &str) -> Option<&str> {
    typed.strip_prefix("scenario run ")
}

#[test]
fn every_command_of_the_source_documents_runs() {
    let rows = rows("seeds.md");
    assert!(rows.len() > 90, "{} rows", rows.len());
    // That each scenario ends as it should is tested with all the others.
    let typed: BTreeSet<_> = rows.iter().filter(|(typed, _)| scenario(typed).is_none()).collect();
    for (typed, row) in typed {
        let done = conclave(&typed.split(' ').collect::<Vec<_>>());
        let expected = if row.contains("; ends with 3") { 3 } else { 0 };
        assert_eq!(done.code, expected, "{typed}: {}", done.stderr);
        assert!(!done.stdout.is_empty(), "{typed} says nothing");
    }
}

#[test]
fn every_scenario_of_the_source_documents_is_named_and_none_that_is_not_there() {
    let rows = rows("seeds.md");
    let named: BTreeSet<&str> = rows.iter().filter_map(|(typed, _)| scenario(typed)).collect();
    let known = fs::read_dir(root().join("scenarios")).expect("scenarios");
    let known = known.map(|entry| entry.expect("a file").path());
    let mut left = named.clone();
    for path in known.filter(|path| path.extension().is_some_and(|end| end == "toml")) {
        let name = path.file_stem().and_then(|name| name.to_str()).expect("a name");
        let text = fs::read_to_string(&path).expect("a scenario");
        let source = text.lines().find(|line| line.starts_with("source = "));
        let noted = source.is_some_and(|source| source.contains("lecture notes"));
        assert!(!noted || named.contains(name), "{name} is missing in docs/seeds.md");
        left.remove(name);
    }
    assert!(left.is_empty(), "no such scenarios: {left:?}");
}

#[test]
fn both_languages_show_the_same_commands() {
    let typed = |file| rows(file).into_iter().map(|(typed, _)| typed).collect::<Vec<_>>();
    assert_eq!(typed("seeds.md"), typed("seeds.pt-BR.md"));
}
