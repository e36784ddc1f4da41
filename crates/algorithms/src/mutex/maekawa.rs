//! Maekawa's mutual exclusion: every node is the arbiter of a few others, and to enter takes the
//! votes of a quorum. Any two quorums share an arbiter, and an arbiter has one vote.
//!
//! Source: M. Maekawa, "A √N algorithm for mutual exclusion in decentralized systems", ACM TOCS
//! 3(2), 1985; B. A. Sanders, "The information structure of distributed mutual exclusion
//! algorithms", ACM TOCS 5(3), 1987 (the missing FAILED).
//! Assumes: A1 every message arrives exactly once; A2 no crashes, or a restart with the disk;
//! A3 who enters also releases; A4 messages from one node to another arrive in the order sent.
//!
//! | message   | from, to           | sent when                                        | carries |
//! |-----------|--------------------|--------------------------------------------------|---------|
//! | `Request` | requester, quorum  | it wants to enter                                |         |
//! | `Grant`   | arbiter, requester | the vote is free and this request the first      | fence   |
//! | `Failed`  | arbiter, requester | another request is before this one               |         |
//! | `Inquire` | arbiter, voted for | a request came that is before the one voted for  |         |
//! | `Yield`   | requester, arbiter | inquired about, and some arbiter prefers another |         |
//! | `Release` | requester, quorum  | it leaves, or no longer wants to enter           | fence   |
//!
//! Every message also carries the time of the request it is about and the sender's clock: were the
//! clock in `Request` alone, a node whose clock lags could enter again and again before a request
//! that is known everywhere. Requests are ordered by (time, node), the smaller first.
//!
//! Has: mutual exclusion; no starvation; at most 2(n-1) entries before a request that all its
//! arbiters know (one that had its votes, and one from a lagging clock, for each other node);
//! fences that rise, for arbiters remember the largest.
//! Lacks: request order: two requests may meet at an arbiter that one of them reaches late; any
//! tolerance of the crash of an arbiter one needs. Without Sanders' rule also progress: a request
//! that was displaced does not know it, keeps its votes, and everybody waits in a circle.
//! Cost: with quorums of K, 3(K-1) messages alone and at most 6(K-1) per entry under load; 2
//! message times to enter, 1 or 2 from exit to entry.

mod normal;

pub use normal::normal;

use conclave_core::clock::{Lamport, Stamp};
use conclave_core::mutex::{Indication, Mutex, Request};
use conclave_core::{Context, Event, Named, Never, NodeId, NodeSet, Process, Recovery};
use serde::{Deserialize, Serialize};

/// What the nodes tell each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Message {
    /// The time of the request that this is about; it is the requester's.
    pub request: u64,
    /// The sender's clock.
    pub clock: u64,
    /// What is said about it.
    pub body: Body,
}

/// What is said about a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Body {
    /// May I have your vote?
    Request,
    /// You have my vote.
    Grant {
        /// The largest fence that the arbiter knows.
        fence: u64,
    },
    /// Somebody else is before you.
    Failed,
    /// Would you give my vote back?
    Inquire,
    /// I give your vote back, and still want it.
    Yield,
    /// I no longer want your vote.
    Release {
        /// The largest fence that the requester knows.
        fence: u64,
    },
}

impl Named for Message {
    fn name(&self) -> &'static str {
        match self.body {
            Body::Request => "REQUEST",
            Body::Grant { .. } => "GRANT",
            Body::Failed => "FAILED",
            Body::Inquire => "INQUIRE",
            Body::Yield => "YIELD",
            Body::Release { .. } => "RELEASE",
        }
    }
}

/// One node: a requester, and an arbiter for those whose quorum it is in.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Maekawa {
    me: NodeId,
    n: u32,
    sanders: bool,
    clock: Lamport,
    /// The largest fence known, as requester or as arbiter.
    fence: u64,
    quorum: Vec<NodeId>,
    phase: Phase,
    /// The time of the latest request.
    asked: u64,
    /// Which arbiters have voted for it.
    votes: NodeSet,
    /// Which arbiters are known to prefer another.
    failed: NodeSet,
    /// Which arbiters wait to hear whether they get their vote back.
    inquiring: NodeSet,
    /// As arbiter: the request voted for.
    voted: Option<Stamp>,
    /// As arbiter: whether its owner was asked to give the vote back.
    inquired: bool,
    /// As arbiter: the requests that wait, the first one last.
    queue: Vec<Queued>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Phase {
    Idle,
    Waiting,
    Inside,
}

