//! Heartbeats with a timeout that grows with every mistake.
//!
//! Source: T. D. Chandra, S. Toueg, "Unreliable failure detectors for reliable distributed
//! systems", JACM 43(2), 1996, figure 10.
//! Assumes: A1 from some time on no message is lost; A2 from some time on the gap between two
//! heartbeats has a bound, which nobody needs to know.
//!
//! | message     | from, to  | sent when                 | carries                              |
//! |-------------|-----------|---------------------------|--------------------------------------|
//! | `Heartbeat` | all, all  | at once, then each period | its number, the last one of yours    |
//!
//! - R1 every node sends a heartbeat to all others each period;
//! - R2 one that is newer than the last buys its sender a timeout, in which it may be silent;
//! - R3 whoever has been silent for longer is suspected;
//! - R4 whoever is heard of while it is suspected was suspected too soon (or is back): it is
//!   trusted again and from then on given `step` more time.
//!
//! With a bound B on the gaps, a timeout that began at T is too short at most (B - T) / step times,
//! rounded up.
//!
//! Has: completeness, always; in the end, accuracy: only so many mistakes are made.
//! Lacks: accuracy before that. The timeout never shrinks, so bad times make crashes be noticed
//! later for ever.
//! Cost: n(n-1) messages per period. A crash is noticed between timeout + d - period and
//! timeout + d after it, with the timeout as it has grown.
pub use super::why::ADAPTIVE as WHY;

use super::heartbeat::Timer;
use super::pulse::{Message, Pulse};
use super::why::{ALIVE, ALONE, CAME_BACK, GRACE, SUSPECTS, TRUSTS_LONGER};
use conclave_core::detector::{Detector, Indication};
use conclave_core::{Context, Delay, Event, Never, NodeId, NodeSet, Process, Recovery, Ticks};
use serde::{Deserialize, Serialize};

/// How the detector is set up, the same on every node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Setup {
    /// How many nodes there are.
    pub n: u32,
    /// The time from one heartbeat to the next.
    pub period: Ticks,
    /// How long a node may be silent, to begin with.
    pub timeout: Ticks,
    /// How long it may be before it is first heard of.
    pub grace: Ticks,
    /// How much longer after each mistake.
    pub step: Ticks,
}

/// One node.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Adaptive {
    me: NodeId,
    setup: Setup,
    pulse: Pulse,
    suspects: NodeSet,
    /// How long each node may be silent.
    timeouts: Vec<Ticks>,
}

impl Process for Adaptive {
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

    /// Nothing is needed: timeouts grow again, and for the rest see [`super::pulse`].
    fn after_crash(&self) -> Recovery<Self> {
        Recovery::State(Self::new(self.me, self.setup))
    }
}

impl Adaptive {
    /// Node `me`, in its first state.
    pub fn new(me: NodeId, setup: Setup) -> Self {
        Self {
            me,
            setup,
            pulse: Pulse::new(me, setup.n),
            suspects: NodeSet::new(setup.n),
            timeouts: vec![setup.timeout; setup.n as usize],
        }
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
        let timeout = &mut self.timeouts[from.index()];
        if self.suspects.remove(from) {
            ctx.because(&TRUSTS_LONGER, (from, self.setup.step));
            *timeout = *timeout + self.setup.step;
            ctx.indicate(Indication::Trust(from));
        }
        ctx.because(&ALIVE, (from, *timeout));
        ctx.set_timer(Timer::Silence(from), Delay::exactly(*timeout));
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
    use conclave_core::testkit::{message, run, why};

    const PEER: NodeId = NodeId(1);
    const SETUP: Setup = Setup {
        n: 2,
        period: Ticks::units(1),
        timeout: Ticks::units(10),
        grace: Ticks::units(10),
        step: Ticks::units(5),
    };

    /// Hears heartbeats with these gaps between them, its timers firing as they should; tells how
    /// often it was wrong.
    fn mistakes(node: &mut Adaptive, gaps: &[u64]) -> usize {
        let mut wrong = 0;
        run(node, message(1, Message::Heartbeat { number: 1, seen: 0 }));
        for (number, &gap) in (2..).zip(gaps) {
            if node.timeouts[1] < Ticks::units(gap) {
                let suspected = run(node, Event::Timer(Timer::Silence(PEER)));
                assert_eq!(suspected, [Effect::Indicate(Indication::Suspect(PEER))]);
                wrong += 1;
            }
            run(node, message(1, Message::Heartbeat { number, seen: 0 }));
        }
        wrong
    }

    #[test]
    fn only_so_many_mistakes_are_made_if_gaps_have_a_bound() {
        let mut node = Adaptive::new(NodeId(0), SETUP);
        assert_eq!(mistakes(&mut node, &[27; 20]), 4); // (27 - 10) / 5, rounded up.
        assert_eq!(node.timeouts[1], Ticks::units(30));
        let mut node = Adaptive::new(NodeId(0), SETUP);
        assert_eq!(mistakes(&mut node, &[1, 12, 9, 14, 16, 27, 20, 27, 27, 27]), 4);
        assert_eq!(node.timeouts[1], Ticks::units(30));
    }

    #[test]
    fn a_mistake_gives_its_victim_more_time() {
        let mut node = Adaptive::new(NodeId(0), SETUP);
        run(&mut node, Event::Timer(Timer::Silence(PEER)));
        let effects = run(&mut node, message(1, Message::Heartbeat { number: 1, seen: 0 }));
        let more = Delay::exactly(Ticks::units(15));
        let set = Effect::SetTimer { timer: Timer::Silence(PEER), after: more };
        assert_eq!(effects, [Effect::Indicate(Indication::Trust(PEER)), set]);
        let effects = run(&mut node, message(1, Message::Heartbeat { number: 1, seen: 0 }));
        assert_eq!(effects, [], "the same heartbeat again is no sign of life");
    }

    #[test]
    fn a_restart_begins_with_the_first_timeout() {
        let mut node = Adaptive::new(NodeId(0), SETUP);
        mistakes(&mut node, &[27; 2]);
        run(&mut node, Event::Restart);
        assert_eq!(node.timeouts[1], SETUP.timeout);
        assert!(node.suspects.is_empty());
        assert!(matches!(node.after_crash(), Recovery::State(_)));
    }

    #[test]
    fn alone_it_does_nothing() {
        let mut node = Adaptive::new(NodeId(0), Setup { n: 1, ..SETUP });
        assert_eq!(run(&mut node, Event::Start), []);
    }

    #[test]
    fn a_mistake_is_explained_with_what_is_learnt_from_it() {
        let mut node = Adaptive::new(NodeId(0), SETUP);
        run(&mut node, Event::Timer(Timer::Silence(PEER)));
        let reasons = why(&mut node, message(1, Message::Heartbeat { number: 1, seen: 0 }));
        let told: Vec<_> = reasons.iter().map(|reason| reason.fill(reason.why.english)).collect();
        let step = SETUP.step;
        let timeout = SETUP.timeout + step;
        let longer = "{1} is heard of again, so its timeout was too short";
        assert_eq!(told[0], format!("{longer}: gives it {step} more"));
        assert_eq!(told[1], format!("{{1}} lives, and may be silent for {timeout} from now on"));
    }
}
