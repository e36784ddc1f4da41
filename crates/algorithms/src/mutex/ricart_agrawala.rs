//! Ricart and Agrawala's mutual exclusion: enter when everybody agrees; whoever is before you
//! says so by keeping silent until it has left.
//!
//! Source: G. Ricart, A. K. Agrawala, "An optimal algorithm for mutual exclusion in computer
//! networks", CACM 24(1), 1981.
//! Assumes: A1 every message arrives exactly once, in whatever order; A2 no crashes, or a restart
//! with the disk; A3 who enters also releases.
//!
//! | message   | from, to           | sent when                                | carries          |
//! |-----------|--------------------|------------------------------------------|------------------|
//! | `Request` | requester, all     | it wants to enter                        | its time and seq |
//! | `Ok`      | anyone, requester  | it is not before the requester, or left  | clock, that seq  |
//!
//! Rules: R1 who wants to enter sends `Request` to all others, with a time later than any it has
//! seen. R2 a request is answered with `Ok` at once, unless the node is inside or waits with an
//! earlier request of its own: then the answer is deferred. R3 a node enters when all others have
//! said `Ok` to its request. R4 who leaves, or no longer wants in, answers all it has deferred.
//!
//! Requests are ordered by (time, node), the smaller first. The seq of a request comes back in its
//! `Ok`, so that a late answer to a withdrawn request counts for nothing. The paper's answer
//! carries no clock; here it does, or a link that reorders could hide a request from a process
//! that already knows its effects.
//!
//! Has: mutual exclusion; no starvation (at most n-1 others enter first); request order; fences
//! that rise, for they are the requests' places in that order.
//! Lacks: any tolerance of a crash: everybody waits for everybody. With `Text::Seed`, which never
//! moves its clock on receipt, also mutual exclusion: a process that said OK can ask with a
//! smaller time than the one it said OK to.
//! Cost: 2(n-1) messages per entry; 2 message times to enter, 1 from exit to entry.

mod normal;
mod why;

pub use normal::normal;
pub use why::WHY;

use super::why::{OBSERVED, STRANGER};
use conclave_core::clock::{Lamport, Stamp};
use conclave_core::mutex::{Indication, Mutex, Request};
use conclave_core::{Context, Each, Event, Named, Never, NodeId, NodeSet, Process, Recovery};
use serde::{Deserialize, Serialize};

/// What the nodes tell each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Message {
    /// May I enter?
    Request {
        /// When the sender asked.
        time: u64,
        /// Which of its requests this is.
        seq: u32,
    },
    /// You may, as far as I am concerned.
    Ok {
        /// The sender's clock.
        time: u64,
        /// The request that this answers.
        seq: u32,
    },
}

impl Named for Message {
    fn name(&self) -> &'static str {
        match self {
            Self::Request { .. } => "REQUEST",
            Self::Ok { .. } => "OK",
        }
    }

    fn is_reply(&self) -> bool {
        matches!(self, Self::Ok { .. })
    }
}

/// Which text of the algorithm to follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Text {
    /// The paper's.
    Corrected,
    /// A lecture note's, which forgets to move the clock when a message arrives.
    Seed,
}

/// One node.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RicartAgrawala {
    me: NodeId,
    n: u32,
    text: Text,
    phase: Phase,
    clock: Lamport,
    /// When the latest request was made.
    asked: u64,
    /// The number of the latest request.
    seq: u32,
    /// Who said OK to it.
    granted: NodeSet,
    /// The largest seq that came from each node.
    heard: Vec<u32>,
    /// Whose latest request waits here for an answer.
    deferred: NodeSet,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Phase {
    Idle,
    Waiting,
    Inside,
}

impl Process for RicartAgrawala {
    type Provides = Mutex;
    type Uses = Never; // A2: nothing below to report a crash.
    type Message = Message;
    type Timer = Never;

    fn step(&mut self, event: Event<Self>, ctx: &mut Context<Self>) {
        match event {
            Event::Start => {}
            Event::Restart => {
                ctx.because(&why::RESTARTED, &self.deferred);
                self.leave(ctx); // Whatever it wanted or held ended with the crash.
            }
            Event::Request(Request::Acquire) => self.on_acquire(ctx),
            Event::Request(Request::Release) => self.on_release(ctx),
            Event::Request(Request::Cancel) => self.on_cancel(ctx),
            Event::Request(Request::Observe(time)) => self.observe(time, ctx),
            Event::Message { from, .. } if from.0 >= self.n || from == self.me => {
                ctx.because(&STRANGER, from);
            }
            Event::Message { from, message: Message::Request { time, seq } } => {
                self.on_request(from, time, seq, ctx);
            }
            Event::Message { from, message: Message::Ok { time, seq } } => {
                self.on_ok(from, time, seq, ctx);
            }
        }
    }

    /// All of it: a lost clock breaks mutual exclusion, a forgotten deferred request starves.
    fn after_crash(&self) -> Recovery<Self> {
        Recovery::State(self.clone())
    }

    fn clock(&self) -> u64 {
        self.clock.now()
    }

