//! A node with a logical clock: it gives every event its time, and puts the time on every message.
//!
//! | message | from, to               | sent when                        | carries                |
//! |---------|------------------------|----------------------------------|------------------------|
//! | `Tell`  | node, node             | it is asked to, or its letter is | time, number           |
//! |         |                        | due                              |                        |
//! | `Task`  | node, next or the      | it has held the task             | time, number, step     |
//! |         | application            |                                  |                        |
//!
//! The number says which of its sender's events the sending was: no clock needs it, but whoever
//! watches can tell from it what happened before what.
//!
//! How the clock moves is said by rules R1, R2 and R3 of its own file: at an event, at a receipt,
//! by itself. What the node does with it: R4 what the example wants done is done when it is due.

pub(super) mod why;

use super::example::{Example, Letter, Task};
use conclave_core::clock::{Refusal, Time};
use conclave_core::timekeeping::{Indication, Kind, Request, Timekeeping};
use conclave_core::{
    Context, Data, Delay, Event, Named, Never, NodeId, Process, Recovery, Ticks, Why, Written,
};
use serde::{Deserialize, Serialize};
use std::fmt;

/// A clock as its node keeps it.
pub trait Keeper: Data {
    /// What it reads, and what a message carries.
    type Time: Data + Into<Time> + fmt::Display;

    /// Time goes by: the clock, or the physical clock that it follows, gains so much.
    fn passes(&mut self, gain: u64);
    /// Something happens here.
    fn happens(&mut self) -> Self::Time;
    /// A message is about to leave.
    fn sends(&mut self) -> Self::Time;
    /// A message arrives. If its time is refused, the clock stays as it is.
    fn receives(&mut self, from: NodeId, time: &Self::Time) -> Result<Self::Time, Refusal>;
    /// What it reads, when nothing happens.
    fn reading(&self) -> Self::Time;

    /// Why it moves as it does when something happens or leaves, with its reading before that.
    fn why_happens(&self) -> &'static Why;
    /// Why it moves as it does when this time arrives, with that time and its reading before.
    fn why_receives(&self, time: &Self::Time) -> &'static Why;
    /// Why it moves by itself, with what it gains and its reading before.
    fn why_passes(&self) -> &'static Why;
}

/// What a clock reads, asked for only when it is written out.
struct Reading<'a, K>(&'a K);

impl<K: Keeper> fmt::Display for Reading<'_, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.reading().fmt(f)
    }
}

/// What nodes say to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the table above names what is carried")]
pub enum Message<T> {
    /// Something happened here.
    Tell { time: T, sent: u32 },
    /// This step of the task is yours; or, to the application, all are done.
    Task { time: T, sent: u32, step: u32 },
}

impl<T> Named for Message<T> {
    fn name(&self) -> &'static str {
        match self {
            Self::Tell { .. } => "TELL",
            Self::Task { .. } => "TASK",
        }
    }
}

/// How a node's clock moves by itself, and what the node does.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Setup {
    /// All nodes, the application included.
    pub nodes: u32,
    /// What they do.
    pub example: Example,
    /// How much the clock gains at each tick.
    pub gain: u64,
    /// From tick to tick.
    pub period: Ticks,
    /// How often it ticks; for ever if `None`.
    pub ticks: Option<u32>,
}

/// A node's timers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Timer {
    /// The clock moves by itself.
    Tick,
    /// The next thing that the example wants done.
    Act,
    /// What the node sent to itself has gone its way.
    Loop,
}

/// A node with a clock.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Timekeeper<K: Keeper> {
    me: NodeId,
    setup: Setup,
    clock: K,
    /// How many events it has seen.
    events: u32,
    ticks: u32,
    /// The last step of the task that it was given.
    step: Option<u32>,
    /// Whether it still holds the task.
    holds: bool,
    /// What it sent to itself, on its way.
    looped: Option<Message<K::Time>>,
}

impl<K: Keeper> Process for Timekeeper<K> {
    type Provides = Timekeeping;
    type Uses = Never; // Clocks need nobody to be alive.
    type Message = Message<K::Time>;
    type Timer = Timer;

    fn step(&mut self, event: Event<Self>, ctx: &mut Context<Self>) {
        match event {
            Event::Start | Event::Restart => self.on_start(ctx),
            Event::Request(Request::Happen) => self.on_happen(ctx),
            Event::Request(Request::Tell(to)) => self.tell(to, ctx),
            Event::Message { from, message } => self.on_message(from, message, ctx),
            Event::Timer(Timer::Tick) => self.on_tick(ctx),
            Event::Timer(Timer::Act) => self.on_act(ctx),
            Event::Timer(Timer::Loop) => self.on_loop(ctx),
        }
    }

    /// Everything: a clock that goes back breaks its promise.
    fn after_crash(&self) -> Recovery<Self> {
        Recovery::State(self.clone())
    }
}

impl<K: Keeper> Timekeeper<K> {
    /// Node `me` in its first state, with this clock.
    pub fn new(me: NodeId, setup: Setup, clock: K) -> Self {
        assert!(me.0 < setup.nodes, "{me} is outside a cluster of {}", setup.nodes);
        Self { me, setup, clock, events: 0, ticks: 0, step: None, holds: false, looped: None }
    }

    fn on_start(&mut self, ctx: &mut Context<Self>) {
        ctx.because(&why::STARTS, Written(Reading(&self.clock)));
        self.wait_for_tick(ctx);
        let submits = match &self.setup.example {
            Example::Task(task) => task.application == self.me && self.events == 0,
            Example::Exchange | Example::Letters(_) => false,
        };
        if submits {
            ctx.set_timer(Timer::Act, Delay::exactly(Task::SUBMITTED));
        }
        // After a crash: what it was about is begun again.
        if self.holds {
            ctx.set_timer(Timer::Act, Delay::exactly(Task::HOLD));
        }
        if self.looped.is_some() {
            ctx.set_timer(Timer::Loop, Delay::exactly(Task::HOP));
        }
    }

