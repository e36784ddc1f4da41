//! The election of Peterson, and of Dolev, Klawe and Rodeh: in each phase every node that is still
//! in the race compares the last two ids before it on the ring with its own, and at least half of
//! them give up.
//!
//! Source: G. L. Peterson, "An O(n log n) unidirectional algorithm for the circular extrema
//! problem", ACM TOPLAS 4(4), 1982; D. Dolev, M. Klawe, M. Rodeh, "An O(n log n) unidirectional
//! distributed algorithm for extrema finding in a circle", Journal of Algorithms 3(3), 1982.
//! Assumes: A1 every message arrives exactly once; A2 each link delivers in the order of sending;
//! A3 no crashes.
//!
//! | message  | from, to        | sent when                             | carries               |
//! |----------|-----------------|---------------------------------------|-----------------------|
//! | `One`    | node, successor | a phase begins; it goes by            | the id played for     |
//! | `Two`    | node, successor | `One` of the node before has come     | the id in that `One`  |
//! | `Leader` | node, successor | an id met itself; it goes by          | the leader            |
//!
//! - R1 who begins plays for its own id, and in each phase sends the id that it plays for as `One`;
//! - R2 it sends the `One` that comes from the active node before on as `Two`;
//! - R3 with both at hand it compares: if the id before is greater than its own and than the last
//!   but one, it takes that over and plays for it in the next phase; otherwise it gives up;
//! - R4 an id that meets itself has won: nobody plays for any other;
//! - R5 who gave up, or heard of the election before it began, only relays;
//! - R6 that somebody won goes round as `Leader`.
//!
//! The node that finds out who won is usually not the winner.
//!
//! Has: agreement on the greatest id of those that began; everybody learns of it; one leader per
//! term, there being one term.
//! Lacks: any tolerance of loss, reordering or crashes; a second election.
//! Cost: exactly 2n messages per phase, the last one and its `Leader` lap included; at most
//! floor(log2 n)+1 phases.
mod why;

pub use why::WHY;

use super::why::{NO_HAND_OVER, STRANGER, WAITS, pass_on};
use conclave_core::election::{Election, Indication, Request};
use conclave_core::{Context, Event, Named, Never, NodeId, Process, detector};
use serde::{Deserialize, Serialize};

/// There is one election, and this is its term.
const TERM: u64 = 1;

/// What a node tells the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Message {
    /// The id that the nearest active node before you plays for.
    One(Candidate),
    /// The id that the nearest but one plays for.
    Two(Candidate),
    /// Nobody plays for any other id.
    Leader(Candidate),
}

impl Named for Message {
    fn name(&self) -> &'static str {
        match self {
            Self::One(_) => "ONE",
            Self::Two(_) => "TWO",
            Self::Leader(_) => "LEADER",
        }
    }
}

/// An id, and whose it is. Ids are all different, so this is the order of ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Candidate {
    /// The id.
    pub id: u64,
    /// The node whose own id it is.
    pub node: NodeId,
}

/// One node.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Peterson {
    id: u64,
    me: NodeId,
    n: u32,
    state: State,
    leader: Option<NodeId>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum State {
    /// It knows nothing of an election.
    Idle,
    /// It has sent `One` and waits for that of the node before.
    AwaitingOne { own: Candidate },
    /// It has sent `Two` as well, and waits for that of the node before.
    AwaitingTwo { own: Candidate, before: Candidate },
    /// It only sends on what comes.
    Relay,
}

impl Process for Peterson {
    type Provides = Election;
    type Uses = detector::Detector;
    type Message = Message;
    type Timer = Never;

    fn step(&mut self, event: Event<Self>, ctx: &mut Context<Self>) {
        match event {
            Event::Start | Event::Restart => ctx.because(&WAITS, ()),
            Event::Request(Request::Campaign) => self.on_campaign(ctx),
            Event::Request(Request::Resign) => ctx.because(&NO_HAND_OVER, ()),
            Event::Message { from, .. } if from.0 >= self.n => {
                ctx.because(&STRANGER, from);
            }
            Event::Message { message: Message::One(one), .. } => self.on_one(one, ctx),
            Event::Message { message: Message::Two(two), .. } => self.on_two(two, ctx),
            Event::Message { message: Message::Leader(leader), .. } => self.on_leader(leader, ctx),
            // A3: it has no rule for a crash, but who stands above may have one.
            Event::Indication(told) => pass_on(told, ctx),
        }
    }
}

