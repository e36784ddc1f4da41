//! What holds in every run within the bounds.

use super::{Claim, claim};
use conclave_core::Property::{E1, E1Term, E2, F1, S1, S1Eff, V1, V2};
use conclave_core::Verdict::Holds;
use conclave_core::{Bounds, Network, NodeId, NodeSet, Property, Start, Timing, Verdict};

type Verdicts = &'static [(Property, Verdict)];

const ALL: Verdicts = &[(S1, Holds), (S1Eff, Holds), (V1, Holds), (V2, Holds), (F1, Holds)];
/// Nobody is promised to get in.
const SAFE: Verdicts = &[(S1, Holds), (S1Eff, Holds), (F1, Holds)];
/// Where counters are set back there are no fences.
const UNFENCED: Verdicts = &[(S1, Holds), (V1, Holds), (V2, Holds)];
const LED: Verdicts = &[(E1, Holds), (E1Term, Holds), (E2, Holds)];
const TERMS: Verdicts = &[(E1Term, Holds)];

/// The bounds keep the token from going on for ever.
const SOUND: Verdicts = &[(S1, Holds)];
/// Two may be inside, but the resource listens to one of them only.
const EFFECTIVE: Verdicts = &[(S1Eff, Holds)];

type Parameters = &'static [(&'static str, &'static str)];

const BY_RING: Parameters = &[("election", "ring"), ("detector", "perfect"), ("mode", "strict")];
const FENCED: Parameters = &[("election", "ring"), ("detector", "perfect"), ("mode", "fence")];

/// Nodes ask whether others would vote for them before they stand.
const ASKED_FIRST: Parameters = &[("prevote", "on")];

fn as_usual(_: &mut Bounds) {}

fn untimed(bounds: &mut Bounds) {
    bounds.timeouts = Some(0);
}

fn thrice_untimed(bounds: &mut Bounds) {
    (bounds.requests, bounds.timeouts) = (Some(3), Some(0));
}

/// Suspicions are right: the detector is perfect, and nothing else runs by a clock.
fn untimed_with_a_crash(bounds: &mut Bounds) {
    (bounds.timeouts, bounds.crashes) = (Some(0), 1);
}

/// Timers do not wait for messages.
fn hasty(bounds: &mut Bounds) {
    (bounds.timing, bounds.timeouts) = (Timing::AnyMoment, Some(1));
}

fn wrongly_suspected(bounds: &mut Bounds) {
    (bounds.timing, bounds.timeouts, bounds.suspicions) = (Timing::AnyMoment, Some(1), 1);
}

fn twice(bounds: &mut Bounds) {
    bounds.requests = Some(2);
}

fn thrice(bounds: &mut Bounds) {
    bounds.requests = Some(3);
}

fn twice_in_any_order(bounds: &mut Bounds) {
    (bounds.requests, bounds.network) = (Some(2), Network::Bag);
}

fn for_ever(bounds: &mut Bounds) {
    (bounds.requests, bounds.timeouts) = (None, None);
}

/// Every set of initiators, all of them at once.
fn together(bounds: &mut Bounds) {
    (bounds.start, bounds.timeouts) = (Start::Together, None);
}

/// Nobody calls for an election, but every node's timer may fire once, and one node crash.
fn by_itself_with_a_crash(bounds: &mut Bounds) {
    bounds.start = Start::These(NodeSet::default());
    (bounds.timeouts, bounds.crashes) = (Some(1), 1);
}

/// Every set of initiators, and on every node timers fire three times.
fn with_timers(bounds: &mut Bounds) {
    bounds.timeouts = Some(3);
}

/// Two call for an election, and one node crashes and comes back with its disk.
fn two_with_a_comeback(bounds: &mut Bounds) {
    bounds.start = Start::These([0, 1].map(NodeId).into_iter().collect());
    (bounds.timeouts, bounds.crashes, bounds.restarts) = (Some(0), 1, 1);
}

