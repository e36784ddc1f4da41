//! One test for each rule.

use super::*;
use conclave_core::Effect;
use conclave_core::testkit::{codes, message, run, send, why};

const ACQUIRE: Event<RicartAgrawala> = Event::Request(Request::Acquire);
const RELEASE: Event<RicartAgrawala> = Event::Request(Request::Release);
const CANCEL: Event<RicartAgrawala> = Event::Request(Request::Cancel);

fn node(me: u32, n: u32) -> RicartAgrawala {
    RicartAgrawala::new(NodeId(me), n, Text::Corrected)
}

fn request(from: u32, time: u64, seq: u32) -> Event<RicartAgrawala> {
    message(from, Message::Request { time, seq })
}

fn ok(from: u32, seq: u32) -> Event<RicartAgrawala> {
    message(from, Message::Ok { time: 0, seq })
}

/// Whom these effects answer, and which request of theirs.
fn answers(effects: &[Effect<RicartAgrawala>]) -> Vec<(u32, u32)> {
    let answer = |effect: &Effect<RicartAgrawala>| {
        let Effect::Send { to, message: Message::Ok { seq, .. } } = *effect else {
            panic!("expected an OK, got {effect:?}");
        };
        (to.0, seq)
    };
    effects.iter().map(answer).collect()
}

#[test]
fn alone_it_enters_at_once() {
    let entered = Effect::Indicate(Indication::Entered { fence: 1 });
    assert_eq!(run(&mut node(0, 1), ACQUIRE), [entered]);
}

#[test]
fn it_enters_when_the_last_of_all_others_agrees() {
    let mut node = node(1, 3);
    let ask = Message::Request { time: 1, seq: 1 };
    assert_eq!(run(&mut node, ACQUIRE), [send(0, ask), send(2, ask)]);
    assert_eq!(run(&mut node, ok(0, 1)), []);
    assert_eq!(run(&mut node, ok(0, 1)), [], "the same OK twice is one OK");
    let entered = Effect::Indicate(Indication::Entered { fence: 4 }); // 1 * 3 + 1
    assert_eq!(run(&mut node, ok(2, 1)), [entered]);
}

#[test]
fn an_idle_node_agrees_and_will_ask_later() {
    let mut node = node(0, 2);
    let agreed = send(1, Message::Ok { time: 7, seq: 4 });
    assert_eq!(run(&mut node, request(1, 7, 4)), [agreed]);
    assert_eq!(run(&mut node, ACQUIRE), [send(1, Message::Request { time: 8, seq: 1 })]);
}

#[test]
fn of_two_that_wait_the_earlier_and_then_the_smaller_goes_first() {
    let mut node = node(1, 4);
    run(&mut node, ACQUIRE);
    assert_eq!(answers(&run(&mut node, request(0, 1, 1))), [(0, 1)], "a tie, smaller node");
    assert_eq!(run(&mut node, request(2, 1, 1)), [], "a tie, larger node");
    assert_eq!(run(&mut node, request(3, 2, 5)), [], "later");
    assert_eq!(answers(&run(&mut node, CANCEL)), [(2, 1), (3, 5)]);
}

#[test]
fn who_is_inside_answers_when_it_leaves() {
    let mut node = node(0, 2);
    run(&mut node, ACQUIRE);
    run(&mut node, ok(1, 1));
    assert_eq!(run(&mut node, request(1, 1, 1)), []);
    assert_eq!(answers(&run(&mut node, RELEASE)), [(1, 1)]);
}

#[test]
fn an_ok_to_a_withdrawn_request_counts_for_nothing() {
    let mut node = node(0, 2);
    run(&mut node, ACQUIRE);
    run(&mut node, CANCEL);
    assert_eq!(run(&mut node, ok(1, 1)), []);
    run(&mut node, ACQUIRE);
    assert_eq!(run(&mut node, ok(1, 1)), []);
    assert_eq!(run(&mut node, ok(1, 2)).len(), 1);
}

