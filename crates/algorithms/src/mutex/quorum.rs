//! A quorum of queueing coordinators: each runs the centralised coordinator by itself, and a
//! client enters with the grants of more than half of them.
//!
//! Source: a lecture's variant of S.-D. Lin, Q. Lian, M. Chen and Z. Zhang, "A practical
//! distributed mutual exclusion protocol in dynamic peer-to-peer systems", IPTPS 2004.
//! Assumes: A1 every message arrives exactly once, in any order; A2 no coordinator forgets its
//! grant, and at most m-q of them crash; A3 who enters also releases.
//!
//! | message   | from, to            | sent when                                    | carries    |
//! |-----------|---------------------|----------------------------------------------|------------|
//! | `Request` | client, coordinator | the client wants to enter; to all m          | seq, fence |
//! | `Grant`   | coordinator, client | it is this client's turn there               | seq, fence |
//! | `Release` | client, coordinator | on exit, abort or withdrawal; to all m       | seq, fence |
//!
//! Rules: R1 who wants to enter asks all m coordinators, and asks the silent ones again if it
//! retransmits. R2 a coordinator lends its grant to one request at a time, to the first in its
//! line; the others wait there. R3 a client enters with q grants; a grant for a request that is
//! over goes back. R4 with an abort timer, who waits too long gives everything back, pauses, and
//! asks anew. R5 who leaves, or no longer wants in, tells all coordinators.
//!
//! Has: mutual exclusion while no coordinator forgets, since two sets of q > m/2 meet; rising
//! fences, since the coordinator in which they meet knew the last one before it was free.
//! Lacks: progress, since clients that each hold some coordinators wait for each other for ever;
//! with an abort timer they may keep aborting each other instead, so nobody is promised entry.
//! Coordinators that lose their memory break mutual exclusion once 2q-m of a holder's q forget,
//! and then two holders may get the same fence.
//! Cost: 3m messages; more with aborts and retransmissions.

mod normal;
mod symmetry;
mod why;

pub use normal::normal;
pub use symmetry::rename;
pub use why::WHY;

use super::desk::{Arrival, Desk, Ticket};
use super::places::Places;
use super::why::{MISDIRECTED, NO_CLOCK, STRANGER};
use conclave_core::mutex::{Indication, Mutex, Request};
use conclave_core::{
    Context, Delay, Each, Event, Named, Never, NodeId, NodeSet, Process, Recovery, Ticks,
};
use serde::{Deserialize, Serialize};

/// What is said between a client and a coordinator. Every grant names the request it answers;
/// every message carries the largest fence its sender knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the table above names what is carried")]
pub enum Message {
    /// Let me in. It also says that all earlier requests are over, hence the fence.
    Request { seq: u32, fence: u64 },
    /// As far as I am concerned, enter.
    Grant { seq: u32, fence: u64 },
    /// I am out, or no longer want in.
    Release { seq: u32, fence: u64 },
}

impl Named for Message {
    fn name(&self) -> &'static str {
        match self {
            Self::Request { .. } => "REQUEST",
            Self::Grant { .. } => "GRANT",
            Self::Release { .. } => "RELEASE",
        }
    }
}

/// The variant of the algorithm that all nodes run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Setup {
    /// Who is who.
    pub places: Places,
    /// How many grants let a client in: more than half of the coordinators.
    pub votes: u32,
    /// How long a client waits before it gives everything back, if ever.
    pub abort_after: Option<Ticks>,
    /// How long it then pauses at most.
    pub backoff: Ticks,
    /// After how long it asks the silent ones again, if ever.
    pub retransmit: Option<Ticks>,
}

/// A client's timers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Timer {
    /// This took too long: give everything back.
    Abort,
    /// Ask anew.
    Backoff,
    /// Ask again whoever is silent.
    Retransmit,
}

