//! A run given to somebody else: by a link, and as a command.

use crate::lab::{Lab, Line};
use crate::support::conclave;
use crate::webdriver::key;
use serde_json::Value;

const RUN: &str = "a=ricart-agrawala&n=4&seed=5&latency=uniform:1..9&at=/0";

#[test]
fn a_link_restores_branches_and_cursor_and_the_command_makes_the_same_run() {
    let Some(lab) = Lab::open("sharing") else { return };
    lab.run(RUN);
    the_copied_command_makes_the_run_that_is_read(&lab);
    lab.press_until(key::HOME, 0);
    let drop = lab.until_travels("REQUEST");
    lab.browser.click(&format!(".flying button[aria-label='{drop}']"));
    lab.branch_chosen("A");
    the_copied_command_makes_the_run_that_is_read(&lab);
    lab.press_until(key::HOME, 0);
    let drop = lab.until_travels("OK");
    lab.browser.click(&format!(".flying button[aria-label='{drop}']"));
    lab.branch_chosen("B");
    let (at, _) = lab.step();
    lab.press_until(key::RIGHT, at + 1);
    a_stranger_sees_the_same_by_the_link(&lab);
    lab.browser.assert_calm("sharing");
}

/// What is shown of branches, cursor and run, the list aside.
const SHOWN: &str = "return [
    [...document.querySelectorAll('.branch-name')].map((name) => [name.textContent,
        name.getAttribute('aria-pressed')]),
    document.querySelector('.where').textContent, document.querySelector('.step').textContent,
    document.querySelector('.facts').textContent];";

fn a_stranger_sees_the_same_by_the_link(lab: &Lab) {
    let (link, _) = lab.shared();
    let (shown, lines) = (lab.browser.run(SHOWN, &[]), lab.lines());
    let theirs = Lab { browser: lab.browser.another(), server: lab.server.clone() };
    theirs.browser.resize(1920, 1080);
    theirs.browser.go(&link);
    theirs.settled();
    theirs.branch_chosen("B");
    assert_eq!(theirs.browser.run(SHOWN, &[]), shown);
    assert_eq!(theirs.lines(), lines);
    let notice = theirs.browser.run("return document.querySelector('.notice').hidden;", &[]);
    assert_eq!(notice, Value::Bool(true), "nothing to complain about");
    theirs.browser.assert_calm("a link in a fresh profile");
    // A link that no longer makes the same run says so.
    let (rest, _) = link.rsplit_once("&h=").unwrap();
    theirs.browser.go("about:blank");
    theirs.browser.go(&format!("{rest}&h=00000000"));
    theirs.browser.until(
        "a word about another run",
        "const notice = document.querySelector('.notice');
         return !notice.hidden && notice.textContent.includes('went differently');",
    );
}

fn the_copied_command_makes_the_run_that_is_read(lab: &Lab) {
    let (link, command) = lab.shared();
    let words = shell_words(&command);
    assert_eq!(words[..2], ["conclave", "sim"], "{command}");
    let recording = std::env::temp_dir().join(format!("conclave-{}.jsonl", std::process::id()));
    let file = recording.to_str().unwrap();
    let arguments: Vec<&str> = words[1..].iter().map(String::as_str).collect();
    let done = conclave(&[&arguments[..], &["--json", "--trace", file]].concat());
    let text = std::fs::read_to_string(&recording).unwrap_or_else(|_| panic!("{}", done.stderr));
    let _ = std::fs::remove_file(&recording);
    let records: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let read = read_aloud(lab);
    // A header before them, and how many there are after them.
    let [header, steps @ .., _] = records.as_slice() else { panic!("{text}") };
    // Verdicts are not in the list: the lamps have them.
    let steps: Vec<&Value> = steps.iter().filter(|one| one["record"] != "violation").collect();
    assert_eq!(read.len(), steps.len(), "{command}");
    for (line, record) in read.iter().zip(steps) {
        assert_same(line, record, &header["names"]);
    }
    let (_, hash) = link.rsplit_once("&h=").unwrap();
    if !link.contains("&w=") {
        assert!(done.json()["trace_hash"].as_str().unwrap().starts_with(hash), "{link}");
    }
}

/// The list as a screen reader has it: every option by its name, from the first to the last.
fn read_aloud(lab: &Lab) -> Vec<Line> {
    let drawn = lab.lines();
    let mut heard: Vec<(u64, String)> = Vec::new();
    lab.browser.run("document.querySelector('.list-lines').scrollTop = 0;", &[]);
    while (heard.len() as u64) < drawn.len() as u64 {
        let next = heard.len() as u64 + 1;
        let seen = format!("return document.querySelector('[data-i=\"{next}\"]');");
        lab.browser.until(&format!("line {next}"), &seen);
        for name in lab.browser.names(".list-lines", "option") {
            let number = name.split_whitespace().next().unwrap_or_default();
            let number: u64 = number.parse().unwrap_or_else(|_| panic!("'{name}' has no number"));
            if number == heard.len() as u64 + 1 {
                heard.push((number, name));
            }
        }
        lab.browser.run(
            "const box = document.querySelector('.list-lines');
             box.scrollTop += box.clientHeight / 2;",
            &[],
        );
    }
    for (line, (number, name)) in drawn.iter().zip(&heard) {
        assert_eq!(line.number, *number);
        assert!(name.contains(&line.text), "'{}' is read as '{name}'", line.text);
    }
    drawn
}

/// A line tells its record: when, who, and of a message its kind and its sender.
fn assert_same(line: &Line, record: &Value, names: &Value) {
    let name = |node: &Value| names[node.as_u64().unwrap() as usize].as_str().unwrap().to_string();
    let told = format!("{line:?} for {record}");
    let time = record["at"].as_f64().unwrap() / 1000.0;
    let shown: f64 = line.time.replace(',', "").parse().unwrap();
    assert!((time - shown).abs() < 0.006, "{told}");
    if record["record"] == "end" {
        return assert_eq!(line.text, "the end");
    }
    assert!(line.text.contains(&name(&record["node"])), "{told}");
    let message = &record["cause"]["message"];
    if message.is_object() {
        assert!(line.text.contains(message["label"].as_str().unwrap()), "{told}");
        assert!(line.text.contains(&name(&message["from"])), "{told}");
    }
}

/// As a shell would split it; the command quotes with single quotes alone.
fn shell_words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = None::<String>;
    for (i, part) in line.split('\'').enumerate() {
        if i % 2 == 1 {
            word.get_or_insert_default().push_str(part);
            continue;
        }
        for (k, piece) in part.split(' ').enumerate() {
            if k > 0 {
                words.extend(word.take());
            }
            if !piece.is_empty() {
                word.get_or_insert_default().push_str(piece);
            }
        }
    }
    words.extend(word);
    words
}
