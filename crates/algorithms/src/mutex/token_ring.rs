//! Token ring mutual exclusion: one token goes round, and to hold it is to be let in.
//!
//! Source: G. Le Lann, "Distributed systems: towards a formal approach", IFIP Congress 1977.
//! Assumes: A1 every message arrives exactly once; A2 no crash loses the token; A3 who enters also
//! leaves.
//!
//! | message | from, to        | sent when                              | carries                |
//! |---------|-----------------|----------------------------------------|------------------------|
//! | `TOKEN` | node, successor | it is not wanted here, and on release  | fence, hops, hops owed |
//! | `WAKE`  | node, successor | a node asks while the token rests afar | the hop it waits for   |
//!
//! Rules: R1 the first node mints the token, once. R2 a node enters when it wants to and has the
//! token. R3 who leaves passes the token on to its successor, even if it wants in again. R4 a token
//! that is not wanted goes on to the successor, at once or after its idle hold. R5 where idle
//! tokens rest, it goes on only if somebody ahead has called for it with `WAKE`.
//!
//! `WAKE` exists only where idle tokens rest (`Idle::Park`). Hops are numbered and every lap visits
//! every node once: whoever was last visited at hop h waits for hop h + n, and says so. A `WAKE`
//! follows the token and ends where the token is, where that hop has been already, where an earlier
//! one led at least as far, or at a node that the token has yet to reach. In that case it overtook
//! the token, which finds the mark it leaves.
//!
//! At `Start` the token rests for its idle hold, but at least for one tick: so whoever asks in the
//! very moment of the start finds it at the first node, as the textbooks draw it.
//! A withdrawn wish leaves no trace but a `WAKE` already sent, which a new wish need not repeat.
//!
//! Misprint: lecture notes 002 run the task whenever the token arrives, wanted or not. Nobody can
//! be let in who did not ask, so the text as printed is shown as a token that stays everywhere for
//! the time of one task ([`TASK`]).
//!
//! Has: mutual exclusion; no starvation; while it circulates, at most n-1 others enter first.
//! Lacks: request order; silence when idle, unless parked; any tolerance of loss or crashes.
//! Cost: 1 message per entry when all want in, without bound when nobody does; parked, at most n.

mod normal;
mod why;

pub use normal::normal;
pub use why::WHY;

use super::why::NO_CLOCK;
use conclave_core::mutex::{Indication, Mutex, Request};
use conclave_core::{Context, Delay, Event, Named, Never, NodeId, Process, Recovery, Ticks};
use serde::{Deserialize, Serialize};

/// How long a task takes that nobody asked for: one critical section of the standard setting.
pub const TASK: Ticks = Ticks::units(10);

/// What goes round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Message {
    /// The right to enter. That there is only one is the whole algorithm.
    Token {
        /// How many entries there have been: the fence of the latest.
        fence: u64,
        /// The number of this hop.
        hop: u64,
        /// How many more hops it has to go because somebody waits there.
        owed: u32,
    },
    /// Somebody waits for the token's hop of this number.
    Wake {
        /// The hop that reaches whoever waits.
        hop: u64,
    },
}

impl Named for Message {
    fn name(&self) -> &'static str {
        match self {
            Self::Token { .. } => "TOKEN",
            Self::Wake { .. } => "WAKE",
        }
    }
}

/// What the token does where nobody wants it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Idle {
    /// It goes on.
    Circulate {
        /// After so long.
        hold: Ticks,
    },
    /// It stays until it is called.
    Park {
        /// The furthest hop that was called for through this node; 0 at first.
        called: u64,
    },
}

impl Idle {
    /// It goes on at once.
    pub const CIRCULATE: Self = Self::Circulate { hold: Ticks::ZERO };
    /// It stays until it is called.
    pub const PARK: Self = Self::Park { called: 0 };
}

