//! A client of the lock table: it has a session, asks again for what was not answered, and stops
//! when its lease runs out.

use super::{LockTable, Message, Timer, Wish};
use conclave_core::mutex::{Indication, Request};
use conclave_core::{Context, Event, NodeId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Somebody who wants to enter.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Client {
    me: NodeId,
    coordinator: NodeId,
    /// Whether its lease may run out while it is inside, without its knowing.
    paused: bool,
    /// Its sessions are numbered.
    session: u32,
    state: State,
    /// Its latest session that has run out, until the coordinator knows.
    lost: Option<u32>,
    /// Whether its user waits.
    wants: bool,
    /// The request by which its user is inside, and its fence.
    inside: Option<(u32, u64)>,
    /// The number of the latest request.
    latest: u32,
    /// The requests that were not answered.
    open: BTreeMap<u32, Wish>,
}

/// How it stands with the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum State {
    None,
    Opening,
    Open,
}

impl Client {
    /// One that has no session yet.
    pub fn new(me: NodeId, coordinator: NodeId, paused: bool) -> Self {
        Self {
            me,
            coordinator,
            paused,
            session: 0,
            state: State::None,
            lost: None,
            wants: false,
            inside: None,
            latest: 0,
            open: BTreeMap::new(),
        }
    }

    /// One that forgot everything; session ids are never used twice.
    pub fn after_crash(&self) -> Self {
        let lost = if self.state == State::None { self.lost } else { Some(self.session) };
        let fresh = Self::new(self.me, self.coordinator, self.paused);
        Self { session: self.session, lost, ..fresh }
    }

    /// Takes one event.
    pub fn step(&mut self, event: Event<LockTable>, ctx: &mut Context<LockTable>) {
        match event {
            Event::Start => {}
            Event::Restart => self.tell_loss(ctx),
            Event::Request(Request::Acquire) => self.on_acquire(ctx),
            Event::Request(Request::Release) => self.on_release(ctx),
            Event::Request(Request::Cancel) => self.on_cancel(ctx),
            Event::Request(Request::Observe(_)) => {} // It has no clock.
            Event::Message { message, .. } => self.on_message(message, ctx),
            Event::Timer(Timer::Repeat) => self.repeat(ctx),
            Event::Timer(Timer::Keepalive) => self.keep_alive(ctx),
            Event::Timer(Timer::Deadline) => self.on_deadline(ctx),
            Event::Timer(Timer::Sweep) => {} // The coordinator's.
        }
    }

    fn on_acquire(&mut self, ctx: &mut Context<LockTable>) {
        self.wants = true;
        match self.state {
            State::None => self.open_session(ctx),
            State::Opening => {} // It asks when the session is there.
            State::Open => self.ask_in_turn(ctx),
        }
    }

    /// Asks to be let in, one thing after the other: a session that still holds the lock and waits
    /// behind another who waits for it is refused, since it is in a deadlock.
    fn ask_in_turn(&mut self, ctx: &mut Context<LockTable>) {
        if self.wants && self.open.is_empty() {
            self.ask(Wish::Acquire, ctx);
        }
    }

    fn on_release(&mut self, ctx: &mut Context<LockTable>) {
        let Some((request, fence)) = self.inside.take() else { return };
        if self.state == State::Open {
            self.ask(Wish::Release { request, fence }, ctx);
            set(Timer::Deadline, ctx); // Now its lease may run out.
        }
    }

    /// Whoever gives up says so, or just no longer knows the request: the next keepalive tells.
    fn on_cancel(&mut self, ctx: &mut Context<LockTable>) {
        self.wants = false;
        let asked = self.open.iter().find(|(_, wish)| **wish == Wish::Acquire);
        let Some(request) = asked.map(|(request, _)| *request) else { return };
        self.open.remove(&request);
        if ctx.choose(2) == 0 {
            self.ask(Wish::Cancel { request }, ctx);
        }
        self.rest(ctx);
    }

    fn on_message(&mut self, message: Message, ctx: &mut Context<LockTable>) {
        match message {
            Message::Opened { session } if self.is_current(session) => self.on_opened(ctx),
            Message::Granted { session, request, fence } if self.is_current(session) => {
                self.on_granted(request, fence, ctx);
            }
            Message::Done { session, request } if self.is_current(session) => {
                self.on_done(request, ctx);
            }
            Message::Alive { session } if self.is_current(session) => self.on_alive(ctx),
            Message::Gone { session } => self.on_gone(session, ctx),
            Message::Opened { .. }
            | Message::Granted { .. }
            | Message::Done { .. }
            | Message::Alive { .. } => {} // Of a session that is over.
            Message::Open { .. }
            | Message::Ask { .. }
            | Message::Keepalive { .. }
            | Message::Silent { .. } => {} // Nobody asks a client.
        }
    }

