//! Decentralised voting: a client enters with the votes of more than half of the coordinators,
//! and whoever is refused gives back what it won and tries again after a random pause.
//!
//! Source: S.-D. Lin, Q. Lian, M. Chen and Z. Zhang, "A practical distributed mutual exclusion
//! protocol in dynamic peer-to-peer systems", IPTPS 2004, as simplified by M. van Steen and
//! A. S. Tanenbaum: the original queues at the replicas, here a busy coordinator refuses at once.
//! Assumes: A1 every message arrives exactly once, in any order; A2 no coordinator forgets its
//! vote, and at most m-q of them crash; A3 who enters also releases.
//!
//! | message | from, to            | sent when                                 | carries        |
//! |---------|---------------------|-------------------------------------------|----------------|
//! | `Req`   | client, coordinator | a try begins; to all m                    | attempt        |
//! | `Ok`    | coordinator, client | its vote was free                         | attempt, fence |
//! | `Nok`   | coordinator, client | its vote is another's                     | attempt        |
//! | `Rel`   | client, coordinator | on exit or failure; to whoever gave a vote | attempt, fence |
//!
//! Rules: R1 a try asks all m coordinators for their votes. R2 a coordinator lends its one vote to who
//! asks while it is free, and refuses all others at once. R3 a client enters with q votes; a vote
//! for a try that is over goes back. R4 a try has failed when q votes are out of reach, or when it
//! took too long: its votes go back, and the next try begins after a random pause, which may be
//! longer after each failure. R5 who leaves, or no longer wants in, returns its votes.
//!
//! Has: mutual exclusion, since two sets of q > m/2 voters meet; rising fences, since the voter in
//! which they meet was told the last fence before its vote was free.
//! Lacks: progress, no starvation, bounded waiting: with random pauses somebody wins with
//! probability 1, but no bound holds. Order of requests. A coordinator that forgets its vote breaks
//! mutual exclusion, and the fence with it; one that only crashes does not.
//! Cost: 2mk messages for k tries, and one more for every vote won in any of them.

mod coordinator;
mod normal;
mod symmetry;
mod why;

pub use normal::normal;
pub use symmetry::rename;
pub use why::WHY;

use super::places::Places;
use super::why::{MISDIRECTED, NO_CLOCK, STRANGER};
use conclave_core::mutex::{Indication, Mutex, Request};
use conclave_core::{
    Context, Delay, Each, Event, Named, Never, NodeId, NodeSet, Process, Recovery, Ticks,
};
use coordinator::Coordinator;
use serde::{Deserialize, Serialize};

/// The pause after a failed try may double so many times.
const DOUBLINGS_MAX: u32 = 6;

/// What is said between a client and a coordinator. Every answer names the try it answers; every
/// message that frees or gives a vote carries the largest fence its sender knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the table above names what is carried")]
pub enum Message {
    /// Vote for me. It also says that all earlier tries are over.
    Req { attempt: u32 },
    /// My vote is yours.
    Ok { attempt: u32, fence: u64 },
    /// My vote is another's.
    Nok { attempt: u32 },
    /// Have your vote back.
    Rel { attempt: u32, fence: u64 },
}

impl Named for Message {
    fn name(&self) -> &'static str {
        match self {
            Self::Req { .. } => "REQ",
            Self::Ok { .. } => "OK",
            Self::Nok { .. } => "NOK",
            Self::Rel { .. } => "REL",
        }
    }
}

/// The variant of the algorithm that all nodes run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Setup {
    /// Who is who.
    pub places: Places,
    /// How many votes let a client in: more than half of the coordinators.
    pub votes: u32,
    /// How long the first pause is at most; it doubles with every further failure.
    pub backoff: Ticks,
    /// How long a try may take; without it, it takes until it is decided.
    pub attempt: Option<Ticks>,
}

/// A client's two timers; only one runs at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Timer {
    /// This try took too long.
    Attempt,
    /// Try again.
    Backoff,
}

/// One node: a client, a coordinator, or both.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Voting {
    setup: Setup,
    phase: Phase,
    /// The number of the last try, over all requests.
    attempt: u32,
    /// How many tries of this request failed.
    failures: u32,
    /// The largest fence this client used or heard of.
    fence: u64,
    ok: NodeSet,
    nok: NodeSet,
    coordinator: Option<Box<Coordinator>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Phase {
    Idle,
    Trying,
    Backoff,
    Inside,
}

