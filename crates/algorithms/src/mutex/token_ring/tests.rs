//! The rules of the token ring, one by one.

use super::*;
use conclave_core::Effect;
use conclave_core::testkit::{codes, message, run, send};

const _: () = assert!(size_of::<TokenRing>() <= 48 && size_of::<Event<TokenRing>>() <= 32);
const ACQUIRE: Event<TokenRing> = Event::Request(Request::Acquire);
const RELEASE: Event<TokenRing> = Event::Request(Request::Release);
const CANCEL: Event<TokenRing> = Event::Request(Request::Cancel);

fn node(me: u32, idle: Idle) -> TokenRing {
    TokenRing::new(NodeId(me), 3, idle)
}
fn token(fence: u64, hop: u64, owed: u32) -> Message {
    Message::Token { fence, hop, owed }
}
fn entered(fence: u64) -> Effect<TokenRing> {
    Effect::Indicate(Indication::Entered { fence })
}
fn departure(after: Ticks) -> Effect<TokenRing> {
    Effect::SetTimer { timer: Timer::Departure, after: Delay::exactly(after) }
}

#[test]
fn who_asks_in_the_moment_of_the_start_finds_the_token_at_the_first_node() {
    let mut first = node(0, Idle::CIRCULATE);
    assert_eq!(run(&mut first, Event::Start), [departure(Ticks(1))]);
    let effects = run(&mut first, ACQUIRE);
    assert_eq!(effects, [Effect::CancelTimer(Timer::Departure), entered(1)]);
    assert_eq!(run(&mut first, RELEASE), [send(1, token(1, 4, 0))]);
}

#[test]
fn the_last_node_hands_an_unwanted_token_to_the_first() {
    let mut last = node(2, Idle::CIRCULATE);
    assert_eq!(run(&mut last, message(1, token(0, 5, 0))), [send(0, token(0, 6, 0))]);
    assert_eq!(run(&mut last, message(1, token(0, 5, 0))), [], "a copy is not passed on");
}

#[test]
fn who_waits_keeps_the_token_until_the_release_and_then_passes_it_always() {
    let mut ring = node(1, Idle::CIRCULATE);
    assert_eq!(run(&mut ring, ACQUIRE), []);
    assert_eq!(run(&mut ring, message(0, token(8, 4, 0))), [entered(9)]);
    assert_eq!(run(&mut ring, RELEASE), [send(2, token(9, 5, 0))]);
    assert_eq!(run(&mut ring, ACQUIRE), [], "the same node has to wait for the next lap");
}

#[test]
fn a_token_held_idle_lets_in_at_once_or_departs() {
    let hold = Ticks::units(2);
    let mut ring = node(1, Idle::Circulate { hold });
    assert_eq!(run(&mut ring, message(0, token(0, 4, 0))), [departure(hold)]);
    let effects = run(&mut ring.clone(), ACQUIRE);
    assert_eq!(effects, [Effect::CancelTimer(Timer::Departure), entered(1)]);
    let effects = run(&mut ring, Event::Timer(Timer::Departure));
    assert_eq!(effects, [send(2, token(0, 5, 0))]);
}

#[test]
fn a_withdrawn_wish_lets_the_token_pass() {
    let mut ring = node(1, Idle::CIRCULATE);
    assert_eq!([run(&mut ring, ACQUIRE), run(&mut ring, CANCEL)], [[], []]);
    assert_eq!(run(&mut ring, message(0, token(0, 4, 0))), [send(2, token(0, 5, 0))]);
}

#[test]
fn alone_the_token_never_leaves() {
    for idle in [Idle::CIRCULATE, Idle::PARK] {
        let mut alone = TokenRing::new(NodeId(0), 1, idle);
        assert_eq!(run(&mut alone, Event::Start), []);
        for fence in 1..3 {
            assert_eq!(run(&mut alone, ACQUIRE), [entered(fence)]);
            assert_eq!(run(&mut alone, RELEASE), []);
        }
    }
}

#[test]
fn a_parked_token_rests_until_woken_and_goes_just_as_far_as_it_was_called() {
    let mut first = node(0, Idle::PARK);
    assert_eq!(run(&mut first, Event::Start), []);
    let mut third = node(2, Idle::PARK);
    assert_eq!(run(&mut third, ACQUIRE), [send(0, Message::Wake { hop: 5 })]);
    let wake = message(2, Message::Wake { hop: 5 });
    assert_eq!(run(&mut first, wake.clone()), [send(1, token(0, 4, 1))]);
    assert_eq!(run(&mut first, wake), [], "the token is already on its way there");
    let mut second = node(1, Idle::PARK);
    assert_eq!(run(&mut second, message(0, token(0, 4, 1))), [send(2, token(0, 5, 0))]);
    assert_eq!(run(&mut third, message(1, token(0, 5, 0))), [entered(1)]);
    assert_eq!(run(&mut third, RELEASE), [], "nobody else called");
    assert_eq!(run(&mut third, ACQUIRE), [entered(2)]);
}

