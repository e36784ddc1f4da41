//! Naimi and Trehel's mutual exclusion: requests climb to whoever asked last, the token goes down
//! the line of those who wait.
//!
//! Source: M. Naimi, M. Trehel and A. Arnold, "A log(N) distributed mutual exclusion algorithm
//! based on path reversal", Journal of Parallel and Distributed Computing 34(1), 1996.
//! Assumes: A1 every message arrives exactly once, in any order; A2 no crash loses a node's state;
//! A3 who enters also leaves.
//!
//! | message   | from, to                    | sent when                      | carries     |
//! |-----------|-----------------------------|--------------------------------|-------------|
//! | `REQUEST` | node, father, his father, … | a node asks without the token  | who asks    |
//! | `TOKEN`   | node, the next in line      | on release, or when it is idle | the entries |
//!
//! Rules: R1 who wants to enter and has the token enters; else it asks its father, and is a root
//! itself from then on. R2 a node that has a father passes a request on to it, and takes the
//! requester for its father (path reversal). R3 a root makes the requester its next; if it has the
//! token and does not want it, the token goes there at once. R4 who waits enters when the token
//! comes. R5 who leaves, or no longer wants the token that comes, passes it to its next; with no
//! next, it keeps it.
//!
//! `father` is where a node believes the last requester to be; every request that passes turns it
//! to its origin. `next` makes a queue out of those who wait, each knowing only its successor.
//!
//! A withdrawn request cannot be called back from the line: it stays, unwanted, and the token is
//! passed on when it comes. Who asks again meanwhile just wants it after all. This is why a node
//! that asks looks for the token and not for its father: after a withdrawal the last requester has
//! no father either, and waits for the token all the same.
//!
//! Has: mutual exclusion; no starvation (at most n-1 others enter first, once the request has
//! joined the line that ends at the token).
//! Lacks: a bound before that (it may stand behind a request that is itself still under way);
//! request order (a request that takes a longer way is later); any tolerance of loss.
//! Cost: 0 to n messages, on average about the logarithm of n; one message time from exit to entry.

mod normal;
mod why;

pub use normal::normal;
pub use why::WHY;

use super::why::NO_CLOCK;
use conclave_core::mutex::{Indication, Mutex, Request};
use conclave_core::{Context, Event, Named, Never, NodeId, Process, Recovery, Why};
use serde::{Deserialize, Serialize};

/// What is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Message {
    /// Somebody asks for the token.
    Request {
        /// Who asks, whoever carried it here.
        origin: NodeId,
    },
    /// The right to enter.
    Token {
        /// How many entries there have been: the fence of the latest.
        fence: u64,
    },
}

impl Named for Message {
    fn name(&self) -> &'static str {
        match self {
            Self::Request { .. } => "REQUEST",
            Self::Token { .. } => "TOKEN",
        }
    }
}

/// One node.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct NaimiTrehel {
    me: NodeId,
    /// Whither requests go; nowhere from the last requester.
    father: Option<NodeId>,
    /// Who gets the token after this node.
    next: Option<NodeId>,
    /// The largest fence seen.
    fence: u64,
    token: bool,
    /// A request of this node is out, wanted or not.
    asked: bool,
    phase: Phase,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Phase {
    Idle,
    Waiting,
    Inside,
}

impl Process for NaimiTrehel {
    type Provides = Mutex;
    type Uses = Never; // A2: nothing below to report a crash.
    type Message = Message;
    type Timer = Never;

    fn step(&mut self, event: Event<Self>, ctx: &mut Context<Self>) {
        match event {
            Event::Start => self.on_start(ctx),
            Event::Restart => {
                ctx.because(&why::RESTARTED, ());
                self.pass_on(&why::PASSED, ctx); // Whatever the crash cut short is over.
            }
            Event::Request(Request::Acquire) => self.on_acquire(ctx),
            Event::Message { message: Message::Request { origin }, .. } => {
                self.on_request(origin, ctx);
            }
            Event::Message { message: Message::Token { fence }, .. } => self.on_token(fence, ctx),
            Event::Request(Request::Release) => self.on_release(ctx),
            Event::Request(Request::Cancel) => self.on_cancel(ctx),
            Event::Request(Request::Observe(_)) => ctx.because(&NO_CLOCK, ()),
        }
    }

