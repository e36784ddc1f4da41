use super::*;
use conclave_core::Effect;
use conclave_core::testkit::{act, message, run, send};

const _: () = assert!(size_of::<Event<TotalOrder>>() <= 32);
const ACQUIRE: Event<TotalOrder> = Event::Request(Request::Acquire);
const CANCEL: Event<TotalOrder> = Event::Request(Request::Cancel);

fn setup(places: Places, votes: u32, busy: Busy) -> Setup {
    Setup { places, votes, busy }
}

/// The same where who comes second is refused.
fn refusing(me: u32) -> TotalOrder {
    TotalOrder::new(NodeId(me), setup(Places::separate(2, 3), 2, Busy::Refuse(Ticks(10))))
}

/// Clients 0 and 1; the coordinators are 2, who is the sequencer, 3 and 4.
fn node(me: u32) -> TotalOrder {
    TotalOrder::new(NodeId(me), setup(Places::separate(2, 3), 2, Busy::Queued))
}

fn forward(number: u64, client: u32, seq: u32, release: bool) -> Message {
    Message::Forward { number, broadcast: Broadcast { client: NodeId(client), seq, release } }
}

fn ok(client: u32, seq: u32, number: u64) -> Effect<TotalOrder> {
    send(client, Message::Ok { seq, number })
}

fn request(client: u32, seq: u32) -> Event<TotalOrder> {
    message(client, Message::Request { seq })
}

fn release(client: u32, seq: u32) -> Event<TotalOrder> {
    message(client, Message::Release { seq })
}

#[test]
fn the_sequencer_numbers_what_comes_and_tells_the_other_coordinators() {
    let mut sequencer = node(2);
    let told = |message| [3, 4].map(|to| send(to, message));
    let [third, fourth] = told(forward(1, 1, 1, false));
    assert_eq!(run(&mut sequencer, request(1, 1)), [third, fourth, ok(1, 1, 1)]);
    assert_eq!(run(&mut sequencer, request(0, 1)), told(forward(2, 0, 1, false)));
    let [third, fourth] = told(forward(3, 1, 1, true));
    assert_eq!(run(&mut sequencer, release(1, 1)), [third, fourth, ok(0, 1, 2)]);
    assert_eq!(run(&mut sequencer, release(1, 1)), [], "repeated");
}

#[test]
fn a_release_that_overtook_its_request_is_remembered() {
    let mut sequencer = node(2);
    assert_eq!(run(&mut sequencer, release(0, 1)), []);
    assert_eq!(run(&mut sequencer, request(0, 1)), []);
    assert_eq!(run(&mut sequencer, request(0, 2)).last(), Some(&ok(0, 2, 1)));
}

#[test]
fn a_request_that_overtook_the_last_release_ends_it_first() {
    let mut sequencer = node(2);
    run(&mut sequencer, request(0, 1));
    run(&mut sequencer, request(1, 1));
    let effects = run(&mut sequencer, request(0, 2));
    let [end, again] = [forward(3, 0, 1, true), forward(4, 0, 2, false)];
    let [a, b, c, d] = [send(3, end), send(4, end), send(3, again), send(4, again)];
    assert_eq!(effects, [a, b, ok(1, 1, 2), c, d]);
    assert_eq!(run(&mut sequencer, release(0, 1)), []);
}

#[test]
fn a_coordinator_delivers_in_order_of_numbers_and_drops_repetitions() {
    let mut coordinator = node(3);
    let mut tell = |sent| run(&mut coordinator, message(2, sent));
    assert_eq!(tell(forward(3, 0, 1, true)), []);
    assert_eq!(tell(forward(2, 1, 1, false)), []);
    assert_eq!(tell(forward(1, 0, 1, false)), [ok(0, 1, 1), ok(1, 1, 2)]);
    assert_eq!(tell(forward(2, 1, 1, false)), []);
    assert_eq!(tell(forward(4, 1, 1, true)), []);
}