    fn waits(&self) -> Vec<(NodeId, NodeId)> {
        self.deferred.iter().map(|peer| (peer, self.me)).collect()
    }
}

impl RicartAgrawala {
    /// Node `me` of `n`, in its first state.
    pub fn new(me: NodeId, n: u32, text: Text) -> Self {
        assert!(me.0 < n, "{me} is outside a cluster of {n}");
        Self {
            me,
            n,
            text,
            phase: Phase::Idle,
            clock: Lamport::default(),
            asked: 0,
            seq: 0,
            granted: NodeSet::new(n),
            heard: vec![0; n as usize],
            deferred: NodeSet::new(n),
        }
    }

    fn on_acquire(&mut self, ctx: &mut Context<Self>) {
        assert_eq!(self.phase, Phase::Idle, "acquired twice");
        self.phase = Phase::Waiting;
        self.asked = self.clock.tick();
        self.seq += 1;
        ctx.because(&why::ASKED, self.own());
        for peer in self.me.others(self.n) {
            ctx.send(peer, Message::Request { time: self.asked, seq: self.seq });
        }
        self.enter_if_all_agree(ctx); // Alone, there is nobody to ask.
    }

    fn on_request(&mut self, from: NodeId, time: u64, seq: u32, ctx: &mut Context<Self>) {
        self.hear(time);
        let newest = &mut self.heard[from.index()];
        if seq < *newest {
            // Overtaken on the way by a later request: this one was withdrawn.
            return ctx.because(&why::OVERTAKEN, from);
        }
        *newest = seq;
        let theirs = Stamp::new(time, from);
        self.explain(theirs, ctx);
        if self.is_before(theirs) {
            self.deferred.insert(from);
        } else {
            ctx.send(from, Message::Ok { time: self.clock.now(), seq });
        }
    }

    fn on_ok(&mut self, from: NodeId, time: u64, seq: u32, ctx: &mut Context<Self>) {
        self.hear(time);
        if self.phase != Phase::Waiting || seq != self.seq {
            return ctx.because(&why::STALE, from); // It answers a request that was withdrawn.
        }
        self.granted.insert(from);
        self.enter_if_all_agree(ctx);
    }

    fn on_release(&mut self, ctx: &mut Context<Self>) {
        assert_eq!(self.phase, Phase::Inside, "released without entering");
        ctx.because(&why::LEFT, &self.deferred);
        self.leave(ctx);
    }

    fn on_cancel(&mut self, ctx: &mut Context<Self>) {
        assert_eq!(self.phase, Phase::Waiting, "cancelled without waiting");
        ctx.because(&why::WITHDREW, &self.deferred);
        self.leave(ctx);
    }

    fn leave(&mut self, ctx: &mut Context<Self>) {
        self.phase = Phase::Idle;
        self.granted.clear();
        for peer in self.deferred.iter() {
            ctx.send(peer, Message::Ok { time: self.clock.now(), seq: self.heard[peer.index()] });
        }
        self.deferred.clear();
    }

    fn enter_if_all_agree(&mut self, ctx: &mut Context<Self>) {
        if self.granted.len() < self.n - 1 {
            let missing = self.me.others(self.n).filter(|&peer| !self.granted.contains(peer));
            return ctx.because(&why::WAITS, (&self.granted, Each(missing)));
        }
        ctx.because(&why::ENTERED, self.own());
        self.phase = Phase::Inside;
        ctx.indicate(Indication::Entered { fence: self.own().as_number(self.n) });
    }

    /// The latest request's place in the order of all requests.
    fn own(&self) -> Stamp {
        Stamp::new(self.asked, self.me)
    }

    /// Whether this node goes first. Two that wait agree about it, so one of them answers.
    fn is_before(&self, other: Stamp) -> bool {
        match self.phase {
            Phase::Idle => false,
            Phase::Waiting => self.own() < other,
            Phase::Inside => true,
        }
    }

    /// Why a request is answered at once, or is not.
    fn explain(&self, other: Stamp, ctx: &mut Context<Self>) {
        match (self.phase, self.is_before(other)) {
            (Phase::Idle, _) => ctx.because(&why::AGREED, other.node),
            (Phase::Waiting, false) => ctx.because(&why::YIELDED, (other, self.own())),
            (Phase::Waiting, true) => ctx.because(&why::DEFERRED, (other.node, self.own(), other)),
            (Phase::Inside, _) => ctx.because(&why::DEFERRED_INSIDE, other.node),
        }
    }

    /// A message of the application is an event like any other.
    fn observe(&mut self, time: u64, ctx: &mut Context<Self>) {
        match self.text {
            Text::Corrected => {
                self.clock.receive(time);
            }
            Text::Seed => {} // As printed.
        }
        ctx.because(&OBSERVED, (time, self.clock.now()));
    }

    /// The next request of this node must be later than every request it has seen. That is all the
    /// paper's highest sequence number is for: it does not count messages.
    fn hear(&mut self, time: u64) {
        match self.text {
            Text::Corrected => self.clock.learn(time),
            Text::Seed => {} // As printed.
        }
    }
}

const _: () = assert!(size_of::<Event<RicartAgrawala>>() <= 32);

#[cfg(test)]
mod tests;
