//! The row of the matrix clock.

use super::clock_example::{RATES, REMEMBERS, TASK, cluster as clocks};
use super::dropped::{SINGLE_RUNS, not_in_bounds};
use super::{
    Assumption, Cluster, Cost, Entry, Evidence, Family, OnNetwork, Rejoin, Setting, limits,
};
use crate::Error;
use crate::clock::matrix::{MatrixClock, Square};
use conclave_core::Property;

/// More nodes would fill the memory with times.
const NODES_MAX: u32 = 64;

/// A matrix clock.
pub const ENTRY: Entry = Entry {
    id: "matrix-clock",
    family: Family::Clock,
    title: "Matrix clock",
    summary: "A vector clock for every node: each knows what others know, and so what all know.",
    paper: "G. Wuu, A. Bernstein, Efficient solutions to the replicated log and dictionary \
            problems, PODC 1984",
    seeds: &[],
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
pub fn cluster(setting: &Setting) -> Result<Cluster<MatrixClock>, Error> {
    if setting.n > NODES_MAX {
        let reason = format!("each message carries N*N numbers; at most {NODES_MAX} nodes");
        return Err(Error::BadSize { n: setting.n, reason });
    }
    clocks(setting, None, Square::new)
}
