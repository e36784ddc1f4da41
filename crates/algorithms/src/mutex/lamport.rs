//! Lamport's mutual exclusion: everybody keeps the whole queue, and enters when it is at the head
//! of it and has heard from all others since it asked.
//!
//! Source: L. Lamport, "Time, clocks, and the ordering of events in a distributed system",
//! CACM 21(7), 1978.
//! Assumes: A1 every message arrives exactly once; A2 no crashes, or a restart with the disk;
//! A3 who enters also releases; A4 messages from one node to another arrive in the order sent.
//!
//! | message   | from, to          | sent when                                     | carries |
//! |-----------|-------------------|-----------------------------------------------|---------|
//! | `Request` | requester, all    | it wants to enter                             | clock   |
//! | `Reply`   | anyone, requester | a `Request` arrives, wherever the receiver is | clock   |
//! | `Release` | requester, all    | it leaves, or no longer wants to enter        | clock   |
//!
//! Rules, as the paper numbers them: R1 who wants to enter sends `Request` to all others and puts
//! it into its own queue. R2 who receives a `Request` queues it and answers with a later `Reply`.
//! R3 who leaves takes its request out of its queue and sends `Release` to all others. R4 who
//! receives a `Release` takes that request out of its queue. R5 a node enters when its request is
//! before all others in its queue, and it has received something later from every other node.
//!
//! Requests are ordered by (time, node), the smaller first. Any message with a later time proves
//! by A4 that its sender's earlier requests have arrived, so no answer needs to name its request:
//! an old one that comes after a withdrawal still tells the truth. With `reply_saving` a node
//! skips a `Reply` to whom it has already sent something later than the request.
//!
//! Has: mutual exclusion; no starvation (at most n-1 others enter first); request order; fences
//! that rise, for they are the requests' places in that order.
//! Lacks: any tolerance of a crash or of reordering: a `Reply` that overtakes a `Request` lets two
//! in. A node that lost its queue would have to collect everybody's open request first.
//! Cost: 3(n-1) messages per entry, with `reply_saving` from 2(n-1); 2 message times to enter, 1
//! from exit to entry.

mod normal;
mod why;

pub use normal::normal;
pub use why::WHY;

use super::why::{OBSERVED, STRANGER};
use conclave_core::clock::{Lamport as Clock, Stamp};
use conclave_core::mutex::{Indication, Mutex, Request};
use conclave_core::{Context, Event, Named, Never, NodeId, Process, Recovery};
use serde::{Deserialize, Serialize};

/// In place of the time of a request: there is none. No request is later than this.
const NO_REQUEST: u64 = u64::MAX;

/// What the nodes tell each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Message {
    /// I want to enter; this is when I asked.
    Request {
        /// The sender's clock.
        time: u64,
    },
    /// I have your request, and anything I ask from now on is later.
    Reply {
        /// The sender's clock.
        time: u64,
    },
    /// My request is over.
    Release {
        /// The sender's clock.
        time: u64,
    },
}

impl Named for Message {
    fn name(&self) -> &'static str {
        match self {
            Self::Request { .. } => "REQUEST",
            Self::Reply { .. } => "REPLY",
            Self::Release { .. } => "RELEASE",
        }
    }

    fn is_reply(&self) -> bool {
        matches!(self, Self::Reply { .. })
    }
}

/// One node.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Lamport {
    me: NodeId,
    n: u32,
    reply_saving: bool,
    phase: Phase,
    clock: Clock,
    /// When this node made its latest request.
    asked: u64,
    /// The queue: the time of each node's open request, or [`NO_REQUEST`].
    queue: Vec<u64>,
    /// The latest time that came from each node.
    seen: Vec<u64>,
    /// The latest time sent to each node; nobody looks without `reply_saving`.
    sent: Vec<u64>,
    /// How many requests in the queue are before ours; 0 when we do not wait.
    ahead: u32,
    /// How many nodes might still have sent an earlier request; 0 when we do not wait.
    unheard: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Phase {
    Idle,
    Waiting,
    Inside,
}

