//! Type erasure for the network: a process whose messages, timers and state are bytes.
//!
//! Whatever moves bytes about (links, disk, recordings) is compiled once and serves every
//! algorithm. Only [`Machine`] knows the types of the one that it runs.

pub use conclave_core::{AnyIndication, AnyRequest};

use conclave_core::{
    AnyService, Choices, Context, Delay, Effect, Event, IndicationFrom, Named, NodeId, Process,
    Recovery, RequestTo,
};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};
use std::sync::{Arc, Mutex as Shared, PoisonError};

/// What happens to a machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Input {
    /// It begins to exist.
    Start,
    /// Its node came back from a crash.
    Restart,
    /// The layer above asks.
    Request(AnyRequest),
    /// The layer below tells.
    Indication(AnyIndication),
    /// A message arrives.
    Message {
        /// From whom.
        from: NodeId,
        /// The message.
        bytes: Vec<u8>,
    },
    /// A timer fires.
    Timer(Vec<u8>),
}

/// What a machine wants done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Deed {
    /// Send a message.
    Send {
        /// To whom.
        to: NodeId,
        /// The paper's word for it.
        kind: String,
        /// The message.
        bytes: Vec<u8>,
    },
    /// Start a timer; one of that name already running is replaced.
    SetTimer {
        /// Its name.
        timer: Vec<u8>,
        /// How long it runs.
        after: Delay,
    },
    /// Stop a timer, running or not.
    CancelTimer {
        /// Its name.
        timer: Vec<u8>,
    },
    /// Tell the layer above.
    Indicate(AnyIndication),
    /// Ask the layer below.
    Request(AnyRequest),
}

/// How a machine lives through a crash of its node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Survival {
    /// Its whole state is on disk before anything of a step leaves, and so is what it sent. A
    /// restart is no different from a slow process; no message is lost, repeated or reordered.
    Whole,
    /// The disk keeps what the algorithm says ([`Process::after_crash`]) and it is told
    /// [`Input::Restart`]. Messages under way are lost with a crash.
    Returns,
    /// It starts anew, as if it had never been.
    Forgets,
}

/// One step as it happened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stepped {
    /// What it wants done, in order.
    pub deeds: Vec<Deed>,
    /// The answers to [`Context::choose`] that were drawn.
    pub choices: Vec<u32>,
}

/// Bytes that are no message, timer or state of this algorithm, or a word its service lacks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not {0} of this algorithm")]
pub struct Foreign(pub &'static str);

/// Any process, whatever its types.
pub trait Automaton: Send {
    /// One atomic action. What does not decode changes nothing.
    fn step(&mut self, input: &Input) -> Result<Stepped, Foreign>;
    /// What the disk must keep of it, by its [`Survival`].
    fn saved(&self) -> Vec<u8>;
    /// Goes back to what the disk kept.
    fn restore(&mut self, saved: &[u8]) -> Result<(), Foreign>;
    /// How it lives through a crash.
    fn survival(&self) -> Survival;
    /// The logical time that a message of the application, sent now, should carry.
    fn clock(&self) -> u64;
    /// From now on, choices are answered from this list first: to run a recording again.
    fn script(&mut self, answers: &[u32]);
}

/// What a process hears of what the layer below tells.
pub type Heard<P> = fn(AnyIndication) -> Option<IndicationFrom<<P as Process>::Uses>>;

/// A process of known types, as an [`Automaton`].
pub struct Machine<P: Process> {
    me: NodeId,
    process: P,
    survival: Survival,
    heard: Heard<P>,
    context: Context<P>,
    answers: Answers,
}

/// The answers given since they were last taken, and those to be given first.
#[derive(Clone, Default)]
struct Answers(Arc<Shared<Given>>);

#[derive(Default)]
struct Given {
    given: Vec<u32>,
    scripted: std::collections::VecDeque<u32>,
}

impl Answers {
    fn draw(&self, bound: u32, random: &mut Xoshiro256PlusPlus) -> u32 {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let scripted = all.scripted.pop_front().filter(|answer| *answer < bound);
        let answer = scripted.unwrap_or_else(|| (random.next_u64() % u64::from(bound)) as u32);
        all.given.push(answer);
        answer
    }

    fn take(&self) -> Vec<u32> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner).given)
    }
}

