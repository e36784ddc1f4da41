//! Deadlock: liveness judged in terminal states, in which nothing more has to happen.
//!
//! A client that waits in such a state waits for ever. Where nobody is inside either, that is a
//! deadlock. An election that is over must have come to one leader, and to the right one.
//! What goes on for ever though something always happens is found in `starvation`.

use crate::explorer::Explorer;
use crate::local::Phase;
use crate::moves::Enabled;
use crate::state::State;
use crate::violations::{Place, Violations};
use crate::vocabulary::Family;
use conclave_core::election::Monitor;
use conclave_core::{NodeId, NodeSet, Property, Ticks, Verdict};

/// Writes down which liveness properties are violated in a state, if it is a terminal one: no
/// enabled move has to happen.
pub fn judge(
    explorer: &Explorer<'_>,
    state: &State,
    enabled: &[Enabled],
    place: Place,
    found: &mut Violations,
) {
    if enabled.iter().any(|enabled| enabled.due) {
        return;
    }
    let cut = is_cut(explorer, state);
    let violated = match explorer.family() {
        Family::Mutex => waiting_for_ever(explorer, state),
        Family::Election => wrongly_led(explorer, state),
    };
    for property in violated {
        match cut {
            true => found.unknown(property),
            false => found.broken(property, place),
        }
    }
}

/// Whether only the bounds keep some timer from firing.
pub fn is_cut(explorer: &Explorer<'_>, state: &State) -> bool {
    (0..state.nodes.len() as u16).any(|node| {
        let face = explorer.face(state, node);
        face.up && !face.may_fire && !face.timers.is_empty()
    })
}

fn waiting_for_ever(explorer: &Explorer<'_>, state: &State) -> Vec<Property> {
    let is_any = |phase| {
        (0..explorer.clients() as u16).any(|node| explorer.face(state, node).phase == phase)
    };
    match (is_any(Phase::Waiting), is_any(Phase::Inside)) {
        (false, _) => Vec::new(),
        (true, true) => vec![Property::V2], // Whoever is inside stays.
        (true, false) => vec![Property::V1, Property::V2],
    }
}

/// Whether leaders are followed that are not the one right leader, if this is an election.
pub fn is_misled(explorer: &Explorer<'_>, state: &State) -> bool {
    explorer.family() == Family::Election && wrongly_led(explorer, state).contains(&Property::E1)
}

/// The election is over: is it, and in favour of whom it should be?
fn wrongly_led(explorer: &Explorer<'_>, state: &State) -> Vec<Property> {
    let nodes = || (0..explorer.clients() as u16).map(|node| (node, explorer.face(state, node)));
    let begun: NodeSet =
        nodes().filter(|(_, face)| face.begun).map(|(node, _)| NodeId(u32::from(node))).collect();
    if begun.is_empty() {
        return Vec::new();
    }
    let mut monitor = Monitor::new(explorer.clients());
    for (node, face) in nodes() {
        let node = NodeId(u32::from(node));
        match face.leader {
            _ if !face.up => monitor.crashed(node, Ticks::ZERO),
            Some(leader) => {
                monitor.elected(node, leader, u64::from(leader.0), Ticks::ZERO);
            }
            None => {}
        }
    }
    let winner = explorer.space().workings.winner(monitor.up(), &begun);
    monitor.end(winner, Ticks::ZERO, true, Ticks::ZERO);
    let broken = |property: &Property| monitor.verdict(*property) == Verdict::Violated;
    [Property::E1, Property::E2].into_iter().filter(broken).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::moves;
    use crate::testkit::{for_every_state, with_space};
    use conclave_core::Bounds;

    /// What is said of the whole if this many messages may be lost.
    fn verdicts(losses: u32) -> [Verdict; 2] {
        let bounds = Bounds { losses, ..Bounds::default() };
        let mut found = Violations::default();
        with_space(&bounds, |space| {
            for_every_state(&mut Explorer::new(space), |explorer, state| {
                let mut enabled = Vec::new();
                moves::enabled(explorer, state, &mut enabled);
                let place = Place { depth: 0, hash: state.hash };
                judge(explorer, state, &enabled, place, &mut found);
            });
        });
        [Property::V1, Property::V2].map(|property| found.verdict(property, true))
    }

    #[test]
    fn who_waits_for_a_lost_answer_when_nothing_more_happens_is_deadlocked() {
        assert_eq!(verdicts(1), [Verdict::Violated; 2]);
    }

    #[test]
    fn without_loss_everybody_is_answered() {
        assert_eq!(verdicts(0), [Verdict::Holds; 2]);
    }
}