#[test]
fn a_wake_is_carried_on_only_if_none_led_as_far() {
    let mut ring = node(2, Idle::PARK);
    let wake = message(1, Message::Wake { hop: 4 });
    assert_eq!(run(&mut ring, wake.clone()), [send(0, Message::Wake { hop: 4 })]);
    assert_eq!(run(&mut ring, wake), []);
    assert_eq!(run(&mut ring, ACQUIRE), [send(0, Message::Wake { hop: 5 })]);
    run(&mut ring, CANCEL);
    assert_eq!(run(&mut ring, ACQUIRE), [], "the first call is still out");
    run(&mut ring, message(1, token(0, 5, 0)));
    run(&mut ring, RELEASE);
    let late = message(1, Message::Wake { hop: 4 });
    assert_eq!(run(&mut ring, late), [], "the token has been there since");
}

#[test]
fn a_wake_that_overtook_the_token_waits_for_it() {
    let mut ring = node(1, Idle::PARK); // The token is on its way here by hop 4.
    assert_eq!(run(&mut ring, message(0, Message::Wake { hop: 6 })), []);
    assert_eq!(run(&mut ring, message(0, token(0, 4, 0))), [send(2, token(0, 5, 1))]);
}

#[test]
fn a_restarted_node_passes_on_what_it_held_and_mints_nothing() {
    let mut ring = node(1, Idle::CIRCULATE);
    run(&mut ring, ACQUIRE);
    run(&mut ring, message(0, token(0, 4, 0)));
    let Recovery::State(mut kept) = ring.after_crash() else { panic!("the disk is kept") };
    assert_eq!(run(&mut kept, Event::Restart), [send(2, token(1, 5, 0))]);
    assert_eq!(run(&mut node(0, Idle::CIRCULATE), Event::Restart), []);
}

#[test]
fn a_parked_token_stays_through_a_restart_and_goes_on_if_it_was_called() {
    let restarted = |ring: &TokenRing| {
        let Recovery::State(mut kept) = ring.after_crash() else { panic!("the disk is kept") };
        let effects = run(&mut kept, Event::Restart);
        (kept, effects)
    };
    let mut ring = node(1, Idle::PARK);
    run(&mut ring, message(0, token(3, 4, 0)));
    let (mut ring, effects) = restarted(&ring);
    assert_eq!(effects, [], "nobody has called it");
    assert_eq!(run(&mut ring, ACQUIRE), [entered(4)]);
    assert_eq!(run(&mut ring, message(0, Message::Wake { hop: 5 })), []);
    let (ring, effects) = restarted(&ring);
    assert_eq!(effects, [send(2, token(4, 5, 0))]);
    assert_eq!(restarted(&ring).1, [], "it is gone");
}

#[test]
fn a_call_goes_once_round_and_is_for_the_next_visit() {
    let mut ring = node(1, Idle::PARK);
    run(&mut ring, message(0, token(0, 4, 1)));
    assert_eq!(run(&mut ring, ACQUIRE), [send(2, Message::Wake { hop: 7 })]);
    assert_eq!(run(&mut ring, message(0, Message::Wake { hop: 7 })), [], "its own comes round");
    assert_eq!(run(&mut ring, message(0, Message::Wake { hop: 8 })), [], "it comes here before");
    assert_eq!(run(&mut ring, message(0, token(0, 7, 0))), [entered(1)]);
    assert_eq!(run(&mut ring, RELEASE), [send(2, token(1, 8, 0))]);
}

#[test]
fn it_says_why_the_token_stays_or_goes() {
    let mut ring = node(1, Idle::CIRCULATE);
    assert_eq!(codes(&mut ring, message(0, token(8, 4, 0))), ["unwanted"]);
    assert_eq!(codes(&mut ring, message(0, token(8, 4, 0))), ["copy"]);
    assert_eq!(codes(&mut ring, ACQUIRE), ["comes-uncalled"]);
    assert_eq!(codes(&mut ring, message(0, token(8, 7, 0))), ["entered"]);
    assert_eq!(codes(&mut ring, RELEASE), ["left"]);
    let mut parked = node(1, Idle::PARK);
    assert_eq!(codes(&mut parked, message(0, token(0, 4, 0))), ["parked"]);
    assert_eq!(codes(&mut parked, message(0, Message::Wake { hop: 4 })), ["late-wake"]);
    assert_eq!(codes(&mut parked, message(0, Message::Wake { hop: 5 })), ["called"]);
    assert_eq!(codes(&mut parked, ACQUIRE), ["calls"]);
}