impl Process for Lamport {
    type Provides = Mutex;
    type Uses = Never; // A2: nothing below to report a crash.
    type Message = Message;
    type Timer = Never;

    fn step(&mut self, event: Event<Self>, ctx: &mut Context<Self>) {
        match event {
            Event::Restart if self.phase != Phase::Idle => {
                ctx.because(&why::RESTARTED, self.own());
                self.leave(ctx); // The crash ended it.
            }
            Event::Restart => ctx.because(&why::RESTARTED_IDLE, ()),
            Event::Start => {}
            Event::Request(Request::Acquire) => self.on_acquire(ctx),
            Event::Request(Request::Release) => self.on_release(ctx),
            Event::Request(Request::Cancel) => self.on_cancel(ctx),
            Event::Request(Request::Observe(time)) => {
                self.clock.receive(time);
                ctx.because(&OBSERVED, (time, self.clock.now()));
            }
            Event::Message { from, .. } if from.0 >= self.n || from == self.me => {
                ctx.because(&STRANGER, from);
            }
            Event::Message { from, message: Message::Request { time } } => {
                self.on_request(from, time, ctx);
            }
            Event::Message { from, message: Message::Reply { time } } => {
                self.on_reply(from, time, ctx);
            }
            Event::Message { from, message: Message::Release { time } } => {
                self.on_release_of(from, time, ctx);
            }
        }
    }

    /// All of it: who forgets the queue enters while another is inside.
    fn after_crash(&self) -> Recovery<Self> {
        Recovery::State(self.clone())
    }

    fn clock(&self) -> u64 {
        self.clock.now()
    }

    fn waits(&self) -> Vec<(NodeId, NodeId)> {
        let before = |peer: &NodeId| self.is_before_us(*peer, self.queue[peer.index()]);
        self.me.others(self.n).filter(before).map(|peer| (self.me, peer)).collect()
    }
}

impl Lamport {
    /// Node `me` of `n`, in its first state.
    pub fn new(me: NodeId, n: u32, reply_saving: bool) -> Self {
        assert!(me.0 < n, "{me} is outside a cluster of {n}");
        Self {
            me,
            n,
            reply_saving,
            phase: Phase::Idle,
            clock: Clock::default(),
            asked: 0,
            queue: vec![NO_REQUEST; n as usize],
            seen: vec![0; n as usize],
            sent: if reply_saving { vec![0; n as usize] } else { Vec::new() },
            ahead: 0,
            unheard: 0,
        }
    }

    fn on_acquire(&mut self, ctx: &mut Context<Self>) {
        assert_eq!(self.phase, Phase::Idle, "acquired twice");
        self.phase = Phase::Waiting;
        self.asked = self.clock.tick();
        self.queue[self.me.index()] = self.asked;
        ctx.because(&why::ASKED, self.own());
        self.tell_all(Message::Request { time: self.asked }, ctx);
        self.ahead = self.count_before(&self.queue);
        self.unheard = self.count_before(&self.seen);
        self.enter_if_first(ctx);
    }

    fn on_request(&mut self, from: NodeId, time: u64, ctx: &mut Context<Self>) {
        self.clock.receive(time);
        if time > self.seen[from.index()] {
            self.queue_request(from, time);
            self.see(from, time);
        } else {
            // By A4 it came twice, and may be over by now: it is answered, not queued.
            ctx.because(&why::REPEATED, from);
        }
        if self.has_sent_later(from, time) {
            ctx.because(&why::SAVED, (from, self.sent[from.index()]));
        } else {
            ctx.because(&why::QUEUED, Stamp::new(time, from));
            let now = self.clock.tick();
            if self.reply_saving {
                self.sent[from.index()] = now;
            }
            ctx.send(from, Message::Reply { time: now });
        }
        self.enter_if_first(ctx);
    }

