//! One step run again and held against what was recorded.

use super::{Checked, Phase, Replay, Sent, short};
use crate::prompter::Prompter;
use crate::trace::recorder::{TELL, value};
use crate::trace::{Cause, Effect, Sending, Step, Told, words};
use conclave_core::{Context, Effect as Wish, Event, Named, NodeId, Process, Ticks};
use serde_json::Value;

/// Runs steps with the answers that were given to their choices.
pub(super) struct Again<P: Process> {
    ctx: Context<P>,
    prompter: Prompter,
}

impl<P: Process> Again<P> {
    pub fn new() -> Self {
        let prompter = Prompter::default();
        Self { ctx: Context::new(prompter.choices()), prompter }
    }

    /// What the process wants done, which must be what was recorded.
    pub fn act(
        &mut self,
        step: &Step,
        process: &mut P,
        event: Event<P>,
    ) -> Result<Vec<Wish<P>>, String> {
        let who = step.node.mark();
        self.prompter.prepare(&step.choices);
        self.ctx.act(step.node, process, event);
        let wishes: Vec<Wish<P>> = self.ctx.drain().collect();
        if !self.prompter.fitted() {
            return Err(format!("{who} makes other choices than recorded"));
        }
        for (wish, recorded) in wishes.iter().zip(&step.effects) {
            let (again, then) = (value(wish), typed(recorded));
            if again != *then || !is_well_described(wish, recorded) {
                let told = format!("{who} does {}, not as recorded", short(&again));
                return Err(told);
            }
        }
        match (wishes.get(step.effects.len()), step.effects.get(wishes.len())) {
            (None, None) => Ok(wishes),
            (Some(more), _) => Err(format!("{who} also does {}", short(&value(more)))),
            (_, Some(less)) => Err(format!("{who} does not do {}", short(typed(less)))),
        }
    }
}

fn typed(effect: &Effect) -> &Value {
    match effect {
        Effect::Send(sending) => &sending.effect,
        Effect::SetTimer { effect, .. }
        | Effect::CancelTimer { effect, .. }
        | Effect::Indicate { effect }
        | Effect::Request { effect } => effect,
    }
}

/// Whether people are told what the types say.
fn is_well_described<P: Process>(wish: &Wish<P>, recorded: &Effect) -> bool {
    match (wish, recorded) {
        (Wish::Send { to, message }, Effect::Send(sending)) => {
            let details = words::details(message);
            sending.to == *to && sending.label == message.name() && sending.details == details
        }
        (Wish::SetTimer { timer, .. }, Effect::SetTimer { label, .. })
        | (Wish::CancelTimer(timer), Effect::CancelTimer { label, .. }) => {
            *label == words::label(timer)
        }
        (Wish::Indicate(_), Effect::Indicate { .. })
        | (Wish::Request(_), Effect::Request { .. }) => true,
        (
            Wish::Send { .. }
            | Wish::SetTimer { .. }
            | Wish::CancelTimer(_)
            | Wish::Indicate(_)
            | Wish::Request(_),
            _,
        ) => false,
    }
}

/// What made the node act, as the event itself says it; the number of a message is taken over.
pub(super) fn describe<P: Process>(event: &Event<P>, recorded: &Cause) -> Cause {
    match (event, recorded) {
        (Event::Start, _) => Cause::Start,
        (Event::Restart, _) => Cause::Restart,
        (Event::Timer(timer), _) => Cause::Timer(words::label(timer)),
        (Event::Indication(told), _) => Cause::Indication(words::label(told)),
        (Event::Request(_), Cause::Message { number, from, .. }) => {
            Cause::Message { number: *number, from: *from, label: TELL.to_string() }
        }
        (Event::Request(asked), _) => Cause::Request(words::label(asked)),
        (Event::Message { from, message }, recorded) => {
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
            Cause::Message { number, from: *from, label: message.name().to_string() }
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

/// Whether an indication of a layer below speaks only of nodes that there are.
pub(super) fn names_nodes_below(told: &Value, n: usize) -> bool {
    match Told::of(told) {
        Told::Suspect(node) | Told::Trust(node) | Told::Elected { leader: node, .. } => {
            node.index() < n
        }
        Told::Entered { .. } | Told::Deposed | Told::Other(_) => true,
    }
}

impl<P: Process> Replay<'_, P> {
    /// Keeps what later records will be held against.
    pub(super) fn carry_out(
        &mut self,
        now: Ticks,
        id: NodeId,
        wish: Wish<P>,
        recorded: &Effect,
    ) -> Checked {
        let node = self.node(id);
        match (wish, recorded) {
            (Wish::Send { message, .. }, Effect::Send(sending)) => {
                return self.send(now, id, sending, value(&message));
            }
            (Wish::SetTimer { timer, .. }, Effect::SetTimer { until, .. }) => {
                let timer = value(&timer);
                node.timers.retain(|(name, _)| *name != timer);
                node.timers.push((timer, *until));
            }
            (Wish::CancelTimer(timer), _) => {
                let timer = value(&timer);
                node.timers.retain(|(name, _)| *name != timer);
            }
            (Wish::Indicate(told), _) => {
                if matches!(Told::of(&value(&told)), Told::Entered { .. }) {
                    node.phase = Phase::Inside;
                }
            }
            (Wish::Send { .. } | Wish::SetTimer { .. } | Wish::Request(_), _) => {}
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
    pub(super) fn believe(&mut self, step: &Step, event: &Event<P>) -> Checked {
        if let (Cause::Message { number, from, .. }, Event::Message { message, .. }) =
            (&step.cause, event)
        {
            self.arrives(step.node, *number, *from, &value(message))?;
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
