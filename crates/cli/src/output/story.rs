//! A run told in words, as one process saw it.

use super::numbers::local;
use super::run::Report;
use super::{bad, beside, columns, dim, good, odd, screen, strong};
use crate::texts::{is_translated, sentence, tr};
use conclave_core::{NodeId, Reason};
use conclave_sim::trace::Language;
use conclave_sim::{Error, Line, Names};
use std::fmt::Write;

/// Whose eyes a run is seen with.
pub struct Viewer {
    node: Option<NodeId>,
}

impl Viewer {
    /// `all`, or the name of a node.
    pub fn new(text: &str, names: &Names) -> Result<Self, Error> {
        let node = if text == "all" { None } else { Some(names.node("--view", text)?) };
        Ok(Self { node })
    }

    /// The story, then how it ended.
    pub fn tell(&self, report: &Report<'_>) -> String {
        let mut text = report.header();
        text.push('\n');
        let lines: Vec<&Line> =
            report.outcome.story.iter().filter(|line| self.sees(line)).collect();
        let names = &report.experiment.names;
        let last = lines.last().map_or(0, |line| line.at.to_string().len());
        let widths = Widths { time: last.max(6), name: self.name_width(names) };
        let mut before = None;
        for line in lines {
            let moment = (line.at, line.node);
            widths.write(&mut text, names, line, before == Some(moment));
            before = Some(moment);
        }
        if before.is_none() {
            let _ = writeln!(text, "{}", tr("Nothing happened there."));
        }
        text.push('\n');
        text += &report.verdicts();
        text + &report.ending()
    }

    fn sees(&self, line: &Line) -> bool {
        self.node.is_none() || line.node.is_none() || line.node == self.node
    }

    fn name_width(&self, names: &Names) -> usize {
        let all = (0..names.clients + names.coordinators).map(NodeId);
        let widest = all.map(|node| names.name(node).chars().count()).max().unwrap_or(1);
        if self.node.is_none() { widest } else { 0 }
    }
}

struct Widths {
    time: usize,
    name: usize,
}

impl Widths {
    fn write(&self, text: &mut String, names: &Names, line: &Line, same_moment: bool) {
        let follows = line.follows && same_moment;
        let time = if follows { String::new() } else { local(&line.at.to_string()) };
        let name = match line.node {
            Some(node) if !follows && self.name > 0 => names.name(node),
            Some(_) | None => String::new(),
        };
        let told = match &line.why {
            Some(reason) => dim(names.tell(&because(reason))),
            None => coloured(&names.tell(&line.text)),
        };
        let indent = if follows { "  " } else { "" };
        let gap = if self.name > 0 { "  " } else { "" };
        let time = dim(format!("{time:>width$}", width = self.time));
        let name = strong(format!("{name:>width$}", width = self.name));
        let lead = format!("{time}{gap}{name}  {indent}");
        // What is piped is searched line by line.
        if screen().is_some() {
            *text += &beside(&lead, columns(&lead), &told);
        } else {
            let _ = writeln!(text, "{lead}{told}");
        }
    }
}

/// Why a node does what it does, and the rule of the algorithm that it comes from.
fn because(reason: &Reason) -> String {
    let language = if is_translated() { Language::Portuguese } else { Language::English };
    format!("{}: {}", language.rule(reason.why.rule), language.reason(reason))
}

/// Entries, exits and misfortunes stand out.
fn coloured(told: &str) -> String {
    let misfortune = ["CRASHES", "RESTARTS", "PARTITION", "is PAUSED", "is told, wrongly"];
    let words = in_words(told);
    match told {
        _ if told.starts_with("ENTERS") => good(words),
        _ if misfortune.iter().any(|begins| told.starts_with(begins)) => bad(words),
        _ if told.contains("lost") || told.contains("arrive twice") => odd(words),
        _ => words,
    }
}

/// A moment of a story in the reader's language, down to the names of what messages carry.
pub fn in_words(told: &str) -> String {
    let words = sentence(told);
    if !is_translated() {
        return words.into_owned();
    }
    let words = with_timer(&words, Language::Portuguese);
    with_commas(&with_fields(&words, Language::Portuguese))
}

/// The same text with another name of the timer that it tells of.
fn with_timer(words: &str, language: Language) -> String {
    const BEFORE: &str = "temporizador ";
    let Some((before, after)) = words.split_once(BEFORE) else { return words.to_string() };
    let (name, rest) = after.split_at(after.find([' ', ';']).unwrap_or(after.len()));
    format!("{before}{BEFORE}{}{}", language.timer(name), with_timer(rest, language))
}

/// The same text with a comma in its numbers; there are none of a thousand and more with points.
fn with_commas(words: &str) -> String {
    let letters: Vec<char> = words.chars().collect();
    let is_digit = |place: Option<usize>| {
        place.and_then(|place| letters.get(place)).is_some_and(char::is_ascii_digit)
    };
    let comma = |(place, letter): (usize, &char)| match letter {
        '.' if is_digit(place.checked_sub(1)) && is_digit(Some(place + 1)) => ',',
        other => *other,
    };
    letters.iter().enumerate().map(comma).collect()
}

/// The same text with other names of fields, and of values that are words: they stand in brackets,
/// a name before a colon.
fn with_fields(words: &str, language: Language) -> String {
    let mut text = String::new();
    let mut name = String::new();
    let mut depth = 0_usize;
    for letter in words.chars() {
        if letter == ':' && depth > 0 {
            text += language.field(&name);
            name.clear();
        } else if letter.is_ascii_lowercase() || letter == '_' {
            name.push(letter);
            continue;
        }
        let word = std::mem::take(&mut name);
        text += if depth > 0 { language.value(&word) } else { &word };
        text.push(letter);
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    text + &name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timers_and_numbers_are_those_of_the_language() {
        let told = |text| with_commas(&with_timer(text, Language::Portuguese));
        let words = "arma o temporizador Silence 3 para 0.5; arma o temporizador Beat";
        let expected = "arma o temporizador silêncio 3 para 0,5; arma o temporizador batimento";
        assert_eq!(told(words), expected);
        assert_eq!(told("nada. 1. (2)"), "nada. 1. (2)");
    }

    #[test]
    fn fields_are_named_in_brackets_only() {
        let told = |text| with_fields(text, Language::Portuguese);
        let words = "time: envia REQUEST (seq: 1, time: 0, queue: [(node: 1)]) a 2; time: leader";
        let expected = "time: envia REQUEST (seq: 1, tempo: 0, fila: [(nó: 1)]) a 2; time: leader";
        assert_eq!(told(words), expected);
        assert_eq!(told("UP (yes: no, prune: leaf) yes"), "UP (sim: não, poda: folha) yes");
        assert_eq!(told("nada (time) (pré: 1) (re"), "nada (time) (pré: 1) (re");
        assert_eq!(with_fields(words, Language::English), words);
    }
}
