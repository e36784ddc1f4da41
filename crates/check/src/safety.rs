//! Safety: the properties that are violated in a single state, whatever happens next.

use crate::explorer::Explorer;
use crate::local::Phase;
use crate::state::State;
use conclave_core::Property;

/// The safety properties that are violated in a state: mutual exclusion and the cluster's invariant
/// by the state itself, the others by what the history variables remember of the way to it.
pub fn violated(explorer: &Explorer<'_>, state: &State) -> Vec<Property> {
    let mut violated = Vec::new();
    let inside = |&node: &u16| explorer.face(state, node).phase == Phase::Inside;
    if (0..explorer.clients() as u16).filter(inside).count() > 1 {
        violated.push(Property::S1);
    }
    let broken = explorer.global(state.global).broken;
    let remembered = [
        (broken.same_fence, Property::S1Eff),
        (broken.fence, Property::F1),
        (broken.term, Property::E1Term),
        (broken.order, Property::HB),
    ];
    let nodes = 0..state.nodes.len() as u16;
    violated.extend(nodes.filter_map(|node| explorer.face(state, node).broken));
    violated.extend(remembered.iter().filter(|(is, _)| *is).map(|&(_, property)| property));
    violated
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::{for_every_state, with_space};
    use crate::{Checkable, Limits};
    use conclave_core::mutex::{Indication, Mutex, Request};
    use conclave_core::{
        Bounds, Cluster, Context, Event, Invariant, Named, Never, NodeId, Process, Verdict,
    };
    use serde::{Deserialize, Serialize};

    /// The first node enters with fence 1, the second with 2, and the third with 2 as well once the
    /// second has sent it word: as it enters, or only as it leaves.
    #[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    struct Relay {
        me: NodeId,
        on_leaving: bool,
        waits: bool,
        heard: bool,
    }

    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    struct Go;

    impl Named for Go {
        fn name(&self) -> &'static str {
            "GO"
        }
    }

    impl Process for Relay {
        type Provides = Mutex;
        type Uses = Never;
        type Message = Go;
        type Timer = Never;

        fn step(&mut self, event: Event<Self>, ctx: &mut Context<Self>) {
            let second = self.me == NodeId(1);
            match event {
                Event::Request(Request::Acquire) if self.me == NodeId(2) => self.waits = true,
                Event::Request(Request::Acquire) => {
                    ctx.indicate(Indication::Entered { fence: u64::from(self.me.0) + 1 });
                    if second && !self.on_leaving {
                        ctx.send(NodeId(2), Go);
                    }
                }
                Event::Request(Request::Release) if second && self.on_leaving => {
                    ctx.send(NodeId(2), Go);
                }
                Event::Message { .. } => self.heard = true,
                Event::Start | Event::Restart | Event::Request(_) => {}
            }
            if self.waits && self.heard {
                self.waits = false;
                ctx.indicate(Indication::Entered { fence: 2 });
            }
        }
    }

    #[test]
    fn two_share_the_resource_only_while_both_are_inside_with_its_largest_fence() {
        for (on_leaving, expected) in [(true, Verdict::Holds), (false, Verdict::Violated)] {
            let relay = move |me| Relay { me, on_leaving, waits: false, heard: false };
            let cluster = Cluster::of_equals(3, relay);
            let verdict = |property| {
                let limits = Limits { properties: vec![property], ..Limits::default() };
                cluster.check(&Bounds::default(), &limits, &|_| {}).verdict(property)
            };
            assert_eq!(verdict(Property::S1Eff), expected, "on leaving: {on_leaving}");
            assert_eq!(verdict(Property::S1), Verdict::Violated);
            assert_eq!(verdict(Property::F1), Verdict::Violated);
        }
    }

    #[test]
    fn two_nodes_inside_violate_mutual_exclusion_and_an_equal_fence_is_remembered() {
        let mut seen = Vec::new();
        with_space(&Bounds::default(), |space| {
            for_every_state(&mut Explorer::new(space), |explorer, state| {
                let violated = violated(explorer, state);
                let inside = |&node: &u16| explorer.face(state, node).phase == Phase::Inside;
                assert_eq!(violated.contains(&Property::S1), (0..2).filter(inside).count() == 2);
                seen.extend(violated);
            });
        });
        for property in [Property::S1, Property::S1Eff, Property::F1] {
            assert!(seen.contains(&property), "{property:?}");
        }
    }

    /// What the user of no node could see: the state of one.
    #[test]
    fn the_invariant_of_a_cluster_is_judged_in_every_state_of_every_node() {
        for (broken_by, expected) in [
            ((|relay| relay.heard.then_some(Property::BW)) as Invariant<Relay>, Verdict::Violated),
            (|relay| (relay.me == NodeId(9)).then_some(Property::BW), Verdict::Holds),
        ] {
            let relay = |me| Relay { me, on_leaving: true, waits: false, heard: false };
            let cluster = Cluster { invariant: Some(broken_by), ..Cluster::of_equals(3, relay) };
            let limits = Limits { properties: vec![Property::BW], ..Limits::default() };
            let report = cluster.check(&Bounds::default(), &limits, &|_| {});
            assert_eq!(report.verdict(Property::BW), expected);
            // The second enters, leaves, and the third has heard of it.
            let told = report.story(Property::BW).map(|story| story.moments.len());
            assert_eq!(told, (expected == Verdict::Violated).then_some(3));
        }
    }
}
