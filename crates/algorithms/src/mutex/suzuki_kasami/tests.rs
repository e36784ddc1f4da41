//! One test for each rule.

use super::*;
use conclave_core::Effect;
use conclave_core::testkit::{message, run, send};

const _: () = assert!(size_of::<Event<SuzukiKasami>>() <= 24);
const ACQUIRE: Event<SuzukiKasami> = Event::Request(Request::Acquire);
const RELEASE: Event<SuzukiKasami> = Event::Request(Request::Release);
const CANCEL: Event<SuzukiKasami> = Event::Request(Request::Cancel);

fn node(me: u32) -> SuzukiKasami {
    let mut node = SuzukiKasami::new(NodeId(me), 4);
    assert_eq!(run(&mut node, Event::Start), []);
    node
}
fn request(number: u32) -> Message {
    Message::Request { number }
}
fn token(served: [u32; 4], queue: &[u32], fence: u64) -> Message {
    let queue: VecDeque<NodeId> = queue.iter().copied().map(NodeId).collect();
    let mut queued = NodeSet::new(4);
    queue.iter().for_each(|&node| assert!(queued.insert(node)));
    Message::Token(Box::new(Token { served: served.to_vec(), queue, queued, fence }))
}
fn entered(fence: u64) -> Effect<SuzukiKasami> {
    Effect::Indicate(Indication::Entered { fence })
}

#[test]
fn where_the_token_is_nothing_is_sent() {
    let mut first = node(0);
    assert_eq!(run(&mut first, ACQUIRE), [entered(1)]);
    assert_eq!(run(&mut first, RELEASE), []);
    assert_eq!(run(&mut first, ACQUIRE), [entered(2)]);
}

#[test]
fn who_has_no_token_asks_everybody_by_the_next_number() {
    let mut node = node(2);
    let effects = run(&mut node, ACQUIRE);
    assert_eq!(effects, [0, 1, 3].map(|to| send(to, request(1))));
    assert_eq!(run(&mut node, message(0, token([0; 4], &[], 6))), [entered(7)]);
    assert_eq!(run(&mut node, RELEASE), [], "nobody waits, so the token stays");
    assert_eq!(run(&mut node, message(1, request(1))), [send(1, token([0, 0, 1, 0], &[], 7))]);
    assert_eq!(run(&mut node, ACQUIRE), [0, 1, 3].map(|to| send(to, request(2))));
}

#[test]
fn an_idle_holder_sends_the_token_at_once_but_not_for_a_late_request() {
    let mut first = node(0);
    assert_eq!(run(&mut first, message(2, request(1))), [send(2, token([0; 4], &[], 0))]);
    run(&mut first, ACQUIRE);
    run(&mut first, message(2, token([0, 0, 1, 0], &[], 1)));
    run(&mut first, RELEASE);
    assert_eq!(run(&mut first, message(2, request(1))), [], "served already");
    assert_eq!(run(&mut first, message(9, request(1))), [], "nobody of this cluster");
}

#[test]
fn a_release_queues_whoever_waits_in_ring_order_behind_the_queue() {
    let mut node = node(2);
    run(&mut node, ACQUIRE);
    run(&mut node, message(0, token([0; 4], &[1], 4)));
    for from in [0, 1, 3] {
        assert_eq!(run(&mut node, message(from, request(1))), [], "busy");
    }
    assert_eq!(run(&mut node, RELEASE), [send(1, token([0, 0, 1, 0], &[3, 0], 5))]);
}

#[test]
fn a_token_that_comes_for_a_withdrawn_request_is_released_at_once() {
    let mut node = node(2);
    run(&mut node, ACQUIRE);
    run(&mut node, CANCEL);
    run(&mut node, message(3, request(1)));
    let effects = run(&mut node, message(0, token([0; 4], &[], 4)));
    assert_eq!(effects, [send(3, token([0, 0, 1, 0], &[], 4))]);
}

#[test]
fn who_asks_again_while_the_withdrawn_request_is_out_sends_nothing() {
    let mut node = node(2);
    run(&mut node, ACQUIRE);
    run(&mut node, CANCEL);
    assert_eq!(run(&mut node, ACQUIRE), []);
    assert_eq!(run(&mut node, message(0, token([0; 4], &[], 4))), [entered(5)]);
}

#[test]
fn a_restarted_node_passes_on_what_it_held_and_mints_nothing() {
    let mut first = node(0);
    run(&mut first, ACQUIRE);
    run(&mut first, message(3, request(1)));
    let Recovery::State(mut kept) = first.after_crash() else { panic!("the disk is kept") };
    assert_eq!(run(&mut kept, Event::Restart), [send(3, token([0; 4], &[], 1))]);
    assert_eq!(run(&mut SuzukiKasami::new(NodeId(0), 4), Event::Restart), []);
}
