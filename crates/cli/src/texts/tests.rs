//! Nothing that people read may be left in English alone.

use crate::Conclave;
use clap::CommandFactory;
use conclave_algorithms::catalog::{self, Family, Finding};
use conclave_core::Property;
use conclave_texts::{Book, PORTUGUESE, entries};
use std::collections::BTreeSet;

fn book() -> Book {
    Book::of(PORTUGUESE)
}

fn all() -> Vec<(String, String)> {
    PORTUGUESE.iter().flat_map(|file| entries(file)).collect()
}

/// The names of the holes of a text.
fn holes(text: &str) -> BTreeSet<&str> {
    let name = |text: &str| text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    let inside = text.split('{').skip(1).filter_map(|rest| rest.split_once('}'));
    inside.map(|(inside, _)| inside).filter(|inside| name(inside)).collect()
}

/// Words of formulas and parameters.
const NAMES: [&str; 5] = ["log", "init", "none", "prevote", "opt"];

fn complain(complaints: &[String]) {
    assert!(complaints.is_empty(), "{} texts:\n{}", complaints.len(), complaints.join("\n"));
}

#[test]
fn every_text_has_a_translation_with_the_same_holes_and_is_there_once() {
    let mut complaints = Vec::new();
    let mut seen = BTreeSet::new();
    for (known, told) in all() {
        if told.is_empty() || holes(&known) != holes(&told) {
            complaints.push(format!("{known} | {told}"));
        }
        if !seen.insert(known.clone()) {
            complaints.push(format!("twice: {known}"));
        }
    }
    complain(&complaints);
}

#[test]
fn a_translation_is_not_translated_again() {
    let book = book();
    let again = |(known, told): (String, String)| {
        let twice = book.look_up(&told).filter(|twice| *twice != told)?;
        Some(format!("{known} | {told} | {twice}"))
    };
    complain(&all().into_iter().filter_map(again).collect::<Vec<_>>());
}

#[test]
fn the_name_of_an_algorithm_is_never_translated() {
    let book = book();
    let ids = catalog::ENTRIES.iter().map(|entry| entry.id.to_string());
    complain(&ids.filter(|id| book.look_up(id).is_some()).collect::<Vec<_>>());
}

#[test]
fn the_whole_catalogue_is_translated() {
    let book = book();
    let mut missing = Vec::new();
    let mut need = |text: &str| {
        // A formula is the same in every language, and so is a name.
        let words = text.split(|c: char| !c.is_alphabetic()).filter(|word| {
            word.len() > 2 && word.chars().all(char::is_lowercase) && !NAMES.contains(word)
        });
        if words.count() > 0 && book.look_up(text).is_none() {
            missing.push(text.to_string());
        }
    };
    for entry in catalog::ENTRIES {
        need(entry.title);
        need(entry.summary);
        for assumption in entry.assumptions {
            need(assumption.text);
            match assumption.dropped.finding {
                Finding::Harmless(why) | Finding::OutOfReach(why) => need(why),
                Finding::Breaks(_) => {}
            }
        }
        entry.lacks.iter().for_each(|(_, why)| need(why));
        entry.parameters.iter().for_each(|parameter| need(parameter.about));
        entry.cost.formulas().for_each(|(_, formula)| need(formula.text));
        need(entry.cost.textbooks());
    }
    Family::ALL.iter().for_each(|family| need(family.question()));
    let families =
        [&Property::MUTEX[..], &Property::ELECTION, &Property::DETECTOR, &Property::CLOCK];
    families.into_iter().flatten().for_each(|property| need(property.meaning()));
    complain(&missing);
}

#[test]
fn the_whole_help_is_translated() {
    let book = book();
    let mut missing = Vec::new();
    let mut command = Conclave::command();
    command.build();
    need_help(&command, &book, &mut missing);
    complain(&missing);
}

fn need_help(command: &clap::Command, book: &Book, missing: &mut Vec<String>) {
    if command.is_hide_set() {
        return;
    }
    let own = [command.get_about(), command.get_long_about(), command.get_after_help()];
    let mut texts: Vec<String> = own.into_iter().flatten().map(|text| text.to_string()).collect();
    for argument in command.get_arguments().filter(|argument| !argument.is_hide_set()) {
        let helps = [argument.get_help(), argument.get_long_help()];
        texts.extend(helps.into_iter().flatten().map(|text| text.to_string()));
        texts.extend(argument.get_help_heading().map(str::to_string));
        let values = argument.get_possible_values();
        texts.extend(values.iter().filter_map(|value| Some(value.get_help()?.to_string())));
    }
    for text in texts {
        if book.paragraphs(&text).is_none() && !missing.contains(&text) {
            missing.push(text);
        }
    }
    command.get_subcommands().for_each(|command| need_help(command, book, missing));
}

/// What servers say, and the client of them.
const SAID: &[&str] = &[
    "'build' is free: nobody holds it and nobody waits",
    "'vm:7 make' has held 'build' for 369 ms, and nobody waits",
    "'vm:7 make' has held 'build' for 3 s, and 12 wait",
    "3 hold 'licence', and 1 waits",
    "nobody holds 'build', and 2 wait",
    "it was taken from 'vm:7 make' by force, and ends in 3 s at the latest",
    "'vm:7 make' gives it back, ends its session, or is silent for 9 s more",
    "the first in line, 'vm:7 make', also waits for 'b', and holds nothing until then",
    "whoever waits for 'a' here waits for ever: 2 others wait for what this session has, in a \
     circle; give something back first",
    "node 9 does not belong to the cluster",
    "node 3 is 812 entries behind: wait until it has caught up",
    "this needs the admin token: 'Authorization: Bearer TOKEN'",
    "that is not the admin token",
    "boss: not elected in time: vm:7 make leads, for 3 s",
    "no node leads the cluster now; ask again",
    "no such session; it may have expired",
    "the cluster holds it for this session no longer",
    "label has at most 128 characters, none of them a control character or an invisible one",
    "'build' is in use with another number of permits, or without any",
    "listens on http://127.0.0.1:5000; the value is 0",
    "refused: client 9 does not hold the resource; client 1 does",
    "client 2 reads 17, though it was not let in",
    "wrote \"17\"     after 0.020 s of waiting",
    "5 is dead, it led: an election (it answers 500)",
    "4 leads now; alive are [1, 2, 4], found by 4",
    "receives time 7 at 3: set to 8",
    "nobody leads: node 1 hears of no majority",
    "no majority",
    "no node belongs to this cluster yet: it begins when its nodes have met",
    "its session was ended",
    "its session was silent for too long",
    "its session was without its stream for too long",
];

#[test]
fn what_servers_say_is_known() {
    let book = book();
    let unknown = |text: &&&str| book.sentence(text).is_none();
    complain(&SAID.iter().filter(unknown).map(ToString::to_string).collect::<Vec<_>>());
}
