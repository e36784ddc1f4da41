//! One test for each rule.

use super::*;
use conclave_core::Effect;
use conclave_core::testkit::{message, run, send};

const _: () = assert!(size_of::<PingPong>() <= 48 && size_of::<Event<PingPong>>() <= 32);
const ACQUIRE: Event<PingPong> = Event::Request(Request::Acquire);
const RELEASE: Event<PingPong> = Event::Request(Request::Release);

fn node(me: u32) -> PingPong {
    PingPong::new(NodeId(me), 3, Ticks::ZERO)
}
fn ping(number: i64, fence: u64) -> Message {
    Message::Ping { number, fence }
}
fn pong(number: i64, fence: u64) -> Message {
    Message::Pong { number, fence }
}
fn entered(fence: u64) -> Effect<PingPong> {
    Effect::Indicate(Indication::Entered { fence })
}
fn departure(after: Ticks) -> Effect<PingPong> {
    Effect::SetTimer { timer: Timer::Departure, after: Delay::exactly(after) }
}

#[test]
fn both_tokens_start_at_the_first_node() {
    let mut first = node(0);
    assert_eq!(run(&mut first, Event::Start), [send(1, pong(-1, 0)), departure(Ticks(1))]);
    let effects = run(&mut first, Event::Timer(Timer::Departure));
    assert_eq!(effects, [send(1, ping(1, 0))]);
    assert_eq!(run(&mut node(1), Event::Start), []);
}

#[test]
fn only_ping_lets_anybody_in() {
    let mut ring = node(1);
    run(&mut ring, ACQUIRE);
    assert_eq!(run(&mut ring, message(0, pong(-1, 4))), [send(2, pong(-1, 4))]);
    assert_eq!(run(&mut ring, message(0, ping(1, 4))), [entered(5)]);
    assert_eq!(run(&mut ring, message(0, ping(1, 4))), [], "a copy");
    assert_eq!(run(&mut ring, RELEASE), [send(2, ping(1, 5))]);
}

#[test]
fn where_they_meet_both_numbers_grow() {
    let mut ring = node(1);
    run(&mut ring, ACQUIRE);
    run(&mut ring, message(0, ping(1, 0)));
    assert_eq!(run(&mut ring, message(0, pong(-1, 0))), [send(2, pong(-2, 1))]);
    // Pong comes again to where it left last, but meets ping: rule (a) before rule (b).
    assert_eq!(run(&mut ring, message(0, pong(-2, 1))), [send(2, pong(-3, 1))]);
    assert_eq!(run(&mut ring, RELEASE), [send(2, ping(3, 1))]);
}

#[test]
fn ping_that_comes_twice_without_pong_makes_a_new_pong() {
    let mut ring = node(1);
    run(&mut ring, message(0, ping(1, 0)));
    let effects = run(&mut ring, message(0, ping(1, 0)));
    assert_eq!(effects, [send(2, pong(-2, 0)), send(2, ping(2, 0))]);
}

#[test]
fn pong_that_comes_twice_without_ping_makes_a_new_ping_with_the_largest_fence() {
    let mut ring = node(1);
    run(&mut ring, ACQUIRE);
    assert_eq!(run(&mut ring, message(0, pong(-1, 3))), [send(2, pong(-1, 3))]);
    let effects = run(&mut ring, message(0, pong(-1, 7)));
    assert_eq!(effects, [send(2, pong(-2, 7)), entered(8)]);
    assert_eq!(run(&mut ring, RELEASE), [send(2, ping(2, 8))]);
}

#[test]
fn in_turn_they_are_not_missed() {
    let mut ring = node(1);
    for _ in 0..3 {
        assert_eq!(run(&mut ring, message(0, ping(1, 0))), [send(2, ping(1, 0))]);
        assert_eq!(run(&mut ring, message(0, pong(-1, 0))), [send(2, pong(-1, 0))]);
    }
}

#[test]
fn pong_takes_the_largest_fence_along() {
    let mut ring = node(1);
    run(&mut ring, ACQUIRE);
    run(&mut ring, message(0, ping(1, 8)));
    run(&mut ring, RELEASE);
    assert_eq!(run(&mut ring, message(0, pong(-1, 2))), [send(2, pong(-1, 9))]);
}

#[test]
fn alone_nothing_is_sent() {
    let mut alone = PingPong::new(NodeId(0), 1, Ticks::ZERO);
    assert_eq!(run(&mut alone, Event::Start), []);
    for fence in 1..3 {
        assert_eq!(run(&mut alone, ACQUIRE), [entered(fence)]);
        assert_eq!(run(&mut alone, RELEASE), []);
    }
}

#[test]
fn a_restarted_node_passes_on_what_it_held() {
    let mut ring = node(1);
    run(&mut ring, ACQUIRE);
    run(&mut ring, message(0, ping(1, 0)));
    let Recovery::State(mut kept) = ring.after_crash() else { panic!("the disk is kept") };
    assert_eq!(run(&mut kept, Event::Restart), [send(2, ping(1, 1))]);
}

#[test]
fn ping_rests_where_nobody_wants_it_for_as_long_as_it_should() {
    let hold = Ticks::units(2);
    let mut ring = PingPong::new(NodeId(1), 3, hold);
    assert_eq!(run(&mut ring, message(0, ping(1, 0))), [departure(hold)]);
    assert_eq!(run(&mut ring, Event::Timer(Timer::Departure)), [send(2, ping(1, 0))]);
    assert_eq!(run(&mut ring, Event::Timer(Timer::Departure)), [], "it is gone");
}
