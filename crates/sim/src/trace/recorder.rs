//! The recorder of traces: writes a run down while it happens. Any driver can feed it.

use super::erased::{self, AnyEvent, AnyMessage, AnyTimer, Described};
use super::{Cause, Effect, Record, Sending, Step, words};
use crate::outcome::Ending;
use crate::plan::Options;
use conclave_core::mutex::Request;
use conclave_core::{Delay, NodeId, Ticks, Violation};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// More records than this are not kept: nobody reads or draws them, and they must fit into memory.
const RECORDS_MAX: usize = 500_000;

/// Answers to `Context::choose` on their way from the generator to the recorder.
pub type Answers = Arc<Mutex<Vec<u32>>>;

/// A run being written down.
#[derive(Default)]
pub struct Recorder {
    records: Vec<Record>,
    /// The step under way.
    step: Option<Step>,
    sent: u64,
    /// By receiver: what is under way to it.
    pending: BTreeMap<NodeId, Vec<Pending>>,
    answers: Answers,
    missing: u64,
    /// Whether what messages and timers are in the algorithm's own types is left out.
    brief: bool,
    /// About how many bytes all of it takes, and may take.
    bytes: usize,
    bytes_max: Option<usize>,
}

/// A message under way.
struct Pending {
    number: u64,
    from: NodeId,
    arrival: Ticks,
    content: Value,
}

impl Recorder {
    /// One for all of a run, or in brief for somebody who only looks.
    pub(crate) fn of(options: &Options) -> Self {
        let brief = options.focus.is_some();
        Self { brief, bytes_max: options.bytes_max, ..Self::default() }
    }

    /// Whether it has as much as it may have.
    pub(crate) fn is_full(&self) -> bool {
        self.bytes_max.is_some_and(|most| self.bytes > most)
    }

    /// Where the driver puts the answers it gives to `Context::choose`.
    pub fn answers(&self) -> Answers {
        Arc::clone(&self.answers)
    }

    /// A node is given an event.
    pub fn begins(&mut self, at: Ticks, node: NodeId, described: Described) {
        if self.records.len() >= RECORDS_MAX {
            self.missing += 1;
            return;
        }
        let Described { event, label, .. } = described;
        let cause = match &event {
            AnyEvent::Start => Cause::Start,
            AnyEvent::Restart => Cause::Restart,
            AnyEvent::Timer(_) => Cause::Timer(label),
            AnyEvent::Indication(_) => Cause::Indication(label),
            AnyEvent::Request(asked) => self.request(at, node, asked, label),
            AnyEvent::Message { from, message } => Cause::Message {
                number: self.arrives(at, node, *from, message).unwrap_or_default(),
                from: *from,
                label,
            },
        };
        let bulky = matches!(event, AnyEvent::Message { .. } | AnyEvent::Timer(_));
        let event = if self.brief && bulky { Value::Null } else { erased::value(&event) };
        self.bytes += size_of::<Record>() + bytes(&event);
        self.step = Some(Step { at, node, cause, event, choices: Vec::new(), effects: Vec::new() });
    }

    /// A request of the application, or a message of its own that arrives.
    fn request(&mut self, at: Ticks, node: NodeId, asked: &Value, label: String) -> Cause {
        let pending = self.pending.get(&node);
        let tells = pending.into_iter().flatten().find(|one| one.content == *asked);
        match tells.map(|one| one.from) {
            None => Cause::Request(label),
            Some(from) => Cause::Message {
                number: self.arrives(at, node, from, asked).unwrap_or_default(),
                from,
                label: TELL.to_string(),
            },
        }
    }

    /// The message under way that this must be: of equal ones, the one that is due first.
    fn arrives(&mut self, at: Ticks, to: NodeId, from: NodeId, content: &Value) -> Option<u64> {
        let pending = self.pending.get_mut(&to)?;
        let same = |one: &Pending| one.from == from && one.arrival <= at && one.content == *content;
        let found = pending.iter().enumerate().filter(|(_, one)| same(one));
        let (place, _) = found.min_by_key(|(_, one)| (one.arrival, one.number))?;
        Some(pending.remove(place).number)
    }

    /// The step sends a message; what becomes of it. Gives its number.
    pub fn sends(
        &mut self,
        to: NodeId,
        message: AnyMessage,
        arrival: Option<Ticks>,
        again: Vec<Ticks>,
    ) -> u64 {
        let AnyMessage { name: label, details, value } = message;
        let effect = match self.brief {
            true => Value::Null,
            false => json!({ "Send": { "to": to, "message": value } }),
        };
        let sending = Sending { number: 0, to, label, details, arrival, again, effect };
        self.send(sending, value);
        self.sent
    }

    /// The application sends a message of its own, which will arrive as this request.
    pub fn tells(
        &mut self,
        at: Ticks,
        node: NodeId,
        to: NodeId,
        asked: &Request,
        arrival: Option<Ticks>,
    ) {
        let cause = Cause::Tell;
        let event = Value::Null;
        let choices = Vec::new();
        let effects = Vec::new();
        if self.records.len() >= RECORDS_MAX {
            return;
        }
        self.step = Some(Step { at, node, cause, event, choices, effects });
        let label = TELL.to_string();
        let details = words::label(asked);
        let effect = Value::Null;
        let sending = Sending { number: 0, to, label, details, arrival, again: Vec::new(), effect };
        self.send(sending, erased::value(asked));
        self.ends();
    }

