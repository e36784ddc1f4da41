//! Raymond's mutual exclusion: the privilege moves along the edges of a tree.
//!
//! Source: K. Raymond, "A tree-based algorithm for distributed mutual exclusion", ACM Transactions
//! on Computer Systems 7(1), 1989.
//! Assumes: A1 every message arrives exactly once, in any order; A2 no crash loses a node's state;
//! A3 who enters also leaves; A4 the tree does not change.
//!
//! | message     | from, to        | sent when                                     | carries     |
//! |-------------|-----------------|-----------------------------------------------|-------------|
//! | `REQUEST`   | node, neighbour | somebody waits here or behind, once at a time | nothing     |
//! | `PRIVILEGE` | node, neighbour | it is the first in the queue here             | the entries |
//!
//! Rules: R1 who wants to enter puts itself into its own queue; who receives a `REQUEST` puts the
//! neighbour into it. R2 (assign privilege) who has the privilege, is not inside and has a queue
//! gives the privilege to the first in it, which is its holder from then on; if that is itself, it
//! enters. R3 (make request) who has not the privilege, has a queue and has not asked yet sends
//! `REQUEST` to its holder, the neighbour on whose side the privilege is. R2 and R3 follow every
//! event, in this order. Why the path is right: when the privilege moves along an edge, that edge
//! alone is turned round; all other holders lead to it as before.
//!
//! `holder` is the neighbour on whose side the privilege is, or the node itself; `queue` holds the
//! neighbours on whose side somebody waits, and the node itself if it does. A withdrawn request
//! stays in the queue, unwanted, and is skipped when its turn comes; who asks again meanwhile has
//! its old place.
//!
//! Has: mutual exclusion; no starvation.
//! Lacks: request order (first come, first served holds at each node, not between them); a bound
//! on how often others enter first: when the privilege leaves for another branch, the request that
//! calls it back follows on its own, and until it arrives that branch may use the privilege again
//! and again; any tolerance of loss or crashes, which cut the tree.
//! Cost: 2 messages per edge to the privilege and nothing for the exit; at most 4(n-1)/n per entry
//! when all want in at once.

mod normal;
mod why;

pub use normal::normal;
pub use why::WHY;

use super::why::NO_CLOCK;
use conclave_core::mutex::{Indication, Mutex, Request};
use conclave_core::{Context, Each, Event, Named, Never, NodeId, Process, Recovery};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// What is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Message {
    /// Somebody on the sender's side waits.
    Request,
    /// The right to enter.
    Privilege {
        /// How many entries there have been: the fence of the latest.
        fence: u64,
    },
}

impl Named for Message {
    fn name(&self) -> &'static str {
        match self {
            Self::Request => "REQUEST",
            Self::Privilege { .. } => "PRIVILEGE",
        }
    }
}

/// One node of the tree.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Raymond {
    me: NodeId,
    /// The neighbour towards the privilege; nobody before the root has minted it.
    holder: Option<NodeId>,
    queue: VecDeque<NodeId>,
    /// The holder was asked for the privilege and has not sent it yet.
    asked: bool,
    /// This node is in its own queue, wanting or not.
    queued: bool,
    phase: Phase,
    /// The largest fence seen.
    fence: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Phase {
    Idle,
    Waiting,
    Inside,
}

impl Process for Raymond {
    type Provides = Mutex;
    type Uses = Never; // A2: nothing below to report a crash.
    type Message = Message;
    type Timer = Never;

    fn step(&mut self, event: Event<Self>, ctx: &mut Context<Self>) {
        match event {
            Event::Start => self.on_start(ctx),
            Event::Restart => {
                ctx.because(&why::RESTARTED, ());
                self.assign_and_ask(ctx); // Whatever the crash cut short is over.
            }
            Event::Request(Request::Acquire) => self.on_acquire(ctx),
            Event::Message { from, message: Message::Request } => self.on_request(from, ctx),
            Event::Message { from, message: Message::Privilege { fence } } => {
                self.on_privilege(from, fence, ctx);
            }
            Event::Request(Request::Release) => self.on_release(ctx),
            Event::Request(Request::Cancel) => self.on_cancel(ctx),
            Event::Request(Request::Observe(_)) => ctx.because(&NO_CLOCK, ()),
        }
    }