#[test]
fn a_client_enters_with_a_majority_of_answers_to_its_last_request() {
    let mut client = node(0);
    run(&mut client, ACQUIRE);
    assert_eq!(run(&mut client, CANCEL), [send(2, Message::Release { seq: 1 })]);
    assert_eq!(run(&mut client, ACQUIRE), [send(2, Message::Request { seq: 2 })]);
    let mut hear = |from, seq, number| run(&mut client, message(from, Message::Ok { seq, number }));
    assert_eq!(hear(2, 1, 1), []);
    assert_eq!(hear(2, 2, 5), []);
    assert_eq!(hear(2, 2, 5), []);
    assert_eq!(hear(1, 2, 5), [], "a client cannot let anyone in");
    let entered = Effect::Indicate(Indication::Entered { fence: 5 });
    assert_eq!(hear(4, 2, 5), [entered]);
    assert_eq!(hear(3, 2, 5), []);
    assert_eq!(run(&mut client, Event::Restart), [send(2, Message::Release { seq: 2 })]);
}

#[test]
fn alone_with_a_colocated_coordinator_nothing_is_sent() {
    let mut node = TotalOrder::new(NodeId(0), setup(Places::colocated(1, 1), 1, Busy::Queued));
    let entered = Effect::Indicate(Indication::Entered { fence: 1 });
    assert_eq!(act(NodeId(0), &mut node, ACQUIRE), [entered]);
}

fn nok(from: u32, seq: u32) -> Event<TotalOrder> {
    message(from, Message::Nok { seq })
}

fn pause(longest: u64) -> Effect<TotalOrder> {
    let after = Delay::between(Ticks::ZERO, Ticks(longest));
    Effect::SetTimer { timer: Timer::Backoff, after }
}

#[test]
fn a_coordinator_that_refuses_has_no_line_and_keeps_nothing_of_whom_it_refused() {
    let mut coordinator = refusing(3);
    let mut tell = |sent| run(&mut coordinator, message(2, sent));
    assert_eq!(tell(forward(1, 0, 1, false)), [ok(0, 1, 1)]);
    let refused = send(1, Message::Nok { seq: 1 });
    assert_eq!(tell(forward(2, 1, 1, false)), [refused]);
    assert_eq!(tell(forward(3, 0, 1, true)), [], "nobody waits to be let in");
    assert_eq!(tell(forward(4, 1, 2, false)), [ok(1, 2, 4)]);
}

#[test]
fn the_sequencer_broadcasts_no_end_of_a_request_that_was_refused() {
    let mut sequencer = refusing(2);
    run(&mut sequencer, request(0, 1));
    let refused = run(&mut sequencer, request(1, 1));
    assert_eq!(refused.last(), Some(&send(1, Message::Nok { seq: 1 })));
    assert_eq!(run(&mut sequencer, request(1, 1)), [], "repeated");
    assert_eq!(run(&mut sequencer, release(1, 1)), [], "withdrawn too late");
    let again = run(&mut sequencer, request(1, 2));
    assert_eq!(again[0], send(3, forward(3, 1, 2, false)));
}

#[test]
fn who_is_refused_by_too_many_asks_again_after_a_pause_that_doubles() {
    let mut client = refusing(0);
    run(&mut client, ACQUIRE);
    assert_eq!(run(&mut client, nok(2, 1)), []);
    assert_eq!(run(&mut client, nok(2, 1)), [], "it counts once");
    assert_eq!(run(&mut client, nok(4, 1)), [pause(10)]);
    assert_eq!(run(&mut client, nok(3, 1)), [], "one more than needed");
    let again = send(2, Message::Request { seq: 2 });
    assert_eq!(run(&mut client, Event::Timer(Timer::Backoff)), [again]);
    assert_eq!(run(&mut client, nok(3, 1)), [], "of the first try");
    run(&mut client, nok(3, 2));
    assert_eq!(run(&mut client, nok(4, 2)), [pause(20)]);
    assert_eq!(run(&mut client, CANCEL), [Effect::CancelTimer(Timer::Backoff)]);
    run(&mut client, ACQUIRE);
    run(&mut client, nok(3, 3));
    assert_eq!(run(&mut client, nok(4, 3)), [pause(10)], "another request begins anew");
}

#[test]
fn where_requests_wait_in_line_a_refusal_is_no_word_of_a_coordinator() {
    let mut client = node(0);
    run(&mut client, ACQUIRE);
    assert_eq!([2, 3, 4].map(|from| run(&mut client, nok(from, 1)).len()), [0; 3]);
}