    /// A node did something that was not recorded: all that is known of it is what it sends now,
    /// until [`Recorder::ends`].
    pub fn unseen(&mut self, at: Ticks, node: NodeId) {
        if self.records.len() < RECORDS_MAX {
            let cause = Cause::Unseen;
            let event = Value::Null;
            let choices = Vec::new();
            let effects = Vec::new();
            self.step = Some(Step { at, node, cause, event, choices, effects });
        }
    }

    fn send(&mut self, mut sending: Sending, content: Value) {
        let Some(step) = &mut self.step else { return };
        self.sent += 1;
        sending.number = self.sent;
        self.bytes += size_of::<Effect>() + sending.label.len() + sending.details.len();
        self.bytes += bytes(&sending.effect) + bytes(&content);
        for arrival in sending.arrivals() {
            let number = self.sent;
            let from = step.node;
            let content = content.clone();
            self.bytes += 2 * size_of::<Pending>(); // Here, and where it is carried.
            let under_way = self.pending.entry(sending.to).or_default();
            under_way.push(Pending { number, from, arrival, content });
        }
        step.effects.push(Effect::Send(sending));
    }

    /// The step sets a timer.
    pub fn sets_timer(&mut self, timer: AnyTimer, after: Delay, until: Ticks) {
        let AnyTimer { label, value, .. } = timer;
        let effect = json!({ "SetTimer": { "timer": value, "after": after } });
        self.did(Effect::SetTimer { label, until, effect });
    }

    /// The step cancels a timer.
    pub fn cancels_timer(&mut self, timer: AnyTimer) {
        let AnyTimer { label, value, .. } = timer;
        self.did(Effect::CancelTimer { label, effect: json!({ "CancelTimer": value }) });
    }

    /// The step tells the layer above.
    pub fn indicates(&mut self, told: Value) {
        self.did(Effect::Indicate { effect: json!({ "Indicate": told }) });
    }

    /// The step asks the layer below.
    pub fn asks(&mut self, asked: Value) {
        self.did(Effect::Request { effect: json!({ "Request": asked }) });
    }

    fn did(&mut self, effect: Effect) {
        if let Some(step) = &mut self.step {
            self.bytes += size_of::<Effect>() + bytes(effect.typed());
            step.effects.push(effect);
        }
    }

    /// The step was given this answer to a choice.
    pub fn chose(&mut self, answer: u32) {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner).push(answer);
    }

    /// The step is over.
    pub fn ends(&mut self) {
        let answers = self.answers.lock().map(|mut answers| std::mem::take(&mut *answers));
        if let Some(mut step) = self.step.take() {
            step.choices = answers.unwrap_or_default();
            self.records.push(Record::Step(step));
        }
    }

    /// A message reaches a node that is down.
    pub fn loses(&mut self, at: Ticks, node: NodeId, event: &AnyEvent) {
        let number = match event {
            AnyEvent::Message { from, message } => self.arrives(at, node, *from, message),
            AnyEvent::Request(asked) => match self.request(at, node, asked, String::new()) {
                Cause::Message { number, .. } => Some(number),
                Cause::Start
                | Cause::Restart
                | Cause::Request(_)
                | Cause::Indication(_)
                | Cause::Timer(_)
                | Cause::Tell
                | Cause::Unseen => None,
            },
            AnyEvent::Start | AnyEvent::Restart | AnyEvent::Indication(_) | AnyEvent::Timer(_) => {
                None
            }
        };
        if let Some(number) = number {
            self.happens(Record::Lost { at, node, number });
        }
    }

    /// A node stops: what had waited for it is lost.
    pub fn crashes(&mut self, at: Ticks, node: NodeId) {
        self.happens(Record::Crash { at, node });
        let Some(pending) = self.pending.get_mut(&node) else { return };
        let (late, due): (Vec<_>, Vec<_>) = pending.drain(..).partition(|one| one.arrival < at);
        *pending = due;
        for Pending { number, .. } in late {
            self.happens(Record::Lost { at, node, number });
        }
    }

    /// How many records there are so far.
    pub fn written(&self) -> usize {
        self.records.len()
    }

    /// Something else happens.
    pub fn happens(&mut self, record: Record) {
        if self.records.len() < RECORDS_MAX {
            self.records.push(record);
        }
    }

    /// All that was written down, and how it ended.
    pub fn finish(mut self, at: Ticks, ending: Ending, broken: &[Violation]) -> Vec<Record> {
        self.records.extend(broken.iter().cloned().map(Record::Violation));
        self.records.push(Record::End { at, ending, missing: self.missing });
        self.records
    }
}

/// What an object of a few fields takes: they are kept in a tree, the nodes of which have room for
/// eleven.
const OBJECT: usize = 640;

/// About how many bytes a value takes beside its own place.
fn bytes(value: &Value) -> usize {
    let inside = |value: &Value| size_of::<Value>() + bytes(value);
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        Value::String(text) => text.len(),
        Value::Array(values) => values.iter().map(inside).sum(),
        Value::Object(fields) => {
            OBJECT.max(fields.len() * size_of::<Value>() * 2)
                + fields.iter().map(|(name, value)| name.len() + bytes(value)).sum::<usize>()
        }
    }
}

/// What a message of the application is called.
pub(super) const TELL: &str = "TELL";
