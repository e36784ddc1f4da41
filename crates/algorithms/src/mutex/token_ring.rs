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
            Event::Restart if self.holding => self.leave(ctx),
            Event::Restart => {}
            Event::Request(Request::Acquire) => self.on_acquire(ctx),
            Event::Message { message: Message::Token { fence, hop, owed }, .. } => {
                self.on_token(fence, hop, owed, ctx);
            }
            Event::Timer(Timer::Departure) if self.is_idle_here() => self.pass_on(ctx),
            Event::Timer(Timer::Departure) => {} // The token is wanted after all, or gone.
            Event::Request(Request::Release) => self.on_release(ctx),
            Event::Message { message: Message::Wake { hop }, .. } => self.on_wake(hop, ctx),
            Event::Request(Request::Cancel) => self.on_cancel(),
            Event::Request(Request::Observe(_)) => {} // No clock to advance.
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
        (self.hop, self.holding) = (self.n.into(), true);
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
            self.enter(ctx);
        } else {
            self.call(self.hop + u64::from(self.n), ctx);
        }
    }

    fn on_token(&mut self, fence: u64, hop: u64, owed: u32, ctx: &mut Context<Self>) {
        if hop <= self.hop {
            return; // A copy of a token that was here already: A1 is broken, but not S1.
        }
        (self.holding, self.hop, self.fence) = (true, hop, fence);
        if let Idle::Park { called } = &mut self.idle {
            *called = (*called).max(hop + u64::from(owed));
        }
        match self.phase {
            Phase::Waiting => self.enter(ctx),
            Phase::Idle => self.rest(ctx),
            Phase::Inside => {} // Inside with a token already: only a broken A1 brings a second.
        }
    }

    fn on_release(&mut self, ctx: &mut Context<Self>) {
        assert_eq!(self.phase, Phase::Inside, "released without entering");
        self.phase = Phase::Idle;
        self.leave(ctx);
    }

    fn on_wake(&mut self, hop: u64, ctx: &mut Context<Self>) {
        if hop <= self.hop {
            return; // The token has been there since: late.
        }
        self.call(hop, ctx);
        if self.is_idle_here() {
            self.rest(ctx);
        }
    }

    fn on_cancel(&mut self) {
        assert_eq!(self.phase, Phase::Waiting, "cancelled without waiting");
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
            Idle::Circulate { .. } => self.pass_on(ctx),
            Idle::Park { .. } => self.rest(ctx),
        }
    }

    /// What becomes of a token that nobody wants here.
    fn rest(&mut self, ctx: &mut Context<Self>) {
        match self.idle {
            Idle::Circulate { hold: Ticks::ZERO } => self.pass_on(ctx),
            Idle::Circulate { hold } => ctx.set_timer(Timer::Departure, Delay::exactly(hold)),
            Idle::Park { called } if called > self.hop => self.pass_on(ctx),
            Idle::Park { .. } => {}
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
            return; // A token that circulates comes uncalled.
        };
        if hop <= *called {
            return; // An earlier call went through here and leads the token at least as far.
        }
        *called = hop;
        // Until it has come here again, the token is ahead; so is a hop up to that one. A later
        // hop is one that the token makes after its next visit here, where it finds the mark.
        if !self.holding && hop <= self.hop + u64::from(self.n) {
            ctx.send(self.me.successor(self.n), Message::Wake { hop });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use conclave_core::Effect;
    use conclave_core::testkit::{message, run, send};

    const _: () = assert!(size_of::<TokenRing>() <= 48 && size_of::<Event<TokenRing>>() <= 32);
    const ACQUIRE: Event<TokenRing> = Event::Request(Request::Acquire);
    const RELEASE: Event<TokenRing> = Event::Request(Request::Release);
    const CANCEL: Event<TokenRing> = Event::Request(Request::Cancel);

    fn node(me: u32, idle: Idle) -> TokenRing {
        TokenRing::new(NodeId(me), 3, idle)
    }
    fn token(fence: u64, hop: u64, owed: u32) -> Message {
        Message::Token { fence, hop, owed }
    }
    fn entered(fence: u64) -> Effect<TokenRing> {
        Effect::Indicate(Indication::Entered { fence })
    }
    fn departure(after: Ticks) -> Effect<TokenRing> {
        Effect::SetTimer { timer: Timer::Departure, after: Delay::exactly(after) }
    }

    #[test]
    fn who_asks_in_the_moment_of_the_start_finds_the_token_at_the_first_node() {
        let mut first = node(0, Idle::CIRCULATE);
        assert_eq!(run(&mut first, Event::Start), [departure(Ticks(1))]);
        let effects = run(&mut first, ACQUIRE);
        assert_eq!(effects, [Effect::CancelTimer(Timer::Departure), entered(1)]);
        assert_eq!(run(&mut first, RELEASE), [send(1, token(1, 4, 0))]);
    }

    #[test]
    fn the_last_node_hands_an_unwanted_token_to_the_first() {
        let mut last = node(2, Idle::CIRCULATE);
        assert_eq!(run(&mut last, message(1, token(0, 5, 0))), [send(0, token(0, 6, 0))]);
        assert_eq!(run(&mut last, message(1, token(0, 5, 0))), [], "a copy is not passed on");
    }

    #[test]
    fn who_waits_keeps_the_token_until_the_release_and_then_passes_it_always() {
        let mut ring = node(1, Idle::CIRCULATE);
        assert_eq!(run(&mut ring, ACQUIRE), []);
        assert_eq!(run(&mut ring, message(0, token(8, 4, 0))), [entered(9)]);
        assert_eq!(run(&mut ring, RELEASE), [send(2, token(9, 5, 0))]);
        assert_eq!(run(&mut ring, ACQUIRE), [], "the same node has to wait for the next lap");
    }

    #[test]
    fn a_token_held_idle_lets_in_at_once_or_departs() {
        let hold = Ticks::units(2);
        let mut ring = node(1, Idle::Circulate { hold });
        assert_eq!(run(&mut ring, message(0, token(0, 4, 0))), [departure(hold)]);
        let effects = run(&mut ring.clone(), ACQUIRE);
        assert_eq!(effects, [Effect::CancelTimer(Timer::Departure), entered(1)]);
        let effects = run(&mut ring, Event::Timer(Timer::Departure));
        assert_eq!(effects, [send(2, token(0, 5, 0))]);
    }

    #[test]
    fn a_withdrawn_wish_lets_the_token_pass() {
        let mut ring = node(1, Idle::CIRCULATE);
        assert_eq!([run(&mut ring, ACQUIRE), run(&mut ring, CANCEL)], [[], []]);
        assert_eq!(run(&mut ring, message(0, token(0, 4, 0))), [send(2, token(0, 5, 0))]);
    }

    #[test]
    fn alone_the_token_never_leaves() {
        for idle in [Idle::CIRCULATE, Idle::PARK] {
            let mut alone = TokenRing::new(NodeId(0), 1, idle);
            assert_eq!(run(&mut alone, Event::Start), []);
            for fence in 1..3 {
                assert_eq!(run(&mut alone, ACQUIRE), [entered(fence)]);
                assert_eq!(run(&mut alone, RELEASE), []);
            }
        }
    }

    #[test]
    fn a_parked_token_rests_until_woken_and_goes_just_as_far_as_it_was_called() {
        let mut first = node(0, Idle::PARK);
        assert_eq!(run(&mut first, Event::Start), []);
        let mut third = node(2, Idle::PARK);
        assert_eq!(run(&mut third, ACQUIRE), [send(0, Message::Wake { hop: 5 })]);
        let wake = message(2, Message::Wake { hop: 5 });
        assert_eq!(run(&mut first, wake.clone()), [send(1, token(0, 4, 1))]);
        assert_eq!(run(&mut first, wake), [], "the token is already on its way there");
        let mut second = node(1, Idle::PARK);
        assert_eq!(run(&mut second, message(0, token(0, 4, 1))), [send(2, token(0, 5, 0))]);
        assert_eq!(run(&mut third, message(1, token(0, 5, 0))), [entered(1)]);
        assert_eq!(run(&mut third, RELEASE), [], "nobody else called");
        assert_eq!(run(&mut third, ACQUIRE), [entered(2)]);
    }

    #[test]
    fn a_wake_is_carried_on_only_if_none_led_as_far() {
        let mut ring = node(2, Idle::PARK);
        let wake = message(1, Message::Wake { hop: 4 });
        assert_eq!(run(&mut ring, wake.clone()), [send(0, Message::Wake { hop: 4 })]);
        assert_eq!(run(&mut ring, wake), []);
        assert_eq!(run(&mut ring, ACQUIRE), [send(0, Message::Wake { hop: 5 })]);
        run(&mut ring, CANCEL);
        assert_eq!(run(&mut ring, ACQUIRE), [], "the first call is still out");
        run(&mut ring, message(1, token(0, 5, 0)));
        run(&mut ring, RELEASE);
        let late = message(1, Message::Wake { hop: 4 });
        assert_eq!(run(&mut ring, late), [], "the token has been there since");
    }

    #[test]
    fn a_wake_that_overtook_the_token_waits_for_it() {
        let mut ring = node(1, Idle::PARK); // The token is on its way here by hop 4.
        assert_eq!(run(&mut ring, message(0, Message::Wake { hop: 6 })), []);
        assert_eq!(run(&mut ring, message(0, token(0, 4, 0))), [send(2, token(0, 5, 1))]);
    }

    #[test]
    fn a_restarted_node_passes_on_what_it_held_and_mints_nothing() {
        let mut ring = node(1, Idle::CIRCULATE);
        run(&mut ring, ACQUIRE);
        run(&mut ring, message(0, token(0, 4, 0)));
        let Recovery::State(mut kept) = ring.after_crash() else { panic!("the disk is kept") };
        assert_eq!(run(&mut kept, Event::Restart), [send(2, token(1, 5, 0))]);
        assert_eq!(run(&mut node(0, Idle::CIRCULATE), Event::Restart), []);
    }
}