impl<P: Process<Provides: AnyService>> Machine<P> {
    /// A process of node `me` that draws its choices from this seed.
    pub fn new(me: NodeId, process: P, survival: Survival, heard: Heard<P>, seed: u64) -> Self {
        let answers = Answers::default();
        let source = answers.clone();
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let draw = Choices::Drawn(Box::new(move |bound| source.draw(bound, &mut random)));
        Self { me, process, survival, heard, context: Context::new(draw), answers }
    }

    /// What happens to it, in its own types.
    pub fn event(&self, input: &Input) -> Result<Event<P>, Foreign> {
        Ok(match input {
            Input::Start => Event::Start,
            Input::Restart => Event::Restart,
            Input::Request(asked) => {
                let request: RequestTo<P::Provides> =
                    P::Provides::request(*asked).ok_or(Foreign("a request"))?;
                Event::Request(request)
            }
            Input::Indication(told) => {
                Event::Indication((self.heard)(*told).ok_or(Foreign("an indication"))?)
            }
            Input::Message { from, bytes } => {
                Event::Message { from: *from, message: decode(bytes, "a message")? }
            }
            Input::Timer(bytes) => Event::Timer(decode(bytes, "a timer")?),
        })
    }

    /// One atomic action, in its own types: what it wants done, and the choices that it made.
    pub fn act(&mut self, event: Event<P>) -> (Vec<Effect<P>>, Vec<u32>) {
        if matches!(event, Event::Restart)
            && let Recovery::State(kept) = self.process.after_crash()
        {
            self.process = kept;
        }
        self.context.act(self.me, &mut self.process, event);
        (self.context.drain().collect(), self.answers.take())
    }

    /// What it wants done, without its types.
    pub fn deed(effect: Effect<P>) -> Deed {
        match effect {
            Effect::Send { to, message } => {
                Deed::Send { to, kind: message.name().to_string(), bytes: encode(&message) }
            }
            Effect::SetTimer { timer, after } => Deed::SetTimer { timer: encode(&timer), after },
            Effect::CancelTimer(timer) => Deed::CancelTimer { timer: encode(&timer) },
            Effect::Indicate(indication) => Deed::Indicate(P::Provides::any(indication)),
            // Elections are all that is ever asked for below.
            Effect::Request(_) => Deed::Request(AnyRequest::Campaign),
        }
    }
}

impl<P: Process<Provides: AnyService>> Automaton for Machine<P> {
    fn step(&mut self, input: &Input) -> Result<Stepped, Foreign> {
        let (effects, choices) = self.act(self.event(input)?);
        Ok(Stepped { deeds: effects.into_iter().map(Self::deed).collect(), choices })
    }

    fn saved(&self) -> Vec<u8> {
        match (self.survival, self.process.after_crash()) {
            (Survival::Whole, _) | (Survival::Returns, Recovery::Never) => encode(&self.process),
            (Survival::Returns, Recovery::State(kept)) => encode(&kept),
            // Forgetting is harmless: it comes back in its first state.
            (Survival::Returns, Recovery::Fresh) | (Survival::Forgets, _) => Vec::new(),
        }
    }

    fn restore(&mut self, saved: &[u8]) -> Result<(), Foreign> {
        if !saved.is_empty() {
            self.process = decode(saved, "a state")?;
        }
        Ok(())
    }

    fn survival(&self) -> Survival {
        self.survival
    }

    fn clock(&self) -> u64 {
        self.process.clock()
    }

    fn script(&mut self, answers: &[u32]) {
        let mut all = self.answers.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.scripted = answers.iter().copied().collect();
    }
}

fn encode(data: &impl Serialize) -> Vec<u8> {
    postcard::to_allocvec(data).expect("plain data of known length")
}

fn decode<T: for<'a> Deserialize<'a>>(bytes: &[u8], what: &'static str) -> Result<T, Foreign> {
    match postcard::take_from_bytes(bytes) {
        Ok((data, [])) => Ok(data),
        Ok(_) | Err(_) => Err(Foreign(what)),
    }
}
