//! Judges a replayed counterexample, moment by moment, by the monitors of its service.

use crate::workload::Judgement;
use conclave_core::election::{self, Election};
use conclave_core::mutex::{self, Causality, Mutex};
use conclave_core::{
    IndicationFrom, Move, NodeId, NodeSet, Property, RequestTo, Service, Ticks, Verdict, Violation,
    Winner,
};

/// How a story ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Close {
    /// In the middle of things.
    Midway,
    /// Where nothing more can happen.
    DeadEnd,
    /// It does not: what happened after this time happens again and again.
    Loop(Ticks),
}

/// The users of a service who do as a story says, and the monitor that watches them.
pub trait Law<S: Service> {
    /// Nothing has happened yet on any of `n` nodes, and this promise is in question.
    fn new(n: u32, property: Property) -> Self;

    /// What the user asks by this move, if it may.
    fn asks(&mut self, act: &Move, at: Ticks) -> Option<RequestTo<S>>;

    /// A user is told; nothing, if it cannot be told that now.
    fn told(&mut self, node: NodeId, told: IndicationFrom<S>, at: Ticks) -> Option<()>;

    /// A node stops.
    fn crashed(&mut self, node: NodeId, at: Ticks);

    /// It is back.
    fn returned(&mut self, node: NodeId) {
        let _ = node;
    }

    /// The causal past of every node, where it is watched.
    fn causality(&mut self) -> Option<&mut Causality> {
        None
    }

    /// The story is over.
    fn end(&mut self, winner: Option<&Winner>, at: Ticks, close: Close) -> Judgement;
}

/// Nothing that stops changing is waited for.
const NO_PATIENCE: Ticks = Ticks(u64::MAX);

/// Mutual exclusion.
pub struct MutexLaw {
    monitor: mutex::Monitor,
    n: u32,
    last_entry: Ticks,
}

impl Law<Mutex> for MutexLaw {
    fn new(n: u32, property: Property) -> Self {
        let mut monitor = mutex::Monitor::new(n, None);
        if property == Property::HB {
            monitor.watch_order();
        }
        Self { monitor, n, last_entry: Ticks::ZERO }
    }

    fn asks(&mut self, act: &Move, at: Ticks) -> Option<mutex::Request> {
        let node = act.node();
        let waiting = self.monitor.is_waiting(node);
        let inside = self.monitor.is_inside(node);
        match act {
            Move::Acquire { .. } if !waiting && !inside => {
                self.monitor.requested(node, at);
                Some(mutex::Request::Acquire)
            }
            Move::Release { .. } if inside => {
                self.monitor.released(node, at);
                Some(mutex::Request::Release)
            }
            Move::Cancel { .. } if waiting => {
                self.monitor.cancelled(node, at);
                Some(mutex::Request::Cancel)
            }
            Move::Acquire { .. }
            | Move::Release { .. }
            | Move::Cancel { .. }
            | Move::Campaign { .. }
            | Move::Deliver { .. }
            | Move::Repeat { .. }
            | Move::Lose { .. }
            | Move::Fire { .. }
            | Move::Crash { .. }
            | Move::Restart { .. }
            | Move::Suspect { .. }
            | Move::Trust { .. } => None,
        }
    }

    fn told(&mut self, node: NodeId, told: mutex::Indication, at: Ticks) -> Option<()> {
        let mutex::Indication::Entered { fence } = told;
        self.monitor.is_waiting(node).then(|| {
            self.monitor.entered(node, fence, at);
            self.last_entry = at;
        })
    }

    fn crashed(&mut self, node: NodeId, at: Ticks) {
        self.monitor.crashed(node, at);
    }

    fn causality(&mut self) -> Option<&mut Causality> {
        self.monitor.causality()
    }

    fn end(&mut self, _: Option<&Winner>, at: Ticks, close: Close) -> Judgement {
        self.monitor.end(at, close == Close::DeadEnd, NO_PATIENCE);
        let mut violations = self.monitor.violations().to_vec();
        if let Close::Loop(since) = close {
            violations.extend(self.starved(since));
        }
        judgement(&Property::MUTEX, violations, |property| self.monitor.verdict(property))
    }
}

