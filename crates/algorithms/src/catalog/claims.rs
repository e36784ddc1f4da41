//! Claims: the verdicts that model checking must give for each algorithm within stated bounds;
//! that it keeps its properties, and how it breaks those it lacks. Each row has its own; here is
//! what they are made of: bounds and verdicts that many share.

use super::network::Set;
use super::{ENTRIES, Entry, Setting};
use crate::Error;
use conclave_core::Property::{E1, E1Term, E2, F1, HB, S1, S1Eff, V1, V2};
use conclave_core::Verdict::{Holds, Violated};
use conclave_core::{Bounds, Network, NodeId, NodeSet, Property, Start, Timing, Verdict};

/// Something that every run of an algorithm within bounds shows.
#[derive(Debug)]
pub struct Claim {
    /// Its parameters, where they are not the usual ones.
    pub set: Set,
    /// How many clients.
    pub nodes: u32,
    /// What may happen, beyond what the algorithm's own row says.
    pub bounds: fn(&mut Bounds),
    /// How many states there are, nodes and moves that can be exchanged being looked at once.
    pub states: u64,
    /// What becomes of each promise that is looked at.
    pub verdicts: &'static [(Property, Verdict)],
    /// Whether it takes longer than a moment.
    pub large: bool,
    /// Its place among all that hold, or all that are broken, when they are listed. Those without
    /// one come last.
    place: u32,
}

/// A claim about an algorithm with the usual parameters.
pub const fn claim(
    nodes: u32,
    bounds: fn(&mut Bounds),
    states: u64,
    verdicts: &'static [(Property, Verdict)],
) -> Claim {
    Claim { set: &[], nodes, bounds, states, verdicts, large: false, place: u32::MAX }
}

impl Claim {
    /// With other parameters.
    pub const fn with(self, set: Set) -> Self {
        Self { set, ..self }
    }

    /// It takes longer than a moment.
    pub const fn large(self) -> Self {
        Self { large: true, ..self }
    }

    /// Listed at this place.
    pub(super) const fn place(self, place: u32) -> Self {
        Self { place, ..self }
    }

    /// The algorithm of this row with its size and parameters.
    pub fn setting(&self, entry: &'static Entry) -> Result<Setting, Error> {
        entry.setting(self.nodes, self.set)
    }

    /// What may happen.
    pub fn bounds(&self, setting: &Setting) -> Bounds {
        let mut bounds = (setting.entry.bounds)(&setting.params);
        (self.bounds)(&mut bounds);
        bounds
    }

    /// The promises that are looked at.
    pub fn properties(&self) -> Vec<Property> {
        self.verdicts.iter().map(|&(property, _)| property).collect()
    }

    #[cfg(test)]
    pub(super) fn listed_at(&self) -> Option<u32> {
        (self.place < u32::MAX).then_some(self.place)
    }

    /// Whether it says that a promise is broken.
    pub fn breaks(&self) -> bool {
        self.verdicts.iter().any(|(_, verdict)| *verdict == Violated)
    }
}

/// All claims with the rows they are about, those of what holds first.
pub fn claims() -> impl Iterator<Item = (&'static Entry, &'static Claim)> {
    let of = |entry: &'static Entry| {
        let claims = entry.evidence.claims.yes().copied().unwrap_or_default();
        claims.iter().map(move |claim| (entry, claim))
    };
    let mut all: Vec<_> = ENTRIES.iter().copied().flat_map(of).collect();
    all.sort_by_key(|(_, claim)| (claim.breaks(), claim.place)); // Stable: then as the rows come.
    all.into_iter()
}

type Verdicts = &'static [(Property, Verdict)];

/// All promises of a lock but order and bounded waiting are kept.
pub(super) const ALL: Verdicts =
    &[(S1, Holds), (S1Eff, Holds), (V1, Holds), (V2, Holds), (F1, Holds)];
/// All these, and requests are granted in the order of cause and effect.
pub(super) const ORDERED: Verdicts =
    &[(S1, Holds), (S1Eff, Holds), (V1, Holds), (V2, Holds), (HB, Holds), (F1, Holds)];
