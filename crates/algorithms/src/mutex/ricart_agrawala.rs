//! Ricart and Agrawala's mutual exclusion: enter when everybody agrees; whoever is before you
//! says so by keeping silent until it has left.
//!
//! Source: G. Ricart, A. K. Agrawala, "An optimal algorithm for mutual exclusion in computer
//! networks", CACM 24(1), 1981.
//! Assumes: A1 every message arrives exactly once, in whatever order; A2 no crashes, or a restart
//! with the disk; A3 who enters also releases.
//!
//! | message   | from, to           | sent when                                | carries          |
//! |-----------|--------------------|------------------------------------------|------------------|
//! | `Request` | requester, all     | it wants to enter                        | its time and seq |
//! | `Ok`      | anyone, requester  | it is not before the requester, or left  | clock, that seq  |
//!
//! Requests are ordered by (time, node), the smaller first. The seq of a request comes back in its
//! `Ok`, so that a late answer to a withdrawn request counts for nothing. The paper's answer
//! carries no clock; here it does, or a link that reorders could hide a request from a process
//! that already knows its effects.
//!
//! Has: mutual exclusion; no starvation (at most n-1 others enter first); request order; fences
//! that rise, for they are the requests' places in that order.
//! Lacks: any tolerance of a crash: everybody waits for everybody. With `Text::Seed`, which never
//! moves its clock on receipt, also mutual exclusion: a process that said OK can ask with a
//! smaller time than the one it said OK to.
//! Cost: 2(n-1) messages per entry; 2 message times to enter, 1 from exit to entry.

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
    /// You may, as far as I am concerned.
    Ok {
        /// The sender's clock.
        time: u64,
        /// The request that this answers.
        seq: u32,
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

/// Which text of the algorithm to follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Text {
    /// The paper's.
    Corrected,
    /// A lecture note's, which forgets to move the clock when a message arrives.
    Seed,
}

/// One node.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RicartAgrawala {
    me: NodeId,
    n: u32,
    text: Text,
    phase: Phase,
    clock: Lamport,
    /// When the latest request was made.
    asked: u64,
    /// The number of the latest request.
    seq: u32,
    /// Who said OK to it.
    granted: NodeSet,
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

impl Process for RicartAgrawala {
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
            Event::Request(Request::Observe(time)) => self.observe(time),
            Event::Message { from, .. } if from.0 >= self.n || from == self.me => {} // A stranger.
            Event::Message { from, message: Message::Request { time, seq } } => {
                self.on_request(from, time, seq, ctx);
            }
            Event::Message { from, message: Message::Ok { time, seq } } => {
                self.on_ok(from, time, seq, ctx);
            }
        }
    }

    /// All of it: a lost clock breaks mutual exclusion, a forgotten deferred request starves.
    fn after_crash(&self) -> Recovery<Self> {
        Recovery::State(self.clone())
    }

    fn clock(&self) -> u64 {
        self.clock.now()
    }
}

impl RicartAgrawala {
    /// Node `me` of `n`, in its first state.
    pub fn new(me: NodeId, n: u32, text: Text) -> Self {
        assert!(me.0 < n, "{me} is outside a cluster of {n}");
        Self {
            me,
            n,
            text,
            phase: Phase::Idle,
            clock: Lamport::default(),
            asked: 0,
            seq: 0,
            granted: NodeSet::new(n),
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
            ctx.send(peer, Message::Request { time: self.asked, seq: self.seq });
        }
        self.enter_if_all_agree(ctx); // Alone, there is nobody to ask.
    }

    fn on_request(&mut self, from: NodeId, time: u64, seq: u32, ctx: &mut Context<Self>) {
        self.hear(time);
        let newest = &mut self.heard[from.index()];
        if seq < *newest {
            return; // Overtaken on the way by a later request: this one was withdrawn.
        }
        *newest = seq;
        if self.is_before(Stamp::new(time, from)) {
            self.deferred.insert(from);
        } else {
            ctx.send(from, Message::Ok { time: self.clock.now(), seq });
        }
    }

