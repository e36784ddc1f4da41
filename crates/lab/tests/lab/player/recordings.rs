//! A recording is shown as the run was, and a hostile one hurts nobody.

use super::played;
use conclave_lab::player::answer::{RunQuestion, tell, tell_in_time};
use conclave_lab::player::{Language, Patience, Played};
use std::time::Instant;

fn recording() -> String {
    let run = played("ricart-agrawala", "--nodes 3 --crash 2@5 --latency uniform:1..5", &[]);
    let exported = run.export("jsonl", Language::English);
    exported.unwrap_or_else(|refused| panic!("{}", refused.words)).text
}

#[test]
fn a_recording_is_shown_as_the_run_was() {
    let run = played("ricart-agrawala", "--nodes 3 --crash 2@5 --latency uniform:1..5", &[]);
    let again = Played::by_recording(Patience::ENDLESS, recording().as_bytes());
    let again = again.unwrap_or_else(|refused| panic!("{}", refused.words));
    assert_eq!(again.trace.records, run.trace.records);
    let told = tell(&again, &RunQuestion { at: 9, ..RunQuestion::default() });
    let moment = told.moment.expect("it was asked for");
    assert!(moment.actions.is_empty(), "what is over cannot be changed");
    assert!(moment.nodes.iter().any(|node| !node.fields.is_empty()), "nodes are asked again");
}

#[test]
fn a_hostile_recording_is_refused_or_shown_and_hurts_nobody() {
    let text = recording();
    let mut refused = 0;
    for place in (0..text.len()).step_by(37) {
        for change in ["", "9", "\"", "}", "-1", "99999999999"] {
            let mut hostile = text.clone();
            if text.is_char_boundary(place) && text.is_char_boundary(place + 1) {
                hostile.replace_range(place..=place, change);
            }
            refused +=
                usize::from(Played::by_recording(Patience::ENDLESS, hostile.as_bytes()).is_err());
        }
    }
    assert!(refused > 100, "{refused} were refused");
    for file in [&b""[..], b"{}", b"\xff\xfe", b"not a recording", b"[[[[[[[[[[[[[[[["] {
        let refused = Played::by_recording(Patience::ENDLESS, file).err().expect("it is none");
        assert_eq!(refused.field, "recording");
    }
}

/// Why a recording is not shown to somebody who waits this long.
fn why_not(patience: Patience, text: &str) -> String {
    let refused = Played::by_recording(patience, text.as_bytes()).err();
    let refused = refused.unwrap_or_else(|| panic!("it is shown: {text:.200}"));
    assert_eq!(refused.field, "recording");
    refused.words
}

#[test]
fn a_recording_for_which_there_is_no_time_is_refused() {
    let gone = Patience::until(Instant::now());
    assert!(why_not(gone, &recording()).contains("too long"));
    let story = r#"{"property":"S1","moments":[],"stem":null,"shortest":true}"#;
    let story = Played::by_story(gone, "lamport", "--nodes 2", story).err().expect("no time");
    assert_eq!((story.field, story.words.contains("too long")), ("story", true));
    let played = Played::by_recording(Patience::ENDLESS, recording().as_bytes());
    let mut played = played.unwrap_or_else(|refused| panic!("{}", refused.words));
    let all = tell(&played, &RunQuestion::default());
    played.patience = gone;
    let told = tell(&played, &RunQuestion { ahead: 9, ..RunQuestion::default() });
    assert!(all.list.is_some_and(|list| list.len() > 9) && all.moment.is_some());
    assert!(told.list.is_some_and(|list| list.is_empty()) && told.moment.is_none(), "broken off");
    let late = tell_in_time(&played, &RunQuestion::default(), "recording").err();
    assert_eq!(late.expect("it is late").field, "recording");
    let exported = played.export("svg", Language::English).err().expect("it is late");
    assert!(exported.words.contains("too long"), "{}", exported.words);
}

/// Of a node that did what nobody saw everything is believed, what its messages say included.
#[test]
fn what_a_forged_message_says_is_shown_however_deep() {
    let text = recording();
    let said = "\"details\":\"time: 1, seq: 1\"";
    let line = text.lines().position(|line| line.contains(said)).expect("somebody asks");
    let deep = format!("\"details\":\"{}\"", "(".repeat(1_000_000));
    let forged = text.lines().enumerate().map(|(place, text)| {
        if place != line {
            return format!("{text}\n");
        }
        let mut step: serde_json::Value = serde_json::from_str(text).expect("a record");
        step["cause"] = "unseen".into();
        step["event"] = serde_json::Value::Null;
        step.to_string().replace(said, &deep) + "\n"
    });
    let forged: String = forged.collect();
    let shown = Played::by_recording(Patience::ENDLESS, forged.as_bytes());
    let shown = shown.unwrap_or_else(|refused| panic!("{}", refused.words));
    let told = tell(&shown, &RunQuestion { at: 5, ..RunQuestion::default() });
    let long = told.list.iter().flatten().any(|event| event.text.len() > 1_000_000);
    assert!(long, "it is told as it is");
    let ahead = tell(&shown, &RunQuestion { at: 6, ahead: 32, ..RunQuestion::default() });
    let length: usize = ahead.ahead.iter().map(|moment| moment.size()).sum();
    assert!(ahead.moment.is_some() && length < 8 << 20, "{length} bytes of moments ahead");
}

#[test]
fn a_recording_that_takes_too_much_memory_is_refused() {
    let text = recording();
    let numbers = format!("\"event\":[{}0]", "0,".repeat(6_500_000));
    let forged = text.replacen("\"event\":\"Start\"", &numbers, 1);
    assert!(forged.len() < 16 << 20, "a shorter one is refused by its length");
    assert_eq!(why_not(Patience::ENDLESS, &forged), "it has more in it than is read here");
}

#[test]
fn a_run_that_takes_too_much_memory_is_not_exported() {
    let run = || played("heartbeat", "--nodes 3 --until 100", &[]);
    assert!(!run().is_too_large() && run().export("svg", Language::English).is_ok());
    let mut large = run();
    large.overrun = true; // As the simulator says it, before all events have happened.
    assert!(large.is_too_large());
    let refused = large.export("svg", Language::English).err().expect("it is too large");
    assert_eq!((refused.field, refused.words.contains("not exported")), ("format", true));
}
