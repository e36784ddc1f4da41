//! The row of Yo-Yo.

use super::claims::{LED, as_usual, claim};
use super::dropped::{breaks, not_in_bounds};
use super::facets::{edges, leader};
use super::topology::{self, Size};
use super::{
    Arrival, Assumption, Carries, Cluster, Cost, ElectionCost, Entry, Evidence, Family, Formula,
    Kind, OnNetwork, Parameter, Params, Rejoin, Setting, Stated, exactly, limits,
};
use crate::Error;
use crate::election::rank::Choose;
use crate::election::yo_yo::{Text, WHY, YoYo};
use conclave_core::NodeId;
use conclave_core::Property::{E1, E1Term, E2};

/// Votes on a graph without circles.
pub const ENTRY: Entry = Entry {
    id: "yo-yo",
    family: Family::Election,
    title: "Yo-Yo",
    summary: "Ids go down a graph without circles and votes come back up, pass after pass, until \
              one source is left.",
    paper: "N. Santoro, \"Design and Analysis of Distributed Algorithms\", Wiley 2007",
    seeds: &["003"],
    assumptions: &[
        Assumption {
            tag: "A1",
            text: "every message arrives, in any order, be it twice",
            dropped: breaks(limits::loss, &[E2]),
        },
        Assumption {
            tag: "A2",
            text: "no node crashes",
            dropped: breaks(limits::crash, &[E1, E2]),
        },
        Assumption {
            tag: "A3",
            text: "the graph is connected and the ids are distinct",
            dropped: not_in_bounds(
                "it would take a graph in parts or two nodes of one id; a topology in parts and \
                 equal ids are refused",
            ),
        },
    ],
    bounds: limits::untimed,
    has: |params| {
        let printed = text(params) == Text::Seed;
        if printed { vec![E1, E1Term] } else { vec![E1, E1Term, E2] }
    },
    lacks: &[(
        E2,
        "with text=seed nothing is pruned, so the last source never knows that it is alone, and \
         nobody is ever told of a leader",
    )],
    bypass: None,
    parameters: &[
        topology::PARAMETER,
        Parameter {
            name: "choose",
            kind: Kind::Choice(&["min", "max"]),
            default: "min",
            about: "whether the smallest or the greatest id leads",
        },
        Parameter {
            name: "text",
            kind: Kind::Choice(&["corrected", "seed"]),
            default: "corrected",
            about: "seed: as lecture notes 003 print it, where a node in the middle votes yes \
                    whatever it hears from below, nothing is pruned and nobody is told",
        },
    ],
    cost: Cost::Election(ElectionCost {
        one: Formula { text: "2m + at most 2m(log2 s + 1) + N-1", range: messages },
        all: Formula { text: "2m + at most 2m(log2 s + 1) + N-1", range: messages },
        all_mean: None,
        time: Formula { text: "at most D+1 + 2(N-1)(log2 s + 1) + N-1", range: time },
        without_last: false,
        textbooks: "m edges; s nodes whose id is the best around, the logarithm rounded up. Books \
                    say 2m log N, and leave out the N-1 messages that tell everybody.",
    }),
    rejoin_without_disk: Rejoin::Never,
    on_network: OnNetwork::Election(Carries::NOTHING_SINCE_HELD_ONCE),
    evidence: Evidence {
        claims: Stated::Yes(&[claim(4, as_usual, 2_253, LED).place(55)]),
        normal: Stated::No("an election ends: no counter rises for ever"),
        plain: Stated::Yes(Arrival::AnyOrder),
    },
    why: &[WHY],
    facets: &[
        edges("edges.Out", "out edge to", "aresta de saída para"),
        edges("edges.Child", "child, to be told who leads", "filho, a avisar quem lidera"),
        leader("leader"),
    ],
};

