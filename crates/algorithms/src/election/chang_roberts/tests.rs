use super::*;
use conclave_core::Effect;
use conclave_core::testkit::{message, run, send};

const CAMPAIGN: Event<ChangRoberts> = Event::Request(Request::Campaign);

/// Node `me` of `n`, whose id is ten times its number from 1.
fn node(me: u32, n: u32) -> ChangRoberts {
    variant(me, n, Join::Contact, Skip::None, Text::Corrected)
}

fn skipping(me: u32, n: u32) -> ChangRoberts {
    variant(me, n, Join::Contact, Skip::Dead, Text::Corrected)
}

fn variant(me: u32, n: u32, join: Join, skip: Skip, text: Text) -> ChangRoberts {
    ChangRoberts::new(NodeId(me), n, u64::from(me + 1) * 10, join, skip, text)
}

fn id(id: u64, hops: u32) -> Message {
    Message::Election { id, hops, round: 1 }
}

fn result(leader: u32) -> Message {
    Message::Elected { leader: NodeId(leader), round: 1 }
}

fn suspect(node: u32) -> Event<ChangRoberts> {
    Event::Indication(detector::Indication::Suspect(NodeId(node)))
}

fn suspected(node: u32) -> Effect<ChangRoberts> {
    Effect::Indicate(Indication::Suspect(NodeId(node)))
}

fn elected(leader: u32, term: u64) -> Effect<ChangRoberts> {
    Effect::Indicate(Indication::Elected { leader: NodeId(leader), term })
}

#[test]
fn alone_it_elects_itself_without_a_message() {
    assert_eq!(run(&mut node(0, 1), CAMPAIGN), [elected(0, 1)]);
    assert_eq!(run(&mut skipping(0, 1), CAMPAIGN), [elected(0, 1)]);
}

#[test]
fn who_begins_sends_its_id_once() {
    let mut node = node(2, 3);
    assert_eq!(run(&mut node, CAMPAIGN), [send(0, id(30, 1))]);
    assert_eq!(run(&mut node, CAMPAIGN), []);
}

#[test]
fn a_greater_id_passes_unchanged() {
    let mut node = node(1, 3);
    assert_eq!(run(&mut node, message(0, id(30, 2))), [send(2, id(30, 3))]);
    assert_eq!(run(&mut node, CAMPAIGN), [], "the election is being held already");
}

#[test]
fn a_smaller_id_is_replaced_by_who_did_not_take_part_yet() {
    let mut node = node(1, 3);
    assert_eq!(run(&mut node, message(0, id(10, 1))), [send(2, id(20, 1))]);
}

#[test]
fn a_smaller_id_is_taken_off_the_ring_by_who_takes_part() {
    let mut runner = node(1, 3);
    run(&mut runner, CAMPAIGN);
    assert_eq!(run(&mut runner, message(0, id(10, 1))), []);
    let mut relay = node(1, 3);
    run(&mut relay, message(0, id(30, 2)));
    assert_eq!(run(&mut relay, message(0, id(10, 1))), []);
}

#[test]
fn whose_id_comes_home_is_elected_and_says_so_once() {
    let mut node = node(2, 3);
    run(&mut node, CAMPAIGN);
    let effects = run(&mut node, message(1, id(30, 3)));
    assert_eq!(effects, [elected(2, 1), send(0, result(2))]);
    assert_eq!(run(&mut node, message(1, id(30, 3))), [], "the same id again");
    assert_eq!(run(&mut node, message(1, result(2))), [], "the lap is over");
}

#[test]
fn an_own_id_that_was_never_sent_is_dropped() {
    assert_eq!(run(&mut node(2, 3), message(1, id(30, 3))), []);
}

#[test]
fn the_result_is_believed_and_passed_on_once() {
    let mut node = node(0, 3);
    run(&mut node, message(2, id(30, 1)));
    assert_eq!(run(&mut node, message(2, result(2))), [elected(2, 1), send(1, result(2))]);
    assert_eq!(run(&mut node, message(2, result(2))), []);
    assert_eq!(run(&mut node, message(2, id(20, 2))), [], "an id overtaken by the result");
}

#[test]
fn a_later_election_has_the_next_term_and_ends_the_one_before() {
    let mut node = node(0, 2);
    run(&mut node, message(1, id(20, 1)));
    run(&mut node, message(1, result(1)));
    let again = Message::Election { id: 10, hops: 1, round: 2 };
    assert_eq!(run(&mut node, CAMPAIGN), [send(1, again)]);
    assert_eq!(run(&mut node, message(1, result(1))), [], "of the first election");
    let news = Message::Elected { leader: NodeId(1), round: 2 };
    assert_eq!(run(&mut node, message(1, news)), [elected(1, 2), send(1, news)]);
}