pub const CLAIMS: &[Claim] = &[
    claim("central", 2, thrice, 127, ALL),
    claim("central", 3, as_usual, 113, ALL),
    claim("central-failover", 2, thrice, 2_462, ALL),
    claim("central-failover", 3, as_usual, 10_268, ALL),
    claim("voting", 2, as_usual, 26_782, SAFE).with(&[("coordinators", "3")]),
    claim("voting", 2, thrice, 4_087, SAFE).with(&[("coordinators", "1")]),
    claim("voting", 3, as_usual, 380, SAFE).with(&[("coordinators", "1")]),
    claim("quorum", 2, thrice, 17_835_679, SAFE).with(&[("coordinators", "3")]).large(),
    claim("quorum", 3, as_usual, 25_385, SAFE).with(&[("coordinators", "3")]),
    claim("total-order", 2, thrice, 284_384, ALL).with(&[("coordinators", "3")]),
    claim("total-order", 3, as_usual, 38_726, ALL).with(&[("coordinators", "3")]),
    claim("lamport", 2, thrice, 12_308, ALL),
    claim("lamport", 3, as_usual, 769_783, ALL),
    claim("ricart-agrawala", 2, thrice, 493, ALL),
    claim("ricart-agrawala", 3, as_usual, 2_091, ALL),
    claim("roucairol-carvalho", 2, thrice, 291, ALL),
    claim("roucairol-carvalho", 3, as_usual, 749, ALL),
    claim("maekawa", 2, thrice, 706, ALL),
    claim("maekawa", 3, as_usual, 486, ALL),
    claim("token-ring", 2, thrice, 142, UNFENCED),
    claim("token-ring", 3, as_usual, 112, UNFENCED),
    claim("suzuki-kasami", 2, thrice, 218, ALL),
    claim("suzuki-kasami", 3, as_usual, 530, ALL),
    claim("raymond", 2, thrice, 224, ALL),
    claim("raymond", 3, as_usual, 144, ALL),
    claim("naimi-trehel", 2, thrice, 224, ALL),
    claim("naimi-trehel", 3, as_usual, 154, ALL),
    claim("token-ring-regenerating", 2, thrice_untimed, 414, SOUND),
    claim("token-ring-regenerating", 3, untimed, 7_164, SOUND),
    claim("token-ring-regenerating", 3, hasty, 77_650, SOUND).with(BY_RING),
    claim("central-failover", 3, untimed_with_a_crash, 9_424, ALL).with(BY_RING),
    claim("central-failover", 2, wrongly_suspected, 59_271, EFFECTIVE).with(FENCED),
    claim("ricart-agrawala", 3, twice, 48_640, ALL),
    claim("maekawa", 3, twice, 15_293, ALL),
    claim("suzuki-kasami", 3, twice, 11_322, ALL),
    claim("central", 3, twice, 677, ALL),
    claim("roucairol-carvalho", 3, twice, 49_085, ALL),
    claim("raymond", 3, twice, 1_838, ALL),
    claim("naimi-trehel", 3, twice, 2_314, ALL),
    claim("token-ring", 3, twice, 529, UNFENCED),
    claim("total-order", 3, twice, 11_602_556, ALL).with(&[("coordinators", "3")]).large(),
    claim("ricart-agrawala", 3, twice_in_any_order, 164_459, ALL),
    claim("ricart-agrawala", 3, for_ever, 2_803, UNFENCED),
    claim("lamport", 2, for_ever, 1_130, UNFENCED),
    claim("maekawa", 2, for_ever, 49, UNFENCED),
    claim("suzuki-kasami", 3, for_ever, 696, UNFENCED),
    claim("token-ring", 3, for_ever, 40, UNFENCED),
    claim("central", 3, for_ever, 70, UNFENCED),
    claim("raymond", 3, for_ever, 86, UNFENCED),
    claim("naimi-trehel", 3, for_ever, 282, UNFENCED),
    claim("ring", 4, as_usual, 4_619, LED),
    claim("chang-roberts", 4, as_usual, 796, LED),
    claim("hirschberg-sinclair", 4, as_usual, 4_559, LED),
    claim("peterson", 4, as_usual, 977, LED),
    claim("yo-yo", 4, as_usual, 2_253, LED),
    claim("wireless", 4, as_usual, 42_521, LED),
    claim("flood-max", 4, as_usual, 97_525, LED),
    claim("echo", 4, as_usual, 13_024, LED),
    claim("bully", 3, together, 863, LED),
    claim("bully", 4, together, 9_516_344, LED).large(),
    claim("majority", 3, by_itself_with_a_crash, 1_027_172, TERMS),
    claim("majority", 3, untimed, 455_968, TERMS).with(ASKED_FIRST),
    claim("majority", 2, with_timers, 78_157, TERMS).with(ASKED_FIRST),
    claim("majority", 3, two_with_a_comeback, 347_870, TERMS).with(ASKED_FIRST),
];