impl Peterson {
    /// Node `me` of `n`, in its first state.
    pub fn new(me: NodeId, n: u32, id: u64) -> Self {
        assert!(me.0 < n, "{me} is outside a ring of {n}");
        Self { id, me, n, state: State::Idle, leader: None }
    }

    fn on_campaign(&mut self, ctx: &mut Context<Self>) {
        let own = Candidate { id: self.id, node: self.me };
        match self.state {
            State::Idle if self.n == 1 => {
                ctx.because(&why::ALONE, ()); // Nobody to compare with.
                self.learn(own, ctx);
            }
            State::Idle => {
                ctx.because(&why::BEGINS, self.id);
                self.play_for(own, ctx);
            }
            State::AwaitingOne { .. } | State::AwaitingTwo { .. } | State::Relay => {
                ctx.because(&why::ALREADY, ());
            }
        }
    }

    fn on_one(&mut self, one: Candidate, ctx: &mut Context<Self>) {
        match self.state {
            State::AwaitingOne { own } if own == one => {
                self.state = State::Relay;
                ctx.because(&why::MET_ITSELF, one.id);
                self.learn(one, ctx);
            }
            State::AwaitingOne { own } => {
                ctx.because(&why::HAS_ONE, one.id);
                self.state = State::AwaitingTwo { own, before: one };
                self.send_on(Message::Two(one), ctx);
            }
            State::AwaitingTwo { .. } => ctx.because(&why::OUT_OF_ORDER, ()),
            State::Idle | State::Relay => self.relay(Message::One(one), ctx),
        }
    }

    fn on_two(&mut self, two: Candidate, ctx: &mut Context<Self>) {
        match self.state {
            State::AwaitingTwo { own, before } if before > own.max(two) => {
                ctx.because(&why::TAKES_OVER, (before.id, own.id, two.id));
                self.play_for(before, ctx);
            }
            State::AwaitingTwo { own, before } => {
                ctx.because(&why::GIVES_UP, (before.id, own.id, two.id));
                self.state = State::Relay;
            }
            State::AwaitingOne { .. } => ctx.because(&why::OUT_OF_ORDER, ()),
            State::Idle | State::Relay => self.relay(Message::Two(two), ctx),
        }
    }

    fn on_leader(&mut self, leader: Candidate, ctx: &mut Context<Self>) {
        match self.leader {
            Some(known) => ctx.because(&why::LAP_OVER, known),
            None if leader.node.0 >= self.n => ctx.because(&why::UNKNOWN_LEADER, ()),
            None => {
                ctx.because(&why::FOLLOWS, leader.node);
                self.learn(leader, ctx);
            }
        }
    }

    /// Who leads is told once, and sent on once.
    fn learn(&mut self, leader: Candidate, ctx: &mut Context<Self>) {
        if self.leader.is_none() {
            self.leader = Some(leader.node);
            ctx.indicate(Indication::Elected { leader: leader.node, term: TERM });
            self.send_on(Message::Leader(leader), ctx);
        }
    }

    /// A phase begins.
    fn play_for(&mut self, own: Candidate, ctx: &mut Context<Self>) {
        self.state = State::AwaitingOne { own };
        self.send_on(Message::One(own), ctx);
    }

    fn relay(&mut self, message: Message, ctx: &mut Context<Self>) {
        ctx.because(&why::RELAYS, ());
        self.state = State::Relay;
        self.send_on(message, ctx);
    }

    fn send_on(&self, message: Message, ctx: &mut Context<Self>) {
        let next = self.me.successor(self.n);
        if next != self.me {
            ctx.send(next, message);
        }
    }
}

const _: () = assert!(size_of::<Event<Peterson>>() <= 32);

#[cfg(test)]
mod tests {
    use super::Message::{Leader, One, Two};
    use super::*;
    use conclave_core::Effect;
    use conclave_core::testkit::{message, run, send};