    fn on_reply(&mut self, from: NodeId, time: u64, ctx: &mut Context<Self>) {
        self.clock.receive(time);
        self.see(from, time);
        if self.phase != Phase::Waiting {
            ctx.because(&why::LATE_REPLY, from);
        }
        self.enter_if_first(ctx);
    }

    fn on_release(&mut self, ctx: &mut Context<Self>) {
        assert_eq!(self.phase, Phase::Inside, "released without entering");
        ctx.because(&why::LEFT, self.own());
        self.leave(ctx);
    }

    fn on_cancel(&mut self, ctx: &mut Context<Self>) {
        assert_eq!(self.phase, Phase::Waiting, "cancelled without waiting");
        ctx.because(&why::WITHDREW, self.own());
        self.leave(ctx);
    }

    fn leave(&mut self, ctx: &mut Context<Self>) {
        self.phase = Phase::Idle;
        self.queue[self.me.index()] = NO_REQUEST;
        self.ahead = 0;
        self.unheard = 0;
        let time = self.clock.tick();
        self.tell_all(Message::Release { time }, ctx);
    }

    fn on_release_of(&mut self, from: NodeId, time: u64, ctx: &mut Context<Self>) {
        self.clock.receive(time);
        self.see(from, time);
        if self.queue[from.index()] < time {
            self.queue_request(from, NO_REQUEST);
            ctx.because(&why::RELEASED, from);
        } else {
            // It came twice: what is queued now, if anything, is a later request.
            ctx.because(&why::RELEASED_BEFORE, from);
        }
        self.enter_if_first(ctx);
    }

    fn enter_if_first(&mut self, ctx: &mut Context<Self>) {
        if self.phase != Phase::Waiting {
            return;
        }
        if self.ahead > 0 || self.unheard > 0 {
            return ctx.because(&why::WAITS, (self.own(), self.ahead, self.unheard));
        }
        ctx.because(&why::ENTERED, self.own());
        self.phase = Phase::Inside;
        ctx.indicate(Indication::Entered { fence: self.own().as_number(self.n) });
    }

    /// The latest request's place in the order of all requests.
    fn own(&self) -> Stamp {
        Stamp::new(self.asked, self.me)
    }

    fn tell_all(&mut self, message: Message, ctx: &mut Context<Self>) {
        self.sent.fill(self.clock.now());
        for peer in self.me.others(self.n) {
            ctx.send(peer, message);
        }
    }

    /// The latest time heard of a node only rises, so it passes our request at most once.
    fn see(&mut self, from: NodeId, time: u64) {
        let known = self.seen[from.index()];
        if self.is_before_us(from, known) && !self.is_before_us(from, time) {
            self.unheard -= 1;
        }
        self.seen[from.index()] = known.max(time);
    }

    fn queue_request(&mut self, from: NodeId, time: u64) {
        let was_ahead = self.is_before_us(from, self.queue[from.index()]);
        let is_ahead = self.is_before_us(from, time);
        self.ahead = self.ahead + u32::from(is_ahead) - u32::from(was_ahead);
        self.queue[from.index()] = time;
    }

    fn count_before(&self, times: &[u64]) -> u32 {
        let before = |&peer: &NodeId| self.is_before_us(peer, times[peer.index()]);
        self.me.others(self.n).filter(before).count() as u32
    }

    fn is_before_us(&self, node: NodeId, time: u64) -> bool {
        self.phase == Phase::Waiting && Stamp::new(time, node) < self.own()
    }

    /// Whether a node has been sent, or will get, a message later than its own request.
    fn has_sent_later(&self, to: NodeId, time: u64) -> bool {
        self.reply_saving && Stamp::new(self.sent[to.index()], self.me) > Stamp::new(time, to)
    }
}

const _: () = assert!(size_of::<Event<Lamport>>() <= 32);

#[cfg(test)]
mod tests;