impl MutexLaw {
    /// Who waits through the whole of a loop.
    fn starved(&self, since: Ticks) -> Vec<Violation> {
        let waits = |node: &NodeId| {
            self.monitor.is_waiting(*node) && self.monitor.waiting_since(*node) <= since
        };
        let who: Vec<String> =
            (0..self.n).map(NodeId).filter(waits).map(|node| node.mark()).collect();
        if who.is_empty() {
            return Vec::new();
        }
        let verb = if who.len() == 1 { "waits" } else { "wait" };
        let who = format!("{} {verb} for ever", who.join(", "));
        let violation = |property, what| Violation { property, at: since, what };
        if self.last_entry > since {
            return vec![violation(Property::V2, format!("{who}, while others enter"))];
        }
        let mut broken = vec![violation(Property::V2, who.clone())];
        if self.monitor.inside() == 0 {
            broken.push(violation(Property::V1, format!("{who}, and nobody enters")));
        }
        broken
    }
}

/// Elections.
pub struct ElectionLaw {
    monitor: election::Monitor,
    started: NodeSet,
    /// When each node last learnt of a leader.
    learnt: Vec<Ticks>,
}

impl Law<Election> for ElectionLaw {
    fn new(n: u32, _: Property) -> Self {
        Self {
            monitor: election::Monitor::new(n),
            started: NodeSet::default(),
            learnt: vec![Ticks::ZERO; n as usize],
        }
    }

    fn asks(&mut self, act: &Move, _: Ticks) -> Option<election::Request> {
        let campaigns = matches!(act, Move::Campaign { .. });
        campaigns.then(|| {
            self.started.insert(act.node());
            election::Request::Campaign
        })
    }

    fn told(&mut self, node: NodeId, told: election::Indication, at: Ticks) -> Option<()> {
        match told {
            election::Indication::Elected { leader, term } => {
                self.monitor.elected(node, leader, term, at);
                self.learnt[node.index()] = at;
            }
            election::Indication::Deposed { .. } => self.monitor.deposed(node, at),
            election::Indication::Suspect(_) | election::Indication::Trust(_) => {}
        }
        Some(())
    }

    fn crashed(&mut self, node: NodeId, at: Ticks) {
        self.monitor.crashed(node, at);
    }

    fn returned(&mut self, node: NodeId) {
        self.monitor.returned(node);
    }

    fn end(&mut self, winner: Option<&Winner>, at: Ticks, close: Close) -> Judgement {
        let winner = winner.map(|rule| rule(self.monitor.up(), &self.started));
        self.monitor.end(winner, at, close == Close::DeadEnd, NO_PATIENCE);
        let mut violations = self.monitor.violations().to_vec();
        if let Close::Loop(since) = close {
            violations.extend(self.ignorant(since));
        }
        judgement(&Property::ELECTION, violations, |property| self.monitor.verdict(property))
    }
}

impl ElectionLaw {
    /// Somebody who knows of no leader through the whole of a loop.
    fn ignorant(&self, since: Ticks) -> Option<Violation> {
        let beliefs = self.monitor.beliefs();
        let unaware =
            |node: &NodeId| beliefs[node.index()].is_none() && self.learnt[node.index()] <= since;
        let node = self.monitor.up().iter().find(unaware)?;
        let what = format!("{} never comes to know of a leader", node.mark());
        Some(Violation { property: Property::E2, at: since, what })
    }
}

/// A service that no story is told of: nobody asks, and nothing is judged.
pub struct Lawless;

impl<S: Service> Law<S> for Lawless {
    fn new(_: u32, _: Property) -> Self {
        Self
    }

    fn asks(&mut self, _: &Move, _: Ticks) -> Option<RequestTo<S>> {
        None
    }

    fn told(&mut self, _: NodeId, _: IndicationFrom<S>, _: Ticks) -> Option<()> {
        Some(())
    }

