//! The rules one by one.

use super::*;
use conclave_core::Effect;
use conclave_core::testkit::{message, run, send};

fn rank(node: u32) -> Rank {
    Rank::of(NodeId(node), u64::from(node) + 1)
}

fn node(me: u32, neighbours: &[u32]) -> Wireless {
    let neighbours: Vec<NodeId> = neighbours.iter().copied().map(NodeId).collect();
    Wireless::new(rank(me), &neighbours, 10)
}

fn wave(source: u32, number: u32) -> Wave {
    Wave { number, source: rank(source) }
}

fn election(source: u32, number: u32) -> Message {
    Message::Election(wave(source, number))
}

fn ack(source: u32, best: Option<u32>) -> Message {
    Message::Ack { number: 1, source: NodeId(source), best: best.map(rank), counter: 0 }
}

fn leader(source: u32, leader: u32) -> Message {
    Message::Leader { number: 1, source: NodeId(source), leader: rank(leader), counter: 1 }
}

fn elected(leader: u32, counter: u64) -> Effect<Wireless> {
    let term = counter * 10 + u64::from(leader);
    Effect::Indicate(Indication::Elected { leader: NodeId(leader), term })
}

fn suspect(node: u32) -> Event<Wireless> {
    Event::Indication(detector::Indication::Suspect(NodeId(node)))
}

fn trust(node: u32) -> Event<Wireless> {
    Event::Indication(detector::Indication::Trust(NodeId(node)))
}

fn suspected(node: u32) -> Effect<Wireless> {
    Effect::Indicate(Indication::Suspect(NodeId(node)))
}

#[test]
fn the_first_election_brings_a_parent_and_goes_to_the_others() {
    let mut inner = node(1, &[0, 2, 3]);
    let effects = run(&mut inner, message(2, election(0, 1)));
    assert_eq!(effects, [send(0, election(0, 1)), send(3, election(0, 1))]);
    assert_eq!(run(&mut inner, message(3, election(0, 1))), [send(3, ack(0, None))], "again");
    let dead_end = run(&mut node(4, &[1]), message(1, election(0, 1)));
    assert_eq!(dead_end, [send(1, ack(0, Some(4)))]);
}

#[test]
fn the_best_goes_to_the_parent_and_the_leader_to_the_children() {
    let mut inner = node(1, &[0, 2, 3]);
    run(&mut inner, message(0, election(0, 1)));
    assert_eq!(run(&mut inner, message(2, ack(0, Some(7)))), []);
    assert_eq!(run(&mut inner, message(3, ack(0, None))), [send(0, ack(0, Some(7)))]);
    assert_eq!(run(&mut inner, message(2, leader(0, 7))), [], "not from its parent");
    let told = run(&mut inner, message(0, leader(0, 7)));
    assert_eq!(told, [elected(7, 1), send(2, leader(0, 7))]);
}

#[test]
fn a_source_decides_when_all_have_answered() {
    let mut source = node(0, &[1, 2]);
    let begun = run(&mut source, Event::Request(Request::Campaign));
    assert_eq!(begun, [send(1, election(0, 1)), send(2, election(0, 1))]);
    assert_eq!(run(&mut source, Event::Request(Request::Campaign)), [], "one at a time");
    run(&mut source, message(1, ack(0, Some(5))));
    let told = run(&mut source, message(2, ack(0, None)));
    assert_eq!(told, [elected(5, 1), send(1, leader(0, 5))]);
    assert_eq!(run(&mut node(0, &[]), Event::Request(Request::Campaign)), [elected(0, 1)]);
}

#[test]
fn the_greater_of_two_waves_wins_and_answers_of_the_other_are_dropped() {
    let mut source = node(5, &[1, 2]);
    run(&mut source, Event::Request(Request::Campaign));
    assert_eq!(run(&mut source, message(1, election(3, 1))), [send(1, ack(3, None))]);
    assert_eq!(run(&mut source, message(1, election(9, 1))), [send(2, election(9, 1))]);
    assert_eq!(run(&mut source, message(2, ack(5, Some(2)))), [], "of its own wave, left behind");
    assert_eq!(run(&mut source, message(2, election(0, 2))), [send(1, election(0, 2))], "newer");
}

#[test]
fn who_asks_with_an_old_number_makes_an_idle_node_begin() {
    let mut idle = node(5, &[1]);
    run(&mut idle, message(1, election(9, 3)));
    let over = Message::Leader { number: 3, source: NodeId(9), leader: rank(9), counter: 1 };
    assert_eq!(run(&mut idle, message(1, over)), [elected(9, 1)]);
    let refusal = Message::Ack { number: 2, source: NodeId(0), best: None, counter: 1 };
    let effects = run(&mut idle, message(1, election(0, 2)));
    assert_eq!(effects, [send(1, refusal), send(1, election(5, 4))]);
}

