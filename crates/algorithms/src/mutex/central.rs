//! Centralised mutual exclusion: one coordinator is asked, and lets in one client at a time.
//!
//! Source: folklore; told by M. van Steen and A. S. Tanenbaum, "Distributed Systems".
//! Assumes: A1 every message arrives exactly once, in any order; A2 no crashes, except of a node
//! that comes back with its disk; A3 who enters also releases.
//!
//! | message       | from, to            | sent when                        | carries          |
//! |---------------|---------------------|----------------------------------|------------------|
//! | `Request`     | client, coordinator | the client wants to enter        | seq, time        |
//! | `Grant`       | coordinator, client | it is this client's turn         | seq, fence, time |
//! | `Queued`      | coordinator, client | busy, if notices were asked for  | seq, position    |
//! | `Nok`         | coordinator, client | busy, if nobody is to wait there | seq              |
//! | `Release`     | client, coordinator | it leaves or no longer wants in  | seq              |
//! | `ReleaseAck`  | coordinator, client | a release came, if asked for     | seq              |
//!
//! Rules: R1 who wants to enter asks the coordinator. R2 while nobody is inside, the coordinator lets
//! in the next of those that wait. R3 while somebody is, a request waits in line, in silence or with
//! a notice; or it is refused, and comes again after a pause. R4 a client enters when its request
//! is granted; a grant for a request that was withdrawn goes back. R5 who leaves, or no longer wants
//! in, tells the coordinator, which goes on with R2.
//!
//! Has: mutual exclusion; progress; no starvation, at most n-1 others first by arrival (n by
//! timestamp); fences, which are the coordinator's count of grants.
//! Lacks: happened-before order, since an earlier request may arrive later. Random and last-come
//! service and refusals starve. All stops without the coordinator; if it forgets, two get in; and
//! if a release names nobody ([`Release::Anybodys`]), who withdraws ends another's hold.
//! Cost: 3 messages, 2 to enter and 1 to leave; none where coordinator and client share a node.

mod normal;
mod variant;
mod why;

pub use normal::normal;
pub use variant::{Busy, Order, Release, Setup, Timer};
pub use why::WHY;

use super::desk::{Arrival, Desk, Ticket};
use super::why::{MISDIRECTED, NO_CLOCK, OBSERVED, STRANGER};
use conclave_core::clock::Lamport;
use conclave_core::mutex::{Indication, Mutex, Request};
use conclave_core::{Context, Delay, Event, Named, Never, NodeId, Process, Recovery, Ticks};
use serde::{Deserialize, Serialize};

/// What is said between a client and the coordinator. Every answer names the request it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the table above names what is carried")]
pub enum Message {
    /// Let me in. The time is 0 unless service goes by timestamps.
    Request { seq: u32, time: u64 },
    /// Enter.
    Grant { seq: u32, fence: u64, time: u64 },
    /// Wait; you stand at this position of the line.
    Queued { seq: u32, position: u32 },
    /// Refused; ask again later.
    Nok { seq: u32 },
    /// I am out, or no longer want in.
    Release { seq: u32 },
    /// I know.
    ReleaseAck { seq: u32 },
}

impl Named for Message {
    fn name(&self) -> &'static str {
        match self {
            Self::Request { .. } => "REQUEST",
            Self::Grant { .. } => "GRANT",
            Self::Queued { .. } => "QUEUED",
            Self::Nok { .. } => "NOK",
            Self::Release { .. } => "RELEASE",
            Self::ReleaseAck { .. } => "RELEASE_ACK",
        }
    }
}

/// One node: a client, the coordinator, or both.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Central {
    setup: Setup,
    phase: Phase,
    seq: u32,
    clock: Lamport,
    coordinator: Option<Box<Coordinator>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Phase {
    Idle,
    Waiting,
    Backoff,
    Inside,
}

/// `granted` counts the grants ever made; it is the fence of the current one.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Coordinator {
    desk: Desk,
    granted: u64,
}

impl Process for Central {
    type Provides = Mutex;
    type Uses = Never; // A2: nothing below to report a crash.
    type Message = Message;
    type Timer = Timer;

    fn step(&mut self, event: Event<Self>, ctx: &mut Context<Self>) {
        match event {
            Event::Start => {}
            Event::Restart => self.on_restart(ctx),
            Event::Request(Request::Acquire) => self.on_acquire(ctx),
            Event::Request(Request::Release) => self.on_release(ctx),
            Event::Request(Request::Cancel) => self.on_cancel(ctx),
            Event::Request(Request::Observe(time)) => self.on_observe(time, ctx),
            Event::Message { from, message } => self.on_message(from, message, ctx),
            Event::Timer(Timer::Backoff) => {
                ctx.because(&why::ASKED_AGAIN, ());
                self.ask(ctx);
            }
        }
    }

    fn after_crash(&self) -> Recovery<Self> {
        Recovery::State(self.clone())
    }

    fn clock(&self) -> u64 {
        self.clock.now()
    }

