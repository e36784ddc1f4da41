//! The rule that a reason names is one that a reader finds in the algorithm's module doc.
#![allow(
    clippy::disallowed_methods,
    reason = "algorithms may not touch files, but this test reads the sources themselves"
)]

use std::fs;
use std::path::{Path, PathBuf};

/// What is said of logical clocks needs no rule of an algorithm.
const OF_NO_ALGORITHM: &str = "clock";

#[test]
fn every_rule_that_a_reason_names_is_in_the_module_doc_of_its_algorithm() {
    let mut tables = Vec::new();
    for family in ["mutex", "election", "detector", "clock"] {
        walk(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(family), &mut tables);
    }
    assert!(tables.len() >= 15, "{} tables", tables.len());
    let mut wrong = Vec::new();
    for (table, owner) in tables {
        let text = fs::read_to_string(&owner).unwrap_or_else(|_| panic!("{}", owner.display()));
        let doc: Vec<&str> = text.lines().take_while(|line| line.starts_with("//!")).collect();
        let doc = doc.join(" ");
        let words: Vec<&str> = doc.split([' ', ',', ';', ':', '.', '!', '/']).collect();
        let table = fs::read_to_string(&table).expect("a file that was just found");
        for rule in table.split("rule: \"").skip(1).filter_map(|rest| rest.split('"').next()) {
            if rule != OF_NO_ALGORITHM && !words.contains(&rule) {
                wrong.push(format!("{}: {rule}", owner.display()));
            }
        }
    }
    wrong.dedup();
    assert!(wrong.is_empty(), "not in the module doc:\n{}", wrong.join("\n"));
}

/// The tables of reasons of the algorithms in a folder, each with the file of its algorithm.
fn walk(folder: &Path, tables: &mut Vec<(PathBuf, PathBuf)>) {
    for algorithm in folders(folder) {
        let owner = algorithm.with_extension("rs");
        let parts = files(&algorithm.join("why")).into_iter();
        let whole = files(&algorithm).into_iter().filter(|file| file.ends_with("why.rs"));
        tables.extend(whole.chain(parts).map(|table| (table, owner.clone())));
    }
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    entries.map(|entry| entry.expect("an entry that can be read").path()).collect()
}

fn folders(folder: &Path) -> Vec<PathBuf> {
    entries(folder).into_iter().filter(|path| path.is_dir()).collect()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    entries(folder).into_iter().filter(|path| path.is_file()).collect()
}
