//! What a reader may rely on in every file of the workspace: short files, short functions, one
//! direction of dependency. The limits may only be tightened.
#![allow(
    clippy::disallowed_methods,
    reason = "core may not touch files, but this test reads the sources themselves"
)]

use std::fs;
use std::path::{Path, PathBuf};

const FILE_LINES_MAX: usize = 400;
const FUNCTION_LINES_MAX: usize = 40;
const COLUMNS_MAX: usize = 100;
const ARCHITECTURE_LINES_MAX: usize = 199;

/// Functions that are still too long, as path and name. This list may only shrink: an entry that
/// is no longer needed fails the test.
const LONG_FUNCTIONS: &[(&str, &str)] = &[];

/// Macros of unfinished work.
const UNFINISHED: &[&str] = &["todo", "unimplemented", "dbg"];

/// What the module doc of an algorithm has to say.
const HEADINGS: &[&str] = &["Source:", "Assumes", "Has:", "Lacks:", "Cost:"];

/// The crates of this workspace that a crate may depend on, tests aside. The others may see all.
const ARROWS: &[(&str, &[&str])] = &[
    ("core", &[]),
    ("algorithms", &["conclave-core"]),
    ("sim", &["conclave-core"]),
    ("check", &["conclave-core"]),
    ("net", &["conclave-core"]),
    ("table", &["conclave-core"]),
    ("replica", &["conclave-core", "conclave-net", "conclave-table"]),
    (
        "lab",
        &[
            "conclave-core",
            "conclave-algorithms",
            "conclave-sim",
            "conclave-check",
            "conclave-net",
            "conclave-table",
        ],
    ),
    ("texts", &[]),
    ("page", &["conclave-lab", "conclave-texts"]),
    ("api", &["conclave-core"]),
    ("load", &[]),
    ("memory", &[]),
    ("client", &["conclave-api"]),
    (
        "service",
        &[
            "conclave-algorithms",
            "conclave-api",
            "conclave-core",
            "conclave-lab",
            "conclave-net",
            "conclave-page",
            "conclave-replica",
            "conclave-table",
        ],
    ),
];

#[test]
fn files_are_short_enough_to_read_at_once() {
    let long = |file: &Source| {
        let lines = file.text.lines().count();
        (lines > FILE_LINES_MAX)
            .then(|| format!("{}: {lines} lines, at most {FILE_LINES_MAX}", file.path))
    };
    complain(rust_files().iter().filter_map(long));
}

#[test]
fn lines_fit_on_the_screen() {
    let files = rust_files();
    complain(files.iter().flat_map(|file| {
        file.lines_where(|line| line.chars().count() > COLUMNS_MAX)
            .map(move |at| format!("{at}: more than {COLUMNS_MAX} columns"))
    }));
}

#[test]
fn nothing_unfinished_is_committed() {
    let files = rust_files();
    complain(files.iter().flat_map(|file| {
        UNFINISHED
            .iter()
            .filter(|name| code_of(&file.text).contains(&format!("{name}!")))
            .map(move |name| format!("{}: {name}!", file.path))
    }));
}

/// A leader's lease depends on clocks; a majority that was asked does not (ReadIndex).
#[test]
fn no_read_relies_on_a_leaders_lease() {
    let lease = concat!("ReadPolicy::", "LeaseRead");
    complain(rust_files().into_iter().filter(|source| source.text.contains(lease)).map(|source| {
        format!("{}: reads go by ReadIndex, not by the leader's lease", source.path)
    }));
}

#[test]
fn functions_are_short_and_the_exceptions_are_needed() {
    let mut complaints = Vec::new();
    let mut unused = LONG_FUNCTIONS.to_vec();
    for file in rust_files() {
        for (name, lines) in functions(&file.text) {
            if lines <= FUNCTION_LINES_MAX {
                continue;
            }
            if LONG_FUNCTIONS.contains(&(&file.path, &name)) {
                unused.retain(|exception| *exception != (&*file.path, &*name));
            } else {
                let path = &file.path;
                complaints.push(format!(
                    "{path}: {name} has {lines} lines, at most {FUNCTION_LINES_MAX}"
                ));
            }
        }
    }
    let no_longer = |(path, name)| format!("{path}: {name} needs no exception any more");
    complain(complaints.into_iter().chain(unused.into_iter().map(no_longer)));
}