impl Process for Voting {
    type Provides = Mutex;
    type Uses = Never; // A2: who is silent is not missed, as long as q answer.
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
            Event::Timer(Timer::Attempt) => self.on_attempt_over(ctx),
            Event::Timer(Timer::Backoff) => {
                ctx.because(&why::TRIED_AGAIN, self.failures + 1);
                self.begin_try(ctx);
            }
        }
    }

    fn after_crash(&self) -> Recovery<Self> {
        Recovery::State(self.clone())
    }
}

impl Voting {
    /// Node `me` in its first state.
    pub fn new(me: NodeId, setup: Setup) -> Self {
        let clients = setup.places.clients();
        let m = setup.places.coordinators();
        assert!(setup.votes <= m && setup.votes > m / 2, "{} votes of {m}", setup.votes);
        let coordinator = setup.places.seat_of(me).map(|_| Box::new(Coordinator::new(clients)));
        let ok = NodeSet::new(m);
        let nok = NodeSet::new(m);
        let phase = Phase::Idle;
        Self { setup, phase, attempt: 0, failures: 0, fence: 0, ok, nok, coordinator }
    }

    /// The application died with the node, and answers may have been missed meanwhile: every
    /// coordinator is told that all tries so far are over.
    fn on_restart(&mut self, ctx: &mut Context<Self>) {
        ctx.because(&why::RESTARTED, ());
        self.phase = Phase::Idle;
        if self.attempt > 0 && !self.setup.places.alone() {
            self.give_back(self.setup.places.seats(), ctx);
        }
    }

    fn on_acquire(&mut self, ctx: &mut Context<Self>) {
        assert_eq!(self.phase, Phase::Idle, "acquired twice");
        self.failures = 0;
        if self.setup.places.alone() {
            ctx.because(&why::ALONE, ());
            self.attempt += 1;
            return self.enter(ctx); // Nobody to be kept out, so nobody to be asked.
        }
        ctx.because(&why::TRIED, self.setup.votes);
        self.begin_try(ctx);
    }

    fn begin_try(&mut self, ctx: &mut Context<Self>) {
        self.phase = Phase::Trying;
        self.attempt += 1;
        self.ok.clear();
        self.nok.clear();
        let request = Message::Req { attempt: self.attempt };
        for seat in self.setup.places.seats() {
            ctx.send(self.setup.places.node_at(seat), request);
        }
        if let Some(attempt) = self.setup.attempt {
            ctx.set_timer(Timer::Attempt, Delay::exactly(attempt));
        }
    }

    fn on_message(&mut self, from: NodeId, message: Message, ctx: &mut Context<Self>) {
        let seat = self.setup.places.seat_of(from);
        let from_client = self.setup.places.is_client(from);
        match (message, seat) {
            (Message::Req { attempt }, _) if from_client => self.on_req(from, attempt, ctx),
            (Message::Rel { attempt, fence }, _) if from_client => {
                self.on_rel(from, attempt, fence, ctx);
            }
            (Message::Ok { attempt, fence }, Some(seat)) => self.on_ok(seat, attempt, fence, ctx),
            (Message::Nok { attempt }, Some(seat)) => self.on_nok(seat, attempt, ctx),
            (Message::Req { .. } | Message::Rel { .. }, _) => ctx.because(&STRANGER, from),
            (Message::Ok { .. } | Message::Nok { .. }, None) => ctx.because(&STRANGER, from),
        }
    }

    fn on_ok(&mut self, seat: NodeId, attempt: u32, fence: u64, ctx: &mut Context<Self>) {
        self.fence = self.fence.max(fence);
        match self.phase {
            Phase::Trying if attempt == self.attempt => {
                self.ok.insert(seat);
                if self.ok.len() < self.setup.votes {
                    ctx.because(&why::COUNTED, (self.nodes(&self.ok), self.setup.votes));
                } else {
                    ctx.because(&why::ENTERED, (self.nodes(&self.ok), self.setup.votes));
                    self.stop_attempt_timer(ctx);
                    self.enter(ctx);
                }
            }
            // Not needed any more, but it must be returned on exit like the others.
            Phase::Inside if attempt == self.attempt => {
                ctx.because(&why::NOT_NEEDED, ());
                self.ok.insert(seat);
            }
            // A vote for a try that is over: its coordinator must not wait for us.
            Phase::Idle | Phase::Trying | Phase::Backoff | Phase::Inside => {
                let to = self.setup.places.node_at(seat);
                ctx.because(&why::GAVE_BACK, (to, attempt));
                ctx.send(to, Message::Rel { attempt, fence: self.fence });
            }
        }
    }