/// A request that waits at an arbiter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Queued {
    request: Stamp,
    /// Whether its owner knows that another is before it.
    told: bool,
}

impl Process for Maekawa {
    type Provides = Mutex;
    type Uses = Never; // A2: nothing below to report a crash.
    type Message = Message;
    type Timer = Never;

    fn step(&mut self, event: Event<Self>, ctx: &mut Context<Self>) {
        match event {
            Event::Restart if self.phase != Phase::Idle => self.leave(ctx), // The crash ended it.
            Event::Start | Event::Restart => {}
            Event::Request(Request::Acquire) => self.on_acquire(ctx),
            Event::Request(Request::Release) => self.on_release(ctx),
            Event::Request(Request::Cancel) => self.on_cancel(ctx),
            Event::Request(Request::Observe(time)) => self.hear(time),
            Event::Message { from, .. } if from.0 >= self.n => {} // A stranger.
            Event::Message { from, message } => self.on_message(from, message, ctx),
        }
    }

    /// All of it: an arbiter that forgets its vote votes twice.
    fn after_crash(&self) -> Recovery<Self> {
        Recovery::State(self.clone())
    }

    fn clock(&self) -> u64 {
        self.clock.now()
    }
}

impl Maekawa {
    /// Node `me` of `n`, in its first state. Its quorum must contain it, and meet all others.
    pub fn new(me: NodeId, n: u32, quorum: Vec<NodeId>, sanders: bool) -> Self {
        assert!(me.0 < n, "{me} is outside a cluster of {n}");
        assert!(quorum.contains(&me), "the quorum of {me} lacks it");
        Self {
            me,
            n,
            sanders,
            clock: Lamport::default(),
            fence: 0,
            quorum,
            phase: Phase::Idle,
            asked: 0,
            votes: NodeSet::new(n),
            failed: NodeSet::new(n),
            inquiring: NodeSet::new(n),
            voted: None,
            inquired: false,
            queue: Vec::new(),
        }
    }

    fn on_message(&mut self, from: NodeId, message: Message, ctx: &mut Context<Self>) {
        self.hear(message.clock);
        let theirs = Stamp::new(message.request, from);
        let is_open = self.phase == Phase::Waiting && message.request == self.asked;
        match message.body {
            Body::Request => self.on_request(theirs, ctx),
            Body::Yield => self.on_yield(theirs, ctx),
            Body::Release { fence } => self.on_release_of(theirs, fence, ctx),
            Body::Grant { fence } if is_open => self.on_grant(from, fence, ctx),
            Body::Failed if is_open => self.on_failed(from, ctx),
            Body::Inquire if is_open => self.on_inquire(from, ctx),
            // Too late: the request was withdrawn or granted. A RELEASE is on its way, or will be,
            // and gives the vote back.
            Body::Grant { .. } | Body::Failed | Body::Inquire => {}
        }
    }
}

/// As requester.
impl Maekawa {
    fn on_acquire(&mut self, ctx: &mut Context<Self>) {
        assert_eq!(self.phase, Phase::Idle, "acquired twice");
        self.phase = Phase::Waiting;
        self.asked = self.clock.tick();
        self.tell_quorum(Body::Request, ctx);
    }

    fn on_grant(&mut self, arbiter: NodeId, fence: u64, ctx: &mut Context<Self>) {
        self.fence = self.fence.max(fence);
        self.votes.insert(arbiter);
        self.failed.remove(arbiter);
        if self.votes.len() as usize == self.quorum.len() {
            self.phase = Phase::Inside;
            self.inquiring.clear(); // The RELEASE will answer them.
            self.fence += 1;
            ctx.indicate(Indication::Entered { fence: self.fence });
        }
    }

    fn on_failed(&mut self, arbiter: NodeId, ctx: &mut Context<Self>) {
        self.failed.insert(arbiter);
        let mut inquiring = std::mem::take(&mut self.inquiring);
        for arbiter in inquiring.iter() {
            self.yield_to(arbiter, ctx);
        }
        inquiring.clear();
        self.inquiring = inquiring;
    }

