//! Reasons name rules, and the cards have them; kinds of messages keep their places.

use conclave_algorithms::catalog::{ENTRIES, Entry};
use conclave_core::Why;
use conclave_lab::cards::{self, Card};
use conclave_lab::documents::{of, place, place_of_kind};
use conclave_lab::player::answer::{RunQuestion, answer};

fn row(id: &str) -> &'static Entry {
    ENTRIES.iter().copied().find(|row| row.id == id).expect("a row")
}

#[test]
fn every_rule_that_a_reason_names_is_on_a_card() {
    let cards = cards::all();
    let has = |card: &Card, place: &str| {
        let assumed = |id: &str| format!("{}.{id}", card.id) == place;
        card.rules.iter().any(|rule| rule.anchor == place)
            || card.assumptions.iter().any(|assumption| assumed(assumption.id))
    };
    let is_numbered = |why: &Why| why.rule.starts_with('R');
    let mut missing = Vec::new();
    for entry in ENTRIES {
        for why in entry.why.iter().flat_map(|table| table.iter()).filter(|why| is_numbered(why)) {
            let place = place(entry, why);
            if !cards.iter().any(|card| has(card, &place)) {
                missing.push(format!("{place}: {}", why.code));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

#[test]
fn rules_are_told_apart_and_rows_of_two_lines_are_one() {
    let [(_, maekawa)] = of(row("maekawa"))[..] else { panic!("it has one document") };
    assert_eq!(maekawa.rules.len(), 8);
    assert_eq!(maekawa.rules[1], ("R2", "an arbiter whose vote is free gives it"));
    let [(_, document)] = of(row("roucairol-carvalho"))[..] else { panic!("it has one document") };
    let [name, to, when, _] = document.messages[0];
    assert_eq!((name, to), ("REQUEST", "requester, whose permission it lacks"));
    assert!(when.ends_with("give back a permission while it waits"), "{when}");
}

#[test]
fn a_kind_of_message_has_its_place_whatever_a_run_sends() {
    let setting = row("maekawa").setting(7, &[]).expect("it takes these");
    let kinds = ["REQUEST", "GRANT", "FAILED", "INQUIRE", "YIELD", "RELEASE"];
    assert_eq!(kinds.map(|kind| place_of_kind(&setting, kind)), [0, 1, 2, 3, 4, 5]);
    let set = [("election", "bully"), ("detector", "heartbeat")];
    let setting = row("token-ring-regenerating").setting(5, &set).expect("it takes these");
    let kinds = ["TOKEN", "TOKEN_ACK", "ELECTION", "HEARTBEAT"];
    assert_eq!(kinds.map(|kind| place_of_kind(&setting, kind)), [0, 1, 7, 12]);
}

/// Its own vote is one of those that it has, though nobody sent it.
#[test]
fn what_a_node_tells_itself_is_marked() {
    let question = RunQuestion {
        algorithm: "maekawa".to_string(),
        flags: "--nodes 7".to_string(),
        ..RunQuestion::default()
    };
    let list = answer(&question).unwrap_or_else(|refused| panic!("{}", refused.words)).list;
    let asks = list.into_iter().flatten().find(|event| event.kind == "request").expect("one asks");
    let own: Vec<(&str, bool)> = asks.why.iter().map(|why| (why.code, why.own)).collect();
    assert_eq!(own, [("asked", false), ("voted", true), ("has-votes", true)]);
    let told = &asks.why[2];
    assert_eq!(told.text, "has the votes of 1; the votes of 2, 4 are still to come");
    assert_eq!(told.place, "maekawa.R6");
}
