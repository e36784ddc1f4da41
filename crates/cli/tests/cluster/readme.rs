//! What the two READMEs show is true: every command in them is run, what it prints is compared, and
//! links lead somewhere.

use crate::support::conclave;
use crate::up::cluster::{DEADLINE, Done, Place, Up};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

const ENGLISH: &str = "README.md";
const PORTUGUESE: &str = "README.pt-BR.md";

/// What a reader types that is done otherwise here, and why.
const OTHERWISE: [(&str, Otherwise, &str); 5] = [
    ("cargo run --release", Otherwise::Start, "a release build takes minutes; ports may be taken"),
    ("cargo install --path crates/cli", Otherwise::Nothing, "would write to the user's directory"),
    ("scripts/test", Otherwise::Nothing, "runs this test"),
    ("conclave lab", Otherwise::Nothing, "serves until it is stopped; it has tests of its own"),
    ("kill -9 PID", Otherwise::Kill, "the number is on the screen that the first command shows"),
];

#[derive(Clone, Copy)]
enum Otherwise {
    Nothing,
    Start,
    Kill,
}

/// A command in a fenced block, with what is shown below it.
struct Shown {
    place: String,
    command: String,
    code: i32,
    output: Vec<String>,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn text_of(file: &str) -> String {
    fs::read_to_string(root().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// The commands of a document: lines of `sh` blocks, and what follows `$ ` in `text` blocks.
fn shown(file: &str) -> Vec<Shown> {
    let mut all: Vec<Shown> = Vec::new();
    let mut fence = None;
    for (number, line) in (1..).zip(text_of(file).lines()) {
        if let Some(info) = line.strip_prefix("```") {
            fence = if fence.is_none() { Some(info.to_string()) } else { None };
            continue;
        }
        let typed = match fence.as_deref() {
            None => continue,
            Some("sh") if line.is_empty() => continue,
            Some("sh") => Some(line),
            Some(_) => line.strip_prefix("$ "),
        };
        match (typed, all.last_mut()) {
            (Some(typed), _) => all.push(command(format!("{file}:{number}"), typed)),
            (None, Some(last)) => last.output.push(line.to_string()),
            (None, None) => panic!("{file}:{number}: output of no command"),
        }
    }
    all
}

/// What is typed, without the remark behind it, which may name an exit code.
fn command(place: String, typed: &str) -> Shown {
    let (command, remark) = typed.split_once("  #").unwrap_or((typed, ""));
    let code = ["exit code ", "código de saída "].iter().find_map(|words| {
        let rest = remark.split_once(words)?.1;
        rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
    });
    let command = command.trim_end().to_string();
    Shown { place, command, code: code.unwrap_or(0), output: Vec::new() }
}

/// Somebody who types all that a document shows, in order, in an empty directory.
struct Reader {
    place: Place,
    lang: &'static str,
    up: Option<Up>,
    /// The number that came with the last entry.
    fence: u64,
}

impl Reader {
    fn new(name: &str, lang: &'static str) -> Self {
        let place = Place::new(name);
        fs::create_dir(place.path("work")).expect("a directory to work in");
        Self { place, lang, up: None, fence: 0 }
    }

    fn follow(&mut self, shown: &Shown) {
        let Shown { place, command, .. } = shown;
        let otherwise = OTHERWISE.iter().find(|(known, ..)| known == command);
        match otherwise.map(|(_, otherwise, _)| otherwise) {
            Some(Otherwise::Nothing) => {}
            Some(Otherwise::Start) => {
                let arguments = self.arguments();
                let up = self.up.get_or_insert_with(|| Up::bare(&self.place, arguments));
                compare(shown, &up.running.seen.join("\n"));
            }
            Some(Otherwise::Kill) => {
                let up = self.up.as_ref().unwrap_or_else(|| panic!("{place}: nothing runs"));
                up.leader().kill();
            }
            None if command.starts_with("conclave ") => self.run(shown),
            None => panic!("{place}: '{command}' is shown, but this test does not run it"),
        }
    }

    /// What makes a cluster speak as this reader does.
    fn arguments(&self) -> &'static [&'static str] {
        if self.lang.starts_with("pt") { &["--lang", "pt"] } else { &[] }
    }

    fn run(&mut self, shown: &Shown) {
        let Shown { place, command, code, .. } = shown;
        let done = self.in_time(command, *code);
        assert_eq!(done.code, Some(*code), "{place}: {command}\n{}", done.stdout);
        // Whether `lock` says what it waits for depends on how long it has to.
        let waits = [": waiting: ", ": esperando: "];
        let waiting = |line: &&str| waits.iter().any(|words| line.contains(words));
        let lines = done.stdout.lines().filter(|line| !waiting(line));
        let printed = &lines.collect::<Vec<_>>().join("\n");
        if command.contains("$CONCLAVE_FENCE") {
            self.fence_rises(shown, printed);
        } else {
            compare(shown, printed);
        }
    }

    /// Types it again as long as a lock cannot be had in time or is lost: the machine may be busy.
    fn in_time(&self, command: &str, code: i32) -> Done {
        let end = Instant::now() + DEADLINE;
        loop {
            let done = self.typed(command);
            let busy = matches!(done.code, Some(75 | 76)) && done.code != Some(code);
            if !busy || Instant::now() > end {
                return done;
            }
        }
    }

    fn typed(&self, command: &str) -> Done {
        let binary = Path::new(env!("CARGO_BIN_EXE_conclave"));
        let own = binary.parent().expect("it is in a directory").display();
        let others = std::env::var("PATH").unwrap_or_default();
        let mut shell = self.place.shell(&format!("exec 2>&1; {command}"));
        shell.current_dir(self.place.path("work"));
        shell.env("PATH", format!("{own}:{others}")).env("LANG", self.lang);
        Done::from(shell.output().expect("sh runs"))
    }

    /// Numbers of entries rise; how far depends on how many elections there were.
    fn fence_rises(&mut self, shown: &Shown, printed: &str) {
        let Shown { place, command, output, .. } = shown;
        let fence: u64 = printed.trim().parse().unwrap_or_else(|_| panic!("{place}: {printed}"));
        assert!(fence > self.fence, "{place}: {command}: {fence} after {}", self.fence);
        self.fence = fence;
        let [number] = output.as_slice() else { panic!("{place}: one number: {output:?}") };
        assert!(number.parse::<u64>().is_ok(), "{place}: {number}");
    }
}

/// Holds what was printed against what is shown, if anything is.
fn compare(shown: &Shown, printed: &str) {
    if shown.output.is_empty() {
        return;
    }
    let expected: Vec<&str> = shown.output.iter().map(|line| line.trim_end()).collect();
    let lines: Vec<&str> = printed.lines().map(str::trim_end).collect();
    assert!(
        is_like(trim(&expected), trim(&lines)),
        "{}: {}\nshown:\n{}\nprinted:\n{printed}",
        shown.place,
        shown.command,
        expected.join("\n")
    );
}

/// Without empty lines at the end.
fn trim<'a, 'b>(mut lines: &'a [&'b str]) -> &'a [&'b str] {
    while let [rest @ .., ""] = lines {
        lines = rest;
    }
    lines
}

