//! The row of the phi accrual detector.

use super::detection::{GRACE, PERIOD, cluster as of_detectors, size, span};
use super::dropped::{SINGLE_RUNS, not_in_bounds};
use super::{
    Assumption, Cluster, Cost, Entry, Evidence, Family, Kind, OnNetwork, Parameter, Rejoin,
    Setting, limits,
};
use crate::Error;
use crate::detector::phi_accrual::{PhiAccrual, Setup, Variant};
use conclave_core::Property::{D1, D2};
use conclave_core::Ticks;

/// The most gaps that all windows of all nodes can hold.
const GAPS_MAX: u32 = 50_000_000;
/// The longest window there can be.
const WINDOW_MAX: u32 = 10_000;

/// What the catalogue says of it.
pub const ENTRY: Entry = Entry {
    id: "phi-accrual",
    family: Family::Detector,
    title: "Phi accrual failure detector",
    summary: "How suspicious a silence is depends on how regular heartbeats were: phi = 8 means \
              that one live node in a hundred million would be silent for longer.",
    paper: "N. Hayashibara, X. Défago, R. Yared, T. Katayama, \"The phi accrual failure \
            detector\", SRDS 2004",
    seeds: &["003"],
    assumptions: &[Assumption {
        tag: "A1",
        text: "heartbeats come about as regularly as those in the window did",
        dropped: not_in_bounds(SINGLE_RUNS),
    }],
    bounds: limits::synchronous,
    has: |_| vec![D1],
    lacks: &[(D2, "the threshold makes mistakes unlikely, not impossible")],
    bypass: None,
    parameters: &[
        Parameter {
            name: "threshold",
            kind: Kind::Number { min: 1, or: &[] },
            default: "8",
            about: "the phi above which a node is suspected",
        },
        Parameter {
            name: "variant",
            kind: Kind::Choice(&["normal", "exponential"]),
            default: "normal",
            about: "how the gaps between heartbeats are taken to be distributed",
        },
        Parameter {
            name: "window",
            kind: Kind::Number { min: 2, or: &[] },
            default: "100",
            about: "how many gaps are remembered",
        },
        Parameter {
            name: "min_deviation",
            kind: Kind::Time { or: &[] },
            default: "0.5",
            about: "the deviation is never taken to be less than this",
        },
        PERIOD,
        Parameter {
            name: "sampling",
            kind: Kind::Time { or: &[] },
            default: "0.1",
            about: "the time from one look at the others to the next",
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
pub fn cluster(setting: &Setting) -> Result<Cluster<PhiAccrual>, Error> {
    let setup = setup(setting)?;
    Ok(of_detectors(setup.n, move |me| PhiAccrual::new(me, setup)))
}

pub(super) fn setup(setting: &Setting) -> Result<Setup, Error> {
    let params = &setting.params;
    let number = |name| params.number(name).unwrap_or_default();
    let window = number("window");
    if !(2..=WINDOW_MAX).contains(&window) {
        let reason = format!("it takes a number from 2 to {WINDOW_MAX}");
        return Err(Error::Unusable { name: "window", reason });
    }
    let exponential = params.is("variant", "exponential");
    Ok(Setup {
        n: size(setting, (GAPS_MAX / window).isqrt())?,
        period: span(params, "period")?,
        grace: span(params, "grace")?,
        sampling: span(params, "sampling")?,
        threshold: number("threshold"),
        window,
        min_deviation: params.ticks("min_deviation").unwrap_or(Ticks::ZERO),
        variant: if exponential { Variant::Exponential } else { Variant::Normal },
    })
}
