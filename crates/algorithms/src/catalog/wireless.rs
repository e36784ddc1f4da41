//! The row of the election in ad hoc networks.

use super::claims::{LED, as_usual, claim};
use super::dropped::breaks;
use super::topology::{self, Size};
use super::{
    Arrival, Assumption, Carries, Cluster, Cost, ElectionCost, Entry, Evidence, Family, Formula,
    Kind, OnNetwork, Parameter, Rejoin, Setting, Stated, exactly, limits,
};
use crate::Error;
use crate::election::rank::{Choose, Rank};
use crate::election::wireless::Wireless;
use conclave_core::NodeId;
use conclave_core::Property::{E1, E1Term, E2};

/// The tree that brings back the best.
pub const ENTRY: Entry = Entry {
    id: "wireless",
    family: Family::Election,
    title: "Ad hoc network election",
    summary: "A wave builds a tree and brings the best rank back to its source, which tells \
              everybody down the tree.",
    paper: "S. Vasudevan, J. Kurose, D. Towsley, \"Design and analysis of a leader election \
            algorithm for mobile ad hoc networks\", ICNP 2004",
    seeds: &["001"],
    assumptions: &[
        Assumption {
            tag: "A1",
            text: "every message to a live neighbour arrives exactly once, in the order sent",
            dropped: breaks(limits::loss_and_reorder, &[E1, E2]).nodes(2),
        },
        Assumption {
            tag: "A2",
            text: "whoever crashes or cannot be reached is suspected, and trusted when it is back",
            dropped: breaks(limits::suspicion, &[E1, E2])
                .beyond(limits::passing_suspicion)
                .nodes(2),
        },
        Assumption {
            tag: "A3",
            text: "what is left of the graph is connected, and the ids are distinct",
            dropped: breaks(limits::crash, &[E1]).with(&[("topology", "path")]),
        },
    ],
    bounds: limits::untimed,
    has: |_| vec![E1, E1Term, E2],
    lacks: &[],
    bypass: None,
    parameters: &[
        topology::PARAMETER,
        Parameter {
            name: "rank",
            kind: Kind::ChoiceOrFile(&["id"]),
            default: "id",
            about: "who is best: the greatest id, or the greatest number in a file, line i that of \
                    node i (a battery's charge, say), equal ones by id",
        },
    ],
    cost: Cost::Election(ElectionCost {
        one: Formula { text: "4m-N+1", range: |setting| exactly(messages(setting)) },
        all: Formula {
            text: "4m-N+1 to N times that",
            range: |setting| (messages(setting), setting.n() * messages(setting)),
        },
        all_mean: None,
        time: Formula { text: "3 to the farthest node, and up to 2", range: time },
        without_last: false,
        textbooks: "m edges. Where one radio message reaches all neighbours, N ELECTION and N \
                    LEADER broadcasts take the place of one message per edge.",
    }),
    rejoin_without_disk: Rejoin::ByProtocol,
    on_network: OnNetwork::Election(Carries::Nothing(
        "nobody leads from the start, and locks need a leader before the first message",
    )),
    evidence: Evidence {
        claims: Stated::Yes(&[claim(4, as_usual, 42_521, LED).place(56)]),
        normal: Stated::No("an election ends: no counter rises for ever"),
        plain: Stated::Yes(Arrival::AsSent),
    },
    why: &[],
    facets: &[],
};

/// Builds the nodes.
pub fn cluster(setting: &Setting) -> Result<Cluster<Wireless>, Error> {
    let n = setting.n;
    let fresh = move |rank, neighbours: &[NodeId]| Wireless::new(rank, neighbours, n);
    Ok(topology::cluster(topology::graph(setting)?, ranks(setting)?, Choose::Max, fresh))
}

/// By attribute and id. An attribute of 0 is for whoever may not be elected, if there is anybody.
fn ranks(setting: &Setting) -> Result<Vec<Rank>, Error> {
    let mut ranks = topology::ranks(setting, Choose::Max);
    for (rank, attribute) in ranks.iter_mut().zip(setting.attributes()?) {
        if setting.is_candidate(rank.node) {
            rank.attribute += attribute;
        }
    }
    Ok(ranks)
}

/// Every edge but those of the tree carries an ELECTION and an ACK in both directions; those of the
/// tree carry one of each, and a LEADER.
fn messages(setting: &Setting) -> f64 {
    let Size { n, m, .. } = Size::of(setting);
    4.0 * m - n + 1.0
}

/// Out, back and out again; at the rim it may take a message there and back to see that all its
/// neighbours have a parent.
fn time(setting: &Setting) -> (f64, f64) {
    let size = Size::of(setting);
    let rim = if setting.n > 2 { 2.0 } else { 0.0 };
    (3.0 * size.radius_min(), 3.0 * size.d + rim)
}

#[cfg(test)]
mod tests {
    use super::*;
    use conclave_core::NodeSet;

    #[test]
    fn the_known_totals_come_out() {
        for (topology, n, total) in
            [("complete", 4, 21.0), ("grid", 9, 40.0), ("path", 8, 21.0), ("star", 7, 18.0)]
        {
            let setting = ENTRY.setting(n, &[("topology", topology)]).expect("taken");
            assert_eq!(messages(&setting), total, "{topology} of {n}");
        }
        assert_eq!(messages(&ENTRY.setting(1, &[]).expect("taken")), 0.0);
    }

    #[test]
    fn the_best_charged_candidate_should_win_and_equal_charges_go_by_id() {
        let setting = ENTRY.setting(4, &[("rank", "90\n80\n80\n20")]).expect("taken");
        let everybody: NodeSet = (0..4).map(NodeId).collect();
        let rest: NodeSet = (1..4).map(NodeId).collect();
        let winner = cluster(&setting).expect("built").winner.expect("there is a rule");
        assert_eq!(winner(&everybody, &everybody), Some(NodeId(0)));
        assert_eq!(winner(&rest, &everybody), Some(NodeId(2)));
        let setting = setting.with_candidates([NodeId(3)].into_iter().collect());
        let winner = cluster(&setting).expect("built").winner.expect("there is a rule");
        assert_eq!(winner(&everybody, &everybody), Some(NodeId(3)));
    }

    #[test]
    fn a_file_of_ranks_that_cannot_be_used_is_refused_by_name() {
        let setting = ENTRY.setting(3, &[("rank", "90\n80")]).expect("taken");
        let error = cluster(&setting).err().expect("too few");
        let reason = "--set rank: 2 numbers for 3 nodes; one line each is needed";
        assert_eq!(error.to_string(), reason);
    }
}
