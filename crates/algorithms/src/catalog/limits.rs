//! Default bounds of the model checker for each algorithm, and what dropping one of its assumptions
//! allows.

use super::Params;
use conclave_core::{Bounds, Network, NodeId, Start, Timing};

/// Timers of an algorithm that could go on setting them fire so often on each node.
const TIMEOUTS: u32 = 2;

/// Everybody asks once, and nothing runs by a clock.
pub(super) fn untimed(_: &Params) -> Bounds {
    Bounds::default()
}

/// Everybody asks once. Timers fire at any moment, but not without end.
pub(super) fn timed(_: &Params) -> Bounds {
    Bounds { timeouts: Some(TIMEOUTS), ..Bounds::default() }
}

/// Everybody asks once. Messages are faster than timers, which do not fire without end.
pub(super) fn synchronous(params: &Params) -> Bounds {
    Bounds { timing: Timing::Synchronous, ..timed(params) }
}

/// In rounds, which are longer than any message takes, and begun by all at once.
pub(super) fn in_rounds(_: &Params) -> Bounds {
    Bounds { timing: Timing::Synchronous, start: Start::Together, ..Bounds::default() }
}

/// A message is lost, and one comes twice.
pub(super) fn astray(bounds: &mut Bounds) {
    bounds.losses = 1;
    bounds.duplicates = 1;
}

/// A message is lost.
pub(super) fn loss(bounds: &mut Bounds) {
    bounds.losses = 1;
}

/// Messages overtake each other.
pub(super) fn reorder(bounds: &mut Bounds) {
    bounds.network = Network::Bag;
}

/// A message is lost, and others overtake each other.
pub(super) fn loss_and_reorder(bounds: &mut Bounds) {
    loss(bounds);
    reorder(bounds);
}

/// A node crashes.
pub(super) fn crash(bounds: &mut Bounds) {
    bounds.crashes = 1;
}

/// Two nodes crash: of three, that is no majority any more.
pub(super) fn two_crashes(bounds: &mut Bounds) {
    bounds.crashes = 2;
}

/// A node crashes and comes back with its disk.
pub(super) fn comeback(bounds: &mut Bounds) {
    bounds.crashes = 1;
    bounds.restarts = 1;
}

/// A node comes back without its disk.
pub(super) fn amnesia(bounds: &mut Bounds) {
    bounds.amnesia = 1;
}

/// Whoever is inside may stay.
pub(super) fn stay(bounds: &mut Bounds) {
    bounds.stays = true;
}

/// A detector is wrong, for a while or for ever.
pub(super) fn suspicion(bounds: &mut Bounds) {
    bounds.suspicions = 1;
    bounds.lasting = true;
}

/// Messages are not faster than timers.
pub(super) fn slowness(bounds: &mut Bounds) {
    bounds.timing = Timing::AnyMoment;
}

/// A message is lost, and none is faster than timers.
pub(super) fn loss_and_slowness(bounds: &mut Bounds) {
    loss(bounds);
    slowness(bounds);
}

/// Whoever begins does so when it likes.
pub(super) fn late_start(bounds: &mut Bounds) {
    bounds.start = Start::Any;
}

/// Nodes come back without their disk twice.
pub(super) fn amnesia_twice(bounds: &mut Bounds) {
    bounds.amnesia = 2;
}

/// Everybody asks twice: a second copy of a token does harm when its receiver wants in again.
pub(super) fn twice(bounds: &mut Bounds) {
    bounds.requests = Some(2);
}

/// Timers fire once on each node.
pub(super) fn one_timeout(bounds: &mut Bounds) {
    bounds.timeouts = Some(1);
}

/// Timers fire twice on each node.
pub(super) fn two_timeouts(bounds: &mut Bounds) {
    bounds.timeouts = Some(2);
}

/// Whoever waits asks by its timers for ever.
pub(super) fn timeouts_for_ever(bounds: &mut Bounds) {
    bounds.timeouts = None;
}

/// A node crashes, so that another takes its place, and no timer fires.
pub(super) fn crash_untimed(bounds: &mut Bounds) {
    crash(bounds);
    bounds.timeouts = Some(0);
}

/// The first node calls for an election, and one crashes.
pub(super) fn crash_in_an_election(bounds: &mut Bounds) {
    crash(bounds);
    bounds.start = Start::These([NodeId(0)].into_iter().collect());
}

/// Two call for an election, and no timer fires.
pub(super) fn two_begin(bounds: &mut Bounds) {
    bounds.start = Start::These([0, 1].map(NodeId).into_iter().collect());
    bounds.timeouts = Some(0);
}

/// A detector is wrong for a while.
pub(super) fn passing_suspicion(bounds: &mut Bounds) {
    bounds.suspicions = 1;
}

#[cfg(test)]
mod tests {
    use crate::catalog::ENTRIES;

    #[test]
    fn without_an_assumption_more_may_happen() {
        for entry in ENTRIES {
            for assumption in entry.assumptions {
                let Some(runs) = assumption.dropped.runs else { continue };
                let setting = runs.setting(entry).expect("parameters that it has");
                let usual = (entry.bounds)(&setting.params);
                assert!(!usual.has_faults(), "{}", entry.id);
                assert_ne!(runs.bounds(&setting), usual, "{} {}", entry.id, assumption.tag);
            }
        }
    }
}
