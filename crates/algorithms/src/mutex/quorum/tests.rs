//! The rules of the quorum algorithm, one by one.

use super::*;
use conclave_core::Effect;
use conclave_core::testkit::{message, run, send};

const _: () = assert!(size_of::<Event<Quorum>>() <= 32);
const ACQUIRE: Event<Quorum> = Event::Request(Request::Acquire);
const RELEASE: Event<Quorum> = Event::Request(Request::Release);

fn node(me: u32) -> Quorum {
    let places = Places::separate(2, 3);
    let abort_after = Some(Ticks(20));
    let retransmit = Some(Ticks(5));
    let setup = Setup { places, votes: 2, abort_after, backoff: Ticks(9), retransmit };
    Quorum::new(NodeId(me), setup)
}

fn timer(timer: Timer, min: u64, max: u64) -> Effect<Quorum> {
    Effect::SetTimer { timer, after: Delay::between(Ticks(min), Ticks(max)) }
}

fn request(to: u32, seq: u32) -> Effect<Quorum> {
    send(to, Message::Request { seq, fence: 0 })
}

fn grant(from: u32, seq: u32, fence: u64) -> Event<Quorum> {
    message(from, Message::Grant { seq, fence })
}

/// Client 0 of two, waiting for the coordinators 2, 3, 4.
fn waiting_client() -> Quorum {
    let mut client = node(0);
    let [retransmit, abort] = [timer(Timer::Retransmit, 5, 5), timer(Timer::Abort, 20, 20)];
    let asked = run(&mut client, ACQUIRE);
    assert_eq!(asked, [request(2, 1), request(3, 1), request(4, 1), retransmit, abort]);
    client
}

#[test]
fn a_majority_of_grants_lets_in_and_the_release_goes_to_all() {
    let mut client = waiting_client();
    run(&mut client, grant(2, 1, 3));
    let entered = run(&mut client, grant(3, 1, 1));
    assert_eq!(entered.last(), Some(&Effect::Indicate(Indication::Entered { fence: 4 })));
    let release = Message::Release { seq: 1, fence: 4 };
    assert_eq!(run(&mut client, RELEASE), [2, 3, 4].map(|to| send(to, release)));
}

#[test]
fn only_the_silent_are_asked_again() {
    let mut client = waiting_client();
    run(&mut client, grant(3, 1, 0));
    let again = run(&mut client, Event::Timer(Timer::Retransmit));
    assert_eq!(again, [request(2, 1), request(4, 1), timer(Timer::Retransmit, 5, 5)]);
}

#[test]
fn an_abort_gives_everything_back_and_a_late_grant_is_never_counted() {
    let mut client = waiting_client();
    run(&mut client, grant(2, 1, 0));
    let aborted = run(&mut client, Event::Timer(Timer::Abort));
    let release = Message::Release { seq: 1, fence: 0 };
    assert_eq!(aborted[2..5], [2, 3, 4].map(|to| send(to, release)));
    assert_eq!(aborted[5], timer(Timer::Backoff, 0, 9));
    assert_eq!(run(&mut client, grant(3, 1, 0)), [send(3, release)]);
    assert_eq!(run(&mut client, Event::Timer(Timer::Backoff))[0], request(2, 2));
    assert_eq!(run(&mut client, grant(4, 1, 0)), [send(4, release)]);
    assert_eq!(run(&mut client, grant(2, 2, 0)), []);
}

#[test]
fn a_coordinator_queues_and_knows_the_fence_before_it_grants_again() {
    let mut coordinator = node(2);
    let request = |from, seq| message(from, Message::Request { seq, fence: 0 });
    let granted = |to, fence| [send(to, Message::Grant { seq: 1, fence })];
    assert_eq!(run(&mut coordinator, request(0, 1)), granted(0, 0));
    assert_eq!(run(&mut coordinator, request(1, 1)), []);
    let released = message(0, Message::Release { seq: 1, fence: 6 });
    assert_eq!(run(&mut coordinator, released), granted(1, 6));
}

#[test]
fn a_withdrawal_leaves_the_line_and_a_restart_withdraws() {
    let mut client = waiting_client();
    let release = [2, 3, 4].map(|to| send(to, Message::Release { seq: 1, fence: 0 }));
    assert_eq!(run(&mut client.clone(), Event::Request(Request::Cancel))[2..], release);
    assert_eq!(run(&mut client, Event::Restart), release);
    assert_eq!(run(&mut client, Event::Restart), []);
}

#[test]
fn a_forgetful_coordinator_gives_its_grant_away_twice() {
    let mut coordinator = node(2);
    let granted = |to| [send(to, Message::Grant { seq: 1, fence: 0 })];
    let request = |from| message(from, Message::Request { seq: 1, fence: 0 });
    assert_eq!(run(&mut coordinator, request(0)), granted(0));
    let mut coordinator = node(2);
    run(&mut coordinator, Event::Restart);
    assert_eq!(run(&mut coordinator, request(1)), granted(1), "with the same fence");
}
