//! Heartbeats with a fixed timeout: whoever has been silent for too long is suspected.
//!
//! Source: folklore; after T. D. Chandra, S. Toueg, "Unreliable failure detectors for reliable
//! distributed systems", JACM 43(2), 1996; the measures after W. Chen, S. Toueg, M. K. Aguilera,
//! "On the quality of service of failure detectors", IEEE Transactions on Computers 51(5), 2002.
//! Assumes: A1 no message is lost; A2 messages take between d_min and d_max, and the timeout is at
//! least the period and d_max - d_min; A3 the first heartbeat comes within the grace.
//!
//! | message     | from, to  | sent when                 | carries                              |
//! |-------------|-----------|---------------------------|--------------------------------------|
//! | `Heartbeat` | all, all  | at once, then each period | its number, the last one of yours    |
//!
//! - R1 every node sends a heartbeat to all others each period;
//! - R2 one that is newer than the last buys its sender a timeout, in which it may be silent;
//! - R3 whoever has been silent for longer is suspected;
//! - R4 a node that is heard of again after it was suspected is trusted again.
//!
//! To survive that l heartbeats in a row are lost, the timeout must be l periods longer.
//!
//! Has: completeness, always: the crashed send nothing; accuracy, while A1 to A3 hold.
//! Lacks: accuracy where any message may take longer than was foreseen. Nobody can tell a slow node
//! from a crashed one: for every timeout there is a run in which it is too short.
//! Cost: n(n-1) messages per period. A crash is noticed between timeout + d - period and
//! timeout + d after it, where d is what the last heartbeat took.
pub use super::why::HEARTBEAT as WHY;

use super::pulse::{Message, Pulse};
use super::why::{ALIVE, ALONE, CAME_BACK, GRACE, SUSPECTS, TRUSTS};
use conclave_core::detector::{Detector, Indication};
use conclave_core::{Context, Delay, Event, Never, NodeId, NodeSet, Process, Recovery, Ticks};
use serde::{Deserialize, Serialize};

/// What runs out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Timer {
    /// It is time for the next heartbeat.
    Beat,
    /// This node has been silent for too long.
    Silence(NodeId),
}

/// How the detector is set up, the same on every node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Setup {
    /// How many nodes there are.
    pub n: u32,
    /// The time from one heartbeat to the next.
    pub period: Ticks,
    /// How long a node may be silent.
    pub timeout: Ticks,
    /// How long it may be before it is first heard of.
    pub grace: Ticks,
}

/// One node.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Heartbeat {
    me: NodeId,
    setup: Setup,
    pulse: Pulse,
    suspects: NodeSet,
}

impl Process for Heartbeat {
    type Provides = Detector;
    type Uses = Never;
    type Message = Message;
    type Timer = Timer;

    fn step(&mut self, event: Event<Self>, ctx: &mut Context<Self>) {
        match event {
            Event::Start => self.on_start(ctx),
            Event::Restart => {
                ctx.because(&CAME_BACK, ());
                *self = Self::new(self.me, self.setup); // What it believed is out of date.
                self.on_start(ctx);
            }
            Event::Message { from, message } => {
                if self.pulse.hear(from, message, ctx) {
                    self.on_heartbeat(from, ctx);
                }
            }
            Event::Timer(Timer::Beat) => self.on_beat(ctx),
            Event::Timer(Timer::Silence(node)) => self.on_silence(node, ctx),
        }
    }

    /// Nothing is needed: see [`super::pulse`].
    fn after_crash(&self) -> Recovery<Self> {
        Recovery::State(Self::new(self.me, self.setup))
    }
}

impl Heartbeat {
    /// Node `me`, in its first state.
    pub fn new(me: NodeId, setup: Setup) -> Self {
        let pulse = Pulse::new(me, setup.n);
        Self { me, setup, pulse, suspects: NodeSet::new(setup.n) }
    }

    fn on_start(&mut self, ctx: &mut Context<Self>) {
        if self.setup.n == 1 {
            return ctx.because(&ALONE, ());
        }
        self.on_beat(ctx);
        ctx.because(&GRACE, self.setup.grace);
        for other in self.pulse.others() {
            ctx.set_timer(Timer::Silence(other), Delay::exactly(self.setup.grace));
        }
    }

    fn on_beat(&mut self, ctx: &mut Context<Self>) {
        self.pulse.beat(ctx);
        ctx.set_timer(Timer::Beat, Delay::exactly(self.setup.period));
    }

    fn on_heartbeat(&mut self, from: NodeId, ctx: &mut Context<Self>) {
        if self.suspects.remove(from) {
            ctx.because(&TRUSTS, from);
            ctx.indicate(Indication::Trust(from));
        }
        ctx.because(&ALIVE, (from, self.setup.timeout));
        ctx.set_timer(Timer::Silence(from), Delay::exactly(self.setup.timeout));
    }