    const CAMPAIGN: Event<Peterson> = Event::Request(Request::Campaign);

    /// Node `me` of `n`, whose id is ten times its number from 1.
    fn node(me: u32, n: u32) -> Peterson {
        Peterson::new(NodeId(me), n, of(me).id)
    }

    fn of(node: u32) -> Candidate {
        Candidate { id: u64::from(node + 1) * 10, node: NodeId(node) }
    }

    fn elected(leader: u32) -> Effect<Peterson> {
        Effect::Indicate(Indication::Elected { leader: NodeId(leader), term: TERM })
    }

    #[test]
    fn alone_it_elects_itself_without_a_message() {
        assert_eq!(run(&mut node(0, 1), CAMPAIGN), [elected(0)]);
    }

    #[test]
    fn who_begins_plays_for_its_own_id() {
        let mut node = node(1, 3);
        assert_eq!(run(&mut node, CAMPAIGN), [send(2, One(of(1)))]);
        assert_eq!(run(&mut node, CAMPAIGN), []);
    }

    #[test]
    fn the_id_before_is_sent_on_as_the_one_but_last() {
        let mut node = node(1, 3);
        run(&mut node, CAMPAIGN);
        assert_eq!(run(&mut node, message(0, One(of(0)))), [send(2, Two(of(0)))]);
    }

    #[test]
    fn an_id_greater_than_both_its_neighbours_is_taken_over() {
        let mut node = node(0, 3);
        run(&mut node, CAMPAIGN);
        run(&mut node, message(2, One(of(2))));
        assert_eq!(run(&mut node, message(2, Two(of(1)))), [send(1, One(of(2)))]);
        let found = run(&mut node, message(2, One(of(2))));
        assert_eq!(found, [elected(2), send(1, Leader(of(2)))], "an id that met itself");
        assert_eq!(run(&mut node, message(2, Leader(of(2)))), [], "the lap is over");
    }

    #[test]
    fn an_id_smaller_than_either_neighbour_is_given_up() {
        for (me, before, but_last) in [(1, 0, 2), (0, 1, 2)] {
            let mut node = node(me, 3);
            run(&mut node, CAMPAIGN);
            run(&mut node, message(2, One(of(before))));
            assert_eq!(run(&mut node, message(2, Two(of(but_last)))), []);
            let on = send(me + 1, One(of(2)));
            assert_eq!(run(&mut node, message(2, One(of(2)))), [on], "now it relays");
        }
    }

    #[test]
    fn who_hears_of_it_before_it_begins_only_relays() {
        let mut node = node(2, 3);
        assert_eq!(run(&mut node, message(1, One(of(0)))), [send(0, One(of(0)))]);
        assert_eq!(run(&mut node, CAMPAIGN), []);
        assert_eq!(run(&mut node, message(1, Two(of(1)))), [send(0, Two(of(1)))]);
    }

    #[test]
    fn the_result_is_believed_and_passed_on_once() {
        let mut node = node(0, 3);
        assert_eq!(run(&mut node, message(2, Leader(of(1)))), [elected(1), send(1, Leader(of(1)))]);
        assert_eq!(run(&mut node, message(2, Leader(of(1)))), []);
    }

    #[test]
    fn what_comes_out_of_order_or_from_strangers_is_dropped() {
        let mut node = node(0, 3);
        run(&mut node, CAMPAIGN);
        assert_eq!(run(&mut node, message(2, Two(of(1)))), []);
        run(&mut node, message(2, One(of(2))));
        assert_eq!(run(&mut node, message(2, One(of(2)))), []);
        assert_eq!(run(&mut node, message(3, Two(of(1)))), []);
        assert_eq!(run(&mut node, message(2, Leader(of(3)))), []);
    }

    #[test]
    fn a_suspicion_is_passed_on_and_nothing_else() {
        let suspect = Event::Indication(detector::Indication::Suspect(NodeId(1)));
        let told = Effect::Indicate(Indication::Suspect(NodeId(1)));
        assert_eq!(run(&mut node(0, 2), suspect), [told]);
    }
}
