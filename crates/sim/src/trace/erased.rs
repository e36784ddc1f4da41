//! Type erasure: any process, with its events and effects as JSON, the way recordings have them.
//!
//! Whatever is done once per run and need not be quick (to verify a recording, to follow a story,
//! to tell a real run again) is written for [`AnyProcess`] and compiled once, not once per
//! algorithm.

use super::shown::{self, Field};
use super::words;
use crate::replayed_choices::ReplayedChoices;
use conclave_core::{Context, Delay, Effect, Event, Named, NodeId, Process, Reason, Recovery};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Something that happens to a process. As JSON it is what [`Event`] of that process is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum AnyEvent {
    /// See [`Event::Start`].
    Start,
    /// See [`Event::Restart`].
    Restart,
    /// See [`Event::Request`].
    Request(Value),
    /// See [`Event::Indication`].
    Indication(Value),
    /// See [`Event::Message`].
    Message {
        /// Who sent it.
        from: NodeId,
        /// What it says.
        message: Value,
    },
    /// See [`Event::Timer`].
    Timer(Value),
}

/// An event, and what people call it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Described {
    /// The event.
    pub event: AnyEvent,
    /// The name of its message, timer, request or indication.
    pub label: String,
    /// What its message carries, in words.
    pub details: String,
}

/// A message that is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnyMessage {
    /// The paper's word for it.
    pub name: String,
    /// What it carries, in words.
    pub details: String,
    /// What it says.
    pub value: Value,
}

/// The name of a timer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnyTimer {
    /// In words.
    pub label: String,
    /// As stories of the checker have it.
    pub debug: String,
    /// As the algorithm has it.
    pub value: Value,
}

/// Something that a process wants done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnyEffect {
    /// See [`Effect::Send`].
    Send {
        /// To whom.
        to: NodeId,
        /// What.
        message: AnyMessage,
    },
    /// See [`Effect::SetTimer`].
    SetTimer {
        /// Its name.
        timer: AnyTimer,
        /// How long it runs.
        after: Delay,
    },
    /// See [`Effect::CancelTimer`].
    CancelTimer(AnyTimer),
    /// See [`Effect::Indicate`].
    Indicate(Value),
    /// See [`Effect::Request`].
    Request(Value),
}

impl AnyEffect {
    /// What [`Effect`] of the process is as JSON.
    pub fn value(&self) -> Value {
        match self {
            Self::Send { to, message } => Typed::Send { to: *to, message: &message.value },
            Self::SetTimer { timer, after } => {
                Typed::SetTimer { timer: &timer.value, after: *after }
            }
            Self::CancelTimer(timer) => Typed::CancelTimer(&timer.value),
            Self::Indicate(told) => Typed::Indicate(told),
            Self::Request(asked) => Typed::Request(asked),
        }
        .value()
    }
}

/// [`Effect`] with JSON in the place of types.
#[derive(Serialize)]
enum Typed<'a> {
    Send { to: NodeId, message: &'a Value },
    SetTimer { timer: &'a Value, after: Delay },
    CancelTimer(&'a Value),
    Indicate(&'a Value),
    Request(&'a Value),
}

impl Typed<'_> {
    fn value(&self) -> Value {
        value(self)
    }
}

/// Why a process cannot take a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misfit {
    /// It is no event of this algorithm.
    Event,
    /// It makes other choices than were given.
    Choices,
}

/// Any process, whatever its types.
pub trait AnyProcess: Send {
    /// What people call an event; `None` if it is none of this algorithm.
    fn describe(&self, event: &AnyEvent) -> Option<Described>;
    /// One atomic action, with these answers to the choices that it makes.
    fn act(&mut self, event: &AnyEvent, choices: &[u32]) -> Result<Vec<AnyEffect>, Misfit>;
    /// Its node crashes; it is kept what its disk keeps.
    fn crash(&mut self);
    /// Its node comes back after a crash, with its disk or without.
    fn restart(&mut self, amnesia: bool);
    /// It is made late and begins as one that came back, though it never was away.
    fn begin_late(&mut self);
    /// The logical time that a message of the application, sent now, should carry.
    fn clock(&self) -> u64;
    /// From now on it keeps why it does what it does, or no longer.
    fn listen(&mut self, listened: bool);
    /// Takes the reasons that it kept.
    fn reasons(&mut self) -> Vec<Reason>;
    /// Its state, field by field.
    fn state(&self) -> Vec<Field>;
    /// Who waits for whom, as far as it knows.
    fn waits(&self) -> Vec<(NodeId, NodeId)>;
}

/// Makes the process of a node in its very first state.
pub type Fresh<P> = dyn Fn(NodeId) -> P + Send + Sync;

/// A process of known types.
pub struct Erased<'a, P: Process> {
    me: NodeId,
    process: P,
    disk: Option<Recovery<P>>,
    fresh: &'a Fresh<P>,
    ctx: Context<P>,
    choices: ReplayedChoices,
}

impl<'a, P: Process> Erased<'a, P> {
    /// The process of node `me`.
    pub fn new(me: NodeId, fresh: &'a Fresh<P>) -> Self {
        let choices = ReplayedChoices::default();
        let ctx = Context::new(choices.choices());
        Self { me, process: fresh(me), disk: None, fresh, ctx, choices }
    }
}

impl<P: Process> AnyProcess for Erased<'_, P> {
    fn describe(&self, event: &AnyEvent) -> Option<Described> {
        typed::<P>(event).map(|event| describe(&event))
    }

    fn act(&mut self, event: &AnyEvent, choices: &[u32]) -> Result<Vec<AnyEffect>, Misfit> {
        let event = typed::<P>(event).ok_or(Misfit::Event)?;
        self.choices.prepare(choices);
        self.ctx.act(self.me, &mut self.process, event);
        let effects = self.ctx.drain().map(|effect| erase_effect(&effect)).collect();
        if self.choices.fitted() { Ok(effects) } else { Err(Misfit::Choices) }
    }

    fn crash(&mut self) {
        self.disk = Some(self.process.after_crash());
    }

    fn restart(&mut self, amnesia: bool) {
        self.process = match self.disk.take() {
            Some(Recovery::State(state)) if !amnesia => state,
            Some(Recovery::State(_) | Recovery::Fresh | Recovery::Never) | None => {
                (self.fresh)(self.me)
            }
        };
    }

    fn begin_late(&mut self) {
        if let Recovery::State(state) = self.process.after_crash() {
            self.process = state;
        }
    }

    fn clock(&self) -> u64 {
        self.process.clock()
    }

    fn listen(&mut self, listened: bool) {
        self.ctx.listen(listened);
    }

    fn reasons(&mut self) -> Vec<Reason> {
        self.ctx.reasons()
    }

    fn state(&self) -> Vec<Field> {
        shown::fields(&self.process)
    }

    fn waits(&self) -> Vec<(NodeId, NodeId)> {
        self.process.waits()
    }
}