#[test]
fn who_did_not_begin_only_relays_among_initiators() {
    let mut relay = variant(1, 3, Join::Initiators, Skip::None, Text::Corrected);
    assert_eq!(run(&mut relay, message(0, id(10, 1))), [send(2, id(10, 2))]);
    assert_eq!(run(&mut relay, CAMPAIGN), [], "too late");
    assert_eq!(run(&mut relay, message(0, id(30, 2))), [send(2, id(30, 3))]);
    let mut initiator = variant(1, 3, Join::Initiators, Skip::None, Text::Corrected);
    run(&mut initiator, CAMPAIGN);
    assert_eq!(run(&mut initiator, message(0, id(10, 1))), []);
}

#[test]
fn the_printed_text_never_takes_an_id_off_the_ring() {
    let mut node = variant(1, 3, Join::Contact, Skip::None, Text::Seed);
    run(&mut node, CAMPAIGN);
    assert_eq!(run(&mut node, message(0, id(10, 1))), [send(2, id(20, 1))]);
    assert_eq!(run(&mut node, message(0, id(20, 3))), [elected(1, 1), send(2, result(1))]);
    assert_eq!(run(&mut node, message(0, id(20, 3))), [send(2, result(1))], "a second lap");
}

#[test]
fn a_suspicion_is_passed_on_and_changes_nothing_else_without_skipping() {
    let mut node = node(0, 3);
    run(&mut node, CAMPAIGN);
    assert_eq!(run(&mut node, suspect(1)), [suspected(1)]);
}

#[test]
fn a_dead_successor_is_skipped() {
    let mut node = skipping(0, 4);
    run(&mut node, suspect(2));
    run(&mut node, suspect(1));
    assert_eq!(run(&mut node, CAMPAIGN), [send(3, id(10, 1))]);
}

#[test]
fn what_died_with_the_successor_is_sent_again_the_greatest_id_only() {
    let mut node = skipping(0, 4);
    run(&mut node, message(3, id(40, 1)));
    run(&mut node, message(3, id(30, 2)));
    assert_eq!(run(&mut node, suspect(2)), [suspected(2)], "not the successor");
    assert_eq!(run(&mut node, suspect(1)), [suspected(1), send(3, id(40, 2))]);
}

#[test]
fn a_result_that_died_with_the_successor_is_sent_again() {
    let mut node = skipping(0, 4);
    run(&mut node, message(3, result(3)));
    assert_eq!(run(&mut node, suspect(1)), [suspected(1), send(2, result(3))]);
}

#[test]
fn a_successor_that_is_trusted_again_is_told_where_things_stand() {
    let mut node = skipping(0, 3);
    run(&mut node, suspect(1));
    run(&mut node, CAMPAIGN);
    let trust = detector::Indication::Trust(NodeId(1));
    let trusted = Effect::Indicate(Indication::Trust(NodeId(1)));
    assert_eq!(run(&mut node, Event::Indication(trust)), [trusted, send(1, id(10, 1))]);
}

#[test]
fn an_id_that_passed_the_place_of_its_owner_starts_a_new_round() {
    let mut node = skipping(0, 3);
    run(&mut node, message(2, id(30, 1)));
    assert_eq!(run(&mut node, message(2, id(30, 3))), [send(1, id(30, 4))]);
    let again = Message::Election { id: 10, hops: 1, round: 2 };
    assert_eq!(run(&mut node, message(2, id(30, 4))), [send(1, again)]);
    assert_eq!(run(&mut node, message(2, id(30, 4))), [], "what is left of the first round");
}

#[test]
fn a_leader_that_dies_is_replaced() {
    let mut node = skipping(0, 3);
    run(&mut node, message(2, result(2)));
    let again = Message::Election { id: 10, hops: 1, round: 2 };
    assert_eq!(run(&mut node, suspect(2)), [suspected(2), send(1, again)]);
    let old_news = Message::Elected { leader: NodeId(2), round: 2 };
    let anew = Message::Election { id: 10, hops: 1, round: 3 };
    assert_eq!(run(&mut node, message(1, old_news)), [send(1, anew)], "known to be dead");
}

#[test]
fn the_last_one_left_elects_itself() {
    let mut node = skipping(0, 3);
    run(&mut node, CAMPAIGN);
    run(&mut node, suspect(1));
    assert_eq!(run(&mut node, suspect(2)), [suspected(2), elected(0, 3)]); // 1 * 3 + 0
}

#[test]
fn strangers_are_not_heard() {
    assert_eq!(run(&mut node(0, 2), message(2, id(20, 1))), []);
    assert_eq!(run(&mut node(0, 2), message(1, result(2))), []);
}
