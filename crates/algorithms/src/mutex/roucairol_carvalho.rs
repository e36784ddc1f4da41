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

pub use normal::normal;

use conclave_core::clock::{Lamport, Stamp};
use conclave_core::mutex::{Indication, Mutex, Request};
use conclave_core::{Context, Event, Named, Never, NodeId, NodeSet, Process, Recovery};
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
            Event::Restart => self.leave(ctx), // Whatever it wanted or held ended with the crash.
            Event::Request(Request::Acquire) => self.on_acquire(ctx),
            Event::Request(Request::Release) => self.on_release(ctx),
            Event::Request(Request::Cancel) => self.on_cancel(ctx),
            Event::Request(Request::Observe(time)) => {
                self.clock.receive(time);
            }
            Event::Message { from, .. } if from.0 >= self.n || from == self.me => {} // A stranger.
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
            return; // Overtaken on the way by a later request: this one was withdrawn.
        }
        *newest = seq;
        if self.is_before(Stamp::new(time, from)) {
            self.deferred.insert(from);
            return;
        }
        let was_held = self.held.contains(from);
        self.give(from, ctx);
        if was_held && self.phase == Phase::Waiting {
            self.ask(from, ctx); // Having held its permission, we never asked it.
        }
    }

    fn on_ok(&mut self, from: NodeId, seq: u32, fence: u64, ctx: &mut Context<Self>) {
        if self.phase != Phase::Waiting || seq != self.seq {
            return; // Its request was withdrawn: by now the giver may hold our permission.
        }
        self.fence = self.fence.max(fence);
        self.held.insert(from);
        self.enter_if_all_agree(ctx);
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
        let mut deferred = std::mem::take(&mut self.deferred);
        for peer in deferred.iter() {
            self.give(peer, ctx);
        }
        deferred.clear();
        self.deferred = deferred;
    }

    fn enter_if_all_agree(&mut self, ctx: &mut Context<Self>) {
        if self.held.len() + 1 == self.n {
            self.phase = Phase::Inside;
            self.fence += 1;
            ctx.indicate(Indication::Entered { fence: self.fence });
        }
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
            Phase::Waiting => Stamp::new(self.asked, self.me) < other,
            Phase::Inside => true,
        }
    }
}

const _: () = assert!(size_of::<Event<RoucairolCarvalho>>() <= 32);

#[cfg(test)]
mod tests {
    use super::*;
    use conclave_core::Effect;
    use conclave_core::testkit::{message, run, send};

    type Node = RoucairolCarvalho;
    const ACQUIRE: Event<Node> = Event::Request(Request::Acquire);
    const RELEASE: Event<Node> = Event::Request(Request::Release);
    const CANCEL: Event<Node> = Event::Request(Request::Cancel);

    fn node(me: u32, n: u32) -> Node {
        Node::new(NodeId(me), n, Init::Low)
    }

    fn request(from: u32, time: u64, seq: u32) -> Event<Node> {
        message(from, Message::Request { time, seq })
    }

    fn ok(from: u32, seq: u32, fence: u64) -> Event<Node> {
        message(from, Message::Ok { seq, fence })
    }

    fn gives(to: u32, seq: u32, fence: u64) -> Effect<Node> {
        send(to, Message::Ok { seq, fence })
    }

    fn asks(to: u32, time: u64, seq: u32) -> Effect<Node> {
        send(to, Message::Request { time, seq })
    }

    fn entered(fence: u64) -> Effect<Node> {
        Effect::Indicate(Indication::Entered { fence })
    }

    #[test]
    fn who_holds_every_permission_enters_at_once_and_again() {
        let mut node = node(0, 3);
        assert_eq!(run(&mut node, ACQUIRE), [entered(1)]);
        assert_eq!(run(&mut node, RELEASE), []);
        assert_eq!(run(&mut node, ACQUIRE), [entered(2)]);
        assert_eq!(run(&mut Node::new(NodeId(0), 1, Init::None), ACQUIRE), [entered(1)]);
    }

    #[test]
    fn only_those_are_asked_whose_permission_is_missing() {
        assert_eq!(run(&mut node(1, 3), ACQUIRE), [asks(0, 1, 1)]);
        let mut nobody = Node::new(NodeId(1), 3, Init::None);
        assert_eq!(run(&mut nobody, ACQUIRE), [asks(0, 1, 1), asks(2, 1, 1)]);
    }

    #[test]
    fn the_fence_is_one_more_than_the_largest_that_came_along() {
        let mut node = node(2, 3);
        run(&mut node, ACQUIRE);
        run(&mut node, ok(0, 1, 7));
        assert_eq!(run(&mut node, ok(1, 1, 4)), [entered(8)]);
    }

    #[test]
    fn an_idle_node_gives_its_permission_away_and_must_ask_for_it() {
        let mut node = node(0, 2);
        assert_eq!(run(&mut node, request(1, 1, 1)), [gives(1, 1, 0)]);
        assert_eq!(run(&mut node, ACQUIRE), [asks(1, 3, 1)]);
    }

    #[test]
    fn who_gives_back_a_permission_while_it_waits_asks_for_it_right_after() {
        let mut node = node(1, 3);
        run(&mut node, Event::Request(Request::Observe(4)));
        run(&mut node, ACQUIRE);
        assert_eq!(run(&mut node, request(2, 1, 9)), [gives(2, 9, 0), asks(2, 6, 1)]);
        assert_eq!(run(&mut node, request(0, 1, 3)), [gives(0, 3, 0)], "0 was asked already");
    }

    #[test]
    fn a_later_request_waits_until_the_exit() {
        let mut node = node(0, 3);
        run(&mut node, ACQUIRE);
        assert_eq!(run(&mut node, request(2, 1, 1)), []);
        assert_eq!(run(&mut node, RELEASE), [gives(2, 1, 1)]);
        assert_eq!(run(&mut node, ACQUIRE), [asks(2, 3, 2)]);
    }

    #[test]
    fn a_permission_for_a_withdrawn_request_is_not_taken_up() {
        let mut node = node(1, 2);
        run(&mut node, ACQUIRE);
        run(&mut node, CANCEL);
        assert_eq!(run(&mut node, ok(0, 1, 0)), [], "idle");
        assert_eq!(run(&mut node, ACQUIRE), [asks(0, 2, 2)], "it was not taken up");
        assert_eq!(run(&mut node, ok(0, 1, 0)), [], "waiting for another");
        assert_eq!(run(&mut node, ok(0, 2, 0)), [entered(1)]);
    }

    #[test]
    fn a_withdrawn_request_that_comes_late_is_not_answered() {
        let mut node = node(0, 2);
        assert_eq!(run(&mut node, request(1, 5, 2)), [gives(1, 2, 0)]);
        assert_eq!(run(&mut node, request(1, 3, 1)), []);
    }

    #[test]
    fn a_restart_answers_whoever_was_deferred_and_keeps_permissions() {
        let mut node = node(0, 3);
        run(&mut node, ACQUIRE);
        run(&mut node, request(1, 1, 1));
        let Recovery::State(mut disk) = node.after_crash() else { panic!("the disk keeps it") };
        assert_eq!(run(&mut disk, Event::Restart), [gives(1, 1, 1)]);
        assert_eq!(run(&mut disk, ACQUIRE), [asks(1, 3, 2)], "the permission of 2 is still held");
    }
}
