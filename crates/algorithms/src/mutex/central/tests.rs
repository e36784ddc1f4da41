//! The rules of the centralised algorithm, one by one.

use super::*;
use crate::mutex::places::Places;
use conclave_core::Effect;
use conclave_core::testkit::{act, message, run, send};

const ACQUIRE: Event<Central> = Event::Request(Request::Acquire);
const _: () = assert!(size_of::<Event<Central>>() <= 32);

fn setup(busy: Busy, order: Order) -> Setup {
    Setup { places: Places::separate(3, 1), busy, order, release_ack: false, release: Release::Own }
}

/// The coordinator apart, node 3, with requests of the clients 0, 1 and 2 in.
fn three_requests(busy: Busy, order: Order) -> (Central, Vec<Vec<Effect<Central>>>) {
    let mut coordinator = Central::new(NodeId(3), setup(busy, order));
    let requests = [(0, 5), (1, 9), (2, 7)];
    let answers = requests.map(|(client, time)| run(&mut coordinator, request(client, time)));
    (coordinator, answers.into())
}

fn request(client: u32, time: u64) -> Event<Central> {
    message(client, Message::Request { seq: 1, time })
}
fn leaves(client: u32) -> Event<Central> {
    message(client, Message::Release { seq: 1 })
}
fn grant(client: u32, fence: u64) -> Effect<Central> {
    send(client, Message::Grant { seq: 1, fence, time: 0 })
}

#[test]
fn the_coordinator_grants_in_order_of_arrival() {
    let (mut coordinator, answers) = three_requests(Busy::Silent, Order::Fifo);
    assert_eq!(answers, [vec![grant(0, 1)], vec![], vec![]]);
    assert_eq!(run(&mut coordinator, request(0, 0)), [grant(0, 1)], "repeated");
    assert_eq!(run(&mut coordinator, leaves(0)), [grant(1, 2)]);
    assert_eq!(run(&mut coordinator, leaves(1)), [grant(2, 3)]);
    assert_eq!(run(&mut coordinator, leaves(2)), []);
}

#[test]
fn last_come_and_timestamp_service_pick_another_than_the_first_in_line() {
    let (mut coordinator, _) = three_requests(Busy::Silent, Order::Lifo);
    assert_eq!(run(&mut coordinator, leaves(0)), [grant(2, 2)]);
    let (mut coordinator, _) = three_requests(Busy::Silent, Order::Timestamp);
    let grant = Message::Grant { seq: 1, fence: 2, time: 12 };
    assert_eq!(run(&mut coordinator, leaves(0)), [send(2, grant)]);
}

#[test]
fn who_must_wait_may_be_told_or_sent_away() {
    let (_, answers) = three_requests(Busy::Queued, Order::Fifo);
    let queued = |client, position| send(client, Message::Queued { seq: 1, position });
    assert_eq!(answers[1..], [vec![queued(1, 1)], vec![queued(2, 2)]]);
    let (mut coordinator, answers) = three_requests(Busy::Try(Ticks(9)), Order::Fifo);
    let nok = |client| vec![send(client, Message::Nok { seq: 1 })];
    assert_eq!(answers[1..], [nok(1), nok(2)]);
    assert_eq!(run(&mut coordinator, leaves(0)), []);
    assert_eq!(run(&mut coordinator, request(2, 0)), [grant(2, 2)]);
}

#[test]
fn a_refused_client_asks_again_after_a_pause() {
    let mut client = Central::new(NodeId(0), setup(Busy::Try(Ticks(9)), Order::Fifo));
    let ask = [send(3, Message::Request { seq: 1, time: 0 })];
    assert_eq!(run(&mut client, ACQUIRE), ask);
    let after = Delay::between(Ticks::ZERO, Ticks(9));
    let pause = Effect::SetTimer { timer: Timer::Backoff, after };
    assert_eq!(run(&mut client, message(3, Message::Nok { seq: 1 })), [pause]);
    assert_eq!(run(&mut client, Event::Timer(Timer::Backoff)), ask);
}

#[test]
fn a_grant_that_crossed_a_cancel_is_handed_back_and_a_restart_releases() {
    let mut client = Central::new(NodeId(0), setup(Busy::Silent, Order::Fifo));
    run(&mut client, ACQUIRE);
    let back = [send(3, Message::Release { seq: 1 })];
    assert_eq!(run(&mut client, Event::Request(Request::Cancel)), back);
    run(&mut client, ACQUIRE);
    let late = message(3, Message::Grant { seq: 1, fence: 1, time: 0 });
    assert_eq!(run(&mut client, late), back);
    let own = message(3, Message::Grant { seq: 2, fence: 2, time: 0 });
    let entered = Effect::Indicate(Indication::Entered { fence: 2 });
    assert_eq!(run(&mut client, own), [entered]);
    let Recovery::State(mut client) = client.after_crash() else { panic!("kept nothing") };
    assert_eq!(run(&mut client, Event::Restart), [send(3, Message::Release { seq: 2 })]);
    assert_eq!(run(&mut client, Event::Restart), []);
}

#[test]
fn the_coordinator_enters_on_its_own_node_without_a_message() {
    let places = Places::colocated(2, 1);
    let variant = Setup { places, release_ack: true, ..setup(Busy::Silent, Order::Fifo) };
    let mut node = Central::new(NodeId(0), variant);
    let entered = Effect::Indicate(Indication::Entered { fence: 1 });
    assert_eq!(act(NodeId(0), &mut node, ACQUIRE), [entered]);
    assert_eq!(act(NodeId(0), &mut node, request(1, 0)), []);
    let leave = Event::Request(Request::Release);
    assert_eq!(act(NodeId(0), &mut node, leave), [grant(1, 2)]);
    let acknowledged = send(1, Message::ReleaseAck { seq: 1 });
    assert_eq!(act(NodeId(0), &mut node, leaves(1)), [acknowledged]);
}

/// Client 1 gives up waiting while client 0 is inside.
#[test]
fn a_release_that_names_nobody_ends_anothers_hold() {
    let withdraws = |release| {
        let setup = Setup { release, ..setup(Busy::Silent, Order::Fifo) };
        let mut coordinator = Central::new(NodeId(3), setup);
        for client in 0..3 {
            run(&mut coordinator, request(client, 0));
        }
        run(&mut coordinator, leaves(1))
    };
    assert_eq!(withdraws(Release::Own), []);
    assert_eq!(withdraws(Release::Anybodys), [grant(2, 2)], "0 is still inside");
}
