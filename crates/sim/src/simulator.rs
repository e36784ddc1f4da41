//! The main loop of the discrete-event simulation: takes events from the wheel, gives them to the
//! nodes, carries out what they want.

use crate::asked::Asked;
use crate::decisions::Decisions;
use crate::error::Error;
use crate::metrics::Kinds;
use crate::network::Network;
use crate::observers::{Acting, choices, context};
use crate::oracle::PerfectDetector;
use crate::outcome::{Ending, Outcome};
use crate::plan::{Options, Plan};
use crate::registration::{Registration, Request};
use crate::sparse::Sparse;
use crate::story::Story;
use crate::timers::Timers;
use crate::trace::erased::erase_timer;
use crate::trace::{Record, Recorder};
use crate::vector_stamps::Stamps;
use crate::wheel::{Lane, SlotId, Wheel};
use crate::workload::{Exercised, Users};
use crate::world::{Happening, Timetable};
use conclave_core::clock::Vector;
use conclave_core::{
    Cluster, Context, Delay, Effect, Event, Hasher, Named, NodeId, NodeSet, Oracle, Process,
    Recovery, Ticks,
};
use std::time::Instant;

/// If nothing has moved for this long when a run is cut short, it is taken to have stalled.
const PATIENCE: Ticks = Ticks::units(1_000);

/// A run in progress.
pub struct Simulation<'a, P: Process<Provides: Exercised>> {
    pub(crate) cluster: &'a Cluster<P>,
    pub(crate) plan: &'a Plan,
    pub(crate) now: Ticks,
    pub(crate) nodes: Vec<P>,
    pub(crate) up: Vec<Status>,
    pub(crate) users: <P::Provides as Exercised>::Users,
    pub(crate) network: Network,
    pub(crate) timetable: Timetable,
    pub(crate) oracle: PerfectDetector,
    pub(crate) story: Option<Story>,
    pub(crate) recorder: Option<Recorder>,
    /// Its nodes, if somebody looks at them while it is written down.
    pub(crate) asked: Option<Asked<P>>,
    /// After how many records each violation was seen, where the run is written down.
    pub(crate) seen: Vec<usize>,
    pub(crate) disks: Sparse<Option<Recovery<P>>>,
    /// What waits for a paused node.
    pub(crate) backlog: Sparse<Vec<Late<P>>>,
    /// When the last pause of a paused node ends.
    pub(crate) paused_until: Sparse<Ticks>,
    pub(crate) wheel: Wheel<Event<P>>,
    pub(crate) events: u64,
    pub(crate) kinds: Kinds,
    pub(crate) decisions: Option<Decisions>,
    /// After how many events the run is cut short, if it is watched.
    pub(crate) events_max: u64,
    /// When it is cut short, by the clock on the wall.
    pub(crate) deadline: Option<Instant>,
    /// Whether it was.
    pub(crate) overrun: bool,
    /// Whether anything is kept of a step but its consequences.
    observed: bool,
    /// How many reasons there are to take the slow path with every event: nodes that are not up,
    /// and somebody who observes.
    slow_path: u32,
    pub(crate) ctx: Context<P>,
    /// What the step under way has sent to whom, where a multicast counts as one message.
    pub(crate) multicast: Vec<(P::Message, NodeSet)>,
    pub(crate) registration: Registration,
    pub(crate) timers: Timers<P::Timer>,
    /// Whose turn it is to choose.
    acting: Acting,
    pub(crate) stamps: Stamps,
    pub(crate) hash: Option<(Hasher, Vec<u8>)>,
}

/// Whether a node can do anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    Up,
    Down,
    Paused,
}

/// An event that waits for a paused node, with what was known of its causes.
pub(crate) struct Late<P: Process> {
    pub event: Event<P>,
    pub stamp: Option<Vector>,
    /// The request that has sent it, if one has.
    pub request: Option<Request>,
}

impl<'a, P: Process<Provides: Exercised, Uses: Oracle>> Simulation<'a, P> {
    pub fn new(cluster: &'a Cluster<P>, plan: &'a Plan, options: &Options) -> Result<Self, Error> {
        crate::validate::plan(cluster, plan)?;
        let recorder = options.trace.then(|| Recorder::of(options));
        let (choices, acting) = choices(plan, recorder.as_ref());
        let observed = options.watch() || plan.multicast;
        Ok(Self {
            cluster,
            plan,
            now: Ticks::ZERO,
            nodes: (0..cluster.nodes()).map(|node| (cluster.fresh)(NodeId(node))).collect(),
            up: vec![Status::Up; cluster.nodes() as usize],
            users: P::Provides::users(cluster, plan, options),
            network: Network::new(plan, cluster.play),
            timetable: Timetable::new(plan),
            oracle: PerfectDetector::new::<P>(cluster),
            story: options.story.then(Story::default),
            recorder,
            asked: Asked::new(options),
            seen: Vec::new(),
            disks: Sparse::new(),
            backlog: Sparse::new(),
            paused_until: Sparse::new(),
            wheel: wheel(options),
            events: 0,
            kinds: Kinds::default(),
            decisions: options.decisions.then(Decisions::default),
            events_max: options.events_max.unwrap_or(u64::MAX),
            deadline: options.deadline,
            overrun: false,
            observed,
            slow_path: u32::from(observed),
            ctx: context(choices, options),
            multicast: Vec::new(),
            registration: Registration::default(),
            timers: Timers::new(plan.seed),
            acting,
            stamps: Stamps::new(options),
            hash: options.hash.then(|| (Hasher::default(), Vec::new())),
        })
    }

