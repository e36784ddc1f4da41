//! Centralised mutual exclusion that survives its coordinator: an election names a new one, which
//! first asks everybody what it wants and holds.
//!
//! Source: folklore; epochs after L. Lamport, "The part-time parliament", TOCS 1998; leases after
//! C. Gray and D. Cheriton, SOSP 1989; the fence after M. Burrows, "The Chubby lock service", 2006.
//! Assumes: A1 a message sent often enough arrives, in any order; A2 a majority is up and in touch
//! (election=majority), and crashed nodes return with their disk or not at all; A3 suspicions are
//! right (fence, an election not by majority, or strict with a detector that is said to be
//! perfect); A4 a holder that is cut off or slow leaves within half a lease, clocks are at most 1 %
//! off, and a leader that was replaced is told so within `notice` (lease); A5 who enters also
//! releases; A6 who is silent for `retransmit` has crashed (fence).
//!
//! | message     | from, to            | sent when                       | carries              |
//! |-------------|---------------------|---------------------------------|----------------------|
//! | `Request`   | client, coordinator | it wants to enter               | seq, beat            |
//! | `Queued`    | coordinator, client | it must wait                    | seq, ticket          |
//! | `Keepalive` | client, coordinator | twice per lease while it waits  | seq, beat            |
//! | `Grant`     | coordinator, client | it is this client's turn        | seq, beat, fence     |
//! | `Release`   | client, coordinator | it leaves or no longer wants in | seq                  |
//! | `Ping`      | coordinator, holder | it has not been heard for long  | seq                  |
//! | `Pong`      | holder, coordinator | it was asked, and is inside     | seq                  |
//! | `NewCoord`  | coordinator, all    | it was elected                  | seq known, and over  |
//! | `State`     | all, coordinator    | it was asked                    | what it wants or has |
//! | `Stale`     | anyone, coordinator | it knows a greater epoch        | nothing              |
//! | `Join`      | client, leader      | it came back, or missed one     | nothing              |
//! | `Revoke`    | coordinator, holder | another has a larger fence      | fence                |
//!
//! All carry the epoch of their sender, and are sent again where no answer comes.
//!
//! Rules: R1 who wants to enter asks the coordinator, and again while it is not heard. R2 the
//! coordinator keeps a line, and lets in the first of it that seems to be up, one at a time. R3 a
//! client enters when its request is granted, unless the grant is of an older epoch or may be too
//! old; a grant for a request that is over goes back. R4 who leaves, or no longer wants in, tells
//! the coordinator. R5 a holder is asked for signs of life; without any, its hold ends as the mode
//! says. R6 who is elected claims a new epoch, and asks everybody what it wants and holds. R7 it
//! lets nobody in before all have answered, or silence may end the wait by the mode. R8 who knows a
//! greater epoch obeys no smaller one, and says so. R9 who came back, or missed the new
//! coordinator, speaks to it first.
//!
//! The node with the highest number coordinates from the start, without a word. Each answer names
//! what it answers: the seq of the request, and the beat, the number of the last sign of life that
//! had come. By counting its own beats a client knows that a grant is too old to be used, half of
//! its lease being gone; no clock is read. A holder cannot be thrown out: while it is inside its
//! lease is kept alive by `Pong`s, and when they do not get through, only the larger fence of the
//! next holder protects. A coordinator that has used up the fences of its term needs a new one, and
//! begins as if it had only now been elected.
//!
//! Has: mutual exclusion; progress; no starvation; rising fences; acknowledged requests keep their
//! place when the coordinator fails.
//! Lacks: a bound on waiting and happened-before order. Mode `fence` and elections not by majority
//! let in a second holder when a suspicion is wrong.
//! Cost: 3 messages, and a `Queued` where one must wait; with leases, two `Keepalive`s per lease of
//! waiting. A new coordinator costs n-1 `NewCoord` and a `State` of each live node.

mod client;
mod coordinator;
mod message;
mod normal;
mod succession;
#[cfg(test)]
mod tests;
mod why;

pub use message::{Message, Status};
pub use normal::normal;
pub use why::{CLIENT, WHY};

use super::epoch::{Ballot, Epoch, Mode, Setup};
use super::why::{NO_CLOCK, STRANGER};
use client::Grant;
use conclave_core::election::{self, Election};
use conclave_core::mutex::{Mutex, Request};
use conclave_core::{Context, Delay, Event, NodeId, NodeSet, Process, Recovery};
use coordinator::Coordinator;
use serde::{Deserialize, Serialize};

/// What a waiter reports that has no place in line yet.
const NO_PLACE: u64 = u64::MAX;

/// What runs out. None runs while nobody waits or holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Timer {
    /// A client says again what it wants.
    Beat,
    /// A coordinator asks again those that did not report.
    Round,
    /// A coordinator asks the holder for a sign of life.
    Probe,
    /// What is held without a sign of life has lapsed.
    Lease,
}

