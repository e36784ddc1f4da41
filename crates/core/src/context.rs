//! The context of a step: an ordered buffer of effects, where a process writes what it wants done.

use crate::{
    Arguments, Delay, Effect, Event, IndicationFrom, NodeId, Process, Reason, RequestTo, Why,
};
use std::any::Any;
use std::collections::VecDeque;
use std::fmt;

/// A chain of messages to oneself longer than this is a loop, not an algorithm.
const SELF_MESSAGES_MAX: usize = 10_000;

/// The effects of one step, in order. The driver owns it, reuses it, and drains it.
pub struct Context<P: Process> {
    me: Option<NodeId>,
    /// A queue: what has been taken out is `None`, and when all is, it starts anew. Cheaper than a
    /// ring buffer for the few effects of a step.
    effects: Vec<Option<Effect<P>>>,
    taken: usize,
    to_self: VecDeque<P::Message>,
    choices: Choices,
    pub(crate) scratch: Option<Box<dyn Any + Send>>,
    /// Whether anybody wants to know why.
    listened: bool,
    reasons: Vec<Reason>,
    /// Whether a message to oneself is being handled.
    own: bool,
}

impl<P: Process> Context<P> {
    /// An empty context that answers [`Context::choose`] from `choices`.
    pub fn new(choices: Choices) -> Self {
        Self {
            me: None,
            effects: Vec::new(),
            taken: 0,
            to_self: VecDeque::new(),
            choices,
            scratch: None,
            listened: false,
            reasons: Vec::new(),
            own: false,
        }
    }

    /// Sends a message. One to oneself is handled right after this step, in the same action.
    #[inline]
    pub fn send(&mut self, to: NodeId, message: P::Message) {
        if self.me == Some(to) {
            self.to_self.push_back(message);
        } else {
            self.put(Effect::Send { to, message });
        }
    }

    /// Starts a timer, or starts it anew.
    pub fn set_timer(&mut self, timer: P::Timer, after: Delay) {
        self.put(Effect::SetTimer { timer, after });
    }

    /// Stops a timer; it does not fire any more.
    pub fn cancel_timer(&mut self, timer: P::Timer) {
        self.put(Effect::CancelTimer(timer));
    }

    /// Tells the layer above.
    pub fn indicate(&mut self, indication: IndicationFrom<P::Provides>) {
        self.put(Effect::Indicate(indication));
    }

    /// Asks the layer below.
    pub fn request(&mut self, request: RequestTo<P::Uses>) {
        self.put(Effect::Request(request));
    }

    /// The room is there but for the first few times. That it may have to be made is kept out of
    /// the way: a step that calls nothing has no registers to save.
    #[inline]
    fn put(&mut self, effect: Effect<P>) {
        if self.effects.len() < self.effects.capacity() {
            self.effects.push(Some(effect));
        } else {
            self.put_anew(effect);
        }
    }

    #[cold]
    #[inline(never)]
    fn put_anew(&mut self, effect: Effect<P>) {
        self.effects.push(Some(effect));
    }

    /// A number below `bound`: drawn by the simulator and the network, every one by the checker.
    pub fn choose(&mut self, bound: u32) -> u32 {
        assert!(bound > 0, "a choice among nothing");
        self.choices.choose(bound)
    }

    /// Says why this step does what it does. Costs next to nothing unless somebody listens.
    #[inline]
    pub fn because(&mut self, why: &'static Why, arguments: impl Arguments) {
        if self.listened {
            self.hear(why, arguments);
        }
    }

    #[cold]
    #[inline(never)]
    fn hear(&mut self, why: &'static Why, arguments: impl Arguments) {
        self.reasons.push(Reason { why, arguments: arguments.list(), own: self.own });
    }

    /// From now on reasons are kept, or no longer.
    pub fn listen(&mut self, listened: bool) {
        self.listened = listened;
    }

    /// Takes the reasons that were given since they were last taken, oldest first.
    pub fn reasons(&mut self) -> Vec<Reason> {
        std::mem::take(&mut self.reasons)
    }

    /// One atomic action of node `me`: the step, then every message it sent to itself.
    /// What is to be done in the world waits in the context afterwards.
    #[inline]
    pub fn act(&mut self, me: NodeId, process: &mut P, event: Event<P>) {
        self.me = Some(me);
        process.step(event, self);
        if !self.to_self.is_empty() {
            self.act_on_own_messages(me, process);
        }
    }

    #[cold]
    fn act_on_own_messages(&mut self, me: NodeId, process: &mut P) {
        let mut handled = 0;
        self.own = true;
        while let Some(message) = self.to_self.pop_front() {
            handled += 1;
            assert!(handled < SELF_MESSAGES_MAX, "{process:?} sends to itself without end");
            process.step(Event::Message { from: me, message }, self);
        }
        self.own = false;
    }