/// Whoever asked because of a request may get in before it.
pub(super) const UNORDERED: Verdicts = &[(S1, Holds), (HB, Violated)];
/// Nobody is promised to get in.
pub(super) const SAFE: Verdicts = &[(S1, Holds), (S1Eff, Holds), (F1, Holds)];
/// Where counters are set back there are no fences.
pub(super) const UNFENCED: Verdicts = &[(S1, Holds), (V1, Holds), (V2, Holds)];
/// All promises of an election are kept.
pub(super) const LED: Verdicts = &[(E1, Holds), (E1Term, Holds), (E2, Holds)];
/// No two lead in one term.
pub(super) const TERMS: Verdicts = &[(E1Term, Holds)];
/// The bounds keep the token from going on for ever.
pub(super) const SOUND: Verdicts = &[(S1, Holds)];
/// Two may be inside, but the resource listens to one of them only.
pub(super) const EFFECTIVE: Verdicts = &[(S1Eff, Holds)];
/// Two are inside.
pub(super) const UNSAFE: Verdicts = &[(S1, Violated)];
/// Everybody waits for ever.
pub(super) const STUCK: Verdicts = &[(S1, Holds), (V1, Violated)];
/// Somebody waits for ever while others enter.
pub(super) const STARVED: Verdicts = &[(S1, Holds), (V1, Holds), (V2, Violated)];
/// Two lead.
pub(super) const DIVIDED: Verdicts = &[(E1, Violated)];
/// Nobody leads.
pub(super) const UNLED: Verdicts = &[(E2, Violated)];
/// Two lead in one term.
pub(super) const TWO_IN_A_TERM: Verdicts = &[(E1Term, Violated)];

/// What stands on an election: by the ring, told by a perfect detector, waiting for everybody.
pub(super) const BY_RING: Set =
    &[("election", "ring"), ("detector", "perfect"), ("mode", "strict")];
/// The same, waiting for nobody.
pub(super) const FENCED: Set = &[("election", "ring"), ("detector", "perfect"), ("mode", "fence")];
/// Nodes ask whether others would vote for them before they stand.
pub(super) const ASKED_FIRST: Set = &[("prevote", "on")];

/// What the row says, and no more.
pub(super) fn as_usual(_: &mut Bounds) {}

/// No timer fires.
pub(super) fn untimed(bounds: &mut Bounds) {
    bounds.timeouts = Some(0);
}

/// Everybody asks twice.
pub(super) fn twice(bounds: &mut Bounds) {
    bounds.requests = Some(2);
}

/// Everybody asks three times.
pub(super) fn thrice(bounds: &mut Bounds) {
    bounds.requests = Some(3);
}

/// Everybody asks three times, and no timer fires.
pub(super) fn thrice_untimed(bounds: &mut Bounds) {
    (bounds.requests, bounds.timeouts) = (Some(3), Some(0));
}

/// Everybody asks twice, and messages overtake each other.
pub(super) fn twice_in_any_order(bounds: &mut Bounds) {
    (bounds.requests, bounds.network) = (Some(2), Network::Bag);
}

/// Everybody asks again and again.
pub(super) fn for_ever(bounds: &mut Bounds) {
    (bounds.requests, bounds.timeouts) = (None, None);
}

/// Messages overtake each other.
pub(super) fn in_any_order(bounds: &mut Bounds) {
    bounds.network = Network::Bag;
}

/// A message is lost.
pub(super) fn loss(bounds: &mut Bounds) {
    bounds.losses = 1;
}

/// A message arrives twice.
pub(super) fn copied(bounds: &mut Bounds) {
    bounds.duplicates = 1;
}

/// Everybody asks twice, and messages overtake each other, one of which arrives twice.
pub(super) fn copied_in_any_order(bounds: &mut Bounds) {
    (bounds.requests, bounds.duplicates, bounds.network) = (Some(2), 1, Network::Bag);
}

/// Somebody who waits withdraws.
pub(super) fn withdrawn(bounds: &mut Bounds) {
    bounds.cancels = 1;
}

/// The same where everybody asks twice.
pub(super) fn withdrawn_twice(bounds: &mut Bounds) {
    (bounds.requests, bounds.cancels) = (Some(2), 1);
}

/// A node comes back with its disk.
pub(super) fn comeback(bounds: &mut Bounds) {
    bounds.restarts = 1;
}

/// Everybody asks twice, somebody withdraws, and a node comes back with its disk.
pub(super) fn withdrawn_with_a_comeback(bounds: &mut Bounds) {
    (bounds.requests, bounds.cancels, bounds.restarts) = (Some(2), 1, 1);
}

/// A detector is wrong once, and no timer fires.
pub(super) fn untimed_and_wrongly_suspected(bounds: &mut Bounds) {
    (bounds.timeouts, bounds.suspicions) = (Some(0), 1);
}