#[test]
fn every_algorithm_names_its_source_assumptions_promises_and_cost() {
    let mut complaints = Vec::new();
    for file in rust_files() {
        let families = ["mutex", "election", "detector"];
        let folder = |family| format!("crates/algorithms/src/{family}/");
        let of_family = families.iter().any(|family| file.path.starts_with(&folder(family)));
        let chosen = file.path.ends_with("/any.rs"); // Any of a family: no paper of its own.
        if !of_family || chosen || !code_of(&file.text).contains("Process for ") {
            continue; // A helper: no process of its own.
        }
        let doc: String = file.text.lines().take_while(|line| line.starts_with("//!")).collect();
        let missing = HEADINGS.iter().filter(|heading| !doc.contains(**heading));
        complaints.extend(
            missing.map(|heading| format!("{}: the module doc lacks '{heading}'", file.path)),
        );
    }
    complain(complaints);
}

#[test]
fn the_architecture_is_told_briefly() {
    let text = read(&root().join("ARCHITECTURE.md"));
    let lines = text.lines().count();
    assert!(lines <= ARCHITECTURE_LINES_MAX, "ARCHITECTURE.md has {lines} lines");
}

#[test]
fn every_path_of_the_glossary_exists() {
    let text = read(&root().join("docs/glossary.md"));
    let paths: Vec<&str> = text.split('`').filter(|quoted| quoted.starts_with("crates/")).collect();
    assert!(paths.len() >= 60, "{} paths: a row says where its thing is", paths.len());
    let missing = paths.iter().filter(|path| !root().join(path).exists());
    complain(missing.map(|path| format!("docs/glossary.md: {path} does not exist")));
}

#[test]
fn dependencies_point_one_way() {
    let mut complaints = Vec::new();
    for (name, allowed) in ARROWS {
        let manifest = root().join("crates").join(name).join("Cargo.toml");
        if !manifest.exists() {
            continue; // Not yet.
        }
        for used in dependencies(&read(&manifest)) {
            if used.starts_with("conclave") && !allowed.contains(&&*used) {
                complaints.push(format!("crates/{name} must not depend on {used}"));
            }
        }
    }
    complain(complaints);
}

#[test]
fn no_line_ends_in_blanks() {
    let files = text_files();
    complain(files.iter().flat_map(|file| {
        file.lines_where(|line| line.ends_with([' ', '\t', '\r']))
            .map(|at| format!("{at}: blanks at the end"))
    }));
}

#[test]
fn nothing_points_into_somebodys_home() {
    let homes = ["home", "root", "Users"].map(|folder| format!("/{folder}/"));
    let files = text_files();
    complain(files.iter().flat_map(|file| {
        file.lines_where(|line| homes.iter().any(|home| line.contains(home)))
            .map(|at| format!("{at}: a path that exists on one machine only"))
    }));
}

