//! The row of heartbeats with a fixed timeout.

use super::detection::{GRACE, NODES_MAX, PERIOD, cluster as of_detectors, size, span};
use super::dropped::{SINGLE_RUNS, not_in_bounds};
use super::{
    Assumption, Cluster, Cost, Entry, Evidence, Family, Kind, OnNetwork, Parameter, Rejoin,
    Setting, limits,
};
use crate::Error;
use crate::detector::heartbeat::{Heartbeat, Setup};
use conclave_core::Property::{D1, D2};

/// What the catalogue says of it.
pub const ENTRY: Entry = Entry {
    id: "heartbeat",
    family: Family::Detector,
    title: "Heartbeats with a fixed timeout",
    summary: "Everybody tells everybody each period that it is alive; whoever is silent for longer \
              than the timeout is suspected until it is heard again.",
    paper: "Folklore; after T. D. Chandra, S. Toueg, \"Unreliable failure detectors for reliable \
            distributed systems\", JACM 43(2), 1996",
    seeds: &["000", "001", "003", "004"],
    assumptions: &[
        Assumption { tag: "A1", text: "no message is lost", dropped: not_in_bounds(SINGLE_RUNS) },
        Assumption {
            tag: "A2",
            text: "timeout >= period + (d_max - d_min), where messages take d_min to d_max",
            dropped: not_in_bounds(SINGLE_RUNS),
        },
        Assumption {
            tag: "A3",
            text: "the first heartbeat comes within the grace",
            dropped: not_in_bounds(SINGLE_RUNS),
        },
    ],
    bounds: limits::synchronous,
    has: |_| vec![D1, D2],
    lacks: &[],
    bypass: None,
    parameters: &[
        PERIOD,
        Parameter {
            name: "timeout",
            kind: Kind::Time { or: &[] },
            default: "3",
            about: "how long a node may be silent",
        },
        GRACE,
    ],
    cost: Cost::Unstated,
    rejoin_without_disk: Rejoin::ByProtocol,
    on_network: OnNetwork::Detector,
    evidence: Evidence::unchecked("no law judges a detector in all runs"),
    why: &[],
    facets: &[],
};

/// Builds the nodes.
pub fn cluster(setting: &Setting) -> Result<Cluster<Heartbeat>, Error> {
    let setup = setup(setting)?;
    Ok(of_detectors(setup.n, move |me| Heartbeat::new(me, setup)))
}

pub(super) fn setup(setting: &Setting) -> Result<Setup, Error> {
    let params = &setting.params;
    Ok(Setup {
        n: size(setting, NODES_MAX)?,
        period: span(params, "period")?,
        timeout: span(params, "timeout")?,
        grace: span(params, "grace")?,
    })
}
