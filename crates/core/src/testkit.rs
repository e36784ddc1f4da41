//! For the tests of algorithms: one event in, its effects out.

use crate::{Choices, Context, Effect, Event, NodeId, Process, Reason, Script};

/// Feeds one event and returns everything the process did about it. Messages to itself show as
/// effects; choices get the answer 0.
pub fn run<P: Process>(process: &mut P, event: Event<P>) -> Vec<Effect<P>> {
    let mut ctx = Context::new(Choices::Script(Script::default()));
    process.step(event, &mut ctx);
    ctx.drain().collect()
}

/// Feeds one event and returns the reasons that the process gives for what it does about it.
pub fn why<P: Process>(process: &mut P, event: Event<P>) -> Vec<Reason> {
    let mut ctx = Context::new(Choices::Script(Script::default()));
    ctx.listen(true);
    process.step(event, &mut ctx);
    ctx.reasons()
}

/// The same, as their codes: `deferred`.
pub fn codes<P: Process>(process: &mut P, event: Event<P>) -> Vec<&'static str> {
    why(process, event).iter().map(|reason| reason.why.code).collect()
}

/// Feeds one event to node `me` as a driver does: what it sends to itself is handled at once.
pub fn act<P: Process>(me: NodeId, process: &mut P, event: Event<P>) -> Vec<Effect<P>> {
    let mut ctx = Context::new(Choices::Script(Script::default()));
    ctx.act(me, process, event);
    ctx.drain().collect()
}

/// A message arriving, as an event.
pub fn message<P: Process>(from: u32, message: P::Message) -> Event<P> {
    Event::Message { from: NodeId(from), message }
}

/// A message being sent, as an effect.
pub fn send<P: Process>(to: u32, message: P::Message) -> Effect<P> {
    Effect::Send { to: NodeId(to), message }
}