/// One node: a client, and the coordinator when it is elected.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CentralFailover {
    me: NodeId,
    setup: Setup,
    status: Status,
    /// Numbers the requests of this client.
    seq: u32,
    /// Numbers the signs of life within one request.
    beat: u32,
    /// The place in line, once it is known.
    ticket: Option<u64>,
    /// The largest fence this client entered with.
    fence: u64,
    /// The greatest epoch seen, and who coordinates in it.
    epoch: Epoch,
    coordinated_by: NodeId,
    /// Whom the election named last, and the greatest term in which it named this node.
    leader: Option<NodeId>,
    mandate: u32,
    /// Whether the coordinator knows of this node since it last started.
    joined: bool,
    suspects: NodeSet,
    /// How many grants this node has made in the term of its epoch.
    issued: u32,
    coordinator: Option<Box<Coordinator>>,
}

impl Process for CentralFailover {
    type Provides = Mutex;
    type Uses = Election;
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
            Event::Indication(election::Indication::Elected { leader, term }) => {
                self.on_elected(leader, term, ctx);
            }
            Event::Indication(election::Indication::Deposed { .. }) => self.on_deposed(ctx),
            Event::Indication(election::Indication::Suspect(node)) => self.on_suspect(node, ctx),
            Event::Indication(election::Indication::Trust(node)) => self.on_trust(node, ctx),
            Event::Message { from, .. } if from.0 >= self.setup.n => ctx.because(&STRANGER, from),
            Event::Message { from, message } => self.on_message(from, message, ctx),
            Event::Timer(Timer::Beat) => self.on_beat(ctx),
            Event::Timer(Timer::Round) => self.on_round(ctx),
            Event::Timer(Timer::Probe) => self.on_probe(ctx),
            Event::Timer(Timer::Lease) => self.on_lease(ctx),
        }
    }

    /// The disk keeps the numbers. What the application wanted or held is over.
    fn after_crash(&self) -> Recovery<Self> {
        let mut kept = Self::new(self.me, self.setup);
        kept.seq = self.seq;
        kept.fence = self.fence;
        kept.epoch = self.epoch;
        kept.issued = self.issued;
        kept.mandate = self.mandate;
        kept.leader = None;
        kept.coordinator = None;
        Recovery::State(kept)
    }

    fn waits(&self) -> Vec<(NodeId, NodeId)> {
        self.coordinator.iter().flat_map(|coordinator| coordinator.waits()).collect()
    }
}

impl CentralFailover {
    /// Node `me` in its first state: the last node coordinates.
    pub fn new(me: NodeId, setup: Setup) -> Self {
        assert!(me.0 < setup.n, "{me} is outside a cluster of {}", setup.n);
        let last = NodeId(setup.n - 1);
        Self {
            me,
            setup,
            status: Status::Idle,
            seq: 0,
            beat: 0,
            ticket: None,
            fence: 0,
            epoch: Epoch::default(),
            coordinated_by: last,
            leader: Some(last),
            mandate: u32::from(me == last),
            joined: true,
            suspects: NodeSet::default(),
            issued: 0,
            coordinator: (me == last).then(|| Box::new(Coordinator::first(setup.n))),
        }
    }

    /// Until the coordinator knows of it a node asks for nothing, and it is no coordinator itself:
    /// one that lost its disk must not take itself for the first.
    fn on_restart(&mut self, ctx: &mut Context<Self>) {
        ctx.because(&why::RESTARTED, ());
        self.joined = false;
        self.leader = None;
        self.coordinator = None;
    }

    fn on_acquire(&mut self, ctx: &mut Context<Self>) {
        assert_eq!(self.status, Status::Idle, "acquired twice");
        self.status = Status::Waiting;
        self.beat = 0;
        self.ticket = None;
        self.seq += 1;
        if self.joined {
            ctx.because(&why::ASKED, (self.coordinated_by, self.seq));
            self.ask(ctx);
        } else {
            ctx.because(&why::UNKNOWN_YET, ());
        }
        self.keep_beating(ctx);
    }

    fn on_release(&mut self, ctx: &mut Context<Self>) {
        assert_eq!(self.status, Status::Inside, "released without entering");
        ctx.because(&why::LEFT, self.coordinated_by);
        self.status = Status::Idle;
        self.tell_coordinator(Message::Release { epoch: self.epoch, seq: self.seq }, ctx);
    }

    fn on_cancel(&mut self, ctx: &mut Context<Self>) {
        assert_eq!(self.status, Status::Waiting, "cancelled without waiting");
        ctx.because(&why::WITHDREW, ());
        self.status = Status::Idle;
        if self.joined {
            ctx.cancel_timer(Timer::Beat);
            self.tell_coordinator(Message::Release { epoch: self.epoch, seq: self.seq }, ctx);
        } // Otherwise nobody knows of it, and the timer still serves to join.
    }

