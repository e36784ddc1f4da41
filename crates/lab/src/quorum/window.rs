//! The same probability from runs of the real algorithm.
//!
//! One window is one run. Client 1 asks everybody, but its requests to the coordinators beyond the
//! first m are slow, so it is let in by exactly m grants. While it is inside, each of those m may
//! restart without its memory. Then client 2 asks. If both are inside at once, the window is lost.

use super::case::Case;
use crate::Error;
use crate::parallel::{self, Progress};
use conclave_algorithms::mutex::places::Places;
use conclave_algorithms::mutex::quorum::{Quorum, Setup};
use conclave_core::{Cluster, NodeId, Property, Ticks, Verdict};
use conclave_sim::{
    Act, Action, Fault, MessageRule, Options, Plan, Runnable, ScriptLine, Stream, Workload,
};

const HOLDER: NodeId = NodeId(0);
const RIVAL: NodeId = NodeId(1);
const CLIENTS: u32 = 2;
/// The holder is inside from 2 units on.
const FORGETS: Ticks = Ticks::units(5);
const RIVAL_ASKS: Ticks = Ticks::units(10);
/// The rival, asking at 10, is inside at 12 or not at all while the holder is.
const END: Ticks = Ticks::units(14);
/// Longer than any window.
const LONG: Ticks = Ticks::units(50);
/// How many windows are one piece of work.
const PIECE: u64 = 500;

/// What came of many windows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// How many windows were run.
    pub runs: u64,
    /// The seed of the first.
    pub seed: u64,
    /// In how many two were inside at once.
    pub violations: u64,
}

impl Estimate {
    /// The share of windows with a violation.
    pub fn probability(self) -> f64 {
        self.violations as f64 / self.runs as f64
    }

    /// By how much the share of so many windows usually misses this probability.
    pub fn standard_error(self, exact: f64) -> f64 {
        (exact * (1.0 - exact) / self.runs as f64).sqrt()
    }
}

/// Runs so many windows, on all cores; the result depends on the seed alone.
pub fn estimate(
    case: Case,
    runs: u64,
    seed: u64,
    progress: Progress<'_>,
) -> Result<Estimate, Error> {
    let pieces: Vec<(u64, u64)> =
        (0..runs).step_by(PIECE as usize).map(|from| (from, runs.min(from + PIECE))).collect();
    let counts = parallel::each(&pieces, progress, |&(from, to)| -> Result<u64, Error> {
        let mut violations = 0;
        for window in from..to {
            let mut random = Stream::new(seed.wrapping_add(window), 0);
            let forgets = |_: &u32| random.chance(case.probability);
            let forgetful: Vec<u32> = (0..case.votes).filter(forgets).collect();
            violations += u64::from(is_violated(case, &forgetful)?);
        }
        Ok(violations)
    });
    let violations = counts.into_iter().sum::<Result<u64, Error>>()?;
    Ok(Estimate { runs, seed, violations })
}

/// Whether two are inside at once when these of the holder's coordinators, from 0, forget.
pub fn is_violated(case: Case, forgetful: &[u32]) -> Result<bool, Error> {
    let outcome = cluster(case).run(&plan(case, forgetful), &Options::default())?;
    Ok(outcome.verdict(Property::S1) == Verdict::Violated)
}

fn cluster(case: Case) -> Cluster<Quorum> {
    let setup = Setup {
        places: Places::separate(CLIENTS, case.coordinators),
        votes: case.votes,
        abort_after: None,
        backoff: Ticks::ZERO,
        retransmit: None,
    };
    Cluster {
        coordinators: case.coordinators,
        ..Cluster::of_equals(CLIENTS, move |me| Quorum::new(me, setup))
    }
}

fn plan(case: Case, forgetful: &[u32]) -> Plan {
    let coordinator = |place: u32| NodeId(CLIENTS + place);
    let slow = |place| MessageRule {
        from: Some(HOLDER),
        to: Some(coordinator(place)),
        kind: None,
        nth: None,
        action: Action::Delay(LONG),
    };
    let forgets =
        |&place: &u32| (FORGETS, Fault::Restart { node: coordinator(place), amnesia: true });
    let asks = |at, node| ScriptLine { at, node, act: Act::Acquire };
    Plan {
        rules: (case.votes..case.coordinators).map(slow).collect(),
        faults: forgetful.iter().map(forgets).collect(),
        workload: Workload::Script(vec![asks(Ticks::ZERO, HOLDER), asks(RIVAL_ASKS, RIVAL)]),
        critical_section: LONG,
        until: END,
        ..Plan::default()
    }
}
