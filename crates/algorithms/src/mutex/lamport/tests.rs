//! One test for each rule.

use super::*;
use conclave_core::Effect;
use conclave_core::testkit::{message, run, send};

const ACQUIRE: Event<Lamport> = Event::Request(Request::Acquire);
const RELEASE: Event<Lamport> = Event::Request(Request::Release);
const CANCEL: Event<Lamport> = Event::Request(Request::Cancel);

fn node(me: u32, n: u32) -> Lamport {
    Lamport::new(NodeId(me), n, false)
}

fn request(from: u32, time: u64) -> Event<Lamport> {
    message(from, Message::Request { time })
}

fn reply(from: u32, time: u64) -> Event<Lamport> {
    message(from, Message::Reply { time })
}

fn release(from: u32, time: u64) -> Event<Lamport> {
    message(from, Message::Release { time })
}

fn entered(fence: u64) -> Effect<Lamport> {
    Effect::Indicate(Indication::Entered { fence })
}

#[test]
fn alone_it_enters_at_once() {
    assert_eq!(run(&mut node(0, 1), ACQUIRE), [entered(1)]);
}

#[test]
fn it_enters_when_it_has_heard_something_later_from_everybody() {
    let mut node = node(1, 3);
    let ask = Message::Request { time: 1 };
    assert_eq!(run(&mut node, ACQUIRE), [send(0, ask), send(2, ask)]);
    assert_eq!(run(&mut node, reply(2, 3)), []);
    assert_eq!(run(&mut node, reply(0, 3)), [entered(4)]); // 1 * 3 + 1
}

#[test]
fn a_request_is_answered_even_from_inside() {
    let mut node = node(0, 2);
    run(&mut node, ACQUIRE);
    run(&mut node, reply(1, 3));
    let effects = run(&mut node, request(1, 4));
    assert_eq!(effects, [send(1, Message::Reply { time: 6 })]);
}

#[test]
fn a_later_request_lets_in_as_well_as_a_reply() {
    let mut node = node(0, 2);
    run(&mut node, ACQUIRE);
    let effects = run(&mut node, request(1, 1));
    assert_eq!(effects, [send(1, Message::Reply { time: 3 }), entered(2)]);
}

#[test]
fn an_earlier_request_goes_first_until_its_release() {
    let mut node = node(1, 2);
    run(&mut node, request(0, 1));
    run(&mut node, ACQUIRE);
    assert_eq!(run(&mut node, reply(0, 9)), [], "0 asked before");
    assert_eq!(run(&mut node, release(0, 10)), [entered(9)]); // 4 * 2 + 1
}

#[test]
fn leaving_and_withdrawing_tell_everybody() {
    let mut node = node(0, 2);
    run(&mut node, ACQUIRE);
    assert_eq!(run(&mut node, CANCEL), [send(1, Message::Release { time: 2 })]);
    run(&mut node, ACQUIRE);
    run(&mut node, reply(1, 9));
    assert_eq!(run(&mut node, RELEASE), [send(1, Message::Release { time: 11 })]);
}

#[test]
fn a_reply_that_is_not_later_than_the_request_proves_nothing() {
    let mut node = node(0, 2);
    run(&mut node, Event::Request(Request::Observe(6)));
    run(&mut node, ACQUIRE);
    assert_eq!(run(&mut node, reply(1, 7)), []);
    assert_eq!(run(&mut node, reply(1, 8)), [entered(16)]); // 8 * 2 + 0
}

#[test]
fn what_comes_twice_does_not_touch_the_queue() {
    let mut node = node(1, 2);
    run(&mut node, request(0, 1));
    run(&mut node, release(0, 2));
    assert_eq!(run(&mut node, request(0, 1)).len(), 1, "answered again");
    run(&mut node, request(0, 7));
    run(&mut node, release(0, 2));
    run(&mut node, ACQUIRE);
    assert_eq!(run(&mut node, reply(0, 99)), [], "the request of time 7 is still before");
}

#[test]
fn with_saving_one_reply_of_two_is_enough_for_two_that_ask_at_once() {
    let mut small = Lamport::new(NodeId(0), 2, true);
    let mut large = Lamport::new(NodeId(1), 2, true);
    run(&mut small, ACQUIRE);
    run(&mut large, ACQUIRE);
    assert_eq!(run(&mut small, request(1, 1)).len(), 2, "a REPLY, and the entry");
    assert_eq!(run(&mut large, request(0, 1)), [], "its own REQUEST was later");
}

#[test]
fn a_restart_withdraws_and_keeps_the_queue() {
    let mut node = node(1, 2);
    run(&mut node, request(0, 1));
    run(&mut node, ACQUIRE);
    let Recovery::State(mut disk) = node.after_crash() else { panic!("the disk keeps it") };
    assert_eq!(run(&mut disk, Event::Restart), [send(0, Message::Release { time: 5 })]);
    run(&mut disk, ACQUIRE);
    assert_eq!(run(&mut disk, reply(0, 99)), [], "0 may be inside");
}
