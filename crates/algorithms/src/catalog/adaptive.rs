//! The row of heartbeats with a timeout that grows.

use super::detection::{GRACE, NODES_MAX, PERIOD, cluster as of_detectors, size, span};
use super::dropped::{SINGLE_RUNS, not_in_bounds};
use super::{
    Assumption, Cluster, Cost, Entry, Evidence, Family, Kind, OnNetwork, Parameter, Rejoin,
    Setting, limits,
};
use crate::Error;
use crate::detector::adaptive::{Adaptive, Setup};
use conclave_core::Property::{D1, D2};

/// What the catalogue says of it.
pub const ENTRY: Entry = Entry {
    id: "adaptive",
    family: Family::Detector,
    title: "Heartbeats with a timeout that grows",
    summary: "As with a fixed timeout, but whoever was suspected too soon is given more time from \
              then on, so that mistakes come to an end.",
    paper: "T. D. Chandra, S. Toueg, \"Unreliable failure detectors for reliable distributed \
            systems\", JACM 43(2), 1996",
    seeds: &["003"],
    assumptions: &[
        Assumption {
            tag: "A1",
            text: "from some time on no message is lost",
            dropped: not_in_bounds(SINGLE_RUNS),
        },
        Assumption {
            tag: "A2",
            text: "from some time on the gaps between heartbeats have a bound B, known to nobody",
            dropped: not_in_bounds(SINGLE_RUNS),
        },
    ],
    bounds: limits::synchronous,
    has: |_| vec![D1],
    lacks: &[(
        D2,
        "the timeout is learnt from mistakes: up to (B - timeout) / step of them, rounded up, per \
         pair of nodes",
    )],
    bypass: None,
    parameters: &[
        PERIOD,
        Parameter {
            name: "timeout",
            kind: Kind::Time { or: &[] },
            default: "3",
            about: "how long a node may be silent, to begin with",
        },
        Parameter {
            name: "step",
            kind: Kind::Time { or: &[] },
            default: "1",
            about: "how much longer after each mistake",
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
pub fn cluster(setting: &Setting) -> Result<Cluster<Adaptive>, Error> {
    let setup = setup(setting)?;
    Ok(of_detectors(setup.n, move |me| Adaptive::new(me, setup)))
}

pub(super) fn setup(setting: &Setting) -> Result<Setup, Error> {
    let params = &setting.params;
    Ok(Setup {
        n: size(setting, NODES_MAX)?,
        period: span(params, "period")?,
        timeout: span(params, "timeout")?,
        grace: span(params, "grace")?,
        step: span(params, "step")?,
    })
}
