//! Suzuki and Kasami's mutual exclusion: requests go to everybody, the token knows who was served.
//!
//! Source: I. Suzuki and T. Kasami, "A distributed mutual exclusion algorithm", ACM Transactions on
//! Computer Systems 3(4), 1985.
//! Assumes: A1 every message arrives exactly once, in any order; A2 no crash loses a node's state;
//! A3 who enters also leaves.
//!
//! | message   | from, to        | sent when                           | carries              |
//! |-----------|-----------------|-------------------------------------|----------------------|
//! | `REQUEST` | node, everybody | a node asks without the token       | the request's number |
//! | `TOKEN`   | node, node      | on release, or idle upon a request  | LN, queue, the fence |
//!
//! RN\[j\] is the largest request number heard of j, LN\[j\] that of its last request served. Who
//! has RN\[j\] = LN\[j\] + 1 waits. A withdrawn request is not taken back: the token that comes for
//! it is treated as released at once, and who asks again meanwhile just wants it after all.
//!
//! Has: mutual exclusion; no starvation (at most n-1 others enter first).
//! Lacks: request order (the queue is filled in ring order); any tolerance of loss.
//! Cost: 0 messages where the token is, else n; one message time from exit to entry.

mod normal;

pub use normal::normal;

use conclave_core::mutex::{Indication, Mutex, Request};
use conclave_core::{Context, Event, Named, Never, NodeId, NodeSet, Process, Recovery};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// What is sent.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Message {
    /// The sender asks for the token.
    Request {
        /// Which of its requests this is.
        number: u32,
    },
    /// The right to enter.
    Token(Box<Token>),
}

impl Named for Message {
    fn name(&self) -> &'static str {
        match self {
            Self::Request { .. } => "REQUEST",
            Self::Token(_) => "TOKEN",
        }
    }
}

/// What the token carries.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Token {
    /// LN: the number of each node's last request served.
    served: Vec<u32>,
    /// Q: who gets it next.
    queue: VecDeque<NodeId>,
    /// Who is in the queue, to see it at a glance.
    queued: NodeSet,
    /// How many entries there have been: the fence of the latest.
    fence: u64,
}

impl Token {
    fn new(n: u32) -> Box<Self> {
        let served = vec![0; n as usize];
        let queue = VecDeque::with_capacity(n as usize);
        Box::new(Self { served, queue, queued: NodeSet::new(n), fence: 0 })
    }
}

/// One node.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SuzukiKasami {
    me: NodeId,
    /// A request of this node is out, wanted or not.
    asked: bool,
    phase: Phase,
    token: Option<Box<Token>>,
    /// RN: the largest request number heard of each node.
    requested: Vec<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Phase {
    Idle,
    Waiting,
    Inside,
}

impl Process for SuzukiKasami {
    type Provides = Mutex;
    type Uses = Never; // A2: nothing below to report a crash.
    type Message = Message;
    type Timer = Never;

    fn step(&mut self, event: Event<Self>, ctx: &mut Context<Self>) {
        match event {
            Event::Start if self.me == NodeId(0) => self.token = Some(Token::new(self.n())),
            Event::Start => {}
            Event::Restart => self.pass_on(ctx), // Whatever the crash cut short is over.
            Event::Request(Request::Acquire) => self.on_acquire(ctx),
            Event::Message { from, message: Message::Request { number } } => {
                self.on_request(from, number, ctx);
            }
            Event::Message { message: Message::Token(token), .. } => self.on_token(token, ctx),
            Event::Request(Request::Release) => self.on_release(ctx),
            Event::Request(Request::Cancel) => self.on_cancel(),
            Event::Request(Request::Observe(_)) => {} // No clock to advance.
        }
    }

    fn after_crash(&self) -> Recovery<Self> {
        Recovery::State(Self { phase: Phase::Idle, ..self.clone() })
    }
}

impl SuzukiKasami {
    /// A node in its first state; the first node mints the token when it starts.
    pub fn new(me: NodeId, n: u32) -> Self {
        assert!(me.0 < n, "{me} is outside a cluster of {n}");
        let requested = vec![0; n as usize];
        Self { me, asked: false, phase: Phase::Idle, token: None, requested }
    }

