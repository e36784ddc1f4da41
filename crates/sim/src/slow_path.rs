//! The slow path of the simulator, for what is not common: somebody observes the run, a node is
//! crashed or paused, a message may be lost, late or doubled.

use crate::network::Fate;
use crate::registration::Request;
use crate::simulator::{Late, Simulation, Status};
use crate::trace::Recorder;
use crate::trace::erased::{describe, describe_briefly, erase_briefly, erase_message};
use crate::wheel::{Lane, SlotId};
use crate::workload::{Exercised, Users};
use conclave_core::{Event, Named, NodeId, NodeSet, Oracle, Process, Ticks};
use std::time::Instant;

/// How many events there are between two looks at the clock.
const EVENTS_A_LOOK: u64 = 256;

impl<P: Process<Provides: Exercised, Uses: Oracle>> Simulation<'_, P> {
    /// Takes an event out of the wheel to a node that may be away, or while somebody watches.
    #[cold]
    pub(crate) fn take_slowly(&mut self, node: NodeId, slot: SlotId) {
        let full = self.recorder.as_ref().is_some_and(Recorder::is_full);
        if self.events >= self.events_max || full || self.is_late() {
            return self.break_off();
        }
        let event = self.wheel.take(slot);
        let request = self.registration.taken(slot);
        match self.up[node.index()] {
            Status::Up => {
                if let Some(stamp) = self.stamps.of(slot, &event)
                    && let Some(causality) = self.users.causality()
                {
                    causality.received(node, stamp);
                }
                self.follow_request(&event, request);
                self.deliver(node, event);
            }
            Status::Down => self.lose(node, &event),
            Status::Paused => self.put_off(node, slot, event, request),
        }
    }

    /// There are more events than anybody wants: nothing more happens.
    fn break_off(&mut self) {
        self.overrun = true;
        self.wheel.cancel_where(|_, _| true);
    }

    /// Breaks off before the next fault if somebody has waited long enough: each may take long,
    /// and there may be many without an event between them.
    pub(crate) fn gives_up(&mut self) -> bool {
        if !self.overrun && self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            self.break_off();
        }
        self.overrun
    }

    /// Whether somebody has waited long enough. The clock is looked at now and then.
    fn is_late(&self) -> bool {
        let now_and_then = self.events.is_multiple_of(EVENTS_A_LOOK);
        now_and_then && self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// What comes to a paused node waits for it.
    fn put_off(&mut self, node: NodeId, slot: SlotId, event: Event<P>, request: Option<Request>) {
        if let Event::Timer(timer) = event {
            self.timers.hold(node, timer);
        }
        let stamp = self.stamps.of(slot, &event).cloned();
        self.backlog.entry(node).push(Late { event, stamp, request });
    }

    /// Gives a node an event that has waited for it.
    pub(crate) fn deliver_late(&mut self, node: NodeId, late: Late<P>) {
        if let (Some(stamp), Some(causality)) = (&late.stamp, self.users.causality()) {
            causality.received(node, stamp);
        }
        let stopped = |timer| !self.timers.is_held(node, timer);
        if !matches!(late.event, Event::Timer(timer) if stopped(timer)) {
            self.follow_request(&late.event, late.request);
            self.deliver(node, late.event);
        }
    }

    /// If a request has sent this, it has come.
    fn follow_request(&mut self, event: &Event<P>, request: Option<Request>) {
        if let (Event::Message { from, .. }, Some(request)) = (event, request) {
            self.request_arrives(*from, request);
        }
    }

    /// Gives a node an event.
    pub(crate) fn deliver(&mut self, node: NodeId, event: Event<P>) {
        match event {
            Event::Request(request) => P::Provides::acts(self, node, request),
            Event::Timer(timer) => {
                self.timers.cancel(node, timer);
                self.step(node, event);
            }
            Event::Start | Event::Restart | Event::Indication(_) | Event::Message { .. } => {
                self.step(node, event);
            }
        }
    }

    /// A message to a crashed node is lost, and so is what its application meant to do. Loss by the
    /// network is in `network.rs`.
    fn lose(&mut self, node: NodeId, event: &Event<P>) {
        self.look();
        if let Some(recorder) = &mut self.recorder {
            let described = match self.asked {
                Some(_) => describe_briefly(event),
                None => describe(event),
            };
            recorder.loses(self.now, node, &described.event);
        }
        match (event, &mut self.story) {
            (Event::Request(request), _) => self.users.missed(node, request),
            (Event::Message { from, message }, Some(story)) => {
                story.lost_at_dead_node(self.now, *from, node, message.name());
            }
            (Event::Message { .. }, None)
            | (Event::Start | Event::Restart | Event::Indication(_) | Event::Timer(_), _) => {}
        }
    }

    /// A step, and what is to be kept of it.
    #[inline(never)]
    pub(crate) fn step_observed(&mut self, node: NodeId, event: Event<P>, asks: bool) {
        self.listen(node);
        self.observe_step(node, &event);
        self.act::<true>(node, event, asks);
        self.observed_step();
        self.heard();
    }

    /// Of a multicast, only the first message counts: of one that is the same to all who get it,
    /// and answers none of them. The same one sent to somebody twice is two.
    fn counts(&mut self, to: NodeId, message: &P::Message) -> bool {
        if !self.plan.multicast || message.is_reply() {
            return true;
        }
        match self.multicast.iter_mut().find(|(sent, _)| sent == message) {
            Some((_, receivers)) => !receivers.insert(to),
            None => {
                self.multicast.push((message.clone(), NodeSet::from_iter([to])));
                true
            }
        }
    }

    /// Sends a message that may be lost, or that somebody wants to know of. Gives its slot, if it
    /// will arrive.
    #[inline(never)]
    pub(crate) fn send_slowly(
        &mut self,
        from: NodeId,
        to: NodeId,
        message: P::Message,
    ) -> Option<SlotId> {
        let kind = message.name();
        if self.counts(to, &message) {
            self.kinds.count(kind);
        }
        let fate = match self.network.takes() {
            Some(latency) => Fate { arrival: Some(self.now + latency), again: None },
            None => self.network.carry(self.now, from, to, kind),
        };
        self.hash_send(to, &message, fate);
        if let Some(decisions) = &mut self.decisions {
            decisions.message(self.now, from, to, kind, fate);
        }
        if let Some(story) = &mut self.story {
            story.sends(to, &message, fate);
        }
        if let Some(recorder) = &mut self.recorder {
            let again = fate.again.into_iter().collect();
            let erased = match self.asked {
                Some(_) => erase_briefly(&message),
                None => erase_message(&message),
            };
            let number = recorder.sends(to, erased, fate.arrival, again);
            if let Some(asked) = &mut self.asked {
                asked.sent(number, &message);
            }
        }
        if let Some(again) = fate.again {
            self.schedule_message(again, from, to, message.clone());
        }
        Some(self.schedule_message(fate.arrival?, from, to, message))
    }

    fn schedule_message(
        &mut self,
        arrival: Ticks,
        from: NodeId,
        to: NodeId,
        message: P::Message,
    ) -> SlotId {
        let event = Event::Message { from, message };
        let slot = self.wheel.schedule(arrival, Lane::Message, to, event);
        self.stamps.sent(self.users.causality(), slot, from);
        slot
    }
}

