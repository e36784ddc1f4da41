//! Voting through total-order broadcast: all coordinators see all requests in one order and queue
//! instead of refusing, so nobody ever loses and nobody starves. With [`Busy::Refuse`] they refuse,
//! as in plain voting: one always wins, but the same client may lose for ever.
//!
//! Source: lecture variant of decentralised voting; the broadcast is a fixed sequencer, as in
//! X. Défago, A. Schiper and P. Urbán, "Total order broadcast and multicast algorithms", 2004.
//! Assumes: A1 every message arrives exactly once, in any order; A2 the sequencer, which is the
//! first coordinator, does not crash, at most m-q others do, and none forgets; A3 who enters also
//! releases.
//!
//! | message   | from, to              | sent when                          | carries           |
//! |-----------|-----------------------|------------------------------------|-------------------|
//! | `Request` | client, sequencer     | the client wants to enter          | seq               |
//! | `Release` | client, sequencer     | it leaves or no longer wants in    | seq               |
//! | `Forward` | sequencer, coordinator | one of these two got its number   | number, and these |
//! | `Ok`      | coordinator, client   | this client is first in line there | seq, number       |
//! | `Nok`     | coordinator, client   | it is not, and there is no line    | seq               |
//!
//! Rules: R1 who wants to enter asks the sequencer, which gives the request the next number and
//! broadcasts it. R2 every coordinator delivers broadcasts in the order of their numbers; what comes
//! early waits. R3 a delivered request goes to the end of the line, and who is first in line gets
//! `Ok`; or, where there is no line, who is not first gets `Nok`. R4 a client enters when enough
//! coordinators have it first; if that is out of reach, it asks again after a pause. R5 who leaves,
//! or no longer wants in, has that broadcast like a request, and so taken out of all lines.
//!
//! Has: mutual exclusion; progress; no starvation, at most n-1 others first, in broadcast order;
//! fences, which are the broadcast numbers of the requests.
//! Lacks: happened-before order, since an earlier request may reach the sequencer later. Without
//! its sequencer everything stops. Where requests are refused: no starvation, and any bound.
//! Cost: 3m messages: 1 + (m-1) for the request, m to let in, 1 + (m-1) for the release. A refused
//! try costs 2m, and nothing to give back: in one order, all refuse or none does.

mod coordinator;
mod normal;
#[cfg(test)]
mod tests;
mod why;

pub use normal::normal;
pub use why::WHY;

use super::places::Places;
use super::why::{MISDIRECTED, NO_CLOCK, STRANGER};
use conclave_core::mutex::{Indication, Mutex, Request};
use conclave_core::{
    Context, Delay, Each, Event, Named, Never, NodeId, NodeSet, Process, Recovery, Ticks,
};
use coordinator::Coordinator;
use serde::{Deserialize, Serialize};

/// The pause after a refusal may double so many times.
const DOUBLINGS_MAX: u32 = 6;

/// What is said between clients, the sequencer and the coordinators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the table above names what is carried")]
pub enum Message {
    /// Broadcast that I want in.
    Request { seq: u32 },
    /// Broadcast that I am out, or no longer want in.
    Release { seq: u32 },
    /// This is the broadcast of that number.
    Forward { number: u64, broadcast: Broadcast },
    /// You are first in line here; your request had this number.
    Ok { seq: u32, number: u64 },
    /// Somebody else was first, and nobody waits here.
    Nok { seq: u32 },
}

/// A request or a release, as all coordinators get it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Broadcast {
    /// Whose.
    pub client: NodeId,
    /// The number the client gave its request.
    pub seq: u32,
    /// Whether it ends the request rather than begins it.
    pub release: bool,
}

impl Named for Message {
    fn name(&self) -> &'static str {
        match self {
            Self::Request { .. } => "REQUEST",
            Self::Release { .. } => "RELEASE",
            Self::Forward { .. } => "FORWARD",
            Self::Ok { .. } => "OK",
            Self::Nok { .. } => "NOK",
        }
    }
}

/// The variant of the algorithm that all nodes run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Setup {
    /// Who is who.
    pub places: Places,
    /// How many coordinators let a client in: more than half of them.
    pub votes: u32,
    /// What becomes of a request that is not the first.
    pub busy: Busy,
}

/// What becomes of a request that is not the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Busy {
    /// It waits in line.
    Queued,
    /// It is refused, and made again after a pause of at most so long, which doubles each time.
    Refuse(Ticks),
}

/// What a refused client waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Timer {
    /// Ask again.
    Backoff,
}

/// One node: a client, a coordinator, or both; the first coordinator is also the sequencer.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TotalOrder {
    setup: Setup,
    phase: Phase,
    seq: u32,
    oks: NodeSet,
    noks: NodeSet,
    /// How often this request was refused.
    failures: u32,
    coordinator: Option<Box<Coordinator>>,
    sequencer: Option<Box<Sequencer>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Phase {
    Idle,
    Waiting,
    Inside,
    /// Refused, and about to ask again.
    Backoff,
}

