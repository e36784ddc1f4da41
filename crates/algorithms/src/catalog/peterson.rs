//! The row of the election of Peterson, and of Dolev, Klawe and Rodeh.

use super::claims::{LED, as_usual, claim, copied};
use super::dropped::breaks;
use super::on_a_ring::{everybody_is_a_candidate, greatest_that_began};
use super::{
    Arrival, Assumption, Carries, Cluster, Cost, ElectionCost, Entry, Evidence, Family, Formula,
    OnNetwork, Rejoin, Setting, Stated, limits,
};
use crate::Error;
use crate::election::peterson::Peterson;
use conclave_core::Links;
use conclave_core::Property::{E1, E1Term, E2};

/// What the catalogue says of it.
pub const ENTRY: Entry = Entry {
    id: "peterson",
    family: Family::Election,
    title: "Peterson's election, also of Dolev, Klawe and Rodeh",
    summary: "In each phase every node still in the race compares its id with the two before it \
              on the ring, and at least half of them give up.",
    paper: "G. L. Peterson, \"An O(n log n) unidirectional algorithm for the circular extrema \
            problem\", ACM TOPLAS 4(4), 1982; D. Dolev, M. Klawe, M. Rodeh, \"An O(n log n) \
            unidirectional distributed algorithm for extrema finding in a circle\", Journal of \
            Algorithms 3(3), 1982",
    seeds: &[],
    assumptions: &[
        Assumption {
            tag: "A1",
            text: "every message arrives exactly once",
            dropped: breaks(limits::astray, &[E2]),
        },
        Assumption {
            tag: "A2",
            text: "each link delivers in the order of sending",
            dropped: breaks(limits::reorder, &[E2]),
        },
        Assumption {
            tag: "A3",
            text: "no node crashes",
            dropped: breaks(limits::crash, &[E1, E2]),
        },
    ],
    bounds: limits::untimed,
    has: |_| vec![E1, E1Term, E2],
    lacks: &[],
    bypass: None,
    parameters: &[],
    cost: Cost::Election(ElectionCost {
        one: Formula { text: "2N", range: when_one_begins },
        all: Formula { text: "2N P", range: when_all_begin },
        all_mean: None,
        time: Formula { text: "2N-1", range: time },
        without_last: false,
        textbooks: "P is the number of phases, from 2 to floor(log2 N)+1 when all begin; who \
                    begins alone wins in one, whatever its id. The N messages that tell the \
                    result are the second half of the last phase.",
    }),
    rejoin_without_disk: Rejoin::Never,
    on_network: OnNetwork::Election(Carries::NOTHING_SINCE_HELD_ONCE),
    evidence: Evidence {
        claims: Stated::Yes(&[
            claim(4, as_usual, 977, LED).place(54),
            claim(3, copied, 1_183, LED),
        ]),
        normal: Stated::No("an election ends: no counter rises for ever"),
        plain: Stated::Yes(Arrival::AnyOrder),
    },
    why: &[],
    facets: &[],
};

/// Builds the nodes.
pub fn cluster(setting: &Setting) -> Result<Cluster<Peterson>, Error> {
    everybody_is_a_candidate(setting)?;
    let n = setting.n;
    let of = setting.clone();
    let mut cluster = Cluster::of_equals(n, move |me| Peterson::new(me, n, of.id(me)));
    cluster.links = Links::Ring;
    cluster.winner = Some(greatest_that_began(setting));
    Ok(cluster)
}

fn when_one_begins(setting: &Setting) -> (f64, f64) {
    match setting.n {
        1 => (0.0, 0.0),
        _ => (2.0 * setting.n(), 2.0 * setting.n()),
    }
}

fn when_all_begin(setting: &Setting) -> (f64, f64) {
    match setting.n {
        1 => (0.0, 0.0),
        n => (4.0 * setting.n(), 2.0 * setting.n() * f64::from(n.ilog2() + 1)),
    }
}

fn time(setting: &Setting) -> (f64, f64) {
    match setting.n {
        1 => (0.0, 0.0),
        _ => (2.0 * setting.n() - 1.0, 2.0 * setting.n() - 1.0),
    }
}