    fn crashed(&mut self, _: NodeId, _: Ticks) {}

    fn end(&mut self, _: Option<&Winner>, _: Ticks, _: Close) -> Judgement {
        Judgement { verdicts: Vec::new(), violations: Vec::new() }
    }
}

/// What a monitor says, and what it cannot see: what a loop breaks.
fn judgement(
    properties: &[Property],
    violations: Vec<Violation>,
    verdict: impl Fn(Property) -> Verdict,
) -> Judgement {
    let broken = |property| violations.iter().any(|violation| violation.property == property);
    let judged = |&property: &Property| match broken(property) {
        true => (property, Verdict::Violated),
        false => (property, verdict(property)),
    };
    Judgement { verdicts: properties.iter().map(judged).collect(), violations }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AGAIN: Close = Close::Loop(Ticks(5));

    fn verdict(judgement: &Judgement, property: Property) -> Verdict {
        let judged = judgement.verdicts.iter().find(|(known, _)| *known == property);
        judged.map(|(_, verdict)| *verdict).expect("it is judged")
    }

    /// An endless story in which one node waits from this time on and the other enters then.
    fn waits(since: u64, other_enters: Option<u64>) -> [Verdict; 2] {
        let mut law = MutexLaw::new(2, Property::V2);
        let acquire = |node| Move::Acquire { node: NodeId(node) };
        if let Some(at) = other_enters {
            law.asks(&acquire(1), Ticks(0)).expect("it may");
            let entered = mutex::Indication::Entered { fence: 1 };
            law.told(NodeId(1), entered, Ticks(at)).expect("it waits");
            law.asks(&Move::Release { node: NodeId(1) }, Ticks(at)).expect("it is inside");
        }
        law.asks(&acquire(0), Ticks(since)).expect("it may");
        let judgement = law.end(None, Ticks(9), AGAIN);
        [Property::V1, Property::V2].map(|property| verdict(&judgement, property))
    }

    #[test]
    fn who_waits_through_a_whole_loop_waits_for_ever() {
        use Verdict::{Unknown, Violated};
        assert_eq!(waits(5, None), [Violated, Violated]);
        assert_eq!(waits(6, None), [Unknown, Unknown], "it began to wait within the loop");
        assert_eq!(waits(4, Some(4)), [Violated, Violated], "that was before the loop");
        assert_eq!(waits(4, Some(6)), [Unknown, Violated], "others enter again and again");
    }

    #[test]
    fn who_knows_of_no_leader_through_a_whole_loop_never_does() {
        let ends = |told: &[(u32, u64)], deposed: Option<u64>| {
            let mut law = ElectionLaw::new(2, Property::E2);
            for &(node, at) in told {
                let elected = election::Indication::Elected { leader: NodeId(0), term: 1 };
                law.told(NodeId(node), elected, Ticks(at)).expect("it may be told");
            }
            if let Some(at) = deposed {
                let told = election::Indication::Deposed { term: 1 };
                law.told(NodeId(0), told, Ticks(at)).expect("it may be told");
            }
            verdict(&law.end(None, Ticks(9), AGAIN), Property::E2)
        };
        assert_eq!(ends(&[(0, 2)], None), Verdict::Violated, "the other never learns");
        assert_eq!(ends(&[(0, 2), (1, 3)], None), Verdict::Holds);
        assert_eq!(ends(&[(0, 2), (1, 3)], Some(4)), Verdict::Violated);
        assert_ne!(ends(&[(0, 6), (1, 3)], Some(7)), Verdict::Violated, "it learns in every loop");
    }

    #[test]
    fn the_order_of_requests_is_watched_where_it_is_in_question() {
        let judged = |property| {
            let mut law = MutexLaw::new(1, property);
            assert_eq!(law.causality().is_some(), property == Property::HB);
            verdict(&law.end(None, Ticks(9), Close::Midway), Property::HB)
        };
        assert_eq!(judged(Property::HB), Verdict::Holds);
        assert_eq!(judged(Property::S1), Verdict::NotChecked);
    }
}
