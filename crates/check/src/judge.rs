//! Holds a state against the laws.

use crate::explorer::Explorer;
use crate::found::{Found, Place};
use crate::local::Phase;
use crate::moves::Turn;
use crate::state::State;
use crate::words::Family;
use conclave_core::election::Monitor;
use conclave_core::{NodeId, NodeSet, Property, Ticks, Verdict};

impl Explorer<'_> {
    /// The laws that are broken in a state, whatever happens next.
    pub fn broken(&self, state: &State) -> Vec<Property> {
        let mut broken = Vec::new();
        let inside = |explorer: &Self, node| explorer.face(state, node).phase == Phase::Inside;
        let crowd = (0..self.clients as u16).filter(|&node| inside(self, node)).count();
        if crowd > 1 {
            broken.push(Property::S1);
        }
        let laws = self.global(state.global).broken;
        let found = [
            (laws.same_fence, Property::S1Eff),
            (laws.fence, Property::F1),
            (laws.term, Property::E1Term),
            (laws.order, Property::HB),
        ];
        broken.extend(found.iter().filter(|(is, _)| *is).map(|&(_, property)| property));
        broken
    }

    /// Writes down what is to be said of a state in which nothing more has to happen.
    pub fn judge_end(&self, state: &State, turns: &[Turn], place: Place, found: &mut Found) {
        if turns.iter().any(|turn| turn.due) {
            return;
        }
        let cut = self.is_cut(state);
        let broken = match self.family {
            Family::Mutex => self.waiting_for_ever(state),
            Family::Election => self.badly_led(state),
        };
        for property in broken {
            match cut {
                true => found.unknown(property),
                false => found.broken(property, place),
            }
        }
    }

    /// Whether only the bounds keep some timer from firing.
    pub fn is_cut(&self, state: &State) -> bool {
        (0..state.nodes.len() as u16).any(|node| {
            let face = self.face(state, node);
            face.up && !face.may_fire && !face.timers.is_empty()
        })
    }

    fn waiting_for_ever(&self, state: &State) -> Vec<Property> {
        let phases = || (0..self.clients as u16).map(|node| self.face(state, node).phase);
        match (phases().any(|phase| phase == Phase::Waiting), phases().any(|p| p == Phase::Inside))
        {
            (false, _) => Vec::new(),
            (true, true) => vec![Property::V2], // Whoever is inside stays.
            (true, false) => vec![Property::V1, Property::V2],
        }
    }

    fn badly_led(&self, state: &State) -> Vec<Property> {
        let nodes = || (0..self.clients as u16).map(|node| (node, self.face(state, node)));
        let begun: NodeSet = nodes()
            .filter(|(_, face)| face.begun)
            .map(|(node, _)| NodeId(u32::from(node)))
            .collect();
        if begun.is_empty() {
            return Vec::new();
        }
        let mut monitor = Monitor::new(self.clients);
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
        let winner = self.space.workings.winner(monitor.up(), &begun);
        monitor.end(winner, Ticks::ZERO, true, Ticks::ZERO);
        let broken = |property: &Property| monitor.verdict(*property) == Verdict::Violated;
        [Property::E1, Property::E2].into_iter().filter(broken).collect()
    }
}
