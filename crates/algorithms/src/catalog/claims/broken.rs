//! What is broken where an assumption is dropped, and what an algorithm never promised.

use super::{Claim, claim};
use conclave_core::Property::{E1, E1Term, E2, S1, V1, V2};
use conclave_core::Verdict::{Holds, Violated};
use conclave_core::{Bounds, Network, NodeId, NodeSet, Property, Start, Timing, Verdict};

type Verdicts = &'static [(Property, Verdict)];

const UNSAFE: Verdicts = &[(S1, Violated)];
const STUCK: Verdicts = &[(S1, Holds), (V1, Violated)];
const STARVED: Verdicts = &[(S1, Holds), (V1, Holds), (V2, Violated)];
const DIVIDED: Verdicts = &[(E1, Violated)];
const UNLED: Verdicts = &[(E2, Violated)];
const TWO_IN_A_TERM: Verdicts = &[(E1Term, Violated)];

const FENCED: &[(&str, &str)] = &[("election", "ring"), ("detector", "perfect"), ("mode", "fence")];

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

/// The same where two nodes call for one, and no timer fires.
fn forgetful_with_two(bounds: &mut Bounds) {
    bounds.start = Start::These([0, 1].map(NodeId).into_iter().collect());
    (bounds.timeouts, bounds.amnesia) = (Some(0), 1);
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
    claim("quorum", 2, forgetful, 1_619, UNSAFE).with(&[("coordinators", "3")]),
    claim("quorum", 2, forgetful, 121_748, UNSAFE).with(&[("coordinators", "7"), ("votes", "4")]),
    claim("ricart-agrawala", 2, forgetful_twice, 389, UNSAFE),
    claim("lamport", 2, in_any_order, 22, UNSAFE),
    claim("ricart-agrawala", 3, as_usual, 1_205, UNSAFE).with(&[("text", "seed")]),
    claim("maekawa", 4, as_usual, 217_931, STUCK).with(&[("sanders", "false")]),
    claim("quorum", 3, as_usual, 25_385, STUCK).with(&[("coordinators", "3")]),
    claim("token-ring", 2, loss, 44, STUCK),
    claim("central", 2, crash, 46, STUCK),
    claim("token-ring-regenerating", 2, wrongly_suspected, 103, UNSAFE).with(&[
        ("mode", "fence"),
        ("detector", "perfect"),
        ("election", "bully"),
    ]),
    claim("central-failover", 2, wrongly_suspected, 50, UNSAFE).with(FENCED),
    claim("bully", 3, hasty, 2_122, DIVIDED),
    claim("bully", 3, replaced, 141_162, DIVIDED),
    claim("flood-max", 3, crash, 3_618, DIVIDED),
    claim("chang-roberts", 3, crash, 625, UNLED),
    claim("majority", 3, forgetful_by_itself, 6_242, TWO_IN_A_TERM),
    claim("majority", 3, forgetful_with_two, 5_176, TWO_IN_A_TERM).with(&[("prevote", "on")]),
    claim("voting", 2, for_ever, 44, STARVED).with(&[("coordinators", "1")]),
    claim("central", 2, for_ever, 18, STARVED).with(&[("busy", "try")]),
];