    fn waits(&self) -> Vec<(NodeId, NodeId)> {
        self.coordinator.iter().flat_map(|coordinator| coordinator.desk.waits()).collect()
    }
}

impl Central {
    /// Node `me` in its first state.
    pub fn new(me: NodeId, setup: Setup) -> Self {
        let coordinator = setup
            .places
            .seat_of(me)
            .map(|_| Box::new(Coordinator { desk: Desk::new(setup.places.clients()), granted: 0 }));
        Self { setup, phase: Phase::Idle, seq: 0, clock: Lamport::default(), coordinator }
    }

    /// The application died with the node: whatever it had asked for or held is given back.
    fn on_restart(&mut self, ctx: &mut Context<Self>) {
        ctx.because(&why::RESTARTED, ());
        if self.phase != Phase::Idle {
            self.give_up(ctx);
        }
    }

    fn on_acquire(&mut self, ctx: &mut Context<Self>) {
        assert_eq!(self.phase, Phase::Idle, "acquired twice");
        self.seq += 1;
        if self.setup.places.alone() {
            ctx.because(&why::ALONE, ());
            self.phase = Phase::Inside; // Nobody to be kept out, so nobody to be asked.
            return ctx.indicate(Indication::Entered { fence: u64::from(self.seq) });
        }
        ctx.because(&why::ASKED, self.seq);
        self.ask(ctx);
    }

    fn on_release(&mut self, ctx: &mut Context<Self>) {
        assert_eq!(self.phase, Phase::Inside, "released without entering");
        ctx.because(&why::LEFT, ());
        self.give_up(ctx);
    }

    fn on_cancel(&mut self, ctx: &mut Context<Self>) {
        ctx.because(&why::WITHDREW, ());
        match self.phase {
            Phase::Waiting => self.give_up(ctx),
            Phase::Backoff => ctx.cancel_timer(Timer::Backoff), // Refused: nothing is left there.
            Phase::Idle | Phase::Inside => panic!("cancelled without waiting"),
        }
        self.phase = Phase::Idle;
    }

    fn on_message(&mut self, from: NodeId, message: Message, ctx: &mut Context<Self>) {
        let from_coordinator = self.setup.places.seat_of(from).is_some();
        let from_client = self.setup.places.is_client(from);
        match message {
            Message::Request { seq, time } if from_client => self.on_request(from, seq, time, ctx),
            Message::Release { seq } if from_client => self.on_released(from, seq, ctx),
            Message::Grant { seq, fence, time } if from_coordinator => {
                self.learn(time);
                self.on_grant(seq, fence, ctx);
            }
            Message::Nok { seq } if from_coordinator => self.on_nok(seq, ctx),
            // For people; nothing to do.
            Message::Queued { position, .. } => ctx.because(&why::TOLD_PLACE, position),
            Message::ReleaseAck { seq } => ctx.because(&why::ACKNOWLEDGED, seq),
            // From a stranger, or the coordinator's word from somebody else.
            Message::Request { .. } | Message::Release { .. } => ctx.because(&STRANGER, from),
            Message::Grant { .. } | Message::Nok { .. } => ctx.because(&STRANGER, from),
        }
    }

    fn on_grant(&mut self, seq: u32, fence: u64, ctx: &mut Context<Self>) {
        match self.phase {
            Phase::Waiting | Phase::Backoff if seq == self.seq => {
                if self.phase == Phase::Backoff {
                    ctx.cancel_timer(Timer::Backoff); // A second copy of our request got through.
                }
                ctx.because(&why::ENTERED, fence);
                self.phase = Phase::Inside;
                ctx.indicate(Indication::Entered { fence });
            }
            // The second copy of a grant in use.
            Phase::Inside if seq == self.seq => ctx.because(&why::GRANTED_BEFORE, fence),
            // It answers a request that was withdrawn: the coordinator must not wait for us.
            Phase::Idle | Phase::Waiting | Phase::Backoff | Phase::Inside => {
                ctx.because(&why::GAVE_BACK, seq);
                self.tell_coordinator(Message::Release { seq }, ctx);
            }
        }
    }

    fn on_nok(&mut self, seq: u32, ctx: &mut Context<Self>) {
        let Busy::Try(pause_max) = self.setup.busy else {
            return ctx.because(&why::REFUSED_LATE, seq); // Nobody here is ever refused.
        };
        if self.phase != Phase::Waiting || seq != self.seq {
            return ctx.because(&why::REFUSED_LATE, seq); // What it refuses is over.
        }
        ctx.because(&why::PAUSES, ());
        self.phase = Phase::Backoff;
        ctx.set_timer(Timer::Backoff, Delay::between(Ticks::ZERO, pause_max));
    }

