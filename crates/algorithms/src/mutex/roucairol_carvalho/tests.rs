//! One test for each rule.

use super::*;
use conclave_core::Effect;
use conclave_core::testkit::{message, run, send};

type Node = RoucairolCarvalho;
const ACQUIRE: Event<Node> = Event::Request(Request::Acquire);
const RELEASE: Event<Node> = Event::Request(Request::Release);
const CANCEL: Event<Node> = Event::Request(Request::Cancel);

fn node(me: u32, n: u32) -> Node {
    Node::new(NodeId(me), n, Init::Low)
}

fn request(from: u32, time: u64, seq: u32) -> Event<Node> {
    message(from, Message::Request { time, seq })
}

fn ok(from: u32, seq: u32, fence: u64) -> Event<Node> {
    message(from, Message::Ok { seq, fence })
}

fn gives(to: u32, seq: u32, fence: u64) -> Effect<Node> {
    send(to, Message::Ok { seq, fence })
}

fn asks(to: u32, time: u64, seq: u32) -> Effect<Node> {
    send(to, Message::Request { time, seq })
}

fn entered(fence: u64) -> Effect<Node> {
    Effect::Indicate(Indication::Entered { fence })
}

#[test]
fn who_holds_every_permission_enters_at_once_and_again() {
    let mut node = node(0, 3);
    assert_eq!(run(&mut node, ACQUIRE), [entered(1)]);
    assert_eq!(run(&mut node, RELEASE), []);
    assert_eq!(run(&mut node, ACQUIRE), [entered(2)]);
    assert_eq!(run(&mut Node::new(NodeId(0), 1, Init::None), ACQUIRE), [entered(1)]);
}

#[test]
fn only_those_are_asked_whose_permission_is_missing() {
    assert_eq!(run(&mut node(1, 3), ACQUIRE), [asks(0, 1, 1)]);
    let mut nobody = Node::new(NodeId(1), 3, Init::None);
    assert_eq!(run(&mut nobody, ACQUIRE), [asks(0, 1, 1), asks(2, 1, 1)]);
}

#[test]
fn the_fence_is_one_more_than_the_largest_that_came_along() {
    let mut node = node(2, 3);
    run(&mut node, ACQUIRE);
    run(&mut node, ok(0, 1, 7));
    assert_eq!(run(&mut node, ok(1, 1, 4)), [entered(8)]);
}

#[test]
fn an_idle_node_gives_its_permission_away_and_must_ask_for_it() {
    let mut node = node(0, 2);
    assert_eq!(run(&mut node, request(1, 1, 1)), [gives(1, 1, 0)]);
    assert_eq!(run(&mut node, ACQUIRE), [asks(1, 3, 1)]);
}

#[test]
fn who_gives_back_a_permission_while_it_waits_asks_for_it_right_after() {
    let mut node = node(1, 3);
    run(&mut node, Event::Request(Request::Observe(4)));
    run(&mut node, ACQUIRE);
    assert_eq!(run(&mut node, request(2, 1, 9)), [gives(2, 9, 0), asks(2, 6, 1)]);
    assert_eq!(run(&mut node, request(0, 1, 3)), [gives(0, 3, 0)], "0 was asked already");
}

#[test]
fn a_later_request_waits_until_the_exit() {
    let mut node = node(0, 3);
    run(&mut node, ACQUIRE);
    assert_eq!(run(&mut node, request(2, 1, 1)), []);
    assert_eq!(run(&mut node, RELEASE), [gives(2, 1, 1)]);
    assert_eq!(run(&mut node, ACQUIRE), [asks(2, 3, 2)]);
}

#[test]
fn a_permission_for_a_withdrawn_request_is_not_taken_up() {
    let mut node = node(1, 2);
    run(&mut node, ACQUIRE);
    run(&mut node, CANCEL);
    assert_eq!(run(&mut node, ok(0, 1, 0)), [], "idle");
    assert_eq!(run(&mut node, ACQUIRE), [asks(0, 2, 2)], "it was not taken up");
    assert_eq!(run(&mut node, ok(0, 1, 0)), [], "waiting for another");
    assert_eq!(run(&mut node, ok(0, 2, 0)), [entered(1)]);
}

#[test]
fn a_withdrawn_request_that_comes_late_is_not_answered() {
    let mut node = node(0, 2);
    assert_eq!(run(&mut node, request(1, 5, 2)), [gives(1, 2, 0)]);
    assert_eq!(run(&mut node, request(1, 3, 1)), []);
}

#[test]
fn a_restart_answers_whoever_was_deferred_and_keeps_permissions() {
    let mut node = node(0, 3);
    run(&mut node, ACQUIRE);
    run(&mut node, request(1, 1, 1));
    let Recovery::State(mut disk) = node.after_crash() else { panic!("the disk keeps it") };
    assert_eq!(run(&mut disk, Event::Restart), [gives(1, 1, 1)]);
    assert_eq!(run(&mut disk, ACQUIRE), [asks(1, 3, 2)], "the permission of 2 is still held");
}