/// What is known of each client's numbers: its request is open while `asked` exceeds `done`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Sequencer {
    last: u64,
    asked: Vec<u32>,
    done: Vec<u32>,
}

impl Process for TotalOrder {
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
            Event::Timer(Timer::Backoff) => {
                ctx.because(&why::ASKED_AGAIN, self.failures + 1);
                self.ask(ctx);
            }
        }
    }

    fn after_crash(&self) -> Recovery<Self> {
        Recovery::State(self.clone())
    }

    fn waits(&self) -> Vec<(NodeId, NodeId)> {
        self.coordinator.iter().flat_map(|coordinator| coordinator.waits()).collect()
    }
}

impl TotalOrder {
    /// Node `me` in its first state.
    pub fn new(me: NodeId, setup: Setup) -> Self {
        let Setup { places, votes, busy } = setup;
        let m = places.coordinators();
        assert!(votes <= m && votes > m / 2, "{votes} votes of {m}");
        let none = vec![0; places.clients() as usize];
        let sequencer = |_| Box::new(Sequencer { last: 0, asked: none.clone(), done: none });
        let seat = places.seat_of(me);
        Self {
            setup,
            phase: Phase::Idle,
            seq: 0,
            oks: NodeSet::new(m),
            noks: NodeSet::new(m),
            failures: 0,
            coordinator: seat.map(|_| Box::new(Coordinator::new(busy != Busy::Queued))),
            sequencer: seat.filter(|&seat| seat == NodeId(0)).map(sequencer),
        }
    }

    /// The application died with the node: whatever it had asked for or held is given back.
    fn on_restart(&mut self, ctx: &mut Context<Self>) {
        ctx.because(&why::RESTARTED, ());
        if self.phase != Phase::Idle {
            self.give_back(ctx);
        }
    }

    fn on_acquire(&mut self, ctx: &mut Context<Self>) {
        assert_eq!(self.phase, Phase::Idle, "acquired twice");
        self.failures = 0;
        if self.setup.places.alone() {
            ctx.because(&why::ALONE, ());
            self.seq += 1;
            self.phase = Phase::Inside; // Nobody to be kept out, so nobody to be asked.
            return ctx.indicate(Indication::Entered { fence: u64::from(self.seq) });
        }
        ctx.because(&why::ASKED, self.setup.votes);
        self.ask(ctx);
    }

    fn ask(&mut self, ctx: &mut Context<Self>) {
        self.seq += 1;
        self.phase = Phase::Waiting;
        self.oks.clear();
        self.noks.clear();
        self.tell_sequencer(Message::Request { seq: self.seq }, ctx);
    }

    fn on_message(&mut self, from: NodeId, message: Message, ctx: &mut Context<Self>) {
        let seat = self.setup.places.seat_of(from);
        let from_client = self.setup.places.is_client(from);
        match (message, seat) {
            (Message::Request { seq }, _) if from_client => self.on_request(from, seq, ctx),
            (Message::Release { seq }, _) if from_client => self.on_released(from, seq, ctx),
            (Message::Forward { number, broadcast }, Some(NodeId(0))) => {
                self.on_forward(number, broadcast, ctx);
            }
            (Message::Ok { seq, number }, Some(seat)) => self.on_ok(seat, seq, number, ctx),
            (Message::Nok { seq }, Some(seat)) => self.on_nok(seat, seq, ctx),
            (Message::Request { .. } | Message::Release { .. }, _) => ctx.because(&STRANGER, from),
            // Only the sequencer gives numbers.
            (Message::Forward { .. }, _) => ctx.because(&STRANGER, from),
            (Message::Ok { .. } | Message::Nok { .. }, None) => ctx.because(&STRANGER, from),
        }
    }

    fn on_request(&mut self, from: NodeId, seq: u32, ctx: &mut Context<Self>) {
        let Some(sequencer) = self.sequencer.as_deref_mut() else {
            return ctx.because(&MISDIRECTED, from);
        };
        let asked = sequencer.asked[from.index()];
        let done = sequencer.done[from.index()];
        if seq <= done || seq == asked {
            // Its own release came first, or it is a repetition.
            return ctx.because(&why::KNOWN, (seq, from));
        }
        if asked > done {
            self.on_released(from, asked, ctx); // Over, even if its release is still on the way.
        }
        if let Some(sequencer) = self.sequencer.as_deref_mut() {
            sequencer.asked[from.index()] = seq;
            sequencer.done[from.index()] = seq - 1;
        }
        self.broadcast(Broadcast { client: from, seq, release: false }, ctx);
        self.forget_if_refused(from, seq);
    }

    /// In one order all coordinators refuse what the sequencer's own does: nothing is to be ended.
    fn forget_if_refused(&mut self, from: NodeId, seq: u32) {
        if self.setup.busy != Busy::Queued
            && let (Some(sequencer), Some(coordinator)) = (&mut self.sequencer, &self.coordinator)
            && !coordinator.has_in_line(from)
        {
            sequencer.done[from.index()] = seq;
        }
    }

