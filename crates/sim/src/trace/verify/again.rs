//! One step run again and held against what was recorded.

use super::{Checked, Phase, Replay, Sent, short};
use crate::trace::erased::{AnyEffect, AnyEvent, AnyMessage, AnyProcess, Misfit};
use crate::trace::plain::innermost;
use crate::trace::recorder::TELL;
use crate::trace::words::{named, told};
use crate::trace::{Cause, Effect, Language, Sending, Step, Told};
use conclave_core::{NodeId, Ticks};
use serde_json::Value;

/// What the process wants done, which must be what was recorded.
pub(super) fn act(
    step: &Step,
    process: &mut dyn AnyProcess,
    event: &AnyEvent,
) -> Result<Vec<AnyEffect>, String> {
    let who = step.node.mark();
    let effects = process.act(event, &step.choices).map_err(|misfit| match misfit {
        Misfit::Choices => format!("{who} makes other choices than recorded"),
        Misfit::Event => format!("{who} is given no event of this algorithm"),
    })?;
    for (effect, recorded) in effects.iter().zip(&step.effects) {
        let again = effect.value();
        if again != *recorded.typed() || !is_well_described(effect, recorded) {
            let (again, recorded) = (words(effect), recorded_words(recorded));
            return Err(match again == recorded {
                true => format!("{who} {again}, though not quite as it is recorded"),
                false => format!("{who} {again}, but it is recorded that it {recorded}"),
            });
        }
    }
    match (effects.get(step.effects.len()), step.effects.get(effects.len())) {
        (None, None) => Ok(effects),
        (Some(more), _) => Err(format!("{who} {}, which is not recorded", words(more))),
        (_, Some(less)) => {
            Err(format!("{who} does not do what is recorded: it {}", recorded_words(less)))
        }
    }
}

/// What a process wants done, as stories tell it.
fn words(effect: &AnyEffect) -> String {
    match effect {
        AnyEffect::Send { to, message } => sends(*to, &message.name, &message.details),
        AnyEffect::SetTimer { timer, .. } => format!("sets timer {}", innermost(&timer.label)),
        AnyEffect::CancelTimer(timer) => format!("stops timer {}", innermost(&timer.label)),
        AnyEffect::Indicate(value) => told(&Told::of(value), Language::English),
        AnyEffect::Request(value) => format!("asks for {}", short(value)),
    }
}

/// The same of what was recorded.
fn recorded_words(effect: &Effect) -> String {
    match effect {
        Effect::Send(sending) => sends(sending.to, &sending.label, &sending.details),
        Effect::SetTimer { label, .. } => format!("sets timer {}", innermost(label)),
        Effect::CancelTimer { label, .. } => format!("stops timer {}", innermost(label)),
        Effect::Indicate { effect } => told(&Told::of(effect), Language::English),
        Effect::Request { .. } => format!("asks for {}", short(effect.typed())),
    }
}

fn sends(to: NodeId, label: &str, details: &str) -> String {
    format!("sends {} to {}", named(label, details, Language::English), to.mark())
}

/// Whether people are told what the types say.
fn is_well_described(effect: &AnyEffect, recorded: &Effect) -> bool {
    match (effect, recorded) {
        (AnyEffect::Send { to, message }, Effect::Send(sending)) => {
            let AnyMessage { name, details, .. } = message;
            sending.to == *to && sending.label == *name && sending.details == *details
        }
        (AnyEffect::SetTimer { timer, .. }, Effect::SetTimer { label, .. })
        | (AnyEffect::CancelTimer(timer), Effect::CancelTimer { label, .. }) => {
            *label == timer.label
        }
        (AnyEffect::Indicate(_), Effect::Indicate { .. })
        | (AnyEffect::Request(_), Effect::Request { .. }) => true,
        (
            AnyEffect::Send { .. }
            | AnyEffect::SetTimer { .. }
            | AnyEffect::CancelTimer(_)
            | AnyEffect::Indicate(_)
            | AnyEffect::Request(_),
            _,
        ) => false,
    }
}

/// What made the node act, as the event itself says it; the number of a message is taken over.
pub(super) fn cause(event: &AnyEvent, label: String, recorded: &Cause) -> Cause {
    match (event, recorded) {
        (AnyEvent::Start, _) => Cause::Start,
        (AnyEvent::Restart, _) => Cause::Restart,
        (AnyEvent::Timer(_), _) => Cause::Timer(label),
        (AnyEvent::Indication(_), _) => Cause::Indication(label),
        (AnyEvent::Request(_), Cause::Message { number, from, .. }) => {
            Cause::Message { number: *number, from: *from, label: TELL.to_string() }
        }
        (AnyEvent::Request(_), _) => Cause::Request(label),
        (AnyEvent::Message { from, .. }, recorded) => {
            let number = match recorded {
                Cause::Message { number, .. } => *number,
                Cause::Start
                | Cause::Restart
                | Cause::Request(_)
                | Cause::Indication(_)
                | Cause::Timer(_)
                | Cause::Tell
                | Cause::Unseen => 0,
            };
            Cause::Message { number, from: *from, label }
        }
    }
}

