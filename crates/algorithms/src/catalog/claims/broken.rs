//! What is broken where an assumption is dropped, and what an algorithm never promised.

use super::Claim;
use conclave_core::Property::{E1, E1Term, E2, S1, V1, V2};
use conclave_core::Verdict::{Holds, Violated};
use conclave_core::{Bounds, Network, NodeSet, Property, Start, Timing, Verdict};

type Verdicts = &'static [(Property, Verdict)];

const UNSAFE: Verdicts = &[(S1, Violated)];
const STUCK: Verdicts = &[(S1, Holds), (V1, Violated)];
const STARVED: Verdicts = &[(S1, Holds), (V1, Holds), (V2, Violated)];
const DIVIDED: Verdicts = &[(E1, Violated)];
const UNLED: Verdicts = &[(E2, Violated)];
const TWO_IN_A_TERM: Verdicts = &[(E1Term, Violated)];

fn as_usual(_: &mut Bounds) {}

fn for_ever(bounds: &mut Bounds) {
    (bounds.requests, bounds.timeouts) = (None, None);
}

fn in_any_order(bounds: &mut Bounds) {
    bounds.network = Network::Bag;
}

fn loss(bounds: &mut Bounds) {
    bounds.losses = 1;
}

fn crash(bounds: &mut Bounds) {
    bounds.crashes = 1;
}

/// One node comes back without its disk.
fn forgetful(bounds: &mut Bounds) {
    bounds.amnesia = 1;
}

fn forgetful_twice(bounds: &mut Bounds) {
    (bounds.amnesia, bounds.requests) = (1, Some(2));
}

/// The same where elections are begun by timers only.
fn forgetful_by_itself(bounds: &mut Bounds) {
    bounds.start = Start::These(NodeSet::default());
    (bounds.timeouts, bounds.amnesia) = (Some(1), 1);
}

/// A detector is wrong once, and timers do not wait for messages.
fn wrongly_suspected(bounds: &mut Bounds) {
    (bounds.suspicions, bounds.timing) = (1, Timing::AnyMoment);
}

/// A node takes another for dead because its answer is slow.
fn hasty(bounds: &mut Bounds) {
    (bounds.timing, bounds.timeouts) = (Timing::AnyMoment, Some(1));
}

/// A crashed node is replaced by a new one of the same name while an election is under way.
fn replaced(bounds: &mut Bounds) {
    (bounds.crashes, bounds.amnesia) = (1, 1);
}

pub const CLAIMS: &[Claim] = &[
    Claim {
        id: "quorum",
        set: &[("coordinators", "3")],
        nodes: 2,
        bounds: forgetful,
        states: 1_619,
        verdicts: UNSAFE,
        large: false,
    },
    Claim {
        id: "quorum",
        set: &[("coordinators", "7"), ("votes", "4")],
        nodes: 2,
        bounds: forgetful,
        states: 121_748,
        verdicts: UNSAFE,
        large: false,
    },
    Claim {
        id: "ricart-agrawala",
        set: &[],
        nodes: 2,
        bounds: forgetful_twice,
        states: 389,
        verdicts: UNSAFE,
        large: false,
    },
    Claim {
        id: "lamport",
        set: &[],
        nodes: 2,
        bounds: in_any_order,
        states: 22,
        verdicts: UNSAFE,
        large: false,
    },
    Claim {
        id: "ricart-agrawala",
        set: &[("text", "seed")],
        nodes: 3,
        bounds: as_usual,
        states: 1_205,
        verdicts: UNSAFE,
        large: false,
    },
    Claim {
        id: "maekawa",
        set: &[("sanders", "false")],
        nodes: 4,
        bounds: as_usual,
        states: 217_931,
        verdicts: STUCK,
        large: false,
    },
    Claim {
        id: "quorum",
        set: &[("coordinators", "3")],
        nodes: 3,
        bounds: as_usual,
        states: 23_329,
        verdicts: STUCK,
        large: false,
    },
    Claim {
        id: "token-ring",
        set: &[],
        nodes: 2,
        bounds: loss,
        states: 44,
        verdicts: STUCK,
        large: false,
    },
    Claim {
        id: "central",
        set: &[],
        nodes: 2,
        bounds: crash,
        states: 46,
        verdicts: STUCK,
        large: false,
    },
    Claim {
        id: "token-ring-regenerating",
        set: &[("mode", "fence"), ("detector", "perfect"), ("election", "bully")],
        nodes: 2,
        bounds: wrongly_suspected,
        states: 190,
        verdicts: UNSAFE,
        large: false,
    },
    Claim {
        id: "bully",
        set: &[],
        nodes: 3,
        bounds: hasty,
        states: 2_122,
        verdicts: DIVIDED,
        large: false,
    },
    Claim {
        id: "bully",
        set: &[],
        nodes: 3,
        bounds: replaced,
        states: 141_162,
        verdicts: DIVIDED,
        large: false,
    },
    Claim {
        id: "chang-roberts",
        set: &[],
        nodes: 3,
        bounds: crash,
        states: 625,
        verdicts: UNLED,
        large: false,
    },
    Claim {
        id: "majority",
        set: &[],
        nodes: 3,
        bounds: forgetful_by_itself,
        states: 6_242,
        verdicts: TWO_IN_A_TERM,
        large: false,
    },
    Claim {
        id: "voting",
        set: &[("coordinators", "1")],
        nodes: 2,
        bounds: for_ever,
        states: 44,
        verdicts: STARVED,
        large: false,
    },
    Claim {
        id: "central",
        set: &[("busy", "try")],
        nodes: 2,
        bounds: for_ever,
        states: 18,
        verdicts: STARVED,
        large: false,
    },
];