    /// Starts every node that is not dead from the beginning, and lays out the workload.
    pub fn start(&mut self) {
        for &node in &self.plan.dead {
            self.set_status(node, Status::Down);
            self.users.absent(node);
            self.note(Record::Dead { node });
        }
        for node in (0..self.cluster.nodes()).map(NodeId) {
            if self.up[node.index()] == Status::Up {
                self.step(node, Event::Start);
            }
        }
        self.consult_oracle();
        P::Provides::begin(self);
    }

    /// Runs until nothing more can happen, or the last request of a restless algorithm has left,
    /// or time is up.
    pub fn run_to_end(&mut self) -> Ending {
        loop {
            while self.timetable.next_time() <= self.now && !self.gives_up() {
                self.happen();
            }
            let limit = self.timetable.next_time().min(self.plan.until + Ticks(1));
            if self.run_until(limit) {
                return Ending::Done;
            }
            if self.overrun {
                return Ending::CutShort;
            }
            if limit > self.plan.until {
                let quiet = self.wheel.is_empty() && self.timetable.is_empty();
                return if quiet { Ending::Quiet } else { Ending::CutShort };
            }
            self.now = limit;
        }
    }

    /// Takes all events before the limit; true if the run is over because all is done.
    fn run_until(&mut self, limit: Ticks) -> bool {
        let restless = !self.cluster.silent;
        loop {
            if restless && self.is_done() {
                return true;
            }
            match self.wheel.next_before(limit) {
                Some(slot) => self.take(slot),
                None => return false,
            }
        }
    }

    pub fn finish(mut self, ending: Ending) -> Outcome {
        let in_time = ending != Ending::CutShort || self.overrun;
        let end = if in_time { self.now } else { self.plan.until };
        self.users.end(self.cluster, end, ending != Ending::CutShort, PATIENCE);
        let hash = self.hash.take().map(|(hasher, _)| hasher.finish());
        Outcome::of(self, ending, end, hash)
    }

    fn is_done(&self) -> bool {
        self.users.is_done(self.timetable.ahead())
    }

    fn happen(&mut self) {
        let (at, happening) = self.timetable.pop().expect("something is to happen");
        self.now = self.now.max(at);
        if let Some((hasher, _)) = &mut self.hash
            && !matches!(happening, Happening::Look)
        {
            hasher.write_u64(at.0);
            hasher.write(happening.describe().as_bytes());
        }
        self.carry_out(happening);
    }

    /// A node comes or goes.
    pub(crate) fn set_status(&mut self, node: NodeId, status: Status) {
        let was = std::mem::replace(&mut self.up[node.index()], status);
        self.slow_path += u32::from(status != Status::Up);
        self.slow_path -= u32::from(was != Status::Up);
    }

    /// Takes what was found in the wheel to its node. While it is there it can be looked at without
    /// being taken apart: a message goes from the wheel into the step, and is moved only once.
    #[inline(always)]
    fn take(&mut self, slot: SlotId) {
        self.now = self.wheel.now();
        let (node, event) = self.wheel.look(slot);
        if self.slow_path > 0 {
            return self.take_slowly(node, slot);
        }
        match event {
            Event::Message { from, .. } => {
                let from = *from;
                if let Some(request) = self.registration.taken(slot) {
                    self.request_arrives(from, request);
                }
                let event = self.wheel.take(slot);
                self.step_here(node, event, false);
            }
            Event::Request(request) => {
                let request = request.clone();
                self.wheel.discard(slot);
                P::Provides::acts(self, node, request);
            }
            Event::Timer(_) | Event::Start | Event::Restart | Event::Indication(_) => {
                let event = self.wheel.take(slot);
                self.deliver(node, event);
            }
        }
    }

    /// One atomic action of one node, and all it leads to.
    pub fn step(&mut self, node: NodeId, event: Event<P>) {
        let asks = match &event {
            Event::Request(request) => <P::Provides as Exercised>::Users::follows(request),
            Event::Start
            | Event::Restart
            | Event::Indication(_)
            | Event::Message { .. }
            | Event::Timer(_) => false,
        };
        self.step_here(node, event, asks);
    }

