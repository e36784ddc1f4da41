//! The row of the ring election.

use super::claims::{LED, as_usual, claim, copied, one_begins_with_a_crash, suspected};
use super::dropped::{breaks, not_in_bounds};
use super::{
    Arrival, Assumption, Carries, Cluster, Cost, ElectionCost, Entry, Evidence, Family, Formula,
    Kind, OnNetwork, Parameter, Rejoin, Setting, Stated, exactly, limits,
};
use crate::Error;
use crate::election::rank::Ranking;
use crate::election::ring::{Ring, Text};
use conclave_core::Property::{E1, E1Term, E2};
use conclave_core::{Links, NodeSet};
use std::cmp::Reverse;

/// What the catalogue says of it.
pub const ENTRY: Entry = Entry {
    id: "ring",
    family: Family::Election,
    title: "The ring election",
    summary: "A list goes round and collects the ids of the live; the greatest of them leads.",
    paper: "After G. Le Lann, IFIP Congress 1977; A. Tanenbaum, M. van Steen, \"Distributed \
            Systems\"",
    seeds: &["000", "001", "003"],
    assumptions: &[
        Assumption {
            tag: "A1",
            text: "every message to a live node arrives exactly once",
            dropped: breaks(limits::loss, &[E2]),
        },
        Assumption {
            tag: "A2",
            text: "suspicions are right in the end",
            dropped: breaks(limits::suspicion, &[E1, E2])
                .beyond(limits::passing_suspicion)
                .nodes(2),
        },
        Assumption {
            tag: "A3",
            text: "all know the order of the ring",
            dropped: not_in_bounds(
                "it would take nodes that differ about the ring; all are built from one order of \
                 ids",
            ),
        },
    ],
    bounds: limits::untimed,
    has: |_| vec![E1, E1Term, E2],
    lacks: &[],
    bypass: None,
    parameters: &[
        Parameter {
            name: "choose",
            kind: Kind::Choice(&["max", "min"]),
            default: "max",
            about: "which id of the list leads",
        },
        Parameter {
            name: "text",
            kind: Kind::Choice(&["corrected", "000"]),
            default: "corrected",
            about: "000: as slides 000 print it, where only the node that made an announcement \
                    takes it from the ring: if that one has died, it goes round for ever",
        },
    ],
    cost: Cost::Election(ElectionCost {
        one: Formula {
            text: "at most 2n, n=N-1 the live",
            range: |setting| exactly(2.0 * live(setting)),
        },
        all: Formula {
            text: "at most 2n^2, n=N-1 the live",
            range: |setting| exactly(2.0 * live(setting).powi(2)),
        },
        all_mean: None,
        time: Formula {
            text: "2n-1, n=N-1 the live; the last message ends at 2n",
            range: |setting| exactly((2.0 * live(setting) - 1.0).max(0.0)),
        },
        without_last: true,
        textbooks: "Tanenbaum and van Steen print 2(n-1), not counting the hop that closes each \
                    lap. Attempts to reach the dead are not counted.",
    }),
    rejoin_without_disk: Rejoin::ByProtocol,
    on_network: OnNetwork::Election(Carries::Locks(&["period", "timeout"])),
    evidence: Evidence {
        claims: Stated::Yes(&[
            claim(4, as_usual, 4_619, LED).place(51),
            claim(3, copied, 8_932, LED),
            claim(2, suspected, 904, LED),
            claim(3, suspected, 1_890_908, LED).large(),
            claim(3, as_usual, 473, LED).with(&[("text", "000")]),
            claim(3, one_begins_with_a_crash, 265, LED),
            claim(3, one_begins_with_a_crash, 273, LED).with(&[("text", "000")]),
        ]),
        normal: Stated::No("an election ends: no counter rises for ever"),
        plain: Stated::Yes(Arrival::AnyOrder),
    },
    why: &[],
    facets: &[],
};

/// Builds the nodes.
pub fn cluster(setting: &Setting) -> Result<Cluster<Ring>, Error> {
    let n = setting.n;
    let ranking = match setting.params.is("choose", "min") {
        true => Ranking::by_key(n, |node| Reverse(setting.id(node))),
        false => Ranking::by_key(n, |node| setting.id(node)),
    };
    let ranking = ranking.with_candidates(setting.candidates.clone());
    let order = ranking.clone();
    let text = if setting.params.is("text", "000") { Text::Slides } else { Text::Corrected };
    let equals = Cluster::of_equals(n, move |me| Ring::new(me, ranking.clone(), None).by(text));
    let winner = move |up: &NodeSet, _: &NodeSet| order.best(up.iter());
    Ok(Cluster { winner: Some(Box::new(winner)), links: Links::Ring, ..equals })
}

/// How many pass the list on: nobody, if only one is left.
fn live(setting: &Setting) -> f64 {
    if setting.n > 2 { setting.n() - 1.0 } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use conclave_core::NodeId;

    #[test]
    fn the_known_totals_come_out() {
        let cost = ENTRY.cost.election().expect("an election");
        let of = |n| (cost.one.range)(&ENTRY.setting(n, &[]).expect("taken"));
        assert_eq!(
            (of(8), of(3), of(2), of(1)),
            ((14.0, 14.0), (4.0, 4.0), (0.0, 0.0), (0.0, 0.0))
        );
    }

    #[test]
    fn the_winner_is_the_greatest_or_the_least_id_not_index() {
        for (choose, expected) in [("max", 1), ("min", 2)] {
            let setting = ENTRY.setting(3, &[("choose", choose)]).expect("taken");
            let setting = setting.with_ids(vec![9, 17, 3]).expect("three ids");
            let winner = cluster(&setting).expect("built").winner.expect("a rule");
            let up = (0..3).map(NodeId).collect();
            assert_eq!(winner(&up, &up), Some(NodeId(expected)), "{choose}");
        }
    }
}
