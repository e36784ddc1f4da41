//! A look at a part of a run: it tells what the whole recording tells, and costs less.

use super::played;
use conclave_algorithms::catalog::ENTRIES;
use conclave_lab::player::answer::{RunQuestion, answer, answer_within, tell};
use conclave_lab::player::{AHEAD_MAX, Patience, play};
use serde_json::Value;
use std::time::Instant;

fn json(data: &impl serde::Serialize) -> Value {
    serde_json::to_value(data).expect("plain data")
}

/// The nodes are asked while they run, and what they send is told in part: whoever has all of it
/// written down, and asks them when they are run again, learns the same.
#[test]
fn a_look_at_a_part_tells_what_the_whole_recording_tells() {
    let edits: [&[&str]; 3] = [&[], &["crash=2@3", "amnesia=2@9"], &["pause=1@2+6", "cut=3@7"]];
    let flags = "--nodes 4 --seed 3 --latency uniform:1..9 --until 120 --loss 0.02";
    let mut compared = 0;
    for entry in ENTRIES {
        for edits in edits {
            let edits: Vec<String> = edits.iter().map(|edit| (*edit).to_string()).collect();
            let Ok(whole) = play(entry.id, flags, &edits) else { continue };
            let events = whole.trace.records.len();
            for at in [0, 7, events / 2, events] {
                let question = RunQuestion {
                    algorithm: entry.id.to_string(),
                    flags: flags.to_string(),
                    edits: edits.clone(),
                    window: Some((at.saturating_sub(6), at + 6)),
                    at,
                    ahead: 5,
                    ..RunQuestion::default()
                };
                let look = answer(&question).expect("it was played before");
                let told = tell(&whole, &question);
                assert_eq!(json(&look), json(&told), "{} {edits:?} at {at}", entry.id);
                compared += 1;
            }
        }
    }
    assert!(compared > 100, "only {compared} looks were compared");
}

#[test]
fn moments_ahead_are_the_moments_that_follow() {
    let whole = played("maekawa", "--nodes 4", &[]);
    let events = whole.trace.records.len();
    let ask = |at, ahead| {
        let only = serde_json::from_str(r#"["moment"]"#).expect("parts");
        tell(&whole, &RunQuestion { at, ahead, only: Some(only), ..RunQuestion::default() })
    };
    let several = ask(5, 3);
    assert_eq!(several.ahead.len(), 3);
    for (at, moment) in (6..).zip(&several.ahead) {
        assert_eq!(json(moment), json(&ask(at, 0).moment), "at {at}");
    }
    assert_eq!(ask(events - 1, 9).ahead.len(), 1, "there is nothing after the end");
    assert_eq!(ask(0, 1_000).ahead.len(), AHEAD_MAX.min(events));
}

#[test]
fn a_question_for_which_there_is_no_time_is_refused() {
    let question = RunQuestion {
        algorithm: "ricart-agrawala".to_string(),
        flags: "--nodes 5 --rounds 1000".to_string(),
        ..RunQuestion::default()
    };
    let refused =
        answer_within(Patience::until(Instant::now()), &question).expect_err("time is up");
    assert_eq!(refused.field, "flags");
    assert!(refused.words.contains("too long"), "{}", refused.words);
}