    fn on_ok(&mut self, from: NodeId, time: u64, seq: u32, ctx: &mut Context<Self>) {
        self.hear(time);
        if self.phase != Phase::Waiting || seq != self.seq {
            return; // It answers a request that was withdrawn.
        }
        self.granted.insert(from);
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
        self.granted.clear();
        for peer in self.deferred.iter() {
            ctx.send(peer, Message::Ok { time: self.clock.now(), seq: self.heard[peer.index()] });
        }
        self.deferred.clear();
    }

    fn enter_if_all_agree(&mut self, ctx: &mut Context<Self>) {
        if self.granted.len() + 1 == self.n {
            self.phase = Phase::Inside;
            let fence = Stamp::new(self.asked, self.me).as_number(self.n);
            ctx.indicate(Indication::Entered { fence });
        }
    }

    /// Whether this node goes first. Two that wait agree about it, so one of them answers.
    fn is_before(&self, other: Stamp) -> bool {
        match self.phase {
            Phase::Idle => false,
            Phase::Waiting => Stamp::new(self.asked, self.me) < other,
            Phase::Inside => true,
        }
    }

    /// A message of the application is an event like any other.
    fn observe(&mut self, time: u64) {
        match self.text {
            Text::Corrected => {
                self.clock.receive(time);
            }
            Text::Seed => {} // As printed.
        }
    }

    /// The next request of this node must be later than every request it has seen. That is all the
    /// paper's highest sequence number is for: it does not count messages.
    fn hear(&mut self, time: u64) {
        match self.text {
            Text::Corrected => self.clock.learn(time),
            Text::Seed => {} // As printed.
        }
    }
}

const _: () = assert!(size_of::<Event<RicartAgrawala>>() <= 32);

#[cfg(test)]
mod tests {
    use super::*;
    use conclave_core::Effect;
    use conclave_core::testkit::{message, run, send};

    const ACQUIRE: Event<RicartAgrawala> = Event::Request(Request::Acquire);
    const RELEASE: Event<RicartAgrawala> = Event::Request(Request::Release);
    const CANCEL: Event<RicartAgrawala> = Event::Request(Request::Cancel);

    fn node(me: u32, n: u32) -> RicartAgrawala {
        RicartAgrawala::new(NodeId(me), n, Text::Corrected)
    }

    fn request(from: u32, time: u64, seq: u32) -> Event<RicartAgrawala> {
        message(from, Message::Request { time, seq })
    }

    fn ok(from: u32, seq: u32) -> Event<RicartAgrawala> {
        message(from, Message::Ok { time: 0, seq })
    }

    /// Whom these effects answer, and which request of theirs.
    fn answers(effects: &[Effect<RicartAgrawala>]) -> Vec<(u32, u32)> {
        let answer = |effect: &Effect<RicartAgrawala>| {
            let Effect::Send { to, message: Message::Ok { seq, .. } } = *effect else {
                panic!("expected an OK, got {effect:?}");
            };
            (to.0, seq)
        };
        effects.iter().map(answer).collect()
    }

    #[test]
    fn alone_it_enters_at_once() {
        let entered = Effect::Indicate(Indication::Entered { fence: 1 });
        assert_eq!(run(&mut node(0, 1), ACQUIRE), [entered]);
    }

    #[test]
    fn it_enters_when_the_last_of_all_others_agrees() {
        let mut node = node(1, 3);
        let ask = Message::Request { time: 1, seq: 1 };
        assert_eq!(run(&mut node, ACQUIRE), [send(0, ask), send(2, ask)]);
        assert_eq!(run(&mut node, ok(0, 1)), []);
        assert_eq!(run(&mut node, ok(0, 1)), [], "the same OK twice is one OK");
        let entered = Effect::Indicate(Indication::Entered { fence: 4 }); // 1 * 3 + 1
        assert_eq!(run(&mut node, ok(2, 1)), [entered]);
    }

    #[test]
    fn an_idle_node_agrees_and_will_ask_later() {
        let mut node = node(0, 2);
        let agreed = send(1, Message::Ok { time: 7, seq: 4 });
        assert_eq!(run(&mut node, request(1, 7, 4)), [agreed]);
        assert_eq!(run(&mut node, ACQUIRE), [send(1, Message::Request { time: 8, seq: 1 })]);
    }

