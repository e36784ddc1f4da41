//! One run: takes events from the wheel, gives them to the nodes, carries out what they want.

use crate::application::Application;
use crate::causes::{Causes, Wave};
use crate::decisions::Decisions;
use crate::error::Error;
use crate::metrics::{Kinds, same};
use crate::network::{Fate, Network};
use crate::oracle::Soothsayer;
use crate::outcome::{Ending, Outcome};
use crate::plan::{Options, Plan};
use crate::random::Stream;
use crate::story::Story;
use crate::timers::Timers;
use crate::wheel::{Due, Lane, SlotId, Wheel};
use crate::world::{Happening, Timetable};
use conclave_core::clock::Vector;
use conclave_core::mutex::{Indication, Monitor, Mutex, Request};
use conclave_core::{
    Choices, Cluster, Context, Delay, Effect, Event, Hasher, Named, NodeId, Oracle, Process,
    Recovery, Ticks, encode,
};
use std::collections::{BTreeMap, VecDeque};

/// A wait longer than this at the end of a run that was cut short counts as endless.
const PATIENCE: Ticks = Ticks::units(1_000);

/// A run in progress.
pub(crate) struct Simulation<'a, P: Process> {
    pub cluster: &'a Cluster<P>,
    pub plan: &'a Plan,
    pub now: Ticks,
    pub nodes: Vec<P>,
    pub up: Vec<Status>,
    pub monitor: Monitor,
    pub application: Application,
    pub network: Network,
    pub timetable: Timetable,
    pub oracle: Soothsayer,
    pub story: Option<Story>,
    pub disks: BTreeMap<NodeId, Recovery<P>>,
    /// What waits for a paused node.
    pub backlog: BTreeMap<NodeId, Vec<Late<P>>>,
    pub wheel: Wheel<Event<P>>,
    pub events: u64,
    pub kinds: Kinds,
    pub decisions: Option<Decisions>,
    /// Whether somebody keeps what is sent.
    watched: bool,
    ctx: Context<P>,
    effects: VecDeque<Effect<P>>,
    /// The kinds that the step under way has sent, where a multicast counts as one message.
    multicast: Vec<&'static str>,
    pub timers: Timers<P::Timer>,
    timer_random: Stream,
    pub causes: Causes,
    hash: Option<(Hasher, Vec<u8>)>,
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
    pub wave: Option<Wave>,
    pub stamp: Option<Vector>,
}

