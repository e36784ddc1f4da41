//! Naimi and Trehel's mutual exclusion: requests climb to whoever asked last, the token goes down
//! the line of those who wait.
//!
//! Source: M. Naimi, M. Trehel and A. Arnold, "A log(N) distributed mutual exclusion algorithm
//! based on path reversal", Journal of Parallel and Distributed Computing 34(1), 1996.
//! Assumes: A1 every message arrives exactly once, in any order; A2 no crash loses a node's state;
//! A3 who enters also leaves.
//!
//! | message   | from, to                    | sent when                      | carries     |
//! |-----------|-----------------------------|--------------------------------|-------------|
//! | `REQUEST` | node, father, his father, … | a node asks without the token  | who asks    |
//! | `TOKEN`   | node, the next in line      | on release, or when it is idle | the entries |
//!
//! `father` is where a node believes the last requester to be; every request that passes turns it
//! to its origin. `next` makes a queue out of those who wait, each knowing only its successor.
//!
//! A withdrawn request cannot be called back from the line: it stays, unwanted, and the token is
//! passed on when it comes. Who asks again meanwhile just wants it after all. This is why a node
//! that asks looks for the token and not for its father: after a withdrawal the last requester has
//! no father either, and waits for the token all the same.
//!
//! Has: mutual exclusion; no starvation (at most n-1 others enter first, once the request has
//! joined the line that ends at the token).
//! Lacks: a bound before that (it may stand behind a request that is itself still under way);
//! request order (a request that takes a longer way is later); any tolerance of loss.
//! Cost: 0 to n messages, on average about the logarithm of n; one message time from exit to entry.

mod normal;

pub use normal::normal;

use conclave_core::mutex::{Indication, Mutex, Request};
use conclave_core::{Context, Event, Named, Never, NodeId, Process, Recovery};
use serde::{Deserialize, Serialize};

/// What is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Message {
    /// Somebody asks for the token.
    Request {
        /// Who asks, whoever carried it here.
        origin: NodeId,
    },
    /// The right to enter.
    Token {
        /// How many entries there have been: the fence of the latest.
        fence: u64,
    },
}

impl Named for Message {
    fn name(&self) -> &'static str {
        match self {
            Self::Request { .. } => "REQUEST",
            Self::Token { .. } => "TOKEN",
        }
    }
}

/// One node.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct NaimiTrehel {
    me: NodeId,
    /// Whither requests go; nowhere from the last requester.
    father: Option<NodeId>,
    /// Who gets the token after this node.
    next: Option<NodeId>,
    /// The largest fence seen.
    fence: u64,
    token: bool,
    /// A request of this node is out, wanted or not.
    asked: bool,
    phase: Phase,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Phase {
    Idle,
    Waiting,
    Inside,
}

impl Process for NaimiTrehel {
    type Provides = Mutex;
    type Uses = Never; // A2: nothing below to report a crash.
    type Message = Message;
    type Timer = Never;

    fn step(&mut self, event: Event<Self>, ctx: &mut Context<Self>) {
        match event {
            Event::Start => self.token = self.father.is_none(), // The first root mints the token.
            Event::Restart => self.pass_on(ctx), // Whatever the crash cut short is over.
            Event::Request(Request::Acquire) => self.on_acquire(ctx),
            Event::Message { message: Message::Request { origin }, .. } => {
                self.on_request(origin, ctx);
            }
            Event::Message { message: Message::Token { fence }, .. } => self.on_token(fence, ctx),
            Event::Request(Request::Release) => self.on_release(ctx),
            Event::Request(Request::Cancel) => self.on_cancel(),
            Event::Request(Request::Observe(_)) => {} // No clock to advance.
        }
    }

    fn after_crash(&self) -> Recovery<Self> {
        Recovery::State(Self { phase: Phase::Idle, ..self.clone() })
    }
}

impl NaimiTrehel {
    /// A node in its first state: the first is the root, and everybody's father.
    pub fn new(me: NodeId) -> Self {
        let father = (me != NodeId(0)).then_some(NodeId(0));
        let token = false;
        let asked = false;
        let phase = Phase::Idle;
        Self { me, father, next: None, fence: 0, token, asked, phase }
    }

    fn on_acquire(&mut self, ctx: &mut Context<Self>) {
        assert_eq!(self.phase, Phase::Idle, "acquired twice");
        self.phase = Phase::Waiting;
        if self.token {
            return self.enter(ctx);
        }
        // Without a father, and without the token, there is a request out already: a withdrawn one.
        if let Some(father) = self.father.filter(|_| !self.asked) {
            self.father = None;
            self.asked = true;
            ctx.send(father, Message::Request { origin: self.me });
        }
    }

    fn on_request(&mut self, origin: NodeId, ctx: &mut Context<Self>) {
        if origin == self.me {
            return; // Only a copy could come back here (A1): who it passed points to its origin.
        }
        match self.father.replace(origin) {
            Some(father) => ctx.send(father, Message::Request { origin }),
            None => {
                self.next = Some(origin);
                if self.phase == Phase::Idle {
                    self.pass_on(ctx);
                }
            }
        }
    }