    /// Time to say again what may not have been heard.
    fn on_beat(&mut self, ctx: &mut Context<Self>) {
        if !self.follows_leader() {
            self.join(ctx);
        } else if self.status == Status::Waiting {
            ctx.because(&why::ASKED_AGAIN, self.coordinated_by);
            self.beat += 1;
            self.ask(ctx);
        }
        self.keep_beating(ctx);
    }

    /// Sets the next beat, as long as something may go unheard.
    fn keep_beating(&self, ctx: &mut Context<Self>) {
        let Setup { mode, retransmit, .. } = self.setup;
        let lost = !self.follows_leader();
        let after = match self.status {
            Status::Waiting if self.coordinator.is_some() => return, // Asked within this node.
            Status::Waiting if mode == Mode::Lease => retransmit.min(self.setup.keepalive()),
            Status::Waiting if lost || self.ticket.is_none() => retransmit,
            Status::Idle if !self.joined && self.reachable_leader().is_some() => retransmit,
            // In line, and whoever coordinates will not forget it; or nothing to ask for.
            Status::Waiting | Status::Idle | Status::Inside => return,
        };
        let known_place = mode == Mode::Lease && self.ticket.is_some() && !lost;
        let after = if known_place { self.setup.keepalive() } else { after };
        ctx.set_timer(Timer::Beat, Delay::exactly(after));
    }

    /// Asks to be let in, or tells that it still waits where the place in line is known.
    fn ask(&self, ctx: &mut Context<Self>) {
        let Self { epoch, seq, beat, .. } = *self;
        let message = match self.ticket {
            None => Message::Request { epoch, seq, beat },
            Some(_) => Message::Keepalive { epoch, seq, beat },
        };
        self.tell_coordinator(message, ctx);
    }

    fn join(&self, ctx: &mut Context<Self>) {
        let Some(leader) = self.reachable_leader() else {
            return ctx.because(&why::NO_LEADER, ());
        };
        ctx.because(&why::JOINS, leader);
        ctx.send(leader, Message::Join { epoch: self.epoch });
    }

    fn on_message(&mut self, from: NodeId, message: Message, ctx: &mut Context<Self>) {
        if self.coordinator.is_some() && message.epoch() > self.epoch {
            self.on_outbid(from, message, ctx);
        }
        match message {
            Message::Request { epoch, seq, beat } => {
                self.on_request(from, epoch, Wish { seq, beat, repeated: false }, ctx);
            }
            Message::Keepalive { epoch, seq, beat } => {
                self.on_request(from, epoch, Wish { seq, beat, repeated: true }, ctx);
            }
            Message::Release { seq, .. } => self.on_released(from, seq, ctx),
            Message::Pong { seq, .. } => self.on_pong(from, seq, ctx),
            Message::State { epoch, .. } if epoch == self.epoch => {
                self.on_state(from, message, ctx);
            }
            Message::Join { .. } => self.on_join(from, ctx),
            Message::NewCoord { epoch, known, over } => {
                self.on_new_coord(from, epoch, known, over, ctx);
            }
            Message::Ping { epoch, seq } => self.on_ping(from, epoch, seq, ctx),
            Message::Queued { epoch, seq, ticket } if epoch >= self.epoch => {
                self.on_queued(seq, ticket, ctx);
            }
            Message::Grant { epoch, seq, beat, fence } if epoch >= self.epoch => {
                self.on_grant(from, Grant { epoch, seq, beat, fence }, ctx);
            }
            // Of a coordinator that was replaced: whoever came after knows nothing of it. A delayed
            // grant of the dead would let in a second holder.
            Message::Grant { .. } | Message::Queued { .. } => {
                ctx.because(&why::OLD_EPOCH, (from, message.epoch(), self.epoch));
            }
            // To an earlier round; the sender is asked again.
            Message::State { .. } => ctx.because(&why::REPORTED_LATE, from),
            // A greater epoch was dealt with above; a smaller is late.
            Message::Stale { epoch } => ctx.because(&why::EPOCH_KNOWN, (epoch, self.epoch)),
            // Nobody can be thrown out of the application: the resource refuses the smaller fence.
            Message::Revoke { fence, .. } => ctx.because(&why::REVOKED, fence),
        }
    }

    fn tell_coordinator(&self, message: Message, ctx: &mut Context<Self>) {
        ctx.send(self.coordinated_by, message);
    }

    /// Whether the coordinator is who the election named, and knows of this node.
    fn follows_leader(&self) -> bool {
        self.joined && self.leader.is_none_or(|leader| leader == self.coordinated_by)
    }

    /// Whom the election named, if it is somebody else and seems to be there.
    fn reachable_leader(&self) -> Option<NodeId> {
        self.leader.filter(|&leader| leader != self.me && !self.suspects.contains(leader))
    }
}

/// A request, or the sign of life of one that was acknowledged.
struct Wish {
    seq: u32,
    beat: u32,
    repeated: bool,
}