/// One node of the ring.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TokenRing {
    me: NodeId,
    n: u32,
    idle: Idle,
    /// The token's last hop to this node.
    hop: u64,
    /// The largest fence seen.
    fence: u64,
    holding: bool,
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
    /// The token has rested long enough.
    Departure,
}

impl Process for TokenRing {
    type Provides = Mutex;
    type Uses = Never; // A2: nothing below to report a crash.
    type Message = Message;
    type Timer = Timer;

    fn step(&mut self, event: Event<Self>, ctx: &mut Context<Self>) {
        match event {
            Event::Start => self.on_start(ctx),
            // What the crash cut short is over; a token held is not wanted here.
            Event::Restart if self.holding => {
                ctx.because(&why::RESTARTED, ());
                self.leave(ctx);
            }
            Event::Restart => ctx.because(&why::RESTARTED_WITHOUT, ()),
            Event::Request(Request::Acquire) => self.on_acquire(ctx),
            Event::Message { message: Message::Token { fence, hop, owed }, .. } => {
                self.on_token(fence, hop, owed, ctx);
            }
            Event::Timer(Timer::Departure) if self.is_idle_here() => {
                ctx.because(&why::RESTED, ());
                self.pass_on(ctx);
            }
            // It runs only while the token rests: who asks stops it, and nothing else moves it.
            Event::Timer(Timer::Departure) => {}
            Event::Request(Request::Release) => self.on_release(ctx),
            Event::Message { message: Message::Wake { hop }, .. } => self.on_wake(hop, ctx),
            Event::Request(Request::Cancel) => self.on_cancel(ctx),
            Event::Request(Request::Observe(_)) => ctx.because(&NO_CLOCK, ()),
        }
    }

    fn after_crash(&self) -> Recovery<Self> {
        Recovery::State(Self { phase: Phase::Idle, ..self.clone() })
    }
}

impl TokenRing {
    /// A node in its first state; the first node mints the token when it starts.
    pub fn new(me: NodeId, n: u32, idle: Idle) -> Self {
        assert!(me.0 < n, "{me} is outside a ring of {n}");
        // As if a lap had been made before the first: the token is minted by hop n.
        Self { me, n, idle, hop: me.0.into(), fence: 0, holding: false, phase: Phase::Idle }
    }

    fn on_start(&mut self, ctx: &mut Context<Self>) {
        if self.me != NodeId(0) {
            return;
        }
        ctx.because(&why::MINTED, ());
        self.hop = self.n.into();
        self.holding = true;
        if let Idle::Circulate { hold } = self.idle
            && self.n > 1
        {
            ctx.set_timer(Timer::Departure, Delay::exactly(hold.max(Ticks(1))));
        }
    }

    fn on_acquire(&mut self, ctx: &mut Context<Self>) {
        assert_eq!(self.phase, Phase::Idle, "acquired twice");
        self.phase = Phase::Waiting;
        if self.holding {
            if matches!(self.idle, Idle::Circulate { .. }) && self.n > 1 {
                ctx.cancel_timer(Timer::Departure);
            }
            ctx.because(&why::FOUND_HERE, self.fence + 1);
            self.enter(ctx);
        } else {
            self.call(self.hop + u64::from(self.n), ctx);
        }
    }

    fn on_token(&mut self, fence: u64, hop: u64, owed: u32, ctx: &mut Context<Self>) {
        if hop <= self.hop {
            // A copy of a token that was here already: A1 is broken, but not S1.
            return ctx.because(&why::COPY, (hop, self.hop));
        }
        self.holding = true;
        self.hop = hop;
        self.fence = fence;
        if let Idle::Park { called } = &mut self.idle {
            *called = (*called).max(hop + u64::from(owed));
        }
        match self.phase {
            Phase::Waiting => {
                ctx.because(&why::ENTERED, fence + 1);
                self.enter(ctx);
            }
            Phase::Idle => self.rest(ctx),
            // Inside with a token already: only a broken A1 brings a second.
            Phase::Inside => ctx.because(&why::SECOND_TOKEN, ()),
        }
    }