    fn on_token(&mut self, fence: u64, ctx: &mut Context<Self>) {
        self.token = true;
        self.asked = false;
        self.fence = self.fence.max(fence);
        match self.phase {
            Phase::Waiting => self.enter(ctx),
            Phase::Idle => self.pass_on(ctx), // Withdrawn.
            Phase::Inside => {} // There is a token here already: a copy (A1), it melts into that.
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
        self.phase = Phase::Inside;
        self.fence += 1;
        ctx.indicate(Indication::Entered { fence: self.fence });
    }

    /// Gives the token to the next in line, if it is here and somebody is.
    fn pass_on(&mut self, ctx: &mut Context<Self>) {
        if self.token
            && let Some(next) = self.next.take()
        {
            self.token = false;
            ctx.send(next, Message::Token { fence: self.fence });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use conclave_core::Effect;
    use conclave_core::testkit::{message, run, send};

    const _: () = assert!(size_of::<NaimiTrehel>() <= 40 && size_of::<Event<NaimiTrehel>>() <= 24);
    const ACQUIRE: Event<NaimiTrehel> = Event::Request(Request::Acquire);
    const RELEASE: Event<NaimiTrehel> = Event::Request(Request::Release);
    const CANCEL: Event<NaimiTrehel> = Event::Request(Request::Cancel);

    fn root() -> NaimiTrehel {
        let mut root = NaimiTrehel::new(NodeId(0));
        assert_eq!(run(&mut root, Event::Start), []);
        root
    }
    fn leaf(me: u32) -> NaimiTrehel {
        let mut leaf = NaimiTrehel::new(NodeId(me));
        assert_eq!(run(&mut leaf, Event::Start), []);
        leaf
    }
    fn request(origin: u32) -> Message {
        Message::Request { origin: NodeId(origin) }
    }
    fn token(fence: u64) -> Message {
        Message::Token { fence }
    }
    fn entered(fence: u64) -> Effect<NaimiTrehel> {
        Effect::Indicate(Indication::Entered { fence })
    }

    #[test]
    fn where_the_token_is_nothing_is_sent() {
        let mut root = root();
        assert_eq!(run(&mut root, ACQUIRE), [entered(1)]);
        assert_eq!(run(&mut root, RELEASE), []);
        assert_eq!(run(&mut root, ACQUIRE), [entered(2)]);
    }

    #[test]
    fn who_asks_becomes_the_root_and_enters_with_the_token() {
        let mut leaf = leaf(2);
        assert_eq!(run(&mut leaf, ACQUIRE), [send(0, request(2))]);
        assert_eq!(leaf.father, None);
        assert_eq!(run(&mut leaf, message(0, token(4))), [entered(5)]);
        assert_eq!(run(&mut leaf, RELEASE), [], "nobody is next");
    }

    #[test]
    fn an_idle_root_sends_the_token_at_once() {
        let mut root = root();
        assert_eq!(run(&mut root, message(2, request(2))), [send(2, token(0))]);
        assert_eq!(root.father, Some(NodeId(2)));
    }

    #[test]
    fn a_busy_root_remembers_who_is_next_and_sends_later_requests_there() {
        let mut root = root();
        run(&mut root, ACQUIRE);
        assert_eq!(run(&mut root, message(1, request(1))), []);
        assert_eq!(run(&mut root, message(2, request(2))), [send(1, request(2))]);
        assert_eq!(run(&mut root, message(3, request(3))), [send(2, request(3))]);
        assert_eq!(run(&mut root, RELEASE), [send(1, token(1))]);
    }

    #[test]
    fn who_waits_as_the_last_in_line_gets_a_successor() {
        let mut leaf = leaf(2);
        run(&mut leaf, ACQUIRE);
        assert_eq!(run(&mut leaf, message(0, request(3))), []);
        assert_eq!(run(&mut leaf, message(0, token(7))), [entered(8)]);
        assert_eq!(run(&mut leaf, RELEASE), [send(3, token(8))]);
    }

    #[test]
    fn a_request_passes_an_idle_node_and_turns_it_to_its_origin() {
        let mut leaf = leaf(2);
        assert_eq!(run(&mut leaf, message(4, request(3))), [send(0, request(3))]);
        assert_eq!(run(&mut leaf, ACQUIRE), [send(3, request(2))]);
    }

    #[test]
    fn an_unwanted_token_goes_to_the_next_in_line() {
        let mut leaf = leaf(2);
        run(&mut leaf, ACQUIRE);
        run(&mut leaf, CANCEL);
        assert_eq!(run(&mut leaf, message(0, request(3))), [], "the token is yet to come");
        assert_eq!(run(&mut leaf, message(0, token(7))), [send(3, token(7))]);
    }

    #[test]
    fn who_asks_again_while_the_withdrawn_request_is_out_sends_nothing() {
        let mut leaf = leaf(2);
        run(&mut leaf, ACQUIRE);
        run(&mut leaf, CANCEL);
        assert_eq!(run(&mut leaf, ACQUIRE), []);
        run(&mut leaf, CANCEL);
        run(&mut leaf, message(0, request(3))); // Now there is a father again.
        assert_eq!(run(&mut leaf, ACQUIRE), []);
        assert_eq!(run(&mut leaf, message(0, token(7))), [entered(8)]);
    }

    #[test]
    fn a_restarted_node_passes_on_what_it_held_and_mints_nothing() {
        let mut root = root();
        run(&mut root, ACQUIRE);
        run(&mut root, message(1, request(1)));
        let Recovery::State(mut kept) = root.after_crash() else { panic!("the disk is kept") };
        assert_eq!(run(&mut kept, Event::Restart), [send(1, token(1))]);
        let mut amnesiac = NaimiTrehel::new(NodeId(0));
        assert_eq!(run(&mut amnesiac, Event::Restart), []);
        assert_eq!(run(&mut amnesiac, ACQUIRE), [], "it has no token to enter with");
    }
}
