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

pub use normal::normal;

use conclave_core::mutex::{Indication, Mutex, Request};
use conclave_core::{Context, Event, Named, Never, NodeId, Process, Recovery};
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
            Event::Start => self.holder = self.holder.or(Some(self.me)), // The root mints it.
            Event::Restart => self.assign_and_ask(ctx), // Whatever the crash cut short is over.
            Event::Request(Request::Acquire) => self.on_acquire(ctx),
            Event::Message { from, message: Message::Request } => self.on_request(from, ctx),
            Event::Message { from, message: Message::Privilege { fence } } => {
                self.on_privilege(from, fence, ctx);
            }
            Event::Request(Request::Release) => self.on_release(ctx),
            Event::Request(Request::Cancel) => self.on_cancel(),
            Event::Request(Request::Observe(_)) => {} // No clock to advance.
        }
    }

    fn after_crash(&self) -> Recovery<Self> {
        Recovery::State(Self { phase: Phase::Idle, ..self.clone() })
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

    fn on_acquire(&mut self, ctx: &mut Context<Self>) {
        assert_eq!(self.phase, Phase::Idle, "acquired twice");
        self.phase = Phase::Waiting;
        if !self.queued {
            self.queued = true;
            self.queue.push_back(self.me);
            self.assign_and_ask(ctx);
        }
    }

    fn on_request(&mut self, from: NodeId, ctx: &mut Context<Self>) {
        if self.queue.contains(&from) {
            return; // A copy (A1): a neighbour asks once and then waits.
        }
        self.queue.push_back(from);
        self.assign_and_ask(ctx);
    }

    fn on_privilege(&mut self, from: NodeId, fence: u64, ctx: &mut Context<Self>) {
        if self.holder != Some(from) {
            return; // Only the holder can send it: a copy (A1).
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

    fn on_cancel(&mut self) {
        assert_eq!(self.phase, Phase::Waiting, "cancelled without waiting");
        self.phase = Phase::Idle;
    }

    /// Who passes the privilege on while others wait here must ask for it back at once: asking
    /// therefore always follows assigning.
    fn assign_and_ask(&mut self, ctx: &mut Context<Self>) {
        self.assign(ctx);
        if let Some(holder) = self.holder
            && holder != self.me
            && !self.queue.is_empty()
            && !self.asked
        {
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
                self.holder = Some(first);
                ctx.send(first, Message::Privilege { fence: self.fence });
                continue;
            }
            self.queued = false;
            if self.phase == Phase::Waiting {
                self.phase = Phase::Inside;
                self.fence += 1;
                ctx.indicate(Indication::Entered { fence: self.fence });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Message::Privilege, *};
    use conclave_core::Effect;
    use conclave_core::testkit::{message, run, send};

    const _: () = assert!(size_of::<Event<Raymond>>() <= 24);
    const REQUEST: Message = Message::Request;
    const ACQUIRE: Event<Raymond> = Event::Request(Request::Acquire);
    const RELEASE: Event<Raymond> = Event::Request(Request::Release);
    const CANCEL: Event<Raymond> = Event::Request(Request::Cancel);

    fn root() -> Raymond {
        let mut root = Raymond::new(NodeId(0), None);
        assert_eq!(run(&mut root, Event::Start), []);
        root
    }
    /// Node 1, with the root above and perhaps 3 and 4 below.
    fn inner() -> Raymond {
        let mut inner = Raymond::new(NodeId(1), Some(NodeId(0)));
        assert_eq!(run(&mut inner, Event::Start), []);
        inner
    }
    fn privilege(fence: u64) -> Message {
        Privilege { fence }
    }
    fn entered(fence: u64) -> Effect<Raymond> {
        Effect::Indicate(Indication::Entered { fence })
    }

    #[test]
    fn who_holds_the_privilege_enters_at_once() {
        let mut root = root();
        assert_eq!(run(&mut root, ACQUIRE), [entered(1)]);
        assert_eq!(run(&mut root, RELEASE), []);
        assert_eq!(run(&mut root, ACQUIRE), [entered(2)]);
    }

    #[test]
    fn a_node_asks_once_however_many_wait_behind_it() {
        let mut inner = inner();
        assert_eq!(run(&mut inner, message(3, REQUEST)), [send(0, REQUEST)]);
        assert_eq!(run(&mut inner, message(4, REQUEST)), []);
        assert_eq!(run(&mut inner, ACQUIRE), []);
        assert_eq!(run(&mut inner, message(3, REQUEST)), [], "a copy");
        let effects = run(&mut inner, message(0, privilege(6)));
        assert_eq!(effects, [send(3, privilege(6)), send(3, REQUEST)], "and asks for it back");
        let effects = run(&mut inner, message(3, privilege(7)));
        assert_eq!(effects, [send(4, privilege(7)), send(4, REQUEST)]);
        assert_eq!(run(&mut inner, message(4, privilege(8))), [entered(9)]);
        assert_eq!(run(&mut inner, RELEASE), []);
    }

    #[test]
    fn an_idle_holder_passes_the_privilege_and_points_after_it() {
        let mut root = root();
        assert_eq!(run(&mut root, message(2, REQUEST)), [send(2, privilege(0))]);
        assert_eq!(run(&mut root, ACQUIRE), [send(2, REQUEST)]);
    }

    #[test]
    fn a_busy_holder_passes_it_on_release() {
        let mut root = root();
        run(&mut root, ACQUIRE);
        assert_eq!(run(&mut root, message(2, REQUEST)), []);
        assert_eq!(run(&mut root, RELEASE), [send(2, privilege(1))]);
    }

    #[test]
    fn a_privilege_that_the_holder_did_not_send_is_ignored() {
        let mut inner = inner();
        run(&mut inner, ACQUIRE);
        assert_eq!(run(&mut inner, message(3, privilege(5))), []);
        assert_eq!(run(&mut inner, message(0, privilege(5))), [entered(6)]);
        assert_eq!(run(&mut inner, message(0, privilege(5))), []);
    }

    #[test]
    fn a_withdrawn_request_is_skipped_when_its_turn_comes() {
        let mut inner = inner();
        run(&mut inner, ACQUIRE);
        run(&mut inner, CANCEL);
        run(&mut inner, message(3, REQUEST));
        assert_eq!(run(&mut inner, message(0, privilege(5))), [send(3, privilege(5))]);
    }

    #[test]
    fn who_asks_again_while_still_queued_has_its_old_place() {
        let mut inner = inner();
        run(&mut inner, ACQUIRE);
        run(&mut inner, CANCEL);
        run(&mut inner, message(3, REQUEST));
        assert_eq!(run(&mut inner, ACQUIRE), []);
        assert_eq!(run(&mut inner, message(0, privilege(5))), [entered(6)]);
        assert_eq!(run(&mut inner, RELEASE), [send(3, privilege(6))]);
    }

    #[test]
    fn a_branch_may_enter_again_until_it_is_asked_for_the_privilege() {
        let mut leaf = Raymond::new(NodeId(3), Some(NodeId(1)));
        run(&mut leaf, ACQUIRE);
        assert_eq!(run(&mut leaf, message(1, privilege(0))), [entered(1)]);
        for fence in 2..9 {
            run(&mut leaf, RELEASE);
            assert_eq!(run(&mut leaf, ACQUIRE), [entered(fence)]); // The REQUEST is on its way.
        }
        run(&mut leaf, message(1, REQUEST));
        assert_eq!(run(&mut leaf, RELEASE), [send(1, privilege(8))]);
    }

    #[test]
    fn a_restarted_node_passes_on_what_it_held_and_mints_nothing() {
        let mut root = root();
        run(&mut root, ACQUIRE);
        run(&mut root, message(2, REQUEST));
        let Recovery::State(mut kept) = root.after_crash() else { panic!("the disk is kept") };
        assert_eq!(run(&mut kept, Event::Restart), [send(2, privilege(1))]);
        let mut amnesiac = Raymond::new(NodeId(0), None);
        run(&mut amnesiac, Event::Restart);
        assert_eq!(run(&mut amnesiac, ACQUIRE), [], "it has nothing to enter with");
    }

    #[test]
    fn who_asked_before_a_crash_waits_in_its_old_place_and_does_not_ask_twice() {
        let mut inner = inner();
        assert_eq!(run(&mut inner, ACQUIRE), [send(0, REQUEST)]);
        let Recovery::State(mut kept) = inner.after_crash() else { panic!("the disk is kept") };
        assert_eq!(run(&mut kept, Event::Restart), []);
        assert_eq!(run(&mut kept, message(3, REQUEST)), [], "one question is under way");
        assert_eq!(run(&mut kept, ACQUIRE), []);
        assert_eq!(run(&mut kept, message(0, privilege(4))), [entered(5)]);
        assert_eq!(run(&mut kept, RELEASE), [send(3, privilege(5))]);
    }
}
