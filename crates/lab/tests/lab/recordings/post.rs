//! Messages that are on no tape: which are excused by a gap.

use conclave_core::{NodeId, Ticks};
use conclave_lab::recordings::{Post, Tape, Tapes};
use conclave_net::recording::{Done, Entry, Header, Recording, Step};
use conclave_net::{Deed, Input, Lane};

const ONE: NodeId = NodeId(0);
const OTHER: NodeId = NodeId(1);

fn tape(node: NodeId, start: u32, cut: bool, steps: Vec<Step>) -> Tape {
    let cluster = "test".to_string();
    let settings = String::new();
    let header = Header { cluster, settings, node, n: 2, incarnation: start, started: 0 };
    let entries = steps.into_iter().map(Entry::Step).collect();
    Tape { file: String::new(), recording: Recording { header, entries, cut } }
}

fn step(input: Input, arrival: Option<(Lane, u64)>, deeds: Vec<Done>) -> Step {
    Step { at: Ticks(1), key: "lock/a".into(), input, arrival, choices: Vec::new(), deeds }
}

/// The one node sends to the other.
fn sends(lane: Lane, number: u64) -> Step {
    let deed = Deed::Send { to: OTHER, kind: "REQUEST".into(), bytes: vec![number as u8] };
    step(Input::Start, None, vec![Done { deed, sent: Some((lane, number)), due: None }])
}

fn takes(lane: Lane, number: u64) -> Step {
    let message = Input::Message { from: ONE, bytes: vec![number as u8] };
    step(message, Some((lane, number)), Vec::new())
}

fn wrong(tapes: Vec<Tape>) -> Option<String> {
    Post::of(&Tapes { tapes }).err().map(|difference| difference.what)
}

#[test]
fn the_first_message_of_a_way_may_not_be_lost_either() {
    let received = |lane: Lane, start: u32| {
        let sent = tape(ONE, 1, false, vec![sends(lane, 1), sends(lane, 2)]);
        wrong(vec![sent, tape(OTHER, start, false, vec![takes(lane, 2)])])
    };
    let lost = "message 2 of node 1 to node 2 arrives, but 1 did not";
    assert_eq!(received(Lane::Durable, 1).as_deref(), Some(lost));
    assert_eq!(received(Lane::Durable, 2), None, "its first start may have taken it");
    assert_eq!(received(Lane::Transient, 1), None, "links may lose it");
}

#[test]
fn a_gap_excuses_only_what_can_have_been_received_in_it() {
    let sent = |numbers: &[u64]| {
        let steps = numbers.iter().map(|number| sends(Lane::Durable, *number)).collect();
        tape(ONE, 1, false, steps)
    };
    let taken = |start: u32, cut: bool, number: u64| {
        tape(OTHER, start, cut, vec![takes(Lane::Durable, number)])
    };
    let before = vec![sent(&[1, 2, 3]), taken(1, false, 1), taken(2, true, 3)];
    let lost = "message 3 of node 1 to node 2 arrives, but 2 did not";
    assert_eq!(wrong(before).as_deref(), Some(lost), "that gap is later");
    assert_eq!(wrong(vec![sent(&[1, 2, 3]), taken(1, true, 1), taken(2, false, 3)]), None);
    assert_eq!(wrong(vec![sent(&[1, 2, 3]), taken(1, false, 1), taken(3, false, 3)]), None);
}

#[test]
fn a_gap_excuses_only_what_can_have_been_sent_in_it() {
    let taken =
        || tape(OTHER, 1, false, (1..=3).map(|number| takes(Lane::Durable, number)).collect());
    let sent = |start: u32, cut: bool, number: u64| {
        tape(ONE, start, cut, vec![sends(Lane::Durable, number)])
    };
    let never = "message 2 of node 1 to node 2 arrives, and was never sent";
    let later = wrong(vec![sent(1, false, 1), sent(2, true, 3), taken()]);
    assert_eq!(later.as_deref(), Some(never), "that gap is later");
    assert_eq!(wrong(vec![sent(1, true, 1), sent(2, false, 3), taken()]), None);
    assert_eq!(wrong(vec![sent(1, false, 1), sent(3, false, 3), taken()]), None);
    let unknown = wrong(vec![sent(1, false, 1), taken()]);
    let maybe = "; or a recording of a later start of node 1 is missing";
    assert_eq!(unknown, Some(never.to_string() + maybe));
}
