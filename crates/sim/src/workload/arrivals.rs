//! The arrivals of a Poisson process: wishes to enter that arise whether or not the last is over.

use conclave_core::{NodeId, Ticks};

/// What has arrived on each node, and what is still to arrive.
pub(crate) struct Arrivals {
    to_arrive: Vec<u32>,
    /// How many wait for the last to end.
    queued: Vec<u32>,
    /// The requests that were withdrawn and are made again, and when: they have arrived before.
    again: Vec<(NodeId, Ticks)>,
}

impl Arrivals {
    /// So many are to arrive on each node.
    pub fn new(to_arrive: Vec<u32>) -> Self {
        Self { queued: vec![0; to_arrive.len()], to_arrive, again: Vec::new() }
    }

    /// A wish to enter arises, or once more one that was withdrawn; true if another will.
    pub fn arrives(&mut self, node: NodeId, now: Ticks) -> bool {
        // What waited for a paused node comes late.
        let due = |&(owner, at): &(NodeId, Ticks)| owner == node && at <= now;
        if let Some(place) = self.again.iter().position(due) {
            self.again.swap_remove(place);
            return false;
        }
        let to_arrive = &mut self.to_arrive[node.index()];
        *to_arrive -= 1;
        *to_arrive > 0
    }

    /// What has arrived has to wait for the last to end.
    pub fn queue(&mut self, node: NodeId) {
        self.queued[node.index()] += 1;
    }

    /// The last is over; true if one has waited for that.
    pub fn next_is_queued(&mut self, node: NodeId) -> bool {
        let queued = &mut self.queued[node.index()];
        let waited = *queued > 0;
        *queued -= u32::from(waited);
        waited
    }

    /// A request is withdrawn, and will be made again at this time.
    pub fn withdrawn(&mut self, node: NodeId, again: Ticks) {
        self.again.push((node, again));
    }

    /// A crash has interrupted whatever was under way: so many will arrive anew.
    pub fn interrupted(&mut self, node: NodeId, to_arrive: u32) {
        self.to_arrive[node.index()] = to_arrive;
        self.queued[node.index()] = 0;
        self.again.retain(|(owner, _)| *owner != node);
    }
}

#[cfg(test)]
mod tests {
    use crate::plan::{Fault, Options, Plan, Workload};
    use crate::runnable::Runnable;
    use crate::toys::desk;
    use conclave_core::{NodeId, Ticks};

    #[test]
    fn who_withdraws_asks_again_and_enters_as_often_as_it_would_have() {
        let pause = Fault::Pause { node: NodeId(1), span: Ticks::units(30) };
        for seed in 1..=40 {
            let plan = Plan {
                seed,
                workload: Workload::Poisson(0.2),
                rounds: 3,
                critical_section: Ticks::units(5),
                cancel: 0.5,
                faults: vec![(Ticks::units(20), pause.clone())],
                until: Ticks::units(5_000),
                ..Plan::default()
            };
            let outcome = desk(3).run(&plan, &Options::default()).expect("the plan is sound");
            assert_eq!(outcome.mutex().entries, 9, "seed {seed}");
        }
    }
}