    fn on_acquire(&mut self, ctx: &mut Context<Self>) {
        assert_eq!(self.phase, Phase::Idle, "acquired twice");
        self.phase = Phase::Waiting;
        if self.token.is_some() {
            return self.enter(ctx);
        }
        if self.asked {
            return; // The withdrawn request is still out, and is wanted again.
        }
        self.asked = true;
        let number = self.requested[self.me.index()] + 1;
        self.requested[self.me.index()] = number;
        for other in self.me.others(self.n()) {
            ctx.send(other, Message::Request { number });
        }
    }

    fn on_request(&mut self, from: NodeId, number: u32, ctx: &mut Context<Self>) {
        let Some(requested) = self.requested.get_mut(from.index()) else {
            return; // Nobody of this cluster.
        };
        *requested = number.max(*requested); // Late ones change nothing.
        let requested = *requested;
        let waits = |token: &mut Box<Token>| requested == token.served[from.index()] + 1;
        if self.phase == Phase::Idle
            && let Some(token) = self.token.take_if(waits)
        {
            ctx.send(from, Message::Token(token));
        }
    }

    fn on_token(&mut self, token: Box<Token>, ctx: &mut Context<Self>) {
        if self.token.is_some() || token.served.len() != self.requested.len() {
            return; // A copy of the one that is here (A1), or none of this cluster's.
        }
        self.token = Some(token);
        self.asked = false;
        match self.phase {
            Phase::Waiting => self.enter(ctx),
            Phase::Idle => self.pass_on(ctx), // Withdrawn.
            Phase::Inside => {} // Only with a token, and there was none: it cannot be.
        }
    }

    fn on_release(&mut self, ctx: &mut Context<Self>) {
        assert_eq!(self.phase, Phase::Inside, "released without entering");
        self.phase = Phase::Idle;
        self.pass_on(ctx);
    }

    fn on_cancel(&mut self) {
        assert_eq!(self.phase, Phase::Waiting, "cancelled without waiting");
        self.phase = Phase::Idle;
    }

    fn enter(&mut self, ctx: &mut Context<Self>) {
        let token = self.token.as_mut().expect("who enters holds the token");
        self.phase = Phase::Inside;
        token.fence += 1;
        ctx.indicate(Indication::Entered { fence: token.fence });
    }

    /// Marks this node as served, queues whoever waits, and sends the token to the first, if any.
    fn pass_on(&mut self, ctx: &mut Context<Self>) {
        let Some(mut token) = self.token.take() else {
            return;
        };
        token.served[self.me.index()] = self.requested[self.me.index()];
        // In ring order from here, so that no number is favoured.
        let n = self.n();
        for other in (self.me.0 + 1..n).chain(0..self.me.0).map(NodeId) {
            let waits = self.requested[other.index()] == token.served[other.index()] + 1;
            if waits && token.queued.insert(other) {
                token.queue.push_back(other);
            }
        }
        match token.queue.pop_front() {
            Some(first) => {
                token.queued.remove(first);
                ctx.send(first, Message::Token(token));
            }
            None => self.token = Some(token),
        }
    }