    fn on_request(&mut self, from: NodeId, seq: u32, time: u64, ctx: &mut Context<Self>) {
        self.learn(time);
        let Some(coordinator) = self.coordinator.as_deref_mut() else {
            return ctx.because(&MISDIRECTED, from);
        };
        match coordinator.desk.request(Ticket { client: from, seq, time }) {
            Arrival::Over => ctx.because(&why::OVER, (seq, from)),
            Arrival::Waits => ctx.because(&why::WAITS_HERE, (seq, from)),
            Arrival::Holds => {
                ctx.because(&why::GRANTED_AGAIN, from);
                let fence = coordinator.granted; // Its first grant may be lost.
                ctx.send(from, Message::Grant { seq, fence, time: self.time() });
            }
            Arrival::New => {
                self.pump(ctx);
                self.answer_if_busy(from, seq, ctx);
            }
        }
    }

    fn on_released(&mut self, from: NodeId, seq: u32, ctx: &mut Context<Self>) {
        let Some(coordinator) = self.coordinator.as_deref_mut() else {
            return ctx.because(&MISDIRECTED, from);
        };
        let held = coordinator.desk.holder().is_some_and(|holder| holder.client == from);
        if coordinator.desk.is_over(from, seq) {
            ctx.because(&why::OVER, (seq, from));
        } else if held {
            ctx.because(&why::RELEASED, from);
        } else {
            ctx.because(&why::WITHDRAWN, from);
        }
        coordinator.desk.release(from, seq);
        if self.setup.release == Release::Anybodys
            && let Some(holder) = coordinator.desk.holder()
        {
            ctx.because(&why::RELEASED_ANYBODY, holder.client);
            coordinator.desk.release(holder.client, holder.seq);
        }
        if self.setup.release_ack {
            ctx.send(from, Message::ReleaseAck { seq });
        }
        self.pump(ctx);
    }

    /// Lets the next one in, if the resource is free and somebody stands in line.
    fn pump(&mut self, ctx: &mut Context<Self>) {
        let Some(coordinator) = self.coordinator.as_deref_mut() else { return };
        let line = coordinator.desk.line();
        if coordinator.desk.holder().is_some() {
            return;
        }
        if line.is_empty() {
            return ctx.because(&why::FREE, ());
        }
        let place = match self.setup.order {
            Order::Fifo => 0,
            Order::Lifo => line.len() - 1,
            Order::Random => ctx.choose(line.len() as u32) as usize,
            Order::Timestamp => {
                let stamp = |&place: &usize| (line[place].time, line[place].client);
                (0..line.len()).min_by_key(stamp).unwrap_or(0)
            }
        };
        if let Some(Ticket { client, seq, .. }) = coordinator.desk.grant(place) {
            let fence = coordinator.granted + 1;
            coordinator.granted = fence;
            ctx.because(&why::GRANTED, (client, fence));
            ctx.send(client, Message::Grant { seq, fence, time: self.time() });
        }
    }

    /// Tells a newcomer that could not be let in at once where it stands.
    fn answer_if_busy(&mut self, from: NodeId, seq: u32, ctx: &mut Context<Self>) {
        let Some(coordinator) = self.coordinator.as_deref_mut() else { return };
        if coordinator.desk.line().back().is_none_or(|last| last.client != from) {
            return;
        }
        let holder = coordinator.desk.holder().map_or(from, |holder| holder.client);
        let position = coordinator.desk.line().len() as u32;
        match self.setup.busy {
            Busy::Silent => ctx.because(&why::QUEUED, (from, position, holder)),
            Busy::Queued => {
                ctx.because(&why::QUEUED, (from, position, holder));
                ctx.send(from, Message::Queued { seq, position });
            }
            Busy::Try(_) => {
                ctx.because(&why::REFUSED, (from, holder));
                coordinator.desk.refuse_last();
                ctx.send(from, Message::Nok { seq });
            }
        }
    }

    fn ask(&mut self, ctx: &mut Context<Self>) {
        self.phase = Phase::Waiting;
        let request = Message::Request { seq: self.seq, time: self.time() };
        self.tell_coordinator(request, ctx);
    }

    fn give_up(&mut self, ctx: &mut Context<Self>) {
        self.phase = Phase::Idle;
        if !self.setup.places.alone() {
            self.tell_coordinator(Message::Release { seq: self.seq }, ctx);
        }
    }

    fn tell_coordinator(&self, message: Message, ctx: &mut Context<Self>) {
        ctx.send(self.setup.places.node_at(NodeId(0)), message);
    }

    /// The logical time of something said now; without timestamps there is none to keep.
    fn time(&mut self) -> u64 {
        if self.setup.order == Order::Timestamp { self.clock.tick() } else { 0 }
    }

    fn on_observe(&mut self, time: u64, ctx: &mut Context<Self>) {
        self.learn(time);
        match self.setup.order {
            Order::Timestamp => ctx.because(&OBSERVED, (time, self.clock.now())),
            Order::Fifo | Order::Lifo | Order::Random => ctx.because(&NO_CLOCK, ()),
        }
    }

    fn learn(&mut self, time: u64) {
        if self.setup.order == Order::Timestamp {
            self.clock.receive(time);
        }
    }
}

#[cfg(test)]
mod tests;
