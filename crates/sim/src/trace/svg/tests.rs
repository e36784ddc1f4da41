use super::*;
use crate::trace::testkit::{Draft, hand_made};
use conclave_core::Ticks;

#[test]
fn everything_that_happened_is_in_the_picture_and_the_legend() {
    let svg = write(&hand_made()).expect("small");
    for sign in [
        ">fence 4<",
        "partition 1 / 2",
        "S1 violated",
        ">paused<",
        ">crash<",
        "restart, disk lost",
        ">Retry<",
        ">waits to enter<",
        ">lost<",
        ">REQUEST<",
        "Lamport",
        "conclave sim by-hand",
    ] {
        assert!(svg.contains(sign), "{sign} is not in {svg}");
    }
    assert!(!svg.contains("leader"), "there is none");
}

#[test]
fn it_is_well_formed_and_stands_alone() {
    let mut draft = Draft::new(2);
    draft.ask(0, 0, "Acquire").send(1, "<A&B>", Some(1));
    let mut trace = draft.end(2);
    trace.header.command = "sim --set \"<x>\" & more".to_string();
    let svg = write(&trace).expect("small");
    assert!(svg.contains("&lt;A&amp;B&gt;") && svg.contains("&quot;&lt;x&gt;&quot; &amp; more"));
    let mut open: Vec<&str> = Vec::new();
    for tag in svg.split('<').skip(1) {
        let name = tag.split([' ', '>']).next().expect("a tag has a name");
        match name.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop(), Some(name)),
            None if !tag.split('>').next().is_some_and(|tag| tag.ends_with('/')) => open.push(name),
            None => {}
        }
    }
    assert!(open.is_empty(), "{open:?}");
    assert_eq!(svg.matches("http").count(), 1, "only the name space");
}

#[test]
fn long_silences_are_shortened_and_instants_kept_apart() {
    let mut draft = Draft::new(1);
    draft.ask(0, 0, "Acquire");
    draft.ask(1_000, 0, "Release");
    draft.record(Record::Crash { at: Ticks(1_000_001), node: conclave_core::NodeId(0) });
    let trace = draft.end(1_001);
    let scale = Scale::of(&trace, &Lives::of(&trace), Ticks::ZERO, 50.0);
    assert_eq!(scale.x(Ticks::units(1_000)) - scale.begin(), 130.0);
    assert!(scale.x(Ticks(1_000_001)) - scale.x(Ticks(1_000_000)) >= 15.0);
    assert_eq!(scale.breaks().len(), 1);
    assert_eq!(scale.x(Ticks::units(500)), scale.begin() + 65.0);
}

#[test]
fn a_long_run_is_cut_and_says_so() {
    let mut draft = Draft::new(2);
    for at in 0..700 {
        draft.ask(at, 0, "Acquire").send(1, "REQUEST", Some(at + 1));
    }
    let svg = write(&draft.end(701)).expect("two nodes");
    assert!(svg.contains("the first 600 of 700 messages, no more"));
    assert_eq!(svg.matches("<path class=\"a0").count(), 600 + 2, "the legend has two");
    assert!(svg.len() < 200_000, "{}", svg.len());
}

#[test]
fn more_nodes_than_fit_are_refused() {
    let error = write(&Draft::new(65).end(1)).expect_err("too many").to_string();
    assert_eq!(error, "a space-time diagram of 65 nodes: at most 64");
}
