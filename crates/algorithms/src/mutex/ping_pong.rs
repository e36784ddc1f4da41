//! A token ring that notices a lost token without any clock: two tokens watch over each other.
//!
//! Source: J. Misra, "Detecting termination of distributed computations using markers", ACM
//! Symposium on Principles of Distributed Computing 1983.
//! Assumes: A1 every message arrives once or, now and then, not at all, but never are both tokens
//! lost before the first loss is noticed; A2 no crash loses a node's state; A3 who enters also
//! leaves; A4 channels are FIFO: the tokens never overtake each other but where one rests.
//!
//! | message | from, to        | sent when                             | carries               |
//! |---------|-----------------|---------------------------------------|-----------------------|
//! | `PING`  | node, successor | it is not wanted here, and on release | its number, the fence |
//! | `PONG`  | node, successor | at once when it arrives               | its number, the fence |
//!
//! Rules, beside those of the numbers below: R1 the first node mints both tokens, once. R2 a node
//! enters when it wants to and has ping. R3 who leaves passes ping on, even if it wants in again.
//! R4 a ping that is not wanted goes on, at once or after its idle hold; pong always goes on.
//!
//! Only ping lets anybody in. Its number is above zero, pong's is the same below; each node keeps
//! m, the number that last left it. When a token with number x arrives:
//! (a) the other is here too: they meet, and both numbers grow by one, away from zero;
//! (b) else, m = x: it went round without meeting the other, which has not passed here either, so
//!     the other is lost: x grows and the other is made anew as -x;
//! (c) else nothing: the other has passed here in between.
//! A new ping needs the fence of the lost one, so pong collects the largest on its way: ping was
//! ahead of it all the lap, so every entry was made at a node that pong came to afterwards.
//!
//! Has: mutual exclusion; no starvation (at most n-1 others enter first), lost tokens or not.
//! Lacks: request order; silence; any tolerance of duplicates, or of losing both tokens at once.
//! Cost: as the ring's, and one message per message time for pong.

mod normal;
mod why;

pub use normal::normal;
pub use why::WHY;

use super::why::NO_CLOCK;
use conclave_core::mutex::{Indication, Mutex, Request};
use conclave_core::{Context, Delay, Event, Named, Never, NodeId, Process, Recovery, Ticks};
use serde::{Deserialize, Serialize};

/// What goes round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Message {
    /// The right to enter.
    Ping {
        /// Its number, above zero.
        number: i64,
        /// How many entries there have been: the fence of the latest.
        fence: u64,
    },
    /// The one that watches over ping, and is watched over by it.
    Pong {
        /// Its number, below zero.
        number: i64,
        /// The largest fence it found.
        fence: u64,
    },
}

impl Named for Message {
    fn name(&self) -> &'static str {
        match self {
            Self::Ping { .. } => "PING",
            Self::Pong { .. } => "PONG",
        }
    }
}

/// One node of the ring.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PingPong {
    me: NodeId,
    n: u32,
    /// How long ping rests where nobody wants it.
    hold: Ticks,
    /// The number of the token that left last; 0 at first.
    m: i64,
    /// Ping's number while it is here, else 0.
    ping: i64,
    /// The largest fence seen.
    fence: u64,
    phase: Phase,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Phase {
    Idle,
    Waiting,
    Inside,
}

/// What a node may wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Timer {
    /// Ping has rested long enough.
    Departure,
}

impl Process for PingPong {
    type Provides = Mutex;
    type Uses = Never; // A2: nothing below to report a crash.
    type Message = Message;
    type Timer = Timer;

    fn step(&mut self, event: Event<Self>, ctx: &mut Context<Self>) {
        match event {
            Event::Start => self.on_start(ctx),
            Event::Restart => self.on_restart(ctx),
            Event::Request(Request::Acquire) => self.on_acquire(ctx),
            Event::Message { message: Message::Ping { number, fence }, .. } => {
                self.on_ping(number, fence, ctx);
            }
            Event::Message { message: Message::Pong { number, fence }, .. } => {
                self.on_pong(number, fence, ctx);
            }
            Event::Timer(Timer::Departure) => self.on_departure(ctx),
            Event::Request(Request::Release) => self.on_release(ctx),
            Event::Request(Request::Cancel) => self.on_cancel(ctx),
            Event::Request(Request::Observe(_)) => ctx.because(&NO_CLOCK, ()),
        }
    }

    fn after_crash(&self) -> Recovery<Self> {
        Recovery::State(Self { phase: Phase::Idle, ..self.clone() })
    }
}

impl PingPong {
    /// A node in its first state; the first node mints both tokens when it starts.
    pub fn new(me: NodeId, n: u32, hold: Ticks) -> Self {
        assert!(me.0 < n, "{me} is outside a ring of {n}");
        Self { me, n, hold, m: 0, ping: 0, fence: 0, phase: Phase::Idle }
    }

