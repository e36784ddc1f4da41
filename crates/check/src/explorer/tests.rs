use super::Explorer;
use crate::testkit::{for_every_state, with_space};
use crate::{Checkable, Limits};
use conclave_core::mutex::{Indication, Mutex, Request};
use conclave_core::{
    Bounds, Cluster, Context, Delay, Event, Named, Network, NodeId, Process, Property, Ticks,
    Timing, Verdict,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// All faults that nodes and links have, few of each.
fn faulty(network: Network) -> Bounds {
    Bounds { network, crashes: 1, losses: 1, duplicates: 1, cancels: 1, ..Bounds::default() }
}

#[test]
fn the_hash_of_a_state_is_the_sum_of_those_of_its_parts_after_every_move() {
    for network in [Network::Fifo, Network::Bag] {
        with_space(&faulty(network), |space| {
            let mut states = 0;
            for_every_state(&mut Explorer::new(space), |explorer, state| {
                assert_eq!(state.hash, explorer.parts.hash(state), "{state:?}");
                states += 1;
            });
            assert!(states > 100, "{states} states are too few to tell");
        });
    }
}

#[test]
fn a_second_thread_takes_over_what_the_first_has_worked_out() {
    with_space(&faulty(Network::Fifo), |space| {
        let hashes = |explorer: &mut Explorer<'_>| {
            let mut hashes = BTreeSet::new();
            for_every_state(explorer, |_, state| _ = hashes.insert(state.hash));
            hashes
        };
        let first = hashes(&mut Explorer::new(space));
        let worked_out = space.steps(0).len();
        assert_eq!(hashes(&mut Explorer::new(space)), first);
        assert_eq!(space.steps(0).len(), worked_out, "a step was worked out once more");
    });
}

#[test]
fn an_empty_link_adds_nothing_and_the_same_message_on_two_links_adds_different_hashes() {
    with_space(&Bounds::default(), |space| {
        let mut explorer = Explorer::new(space);
        for_every_state(&mut explorer, |_, _| {});
        let links = &explorer.parts.links;
        let slots = 0..links.all().len() as u16;
        assert_eq!(slots.len(), 2);
        assert!(slots.clone().all(|slot| links.hash(slot, 0) == 0));
        let hashes: BTreeSet<u64> = slots.map(|slot| links.hash(slot, 1)).collect();
        assert_eq!(hashes.len(), 2);
    });
}

#[test]
fn a_fault_takes_one_from_its_budget_and_nothing_else() {
    with_space(&faulty(Network::Fifo), |space| {
        let mut explorer = Explorer::new(space);
        let before = explorer.initial()[0].global;
        for _ in 0..2 {
            let charged =
                explorer.parts.globals.charged(space, before, crate::global::Budget::Loss);
            let expected = crate::global::Global {
                losses: 0,
                ..crate::global::Global::clone(explorer.global(before))
            };
            assert_eq!(**explorer.global(charged), expected);
        }
    });
}

/// Node 1 enters as it likes and beats every ten ticks; node 2 enters after twenty-five, unless it
/// has heard two beats.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Beating {
    me: NodeId,
    waits: bool,
    heard: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Beat;

impl Named for Beat {
    fn name(&self) -> &'static str {
        "BEAT"
    }
}

impl Process for Beating {
    type Provides = Mutex;
    type Uses = conclave_core::Never;
    type Message = Beat;
    type Timer = ();

    fn step(&mut self, event: Event<Self>, ctx: &mut Context<Self>) {
        let beats = self.me == NodeId(0);
        match event {
            Event::Start => ctx.set_timer((), Delay::exactly(Ticks(if beats { 10 } else { 25 }))),
            Event::Timer(()) if beats => {
                ctx.send(NodeId(1), Beat);
                ctx.set_timer((), Delay::exactly(Ticks(10)));
            }
            Event::Timer(()) if self.waits && self.heard < 2 => {
                ctx.indicate(Indication::Entered { fence: 2 });
            }
            Event::Request(Request::Acquire) if beats => {
                ctx.indicate(Indication::Entered { fence: 1 });
            }
            Event::Request(Request::Acquire) => self.waits = true,
            Event::Message { .. } => self.heard += 1,
            Event::Restart | Event::Timer(()) | Event::Request(_) => {}
        }
    }
}

/// A timer that has fired as often as the bounds let it still runs: no time passes beyond it.
#[test]
fn time_does_not_pass_beyond_a_timer_that_the_bounds_keep_from_firing() {
    let cluster = Cluster::of_equals(2, |me| Beating { me, waits: false, heard: 0 });
    for timeouts in 1..=3 {
        let timing = Timing::Synchronous;
        let bounds = Bounds { timing, timeouts: Some(timeouts), ..Bounds::default() };
        let limits = Limits { properties: vec![Property::S1], ..Limits::default() };
        let report = cluster.check(&bounds, &limits, &|_| {});
        assert_eq!(report.verdict(Property::S1), Verdict::Holds, "{timeouts} timeouts");
    }
}