#[test]
fn a_lost_neighbour_is_not_awaited() {
    let mut inner = node(1, &[0, 2, 3]);
    run(&mut inner, message(0, election(0, 1)));
    run(&mut inner, message(2, ack(0, Some(2))));
    assert_eq!(run(&mut inner, suspect(3)), [suspected(3), send(0, ack(0, Some(2)))]);
    assert_eq!(run(&mut inner, message(3, ack(0, Some(9)))), [], "from before it was lost");
}

#[test]
fn who_loses_its_parent_or_its_leader_begins_anew() {
    let mut inner = node(1, &[0, 2]);
    run(&mut inner, message(0, election(0, 1)));
    assert_eq!(run(&mut inner, suspect(0)), [suspected(0), send(2, election(1, 2))]);
    let mut child = node(1, &[0]);
    run(&mut child, message(0, election(0, 1)));
    run(&mut child, message(0, leader(0, 7)));
    assert_eq!(run(&mut child, suspect(6)), [suspected(6)], "a bystander");
    assert_eq!(run(&mut child, suspect(7)), [suspected(7), send(0, election(1, 2))]);
}

#[test]
fn a_leader_that_is_already_lost_is_not_accepted() {
    let mut child = node(1, &[0]);
    run(&mut child, message(0, election(0, 1)));
    run(&mut child, suspect(7));
    assert_eq!(run(&mut child, message(0, leader(0, 7))), [send(0, election(1, 2))]);
}

#[test]
fn a_neighbour_that_is_back_makes_a_new_wave_after_the_present_one() {
    let back = || Effect::Indicate(Indication::Trust(NodeId(2)));
    let mut inner = node(1, &[0, 2]);
    run(&mut inner, suspect(2));
    run(&mut inner, message(0, election(0, 1)));
    assert_eq!(run(&mut inner, trust(2)), [back()]);
    let told = run(&mut inner, message(0, leader(0, 7)));
    assert_eq!(told, [elected(7, 1), send(0, election(1, 2)), send(2, election(1, 2))]);
    let mut sleeper = node(1, &[0, 2]);
    run(&mut sleeper, suspect(2));
    assert_eq!(run(&mut sleeper, trust(2)), [back()], "there was no election to hold again");
}

#[test]
fn who_came_back_and_began_before_that_was_told_is_asked_with_a_greater_number() {
    let mut inner = node(1, &[0, 2]);
    run(&mut inner, suspect(2));
    assert_eq!(run(&mut inner, message(2, election(2, 8))), [], "perhaps from before");
    let begun = run(&mut inner, trust(2));
    assert_eq!(begun[1..], [send(0, election(1, 9)), send(2, election(1, 9))]);
}

#[test]
fn who_was_suspected_without_reason_and_not_answered_is_not_kept_waiting() {
    let mut inner = node(1, &[0, 2]);
    run(&mut inner, suspect(2));
    run(&mut inner, message(0, election(0, 1)));
    assert_eq!(run(&mut inner, message(2, election(0, 1))), [], "of the same wave");
    let begun = run(&mut inner, trust(2));
    assert_eq!(begun[1..], [send(0, election(1, 2)), send(2, election(1, 2))]);
}

#[test]
fn a_restart_keeps_the_numbers() {
    let mut inner = node(1, &[0, 2]);
    run(&mut inner, message(0, election(0, 6)));
    let Recovery::State(mut again) = inner.after_crash() else { panic!("it keeps its numbers") };
    let effects = run(&mut again, Event::Restart);
    assert_eq!(effects, [send(0, election(1, 7)), send(2, election(1, 7))]);
    assert!(size_of::<Event<Wireless>>() <= 48);
}

#[test]
fn who_comes_back_and_never_saw_an_election_begins_none() {
    let mut fresh = node(1, &[0, 2]);
    assert_eq!(run(&mut fresh, Event::Restart), []);
    run(&mut fresh, suspect(0));
    assert_eq!(run(&mut fresh, trust(0)).len(), 1, "nor when a neighbour is back");
}

#[test]
fn one_that_never_left_makes_no_new_wave() {
    let mut inner = node(1, &[0, 2, 3]);
    run(&mut inner, message(0, election(0, 1)));
    assert_eq!(run(&mut inner, trust(2)).len(), 1);
    run(&mut inner, suspect(7));
    assert_eq!(run(&mut inner, trust(7)).len(), 1, "nor does one that is no neighbour");
    assert!(!inner.again);
}