    fn on_start(&mut self, ctx: &mut Context<Self>) {
        if self.me != NodeId(0) {
            return;
        }
        ctx.because(&why::MINTED, ());
        self.ping = 1;
        if self.n > 1 {
            self.pass_pong(-1, ctx);
            // At least a tick, so that who asks in the moment of the start finds ping here.
            ctx.set_timer(Timer::Departure, Delay::exactly(self.hold.max(Ticks(1))));
        }
    }

    /// The wish or the visit that the crash cut short is over; a ping held is not wanted here.
    fn on_restart(&mut self, ctx: &mut Context<Self>) {
        if self.ping > 0 {
            ctx.because(&why::RESTARTED, ());
            self.pass_ping(ctx);
        } else {
            ctx.because(&why::RESTARTED_WITHOUT, ());
        }
    }

    fn on_acquire(&mut self, ctx: &mut Context<Self>) {
        assert_eq!(self.phase, Phase::Idle, "acquired twice");
        self.phase = Phase::Waiting;
        if self.ping == 0 {
            return ctx.because(&why::COMES_BY, ());
        }
        if self.n > 1 {
            ctx.cancel_timer(Timer::Departure);
        }
        ctx.because(&why::FOUND_HERE, ());
        self.enter(ctx);
    }

    fn on_ping(&mut self, number: i64, fence: u64, ctx: &mut Context<Self>) {
        if self.ping > 0 {
            return ctx.because(&why::COPY, ()); // There is a ping here already (A1).
        }
        self.fence = self.fence.max(fence);
        self.ping = number;
        // Rule (a) never shows here: pong leaves in the step in which it arrives.
        if self.m == number {
            ctx.because(&why::PONG_LOST, number.unsigned_abs());
            self.ping += 1; // Rule (b).
            self.pass_pong(-self.ping, ctx);
        }
        self.use_or_rest(ctx);
    }

    fn on_pong(&mut self, number: i64, fence: u64, ctx: &mut Context<Self>) {
        self.fence = self.fence.max(fence);
        if self.ping > 0 {
            ctx.because(&why::MET, ());
            self.ping = self.ping.max(-number) + 1; // Rule (a), which comes first.
            self.pass_pong(-self.ping, ctx);
        } else if self.m == number {
            ctx.because(&why::PING_LOST, number.unsigned_abs());
            self.ping = 1 - number; // Rule (b).
            self.pass_pong(-self.ping, ctx);
            self.use_or_rest(ctx);
        } else {
            ctx.because(&why::PASSED_PONG, ());
            self.pass_pong(number, ctx);
        }
    }

    fn on_departure(&mut self, ctx: &mut Context<Self>) {
        // It runs only while ping rests: who asks stops it, and nothing else takes ping away.
        if self.ping > 0 && self.phase == Phase::Idle {
            ctx.because(&why::RESTED, ());
            self.pass_ping(ctx);
        }
    }

    fn on_release(&mut self, ctx: &mut Context<Self>) {
        assert_eq!(self.phase, Phase::Inside, "released without entering");
        self.phase = Phase::Idle;
        ctx.because(&why::LEFT, self.me.successor(self.n));
        self.pass_ping(ctx); // Even if this node wants in again: the others would starve.
    }

    fn on_cancel(&mut self, ctx: &mut Context<Self>) {
        assert_eq!(self.phase, Phase::Waiting, "cancelled without waiting");
        ctx.because(&why::WITHDREW, ());
        self.phase = Phase::Idle;
    }

    fn use_or_rest(&mut self, ctx: &mut Context<Self>) {
        match self.phase {
            Phase::Waiting => {
                ctx.because(&why::ENTERED, ());
                self.enter(ctx);
            }
            Phase::Idle => self.rest(ctx),
            Phase::Inside => {} // Only with a ping, and there was none: it cannot be.
        }
    }

    fn enter(&mut self, ctx: &mut Context<Self>) {
        self.phase = Phase::Inside;
        self.fence += 1;
        ctx.indicate(Indication::Entered { fence: self.fence });
    }

    fn rest(&mut self, ctx: &mut Context<Self>) {
        if self.hold == Ticks::ZERO {
            ctx.because(&why::UNWANTED, self.me.successor(self.n));
            self.pass_ping(ctx);
        } else {
            ctx.because(&why::RESTS, ());
            ctx.set_timer(Timer::Departure, Delay::exactly(self.hold));
        }
    }

    fn pass_ping(&mut self, ctx: &mut Context<Self>) {
        if self.n == 1 {
            return; // Alone, ping never leaves.
        }
        let number = std::mem::take(&mut self.ping);
        self.m = number; // On departure: on arrival it would cry wolf.
        ctx.send(self.me.successor(self.n), Message::Ping { number, fence: self.fence });
    }

    fn pass_pong(&mut self, number: i64, ctx: &mut Context<Self>) {
        self.m = number;
        ctx.send(self.me.successor(self.n), Message::Pong { number, fence: self.fence });
    }
}

#[cfg(test)]
mod tests;