/// A node comes back with its disk, and no timer fires.
pub(super) fn untimed_with_a_comeback(bounds: &mut Bounds) {
    (bounds.timeouts, bounds.restarts) = (Some(0), 1);
}

/// The same where everybody asks again and again.
pub(super) fn saturated_with_a_comeback(bounds: &mut Bounds) {
    untimed_with_a_comeback(bounds);
    bounds.requests = None;
}

/// A node crashes while everybody asks again and again, and no timer fires.
pub(super) fn saturated_with_a_crash(bounds: &mut Bounds) {
    untimed_with_a_crash(bounds);
    bounds.requests = None;
}

/// A node crashes.
pub(super) fn crash(bounds: &mut Bounds) {
    bounds.crashes = 1;
}

/// The first node calls for an election, and one crashes.
pub(super) fn one_begins_with_a_crash(bounds: &mut Bounds) {
    bounds.start = Start::These([NodeId(0)].into_iter().collect());
    bounds.crashes = 1;
}

/// The first node calls for an election, and two crash.
pub(super) fn two_crashes(bounds: &mut Bounds) {
    bounds.start = Start::These([NodeId(0)].into_iter().collect());
    bounds.crashes = 2;
}

/// Suspicions are right: the detector is perfect, and nothing else runs by a clock.
pub(super) fn untimed_with_a_crash(bounds: &mut Bounds) {
    (bounds.timeouts, bounds.crashes) = (Some(0), 1);
}

/// Timers do not wait for messages: a node takes another for dead because its answer is slow.
pub(super) fn hasty(bounds: &mut Bounds) {
    (bounds.timing, bounds.timeouts) = (Timing::AnyMoment, Some(1));
}

/// A detector is wrong once, and notices sooner or later.
pub(super) fn suspected(bounds: &mut Bounds) {
    bounds.suspicions = 1;
}

/// A detector is wrong once, and timers do not wait for messages.
pub(super) fn wrongly_suspected(bounds: &mut Bounds) {
    (bounds.suspicions, bounds.timing) = (1, Timing::AnyMoment);
}

/// The same, and every timer fires once.
pub(super) fn wrongly_suspected_once(bounds: &mut Bounds) {
    (bounds.timing, bounds.timeouts, bounds.suspicions) = (Timing::AnyMoment, Some(1), 1);
}

/// One node comes back without its disk.
pub(super) fn forgetful(bounds: &mut Bounds) {
    bounds.amnesia = 1;
}

/// The same where everybody asks twice.
pub(super) fn forgetful_twice(bounds: &mut Bounds) {
    (bounds.amnesia, bounds.requests) = (1, Some(2));
}

/// The same where elections are begun by timers only.
pub(super) fn forgetful_by_itself(bounds: &mut Bounds) {
    bounds.start = Start::These(NodeSet::default());
    (bounds.timeouts, bounds.amnesia) = (Some(1), 1);
}

/// The same where two nodes call for one, and no timer fires.
pub(super) fn forgetful_with_two(bounds: &mut Bounds) {
    bounds.start = Start::These([0, 1].map(NodeId).into_iter().collect());
    (bounds.timeouts, bounds.amnesia) = (Some(0), 1);
}

/// A crashed node is replaced by a new one of the same name while an election is under way.
pub(super) fn replaced(bounds: &mut Bounds) {
    (bounds.crashes, bounds.amnesia) = (1, 1);
}

/// Every set of initiators, all of them at once.
pub(super) fn together(bounds: &mut Bounds) {
    (bounds.start, bounds.timeouts) = (Start::Together, None);
}

/// Nobody calls for an election, but every node's timer may fire once, and one node crash.
pub(super) fn by_itself_with_a_crash(bounds: &mut Bounds) {
    bounds.start = Start::These(NodeSet::default());
    (bounds.timeouts, bounds.crashes) = (Some(1), 1);
}

/// Every set of initiators, and on every node timers fire three times.
pub(super) fn with_timers(bounds: &mut Bounds) {
    bounds.timeouts = Some(3);
}

/// Two call for an election, and one node crashes and comes back with its disk.
pub(super) fn two_with_a_comeback(bounds: &mut Bounds) {
    bounds.start = Start::These([0, 1].map(NodeId).into_iter().collect());
    (bounds.timeouts, bounds.crashes, bounds.restarts) = (Some(0), 1, 1);
}