    fn n(&self) -> u32 {
        self.requested.len() as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use conclave_core::Effect;
    use conclave_core::testkit::{message, run, send};

    const _: () = assert!(size_of::<Event<SuzukiKasami>>() <= 24);
    const ACQUIRE: Event<SuzukiKasami> = Event::Request(Request::Acquire);
    const RELEASE: Event<SuzukiKasami> = Event::Request(Request::Release);
    const CANCEL: Event<SuzukiKasami> = Event::Request(Request::Cancel);

    fn node(me: u32) -> SuzukiKasami {
        let mut node = SuzukiKasami::new(NodeId(me), 4);
        assert_eq!(run(&mut node, Event::Start), []);
        node
    }
    fn request(number: u32) -> Message {
        Message::Request { number }
    }
    fn token(served: [u32; 4], queue: &[u32], fence: u64) -> Message {
        let queue: VecDeque<NodeId> = queue.iter().copied().map(NodeId).collect();
        let mut queued = NodeSet::new(4);
        queue.iter().for_each(|&node| assert!(queued.insert(node)));
        Message::Token(Box::new(Token { served: served.to_vec(), queue, queued, fence }))
    }
    fn entered(fence: u64) -> Effect<SuzukiKasami> {
        Effect::Indicate(Indication::Entered { fence })
    }

    #[test]
    fn where_the_token_is_nothing_is_sent() {
        let mut first = node(0);
        assert_eq!(run(&mut first, ACQUIRE), [entered(1)]);
        assert_eq!(run(&mut first, RELEASE), []);
        assert_eq!(run(&mut first, ACQUIRE), [entered(2)]);
    }

    #[test]
    fn who_has_no_token_asks_everybody_by_the_next_number() {
        let mut node = node(2);
        let effects = run(&mut node, ACQUIRE);
        assert_eq!(effects, [0, 1, 3].map(|to| send(to, request(1))));
        assert_eq!(run(&mut node, message(0, token([0; 4], &[], 6))), [entered(7)]);
        assert_eq!(run(&mut node, RELEASE), [], "nobody waits, so the token stays");
        assert_eq!(run(&mut node, message(1, request(1))), [send(1, token([0, 0, 1, 0], &[], 7))]);
        assert_eq!(run(&mut node, ACQUIRE), [0, 1, 3].map(|to| send(to, request(2))));
    }

    #[test]
    fn an_idle_holder_sends_the_token_at_once_but_not_for_a_late_request() {
        let mut first = node(0);
        assert_eq!(run(&mut first, message(2, request(1))), [send(2, token([0; 4], &[], 0))]);
        run(&mut first, ACQUIRE);
        run(&mut first, message(2, token([0, 0, 1, 0], &[], 1)));
        run(&mut first, RELEASE);
        assert_eq!(run(&mut first, message(2, request(1))), [], "served already");
        assert_eq!(run(&mut first, message(9, request(1))), [], "nobody of this cluster");
    }

    #[test]
    fn a_release_queues_whoever_waits_in_ring_order_behind_the_queue() {
        let mut node = node(2);
        run(&mut node, ACQUIRE);
        run(&mut node, message(0, token([0; 4], &[1], 4)));
        for from in [0, 1, 3] {
            assert_eq!(run(&mut node, message(from, request(1))), [], "busy");
        }
        assert_eq!(run(&mut node, RELEASE), [send(1, token([0, 0, 1, 0], &[3, 0], 5))]);
    }

    #[test]
    fn a_token_that_comes_for_a_withdrawn_request_is_released_at_once() {
        let mut node = node(2);
        run(&mut node, ACQUIRE);
        run(&mut node, CANCEL);
        run(&mut node, message(3, request(1)));
        let effects = run(&mut node, message(0, token([0; 4], &[], 4)));
        assert_eq!(effects, [send(3, token([0, 0, 1, 0], &[], 4))]);
    }

    #[test]
    fn who_asks_again_while_the_withdrawn_request_is_out_sends_nothing() {
        let mut node = node(2);
        run(&mut node, ACQUIRE);
        run(&mut node, CANCEL);
        assert_eq!(run(&mut node, ACQUIRE), []);
        assert_eq!(run(&mut node, message(0, token([0; 4], &[], 4))), [entered(5)]);
    }

    #[test]
    fn a_restarted_node_passes_on_what_it_held_and_mints_nothing() {
        let mut first = node(0);
        run(&mut first, ACQUIRE);
        run(&mut first, message(3, request(1)));
        let Recovery::State(mut kept) = first.after_crash() else { panic!("the disk is kept") };
        assert_eq!(run(&mut kept, Event::Restart), [send(3, token([0; 4], &[], 1))]);
        assert_eq!(run(&mut SuzukiKasami::new(NodeId(0), 4), Event::Restart), []);
    }
}
