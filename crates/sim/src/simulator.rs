//! One run: takes events from the wheel, gives them to the nodes, carries out what they want.

use crate::decisions::Decisions;
use crate::error::Error;
use crate::metrics::Kinds;
use crate::network::Network;
use crate::oracle::Soothsayer;
use crate::outcome::{Ending, Outcome};
use crate::plan::{Options, Plan};
use crate::random::Stream;
use crate::stamps::Stamps;
use crate::story::Story;
use crate::study::{Studied, Users};
use crate::timers::Timers;
use crate::trace::{Record, Recorder};
use crate::watch::choices;
use crate::wheel::{Lane, SlotId, Wheel};
use crate::world::{Happening, Timetable};
use conclave_core::clock::Vector;
use conclave_core::{
    Cluster, Context, Delay, Effect, Event, Hasher, Named, NodeId, Oracle, Process, Recovery, Ticks,
};
use std::collections::BTreeMap;

/// If nothing has moved for this long when a run is cut short, it is taken to have stalled.
const PATIENCE: Ticks = Ticks::units(1_000);

/// A run in progress.
pub struct Simulation<'a, P: Process<Provides: Studied>> {
    pub(crate) cluster: &'a Cluster<P>,
    pub(crate) plan: &'a Plan,
    pub(crate) now: Ticks,
    pub(crate) nodes: Vec<P>,
    pub(crate) up: Vec<Status>,
    pub(crate) users: <P::Provides as Studied>::Users,
    pub(crate) network: Network,
    pub(crate) timetable: Timetable,
    pub(crate) oracle: Soothsayer,
    pub(crate) story: Option<Story>,
    pub(crate) recorder: Option<Recorder>,
    pub(crate) disks: BTreeMap<NodeId, Recovery<P>>,
    /// What waits for a paused node.
    pub(crate) backlog: BTreeMap<NodeId, Vec<Late<P>>>,
    pub(crate) wheel: Wheel<Event<P>>,
    pub(crate) events: u64,
    pub(crate) kinds: Kinds,
    pub(crate) decisions: Option<Decisions>,
    /// Whether anything is kept of a step but its consequences.
    watched: bool,
    ctx: Context<P>,
    /// The kinds that the step under way has sent, where a multicast counts as one message.
    pub(crate) multicast: Vec<&'static str>,
    pub(crate) timers: Timers<P::Timer>,
    timer_random: Stream,
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
}

impl<'a, P: Process<Provides: Studied, Uses: Oracle>> Simulation<'a, P> {
    pub fn new(cluster: &'a Cluster<P>, plan: &'a Plan, options: &Options) -> Result<Self, Error> {
        crate::check::plan(cluster, plan)?;
        let n = cluster.nodes();
        let mut wheel = Wheel::new(crate::event::rank::<P>);
        if options.shape {
            wheel.record();
        }
        let recorder = options.trace.then(Recorder::default);
        let choices = choices(plan, recorder.as_ref());
        Ok(Self {
            cluster,
            plan,
            now: Ticks::ZERO,
            nodes: (0..n).map(|node| (cluster.fresh)(NodeId(node))).collect(),
            up: vec![Status::Up; n as usize],
            users: P::Provides::users(cluster, plan, options),
            network: Network::new(plan, cluster.play),
            timetable: Timetable::new(plan),
            oracle: Soothsayer::new::<P>(cluster),
            story: options.story.then(Story::default),
            recorder,
            disks: BTreeMap::new(),
            backlog: BTreeMap::new(),
            wheel,
            events: 0,
            kinds: Kinds::default(),
            decisions: options.decisions.then(Decisions::default),
            watched: options.watch() || plan.multicast,
            ctx: Context::new(choices),
            multicast: Vec::new(),
            timers: Timers::new(),
            timer_random: Stream::new(plan.seed, 3),
            stamps: Stamps::new(options),
            hash: options.hash.then(|| (Hasher::default(), Vec::new())),
        })
    }

