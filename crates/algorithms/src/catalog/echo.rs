//! The row of the echo with extinction.

use super::claims::{LED, as_usual, claim};
use super::dropped::{breaks, not_in_bounds};
use super::topology::{self, Size};
use super::{
    Arrival, Assumption, Carries, Cluster, Cost, ElectionCost, Entry, Evidence, Family, Formula,
    OnNetwork, Rejoin, Setting, Stated, exactly, limits,
};
use crate::Error;
use crate::election::echo::Echo;
use crate::election::rank::Choose;
use conclave_core::Property::{E1, E1Term, E2};

/// The greatest wave swallows the others.
pub const ENTRY: Entry = Entry {
    id: "echo",
    family: Family::Election,
    title: "Echo with extinction",
    summary: "Every initiator floods the graph and collects the echo; the greatest wave swallows \
              the others.",
    paper: "E. J. H. Chang, \"Echo algorithms: depth parallel operations on general graphs\", IEEE \
            TSE 8(4), 1982; G. Tel, \"Introduction to Distributed Algorithms\", 2000",
    seeds: &[],
    assumptions: &[
        Assumption {
            tag: "A1",
            text: "every message arrives exactly once, in any order",
            dropped: breaks(limits::astray, &[E2]),
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
    has: |_| vec![E1, E1Term, E2],
    lacks: &[],
    bypass: None,
    parameters: &[topology::PARAMETER],
    cost: Cost::Election(ElectionCost {
        one: Formula { text: "2m + 2m-N+1", range: |setting| exactly(messages(setting, 1.0)) },
        all: Formula {
            text: "2m to 2mN, + 2m-N+1",
            range: |setting| (messages(setting, 1.0), messages(setting, setting.n())),
        },
        all_mean: None,
        time: Formula { text: "3 to the farthest node, and up to 1", range: time },
        without_last: false,
        textbooks: "m edges. Books count the waves, 2m to 2mN, and leave out the flood that tells \
                    everybody.",
    }),
    rejoin_without_disk: Rejoin::Never,
    on_network: OnNetwork::Election(Carries::NOTHING_SINCE_HELD_ONCE),
    evidence: Evidence {
        claims: Stated::Yes(&[claim(4, as_usual, 13_024, LED).place(58)]),
        normal: Stated::No("an election ends: no counter rises for ever"),
        plain: Stated::Yes(Arrival::AnyOrder),
    },
    why: &[],
    facets: &[],
};

/// Builds the nodes. The greatest of those that began should lead.
pub fn cluster(setting: &Setting) -> Result<Cluster<Echo>, Error> {
    if !setting.candidates.is_empty() {
        let reason = "in echo whoever begins may be elected; let only the candidates begin";
        return Err(Error::Unusable { name: "candidates", reason: reason.into() });
    }
    let ranks = topology::ranks(setting, Choose::Max);
    let known = ranks.clone();
    let graph = topology::graph(setting)?;
    let cluster = topology::cluster(graph, ranks, Choose::Max, Echo::new);
    Ok(Cluster {
        winner: Some(Box::new(move |up, began| {
            let ranks = began.iter().filter(|&node| up.contains(node));
            ranks.map(|node| known[node.index()]).max().map(|greatest| greatest.node)
        })),
        ..cluster
    })
}

/// Both directions of every edge for each wave; the flood of the leader spares the way it came.
fn messages(setting: &Setting, waves: f64) -> f64 {
    let Size { n, m, .. } = Size::of(setting);
    2.0 * m * waves + 2.0 * m - n + 1.0
}

/// Out, back and out again; at the rim waves may have to meet first.
fn time(setting: &Setting) -> (f64, f64) {
    let size = Size::of(setting);
    let rim = if setting.n > 2 { 1.0 } else { 0.0 };
    (3.0 * size.radius_min(), 3.0 * size.d + rim)
}

#[cfg(test)]
mod tests {
    use super::*;
    use conclave_core::{NodeId, NodeSet};

    #[test]
    fn the_known_totals_come_out() {
        for (topology, n, one, all) in [
            ("complete", 7, 78.0, 189.0),
            ("ring", 8, 25.0, 51.0),
            ("path", 8, 21.0, 55.0),
            ("grid", 9, 40.0, 91.0),
            ("star", 1, 0.0, 0.0),
        ] {
            let setting = ENTRY.setting(n, &[("topology", topology)]).expect("taken");
            assert_eq!(messages(&setting, 1.0), one, "{topology} of {n}");
            let most = messages(&setting, f64::from(n));
            assert!((one..=most).contains(&all), "{topology} of {n}: {one} to {most}");
        }
    }

    #[test]
    fn the_greatest_of_those_that_began_should_win() {
        let nodes = |nodes: &[u32]| nodes.iter().copied().map(NodeId).collect::<NodeSet>();
        let setting = ENTRY.setting(4, &[]).expect("taken").with_ids(vec![5, 9, 7, 8]);
        let winner = cluster(&setting.expect("four ids")).expect("built").winner.expect("a rule");
        let all = nodes(&[0, 1, 2, 3]);
        assert_eq!(winner(&all, &all), Some(NodeId(1)));
        assert_eq!(winner(&all, &nodes(&[0, 2])), Some(NodeId(2)));
        assert_eq!(winner(&nodes(&[1]), &nodes(&[0, 2])), None);
    }

    #[test]
    fn candidates_are_refused() {
        let setting = ENTRY.setting(4, &[]).expect("taken");
        let setting = setting.with_candidates([NodeId(1)].into_iter().collect());
        assert!(cluster(&setting).is_err_and(|error| error.to_string().contains("candidates")));
    }
}
