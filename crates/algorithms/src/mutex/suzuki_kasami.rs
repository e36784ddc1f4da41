//! Suzuki and Kasami's mutual exclusion: requests go to everybody, the token knows who was served.
//!
//! Source: I. Suzuki and T. Kasami, "A distributed mutual exclusion algorithm", ACM Transactions on
//! Computer Systems 3(4), 1985.
//! Assumes: A1 every message arrives exactly once, in any order; A2 no crash loses a node's state;
//! A3 who enters also leaves.
//!
//! | message   | from, to        | sent when                           | carries              |
//! |-----------|-----------------|-------------------------------------|----------------------|
//! | `REQUEST` | node, everybody | a node asks without the token       | the request's number |
//! | `TOKEN`   | node, node      | on release, or idle upon a request  | LN, queue, the fence |
//!
//! Rules: R1 who wants to enter and has the token enters; else it sends everybody its request, under
//! its next number. R2 who hears of a request remembers its number; an idle holder of the token
//! sends it to a requester that waits. R3 who waits enters when the token comes. R4 who leaves marks
//! its own request as served in the token, appends whoever waits to the token's queue, and sends
//! the token to the first of it; with nobody there, it keeps the token.
//!
//! RN\[j\] is the largest request number heard of j, LN\[j\] that of its last request served. Who
//! has RN\[j\] = LN\[j\] + 1 waits. A withdrawn request is not taken back: the token that comes for
//! it is treated as released at once, and who asks again meanwhile just wants it after all.
//!
//! Has: mutual exclusion; no starvation (at most n-1 others enter first).
//! Lacks: request order (the queue is filled in ring order); any tolerance of loss.
//! Cost: 0 messages where the token is, else n; one message time from exit to entry.

mod normal;
mod why;

pub use normal::normal;
pub use why::WHY;

use super::why::{NO_CLOCK, STRANGER};
use conclave_core::mutex::{Indication, Mutex, Request};
use conclave_core::{Context, Each, Event, Named, Never, NodeId, NodeSet, Process, Recovery};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// What is sent.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Message {
    /// The sender asks for the token.
    Request {
        /// Which of its requests this is.
        number: u32,
    },
    /// The right to enter.
    Token(Box<Token>),
}

impl Named for Message {
    fn name(&self) -> &'static str {
        match self {
            Self::Request { .. } => "REQUEST",
            Self::Token(_) => "TOKEN",
        }
    }
}

/// What the token carries.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Token {
    /// LN: the number of each node's last request served.
    served: Vec<u32>,
    /// Q: who gets it next.
    queue: VecDeque<NodeId>,
    /// Who is in the queue, to see it at a glance.
    queued: NodeSet,
    /// How many entries there have been: the fence of the latest.
    fence: u64,
}

impl Token {
    fn new(n: u32) -> Box<Self> {
        let served = vec![0; n as usize];
        let queue = VecDeque::with_capacity(n as usize);
        Box::new(Self { served, queue, queued: NodeSet::new(n), fence: 0 })
    }
}

/// One node.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SuzukiKasami {
    me: NodeId,
    /// A request of this node is out, wanted or not.
    asked: bool,
    phase: Phase,
    token: Option<Box<Token>>,
    /// RN: the largest request number heard of each node.
    requested: Vec<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Phase {
    Idle,
    Waiting,
    Inside,
}

impl Process for SuzukiKasami {
    type Provides = Mutex;
    type Uses = Never; // A2: nothing below to report a crash.
    type Message = Message;
    type Timer = Never;

    fn step(&mut self, event: Event<Self>, ctx: &mut Context<Self>) {
        match event {
            Event::Start if self.me == NodeId(0) => {
                ctx.because(&why::MINTED, ());
                self.token = Some(Token::new(self.n()));
            }
            Event::Start => {}
            Event::Restart => {
                ctx.because(&why::RESTARTED, ());
                self.pass_on(ctx); // Whatever the crash cut short is over.
            }
            Event::Request(Request::Acquire) => self.on_acquire(ctx),
            Event::Message { from, message: Message::Request { number } } => {
                self.on_request(from, number, ctx);
            }
            Event::Message { from, message: Message::Token(token) } => {
                self.on_token(from, token, ctx);
            }
            Event::Request(Request::Release) => self.on_release(ctx),
            Event::Request(Request::Cancel) => self.on_cancel(ctx),
            Event::Request(Request::Observe(_)) => ctx.because(&NO_CLOCK, ()),
        }
    }

    fn after_crash(&self) -> Recovery<Self> {
        Recovery::State(Self { phase: Phase::Idle, ..self.clone() })
    }