    fn on_opened(&mut self, ctx: &mut Context<LockTable>) {
        if self.state == State::Open {
            return; // Said twice.
        }
        self.state = State::Open;
        set(Timer::Keepalive, ctx);
        self.ask_in_turn(ctx);
        self.rest(ctx);
    }

    fn on_granted(&mut self, request: u32, fence: u64, ctx: &mut Context<LockTable>) {
        if self.open.get(&request) != Some(&Wish::Acquire) {
            return; // Said twice, or no longer wanted.
        }
        self.open.remove(&request);
        self.wants = false;
        self.inside = Some((request, fence));
        if !self.paused {
            ctx.cancel_timer(Timer::Deadline); // It leaves before (A3).
        }
        self.rest(ctx);
        ctx.indicate(Indication::Entered { fence });
    }

    fn on_done(&mut self, request: u32, ctx: &mut Context<LockTable>) {
        if self.open.remove(&request) == Some(Wish::Acquire) {
            set(Timer::Repeat, ctx); // Refused: it asks for something new after a while.
        } else {
            self.ask_in_turn(ctx);
        }
        self.rest(ctx);
    }

    /// The lease is extended.
    fn on_alive(&mut self, ctx: &mut Context<LockTable>) {
        if self.paused || self.inside.is_none() {
            set(Timer::Deadline, ctx);
        }
    }

    fn on_gone(&mut self, session: u32, ctx: &mut Context<LockTable>) {
        if self.lost.is_some_and(|lost| lost <= session) {
            self.lost = None;
        }
        if self.is_current(session) {
            self.end_session(ctx);
        }
        self.rest(ctx);
    }

    /// Who is running sees its own deadline and knows that the session is over. Who is paused does
    /// not, and goes on as if nothing had happened.
    fn on_deadline(&mut self, ctx: &mut Context<LockTable>) {
        match self.paused {
            true => ctx.send(self.coordinator, Message::Silent { session: self.session }),
            false => {
                self.lost = Some(self.session);
                self.tell_loss(ctx);
                self.end_session(ctx);
            }
        }
    }

    /// Forgets the session. Who still wants to enter opens another.
    fn end_session(&mut self, ctx: &mut Context<LockTable>) {
        self.state = State::None;
        self.open.clear();
        ctx.cancel_timer(Timer::Keepalive);
        ctx.cancel_timer(Timer::Deadline);
        if self.wants {
            self.open_session(ctx);
        }
    }

    fn open_session(&mut self, ctx: &mut Context<LockTable>) {
        self.session += 1;
        self.state = State::Opening;
        self.latest = 0;
        ctx.send(self.coordinator, Message::Open { session: self.session });
        set(Timer::Repeat, ctx);
        set(Timer::Deadline, ctx);
    }

    fn tell_loss(&self, ctx: &mut Context<LockTable>) {
        if let Some(session) = self.lost {
            ctx.send(self.coordinator, Message::Silent { session });
            set(Timer::Repeat, ctx);
        }
    }

    fn ask(&mut self, wish: Wish, ctx: &mut Context<LockTable>) {
        self.latest += 1;
        self.open.insert(self.latest, wish);
        self.say(self.latest, wish, ctx);
        set(Timer::Repeat, ctx);
    }

    fn say(&self, request: u32, wish: Wish, ctx: &mut Context<LockTable>) {
        let lowest_open = self.open.keys().next().copied().unwrap_or(request);
        let session = self.session;
        ctx.send(self.coordinator, Message::Ask { session, request, lowest_open, wish });
    }

    /// Asks again for whatever was not answered, under the same numbers.
    fn repeat(&mut self, ctx: &mut Context<LockTable>) {
        self.tell_loss(ctx);
        if self.state == State::Opening {
            ctx.send(self.coordinator, Message::Open { session: self.session });
        }
        for (request, wish) in &self.open {
            self.say(*request, *wish, ctx);
        }
        if self.state == State::Open {
            self.ask_in_turn(ctx);
        }
        set(Timer::Repeat, ctx);
    }

    fn keep_alive(&self, ctx: &mut Context<LockTable>) {
        let held = self.inside.map(|(request, _)| request);
        let open = self.open.keys().copied().chain(held).collect();
        let as_of = self.latest + 1;
        ctx.send(self.coordinator, Message::Keepalive { session: self.session, as_of, open });
        set(Timer::Keepalive, ctx);
    }

    /// Stops asking again if all was answered.
    fn rest(&self, ctx: &mut Context<LockTable>) {
        let asks = self.wants || self.state == State::Opening || !self.open.is_empty();
        if !asks && self.lost.is_none() {
            ctx.cancel_timer(Timer::Repeat);
        }
    }

    fn is_current(&self, session: u32) -> bool {
        self.state != State::None && self.session == session
    }
}

fn set(timer: Timer, ctx: &mut Context<LockTable>) {
    ctx.set_timer(timer, timer.delay());
}
