//! One test for each rule.

use super::*;
use conclave_core::Effect;
use conclave_core::testkit::{message, run, send};

const _: () = assert!(size_of::<NaimiTrehel>() <= 40 && size_of::<Event<NaimiTrehel>>() <= 24);
const ACQUIRE: Event<NaimiTrehel> = Event::Request(Request::Acquire);
const RELEASE: Event<NaimiTrehel> = Event::Request(Request::Release);
const CANCEL: Event<NaimiTrehel> = Event::Request(Request::Cancel);

fn root() -> NaimiTrehel {
    let mut root = NaimiTrehel::new(NodeId(0));
    assert_eq!(run(&mut root, Event::Start), []);
    root
}
fn leaf(me: u32) -> NaimiTrehel {
    let mut leaf = NaimiTrehel::new(NodeId(me));
    assert_eq!(run(&mut leaf, Event::Start), []);
    leaf
}
fn request(origin: u32) -> Message {
    Message::Request { origin: NodeId(origin) }
}
fn token(fence: u64) -> Message {
    Message::Token { fence }
}
fn entered(fence: u64) -> Effect<NaimiTrehel> {
    Effect::Indicate(Indication::Entered { fence })
}

#[test]
fn where_the_token_is_nothing_is_sent() {
    let mut root = root();
    assert_eq!(run(&mut root, ACQUIRE), [entered(1)]);
    assert_eq!(run(&mut root, RELEASE), []);
    assert_eq!(run(&mut root, ACQUIRE), [entered(2)]);
}

#[test]
fn who_asks_becomes_the_root_and_enters_with_the_token() {
    let mut leaf = leaf(2);
    assert_eq!(run(&mut leaf, ACQUIRE), [send(0, request(2))]);
    assert_eq!(leaf.father, None);
    assert_eq!(run(&mut leaf, message(0, token(4))), [entered(5)]);
    assert_eq!(run(&mut leaf, RELEASE), [], "nobody is next");
}

#[test]
fn an_idle_root_sends_the_token_at_once() {
    let mut root = root();
    assert_eq!(run(&mut root, message(2, request(2))), [send(2, token(0))]);
    assert_eq!(root.father, Some(NodeId(2)));
}

#[test]
fn a_busy_root_remembers_who_is_next_and_sends_later_requests_there() {
    let mut root = root();
    run(&mut root, ACQUIRE);
    assert_eq!(run(&mut root, message(1, request(1))), []);
    assert_eq!(run(&mut root, message(2, request(2))), [send(1, request(2))]);
    assert_eq!(run(&mut root, message(3, request(3))), [send(2, request(3))]);
    assert_eq!(run(&mut root, RELEASE), [send(1, token(1))]);
}

#[test]
fn who_waits_as_the_last_in_line_gets_a_successor() {
    let mut leaf = leaf(2);
    run(&mut leaf, ACQUIRE);
    assert_eq!(run(&mut leaf, message(0, request(3))), []);
    assert_eq!(run(&mut leaf, message(0, token(7))), [entered(8)]);
    assert_eq!(run(&mut leaf, RELEASE), [send(3, token(8))]);
}

#[test]
fn a_request_passes_an_idle_node_and_turns_it_to_its_origin() {
    let mut leaf = leaf(2);
    assert_eq!(run(&mut leaf, message(4, request(3))), [send(0, request(3))]);
    assert_eq!(run(&mut leaf, ACQUIRE), [send(3, request(2))]);
}

#[test]
fn an_unwanted_token_goes_to_the_next_in_line() {
    let mut leaf = leaf(2);
    run(&mut leaf, ACQUIRE);
    run(&mut leaf, CANCEL);
    assert_eq!(run(&mut leaf, message(0, request(3))), [], "the token is yet to come");
    assert_eq!(run(&mut leaf, message(0, token(7))), [send(3, token(7))]);
}

#[test]
fn who_asks_again_while_the_withdrawn_request_is_out_sends_nothing() {
    let mut leaf = leaf(2);
    run(&mut leaf, ACQUIRE);
    run(&mut leaf, CANCEL);
    assert_eq!(run(&mut leaf, ACQUIRE), []);
    run(&mut leaf, CANCEL);
    run(&mut leaf, message(0, request(3))); // Now there is a father again.
    assert_eq!(run(&mut leaf, ACQUIRE), []);
    assert_eq!(run(&mut leaf, message(0, token(7))), [entered(8)]);
}

#[test]
fn a_restarted_node_passes_on_what_it_held_and_mints_nothing() {
    let mut root = root();
    run(&mut root, ACQUIRE);
    run(&mut root, message(1, request(1)));
    let Recovery::State(mut kept) = root.after_crash() else { panic!("the disk is kept") };
    assert_eq!(run(&mut kept, Event::Restart), [send(1, token(1))]);
    let mut amnesiac = NaimiTrehel::new(NodeId(0));
    assert_eq!(run(&mut amnesiac, Event::Restart), []);
    assert_eq!(run(&mut amnesiac, ACQUIRE), [], "it has no token to enter with");
}
