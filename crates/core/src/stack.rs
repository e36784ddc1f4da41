//! Composition of layers: one algorithm standing on another, as one process.

use crate::{Choices, Context, Effect, Event, Named, NodeId, Process, Recovery};
use serde::{Deserialize, Serialize};

/// Two layers that answer each other more often than this within one step will never stop.
const BOUNCES_MAX: u32 = 10_000;

/// Something of the upper layer, or of the lower one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Layer<U, L> {
    /// Of the layer that uses.
    Upper(U),
    /// Of the layer that is used.
    Lower(L),
}

impl<U: Named, L: Named> Named for Layer<U, L> {
    fn name(&self) -> &'static str {
        match self {
            Self::Upper(message) => message.name(),
            Self::Lower(message) => message.name(),
        }
    }

    fn is_reply(&self) -> bool {
        match self {
            Self::Upper(message) => message.is_reply(),
            Self::Lower(message) => message.is_reply(),
        }
    }
}

/// `upper` running on the service that `lower` provides, as one process.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Stack<U, L> {
    /// The layer that uses.
    pub upper: U,
    /// The layer that is used.
    pub lower: L,
}

impl<U: Process, L: Process<Provides = U::Uses>> Process for Stack<U, L> {
    type Provides = U::Provides;
    type Uses = L::Uses;
    type Message = Layer<U::Message, L::Message>;
    type Timer = Layer<U::Timer, L::Timer>;

    fn step(&mut self, event: Event<Self>, ctx: &mut Context<Self>) {
        // The inner contexts are made once and kept: a step allocates nothing.
        let mut scratch = ctx.scratch.take().unwrap_or_else(|| Box::new(Inner::<U, L>::new()));
        let inner = scratch.downcast_mut::<Inner<U, L>>().expect("one context, one process type");
        self.dispatch(event, inner, ctx);
        self.settle(inner, ctx);
        ctx.scratch = Some(scratch);
    }

    /// A stack comes back if its upper layer can. A lower layer without a state of its own on disk
    /// keeps what it has and is told by `Restart` to begin again.
    fn after_crash(&self) -> Recovery<Self> {
        let upper = match self.upper.after_crash() {
            Recovery::Never => return Recovery::Never,
            Recovery::Fresh => self.upper.clone(),
            Recovery::State(upper) => upper,
        };
        let lower = match self.lower.after_crash() {
            Recovery::Never | Recovery::Fresh => self.lower.clone(),
            Recovery::State(lower) => lower,
        };
        Recovery::State(Self { upper, lower })
    }

    fn clock(&self) -> u64 {
        self.upper.clock()
    }

    fn waits(&self) -> Vec<(NodeId, NodeId)> {
        self.upper.waits()
    }
}

struct Inner<U: Process, L: Process> {
    upper: Context<U>,
    lower: Context<L>,
}

impl<U: Process, L: Process> Inner<U, L> {
    fn new() -> Self {
        Self { upper: Context::new(Choices::None), lower: Context::new(Choices::None) }
    }
}

impl<U: Process, L: Process<Provides = U::Uses>> Stack<U, L> {
    fn dispatch(&mut self, event: Event<Self>, inner: &mut Inner<U, L>, ctx: &mut Context<Self>) {
        match event {
            Event::Start => {
                self.step_lower(Event::Start, inner, ctx);
                self.step_upper(Event::Start, inner, ctx);
            }
            Event::Restart => {
                self.step_lower(Event::Restart, inner, ctx);
                self.step_upper(Event::Restart, inner, ctx);
            }
            Event::Request(request) => self.step_upper(Event::Request(request), inner, ctx),
            Event::Indication(told) => self.step_lower(Event::Indication(told), inner, ctx),
            Event::Message { from, message: Layer::Upper(message) } => {
                self.step_upper(Event::Message { from, message }, inner, ctx);
            }
            Event::Message { from, message: Layer::Lower(message) } => {
                self.step_lower(Event::Message { from, message }, inner, ctx);
            }
            Event::Timer(Layer::Upper(timer)) => self.step_upper(Event::Timer(timer), inner, ctx),
            Event::Timer(Layer::Lower(timer)) => self.step_lower(Event::Timer(timer), inner, ctx),
        }
    }