impl<'a, P> Simulation<'a, P>
where
    P: Process<Provides = Mutex>,
    P::Uses: Oracle,
{
    pub fn new(cluster: &'a Cluster<P>, plan: &'a Plan, options: &Options) -> Result<Self, Error> {
        crate::check::plan(cluster, plan)?;
        let n = cluster.nodes();
        let monitor = monitor(n, options);
        let mut choices = Stream::new(plan.seed, 2);
        let mut wheel = Wheel::new(rank::<P>);
        if options.shape {
            wheel.record();
        }
        let draw = move |bound: u32| choices.below(u64::from(bound)) as u32;
        Ok(Self {
            cluster,
            plan,
            now: Ticks::ZERO,
            nodes: (0..n).map(|node| (cluster.fresh)(NodeId(node))).collect(),
            up: vec![Status::Up; n as usize],
            monitor,
            application: Application::new(plan, cluster.clients),
            network: Network::new(plan),
            timetable: Timetable::new(plan),
            oracle: Soothsayer::new::<P>(cluster),
            story: options.story.then(Story::default),
            disks: BTreeMap::new(),
            backlog: BTreeMap::new(),
            wheel,
            events: 0,
            kinds: Kinds::default(),
            decisions: options.decisions.then(Decisions::default),
            watched: options.story || options.decisions,
            ctx: Context::new(Choices::Drawn(Box::new(draw))),
            effects: VecDeque::new(),
            multicast: Vec::new(),
            timers: Timers::new(),
            timer_random: Stream::new(plan.seed, 3),
            causes: Causes::new(options, n),
            hash: options.hash.then(|| (Hasher::default(), Vec::new())),
        })
    }

    /// Starts every node that is not dead from the beginning, and lays out the workload.
    pub fn start(&mut self) {
        for &node in &self.plan.dead {
            self.up[node.index()] = Status::Down;
            self.application.node_down(node);
        }
        for node in (0..self.cluster.nodes()).map(NodeId) {
            if self.up[node.index()] == Status::Up {
                self.step(node, None, Event::Start);
            }
        }
        self.consult_oracle();
        self.begin_workload();
    }

    /// Runs until nothing more can happen, or the last request of a restless algorithm has left,
    /// or time is up.
    pub fn run_to_end(&mut self) -> Ending {
        loop {
            while self.timetable.next_time() <= self.now {
                self.happen();
            }
            if !self.cluster.silent && self.is_done() {
                return Ending::Done;
            }
            let limit = self.timetable.next_time().min(self.plan.until + Ticks(1));
            match self.wheel.pop_before(limit) {
                Some(due) => self.take(due),
                None if limit > self.plan.until => {
                    let quiet = self.wheel.is_empty() && self.timetable.is_empty();
                    return if quiet { Ending::Quiet } else { Ending::CutShort };
                }
                None => self.now = limit,
            }
        }
    }

    pub fn finish(mut self, ending: Ending) -> Outcome {
        let end = if ending == Ending::CutShort { self.plan.until } else { self.now };
        self.monitor.end(end, ending != Ending::CutShort, PATIENCE);
        let hash = self.hash.take().map(|(hasher, _)| hasher.finish());
        Outcome::of(self, ending, end, hash)
    }

    fn is_done(&self) -> bool {
        let served = self.monitor.waiting() == 0 && self.monitor.inside() == 0;
        served && self.application.is_done() && !self.timetable.brings_anybody_back()
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
    fn take(&mut self, due: Due<Event<P>>) {
        self.now = due.at;
        match self.up[due.node.index()] {
            Status::Up => self.deliver(due.node, due.slot, due.item),
            Status::Down => self.lose(due.node, &due.item),
            Status::Paused => {
                if let Event::Timer(timer) = due.item {
                    self.timers.hold(due.node, timer);
                }
                let wave = self.causes.wave(due.slot, &due.item);
                let stamp = self.causes.stamp(due.slot, &due.item).cloned();
                let late = Late { event: due.item, wave, stamp };
                self.backlog.entry(due.node).or_default().push(late);
            }
        }
    }

    /// Gives a node an event that was scheduled for it.
    #[inline(always)]
    fn deliver(&mut self, node: NodeId, slot: SlotId, event: Event<P>) {
        if let Some(stamp) = self.causes.stamp(slot, &event)
            && let Some(causality) = self.monitor.causality()
        {
            causality.received(node, stamp);
        }
        let wave = self.causes.wave(slot, &event);
        self.hand_over(node, wave, event);
    }

    /// Gives a node an event that has waited for it.
    pub fn deliver_late(&mut self, node: NodeId, late: Late<P>) {
        if let (Some(stamp), Some(causality)) = (&late.stamp, self.monitor.causality()) {
            causality.received(node, stamp);
        }
        let stopped = |timer| !self.timers.is_held(node, timer);
        if !matches!(late.event, Event::Timer(timer) if stopped(timer)) {
            self.hand_over(node, late.wave, late.event);
        }
    }

    #[inline(always)]
    fn hand_over(&mut self, node: NodeId, wave: Option<Wave>, event: Event<P>) {
        match event {
            Event::Request(request) => self.application_acts(node, request),
            Event::Timer(timer) => {
                self.timers.cancel(node, timer);
                self.step(node, wave, event);
            }
            Event::Start | Event::Restart | Event::Indication(_) | Event::Message { .. } => {
                self.step(node, wave, event);
            }
        }
    }

    /// The message, or what the application meant to do, is gone with the node.
    fn lose(&mut self, node: NodeId, event: &Event<P>) {
        match (event, &mut self.story) {
            (Event::Request(request), _) => self.application.planned_is_over(node, *request),
            (Event::Message { from, message }, Some(story)) => {
                story.lost_at_dead_node(self.now, *from, node, message.name());
            }
            (Event::Message { .. }, None)
            | (Event::Start | Event::Restart | Event::Indication(_) | Event::Timer(_), _) => {}
        }
    }

    /// One atomic action of one node, and all it leads to.
    pub fn step(&mut self, node: NodeId, wave: Option<Wave>, event: Event<P>) {
        self.events += 1;
        self.hash_step(node, &event);
        if let Some(story) = &mut self.story {
            story.begins(self.now, node, &event);
        }
        self.ctx.act(node, &mut self.nodes[node.index()], event);
        let mut effects = std::mem::take(&mut self.effects);
        self.ctx.swap(&mut effects);
        for effect in effects.drain(..) {
            match effect {
                Effect::Send { to, message } => self.send(node, to, message, wave),
                Effect::SetTimer { timer, after } => self.set_timer(node, timer, after),
                Effect::CancelTimer(timer) => self.cancel_timer(node, timer),
                Effect::Indicate(Indication::Entered { fence }) => self.entered(node, fence),
                // The oracle elects when it must; it needs no asking.
                Effect::Request(_) => {}
            }
        }
        self.effects = effects;
        self.multicast.clear();
        if let Some(story) = &mut self.story {
            story.ends();
        }
        if let Some(wave) = wave {
            self.causes.settle(&mut self.monitor, wave);
        }
    }

    /// Counts a message; of a multicast, only the first.
    fn count(&mut self, kind: &'static str) {
        if self.plan.multicast {
            if self.multicast.contains(&kind) {
                return;
            }
            self.multicast.push(kind);
        }
        self.kinds.count(kind);
    }

    /// The common case, one arrival and nobody watching, moves the message once and no more: this
    /// is the simulator's innermost loop.
    #[inline(always)]
    fn send(&mut self, from: NodeId, to: NodeId, message: P::Message, wave: Option<Wave>) {
        let kind = message.name();
        self.count(kind);
        let fate = self.network.carry(self.now, from, to, kind);
        let wave = wave.filter(|wave| wave.kind.is_none_or(|of_wave| same(of_wave, kind)));
        match fate {
            Fate { arrival: Some(arrival), again: None } if !self.watched => {
                let event = Event::Message { from, message };
                let slot = self.wheel.schedule(arrival, Lane::Message, to, event);
                self.causes.sent(&mut self.monitor, slot, from, wave);
            }
            fate => self.send_watched(from, to, message, wave, fate),
        }
    }

    #[cold]
    fn send_watched(
        &mut self,
        from: NodeId,
        to: NodeId,
        message: P::Message,
        wave: Option<Wave>,
        fate: Fate,
    ) {
        if let Some(decisions) = &mut self.decisions {
            decisions.message(self.now, from, to, message.name(), fate);
        }
        if let Some(story) = &mut self.story {
            story.sends(to, &message, fate);
        }
        for (arrival, wave) in [(fate.again, None), (fate.arrival, wave)] {
            if let Some(arrival) = arrival {
                let event = Event::Message { from, message: message.clone() };
                let slot = self.wheel.schedule(arrival, Lane::Message, to, event);
                self.causes.sent(&mut self.monitor, slot, from, wave);
            }
        }
    }

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
        self.timers.set(node, self.nodes.len(), timer, slot);
        if let Some(story) = &mut self.story {
            story.sets_timer(&timer, span);
        }
    }

    fn cancel_timer(&mut self, node: NodeId, timer: P::Timer) {
        if let Some(slot) = self.timers.cancel(node, timer) {
            self.wheel.cancel(slot);
        }
    }

    fn hash_step(&mut self, node: NodeId, event: &Event<P>) {
        if let Some((hasher, bytes)) = &mut self.hash {
            bytes.clear();
            encode(event, bytes);
            hasher.write_u64(self.now.0);
            hasher.write_u64(u64::from(node.0));
            hasher.write(bytes);
        }
    }
}

fn monitor(n: u32, options: &Options) -> Monitor {
    let mut monitor = Monitor::new(n, options.bypass_bound);
    if options.order {
        monitor.watch_order();
    }
    monitor
}

/// The application releases, then cancels, then asks.
fn rank<P: Process<Provides = Mutex>>(event: &Event<P>) -> u8 {
    match event {
        Event::Request(Request::Release) => 0,
        Event::Request(Request::Cancel) => 1,
        Event::Request(Request::Acquire | Request::Observe(_)) => 2,
        Event::Start
        | Event::Restart
        | Event::Indication(_)
        | Event::Message { .. }
        | Event::Timer(_) => 3,
    }
}
