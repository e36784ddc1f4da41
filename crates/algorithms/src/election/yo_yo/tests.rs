//! The rules one by one, then whole elections.

use super::*;
use crate::election::small_network::{Testbed, graph, nodes, place, shuffled};
use conclave_core::Effect;
use conclave_core::testkit::{message, run, send};
use std::collections::BTreeSet;

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
    let (yes, no) = (up(true, Prune::None, 1), up(false, Prune::None, 1));
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

fn election(topology: &str, n: u32, ids: &[u64], choose: Choose) -> Testbed<YoYo> {
    let fresh = |rank, neighbours: &[NodeId]| YoYo::new(rank, neighbours, choose, Text::Corrected);
    Testbed::new(nodes(&graph(topology, n), ids, fresh))
}

#[test]
fn known_graphs_cost_the_known_totals_and_passes() {
    for (topology, n, ids, total, passes) in [
        ("path", 8, vec![], 35, 1),
        ("ring", 8, vec![], 39, 1),
        ("ring", 8, vec![3, 17, 24, 1, 28, 15, 9, 4], 55, 2),
        ("complete", 4, vec![], 27, 1),
        ("complete", 7, vec![], 90, 1),
        ("star", 7, vec![], 30, 1),
        ("star", 7, vec![7, 1, 2, 3, 4, 5, 6], 42, 2),
        ("path", 8, vec![1, 5, 2, 6, 3, 7, 4, 8], 47, 2),
        ("grid", 9, vec![], 56, 1),
        ("path", 1, vec![], 0, 0),
    ] {
        for start in [0..1, 0..n] {
            let mut network = election(topology, n, &ids, Choose::Min).start(start);
            assert_eq!(network.total(), total, "{topology} of {n}");
            let leader = place(&ids, ids.iter().min());
            network.assert_leader(leader);
            assert_eq!(network.nodes[leader as usize].pass(), passes, "{topology} of {n}");
        }
    }
}

#[test]
fn every_random_graph_elects_the_best_within_the_bound() {
    for seed in 0..400 {
        let n = 2 + seed as u32 % 23;
        let topology = format!("random:{}:{seed}", if n < 8 { 0.6 } else { 0.3 });
        let (graph, ids) = (graph(&topology, n), shuffled(n, seed));
        let choose = if seed % 2 == 0 { Choose::Min } else { Choose::Max };
        let mut network =
            election(&topology, n, &ids, choose).with_chance(seed, 5_000).start([seed as u32 % n]);
        network.total();
        let best = if choose == Choose::Min { ids.iter().min() } else { ids.iter().max() };
        let leader = place(&ids, best);
        network.assert_leader(leader);
        assert_eq!(network.sent.get("ELECTED"), Some(&u64::from(n - 1)), "seed {seed}");
        assert_eq!(network.sent.get("ID"), Some(&(2 * graph.edges())), "seed {seed}");
        let better = |a: NodeId, b: NodeId| match choose {
            Choose::Min => ids[a.index()] < ids[b.index()],
            Choose::Max => ids[a.index()] > ids[b.index()],
        };
        let source = |node: &NodeId| graph.neighbours(*node).iter().all(|&end| better(*node, end));
        let sources = (0..n).map(NodeId).filter(source).count() as u32;
        let passes = network.nodes[leader as usize].pass();
        let most = sources.next_power_of_two().ilog2() + 1;
        assert!(passes <= most, "seed {seed}: {passes} passes for {sources} sources");
    }
}

#[test]
fn as_the_lecture_note_prints_it_nobody_is_ever_elected() {
    for topology in ["ring", "path", "complete", "grid"] {
        let fresh = |rank, ends: &[NodeId]| YoYo::new(rank, ends, Choose::Min, Text::Seed);
        let mut network = Testbed::new(nodes(&graph(topology, 8), &[], fresh)).start(0..8);
        assert!(!network.run(100_000), "{topology}: passes without end");
        assert_eq!(network.leaders.iter().collect::<BTreeSet<_>>(), [&None].into(), "{topology}");
    }
}
