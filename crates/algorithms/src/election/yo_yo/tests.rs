//! The rules one by one.

use super::*;
use conclave_core::Effect;
use conclave_core::testkit::{message, run, send};

fn rank(node: u32) -> Rank {
    Rank::of(NodeId(node), u64::from(node) + 1)
}

fn node(me: u32, neighbours: &[u32]) -> YoYo {
    let neighbours: Vec<NodeId> = neighbours.iter().copied().map(NodeId).collect();
    YoYo::new(rank(me), &neighbours, Choose::Min, Text::Corrected)
}

fn yo(best: u32, pass: u32) -> Message {
    Message::Yo { best: rank(best), pass }
}

fn up(yes: bool, prune: Prune, pass: u32) -> Message {
    Message::Up { yes, prune, pass }
}

/// A node that knows the ids of its neighbours.
fn after_setup(me: u32, neighbours: &[u32]) -> (YoYo, Vec<Effect<YoYo>>) {
    let mut node = node(me, neighbours);
    run(&mut node, Event::Request(Request::Campaign));
    let mut effects = Vec::new();
    for &neighbour in neighbours {
        effects = run(&mut node, message(neighbour, Message::Id(rank(neighbour))));
    }
    (node, effects)
}

#[test]
fn an_id_wakes_a_node_that_sleeps() {
    let effects = run(&mut node(1, &[0, 2]), message(0, Message::Id(rank(0))));
    let id = Message::Id(rank(1));
    assert_eq!(effects, [send(0, id), send(2, id)]);
}

#[test]
fn a_source_sends_its_id_down_and_others_wait_for_every_in_edge() {
    let (_, effects) = after_setup(0, &[1, 2]);
    assert_eq!(effects, [send(1, yo(0, 1)), send(2, yo(0, 1))]);
    let (mut inner, effects) = after_setup(2, &[0, 1, 3]);
    assert_eq!(effects, []);
    assert_eq!(run(&mut inner, message(1, yo(1, 1))), []);
    assert_eq!(run(&mut inner, message(0, yo(0, 1))), [send(3, yo(0, 1))]);
}

#[test]
fn a_sink_says_yes_to_the_best_and_no_to_the_others() {
    let (mut sink, _) = after_setup(2, &[0, 1]);
    run(&mut sink, message(0, yo(0, 1)));
    let effects = run(&mut sink, message(1, yo(1, 1)));
    let yes = up(true, Prune::None, 1);
    let no = up(false, Prune::None, 1);
    assert_eq!(effects, [send(0, yes), send(1, no)]);
    assert_eq!(run(&mut sink, message(0, yo(0, 2))), [send(1, yo(0, 2))], "the N turned its edge");
}

#[test]
fn a_no_from_below_is_a_no_to_all_above() {
    let (mut inner, _) = after_setup(2, &[0, 1, 3]);
    run(&mut inner, message(0, yo(0, 1)));
    run(&mut inner, message(1, yo(1, 1)));
    let effects = run(&mut inner, message(3, up(false, Prune::None, 1)));
    let no = up(false, Prune::None, 1);
    assert_eq!(effects, [send(0, no), send(1, no)]);
}

#[test]
fn the_lecture_note_says_yes_to_the_best_whatever_it_heard_from_below() {
    let (mut inner, _) = after_setup(2, &[0, 1, 3]);
    inner.text = Text::Seed;
    run(&mut inner, message(0, yo(0, 1)));
    run(&mut inner, message(1, yo(1, 1)));
    let effects = run(&mut inner, message(3, up(false, Prune::None, 1)));
    assert_eq!(effects, [send(0, up(true, Prune::None, 1)), send(1, up(false, Prune::None, 1))]);
}

#[test]
fn a_no_on_an_edge_that_vanishes_does_not_count() {
    let (mut inner, _) = after_setup(1, &[0, 2, 3]);
    run(&mut inner, message(0, yo(0, 1)));
    run(&mut inner, message(2, up(false, Prune::Dup, 1)));
    let effects = run(&mut inner, message(3, up(true, Prune::None, 1)));
    assert_eq!(effects, [send(0, up(true, Prune::None, 1))]);
}

#[test]
fn of_in_edges_with_the_same_value_one_is_kept_and_a_leaf_is_done() {
    let (mut sink, _) = after_setup(2, &[0, 1]);
    run(&mut sink, message(0, yo(0, 1)));
    let effects = run(&mut sink, message(1, yo(0, 1)));
    assert_eq!(effects, [send(0, up(true, Prune::Leaf, 1)), send(1, up(true, Prune::Dup, 1))]);
    let elected = Message::Elected(rank(0));
    let told = Effect::Indicate(Indication::Elected { leader: NodeId(0), term: 1 });
    assert_eq!(run(&mut sink, message(0, elected)), [told]);
    assert_eq!(run(&mut sink, message(0, elected)), [], "told again");
}

#[test]
fn the_source_without_edges_leads_and_tells_its_children() {
    let (mut source, _) = after_setup(0, &[1, 2]);
    run(&mut source, message(1, up(true, Prune::Leaf, 1)));
    let effects = run(&mut source, message(2, up(true, Prune::Dup, 1)));
    let told = Effect::Indicate(Indication::Elected { leader: NodeId(0), term: 1 });
    assert_eq!(effects, [told.clone(), send(1, Message::Elected(rank(0)))]);
    assert_eq!(run(&mut node(0, &[]), Event::Request(Request::Campaign)), [told]);
}

#[test]
fn what_comes_twice_or_from_strangers_changes_nothing() {
    let (mut inner, _) = after_setup(1, &[0, 2]);
    run(&mut inner, message(0, yo(0, 1)));
    let before = inner.clone();
    for again in [Message::Id(rank(0)), yo(0, 1), up(true, Prune::Dup, 1), up(false, Prune::Dup, 0)]
    {
        assert_eq!(run(&mut inner, message(0, again)), []);
    }
    assert_eq!(run(&mut inner, message(9, yo(0, 1))), []);
    assert_eq!(inner, before);
}

#[test]
fn an_event_is_small() {
    assert!(size_of::<Event<YoYo>>() <= 32);
}
