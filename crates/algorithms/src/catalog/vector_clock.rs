//! The row of the vector clock.

use super::clock_example::{RATES, REMEMBERS, TASK, cluster as clocks};
use super::dropped::{SINGLE_RUNS, not_in_bounds};
use super::{
    Assumption, Cluster, Cost, Entry, Evidence, Family, OnNetwork, Rejoin, Setting, limits,
};
use crate::Error;
use crate::clock::vector::{Row, VectorClock};
use conclave_core::Property;

/// A vector clock.
pub const ENTRY: Entry = Entry {
    id: "vector-clock",
    family: Family::Clock,
    title: "Vector clock",
    summary: "Each node counts its own events and learns the others' counts from messages: times \
              are ordered exactly where events are.",
    paper: "C. Fidge, Timestamps in message-passing systems that preserve the partial ordering, \
            ACSC 1988; F. Mattern, Virtual time and global states of distributed systems, 1989",
    seeds: &["001"],
    assumptions: &[
        REMEMBERS,
        Assumption {
            tag: "A2",
            text: "all know how many nodes there are",
            dropped: not_in_bounds(SINGLE_RUNS),
        },
    ],
    bounds: limits::untimed,
    has: |_| vec![Property::HB, Property::HBExact],
    lacks: &[],
    bypass: None,
    parameters: &[TASK, RATES],
    cost: Cost::Unstated,
    rejoin_without_disk: Rejoin::Never,
    on_network: OnNetwork::Nothing("a clock is a value that others carry"),
    evidence: Evidence::unchecked("no law judges a clock in all runs"),
    why: &[],
    facets: &[],
};

/// The nodes of a setting.
pub fn cluster(setting: &Setting) -> Result<Cluster<VectorClock>, Error> {
    clocks(setting, None, Row::new)
}