    fn on_silence(&mut self, node: NodeId, ctx: &mut Context<Self>) {
        // Only who is not suspected is waited for: a heartbeat, which clears it, sets the timer.
        if self.suspects.insert(node) {
            ctx.because(&SUSPECTS, node);
            ctx.indicate(Indication::Suspect(node));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use conclave_core::Effect;
    use conclave_core::testkit::{codes, message, run, send};

    const SETUP: Setup =
        Setup { n: 3, period: Ticks::units(1), timeout: Ticks::units(3), grace: Ticks::units(10) };

    fn heartbeat() -> Heartbeat {
        Heartbeat::new(NodeId(0), SETUP)
    }

    fn beat(number: u64, seen: u64) -> Message {
        Message::Heartbeat { number, seen }
    }

    fn set(timer: Timer, units: u64) -> Effect<Heartbeat> {
        Effect::SetTimer { timer, after: Delay::exactly(Ticks::units(units)) }
    }

    #[test]
    fn events_are_small() {
        assert!(size_of::<Event<Heartbeat>>() <= 32);
    }

    #[test]
    fn it_begins_with_a_heartbeat_and_gives_the_others_a_grace() {
        let mut node = heartbeat();
        let begun = [
            send(1, beat(1, 0)),
            send(2, beat(1, 0)),
            set(Timer::Beat, 1),
            set(Timer::Silence(NodeId(1)), 10),
            set(Timer::Silence(NodeId(2)), 10),
        ];
        assert_eq!(run(&mut node, Event::Start), begun);
        let again = [send(1, beat(2, 0)), send(2, beat(2, 0)), set(Timer::Beat, 1)];
        assert_eq!(run(&mut node, Event::Timer(Timer::Beat)), again);
    }

    #[test]
    fn a_heartbeat_buys_its_sender_a_timeout() {
        let mut node = heartbeat();
        let effects = run(&mut node, message(1, beat(1, 0)));
        assert_eq!(effects, [set(Timer::Silence(NodeId(1)), 3)]);
        assert_eq!(run(&mut node, message(1, beat(1, 0))), [], "the same again buys nothing");
    }

    #[test]
    fn silence_is_suspected_once_and_a_later_heartbeat_forgives() {
        let mut node = heartbeat();
        run(&mut node, message(1, beat(4, 0)));
        let silence = || Event::Timer(Timer::Silence(NodeId(1)));
        let suspect = [Effect::Indicate(Indication::Suspect(NodeId(1)))];
        assert_eq!(run(&mut node, silence()), suspect);
        assert_eq!(run(&mut node, silence()), []);
        assert_eq!(run(&mut node, message(1, beat(3, 0))), [], "older than the last one");
        let trust = Effect::Indicate(Indication::Trust(NodeId(1)));
        let effects = run(&mut node, message(1, beat(5, 0)));
        assert_eq!(effects, [trust, set(Timer::Silence(NodeId(1)), 3)]);
    }

    #[test]
    fn a_restart_forgets_suspicions_and_begins_again() {
        let mut node = heartbeat();
        let first = run(&mut node, Event::Start);
        run(&mut node, Event::Timer(Timer::Silence(NodeId(1))));
        let Recovery::State(mut kept) = node.after_crash() else { panic!("it can return") };
        assert_eq!(run(&mut kept, Event::Restart), first);
        assert_eq!(run(&mut node, Event::Restart), first, "in a stack it keeps its state");
        assert!(node.suspects.is_empty());
    }

    #[test]
    fn alone_it_does_nothing() {
        let mut node = Heartbeat::new(NodeId(0), Setup { n: 1, ..SETUP });
        assert_eq!(run(&mut node, Event::Start), []);
        assert_eq!(codes(&mut node, Event::Start), ["alone"]);
    }

    #[test]
    fn every_heartbeat_and_every_silence_is_explained() {
        let mut node = heartbeat();
        assert_eq!(codes(&mut node, Event::Start), ["beats", "grace"]);
        assert_eq!(codes(&mut node, message(1, beat(2, 0))), ["alive"]);
        assert_eq!(codes(&mut node, message(1, beat(1, 0))), ["stale"]);
        assert_eq!(codes(&mut node, Event::Timer(Timer::Silence(NodeId(1)))), ["suspects"]);
        assert_eq!(codes(&mut node, message(1, beat(3, 9))), ["caught-up", "trusts", "alive"]);
        assert_eq!(codes(&mut node, Event::Restart), ["came-back", "beats", "grace"]);
    }
}