    fn on_tick(&mut self, ctx: &mut Context<Self>) {
        self.ticks = self.ticks.saturating_add(1);
        let before = Written(Reading(&self.clock));
        ctx.because(self.clock.why_passes(), (self.setup.gain, before));
        self.clock.passes(self.setup.gain);
        ctx.indicate(Indication::Ticked { time: self.clock.reading().into() });
        if self.letter().is_some() {
            ctx.set_timer(Timer::Act, Delay::exactly(Letter::AFTER));
        }
        self.wait_for_tick(ctx);
    }

    fn on_act(&mut self, ctx: &mut Context<Self>) {
        match &self.setup.example {
            Example::Task(task) => {
                ctx.because(&why::TASK_DONE, ());
                let next = self.step.map_or(0, |step| step + 1);
                let to = task.steps.get(next as usize).copied().unwrap_or(task.application);
                self.pass_on(to, next, ctx);
            }
            Example::Letters(_) => {
                // The tick at which it is due has set the timer, which rings before the next one.
                if let Some(letter) = self.letter() {
                    ctx.because(&why::LETTER_DUE, (letter.to, letter.tick));
                    self.tell(letter.to, ctx);
                }
            }
            Example::Exchange => {} // Nothing is due of itself: nobody has set the timer.
        }
    }

    fn on_happen(&mut self, ctx: &mut Context<Self>) {
        ctx.because(self.clock.why_happens(), Written(Reading(&self.clock)));
        let time = self.clock.happens();
        self.stamp(Kind::Local, time, ctx);
    }

    fn tell(&mut self, to: NodeId, ctx: &mut Context<Self>) {
        ctx.because(self.clock.why_happens(), Written(Reading(&self.clock)));
        let time = self.clock.sends();
        self.stamp(Kind::Send { to }, time.clone(), ctx);
        ctx.send(to, Message::Tell { time, sent: self.events });
    }

    /// Hands the task to whoever does this step. Handed to oneself it takes as long as to anybody
    /// else, though it crosses no network and is counted as no message.
    fn pass_on(&mut self, to: NodeId, step: u32, ctx: &mut Context<Self>) {
        if to == self.me && self.step.is_none() {
            return self.on_happen(ctx); // An empty task is answered where it began.
        }
        self.holds = false;
        ctx.because(self.clock.why_happens(), Written(Reading(&self.clock)));
        let time = self.clock.sends();
        self.stamp(Kind::Send { to }, time.clone(), ctx);
        let message = Message::Task { time, sent: self.events, step };
        if to == self.me {
            self.looped = Some(message);
            ctx.set_timer(Timer::Loop, Delay::exactly(Task::HOP));
        } else {
            ctx.send(to, message);
        }
    }

    fn on_loop(&mut self, ctx: &mut Context<Self>) {
        // The timer was set for what it hands to itself.
        if let Some(message) = self.looped.take() {
            self.on_message(self.me, message, ctx);
        }
    }

    fn on_message(&mut self, from: NodeId, message: Message<K::Time>, ctx: &mut Context<Self>) {
        if from.0 >= self.setup.nodes {
            return ctx.because(&why::STRANGER, from); // No clock has a place for it.
        }
        let (time, sent) = match &message {
            Message::Tell { time, sent } | Message::Task { time, sent, .. } => (time, *sent),
        };
        let told = (Written(time), Written(Reading(&self.clock)));
        ctx.because(self.clock.why_receives(time), told);
        match self.clock.receives(from, time) {
            Ok(time) => self.stamp(Kind::Receive { from, sent }, time, ctx),
            Err(refusal) => {
                ctx.because(why::refused(refusal), from);
                return ctx.indicate(Indication::Refused { from, why: refusal });
            }
        }
        match message {
            Message::Tell { .. } => {}
            Message::Task { step, .. } => self.on_task(step, ctx),
        }
    }

    fn on_task(&mut self, step: u32, ctx: &mut Context<Self>) {
        let Example::Task(task) = &self.setup.example else {
            return ctx.because(&why::NOT_MY_STEP, step); // Nobody here has tasks.
        };
        let mine = task.steps.get(step as usize) == Some(&self.me);
        let new = self.step.is_none_or(|last| last < step);
        // The answer, a step of somebody else, or one that came twice: there is nothing to do.
        if !mine || !new {
            ctx.because(&why::NOT_MY_STEP, step);
        } else {
            ctx.because(&why::TAKES_TASK, (step, Task::HOLD));
            self.step = Some(step);
            self.holds = true;
            ctx.set_timer(Timer::Act, Delay::exactly(Task::HOLD));
        }
    }

    fn wait_for_tick(&self, ctx: &mut Context<Self>) {
        if self.setup.ticks.is_none_or(|ticks| self.ticks < ticks) {
            ctx.set_timer(Timer::Tick, Delay::exactly(self.setup.period));
        }
    }

    fn stamp(&mut self, kind: Kind, time: K::Time, ctx: &mut Context<Self>) {
        self.events = self.events.saturating_add(1);
        ctx.indicate(Indication::Stamped { kind, time: time.into() });
    }

    /// The letter that leaves at this tick.
    fn letter(&self) -> Option<Letter> {
        let Example::Letters(letters) = &self.setup.example else { return None };
        letters.iter().copied().find(|letter| letter.from == self.me && letter.tick == self.ticks)
    }
}

#[cfg(test)]
mod tests;
