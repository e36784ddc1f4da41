//! A recording is shown as the run was, and a hostile one hurts nobody.

use super::played;
use conclave_lab::player::answer::{RunQuestion, tell};
use conclave_lab::player::{Language, Played};

fn recording() -> String {
    let run = played("ricart-agrawala", "--nodes 3 --crash 2@5 --latency uniform:1..5", &[]);
    let exported = run.export("jsonl", Language::English);
    exported.unwrap_or_else(|refused| panic!("{}", refused.words)).text
}

#[test]
fn a_recording_is_shown_as_the_run_was() {
    let run = played("ricart-agrawala", "--nodes 3 --crash 2@5 --latency uniform:1..5", &[]);
    let again = Played::by_recording(recording().as_bytes());
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
            refused += usize::from(Played::by_recording(hostile.as_bytes()).is_err());
        }
    }
    assert!(refused > 100, "{refused} were refused");
    for file in [&b""[..], b"{}", b"\xff\xfe", b"not a recording", b"[[[[[[[[[[[[[[[["] {
        let refused = Played::by_recording(file).err().expect("it is none");
        assert_eq!(refused.field, "recording");
    }
}
