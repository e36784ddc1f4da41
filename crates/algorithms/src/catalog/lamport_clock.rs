//! The row of Lamport's clock.

use super::clock_example::{Asked, RATES, REMEMBERS, TASK, cluster as clocks};
use super::{
    Cluster, Cost, Entry, Evidence, Family, Kind, OnNetwork, Parameter, Params, Rejoin, Setting,
    limits,
};
use crate::Error;
use crate::clock::lamport::{LamportClock, Rule, Scalar};
use conclave_core::Property;

/// Lamport's clock.
pub const ENTRY: Entry = Entry {
    id: "lamport-clock",
    family: Family::Clock,
    title: "Lamport's clock",
    summary: "One number per node, which each event raises and each message pushes beyond its own.",
    paper: "L. Lamport, Time, clocks, and the ordering of events in a distributed system, CACM \
            21(7), 1978",
    seeds: &["001", "002"],
    assumptions: &[REMEMBERS],
    bounds: limits::untimed,
    has: |params| if keeps_order(params) { vec![Property::HB] } else { Vec::new() },
    lacks: &[
        (
            Property::HB,
            "text=seed: a receipt at the very time of its sending keeps that time; correct=false: \
             drifting clocks are never set right",
        ),
        (Property::HBExact, "of two numbers one is smaller, whether it had to do with it or not"),
    ],
    bypass: None,
    parameters: &[
        TASK,
        RATES,
        Parameter {
            name: "text",
            kind: Kind::Choice(&["corrected", "seed"]),
            default: "corrected",
            about: "the rule as it should be, or as lecture notes 001 print it",
        },
        Parameter {
            name: "correct",
            kind: Kind::Flag,
            default: "true",
            about: "with rates: whether a clock that is behind a message is set right",
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
pub fn cluster(setting: &Setting) -> Result<Cluster<LamportClock>, Error> {
    let params = &setting.params;
    let seed = params.is("text", "seed");
    let rule = match Asked::of(setting)? {
        _ if seed => Rule::Slip,
        Asked::Rates(_) if !params.on("correct") => Rule::Never,
        Asked::Rates(_) => Rule::Drift,
        Asked::Exchange | Asked::Task(_) => Rule::Event,
    };
    let n = setting.n;
    // As printed, the application has no clock: what it sends has time 1.
    clocks(setting, None, move |me, _| Scalar::new(u64::from(seed && me.0 >= n), rule))
}

fn keeps_order(params: &Params) -> bool {
    let drifts = !params.is("rates", "none") && !params.on("correct");
    params.is("text", "corrected") && !drifts
}
