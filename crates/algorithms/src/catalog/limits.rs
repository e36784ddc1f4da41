//! Default bounds of the model checker for each algorithm, and what dropping one of its assumptions
//! allows.

use super::Params;
use conclave_core::{Bounds, Network, Start, Timing};

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

/// A detector is wrong.
pub(super) fn suspicion(bounds: &mut Bounds) {
    bounds.suspicions = 1;
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

#[cfg(test)]
mod tests {
    use crate::catalog::ENTRIES;

    #[test]
    fn without_an_assumption_more_may_happen() {
        for entry in ENTRIES {
            let setting = entry.setting(3, &[]).expect("the defaults will do");
            let usual = (entry.bounds)(&setting.params);
            assert!(!usual.has_faults(), "{}", entry.id);
            for assumption in entry.assumptions {
                let mut bounds = usual.clone();
                let Some(dropped) = assumption.dropped else { continue };
                dropped(&mut bounds);
                assert_ne!(bounds, usual, "{} {}", entry.id, assumption.tag);
            }
        }
    }
}