/// One node: a client, a coordinator, or both.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Quorum {
    setup: Setup,
    phase: Phase,
    seq: u32,
    /// The largest fence this client used or heard of.
    fence: u64,
    grants: NodeSet,
    coordinator: Option<Box<Coordinator>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Phase {
    Idle,
    Waiting,
    Backoff,
    Inside,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Coordinator {
    desk: Desk,
    fence: u64,
}

impl Process for Quorum {
    type Provides = Mutex;
    type Uses = Never; // A2: who is silent is not missed, as long as q grant.
    type Message = Message;
    type Timer = Timer;

    fn step(&mut self, event: Event<Self>, ctx: &mut Context<Self>) {
        match event {
            Event::Start => {}
            Event::Restart => self.on_restart(ctx),
            Event::Request(Request::Acquire) => self.on_acquire(ctx),
            Event::Request(Request::Release) => self.on_release(ctx),
            Event::Request(Request::Cancel) => self.on_cancel(ctx),
            Event::Request(Request::Observe(_)) => ctx.because(&NO_CLOCK, ()),
            Event::Message { from, message } => self.on_message(from, message, ctx),
            Event::Timer(Timer::Abort) => self.on_abort(ctx),
            Event::Timer(Timer::Backoff) => {
                ctx.because(&why::ASKED_ANEW, self.seq + 1);
                self.ask(ctx);
            }
            Event::Timer(Timer::Retransmit) => {
                ctx.because(&why::ASKED_AGAIN, self.granted());
                self.ask_the_silent(ctx);
            }
        }
    }

    fn after_crash(&self) -> Recovery<Self> {
        Recovery::State(self.clone())
    }

    fn waits(&self) -> Vec<(NodeId, NodeId)> {
        self.coordinator.iter().flat_map(|coordinator| coordinator.desk.waits()).collect()
    }
}

impl Quorum {
    /// Node `me` in its first state.
    pub fn new(me: NodeId, setup: Setup) -> Self {
        let clients = setup.places.clients();
        let m = setup.places.coordinators();
        assert!(setup.votes <= m && setup.votes > m / 2, "{} votes of {m}", setup.votes);
        let desk = |_| Box::new(Coordinator { desk: Desk::new(clients), fence: 0 });
        let coordinator = setup.places.seat_of(me).map(desk);
        let grants = NodeSet::new(m);
        Self { setup, phase: Phase::Idle, seq: 0, fence: 0, grants, coordinator }
    }

    /// The application died with the node: whatever it had asked for or held is given back.
    fn on_restart(&mut self, ctx: &mut Context<Self>) {
        ctx.because(&why::RESTARTED, ());
        if self.phase != Phase::Idle {
            self.phase = Phase::Idle;
            self.give_back(ctx);
        }
    }

    fn on_acquire(&mut self, ctx: &mut Context<Self>) {
        assert_eq!(self.phase, Phase::Idle, "acquired twice");
        if self.setup.places.alone() {
            ctx.because(&why::ALONE, ());
            return self.enter(ctx); // Nobody to be kept out, so nobody to be asked.
        }
        ctx.because(&why::ASKED, self.setup.votes);
        self.ask(ctx);
    }

    fn ask(&mut self, ctx: &mut Context<Self>) {
        self.phase = Phase::Waiting;
        self.seq += 1;
        self.grants.clear();
        self.ask_the_silent(ctx);
        if let Some(patience) = self.setup.abort_after {
            ctx.set_timer(Timer::Abort, Delay::exactly(patience));
        }
    }

    fn on_message(&mut self, from: NodeId, message: Message, ctx: &mut Context<Self>) {
        let seat = self.setup.places.seat_of(from);
        let from_client = self.setup.places.is_client(from);
        match (message, seat) {
            (Message::Request { seq, fence }, _) if from_client => {
                self.on_request(from, seq, fence, ctx);
            }
            (Message::Release { seq, fence }, _) if from_client => {
                self.on_released(from, seq, fence, ctx);
            }
            (Message::Grant { seq, fence }, Some(seat)) => self.on_grant(seat, seq, fence, ctx),
            (Message::Request { .. } | Message::Release { .. }, _) => ctx.because(&STRANGER, from),
            (Message::Grant { .. }, None) => ctx.because(&STRANGER, from),
        }
    }

    fn on_grant(&mut self, seat: NodeId, seq: u32, fence: u64, ctx: &mut Context<Self>) {
        self.fence = self.fence.max(fence);
        match self.phase {
            Phase::Waiting if seq == self.seq => {
                self.grants.insert(seat);
                if self.grants.len() >= self.setup.votes {
                    ctx.because(&why::ENTERED, (self.granted(), self.setup.votes));
                    self.stop_timers(ctx);
                    self.enter(ctx);
                } else {
                    ctx.because(&why::COUNTED, (self.granted(), self.setup.votes));
                }
            }
            // Not needed; the release goes to all.
            Phase::Inside if seq == self.seq => ctx.because(&why::NOT_NEEDED, ()),
            // It answers a request that is over. Counted, it would let in two.
            Phase::Idle | Phase::Waiting | Phase::Backoff | Phase::Inside => {
                let to = self.setup.places.node_at(seat);
                ctx.because(&why::GAVE_BACK, (to, seq));
                ctx.send(to, Message::Release { seq, fence: self.fence });
            }
        }
    }

    /// The coordinators that have granted the latest request.
    fn granted(&self) -> Each<impl Iterator<Item = NodeId> + '_> {
        Each(self.grants.iter().map(|seat| self.setup.places.node_at(seat)))
    }

    fn enter(&mut self, ctx: &mut Context<Self>) {
        self.phase = Phase::Inside;
        self.fence += 1;
        ctx.indicate(Indication::Entered { fence: self.fence });
    }

    fn on_release(&mut self, ctx: &mut Context<Self>) {
        assert_eq!(self.phase, Phase::Inside, "released without entering");
        ctx.because(&why::LEFT, ());
        self.phase = Phase::Idle;
        self.give_back(ctx);
    }

    fn on_cancel(&mut self, ctx: &mut Context<Self>) {
        ctx.because(&why::WITHDREW, ());
        match self.phase {
            Phase::Waiting => {
                self.stop_timers(ctx);
                self.give_back(ctx);
            }
            Phase::Backoff => ctx.cancel_timer(Timer::Backoff), // All was given back before.
            Phase::Idle | Phase::Inside => panic!("cancelled without waiting"),
        }
        self.phase = Phase::Idle;
    }

    fn on_abort(&mut self, ctx: &mut Context<Self>) {
        ctx.because(&why::ABORTED, (self.granted(), self.setup.votes));
        self.phase = Phase::Backoff;
        self.stop_timers(ctx);
        self.give_back(ctx);
        ctx.set_timer(Timer::Backoff, Delay::between(Ticks::ZERO, self.setup.backoff));
    }

    fn on_request(&mut self, from: NodeId, seq: u32, fence: u64, ctx: &mut Context<Self>) {
        let Some(coordinator) = self.coordinator.as_deref_mut() else {
            return ctx.because(&MISDIRECTED, from);
        };
        coordinator.fence = coordinator.fence.max(fence);
        match coordinator.desk.request(Ticket { client: from, seq, time: 0 }) {
            Arrival::Over => ctx.because(&why::OVER, (seq, from)),
            Arrival::Waits => ctx.because(&why::WAITS_HERE, (seq, from)),
            Arrival::Holds => {
                ctx.because(&why::GRANTED_AGAIN, from);
                let fence = coordinator.fence; // Its first grant may be lost.
                ctx.send(from, Message::Grant { seq, fence });
            }
            Arrival::New => {
                if let Some(holder) = coordinator.desk.holder() {
                    ctx.because(&why::QUEUED, (from, holder.client));
                }
                coordinator.pump(ctx);
            }
        }
    }

    fn on_released(&mut self, from: NodeId, seq: u32, fence: u64, ctx: &mut Context<Self>) {
        let Some(coordinator) = self.coordinator.as_deref_mut() else {
            return ctx.because(&MISDIRECTED, from);
        };
        coordinator.fence = coordinator.fence.max(fence); // Before anybody else is let in.
        let held = coordinator.desk.holder().is_some_and(|holder| holder.client == from);
        if coordinator.desk.is_over(from, seq) {
            ctx.because(&why::OVER, (seq, from));
        } else if !held {
            ctx.because(&why::WITHDRAWN, from);
        }
        coordinator.desk.release(from, seq);
        coordinator.pump(ctx);
    }

    fn ask_the_silent(&self, ctx: &mut Context<Self>) {
        let request = Message::Request { seq: self.seq, fence: self.fence };
        for seat in self.setup.places.seats().filter(|&seat| !self.grants.contains(seat)) {
            ctx.send(self.setup.places.node_at(seat), request);
        }
        if let Some(interval) = self.setup.retransmit {
            ctx.set_timer(Timer::Retransmit, Delay::exactly(interval));
        }
    }

    /// To all, not only to those who granted: at the others a request stands in line.
    fn give_back(&self, ctx: &mut Context<Self>) {
        if self.setup.places.alone() {
            return;
        }
        let release = Message::Release { seq: self.seq, fence: self.fence };
        for seat in self.setup.places.seats() {
            ctx.send(self.setup.places.node_at(seat), release);
        }
    }

    fn stop_timers(&self, ctx: &mut Context<Self>) {
        if self.setup.abort_after.is_some() {
            ctx.cancel_timer(Timer::Abort);
        }
        if self.setup.retransmit.is_some() {
            ctx.cancel_timer(Timer::Retransmit);
        }
    }
}

impl Coordinator {
    /// Lets the first in line in, if the resource is free here.
    fn pump(&mut self, ctx: &mut Context<Quorum>) {
        if self.desk.holder().is_some() {
            return;
        }
        let Some(next) = self.desk.grant(0) else { return ctx.because(&why::FREE, ()) };
        ctx.because(&why::GRANTED, next.client);
        ctx.send(next.client, Message::Grant { seq: next.seq, fence: self.fence });
    }
}

#[cfg(test)]
mod tests;