    /// Who has the token knows who waits for it.
    fn waits(&self) -> Vec<(NodeId, NodeId)> {
        let Some(token) = &self.token else { return Vec::new() };
        let others = self.me.others(self.n());
        others.filter(|other| self.is_waiting(*other, token)).map(|one| (one, self.me)).collect()
    }
}

impl SuzukiKasami {
    /// A node in its first state; the first node mints the token when it starts.
    pub fn new(me: NodeId, n: u32) -> Self {
        assert!(me.0 < n, "{me} is outside a cluster of {n}");
        let requested = vec![0; n as usize];
        Self { me, asked: false, phase: Phase::Idle, token: None, requested }
    }

    fn on_acquire(&mut self, ctx: &mut Context<Self>) {
        assert_eq!(self.phase, Phase::Idle, "acquired twice");
        self.phase = Phase::Waiting;
        if self.token.is_some() {
            ctx.because(&why::FOUND_HERE, ());
            return self.enter(ctx);
        }
        if self.asked {
            return ctx.because(&why::ASKED_BEFORE, self.requested[self.me.index()]);
        }
        self.asked = true;
        let number = self.requested[self.me.index()] + 1;
        ctx.because(&why::ASKED, number);
        self.requested[self.me.index()] = number;
        for other in self.me.others(self.n()) {
            ctx.send(other, Message::Request { number });
        }
    }

    fn on_request(&mut self, from: NodeId, number: u32, ctx: &mut Context<Self>) {
        let Some(requested) = self.requested.get_mut(from.index()) else {
            return ctx.because(&STRANGER, from);
        };
        *requested = number.max(*requested); // Late ones change nothing.
        let Some(token) = &self.token else {
            return ctx.because(&why::REMEMBERED, (from, number));
        };
        if !self.is_waiting(from, token) {
            return ctx.because(&why::SERVED, (from, number));
        }
        if self.phase != Phase::Idle {
            return ctx.because(&why::REMEMBERED_INSIDE, (from, number));
        }
        ctx.because(&why::SENT, from);
        if let Some(token) = self.token.take() {
            ctx.send(from, Message::Token(token));
        }
    }

    fn on_token(&mut self, from: NodeId, token: Box<Token>, ctx: &mut Context<Self>) {
        if token.served.len() != self.requested.len() {
            return ctx.because(&STRANGER, from);
        }
        if self.token.is_some() {
            return ctx.because(&why::COPY, ()); // Of the one that is here (A1).
        }
        self.token = Some(token);
        self.asked = false;
        match self.phase {
            Phase::Waiting => {
                ctx.because(&why::ENTERED, ());
                self.enter(ctx);
            }
            Phase::Idle => {
                ctx.because(&why::UNWANTED, ());
                self.pass_on(ctx);
            }
            Phase::Inside => {} // Only with a token, and there was none: it cannot be.
        }
    }

    fn on_release(&mut self, ctx: &mut Context<Self>) {
        assert_eq!(self.phase, Phase::Inside, "released without entering");
        self.phase = Phase::Idle;
        self.pass_on(ctx);
    }

    fn on_cancel(&mut self, ctx: &mut Context<Self>) {
        assert_eq!(self.phase, Phase::Waiting, "cancelled without waiting");
        ctx.because(&why::WITHDREW, ());
        self.phase = Phase::Idle;
    }

    fn enter(&mut self, ctx: &mut Context<Self>) {
        let token = self.token.as_mut().expect("who enters holds the token");
        self.phase = Phase::Inside;
        token.fence += 1;
        ctx.indicate(Indication::Entered { fence: token.fence });
    }

    /// Marks this node as served, queues whoever waits, and sends the token to the first, if any.
    fn pass_on(&mut self, ctx: &mut Context<Self>) {
        let Some(mut token) = self.token.take() else {
            return;
        };
        token.served[self.me.index()] = self.requested[self.me.index()];
        // In ring order from here, so that no number is favoured.
        let n = self.n();
        for other in (self.me.0 + 1..n).chain(0..self.me.0).map(NodeId) {
            if self.is_waiting(other, &token) && token.queued.insert(other) {
                token.queue.push_back(other);
            }
        }
        match token.queue.pop_front() {
            Some(first) => {
                token.queued.remove(first);
                ctx.because(&why::PASSED, (first, Each(token.queue.iter().copied())));
                ctx.send(first, Message::Token(token));
            }
            None => {
                ctx.because(&why::KEEPS, ());
                self.token = Some(token);
            }
        }
    }

    /// Whether a request of this node is known that was not served yet.
    fn is_waiting(&self, node: NodeId, token: &Token) -> bool {
        self.requested[node.index()] == token.served[node.index()] + 1
    }

    fn n(&self) -> u32 {
        self.requested.len() as u32
    }
}

#[cfg(test)]
mod tests;