    fn on_nok(&mut self, seat: NodeId, attempt: u32, ctx: &mut Context<Self>) {
        if self.phase != Phase::Trying || attempt != self.attempt {
            return ctx.because(&why::REFUSED_LATE, attempt); // That try is decided.
        }
        self.nok.insert(seat);
        // As soon as q votes are out of reach; to wait for q refusals would miss a tie.
        if self.nok.len() <= self.setup.places.coordinators() - self.setup.votes {
            ctx.because(&why::STILL_HOPES, (self.nodes(&self.nok), self.setup.votes));
        } else {
            ctx.because(&why::FAILED, (self.nodes(&self.nok), self.setup.votes));
            self.stop_attempt_timer(ctx);
            self.give_back(self.ok.iter(), ctx);
            self.pause(ctx);
        }
    }

    /// Whoever did not refuse may have given its vote, even if its answer was lost.
    fn on_attempt_over(&mut self, ctx: &mut Context<Self>) {
        ctx.because(&why::TOOK_TOO_LONG, self.nodes(&self.ok));
        let voters = self.setup.places.seats().filter(|&seat| !self.nok.contains(seat));
        self.give_back(voters, ctx);
        self.pause(ctx);
    }

    /// The nodes of some coordinators.
    fn nodes<'a>(&'a self, seats: &'a NodeSet) -> Each<impl Iterator<Item = NodeId> + 'a> {
        Each(seats.iter().map(|seat| self.setup.places.node_at(seat)))
    }

    fn pause(&mut self, ctx: &mut Context<Self>) {
        self.phase = Phase::Backoff;
        let longest = Ticks(self.setup.backoff.0 << self.failures.min(DOUBLINGS_MAX));
        self.failures += 1;
        ctx.set_timer(Timer::Backoff, Delay::between(Ticks::ZERO, longest));
    }

    fn enter(&mut self, ctx: &mut Context<Self>) {
        self.phase = Phase::Inside;
        self.fence += 1;
        ctx.indicate(Indication::Entered { fence: self.fence });
    }

    fn on_release(&mut self, ctx: &mut Context<Self>) {
        assert_eq!(self.phase, Phase::Inside, "released without entering");
        ctx.because(&why::LEFT, self.nodes(&self.ok));
        self.phase = Phase::Idle;
        self.give_back(self.ok.iter(), ctx);
    }

    /// Votes that are still on the way come back when they arrive.
    fn on_cancel(&mut self, ctx: &mut Context<Self>) {
        ctx.because(&why::WITHDREW, ());
        match self.phase {
            Phase::Trying => {
                self.stop_attempt_timer(ctx);
                self.give_back(self.ok.iter(), ctx);
            }
            Phase::Backoff => ctx.cancel_timer(Timer::Backoff),
            Phase::Idle | Phase::Inside => panic!("cancelled without waiting"),
        }
        self.phase = Phase::Idle;
    }

    fn on_req(&mut self, from: NodeId, attempt: u32, ctx: &mut Context<Self>) {
        let Some(coordinator) = self.coordinator.as_deref_mut() else {
            return ctx.because(&MISDIRECTED, from);
        };
        let Some(answer) = coordinator.on_req(from, attempt) else {
            return ctx.because(&why::OVERTAKEN, (attempt, from));
        };
        match coordinator.vote {
            Some((voted, _)) if voted != from => ctx.because(&why::REFUSED, (from, voted)),
            Some(_) | None => ctx.because(&why::VOTED, from),
        }
        ctx.send(from, answer);
    }

    fn on_rel(&mut self, from: NodeId, attempt: u32, fence: u64, ctx: &mut Context<Self>) {
        let Some(coordinator) = self.coordinator.as_deref_mut() else {
            return ctx.because(&MISDIRECTED, from);
        };
        let had_it = coordinator.vote.is_some_and(|(client, _)| client == from);
        coordinator.on_rel(from, attempt, fence);
        if had_it && coordinator.vote.is_none() {
            ctx.because(&why::RETURNED, from);
        } else {
            ctx.because(&why::RETURNED_BEFORE, (attempt, from));
        }
    }

    fn give_back(&self, seats: impl Iterator<Item = NodeId>, ctx: &mut Context<Self>) {
        let back = Message::Rel { attempt: self.attempt, fence: self.fence };
        for seat in seats {
            ctx.send(self.setup.places.node_at(seat), back);
        }
    }

    fn stop_attempt_timer(&self, ctx: &mut Context<Self>) {
        if self.setup.attempt.is_some() {
            ctx.cancel_timer(Timer::Attempt);
        }
    }
}

#[cfg(test)]
mod tests;
