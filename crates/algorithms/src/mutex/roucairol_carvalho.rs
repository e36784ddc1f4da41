//! Carvalho and Roucairol's mutual exclusion: Ricart and Agrawala's, but a permission once given
//! stays good until its giver asks for itself.
//!
//! Source: O. S. F. Carvalho, G. Roucairol, "On mutual exclusion in computer networks",
//! CACM 26(2), 1983.
//! Assumes: A1 every message arrives exactly once, in whatever order; A2 no crashes, or a restart
//! with the disk; A3 who enters also releases.
//!
//! | message   | from, to                | sent when                         | carries          |
//! |-----------|-------------------------|-----------------------------------|------------------|
//! | `Request` | requester, whose        | it wants to enter, or has to give | its time and seq |
//! |           | permission it lacks     | back a permission while it waits  |                  |
//! | `Ok`      | anyone, requester       | it is not before it, or left      | fence, that seq  |
//!
//! Rules: R1 who wants to enter asks those whose permission it does not hold. R2 a request is
//! granted at once, unless the node is inside or waits with an earlier request of its own: then the
//! answer is deferred. R3 who gives a permission away that it needs itself asks for it back in the
//! same step. R4 a node enters when it holds the permissions of all others, and keeps them
//! afterwards. R5 who leaves, or no longer wants in, grants all it has deferred.
//!
//! For each pair of nodes there is one permission: one of the two holds it, or it is on its way,
//! or (after a withdrawal) nobody has it and either must ask. The seq of a request comes back in
//! its `Ok`, so that a permission for a withdrawn request is not taken up later, when its giver
//! may have been let in already.
//!
//! Has: mutual exclusion; no starvation; fences that rise, each one more than the largest that the
//! permissions brought along.
//! Lacks: request order: who holds all permissions enters again while an older request is still on
//! its way; so does, to a waiting node that had to give a permission back, whoever got it, and no
//! bound is claimed; and any tolerance of the crash of a node whose permission is needed.
//! Cost: 0 to 2(n-1) messages per entry; 0 or 2 message times to enter, 1 from exit to entry.

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
    /// You may, until I ask you.
    Ok {
        /// The request that this answers.
        seq: u32,
        /// The largest fence that the sender knows.
        fence: u64,
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

/// Who holds the permission of a pair at the beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Init {
    /// The smaller of the two.
    Low,
    /// Nobody.
    None,
}

/// One node.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RoucairolCarvalho {
    me: NodeId,
    n: u32,
    phase: Phase,
    clock: Lamport,
    /// When the latest request was made.
    asked: u64,
    /// The number of the latest request.
    seq: u32,
    /// The largest fence known.
    fence: u64,
    /// Whose permission is held.
    held: NodeSet,
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

impl Process for RoucairolCarvalho {
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
            Event::Request(Request::Observe(time)) => {
                self.clock.receive(time);
                ctx.because(&OBSERVED, (time, self.clock.now()));
            }
            Event::Message { from, .. } if from.0 >= self.n || from == self.me => {
                ctx.because(&STRANGER, from);
            }
            Event::Message { from, message: Message::Request { time, seq } } => {
                self.on_request(from, time, seq, ctx);
            }
            Event::Message { from, message: Message::Ok { seq, fence } } => {
                self.on_ok(from, seq, fence, ctx);
            }
        }
    }

    /// All of it: who forgets what it gave away believes that it holds it still.
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

impl RoucairolCarvalho {
    /// Node `me` of `n`, in its first state.
    pub fn new(me: NodeId, n: u32, init: Init) -> Self {
        assert!(me.0 < n, "{me} is outside a cluster of {n}");
        let mut held = NodeSet::new(n);
        match init {
            Init::Low => (me.0 + 1..n).for_each(|larger| {
                held.insert(NodeId(larger));
            }),
            Init::None => {}
        }
        Self {
            me,
            n,
            phase: Phase::Idle,
            clock: Lamport::default(),
            asked: 0,
            seq: 0,
            fence: 0,
            held,
            heard: vec![0; n as usize],
            deferred: NodeSet::new(n),
        }
    }

    fn on_acquire(&mut self, ctx: &mut Context<Self>) {
        assert_eq!(self.phase, Phase::Idle, "acquired twice");
        self.phase = Phase::Waiting;
        self.asked = self.clock.tick();
        self.seq += 1;
        ctx.because(&why::ASKED, (self.own(), &self.held));
        for peer in self.me.others(self.n) {
            if !self.held.contains(peer) {
                self.ask(peer, ctx);
            }
        }
        self.enter_if_all_agree(ctx);
    }

    fn on_request(&mut self, from: NodeId, time: u64, seq: u32, ctx: &mut Context<Self>) {
        self.clock.receive(time);
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
            return;
        }
        let was_held = self.held.contains(from);
        self.give(from, ctx);
        if was_held && self.phase == Phase::Waiting {
            ctx.because(&why::ASKED_BACK, from);
            self.ask(from, ctx); // Having held its permission, we never asked it.
        }
    }

    fn on_ok(&mut self, from: NodeId, seq: u32, fence: u64, ctx: &mut Context<Self>) {
        if self.phase != Phase::Waiting || seq != self.seq {
            // Its request was withdrawn: by now the giver may hold our permission.
            return ctx.because(&why::STALE, from);
        }
        self.fence = self.fence.max(fence);
        self.held.insert(from);
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
        let mut deferred = std::mem::take(&mut self.deferred);
        for peer in deferred.iter() {
            self.give(peer, ctx);
        }
        deferred.clear();
        self.deferred = deferred;
    }

    fn enter_if_all_agree(&mut self, ctx: &mut Context<Self>) {
        if self.held.len() < self.n - 1 {
            let missing = self.me.others(self.n).filter(|&peer| !self.held.contains(peer));
            return ctx.because(&why::WAITS, (&self.held, Each(missing)));
        }
        ctx.because(&why::ENTERED, ());
        self.phase = Phase::Inside;
        self.fence += 1;
        ctx.indicate(Indication::Entered { fence: self.fence });
    }

    fn ask(&self, peer: NodeId, ctx: &mut Context<Self>) {
        ctx.send(peer, Message::Request { time: self.asked, seq: self.seq });
    }

    fn give(&mut self, peer: NodeId, ctx: &mut Context<Self>) {
        self.held.remove(peer);
        ctx.send(peer, Message::Ok { seq: self.heard[peer.index()], fence: self.fence });
    }

    /// Whether this node goes first. Two that wait agree about it, so one of them answers.
    fn is_before(&self, other: Stamp) -> bool {
        match self.phase {
            Phase::Idle => false,
            Phase::Waiting => self.own() < other,
            Phase::Inside => true,
        }
    }

    /// The latest request's place in the order of all requests.
    fn own(&self) -> Stamp {
        Stamp::new(self.asked, self.me)
    }

    /// Why a request is granted at once, or is not.
    fn explain(&self, other: Stamp, ctx: &mut Context<Self>) {
        match (self.phase, self.is_before(other)) {
            (Phase::Idle, _) => ctx.because(&why::GAVE, other.node),
            (Phase::Waiting, false) => ctx.because(&why::YIELDED, (other, self.own())),
            (Phase::Waiting, true) => ctx.because(&why::DEFERRED, (other.node, self.own(), other)),
            (Phase::Inside, _) => ctx.because(&why::DEFERRED_INSIDE, other.node),
        }
    }
}

const _: () = assert!(size_of::<Event<RoucairolCarvalho>>() <= 32);

#[cfg(test)]
mod tests;