/// An event in the types of an algorithm, if it is one of it.
fn typed<P: Process>(event: &AnyEvent) -> Option<Event<P>> {
    Some(match event {
        AnyEvent::Start => Event::Start,
        AnyEvent::Restart => Event::Restart,
        AnyEvent::Request(asked) => Event::Request(Deserialize::deserialize(asked).ok()?),
        AnyEvent::Indication(told) => Event::Indication(Deserialize::deserialize(told).ok()?),
        AnyEvent::Message { from, message } => {
            Event::Message { from: *from, message: Deserialize::deserialize(message).ok()? }
        }
        AnyEvent::Timer(timer) => Event::Timer(Deserialize::deserialize(timer).ok()?),
    })
}

fn event_label<P: Process>(event: &Event<P>) -> String {
    match event {
        Event::Start | Event::Restart => String::new(),
        Event::Timer(timer) => words::label(timer),
        Event::Indication(told) => words::label(told),
        Event::Request(asked) => words::label(asked),
        Event::Message { message, .. } => message.name().to_string(),
    }
}

/// An event without the types of its algorithm, and what people call it.
pub fn describe<P: Process>(event: &Event<P>) -> Described {
    let erased = match event {
        Event::Start => AnyEvent::Start,
        Event::Restart => AnyEvent::Restart,
        Event::Request(asked) => AnyEvent::Request(value(asked)),
        Event::Indication(told) => AnyEvent::Indication(value(told)),
        Event::Message { from, message } => {
            AnyEvent::Message { from: *from, message: value(message) }
        }
        Event::Timer(timer) => AnyEvent::Timer(value(timer)),
    };
    let details = match event {
        Event::Message { message, .. } => words::details(message),
        Event::Start
        | Event::Restart
        | Event::Request(_)
        | Event::Indication(_)
        | Event::Timer(_) => String::new(),
    };
    Described { event: erased, label: event_label(event), details }
}

/// The same in brief: of a message only what tells it from others.
pub(crate) fn describe_briefly<P: Process>(event: &Event<P>) -> Described {
    let erased = match event {
        Event::Message { from, message } => {
            AnyEvent::Message { from: *from, message: fingerprint(message) }
        }
        Event::Timer(_) => AnyEvent::Timer(Value::Null),
        Event::Start | Event::Restart | Event::Request(_) | Event::Indication(_) => {
            return describe(event);
        }
    };
    Described { event: erased, label: event_label(event), details: String::new() }
}

/// A message in brief: its name, and what tells it from others.
pub(crate) fn erase_briefly<M: conclave_core::Data + Named>(message: &M) -> AnyMessage {
    let name = message.name().to_string();
    AnyMessage { name, details: String::new(), value: fingerprint(message) }
}

fn fingerprint(message: &impl Serialize) -> Value {
    Value::from(conclave_core::hash(message))
}

/// An effect without the types of its algorithm.
pub fn erase_effect<P: Process>(effect: &Effect<P>) -> AnyEffect {
    match effect {
        Effect::Send { to, message } => {
            AnyEffect::Send { to: *to, message: erase_message(message) }
        }
        Effect::SetTimer { timer, after } => {
            AnyEffect::SetTimer { timer: erase_timer(timer), after: *after }
        }
        Effect::CancelTimer(timer) => AnyEffect::CancelTimer(erase_timer(timer)),
        Effect::Indicate(told) => AnyEffect::Indicate(value(told)),
        Effect::Request(asked) => AnyEffect::Request(value(asked)),
    }
}

/// A message without its type.
pub fn erase_message<M: conclave_core::Data + Named>(message: &M) -> AnyMessage {
    AnyMessage {
        name: message.name().to_string(),
        details: words::details(message),
        value: value(message),
    }
}

/// A timer without its type.
pub fn erase_timer<T: conclave_core::Data>(timer: &T) -> AnyTimer {
    let debug = format!("{timer:?}");
    AnyTimer { label: words::label(timer), debug, value: value(timer) }
}

/// Anything as JSON.
pub(crate) fn value(data: &impl Serialize) -> Value {
    serde_json::to_value(data).expect("plain data with text or numbers for keys")
}