#[test]
fn a_newer_request_replaces_the_deferred_one_and_an_older_is_dropped() {
    let mut node = node(0, 2);
    run(&mut node, ACQUIRE);
    run(&mut node, request(1, 1, 1));
    run(&mut node, request(1, 5, 3));
    assert_eq!(run(&mut node, request(1, 3, 2)), []);
    assert_eq!(answers(&run(&mut node, CANCEL)), [(1, 3)]);
    assert_eq!(run(&mut node, request(1, 3, 2)), []);
}

#[test]
fn a_restart_answers_whoever_was_deferred() {
    let mut node = node(0, 2);
    run(&mut node, ACQUIRE);
    run(&mut node, request(1, 1, 1));
    let Recovery::State(mut disk) = node.after_crash() else { panic!("the disk keeps it") };
    assert_eq!(answers(&run(&mut disk, Event::Restart)), [(1, 1)]);
    let again = run(&mut disk, ACQUIRE);
    assert_eq!(again, [send(1, Message::Request { time: 2, seq: 2 })]);
}

#[test]
fn the_printed_text_asks_with_a_smaller_time_than_it_agreed_to() {
    let mut node = RicartAgrawala::new(NodeId(1), 2, Text::Seed);
    assert_eq!(answers(&run(&mut node, request(0, 5, 1))), [(0, 1)]);
    assert_eq!(run(&mut node, ACQUIRE), [send(0, Message::Request { time: 1, seq: 1 })]);
}

#[test]
fn a_stranger_is_not_answered() {
    assert_eq!(run(&mut node(0, 2), request(2, 1, 1)), []);
}

#[test]
fn a_time_observed_while_waiting_moves_the_next_request_and_not_this_one() {
    let mut node = node(0, 2);
    run(&mut node, ACQUIRE);
    assert_eq!(run(&mut node, Event::Request(Request::Observe(9))), []);
    assert_eq!(run(&mut node, request(1, 2, 1)), [], "it asked later, at 2");
    let entered = Effect::Indicate(Indication::Entered { fence: 2 }); // 1 * 2 + 0
    assert_eq!(run(&mut node, ok(1, 1)), [entered]);
    run(&mut node, RELEASE);
    assert_eq!(run(&mut node, ACQUIRE), [send(1, Message::Request { time: 11, seq: 2 })]);
}

#[test]
fn who_comes_back_without_its_disk_counts_no_ok_to_what_it_asked_before() {
    let mut fresh = node(0, 2);
    assert_eq!(run(&mut fresh, Event::Restart), []);
    assert_eq!(run(&mut fresh, ok(1, 1)), [], "it waits for nothing");
}

#[test]
fn it_says_why_an_answer_waits_and_why_it_does_not() {
    let mut node = node(1, 3);
    assert_eq!(codes(&mut node, request(0, 1, 1)), ["agreed"]);
    assert_eq!(codes(&mut node, ACQUIRE), ["asked", "waits"]);
    assert_eq!(codes(&mut node, request(0, 1, 2)), ["yielded"], "(1,1) is before (2,2)");
    let reasons = why(&mut node, request(2, 5, 1));
    let told = reasons[0].fill(reasons[0].why.english);
    let expected = "the OK to {2} has to wait: its own request (2,{1}) is before (5,{2})";
    assert_eq!((reasons.len(), told.as_str()), (1, expected));
    assert_eq!(node.waits(), [(NodeId(2), NodeId(1))]);
    assert_eq!(codes(&mut node, ok(0, 1)), ["waits"]);
    assert_eq!(codes(&mut node, ok(2, 1)), ["entered"]);
    assert_eq!(codes(&mut node, request(0, 9, 3)), ["deferred-inside"]);
    assert_eq!(codes(&mut node, RELEASE), ["left"]);
}

#[test]
fn it_says_why_a_message_is_ignored() {
    let mut node = node(1, 3);
    assert_eq!(codes(&mut node, ok(0, 1)), ["stale"]);
    assert_eq!(codes(&mut node, request(0, 5, 2)), ["agreed"]);
    assert_eq!(codes(&mut node, request(0, 1, 1)), ["overtaken"]);
    assert_eq!(codes(&mut node, request(7, 1, 1)), ["stranger"]);
}