    #[test]
    fn of_two_that_wait_the_earlier_and_then_the_smaller_goes_first() {
        let mut node = node(1, 4);
        run(&mut node, ACQUIRE);
        assert_eq!(answers(&run(&mut node, request(0, 1, 1))), [(0, 1)], "a tie, smaller node");
        assert_eq!(run(&mut node, request(2, 1, 1)), [], "a tie, larger node");
        assert_eq!(run(&mut node, request(3, 2, 5)), [], "later");
        assert_eq!(answers(&run(&mut node, CANCEL)), [(2, 1), (3, 5)]);
    }

    #[test]
    fn who_is_inside_answers_when_it_leaves() {
        let mut node = node(0, 2);
        run(&mut node, ACQUIRE);
        run(&mut node, ok(1, 1));
        assert_eq!(run(&mut node, request(1, 1, 1)), []);
        assert_eq!(answers(&run(&mut node, RELEASE)), [(1, 1)]);
    }

    #[test]
    fn an_ok_to_a_withdrawn_request_counts_for_nothing() {
        let mut node = node(0, 2);
        run(&mut node, ACQUIRE);
        run(&mut node, CANCEL);
        assert_eq!(run(&mut node, ok(1, 1)), []);
        run(&mut node, ACQUIRE);
        assert_eq!(run(&mut node, ok(1, 1)), []);
        assert_eq!(run(&mut node, ok(1, 2)).len(), 1);
    }

    #[test]
    fn a_newer_request_replaces_the_deferred_one_and_an_older_is_dropped() {
        let mut node = node(0, 2);
        run(&mut node, ACQUIRE);
        run(&mut node, request(1, 1, 1));
        run(&mut node, request(1, 5, 3));
        assert_eq!(run(&mut node, request(1, 3, 2)), []);
        assert_eq!(answers(&run(&mut node, CANCEL)), [(1, 3)]);
        assert_eq!(run(&mut node, request(1, 3, 2)), []);
    }

    #[test]
    fn a_restart_answers_whoever_was_deferred() {
        let mut node = node(0, 2);
        run(&mut node, ACQUIRE);
        run(&mut node, request(1, 1, 1));
        let Recovery::State(mut disk) = node.after_crash() else { panic!("the disk keeps it") };
        assert_eq!(answers(&run(&mut disk, Event::Restart)), [(1, 1)]);
        let again = run(&mut disk, ACQUIRE);
        assert_eq!(again, [send(1, Message::Request { time: 2, seq: 2 })]);
    }

    #[test]
    fn the_printed_text_asks_with_a_smaller_time_than_it_agreed_to() {
        let mut node = RicartAgrawala::new(NodeId(1), 2, Text::Seed);
        assert_eq!(answers(&run(&mut node, request(0, 5, 1))), [(0, 1)]);
        assert_eq!(run(&mut node, ACQUIRE), [send(0, Message::Request { time: 1, seq: 1 })]);
    }

    #[test]
    fn a_stranger_is_not_answered() {
        assert_eq!(run(&mut node(0, 2), request(2, 1, 1)), []);
    }

    #[test]
    fn a_time_observed_while_waiting_moves_the_next_request_and_not_this_one() {
        let mut node = node(0, 2);
        run(&mut node, ACQUIRE);
        assert_eq!(run(&mut node, Event::Request(Request::Observe(9))), []);
        assert_eq!(run(&mut node, request(1, 2, 1)), [], "it asked later, at 2");
        let entered = Effect::Indicate(Indication::Entered { fence: 2 }); // 1 * 2 + 0
        assert_eq!(run(&mut node, ok(1, 1)), [entered]);
        run(&mut node, RELEASE);
        assert_eq!(run(&mut node, ACQUIRE), [send(1, Message::Request { time: 11, seq: 2 })]);
    }

    #[test]
    fn who_comes_back_without_its_disk_counts_no_ok_to_what_it_asked_before() {
        let mut fresh = node(0, 2);
        assert_eq!(run(&mut fresh, Event::Restart), []);
        assert_eq!(run(&mut fresh, ok(1, 1)), [], "it waits for nothing");
    }
}