    /// One step of a process that stands in for this one, as when the user chooses between
    /// several: what it does becomes what this one does, its messages and timers under new names.
    pub fn delegate<Q>(
        &mut self,
        process: &mut Q,
        event: Event<Q>,
        message: impl Fn(Q::Message) -> P::Message,
        timer: impl Fn(Q::Timer) -> P::Timer,
    ) where
        Q: Process<Provides = P::Provides, Uses = P::Uses>,
    {
        // Made once and kept: a step allocates nothing.
        let kept = self.scratch.take().and_then(|kept| kept.downcast::<Context<Q>>().ok());
        let mut inner = kept.unwrap_or_else(|| Box::new(Context::new(Choices::None)));
        self.within(&mut inner, |inner| process.step(event, inner));
        while let Some(effect) = inner.pop() {
            match effect {
                Effect::Send { to, message: sent } => self.send(to, message(sent)),
                Effect::SetTimer { timer: set, after } => self.set_timer(timer(set), after),
                Effect::CancelTimer(stopped) => self.cancel_timer(timer(stopped)),
                Effect::Indicate(told) => self.indicate(told),
                Effect::Request(request) => self.request(request),
            }
        }
        self.scratch = Some(inner);
    }

    /// A step of a process inside this one: it draws from the same source of chance, and somebody
    /// listens to it if to this one.
    #[inline]
    pub(crate) fn within<Q: Process>(
        &mut self,
        inner: &mut Context<Q>,
        step: impl FnOnce(&mut Context<Q>),
    ) {
        (inner.listened, inner.own) = (self.listened, self.own);
        std::mem::swap(&mut inner.choices, &mut self.choices);
        step(inner);
        std::mem::swap(&mut inner.choices, &mut self.choices);
        if self.listened {
            self.reasons.append(&mut inner.reasons);
        }
    }

    /// Takes the oldest effect.
    #[inline]
    pub fn pop(&mut self) -> Option<Effect<P>> {
        let Some(next) = self.effects.get_mut(self.taken) else {
            self.effects.clear();
            self.taken = 0;
            return None;
        };
        self.taken += 1;
        next.take()
    }

    /// Takes all effects, oldest first.
    pub fn drain(&mut self) -> impl Iterator<Item = Effect<P>> + '_ {
        std::iter::from_fn(|| self.pop())
    }

    /// Where choices come from, for a driver that wants to look or to start them anew.
    pub fn choices(&mut self) -> &mut Choices {
        &mut self.choices
    }
}

impl<P: Process> fmt::Debug for Context<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context").field("effects", &self.effects).finish_non_exhaustive()
    }
}

/// Where the answers to [`Context::choose`] come from.
#[derive(Default)]
pub enum Choices {
    /// Nowhere: this process is not expected to ask.
    #[default]
    None,
    /// From a generator that the driver seeded.
    Drawn(Box<dyn FnMut(u32) -> u32 + Send>),
    /// From a script that tries every answer in turn.
    Script(Script),
}

impl Choices {
    fn choose(&mut self, bound: u32) -> u32 {
        match self {
            Self::None => panic!("this driver did not expect a choice among {bound}"),
            Self::Drawn(draw) => draw(bound),
            Self::Script(script) => script.choose(bound),
        }
    }
}

/// A sequence of answers, each with the bound it was given under.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    answers: Vec<(u32, u32)>,
    next: usize,
}

impl Script {
    /// A script that will give these answers first.
    pub fn of(answers: impl IntoIterator<Item = u32>) -> Self {
        Self { answers: answers.into_iter().map(|answer| (answer, answer + 1)).collect(), next: 0 }
    }

    /// The answers given so far, in order.
    pub fn answers(&self) -> impl Iterator<Item = u32> + '_ {
        self.answers.iter().take(self.next).map(|&(answer, _)| answer)
    }

    /// Moves to the next sequence not yet tried, and rewinds; false when all were tried.
    pub fn advance(&mut self) -> bool {
        self.next = 0;
        while let Some((answer, bound)) = self.answers.pop() {
            if answer + 1 < bound {
                self.answers.push((answer + 1, bound));
                return true;
            }
        }
        false
    }

    fn choose(&mut self, bound: u32) -> u32 {
        if self.next == self.answers.len() {
            self.answers.push((0, bound));
        }
        let (answer, known_bound) = &mut self.answers[self.next];
        *known_bound = bound;
        self.next += 1;
        assert!(*answer < bound, "answer {answer} of a script to a choice among {bound}");
        *answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_tries_every_sequence_of_answers_once() {
        let mut script = Script::default();
        let mut seen = Vec::new();
        loop {
            let first = script.choose(2);
            let second = if first == 0 { script.choose(3) } else { 9 };
            seen.push((first, second));
            if !script.advance() {
                break;
            }
        }
        assert_eq!(seen, [(0, 0), (0, 1), (0, 2), (1, 9)]);
    }
}
