//! One test for each rule.

use super::*;
use conclave_core::Effect;
use conclave_core::testkit::{act, message, run, send};

const _: () = assert!(size_of::<Event<Voting>>() <= 32);
const ACQUIRE: Event<Voting> = Event::Request(Request::Acquire);
const RELEASE: Event<Voting> = Event::Request(Request::Release);

fn node(me: u32, places: Places, votes: u32) -> Voting {
    Voting::new(NodeId(me), Setup { places, votes, backoff: Ticks(10), attempt: None })
}

/// Client 0 of two, in its first try at the coordinators 2, 3, 4.
fn client_in_its_first_try() -> Voting {
    let mut client = node(0, Places::separate(2, 3), 2);
    let req = Message::Req { attempt: 1 };
    assert_eq!(run(&mut client, ACQUIRE), [2, 3, 4].map(|to| send(to, req)));
    client
}

fn ok(from: u32, attempt: u32, fence: u64) -> Event<Voting> {
    message(from, Message::Ok { attempt, fence })
}

fn rel(to: u32, attempt: u32, fence: u64) -> Effect<Voting> {
    send(to, Message::Rel { attempt, fence })
}

fn pause(longest: u64) -> Effect<Voting> {
    let after = Delay::between(Ticks::ZERO, Ticks(longest));
    Effect::SetTimer { timer: Timer::Backoff, after }
}

#[test]
fn a_majority_lets_in_and_every_vote_is_returned_with_the_fence() {
    let mut client = client_in_its_first_try();
    assert_eq!(run(&mut client, ok(2, 1, 4)), []);
    assert_eq!(run(&mut client, ok(2, 1, 4)), [], "a vote counts once");
    let entered = Effect::Indicate(Indication::Entered { fence: 7 });
    assert_eq!(run(&mut client, ok(4, 1, 6)), [entered]);
    assert_eq!(run(&mut client, ok(3, 1, 0)), []);
    assert_eq!(run(&mut client, RELEASE), [2, 3, 4].map(|to| rel(to, 1, 7)));
}

#[test]
fn a_try_fails_once_a_majority_is_out_of_reach_and_pauses_double() {
    let mut client = client_in_its_first_try();
    run(&mut client, ok(3, 1, 0));
    let nok = |from, attempt| message(from, Message::Nok { attempt });
    assert_eq!(run(&mut client, nok(2, 1)), []);
    assert_eq!(run(&mut client, nok(4, 1)), [rel(3, 1, 0), pause(10)]);
    run(&mut client, Event::Timer(Timer::Backoff));
    run(&mut client, nok(2, 2));
    assert_eq!(run(&mut client, nok(3, 2)), [pause(20)]);
    assert_eq!(run(&mut client, ok(4, 2, 0)), [rel(4, 2, 0)], "a late vote is returned");
}

#[test]
fn a_try_that_takes_too_long_takes_back_its_request_from_the_silent() {
    let mut client = client_in_its_first_try();
    run(&mut client, message(2, Message::Nok { attempt: 1 }));
    let over = run(&mut client, Event::Timer(Timer::Attempt));
    assert_eq!(over, [rel(3, 1, 0), rel(4, 1, 0), pause(10)]);
}

#[test]
fn a_vote_of_an_earlier_try_is_not_counted_but_returned() {
    let mut client = client_in_its_first_try();
    run(&mut client, ok(2, 1, 0));
    assert_eq!(run(&mut client, Event::Request(Request::Cancel)), [rel(2, 1, 0)]);
    run(&mut client, ACQUIRE);
    assert_eq!(run(&mut client, ok(3, 1, 0)), [rel(3, 1, 0)]);
    assert_eq!(run(&mut client, ok(4, 1, 0)), [rel(4, 1, 0)]);
}

#[test]
fn a_restart_returns_every_vote_and_a_client_alone_asks_nobody() {
    assert_eq!(run(&mut node(0, Places::separate(2, 3), 2), Event::Restart), [], "none yet");
    let mut client = client_in_its_first_try();
    assert_eq!(run(&mut client, Event::Restart), [2, 3, 4].map(|to| rel(to, 1, 0)));
    let mut alone = node(0, Places::separate(1, 3), 2);
    let entered = Effect::Indicate(Indication::Entered { fence: 1 });
    assert_eq!(act(NodeId(0), &mut alone, ACQUIRE), [entered]);
    assert_eq!(run(&mut alone, RELEASE), []);
}