#[cfg(test)]
mod tests {
    use crate::plan::{Fault, Options, Plan};
    use crate::runnable::Runnable;
    use crate::toys::{crier, desk, ears};
    use crate::trace::Record;
    use crate::{Ending, Patience};
    use conclave_core::{NodeId, Property, Story, Ticks};
    use std::time::Instant;

    /// Four nodes that are told of every one of many cuts, as long as somebody waits for it.
    fn cuts_that_happened(deadline: Option<Instant>) -> (usize, Ending) {
        let groups = vec![vec![NodeId(0)], vec![NodeId(1)]];
        let cut = Fault::Partition { groups, until: Fault::NEVER };
        let faults = (0..500).map(|at| (Ticks(at), cut.clone())).collect();
        let options = Options { trace: true, deadline, ..Options::default() };
        let plan = Plan { faults, ..Plan::default() };
        let outcome = ears(4).run(&plan, &options).expect("the plan is sound");
        let cuts = outcome.records.iter().filter(|it| matches!(it, Record::Partition { .. }));
        (cuts.count(), outcome.ending)
    }

    #[test]
    fn faults_are_broken_off_too_when_nobody_waits_any_longer() {
        assert_eq!(cuts_that_happened(None).0, 500);
        assert_eq!(cuts_that_happened(Some(Instant::now())), (0, Ending::CutShort));
    }

    #[test]
    fn a_run_that_takes_too_much_to_write_down_is_cut_short() {
        let written = |bytes_max| {
            let plan = Plan { rounds: 100, ..Plan::default() };
            let options = Options { trace: true, bytes_max, ..Options::default() };
            let outcome = desk(3).run(&plan, &options).expect("the plan is sound");
            (outcome.records.len(), outcome.ending)
        };
        let (all, ending) = written(None);
        assert_eq!((written(Some(usize::MAX)), ending), ((all, Ending::Quiet), Ending::Quiet));
        let (some, ending) = written(Some(200_000));
        assert!(some > 10 && some < all / 2, "{some} of {all}");
        assert_eq!(ending, Ending::CutShort);
    }

    #[test]
    fn nothing_is_run_again_for_somebody_who_does_not_wait() {
        let options = Options { trace: true, ..Options::default() };
        let outcome = desk(3).run(&Plan::default(), &options).expect("the plan is sound");
        let mut trace = crate::trace::testkit::hand_made();
        trace.records = outcome.records;
        assert!(desk(3).verify(&trace).is_ok_and(|steps| steps > 9));
        let gone = Patience::until(Instant::now());
        let difference = desk(3).verify_within(gone, &trace).expect_err("nobody waits");
        assert_eq!((difference.line, difference.what.contains("too long")), (2, true));
        let moment = r#"{"property":"S1","moments":[{"move":"acquire","node":1}],"stem":null,
            "shortest":true}"#;
        let story: Story = serde_json::from_str(moment).expect("a story");
        assert_eq!(story.property, Property::S1);
        assert!(desk(3).follow(&story).is_ok());
        let refused = desk(3).follow_within(gone, &story).expect_err("nobody waits");
        assert!(refused.to_string().contains("too long"), "{refused}");
    }

    #[test]
    fn a_multicast_is_the_same_message_to_several() {
        let messages = |said: &[(u32, u32)], multicast| {
            let plan = Plan { multicast, ..Plan::default() };
            let outcome = crier(4, said).run(&plan, &Options::default());
            outcome.expect("the plan is sound").messages
        };
        let to_all = [(1, 7), (2, 7), (3, 7)];
        assert_eq!((messages(&to_all, false), messages(&to_all, true)), (3, 1));
        let each_its_own = [(1, 7), (2, 8), (3, 7)];
        assert_eq!((messages(&each_its_own, false), messages(&each_its_own, true)), (3, 2));
        let twice = [(1, 7), (2, 7), (1, 7)];
        assert_eq!((messages(&twice, false), messages(&twice, true)), (3, 2));
    }
}