    fn after_crash(&self) -> Recovery<Self> {
        Recovery::State(Self { phase: Phase::Idle, ..self.clone() })
    }

    fn waits(&self) -> Vec<(NodeId, NodeId)> {
        self.next.map(|next| (next, self.me)).into_iter().collect()
    }
}

impl NaimiTrehel {
    /// A node in its first state: the first is the root, and everybody's father.
    pub fn new(me: NodeId) -> Self {
        let father = (me != NodeId(0)).then_some(NodeId(0));
        let token = false;
        let asked = false;
        let phase = Phase::Idle;
        Self { me, father, next: None, fence: 0, token, asked, phase }
    }

    fn on_start(&mut self, ctx: &mut Context<Self>) {
        self.token = self.father.is_none();
        if self.token {
            ctx.because(&why::MINTED, ());
        }
    }

    fn on_acquire(&mut self, ctx: &mut Context<Self>) {
        assert_eq!(self.phase, Phase::Idle, "acquired twice");
        self.phase = Phase::Waiting;
        if self.token {
            ctx.because(&why::FOUND_HERE, ());
            return self.enter(ctx);
        }
        let Some(father) = self.father.filter(|_| !self.asked) else {
            // Without a father, and without the token, there is a request out: a withdrawn one.
            return ctx.because(&why::ASKED_BEFORE, ());
        };
        ctx.because(&why::ASKED, father);
        self.father = None;
        self.asked = true;
        ctx.send(father, Message::Request { origin: self.me });
    }

    fn on_request(&mut self, origin: NodeId, ctx: &mut Context<Self>) {
        if origin == self.me {
            // Only a copy could come back here (A1): who it passed points to its origin.
            return ctx.because(&why::OWN_COPY, ());
        }
        match self.father.replace(origin) {
            Some(father) => {
                ctx.because(&why::FORWARDED, (origin, father));
                ctx.send(father, Message::Request { origin });
            }
            None => {
                self.next = Some(origin);
                if self.phase == Phase::Idle && self.token {
                    self.pass_on(&why::GIVEN, ctx);
                } else {
                    ctx.because(&why::NEXT, origin);
                }
            }
        }
    }

    fn on_token(&mut self, fence: u64, ctx: &mut Context<Self>) {
        self.token = true;
        self.asked = false;
        self.fence = self.fence.max(fence);
        match self.phase {
            Phase::Waiting => {
                ctx.because(&why::ENTERED, ());
                self.enter(ctx);
            }
            Phase::Idle => {
                ctx.because(&why::UNWANTED, ());
                self.pass_on(&why::PASSED, ctx);
            }
            // There is a token here already: a copy (A1), it melts into that.
            Phase::Inside => ctx.because(&why::COPY, ()),
        }
    }

    fn on_release(&mut self, ctx: &mut Context<Self>) {
        assert_eq!(self.phase, Phase::Inside, "released without entering");
        self.phase = Phase::Idle;
        self.pass_on(&why::PASSED, ctx);
    }

    fn on_cancel(&mut self, ctx: &mut Context<Self>) {
        assert_eq!(self.phase, Phase::Waiting, "cancelled without waiting");
        ctx.because(&why::WITHDREW, ());
        self.phase = Phase::Idle;
    }

    fn enter(&mut self, ctx: &mut Context<Self>) {
        self.phase = Phase::Inside;
        self.fence += 1;
        ctx.indicate(Indication::Entered { fence: self.fence });
    }

    /// Gives the token to the next in line, if it is here and somebody is.
    fn pass_on(&mut self, why: &'static Why, ctx: &mut Context<Self>) {
        if !self.token {
            return;
        }
        let Some(next) = self.next.take() else { return ctx.because(&why::KEEPS, ()) };
        ctx.because(why, next);
        self.token = false;
        ctx.send(next, Message::Token { fence: self.fence });
    }
}

#[cfg(test)]
mod tests;
