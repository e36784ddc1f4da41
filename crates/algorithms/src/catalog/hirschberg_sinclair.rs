//! The row of Hirschberg and Sinclair's election.

use super::claims::{LED, as_usual, claim, copied};
use super::dropped::breaks;
use super::on_a_ring::{everybody_is_a_candidate, greatest, halvings};
use super::{
    Arrival, Assumption, Carries, Cluster, Cost, ElectionCost, Entry, Evidence, Family, Formula,
    OnNetwork, Rejoin, Setting, Stated, limits,
};
use crate::Error;
use crate::election::hirschberg_sinclair::HirschbergSinclair;
use conclave_core::Links;
use conclave_core::Property::{E1, E1Term, E2};

/// What the catalogue says of it.
pub const ENTRY: Entry = Entry {
    id: "hirschberg-sinclair",
    family: Family::Election,
    title: "Hirschberg and Sinclair's election",
    summary: "A node asks its neighbours on both sides of a ring, twice as far each time, whether \
              anybody there is greater.",
    paper: "D. S. Hirschberg, J. B. Sinclair, \"Decentralized extrema-finding in circular \
            configurations of processors\", CACM 23(11), 1980",
    seeds: &[],
    assumptions: &[
        Assumption {
            tag: "A1",
            text: "every message arrives exactly once, in whatever order",
            dropped: breaks(limits::astray, &[E2]),
        },
        Assumption {
            tag: "A2",
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
        one: Formula { text: "O(N log N)", range: when_one_begins },
        all: Formula { text: "O(N log N)", range: when_all_begin },
        all_mean: None,
        time: Formula { text: "O(N)", range: time },
        without_last: false,
        textbooks: "The bound is 8N(1+ceil(log2 N)) and N more to tell the result, which the paper \
                    leaves out. The least, with M = 2^ceil(log2 N): 3N+4M-4 when the greatest \
                    begins alone, 6N+4M-8 when all begin.",
    }),
    rejoin_without_disk: Rejoin::Never,
    on_network: OnNetwork::Election(Carries::NOTHING_SINCE_HELD_ONCE),
    evidence: Evidence {
        claims: Stated::Yes(&[
            claim(4, as_usual, 4_559, LED).place(53),
            claim(3, copied, 26_779, LED),
        ]),
        normal: Stated::No("an election ends: no counter rises for ever"),
        plain: Stated::Yes(Arrival::AnyOrder),
    },
    why: &[],
    facets: &[],
};

/// Builds the nodes.
pub fn cluster(setting: &Setting) -> Result<Cluster<HirschbergSinclair>, Error> {
    everybody_is_a_candidate(setting)?;
    let n = setting.n;
    let of = setting.clone();
    let mut cluster = Cluster::of_equals(n, move |me| HirschbergSinclair::new(me, n, of.id(me)));
    cluster.links = Links::Ring;
    cluster.winner = Some(greatest(setting));
    Ok(cluster)
}

/// How far the last probes of the winner may go: the least power of two that is a whole lap.
fn lap(setting: &Setting) -> f64 {
    f64::from(setting.n.next_power_of_two())
}

fn when_one_begins(setting: &Setting) -> (f64, f64) {
    match setting.n {
        1 => (0.0, 0.0),
        _ => (3.0 * setting.n() + 4.0 * lap(setting) - 4.0, most(setting)),
    }
}

fn when_all_begin(setting: &Setting) -> (f64, f64) {
    match setting.n {
        1 => (0.0, 0.0),
        _ => (6.0 * setting.n() + 4.0 * lap(setting) - 8.0, most(setting)),
    }
}

fn most(setting: &Setting) -> f64 {
    8.0 * setting.n() * (1.0 + f64::from(halvings(setting.n))) + setting.n()
}

fn time(setting: &Setting) -> (f64, f64) {
    match setting.n {
        1 => (0.0, 0.0),
        // Two ways per probe of all phases but the last, one lap, and the lap of the result.
        _ => {
            let least = 2.0 * (lap(setting) - 1.0) + 2.0 * setting.n() - 1.0;
            (least, 8.0 * setting.n())
        }
    }
}