    fn after_crash(&self) -> Recovery<Self> {
        Recovery::State(Self { phase: Phase::Idle, ..self.clone() })
    }

    fn waits(&self) -> Vec<(NodeId, NodeId)> {
        let others = self.queue.iter().filter(|&&node| node != self.me);
        others.map(|&node| (node, self.me)).collect()
    }
}

impl Raymond {
    /// A node in its first state. The one without a parent is the root, which mints the privilege
    /// when it starts.
    pub fn new(me: NodeId, parent: Option<NodeId>) -> Self {
        let asked = false;
        let queued = false;
        let phase = Phase::Idle;
        Self { me, holder: parent, queue: VecDeque::new(), asked, queued, phase, fence: 0 }
    }

    fn on_start(&mut self, ctx: &mut Context<Self>) {
        if self.holder.is_none() {
            ctx.because(&why::MINTED, ());
            self.holder = Some(self.me);
        }
    }

    fn on_acquire(&mut self, ctx: &mut Context<Self>) {
        assert_eq!(self.phase, Phase::Idle, "acquired twice");
        self.phase = Phase::Waiting;
        if self.queued {
            return ctx.because(&why::OLD_PLACE, ());
        }
        self.queued = true;
        self.queue.push_back(self.me);
        self.assign_and_ask(ctx);
    }

    fn on_request(&mut self, from: NodeId, ctx: &mut Context<Self>) {
        if self.queue.contains(&from) {
            // A copy (A1): a neighbour asks once and then waits.
            return ctx.because(&why::REPEATED, from);
        }
        self.queue.push_back(from);
        self.assign_and_ask(ctx);
    }

    fn on_privilege(&mut self, from: NodeId, fence: u64, ctx: &mut Context<Self>) {
        if self.holder != Some(from) {
            return ctx.because(&why::COPY, from); // Only the holder can send it (A1).
        }
        self.holder = Some(self.me);
        self.asked = false;
        self.fence = self.fence.max(fence);
        self.assign_and_ask(ctx);
    }

    fn on_release(&mut self, ctx: &mut Context<Self>) {
        assert_eq!(self.phase, Phase::Inside, "released without entering");
        self.phase = Phase::Idle;
        self.assign_and_ask(ctx);
    }

    fn on_cancel(&mut self, ctx: &mut Context<Self>) {
        assert_eq!(self.phase, Phase::Waiting, "cancelled without waiting");
        ctx.because(&why::WITHDREW, ());
        self.phase = Phase::Idle;
    }

    /// Who passes the privilege on while others wait here must ask for it back at once: asking
    /// therefore always follows assigning.
    fn assign_and_ask(&mut self, ctx: &mut Context<Self>) {
        self.assign(ctx);
        let Some(holder) = self.holder else { return ctx.because(&why::LOST, ()) };
        if holder == self.me && self.phase == Phase::Inside && !self.queue.is_empty() {
            ctx.because(&why::BUSY, Each(self.queue.iter().copied()));
        } else if holder == self.me && self.phase != Phase::Inside {
            ctx.because(&why::KEEPS, ());
        } else if holder != self.me && !self.queue.is_empty() && self.asked {
            ctx.because(&why::ASKED_BEFORE, holder);
        } else if holder != self.me && !self.queue.is_empty() {
            ctx.because(&why::ASKS, (holder, Each(self.queue.iter().copied())));
            self.asked = true;
            ctx.send(holder, Message::Request);
        }
    }

    fn assign(&mut self, ctx: &mut Context<Self>) {
        while self.holder == Some(self.me)
            && self.phase != Phase::Inside
            && let Some(first) = self.queue.pop_front()
        {
            self.asked = false;
            if first != self.me {
                ctx.because(&why::PASSED, first);
                self.holder = Some(first);
                ctx.send(first, Message::Privilege { fence: self.fence });
                continue;
            }
            self.queued = false;
            if self.phase == Phase::Idle {
                ctx.because(&why::SKIPPED, ());
                continue;
            }
            ctx.because(&why::ENTERED, ());
            self.phase = Phase::Inside;
            self.fence += 1;
            ctx.indicate(Indication::Entered { fence: self.fence });
        }
    }
}

#[cfg(test)]
mod tests;