    /// Starts every node that is not dead from the beginning, and lays out the workload.
    pub fn start(&mut self) {
        for &node in &self.plan.dead {
            self.up[node.index()] = Status::Down;
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
            while self.timetable.next_time() <= self.now {
                self.happen();
            }
            let limit = self.timetable.next_time().min(self.plan.until + Ticks(1));
            if self.run_until(limit) {
                return Ending::Done;
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
        let end = if ending == Ending::CutShort { self.plan.until } else { self.now };
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

    #[inline(always)]
    fn take(&mut self, slot: SlotId) {
        let due = self.wheel.take(slot);
        self.now = due.at;
        match self.up[due.node.index()] {
            Status::Up => self.deliver(due.node, due.slot, due.item),
            Status::Down => self.lose(due.node, &due.item),
            Status::Paused => {
                if let Event::Timer(timer) = due.item {
                    self.timers.hold(due.node, timer);
                }
                let stamp = self.stamps.of(due.slot, &due.item).cloned();
                let late = Late { event: due.item, stamp };
                self.backlog.entry(due.node).or_default().push(late);
            }
        }
    }

    /// Gives a node an event that was scheduled for it.
    #[inline(always)]
    fn deliver(&mut self, node: NodeId, slot: SlotId, event: Event<P>) {
        if let Some(stamp) = self.stamps.of(slot, &event)
            && let Some(causality) = self.users.causality()
        {
            causality.received(node, stamp);
        }
        self.hand_over(node, event);
    }

    /// Gives a node an event that has waited for it.
    pub(crate) fn deliver_late(&mut self, node: NodeId, late: Late<P>) {
        if let (Some(stamp), Some(causality)) = (&late.stamp, self.users.causality()) {
            causality.received(node, stamp);
        }
        let stopped = |timer| !self.timers.is_held(node, timer);
        if !matches!(late.event, Event::Timer(timer) if stopped(timer)) {
            self.hand_over(node, late.event);
        }
    }

    #[inline(always)]
    fn hand_over(&mut self, node: NodeId, event: Event<P>) {
        match event {
            Event::Message { from, ref message } => {
                self.users.message_arrives(from, message.name());
                self.step_here(node, event);
            }
            Event::Request(request) => P::Provides::acts(self, node, request),
            Event::Timer(timer) => {
                self.timers.cancel(node, timer);
                self.step(node, event);
            }
            Event::Start | Event::Restart | Event::Indication(_) => self.step(node, event),
        }
    }

    /// The message, or what the application meant to do, is gone with the node.
    fn lose(&mut self, node: NodeId, event: &Event<P>) {
        if let Some(recorder) = &mut self.recorder {
            recorder.loses(self.now, node, event);
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

    /// One atomic action of one node, and all it leads to.
    pub fn step(&mut self, node: NodeId, event: Event<P>) {
        self.step_here(node, event);
    }

    /// The same, without a call, for what comes by the million.
    #[inline(always)]
    pub(crate) fn step_here(&mut self, node: NodeId, event: Event<P>) {
        self.events += 1;
        let asks = match &event {
            Event::Request(request) => <P::Provides as Studied>::Users::follows(request),
            Event::Start
            | Event::Restart
            | Event::Indication(_)
            | Event::Message { .. }
            | Event::Timer(_) => false,
        };
        if self.watched {
            self.watch(node, &event);
        }
        self.ctx.act(node, &mut self.nodes[node.index()], event);
        while let Some(effect) = self.ctx.pop() {
            match effect {
                Effect::Send { to, message } => self.send(node, to, message, asks),
                Effect::SetTimer { timer, after } => self.set_timer(node, timer, after),
                Effect::CancelTimer(timer) => self.stop_timer(node, timer),
                Effect::Indicate(told) => {
                    if self.watched {
                        self.note_told(&told);
                    }
                    P::Provides::told(self, node, told);
                }
                // The oracle says what it has to say; it needs no asking.
                Effect::Request(asked) if self.watched => self.note_asked(asked),
                Effect::Request(_) => {}
            }
        }
        if self.watched {
            self.watched_to_end();
        }
        if asks {
            self.users.request_made(node);
        }
    }

    /// In the common case, where each message just takes its time and nobody watches, a message is
    /// moved once and no more: this is the simulator's innermost loop.
    #[inline(always)]
    fn send(&mut self, from: NodeId, to: NodeId, message: P::Message, asks: bool) {
        let kind = message.name();
        if asks {
            self.users.request_sends(from, kind);
        }
        match self.network.takes() {
            Some(latency) if !self.watched => {
                self.kinds.count(kind);
                let event = Event::Message { from, message };
                let slot = self.wheel.schedule(self.now + latency, Lane::Message, to, event);
                self.stamps.sent(self.users.causality(), slot, from);
            }
            Some(_) | None => self.send_with_care(from, to, message),
        }
    }

    /// Of a multicast, only the first message counts.
    fn counts(&mut self, kind: &'static str) -> bool {
        let first = !self.multicast.contains(&kind);
        if first && self.plan.multicast {
            self.multicast.push(kind);
        }
        first
    }

    #[inline(never)]
    fn send_with_care(&mut self, from: NodeId, to: NodeId, message: P::Message) {
        let kind = message.name();
        if self.counts(kind) {
            self.kinds.count(kind);
        }
        let fate = self.network.carry(self.now, from, to, kind);
        if let Some(decisions) = &mut self.decisions {
            decisions.message(self.now, from, to, kind, fate);
        }
        if let Some(story) = &mut self.story {
            story.sends(to, &message, fate);
        }
        if let Some(recorder) = &mut self.recorder {
            let again = fate.again.into_iter().collect();
            recorder.sends::<P>(to, &message, fate.arrival, again);
        }
        for arrival in [fate.again, fate.arrival].into_iter().flatten() {
            let event = Event::Message { from, message: message.clone() };
            let slot = self.wheel.schedule(arrival, Lane::Message, to, event);
            self.stamps.sent(self.users.causality(), slot, from);
        }
    }

    #[inline(never)]
    fn set_timer(&mut self, node: NodeId, timer: P::Timer, after: Delay) {
        self.cancel_timer(node, timer);
        let backoff = self.plan.backoffs.iter().find(|(owner, _)| *owner == node);
        let span = match backoff {
            Some(&(_, span)) if after.min < after.max => span,
            Some(_) | None => self.timer_random.delay(after),
        };
        let rate = self.plan.drift.iter().find(|(owner, _)| *owner == node);
        let span = rate.map_or(span, |(_, rate)| Ticks((span.0 as f64 / rate).round() as u64));
        let slot = self.wheel.schedule(self.now + span, Lane::Timer, node, Event::Timer(timer));
        self.timers.set(node, timer, slot);
        if let Some(story) = &mut self.story {
            story.sets_timer(&timer, span);
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.sets_timer::<P>(timer, after, self.now + span);
        }
    }

    #[inline(never)]
    fn stop_timer(&mut self, node: NodeId, timer: P::Timer) {
        self.cancel_timer(node, timer);
        if let Some(recorder) = &mut self.recorder {
            recorder.cancels_timer::<P>(timer);
        }
    }

    fn cancel_timer(&mut self, node: NodeId, timer: P::Timer) {
        if let Some(slot) = self.timers.cancel(node, timer) {
            self.wheel.cancel(slot);
        }
    }
}
