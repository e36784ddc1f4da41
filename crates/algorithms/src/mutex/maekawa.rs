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
//! Rules: R1 who wants to enter asks all arbiters of its quorum for their votes. R2 an arbiter
//! whose vote is free gives it. R3 otherwise it queues the request: the requester is told that it
//! failed (`Failed`), or, if its request is before the one voted for and all that wait, that one is
//! inquired about (`Inquire`). R4 who is inquired about yields the vote (`Yield`) if some arbiter
//! prefers another, since it cannot enter yet; else it waits and sees. R5 a vote that was yielded
//! goes to the first in line; who yielded waits there again. R6 with the votes of the whole quorum,
//! it enters. R7 who leaves, or no longer wants in, releases its votes, and each goes to the first
//! in line. R8 (Sanders) who was the first in line and is no longer is told that it failed.
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

mod message;
mod normal;
mod why;

pub use message::{Body, Message};
pub use normal::normal;
pub use why::WHY;

use super::why::{OBSERVED, STRANGER};
use conclave_core::clock::{Lamport, Stamp};
use conclave_core::mutex::{Indication, Mutex, Request};
use conclave_core::{Context, Each, Event, Never, NodeId, NodeSet, Process, Recovery, Why};
use serde::{Deserialize, Serialize};

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
            Event::Restart if self.phase != Phase::Idle => {
                ctx.because(&why::RESTARTED, ());
                self.leave(ctx); // The crash ended it.
            }
            Event::Restart => ctx.because(&why::RESTARTED_IDLE, ()),
            Event::Start => {}
            Event::Request(Request::Acquire) => self.on_acquire(ctx),
            Event::Request(Request::Release) => self.on_release(ctx),
            Event::Request(Request::Cancel) => self.on_cancel(ctx),
            Event::Request(Request::Observe(time)) => {
                self.hear(time);
                ctx.because(&OBSERVED, (time, self.clock.now()));
            }
            Event::Message { from, .. } if from.0 >= self.n => ctx.because(&STRANGER, from),
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

    /// Whoever waits here waits for the one that has the vote.
    fn waits(&self) -> Vec<(NodeId, NodeId)> {
        let behind = |voted: Stamp| self.queue.iter().map(move |q| (q.request.node, voted.node));
        self.voted.into_iter().flat_map(behind).collect()
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
            Body::Grant { .. } | Body::Failed | Body::Inquire => {
                ctx.because(&why::TOO_LATE, from);
            }
        }
    }
}

/// As requester.
impl Maekawa {
    fn on_acquire(&mut self, ctx: &mut Context<Self>) {
        assert_eq!(self.phase, Phase::Idle, "acquired twice");
        self.phase = Phase::Waiting;
        self.asked = self.clock.tick();
        let own = Stamp::new(self.asked, self.me);
        ctx.because(&why::ASKED, (own, Each(self.quorum.iter().copied())));
        self.tell_quorum(Body::Request, ctx);
    }

    fn on_grant(&mut self, arbiter: NodeId, fence: u64, ctx: &mut Context<Self>) {
        self.fence = self.fence.max(fence);
        self.votes.insert(arbiter);
        self.failed.remove(arbiter);
        if self.quorum.len() > self.votes.len() as usize {
            let missing =
                self.quorum.iter().copied().filter(|&member| !self.votes.contains(member));
            return ctx.because(&why::HAS_VOTES, (&self.votes, Each(missing)));
        }
        ctx.because(&why::ENTERED, &self.votes);
        self.phase = Phase::Inside;
        self.inquiring.clear(); // The RELEASE will answer them.
        self.fence += 1;
        ctx.indicate(Indication::Entered { fence: self.fence });
    }

    fn on_failed(&mut self, arbiter: NodeId, ctx: &mut Context<Self>) {
        ctx.because(&why::FAILED, arbiter);
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
            ctx.because(&why::WAITS_AND_SEES, arbiter); // We may be the first everywhere.
            self.inquiring.insert(arbiter);
        } else {
            self.yield_to(arbiter, ctx);
        }
    }

    fn yield_to(&mut self, arbiter: NodeId, ctx: &mut Context<Self>) {
        if self.votes.remove(arbiter) {
            ctx.because(&why::YIELDED, (arbiter, &self.failed));
            self.failed.insert(arbiter);
            self.send(arbiter, self.asked, Body::Yield, ctx);
        } else {
            ctx.because(&why::NO_VOTE, arbiter); // A4: INQUIRE comes after GRANT.
        }
    }

    fn on_release(&mut self, ctx: &mut Context<Self>) {
        assert_eq!(self.phase, Phase::Inside, "released without entering");
        ctx.because(&why::LEFT, Each(self.quorum.iter().copied()));
        self.leave(ctx);
    }

    fn on_cancel(&mut self, ctx: &mut Context<Self>) {
        assert_eq!(self.phase, Phase::Waiting, "cancelled without waiting");
        ctx.because(&why::WITHDREW, Each(self.quorum.iter().copied()));
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
        let Some(voted) = self.voted else {
            ctx.because(&why::VOTED, request);
            return self.vote(request, ctx);
        };
        let place = self.queue.binary_search_by(|queued| request.cmp(&queued.request));
        let Err(place) = place else {
            return ctx.because(&why::REPEATED, request); // It is queued.
        };
        if request == voted {
            return ctx.because(&why::REPEATED, request); // It has the vote.
        }
        let is_first = place == self.queue.len() && request < voted;
        if is_first {
            self.tell_displaced(ctx);
            self.inquire(request, voted, ctx);
        } else {
            ctx.because(&why::QUEUED, (request, voted));
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
        ctx.because(&why::DISPLACED, displaced);
        self.send(displaced.node, displaced.time, Body::Failed, ctx);
    }

    fn inquire(&mut self, first: Stamp, voted: Stamp, ctx: &mut Context<Self>) {
        if self.inquired {
            return ctx.because(&why::INQUIRED_BEFORE, (first, voted));
        }
        ctx.because(&why::INQUIRED, (first, voted));
        self.inquired = true;
        self.send(voted.node, voted.time, Body::Inquire, ctx);
    }

    fn on_yield(&mut self, request: Stamp, ctx: &mut Context<Self>) {
        if self.voted != Some(request) {
            // It came twice: the vote is elsewhere by now.
            return ctx.because(&why::YIELDED_BEFORE, request);
        }
        ctx.because(&why::TOOK_BACK, request);
        let place = self.queue.partition_point(|queued| queued.request > request);
        self.queue.insert(place, Queued { request, told: true });
        self.vote_for_first(&why::VOTED_INSTEAD, ctx);
    }

    fn on_release_of(&mut self, request: Stamp, fence: u64, ctx: &mut Context<Self>) {
        self.fence = self.fence.max(fence);
        if self.voted == Some(request) {
            self.vote_for_first(&why::VOTED_NEXT, ctx);
        } else {
            ctx.because(&why::WITHDRAWN, request);
            self.queue.retain(|queued| queued.request != request);
        }
    }

    fn vote_for_first(&mut self, why: &'static Why, ctx: &mut Context<Self>) {
        self.voted = None;
        self.inquired = false;
        let Some(first) = self.queue.pop() else { return ctx.because(&why::FREE, ()) };
        ctx.because(why, first.request);
        self.vote(first.request, ctx);
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