    /// The same, without a call, for what comes by the million. `asks` says whether it is a request
    /// whose messages are followed.
    #[inline(always)]
    pub(crate) fn step_here(&mut self, node: NodeId, event: Event<P>, asks: bool) {
        if self.observed {
            self.step_observed(node, event, asks);
        } else {
            self.act::<false>(node, event, asks);
        }
    }

    #[inline(always)]
    pub(crate) fn act<const WATCHED: bool>(&mut self, node: NodeId, event: Event<P>, asks: bool) {
        self.events += 1;
        if asks {
            self.registration.begins(node);
        }
        self.acting.set(node);
        self.ctx.act(node, &mut self.nodes[node.index()], event);
        if WATCHED && (self.story.is_some() || self.asked.is_some()) {
            self.note_reasons();
        }
        while let Some(effect) = self.ctx.pop() {
            match effect {
                Effect::Send { to, message } => {
                    let slot = match self.network.takes() {
                        Some(latency) if !WATCHED => Some(self.send(node, to, message, latency)),
                        Some(_) | None => self.send_slowly(node, to, message),
                    };
                    if asks {
                        self.registration.sends(node, slot);
                    }
                }
                Effect::SetTimer { timer, after } => self.set_timer(node, timer, after),
                Effect::CancelTimer(timer) => self.stop_timer(node, timer),
                Effect::Indicate(told) => {
                    if WATCHED {
                        self.note_told(&told);
                    }
                    P::Provides::told(self, node, told);
                }
                // The oracle says what it has to say; it needs no asking.
                Effect::Request(asked) if WATCHED => self.note_asked(asked),
                Effect::Request(_) => {}
            }
        }
        if asks && self.registration.is_complete(node) {
            self.users.registered(node);
        }
    }

    /// A message that a request has sent arrives.
    #[inline]
    pub(crate) fn request_arrives(&mut self, from: NodeId, request: Request) {
        if self.registration.arrives(from, request) {
            self.users.registered(from);
        }
    }

    /// In the common case, where each message just takes its time and nobody watches, a message is
    /// moved once and no more: this is the simulator's innermost loop.
    #[inline(always)]
    fn send(&mut self, from: NodeId, to: NodeId, message: P::Message, latency: Ticks) -> SlotId {
        self.kinds.count(message.name());
        let event = Event::Message { from, message };
        self.wheel.schedule(self.now + latency, Lane::Message, to, event)
    }

    #[inline(never)]
    fn set_timer(&mut self, node: NodeId, timer: P::Timer, after: Delay) {
        self.cancel_timer(node, timer);
        let backoff = self.plan.backoffs.iter().find(|(owner, _)| *owner == node);
        let span = match backoff {
            Some(&(_, span)) if after.min < after.max => span,
            Some(_) | None => self.timers.span(node, after),
        };
        let rate = self.plan.drift.iter().find(|(owner, _)| *owner == node);
        let span = rate.map_or(span, |&(_, rate)| by_clock(span, rate));
        let slot = self.wheel.schedule(self.now + span, Lane::Timer, node, Event::Timer(timer));
        self.timers.set(node, timer, slot);
        if let Some(story) = &mut self.story {
            story.sets_timer(&timer, span);
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.sets_timer(erase_timer(&timer), after, self.now + span);
        }
    }

    #[inline(never)]
    fn stop_timer(&mut self, node: NodeId, timer: P::Timer) {
        self.cancel_timer(node, timer);
        if let Some(recorder) = &mut self.recorder {
            recorder.cancels_timer(erase_timer(&timer));
        }
    }

    fn cancel_timer(&mut self, node: NodeId, timer: P::Timer) {
        if let Some(slot) = self.timers.cancel(node, timer) {
            self.wheel.cancel(slot);
        }
    }
}

/// An empty wheel, which keeps its shape if that is wanted.
fn wheel<P: Process<Provides: Exercised>>(options: &Options) -> Wheel<Event<P>> {
    let mut wheel = Wheel::new(crate::event::rank::<P>);
    if options.shape {
        wheel.record();
    }
    wheel
}

/// How long a timer runs by a clock of this rate. However fast the clock, time goes on: a timer
/// that took none at all would fire for ever in one instant.
fn by_clock(span: Ticks, rate: f64) -> Ticks {
    let least = span.min(Ticks(1));
    Ticks((span.0 as f64 / rate).round() as u64).max(least)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timer_by_a_fast_clock_still_takes_its_time() {
        assert_eq!(by_clock(Ticks::UNIT, 2.0), Ticks(500));
        assert_eq!(by_clock(Ticks::UNIT, 2_001.0), Ticks(1));
        assert_eq!(by_clock(Ticks::ZERO, 2_001.0), Ticks::ZERO, "it was to take none");
    }
}