#[test]
fn the_scanner_tells_code_from_text() {
    let text = r###"
fn one() { // }
    let a = ("}", '}', '\'', r#"}" "#, b"\"}"); /* } */
}
trait T<'a> {
    fn declared(&'a self);
    pub(crate) const fn two() {}
}
"###;
    let found = functions(text);
    assert_eq!(found, [("one".to_string(), 3), ("two".to_string(), 1)]);
}

#[test]
fn dependencies_are_read_in_every_form_but_for_tests() {
    let manifest = "[package]\nname = \"x\"\n[dependencies]\na.workspace = true\nb = \"1\"\n\
                    [dev-dependencies]\nc = \"1\"\n[dependencies.d]\npath = \"d\"\n\
                    [target.'cfg(unix)'.dependencies]\ne = { version = \"1\" }\n\
                    [dev-dependencies.f]\npath = \"f\"\n";
    assert_eq!(dependencies(manifest), ["a", "b", "d", "e"]);
}

struct Source {
    /// From the root of the workspace, with forward slashes.
    path: String,
    text: String,
}

impl Source {
    /// The places, as `path:line`, of the lines that `test` picks.
    fn lines_where(&self, test: impl Fn(&str) -> bool) -> impl Iterator<Item = String> {
        // Not `lines()`: it would swallow a carriage return.
        (1..)
            .zip(self.text.split('\n'))
            .filter(move |(_, line)| test(line))
            .map(|(number, _)| format!("{}:{number}", self.path))
    }
}

fn complain(complaints: impl IntoIterator<Item = String>) {
    let complaints: Vec<String> = complaints.into_iter().collect();
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The Rust sources and tests of every crate.
fn rust_files() -> Vec<Source> {
    let of_crate = |file: &Source| {
        let mut folders = file.path.split('/');
        folders.next() == Some("crates") && matches!(folders.nth(1), Some("src" | "tests"))
    };
    let mut files = text_files();
    files.retain(|file| file.path.ends_with(".rs") && of_crate(file));
    assert!(!files.is_empty(), "the walk found no sources");
    files
}

/// Everything that people write here: sources, documents, settings, scripts.
fn text_files() -> Vec<Source> {
    let mut files = Vec::new();
    walk(&root(), "", &mut files);
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}

fn walk(folder: &Path, path: &str, files: &mut Vec<Source>) {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{path}: {error}"));
    for entry in entries {
        let entry = entry.expect("a folder that can be read lists its entries");
        let name = entry.file_name().to_string_lossy().into_owned();
        let inner = if path.is_empty() { name.clone() } else { format!("{path}/{name}") };
        let written = [".rs", ".md", ".toml"].iter().any(|ending| name.ends_with(ending))
            || ["scripts", ".ci"].contains(&path);
        if entry.path().is_dir() {
            // Golden files are written by the program, not by people.
            if !["target", ".git", "testdata"].contains(&&*name) {
                walk(&entry.path(), &inner, files);
            }
        } else if written {
            files.push(Source { path: inner, text: read(&entry.path()) });
        }
    }
}

/// The names under every `dependencies` or `build-dependencies` table of a manifest.
fn dependencies(manifest: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut inside = false;
    for line in manifest.lines().map(str::trim) {
        if let Some(table) = line.strip_prefix('[') {
            let table = table.trim_end_matches(']');
            inside = table.ends_with("dependencies") && !table.ends_with("dev-dependencies");
            if let Some((kind, name)) = table.rsplit_once("dependencies.")
                && !kind.ends_with("dev-")
            {
                found.push(name.to_string());
            }
        } else if inside && let Some((key, _)) = line.split_once('=') {
            let name = key.trim().split('.').next().unwrap_or_default();
            found.push(name.trim_matches('"').to_string());
        }
    }
    found
}

/// The functions that have a body, with how many lines each takes from `fn` to its last brace.
fn functions(text: &str) -> Vec<(String, usize)> {
    let code = code_of(text);
    let lines: Vec<&str> = code.lines().collect();
    let named = |(at, line): (usize, &&str)| Some((function_name(line)?, lines_of(&lines[at..])?));
    lines.iter().enumerate().filter_map(named).collect()
}

/// The name, if this line begins a function.
fn function_name(line: &str) -> Option<String> {
    let (before, after) = line.split_once("fn ")?;
    let modifiers = ["const", "async", "unsafe", "extern"];
    let plain = |word: &str| word.starts_with("pub") || modifiers.contains(&word);
    let name: String = after.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    (before.split_whitespace().all(plain) && !name.is_empty()).then_some(name)
}

/// How many lines there are up to the brace that closes the first one opened; nothing for a
/// declaration without a body.
fn lines_of(lines: &[&str]) -> Option<usize> {
    let mut depth = 0;
    for (count, line) in (1..).zip(lines) {
        for c in line.chars() {
            match c {
                '{' => depth += 1,
                '}' if depth <= 1 => return (depth == 1).then_some(count),
                '}' => depth -= 1,
                ';' if depth == 0 && line.trim_end().ends_with(';') => return None,
                _ => {}
            }
        }
    }
    None
}

/// The text without comments, strings and characters, its line ends kept.
fn code_of(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let skipped = length_of_text(rest);
        if skipped == 0 {
            code.push(first);
            rest = &rest[first.len_utf8()..];
        } else {
            code.extend(rest[..skipped].matches('\n'));
            rest = &rest[skipped..];
        }
    }
    code
}

/// How many bytes the comment, string or character at the beginning takes; 0 if there is none.
fn length_of_text(code: &str) -> usize {
    let until = |from: usize, end: &str| match code[from..].find(end) {
        Some(at) => from + at + end.len(),
        None => code.len(),
    };
    let hashes = code.bytes().skip(1).take_while(|byte| *byte == b'#').count();
    match code.as_bytes() {
        [b'/', b'/', ..] => code.find('\n').unwrap_or(code.len()),
        [b'/', b'*', ..] => until(2, "*/"),
        [b'r', rest @ ..] if rest.get(hashes) == Some(&b'"') => {
            until(hashes + 2, &format!("\"{}", "#".repeat(hashes)))
        }
        [b'"', rest @ ..] => {
            let mut escaped = false;
            let closes = |byte: &u8| {
                let ends = *byte == b'"' && !escaped;
                escaped = *byte == b'\\' && !escaped;
                ends
            };
            rest.iter().position(closes).map_or(code.len(), |at| at + 2)
        }
        [b'\'', b'\\', ..] => until(3, "'"),
        [b'\'', ..] if code.chars().nth(2) == Some('\'') => until(1, "'"),
        _ => 0,
    }
}
