//! The row of FloodMax.

use super::claims::{DIVIDED, LED, as_usual, claim, crash};
use super::dropped::{breaks, not_in_bounds, out_of_reach};
use super::topology::{self, Size};
use super::{
    Assumption, Carries, Cluster, Cost, ElectionCost, Entry, Evidence, Family, Formula, Kind,
    OnNetwork, Parameter, Rejoin, Setting, Stated, exactly, limits,
};
use crate::Error;
use crate::election::flood_max::{FloodMax, Rounds};
use crate::election::rank::Choose;
use conclave_core::Property::{E1, E1Term, E2};
use conclave_core::{NodeId, Ticks};

/// Everybody tells everybody, round by round.
pub const ENTRY: Entry = Entry {
    id: "flood-max",
    family: Family::Election,
    title: "FloodMax",
    summary: "Round by round everybody passes on the greatest id it knows, for as many rounds as \
              the graph is wide.",
    paper: "Folklore; N. A. Lynch, \"Distributed Algorithms\", Morgan Kaufmann 1996",
    seeds: &[],
    assumptions: &[
        Assumption {
            tag: "A1",
            text: "every message arrives exactly once and takes no longer than a round",
            dropped: breaks(limits::loss_and_slowness, &[E1Term]),
        },
        Assumption { tag: "A2", text: "no node crashes", dropped: breaks(limits::crash, &[E1]) },
        Assumption {
            tag: "A3",
            text: "the graph is connected, the ids are distinct, and all know the diameter",
            dropped: not_in_bounds(
                "it would take a graph in parts, two nodes of one id, or a wrong diameter; the \
                 first two are refused, and the diameter is measured",
            ),
        },
        Assumption {
            tag: "A4",
            text: "whoever begins by itself begins at the same instant",
            dropped: out_of_reach(
                limits::late_start,
                "it would take messages that need part of a round, so that rounds overlap; within \
                 bounds all are faster than any timer, and whoever begins is as good as at once \
                 heard by all. Nothing breaks on paths of up to 4 nodes and rings of up \
                 to 3 (274,657 states)",
            ),
        },
    ],
    bounds: limits::in_rounds,
    has: |_| vec![E1, E1Term, E2],
    lacks: &[],
    bypass: None,
    parameters: &[
        topology::PARAMETER,
        Parameter {
            name: "opt",
            kind: Kind::Flag,
            default: "false",
            about: "send only when there is something new",
        },
        Parameter {
            name: "round",
            kind: Kind::Time { or: &[] },
            default: "1",
            about: "how long a round takes: no shorter than any message",
        },
    ],
    cost: Cost::Election(ElectionCost {
        one: Formula { text: "6mD; opt: fewer", range: |setting| messages(setting, 3.0) },
        all: Formula { text: "2mD; opt: fewer", range: |setting| messages(setting, 1.0) },
        all_mean: None,
        time: Formula { text: "3D rounds, and the way to the last", range: time },
        without_last: false,
        textbooks: "m edges, diameter D. Books have all begin at once and count 2mD in D rounds. \
                    When somebody must be woken, rounds no longer begin together, and everybody \
                    stays for 3D.",
    }),
    rejoin_without_disk: Rejoin::Never,
    on_network: OnNetwork::Election(Carries::NOTHING_SINCE_HELD_ONCE),
    evidence: Evidence {
        claims: Stated::Yes(&[
            claim(4, as_usual, 97_525, LED).place(57),
            claim(3, crash, 3_618, DIVIDED).place(14),
        ]),
        normal: Stated::No("an election ends: no counter rises for ever"),
        plain: Stated::No("it sets timers"),
    },
    why: &[],
    facets: &[],
};

/// Builds the nodes.
pub fn cluster(setting: &Setting) -> Result<Cluster<FloodMax>, Error> {
    let graph = topology::graph(setting)?;
    let length = setting.params.ticks("round").filter(|&length| length > Ticks::ZERO);
    let length = length.ok_or_else(|| Error::Unusable {
        name: "round",
        reason: "a round takes some time, no shorter than any message".into(),
    })?;
    let rounds = Rounds { diameter: graph.diameter(), length, optimised: setting.params.on("opt") };
    let ranks = topology::ranks(setting, Choose::Max);
    let fresh = move |rank, neighbours: &[NodeId]| FloodMax::new(rank, neighbours, rounds);
    Ok(topology::cluster(graph, ranks, Choose::Max, fresh))
}

/// One message in each direction of each edge in so many times D rounds; optimised, at least once.
fn messages(setting: &Setting, times: f64) -> (f64, f64) {
    let Size { m, d, .. } = Size::of(setting);
    let most = 2.0 * m * d * times;
    if setting.params.on("opt") { (2.0 * m, most) } else { exactly(most) }
}

fn time(setting: &Setting) -> (f64, f64) {
    let size = Size::of(setting);
    let round = setting.params.ticks("round").unwrap_or_default().as_units();
    let rounds = 3.0 * size.d * round;
    (rounds + size.radius_min(), rounds + size.d)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_known_totals_come_out() {
        for (topology, n, total) in
            [("complete", 7, 42.0), ("ring", 8, 64.0), ("path", 8, 98.0), ("grid", 9, 96.0)]
        {
            let setting = ENTRY.setting(n, &[("topology", topology)]).expect("taken");
            assert_eq!(messages(&setting, 1.0), exactly(total), "{topology} of {n}");
        }
    }

    #[test]
    fn a_round_without_length_is_refused() {
        let setting = ENTRY.setting(3, &[("round", "0")]).expect("taken");
        let error = cluster(&setting).err().expect("refused");
        let reason = "--set round: a round takes some time, no shorter than any message";
        assert_eq!(error.to_string(), reason);
    }
}