/// No logical time of an application comes near this.
const CLOCK_MAX: u64 = 1 << 53;

/// Whether an application may ask this, and where it stands then. Only mutual exclusion has a law;
/// whom a clock's user tells must exist.
pub(super) fn may_ask(asked: &Value, n: usize, phase: &mut Phase) -> Option<()> {
    if let Some(told) = asked.get("Tell") {
        return told.as_u64().filter(|&node| node < n as u64).map(|_| ());
    }
    *phase = match (asked.as_str(), *phase) {
        (Some("Acquire"), Phase::Idle) => Phase::Waiting,
        (Some("Release"), Phase::Inside) => Phase::Idle,
        (Some("Cancel"), Phase::Waiting) => Phase::Idle,
        (Some("Campaign" | "Happen"), phase) => phase,
        (None, phase) if asked["Observe"].as_u64().is_some_and(|clock| clock < CLOCK_MAX) => phase,
        (Some(_) | None, _) => return None,
    };
    Some(())
}

/// Whether an indication of a layer below speaks only of nodes that there are, and of no detector's
/// own node.
pub(super) fn names_another(told: &Value, me: NodeId, n: usize) -> bool {
    match Told::of(told) {
        Told::Suspect(node) | Told::Trust(node) => node.index() < n && node != me,
        Told::Elected { leader, .. } => leader.index() < n,
        Told::Entered { .. } | Told::Deposed | Told::Other(_) => true,
    }
}

impl Replay<'_> {
    /// Keeps what later records will be held against.
    pub(super) fn carry_out(
        &mut self,
        now: Ticks,
        id: NodeId,
        effect: AnyEffect,
        recorded: &Effect,
    ) -> Checked {
        let node = self.node(id);
        match (effect, recorded) {
            (AnyEffect::Send { message, .. }, Effect::Send(sending)) => {
                return self.send(now, id, sending, message.value);
            }
            (AnyEffect::SetTimer { timer, .. }, Effect::SetTimer { until, .. }) => {
                node.timers.retain(|(name, _)| *name != timer.value);
                node.timers.push((timer.value, *until));
            }
            (AnyEffect::CancelTimer(timer), _) => {
                node.timers.retain(|(name, _)| *name != timer.value);
            }
            (AnyEffect::Indicate(told), _) => {
                if matches!(Told::of(&told), Told::Entered { .. }) {
                    node.phase = Phase::Inside;
                }
            }
            (AnyEffect::Send { .. } | AnyEffect::SetTimer { .. } | AnyEffect::Request(_), _) => {}
        }
        Ok(())
    }

    /// The application's own message carries the clock of the algorithm, and no more.
    pub(super) fn tell(&mut self, step: &Step) -> Checked {
        let who = step.node.mark();
        let [Effect::Send(sending)] = step.effects.as_slice() else {
            return Err(format!("{who} sends a message of the application, but it is not there"));
        };
        let clock = self.node(step.node).process.clock();
        let content = serde_json::json!({ "Observe": clock });
        if sending.details != format!("Observe({clock})") || sending.label != TELL {
            return Err(format!("{who}'s clock is {clock}, not {}", sending.details));
        }
        self.send(self.now, step.node, sending, content)
    }

    /// A node did what nobody saw. What it sent is believed, and so is all that it does from now
    /// on, since its state is not known.
    pub(super) fn unseen(&mut self, step: &Step) -> Checked {
        self.node(step.node).known = false;
        for sending in step.sends() {
            let content = sending.effect["Send"]["message"].clone();
            self.send(self.now, step.node, sending, content)?;
        }
        Ok(())
    }

    /// Takes a step as it was recorded, where the node cannot be run again.
    pub(super) fn believe(&mut self, step: &Step, event: &AnyEvent) -> Checked {
        if let (Cause::Message { number, from, .. }, AnyEvent::Message { message, .. }) =
            (&step.cause, event)
        {
            self.arrives(step.node, *number, *from, message)?;
        }
        for sending in step.sends() {
            let content = sending.effect["Send"]["message"].clone();
            self.send(self.now, step.node, sending, content)?;
        }
        Ok(())
    }

    fn send(&mut self, now: Ticks, from: NodeId, sending: &Sending, content: Value) -> Checked {
        let arrivals: Vec<Ticks> = sending.arrivals().collect();
        let number = sending.number;
        let next = self.sent.last_key_value().map_or(1, |(last, _)| last + 1);
        if number != next || arrivals.iter().any(|arrival| *arrival < now) {
            return Err(format!("message {number} cannot have been sent like this"));
        }
        self.sent.insert(number, Sent { from, to: sending.to, content, arrivals });
        Ok(())
    }
}