    fn on_inquire(&mut self, arbiter: NodeId, ctx: &mut Context<Self>) {
        if self.failed.is_empty() {
            self.inquiring.insert(arbiter); // We may be the first everywhere: wait and see.
        } else {
            self.yield_to(arbiter, ctx);
        }
    }

    fn yield_to(&mut self, arbiter: NodeId, ctx: &mut Context<Self>) {
        if self.votes.remove(arbiter) {
            self.failed.insert(arbiter);
            self.send(arbiter, self.asked, Body::Yield, ctx);
        } // Otherwise there is no vote to give back (A4: INQUIRE comes after GRANT).
    }

    fn on_release(&mut self, ctx: &mut Context<Self>) {
        assert_eq!(self.phase, Phase::Inside, "released without entering");
        self.leave(ctx);
    }

    fn on_cancel(&mut self, ctx: &mut Context<Self>) {
        assert_eq!(self.phase, Phase::Waiting, "cancelled without waiting");
        self.leave(ctx);
    }

    fn leave(&mut self, ctx: &mut Context<Self>) {
        self.phase = Phase::Idle;
        self.votes.clear();
        self.failed.clear();
        self.inquiring.clear();
        self.tell_quorum(Body::Release { fence: self.fence }, ctx);
    }

    fn tell_quorum(&self, body: Body, ctx: &mut Context<Self>) {
        for &arbiter in &self.quorum {
            self.send(arbiter, self.asked, body, ctx);
        }
    }
}

/// As arbiter.
impl Maekawa {
    fn on_request(&mut self, request: Stamp, ctx: &mut Context<Self>) {
        let Some(voted) = self.voted else { return self.vote(request, ctx) };
        let place = self.queue.binary_search_by(|queued| request.cmp(&queued.request));
        let Err(place) = place else { return }; // It came twice, and is queued.
        if request == voted {
            return; // It came twice, and has the vote.
        }
        let is_first = place == self.queue.len() && request < voted;
        if is_first {
            self.tell_displaced(ctx);
            self.inquire(voted, ctx);
        } else {
            self.send(request.node, request.time, Body::Failed, ctx);
        }
        self.queue.insert(place, Queued { request, told: !is_first });
    }

    /// Sanders' rule: who was first in the queue, and is no longer, must know it.
    fn tell_displaced(&mut self, ctx: &mut Context<Self>) {
        let Some(head) = self.queue.last_mut().filter(|head| self.sanders && !head.told) else {
            return;
        };
        head.told = true;
        let displaced = head.request;
        self.send(displaced.node, displaced.time, Body::Failed, ctx);
    }

    fn inquire(&mut self, voted: Stamp, ctx: &mut Context<Self>) {
        if !self.inquired {
            self.inquired = true;
            self.send(voted.node, voted.time, Body::Inquire, ctx);
        }
    }

    fn on_yield(&mut self, request: Stamp, ctx: &mut Context<Self>) {
        if self.voted != Some(request) {
            return; // It came twice: the vote is elsewhere by now.
        }
        let place = self.queue.partition_point(|queued| queued.request > request);
        self.queue.insert(place, Queued { request, told: true });
        self.vote_for_first(ctx);
    }

    fn on_release_of(&mut self, request: Stamp, fence: u64, ctx: &mut Context<Self>) {
        self.fence = self.fence.max(fence);
        if self.voted == Some(request) {
            self.vote_for_first(ctx);
        } else {
            self.queue.retain(|queued| queued.request != request); // Withdrawn.
        }
    }

    fn vote_for_first(&mut self, ctx: &mut Context<Self>) {
        self.voted = None;
        self.inquired = false;
        if let Some(first) = self.queue.pop() {
            self.vote(first.request, ctx);
        }
    }

    fn vote(&mut self, request: Stamp, ctx: &mut Context<Self>) {
        self.voted = Some(request);
        self.send(request.node, request.time, Body::Grant { fence: self.fence }, ctx);
    }
}

/// As both.
impl Maekawa {
    fn send(&self, to: NodeId, request: u64, body: Body, ctx: &mut Context<Self>) {
        ctx.send(to, Message { request, clock: self.clock.now(), body });
    }

    fn hear(&mut self, time: u64) {
        self.clock = self.clock.max(Lamport(time));
    }
}

const _: () = assert!(size_of::<Event<Maekawa>>() <= 48);

#[cfg(test)]
mod tests;