/// Builds the nodes.
pub fn cluster(setting: &Setting) -> Result<Cluster<YoYo>, Error> {
    let choose = choose(setting);
    let text = text(&setting.params);
    let ranks = topology::ranks(setting, choose);
    let fresh = move |rank, neighbours: &[NodeId]| YoYo::new(rank, neighbours, choose, text);
    let cluster = topology::cluster(topology::graph(setting)?, ranks, choose, fresh);
    Ok(Cluster { silent: text == Text::Corrected || setting.n == 1, ..cluster })
}

fn choose(setting: &Setting) -> Choose {
    if setting.params.is("choose", "max") { Choose::Max } else { Choose::Min }
}

fn text(params: &Params) -> Text {
    if params.is("text", "seed") { Text::Seed } else { Text::Corrected }
}

/// Every edge is used in the first pass; the sources at least halve from pass to pass.
fn messages(setting: &Setting) -> (f64, f64) {
    let Size { n, m, .. } = Size::of(setting);
    match (text(&setting.params), setting.n) {
        (_, 1) => exactly(0.0),
        (Text::Corrected, _) => {
            (4.0 * m + n - 1.0, 2.0 * m * (1.0 + passes_max(setting)) + n - 1.0)
        }
        (Text::Seed, _) => (4.0 * m, f64::INFINITY),
    }
}

fn time(setting: &Setting) -> (f64, f64) {
    let Size { n, d, .. } = Size::of(setting);
    match (text(&setting.params), setting.n) {
        (_, 1) => exactly(0.0),
        (Text::Corrected, _) => (4.0, d + 1.0 + (n - 1.0) * (2.0 * passes_max(setting) + 1.0)),
        (Text::Seed, _) => exactly(f64::INFINITY),
    }
}

fn passes_max(setting: &Setting) -> f64 {
    let (choose, ranks) = (choose(setting), topology::ranks(setting, choose(setting)));
    let Ok(graph) = topology::graph(setting) else { return 0.0 };
    let better = |a: NodeId, b: NodeId| choose.prefers(ranks[a.index()], ranks[b.index()]);
    let is_source = |node: &NodeId| graph.neighbours(*node).iter().all(|&end| better(*node, end));
    let sources = (0..setting.n).map(NodeId).filter(is_source).count() as u32;
    f64::from(sources.next_power_of_two().ilog2()) + 1.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use conclave_core::NodeSet;

    fn setting(n: u32, set: &[(&str, &str)]) -> Setting {
        ENTRY.setting(n, set).expect("taken")
    }

    #[test]
    fn the_known_totals_are_within_the_formula() {
        assert_eq!(messages(&setting(8, &[])), exactly(39.0));
        assert_eq!(messages(&setting(7, &[("topology", "complete")])), exactly(90.0));
        let ring = setting(8, &[]).with_ids(vec![3, 17, 24, 1, 28, 15, 9, 4]).expect("eight ids");
        assert_eq!(messages(&ring), (39.0, 55.0));
        assert_eq!(messages(&setting(1, &[])), exactly(0.0));
    }

    #[test]
    fn the_best_candidate_should_win() {
        let everybody: NodeSet = (0..4).map(NodeId).collect();
        for (choose, all, some) in [("min", 0, 1), ("max", 3, 2)] {
            let setting = setting(4, &[("choose", choose)]);
            let candidates = [1, 2].map(NodeId).into_iter().collect();
            for (setting, leader) in
                [(setting.clone(), all), (setting.with_candidates(candidates), some)]
            {
                let winner = cluster(&setting).expect("built").winner.expect("there is a rule");
                assert_eq!(winner(&everybody, &everybody), Some(NodeId(leader)));
            }
        }
    }

    #[test]
    fn a_graph_that_cannot_be_used_is_refused_by_name() {
        let error = cluster(&setting(3, &[("topology", "1 2\n3 x")])).err().expect("refused");
        let reason = "--set topology: line 2: 'x' is not a node number from 1 to 3";
        assert_eq!(error.to_string(), reason);
    }
}