    fn on_release(&mut self, ctx: &mut Context<Self>) {
        assert_eq!(self.phase, Phase::Inside, "released without entering");
        self.phase = Phase::Idle;
        self.leave(ctx);
    }

    fn on_wake(&mut self, hop: u64, ctx: &mut Context<Self>) {
        if hop <= self.hop {
            // The token has been there since: late.
            return ctx.because(&why::LATE_WAKE, (hop, self.hop));
        }
        self.call(hop, ctx);
        if self.is_idle_here() {
            self.rest(ctx);
        }
    }

    fn on_cancel(&mut self, ctx: &mut Context<Self>) {
        assert_eq!(self.phase, Phase::Waiting, "cancelled without waiting");
        ctx.because(&why::WITHDREW, ());
        self.phase = Phase::Idle;
    }

    fn enter(&mut self, ctx: &mut Context<Self>) {
        self.phase = Phase::Inside;
        self.fence += 1;
        ctx.indicate(Indication::Entered { fence: self.fence });
    }

    /// What becomes of a token after its use.
    fn leave(&mut self, ctx: &mut Context<Self>) {
        match self.idle {
            // Even if this node wants in again at once: the others would starve.
            Idle::Circulate { .. } => {
                ctx.because(&why::LEFT, self.me.successor(self.n));
                self.pass_on(ctx);
            }
            Idle::Park { .. } => self.rest(ctx),
        }
    }

    /// What becomes of a token that nobody wants here.
    fn rest(&mut self, ctx: &mut Context<Self>) {
        match self.idle {
            Idle::Circulate { hold: Ticks::ZERO } => {
                ctx.because(&why::UNWANTED, self.me.successor(self.n));
                self.pass_on(ctx);
            }
            Idle::Circulate { hold } => {
                ctx.because(&why::RESTS, ());
                ctx.set_timer(Timer::Departure, Delay::exactly(hold));
            }
            Idle::Park { called } if called > self.hop => {
                ctx.because(&why::CALLED, called);
                self.pass_on(ctx);
            }
            Idle::Park { .. } => ctx.because(&why::PARKED, ()),
        }
    }

    fn is_idle_here(&self) -> bool {
        self.holding && self.phase == Phase::Idle
    }

    fn pass_on(&mut self, ctx: &mut Context<Self>) {
        if self.n == 1 {
            return; // Alone, the token never leaves.
        }
        self.holding = false;
        let hop = self.hop + 1;
        let owed = match self.idle {
            Idle::Circulate { .. } => 0,
            Idle::Park { called } => u32::try_from(called.saturating_sub(hop)).unwrap_or(u32::MAX),
        };
        ctx.send(self.me.successor(self.n), Message::Token { fence: self.fence, hop, owed });
    }

    /// Sees to it that the token will make this hop, which lies ahead.
    fn call(&mut self, hop: u64, ctx: &mut Context<Self>) {
        let Idle::Park { called } = &mut self.idle else {
            return ctx.because(&why::COMES_UNCALLED, ()); // A token that circulates does.
        };
        if hop <= *called {
            // An earlier call went through here and leads the token at least as far.
            return ctx.because(&why::CALLED_BEFORE, (hop, *called));
        }
        *called = hop;
        // Until it has come here again, the token is ahead; so is a hop up to that one. A later
        // hop is one that the token makes after its next visit here, where it finds the mark.
        if !self.holding && hop <= self.hop + u64::from(self.n) {
            ctx.because(&why::CALLS, hop);
            ctx.send(self.me.successor(self.n), Message::Wake { hop });
        } else if !self.holding {
            ctx.because(&why::MARKED, hop);
        } else if self.phase == Phase::Inside {
            ctx.because(&why::CALLED_INSIDE, hop);
        }
    }
}

#[cfg(test)]
mod tests;
