//! States are read as people write them.

use super::*;
use conclave_core::clock::Lamport;
use conclave_core::{NodeSet, Stack, Ticks};
use std::collections::{BTreeMap, VecDeque};

#[derive(Serialize)]
enum Phase {
    Idle,
    VeryBusy { since: Ticks },
    With(NodeId),
}

#[derive(Serialize)]
struct Node {
    me: NodeId,
    n: u32,
    phase: Phase,
    clock: Lamport,
    granted: NodeSet,
    queue: VecDeque<Stamp>,
    times: BTreeMap<NodeId, u64>,
    next: Option<NodeId>,
    holding: bool,
}

fn node(phase: Phase) -> Node {
    Node {
        me: NodeId(0),
        n: 3,
        phase,
        clock: Lamport(7),
        granted: [2, 0].map(NodeId).into_iter().collect(),
        queue: [Stamp::new(3, NodeId(1)), Stamp::new(5, NodeId(0))].into(),
        times: [(NodeId(1), 4)].into(),
        next: None,
        holding: true,
    }
}

fn told(state: &impl Serialize, language: Language) -> Vec<String> {
    let told = |field: &Field| format!("{}: {}", field.label(language), field.value.text(language));
    fields(state).iter().map(told).collect()
}

#[test]
fn a_state_is_told_field_by_field_without_the_words_of_rust() {
    let english = told(&node(Phase::Idle), Language::English);
    let expected = [
        "phase: idle",
        "clock: 7",
        "granted: {0}, {2}",
        "queue: [(3,{1}), (5,{0})]",
        "times: [{1}: 4]",
        "next: –",
        "holding: yes",
    ];
    assert_eq!(english, expected);
    let busy = node(Phase::VeryBusy { since: Ticks::units(2) });
    assert_eq!(told(&busy, Language::English)[0], "phase: very busy (since: 2)");
    assert_eq!(told(&node(Phase::With(NodeId(2))), Language::English)[0], "phase: with {2}");
    assert_eq!(told(&node(Phase::Idle), Language::Portuguese)[0], "fase: livre");
}

#[test]
fn a_layer_below_is_named_with_its_fields() {
    let stack = Stack { upper: node(Phase::Idle), lower: node(Phase::Idle) };
    let fields = fields(&stack);
    assert_eq!((fields[0].name.as_str(), fields[7].name.as_str()), ("phase", "node.phase"));
    assert_eq!(fields[7].label(Language::English), "node: phase");
}

#[test]
fn what_changed_is_named() {
    let before = fields(&node(Phase::Idle));
    let after = fields(&Node { holding: false, ..node(Phase::With(NodeId(1))) });
    let names: Vec<&str> = changed(&before, &after).map(|field| field.name.as_str()).collect();
    assert_eq!(names, ["phase", "holding"]);
    assert_eq!(changed(&before, &before).count(), 0);
}

#[test]
fn facets_are_found_by_their_fields() {
    let facet = |field, kind| Facet { field, kind, english: "", portuguese: "" };
    let declared = [
        facet("queue", FacetKind::Queue),
        facet("granted", FacetKind::Set),
        facet("next", FacetKind::Edge),
        facet("phase.since", FacetKind::Set),
        facet("nowhere", FacetKind::Set),
    ];
    let shown = facets(&fields(&node(Phase::Idle)), &declared);
    assert_eq!(shown.len(), 2, "an edge to nobody is none: {shown:?}");
    let waiting = [Stamp::new(3, NodeId(1)), Stamp::new(5, NodeId(0))];
    assert_eq!(shown[0].items, waiting.map(Shown::Stamp));
    assert_eq!(shown[1].nodes, [0, 2].map(NodeId));
}

#[test]
fn facets_of_a_layer_below_are_found_under_its_name() {
    let facet = |field, kind| Facet { field, kind, english: "", portuguese: "" };
    let declared = [
        facet("granted", FacetKind::Set),
        facet("node.granted", FacetKind::Set),
        facet("node.phase.since", FacetKind::Set),
        facet("nod", FacetKind::Set),
    ];
    let above = Node { granted: NodeSet::default(), ..node(Phase::Idle) };
    let middle = Stack { upper: node(Phase::Idle), lower: node(Phase::Idle) };
    let shown = facets(&fields(&Stack { upper: above, lower: middle }), &declared);
    assert_eq!(shown.len(), 2, "{shown:?}");
    assert!(shown[0].nodes.is_empty(), "{shown:?}");
    assert_eq!(shown[1].nodes, [0, 2].map(NodeId));
}

#[derive(Serialize)]
struct Edges {
    edges: Vec<Edge>,
}

#[derive(Serialize)]
struct Edge {
    to: NodeId,
    way: Way,
    heard: Option<NodeId>,
}

#[derive(Serialize)]
enum Way {
    In,
    Out,
}

#[test]
fn of_a_list_the_edges_with_a_word_are_shown_one_by_one() {
    let edge = |(to, way)| Edge { to: NodeId(to), way, heard: Some(NodeId(9)) };
    let edges = [(1, Way::Out), (2, Way::In), (4, Way::Out)].map(edge).into();
    let out = Facet { field: "edges.Out", kind: FacetKind::Edge, english: "", portuguese: "" };
    let shown = facets(&fields(&Edges { edges }), &[out]);
    let ends: Vec<&[NodeId]> = shown.iter().map(|shown| shown.nodes.as_slice()).collect();
    assert_eq!(ends, [[NodeId(1)], [NodeId(4)]]);
}
