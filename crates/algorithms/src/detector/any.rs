//! Any of the failure detectors, where the user chooses the one that another algorithm stands on.

use super::adaptive::Adaptive;
use super::heartbeat::{self, Heartbeat};
use super::phi_accrual::{self, PhiAccrual};
use super::pulse::Message;
use conclave_core::detector::Detector;
use conclave_core::{Context, Event, Never, Process, Recovery};
use serde::{Deserialize, Serialize};

/// One node of whichever detector was chosen.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum AnyDetector {
    /// With a fixed timeout.
    Heartbeat(Heartbeat),
    /// With a timeout that grows.
    Adaptive(Adaptive),
    /// By how regular heartbeats were.
    PhiAccrual(PhiAccrual),
}

/// A timer of whichever detector was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Timer {
    /// Of one that has a timer for each node.
    Timed(heartbeat::Timer),
    /// Of one that samples.
    Sampled(phi_accrual::Timer),
}

impl Process for AnyDetector {
    type Provides = Detector;
    type Uses = Never;
    type Message = Message;
    type Timer = Timer;

    fn step(&mut self, event: Event<Self>, ctx: &mut Context<Self>) {
        match self {
            Self::Heartbeat(process) => {
                if let Some(event) = translate(event, timed) {
                    ctx.delegate(process, event, |message| message, Timer::Timed);
                }
            }
            Self::Adaptive(process) => {
                if let Some(event) = translate(event, timed) {
                    ctx.delegate(process, event, |message| message, Timer::Timed);
                }
            }
            Self::PhiAccrual(process) => {
                if let Some(event) = translate(event, sampled) {
                    ctx.delegate(process, event, |message| message, Timer::Sampled);
                }
            }
        }
    }

    fn after_crash(&self) -> Recovery<Self> {
        match self {
            Self::Heartbeat(process) => kept(process.after_crash(), Self::Heartbeat),
            Self::Adaptive(process) => kept(process.after_crash(), Self::Adaptive),
            Self::PhiAccrual(process) => kept(process.after_crash(), Self::PhiAccrual),
        }
    }
}

/// The event as the chosen detector knows it; none if it is the timer of another.
fn translate<Q>(
    event: Event<AnyDetector>,
    timer: impl Fn(Timer) -> Option<Q::Timer>,
) -> Option<Event<Q>>
where
    Q: Process<Provides = Detector, Uses = Never, Message = Message>,
{
    Some(match event {
        Event::Start => Event::Start,
        Event::Restart => Event::Restart,
        Event::Message { from, message } => Event::Message { from, message },
        Event::Timer(name) => Event::Timer(timer(name)?),
    })
}

fn timed(timer: Timer) -> Option<heartbeat::Timer> {
    match timer {
        Timer::Timed(timer) => Some(timer),
        Timer::Sampled(_) => None,
    }
}

fn sampled(timer: Timer) -> Option<phi_accrual::Timer> {
    match timer {
        Timer::Sampled(timer) => Some(timer),
        Timer::Timed(_) => None,
    }
}

fn kept<Q>(recovery: Recovery<Q>, wrap: impl Fn(Q) -> AnyDetector) -> Recovery<AnyDetector> {
    match recovery {
        Recovery::Never => Recovery::Never,
        Recovery::Fresh => Recovery::Fresh,
        Recovery::State(process) => Recovery::State(wrap(process)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use conclave_core::detector::Indication;
    use conclave_core::election::{self, Election};
    use conclave_core::testkit::{message, run, send};
    use conclave_core::{Choices, Delay, Effect, Layer, NodeId, Stack, Ticks};

    fn any() -> AnyDetector {
        let setup = heartbeat::Setup {
            n: 2,
            period: Ticks::units(1),
            timeout: Ticks::units(3),
            grace: Ticks::units(10),
        };
        AnyDetector::Heartbeat(Heartbeat::new(NodeId(0), setup))
    }

    #[test]
    fn it_does_what_the_chosen_one_does() {
        let silence = Timer::Timed(heartbeat::Timer::Silence(NodeId(1)));
        let beat = Timer::Timed(heartbeat::Timer::Beat);
        let set =
            |timer, units| Effect::SetTimer { timer, after: Delay::exactly(Ticks::units(units)) };
        let first = send(1, Message::Heartbeat { number: 1, seen: 0 });
        let mut node = any();
        assert_eq!(run(&mut node, Event::Start), [first, set(beat, 1), set(silence, 10)]);
        let suspect = Effect::Indicate(Indication::Suspect(NodeId(1)));
        assert_eq!(run(&mut node, Event::Timer(silence)), [suspect]);
        let trust = Effect::Indicate(Indication::Trust(NodeId(1)));
        let heard = run(&mut node, message(1, Message::Heartbeat { number: 1, seen: 0 }));
        assert_eq!(heard, [trust, set(silence, 3)]);
        assert_eq!(node.after_crash(), Recovery::State(any()));
    }

    /// An upper layer that only passes on what it hears.
    #[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    struct PassesOn;

    impl Process for PassesOn {
        type Provides = Election;
        type Uses = Detector;
        type Message = Never;
        type Timer = Never;

        fn step(&mut self, event: Event<Self>, ctx: &mut Context<Self>) {
            match event {
                Event::Indication(Indication::Suspect(node)) => {
                    ctx.indicate(election::Indication::Suspect(node));
                }
                Event::Indication(Indication::Trust(node)) => {
                    ctx.indicate(election::Indication::Trust(node));
                }
                Event::Start | Event::Restart | Event::Request(_) => {}
            }
        }
    }

    #[test]
    fn another_algorithm_can_stand_on_it() {
        let mut stack = Stack { upper: PassesOn, lower: any() };
        let silence = Layer::Lower(Timer::Timed(heartbeat::Timer::Silence(NodeId(1))));
        let mut ctx = Context::new(Choices::None);
        for round in 1..4 {
            stack.step(Event::Timer(silence), &mut ctx);
            let suspect = Effect::Indicate(election::Indication::Suspect(NodeId(1)));
            assert_eq!(ctx.drain().collect::<Vec<_>>(), [suspect]);
            let heartbeat = Message::Heartbeat { number: round, seen: 0 };
            stack.step(message(1, Layer::Lower(heartbeat)), &mut ctx);
            let trust = Effect::Indicate(election::Indication::Trust(NodeId(1)));
            assert!(ctx.drain().any(|effect| effect == trust), "round {round}");
        }
    }

    #[test]
    fn the_timer_of_another_detector_is_nothing_to_it() {
        let sample = Timer::Sampled(phi_accrual::Timer::Sample);
        assert_eq!(run(&mut any(), Event::Timer(sample)), []);
    }
}
