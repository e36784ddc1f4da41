//! "Break it" finds what the catalogue says breaks, and what it finds can be played.

use conclave_core::Property;
use conclave_lab::player::breaking::{CheckQuestion, Found, Line, Search};
use conclave_lab::player::lamps::{State, lamps};
use conclave_lab::player::{Patience, Played};

fn question(algorithm: &str, flags: &str, without: &[&str]) -> CheckQuestion {
    CheckQuestion {
        algorithm: algorithm.to_string(),
        flags: flags.to_string(),
        without: without.iter().map(|tag| (*tag).to_string()).collect(),
        again: false,
        seconds: Some(60),
        lang: None,
    }
}

fn search(question: &CheckQuestion) -> Line {
    let search = Search::new(question).unwrap_or_else(|refused| panic!("{}", refused.words));
    search.run(&|_| true).unwrap_or_else(|refused| panic!("{}", refused.words))
}

fn found(question: &CheckQuestion) -> Found {
    let line = search(question);
    let Line::Found(found) = line else { panic!("{line:?}") };
    *found
}

#[test]
fn lamport_without_fifo_lets_two_in_and_the_story_is_played() {
    let entry = conclave_lab::find("lamport").expect("it is in the catalogue");
    let breaks = entry.assumptions.iter().find(|assumption| {
        assumption.text.contains("order") || assumption.text.contains("first in")
    });
    let tag = breaks.expect("it assumes an order").tag;
    let found = found(&question("lamport", "--nodes 2", &[tag]));
    assert_eq!(found.property, "S1");
    let played = Played::by_story(Patience::ENDLESS, "lamport", &found.flags, &found.story);
    let played = played.unwrap_or_else(|refused| panic!("{}", refused.words));
    let lamps = lamps(&played);
    let lamp = lamps.iter().find(|lamp| lamp.property == Property::S1).expect("it is judged");
    assert_eq!(lamp.at(played.trace.records.len()), State::Broken);
    assert_eq!(lamp.at(1), State::Kept);
}

/// Three nodes are too few for the circle; what is looked at is what the catalogue says shows it.
#[test]
fn maekawa_as_first_printed_is_searched_where_it_gets_stuck() {
    let found = found(&question("maekawa", "--set sanders=false", &[]));
    assert_eq!(found.property, "V1");
    assert!(found.flags.contains("--nodes 4"), "{}", found.flags);
}

#[test]
fn what_holds_is_said_to_hold_and_a_search_can_be_ended() {
    let holds = search(&question("ricart-agrawala", "--nodes 2", &[]));
    assert!(matches!(holds, Line::Holds { states, .. } if states > 10), "{holds:?}");
    let large = question("maekawa", "--nodes 5", &[]);
    let large = Search::new(&large).unwrap_or_else(|refused| panic!("{}", refused.words));
    let ended = large.run(&|_| false).unwrap_or_else(|refused| panic!("{}", refused.words));
    assert!(matches!(&ended, Line::Unknown { why, .. } if why == "time was up"), "{ended:?}");
}

#[test]
fn starvation_is_a_story_that_begins_again() {
    let for_ever =
        CheckQuestion { again: true, ..question("central", "--nodes 2 --set busy=try", &[]) };
    let found = found(&for_ever);
    assert_eq!(found.property, "V2", "whoever is refused may be refused for ever");
    let from = found.loop_from.expect("it goes round");
    assert!(from < found.steps, "{from} of {}", found.steps);
    let played = Played::by_story(Patience::ENDLESS, "central", &found.flags, &found.story);
    let played = played.unwrap_or_else(|refused| panic!("{}", refused.words));
    let events = played.trace.records.len();
    assert!(played.loop_from.is_some_and(|event| event < events), "{:?}", played.loop_from);
    let lamps = lamps(&played);
    let lamp = lamps.iter().find(|lamp| lamp.property == Property::V2).expect("it is judged");
    assert_eq!(lamp.at(events), State::Broken);
    let elections = CheckQuestion { again: true, ..question("bully", "", &[]) };
    assert_eq!(Search::new(&elections).err().expect("nobody asks there").field, "again");
}

#[test]
fn a_story_that_cannot_be_is_refused() {
    let bad = ["", "{}", "[]", r#"{"property":"S1","moments":[],"stem":9,"shortest":true}"#];
    let forged = r#"{"property":"S1","moments":[{"move":"release","node":7}],"stem":null,
        "shortest":true}"#;
    let round = r#"{"property":"S1","moments":[],"stem":18446744073709551615,"shortest":true}"#;
    for text in bad.iter().chain([&forged, &round]) {
        let played = Played::by_story(Patience::ENDLESS, "lamport", "--nodes 2", text);
        assert!(played.is_err(), "{text}");
    }
    let unknown = Search::new(&question("lamport", "", &["A99"])).err().expect("no such one");
    assert_eq!(unknown.field, "without");
    let large = Search::new(&question("lamport", "--nodes 40", &[])).err().expect("too many");
    assert_eq!(large.field, "flags");
}
