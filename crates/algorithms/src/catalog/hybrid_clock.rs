//! The row of the hybrid logical clock.

use super::clock_example::{Asked, Idle, RATES, REMEMBERS, TASK, cluster as clocks};
use super::dropped::{SINGLE_RUNS, not_in_bounds};
use super::{
    Assumption, Cluster, Cost, Entry, Evidence, Family, Kind, OnNetwork, Parameter, Rejoin,
    Setting, limits,
};
use crate::Error;
use crate::clock::hybrid::{HybridClock, Pair};
use conclave_core::{NodeId, Property, Ticks};

/// Physical clocks count 10 per unit.
const IDLE: Idle = Idle { gain: 5, period: Ticks(500) };

/// A hybrid logical clock.
pub const ENTRY: Entry = Entry {
    id: "hybrid-clock",
    family: Family::Clock,
    title: "Hybrid logical clock",
    summary: "The largest physical time heard of and a counter: close to physical time, and in the \
              order of cause and effect.",
    paper: "S. Kulkarni, M. Demirbas, D. Madappa, B. Avva, M. Leone, Logical physical clocks, \
            OPODIS 2014",
    seeds: &[],
    assumptions: &[
        REMEMBERS,
        Assumption {
            tag: "A2",
            text: "physical clocks never go back, and are not far apart",
            dropped: not_in_bounds(SINGLE_RUNS),
        },
    ],
    bounds: limits::untimed,
    has: |_| vec![Property::HB],
    lacks: &[(Property::HBExact, "of two times one is smaller, related or not")],
    bypass: None,
    parameters: &[
        TASK,
        RATES,
        Parameter {
            name: "skew",
            kind: Kind::Number { min: 0, or: &[] },
            default: "15",
            about: "how far the first node's physical clock is ahead of the others, which all \
                    count 10 per unit",
        },
        Parameter {
            name: "ahead",
            kind: Kind::Number { min: 0, or: &[] },
            default: "1000",
            about: "a message that is further ahead of the physical clock than this is refused",
        },
    ],
    cost: Cost::Unstated,
    rejoin_without_disk: Rejoin::Never,
    on_network: OnNetwork::Nothing("a clock is a value that others carry"),
    evidence: Evidence::unchecked("no law judges a clock in all runs"),
    why: &[],
    facets: &[],
};

/// The nodes of a setting.
pub fn cluster(setting: &Setting) -> Result<Cluster<HybridClock>, Error> {
    let number = |name| u64::from(setting.params.number(name).unwrap_or(0));
    let ahead = number("ahead");
    let skew = match Asked::of(setting)? {
        Asked::Exchange => number("skew"),
        Asked::Task(_) | Asked::Rates(_) => 0,
    };
    let first = move |me: NodeId| if me == NodeId(0) { skew } else { 0 };
    clocks(setting, Some(IDLE), move |me, _| Pair::new(first(me), ahead))
}