    /// Carries what the layers tell each other back and forth until both are silent.
    fn settle(&mut self, inner: &mut Inner<U, L>, ctx: &mut Context<Self>) {
        for _ in 0..BOUNCES_MAX {
            if let Some(effect) = inner.lower.pop() {
                match effect {
                    Effect::Send { to, message } => ctx.send(to, Layer::Lower(message)),
                    Effect::SetTimer { timer, after } => ctx.set_timer(Layer::Lower(timer), after),
                    Effect::CancelTimer(timer) => ctx.cancel_timer(Layer::Lower(timer)),
                    Effect::Indicate(told) => {
                        self.step_upper(Event::Indication(told), inner, ctx);
                    }
                    Effect::Request(request) => ctx.request(request),
                }
            } else if let Some(effect) = inner.upper.pop() {
                match effect {
                    Effect::Send { to, message } => ctx.send(to, Layer::Upper(message)),
                    Effect::SetTimer { timer, after } => ctx.set_timer(Layer::Upper(timer), after),
                    Effect::CancelTimer(timer) => ctx.cancel_timer(Layer::Upper(timer)),
                    Effect::Indicate(told) => ctx.indicate(told),
                    Effect::Request(request) => {
                        self.step_lower(Event::Request(request), inner, ctx);
                    }
                }
            } else {
                return;
            }
        }
        panic!("two layers answer each other without end: {self:?}");
    }

    fn step_upper(&mut self, event: Event<U>, inner: &mut Inner<U, L>, ctx: &mut Context<Self>) {
        ctx.within(&mut inner.upper, |inner| self.upper.step(event, inner));
    }

    fn step_lower(&mut self, event: Event<L>, inner: &mut Inner<U, L>, ctx: &mut Context<Self>) {
        ctx.within(&mut inner.lower, |inner| self.lower.step(event, inner));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::election::{self, Election};
    use crate::mutex::{self, Mutex};
    use crate::{Never, Script, Why};

    /// Lets in whenever somebody is elected, with the leader's number for a fence.
    #[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    struct Upper;

    impl Process for Upper {
        type Provides = Mutex;
        type Uses = Election;
        type Message = Never;
        type Timer = Never;

        fn step(&mut self, event: Event<Self>, ctx: &mut Context<Self>) {
            match event {
                Event::Request(_) => ctx.request(election::Request::Campaign),
                Event::Indication(election::Indication::Elected { leader, .. }) => {
                    ctx.because(&ENTERED, leader);
                    let fence = u64::from(leader.0) + 10 * u64::from(ctx.choose(5));
                    ctx.indicate(mutex::Indication::Entered { fence });
                }
                Event::Start | Event::Restart | Event::Indication(_) => {}
            }
        }
    }

    static CAMPAIGNED: Why =
        Why { code: "campaigned", rule: "R1", english: "by chance", portuguese: "por sorte" };
    static ENTERED: Why =
        Why { code: "entered", rule: "R2", english: "{leader} leads", portuguese: "{leader}" };

    /// Elects whoever chance says.
    #[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    struct Lower;

    impl Process for Lower {
        type Provides = Election;
        type Uses = Never;
        type Message = Never;
        type Timer = Never;

        fn step(&mut self, event: Event<Self>, ctx: &mut Context<Self>) {
            match event {
                Event::Request(election::Request::Campaign) => {
                    ctx.because(&CAMPAIGNED, ());
                    let leader = NodeId(ctx.choose(5));
                    ctx.indicate(election::Indication::Elected { leader, term: 1 });
                }
                Event::Request(election::Request::Resign) | Event::Start | Event::Restart => {}
            }
        }
    }

    #[test]
    fn both_layers_ask_and_answer_and_draw_from_one_source_of_chance() {
        let mut stack = Stack { upper: Upper, lower: Lower };
        let mut ctx = Context::new(Choices::Script(Script::of([3, 1, 4, 2])));
        for fence in [13, 24] {
            ctx.act(NodeId(0), &mut stack, Event::Request(mutex::Request::Acquire));
            let effects: Vec<_> = ctx.drain().collect();
            assert_eq!(effects, [Effect::Indicate(mutex::Indication::Entered { fence })]);
            assert_eq!(ctx.reasons(), [], "nobody listens");
        }
    }

    #[test]
    fn the_reasons_of_both_layers_are_heard_in_order() {
        let mut stack = Stack { upper: Upper, lower: Lower };
        let mut ctx = Context::new(Choices::Script(Script::default()));
        ctx.listen(true);
        ctx.act(NodeId(0), &mut stack, Event::Request(mutex::Request::Acquire));
        let codes: Vec<&str> = ctx.reasons().iter().map(|reason| reason.why.code).collect();
        assert_eq!(codes, ["campaigned", "entered"]);
        assert_eq!(ctx.reasons(), [], "taken once");
    }
}