/// Whether lines are as shown, where a line `…` stands for any lines.
fn is_like(shown: &[&str], lines: &[&str]) -> bool {
    match (shown, lines) {
        ([], []) => true,
        (["…", rest @ ..], _) => {
            (0..=lines.len()).any(|skipped| is_like(rest, &lines[skipped..]))
        }
        ([first, rest @ ..], [line, lines @ ..]) => {
            let parts: Vec<&str> = first.split('…').collect();
            is_line(&parts, line) && is_like(rest, lines)
        }
        ([], _) | (_, []) => false,
    }
}

/// Whether a line begins with the first part, ends with the last, and has the others in between.
fn is_line(parts: &[&str], line: &str) -> bool {
    let [first, between @ .., last] = parts else { return parts == [line] };
    let Some(mut rest) = line.strip_prefix(first) else { return false };
    for part in between {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

fn follow_all(file: &str, name: &str, lang: &'static str) {
    let shown = shown(file);
    let mut reader = Reader::new(name, lang);
    shown.iter().for_each(|shown| reader.follow(shown));
    for (command, _, why) in OTHERWISE {
        let needed = shown.iter().any(|shown| shown.command == command);
        assert!(needed, "{file} no longer shows '{command}' ({why})");
    }
}

#[test]
fn every_command_of_the_english_readme_does_what_it_shows() {
    follow_all(ENGLISH, "readme-en", "C.UTF-8");
}

#[test]
fn every_command_of_the_portuguese_readme_does_what_it_shows() {
    follow_all(PORTUGUESE, "readme-pt", "pt_BR.UTF-8");
}

#[test]
fn both_show_the_same_commands_and_link_to_each_other() {
    let commands = |file| -> Vec<(String, i32)> {
        shown(file).into_iter().map(|shown| (shown.command, shown.code)).collect()
    };
    assert_eq!(commands(ENGLISH), commands(PORTUGUESE));
    let spans = |file| -> BTreeSet<String> { inline(&text_of(file)).into_iter().collect() };
    assert_eq!(spans(ENGLISH), spans(PORTUGUESE));
    assert!(links(&text_of(ENGLISH)).contains(&PORTUGUESE.to_string()));
    assert!(links(&text_of(PORTUGUESE)).contains(&ENGLISH.to_string()));
}

/// Commands within a sentence, `conclave …`.
fn inline(markdown: &str) -> Vec<String> {
    let spans = markdown.lines().filter(|line| !line.starts_with("```"));
    let spans = spans.flat_map(|line| line.split('`').skip(1).step_by(2));
    spans.filter(|span| span.starts_with("conclave ")).map(str::to_string).collect()
}

#[test]
fn commands_and_flags_within_sentences_exist() {
    for span in inline(&text_of(ENGLISH)).into_iter().chain(inline(&text_of(PORTUGUESE))) {
        let words: Vec<&str> = span.split_whitespace().skip(1).collect();
        let own = words.iter().take_while(|word| word.chars().all(|c| c.is_ascii_lowercase()));
        let mut command: Vec<&str> = own.copied().take(1).collect();
        if let ["scenario" | "bench" | "mc714", below, ..] = words.as_slice() {
            command.push(below);
        }
        command.push("--help");
        let help = conclave(&command);
        assert_eq!(help.code, 0, "{span}: {}", help.stderr);
        for flag in words.iter().take_while(|word| **word != "--") {
            let is_flag = flag.starts_with("--");
            assert!(!is_flag || help.stdout.contains(flag), "{span}: no {flag}");
        }
    }
}

/// Where the links and pictures of a document lead.
fn links(markdown: &str) -> Vec<String> {
    let parts = markdown.split("](").skip(1);
    parts.filter_map(|part| part.split_once(')').map(|(to, _)| to.to_string())).collect()
}

fn documents(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a directory") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() && name != "target" && !name.starts_with('.') {
            documents(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
}

#[test]
fn links_between_documents_lead_to_files_that_exist() {
    let mut files = Vec::new();
    documents(&root(), &mut files);
    assert!(files.len() > 10, "{files:?}");
    let mut broken = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).expect("a text");
        for link in links(&text) {
            let target = link.split(['#', ' ']).next().unwrap_or_default();
            let elsewhere = target.is_empty() || target.contains("://");
            let folder = file.parent().expect("a directory");
            if !elsewhere && !folder.join(target).exists() {
                broken.push(format!("{}: {link}", file.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn three_dots_stand_for_anything() {
    let is_like = |shown: &str, lines: &str| {
        let split = |text: &str| text.lines().map(str::to_string).collect::<Vec<_>>();
        let (shown, lines) = (split(shown), split(lines));
        let shown: Vec<&str> = shown.iter().map(String::as_str).collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        is_like(&shown, &lines)
    };
    assert!(is_like("a\n…\nd", "a\nb\nc\nd"));
    assert!(is_like("a\n…\nd", "a\nd"));
    assert!(is_like("took … s at …", "took 12 s at noon"));
    assert!(!is_like("took … s", "took 12 s at noon"));
    assert!(!is_like("a\nb", "a\nb\nc"));
    assert!(!is_like("a\n…\nd", "a\nb\nc"));
}