    fn on_released(&mut self, from: NodeId, seq: u32, ctx: &mut Context<Self>) {
        let Some(sequencer) = self.sequencer.as_deref_mut() else {
            return ctx.because(&MISDIRECTED, from);
        };
        let asked = sequencer.asked[from.index()];
        let done = sequencer.done[from.index()];
        if seq <= done {
            // A repetition, or its next request came first.
            return ctx.because(&why::KNOWN, (seq, from));
        }
        sequencer.done[from.index()] = seq;
        if asked > done {
            self.broadcast(Broadcast { client: from, seq: asked, release: true }, ctx);
        } else {
            // It overtook its own request, which will be dropped.
            ctx.because(&why::RELEASED_EARLY, (seq, from));
        }
    }

    /// The next number is given; the sequencer, a coordinator itself, has its copy at once.
    fn broadcast(&mut self, broadcast: Broadcast, ctx: &mut Context<Self>) {
        let Some(sequencer) = self.sequencer.as_deref_mut() else { return };
        sequencer.last += 1;
        let number = sequencer.last;
        match broadcast.release {
            false => ctx.because(&why::NUMBERED, (broadcast.client, number)),
            true => ctx.because(&why::NUMBERED_RELEASE, (broadcast.client, number)),
        }
        for seat in self.setup.places.seats().skip(1) {
            ctx.send(self.setup.places.node_at(seat), Message::Forward { number, broadcast });
        }
        self.on_forward(number, broadcast, ctx);
    }

    fn on_forward(&mut self, number: u64, broadcast: Broadcast, ctx: &mut Context<Self>) {
        let Some(coordinator) = self.coordinator.as_deref_mut() else {
            return ctx.because(&MISDIRECTED, broadcast.client);
        };
        if number <= coordinator.delivered {
            return ctx.because(&why::REPEATED, number);
        }
        if number > coordinator.delivered + 1 {
            ctx.because(&why::EARLY, (number, coordinator.delivered + 1)); // Others come first.
            coordinator.early.insert(number, broadcast);
            return;
        }
        coordinator.deliver(number, broadcast, ctx);
        while let Some(next) = coordinator.early.remove(&(coordinator.delivered + 1)) {
            coordinator.deliver(coordinator.delivered + 1, next, ctx);
        }
    }

    fn on_ok(&mut self, seat: NodeId, seq: u32, number: u64, ctx: &mut Context<Self>) {
        if self.phase != Phase::Waiting || seq != self.seq {
            // One more than needed, or for a request whose release is on its way.
            return ctx.because(&why::NOT_NEEDED, seq);
        }
        self.oks.insert(seat);
        let nodes = Each(self.oks.iter().map(|seat| self.setup.places.node_at(seat)));
        if self.oks.len() < self.setup.votes {
            ctx.because(&why::COUNTED, (nodes, self.setup.votes));
        } else {
            ctx.because(&why::ENTERED, (nodes, self.setup.votes));
            self.phase = Phase::Inside;
            ctx.indicate(Indication::Entered { fence: number });
        }
    }

    /// As soon as enough answers are out of reach.
    fn on_nok(&mut self, seat: NodeId, seq: u32, ctx: &mut Context<Self>) {
        let Busy::Refuse(pause) = self.setup.busy else {
            return ctx.because(&why::NOT_NEEDED, seq); // Nobody is refused here.
        };
        if self.phase != Phase::Waiting || seq != self.seq {
            // One more than needed, or for a request that is over.
            return ctx.because(&why::NOT_NEEDED, seq);
        }
        self.noks.insert(seat);
        let nodes = Each(self.noks.iter().map(|seat| self.setup.places.node_at(seat)));
        if self.noks.len() <= self.setup.places.coordinators() - self.setup.votes {
            ctx.because(&why::STILL_HOPES, (nodes, self.setup.votes));
        } else {
            ctx.because(&why::PAUSES, nodes);
            self.phase = Phase::Backoff;
            let longest = Ticks(pause.0 << self.failures.min(DOUBLINGS_MAX));
            self.failures += 1;
            ctx.set_timer(Timer::Backoff, Delay::between(Ticks::ZERO, longest));
        }
    }

    fn on_release(&mut self, ctx: &mut Context<Self>) {
        assert_eq!(self.phase, Phase::Inside, "released without entering");
        ctx.because(&why::LEFT, ());
        self.give_back(ctx);
    }

    fn on_cancel(&mut self, ctx: &mut Context<Self>) {
        ctx.because(&why::WITHDREW, ());
        match self.phase {
            Phase::Waiting => self.give_back(ctx),
            Phase::Backoff => {
                ctx.cancel_timer(Timer::Backoff); // Refused: nothing is left to be given back.
                self.phase = Phase::Idle;
            }
            Phase::Idle | Phase::Inside => panic!("cancelled without waiting"),
        }
    }

    fn give_back(&mut self, ctx: &mut Context<Self>) {
        self.phase = Phase::Idle;
        if !self.setup.places.alone() {
            self.tell_sequencer(Message::Release { seq: self.seq }, ctx);
        }
    }

    fn tell_sequencer(&self, message: Message, ctx: &mut Context<Self>) {
        ctx.send(self.setup.places.node_at(NodeId(0)), message);
    }
}
