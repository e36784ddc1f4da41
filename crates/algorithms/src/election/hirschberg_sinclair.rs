//! Hirschberg and Sinclair's election: a node asks its neighbours on both sides of a ring, twice as
//! far each time, whether anybody there is greater.
//!
//! Source: D. S. Hirschberg, J. B. Sinclair, "Decentralized extrema-finding in circular
//! configurations of processors", CACM 23(11), 1980.
//! Assumes: A1 every message arrives exactly once, in whatever order; A2 no crashes.
//!
//! | message  | from, to          | sent when                                 | carries         |
//! |----------|-------------------|-------------------------------------------|-----------------|
//! | `Probe`  | node, next on way | a phase begins; a greater id goes by      | id, phase, hops |
//! | `Reply`  | node, next on way | a probe has gone 2^phase hops; it goes by | id, phase       |
//! | `Leader` | node, successor   | a probe came home; it goes by             | the leader      |
//!
//! - R1 who begins, or is woken by a probe that it stops, asks on both sides in phases: in phase k
//!   as far as 2^k hops;
//! - R2 a probe of a greater id passes, and whoever it passes is out of the race; a probe of a
//!   smaller one stops there;
//! - R3 a probe that has gone as far as it should is answered, and the answer goes back the same
//!   way;
//! - R4 with the answers of both sides the next phase begins;
//! - R5 a probe that comes home has passed everybody: its id is the greatest;
//! - R6 the paper ends when the greatest knows that it won; `Leader` tells the others.
//!
//! Probes and replies name the way they go, not the node they come from: in a ring of two both
//! neighbours are the same node.
//!
//! Has: agreement on the greatest id; everybody learns of it; one leader per term, there being one
//! term.
//! Lacks: any tolerance of loss or crashes; a second election.
//! Cost: O(n log n) messages, at most 8n(1+ceil(log2 n))+n; O(n) message times.
mod why;

pub use why::WHY;

use super::why::{NO_HAND_OVER, STRANGER, WAITS, pass_on};
use conclave_core::election::{Election, Indication, Request};
use conclave_core::{Context, Event, Named, Never, NodeId, Process, detector};
use serde::{Deserialize, Serialize};

/// There is one election, and this is its term.
const TERM: u64 = 1;

/// What neighbours tell each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Message {
    /// Is anybody greater, within 2^phase hops?
    Probe {
        /// Who asks.
        id: u64,
        /// How often it has asked before.
        phase: u8,
        /// How many hops it has made, this one included.
        hops: u32,
        /// Which way it goes.
        way: Way,
    },
    /// Nobody on this side is.
    Reply {
        /// Who asked.
        id: u64,
        /// In which phase.
        phase: u8,
        /// Which way the answer goes.
        way: Way,
    },
    /// Nobody is.
    Leader {
        /// Who leads.
        leader: NodeId,
    },
}

impl Named for Message {
    fn name(&self) -> &'static str {
        match self {
            Self::Probe { .. } => "PROBE",
            Self::Reply { .. } => "REPLY",
            Self::Leader { .. } => "LEADER",
        }
    }
}

/// One of the two ways round the ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Way {
    /// From each node to its successor.
    Forward,
    /// From each node to its predecessor.
    Back,
}

impl Way {
    /// The other way.
    fn reversed(self) -> Self {
        match self {
            Self::Forward => Self::Back,
            Self::Back => Self::Forward,
        }
    }
}

/// One node.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct HirschbergSinclair {
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
    /// It has let a greater id pass, and never asks itself.
    Passive,
    /// It has asked on both sides.
    Probing {
        phase: u8,
        /// The way that the first answer of this phase came, if it did.
        answered: Option<Way>,
    },
}

impl Process for HirschbergSinclair {
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
            Event::Message { message: Message::Probe { id, phase, hops, way }, .. } => {
                self.on_probe(id, phase, hops, way, ctx);
            }
            Event::Message { message: Message::Reply { id, phase, way }, .. } => {
                self.on_reply(id, phase, way, ctx);
            }
            Event::Message { message: Message::Leader { leader }, .. } => {
                self.on_leader(leader, ctx);
            }
            // A2: it has no rule for a crash, but who stands above may have one.
            Event::Indication(told) => pass_on(told, ctx),
        }
    }
}

impl HirschbergSinclair {
    /// Node `me` of `n`, in its first state.
    pub fn new(me: NodeId, n: u32, id: u64) -> Self {
        assert!(me.0 < n, "{me} is outside a ring of {n}");
        Self { id, me, n, state: State::Idle, leader: None }
    }

    fn on_campaign(&mut self, ctx: &mut Context<Self>) {
        match self.state {
            State::Idle if self.n == 1 => {
                ctx.because(&why::ALONE, ()); // Nobody to ask.
                self.learn(self.me, ctx);
            }
            State::Idle => self.probe(0, ctx),
            State::Passive | State::Probing { .. } => ctx.because(&why::ALREADY, ()),
        }
    }

    fn on_probe(&mut self, id: u64, phase: u8, hops: u32, way: Way, ctx: &mut Context<Self>) {
        if id == self.id {
            return self.on_own_probe(ctx);
        }
        if id < self.id {
            ctx.because(&why::STOPS, (self.id, id));
            if self.state == State::Idle {
                ctx.because(&why::WOKEN, ());
                self.probe(0, ctx);
            }
            return;
        }
        if self.state == State::Idle {
            self.state = State::Passive;
        }
        if u64::from(hops) < reach(phase) {
            ctx.because(&why::PASSES, (id, hops, reach(phase), self.id));
            self.pass(way, Message::Probe { id, phase, hops: hops.saturating_add(1), way }, ctx);
        } else {
            ctx.because(&why::REPLIES, (id, reach(phase)));
            let way = way.reversed();
            self.pass(way, Message::Reply { id, phase, way }, ctx);
        }
    }

    /// It went all the way round, past everybody.
    fn on_own_probe(&mut self, ctx: &mut Context<Self>) {
        if self.leader.is_some() {
            return ctx.because(&why::HOME_AGAIN, ());
        }
        ctx.because(&why::HOME, self.id);
        self.learn(self.me, ctx);
    }

    fn on_reply(&mut self, id: u64, phase: u8, way: Way, ctx: &mut Context<Self>) {
        if id != self.id {
            ctx.because(&why::PASSES_REPLY, id);
            return self.pass(way, Message::Reply { id, phase, way }, ctx);
        }
        match &mut self.state {
            State::Probing { phase: current, answered } if *current == phase => match *answered {
                None => {
                    ctx.because(&why::ONE_SIDE, reach(phase));
                    *answered = Some(way);
                }
                Some(first) if first == way => ctx.because(&why::SAME_ANSWER, ()),
                Some(_) => {
                    ctx.because(&why::BOTH_SIDES, reach(phase));
                    self.probe(phase.saturating_add(1), ctx);
                }
            },
            State::Idle | State::Passive | State::Probing { .. } => {
                ctx.because(&why::LATE_REPLY, u32::from(phase)); // Not asked, or long ago.
            }
        }
    }

    fn on_leader(&mut self, leader: NodeId, ctx: &mut Context<Self>) {
        match self.leader {
            Some(known) => ctx.because(&why::LAP_OVER, known),
            None if leader.0 >= self.n => ctx.because(&why::UNKNOWN_LEADER, ()),
            None => {
                ctx.because(&why::FOLLOWS, leader);
                self.learn(leader, ctx);
            }
        }
    }

    /// Who leads is told once, and passed on once.
    fn learn(&mut self, leader: NodeId, ctx: &mut Context<Self>) {
        if self.leader.is_none() {
            self.leader = Some(leader);
            ctx.indicate(Indication::Elected { leader, term: TERM });
            self.pass(Way::Forward, Message::Leader { leader }, ctx);
        }
    }

    fn probe(&mut self, phase: u8, ctx: &mut Context<Self>) {
        ctx.because(&why::PROBES, (u32::from(phase), reach(phase), self.id));
        self.state = State::Probing { phase, answered: None };
        for way in [Way::Forward, Way::Back] {
            self.pass(way, Message::Probe { id: self.id, phase, hops: 1, way }, ctx);
        }
    }

    fn pass(&self, way: Way, message: Message, ctx: &mut Context<Self>) {
        let next = match way {
            Way::Forward => self.me.successor(self.n),
            Way::Back => NodeId(if self.me.0 == 0 { self.n - 1 } else { self.me.0 - 1 }),
        };
        if next != self.me {
            ctx.send(next, message);
        }
    }
}

/// How far the probes of a phase go.
fn reach(phase: u8) -> u64 {
    1_u64.checked_shl(phase.into()).unwrap_or(u64::MAX)
}

const _: () = assert!(size_of::<Event<HirschbergSinclair>>() <= 32);

#[cfg(test)]
mod tests {
    use super::*;
    use conclave_core::Effect;
    use conclave_core::testkit::{message, run, send};

    const CAMPAIGN: Event<HirschbergSinclair> = Event::Request(Request::Campaign);

    /// Node `me` of `n`, whose id is ten times its number from 1.
    fn node(me: u32, n: u32) -> HirschbergSinclair {
        HirschbergSinclair::new(NodeId(me), n, u64::from(me + 1) * 10)
    }

    fn probe(id: u64, phase: u8, hops: u32, way: Way) -> Message {
        Message::Probe { id, phase, hops, way }
    }

    fn reply(id: u64, phase: u8, way: Way) -> Message {
        Message::Reply { id, phase, way }
    }

    fn elected(leader: u32) -> Effect<HirschbergSinclair> {
        Effect::Indicate(Indication::Elected { leader: NodeId(leader), term: TERM })
    }

    #[test]
    fn alone_it_elects_itself_without_a_message() {
        assert_eq!(run(&mut node(0, 1), CAMPAIGN), [elected(0)]);
    }

    #[test]
    fn who_begins_asks_on_both_sides_once() {
        let mut node = node(0, 4);
        let asked = [send(1, probe(10, 0, 1, Way::Forward)), send(3, probe(10, 0, 1, Way::Back))];
        assert_eq!(run(&mut node, CAMPAIGN), asked);
        assert_eq!(run(&mut node, CAMPAIGN), []);
    }

    #[test]
    fn a_greater_id_goes_as_far_as_its_phase_and_is_answered_there() {
        let mut node = node(1, 8);
        let further = send(0, probe(50, 2, 4, Way::Back));
        assert_eq!(run(&mut node, message(2, probe(50, 2, 3, Way::Back))), [further]);
        let answer = send(2, reply(50, 2, Way::Forward));
        assert_eq!(run(&mut node, message(2, probe(50, 2, 4, Way::Back))), [answer]);
        assert_eq!(run(&mut node, CAMPAIGN), [], "it let a greater one pass");
    }

    #[test]
    fn a_smaller_id_stops_and_wakes_who_stops_it() {
        let mut node = node(3, 8);
        let woken = run(&mut node, message(2, probe(20, 3, 5, Way::Forward)));
        assert_eq!(woken.len(), 2);
        assert_eq!(run(&mut node, message(2, probe(30, 0, 1, Way::Forward))), []);
    }

    #[test]
    fn an_answer_for_another_goes_on() {
        let mut node = node(0, 4);
        let on = send(3, reply(30, 1, Way::Back));
        assert_eq!(run(&mut node, message(1, reply(30, 1, Way::Back))), [on]);
    }

    #[test]
    fn answers_from_both_sides_start_the_next_phase() {
        let mut node = node(0, 4);
        run(&mut node, CAMPAIGN);
        assert_eq!(run(&mut node, message(1, reply(10, 0, Way::Back))), []);
        assert_eq!(run(&mut node, message(1, reply(10, 0, Way::Back))), [], "the same twice");
        assert_eq!(run(&mut node, message(3, reply(10, 1, Way::Forward))), [], "another phase");
        let next = [send(1, probe(10, 1, 1, Way::Forward)), send(3, probe(10, 1, 1, Way::Back))];
        assert_eq!(run(&mut node, message(3, reply(10, 0, Way::Forward))), next);
    }

    #[test]
    fn the_first_probe_to_come_home_elects() {
        let mut node = node(1, 2);
        run(&mut node, CAMPAIGN);
        let leader = Message::Leader { leader: NodeId(1) };
        let home = probe(20, 1, 2, Way::Forward);
        assert_eq!(run(&mut node, message(0, home)), [elected(1), send(0, leader)]);
        assert_eq!(run(&mut node, message(0, probe(20, 1, 2, Way::Back))), []);
        assert_eq!(run(&mut node, message(0, leader)), []);
    }

    #[test]
    fn the_result_is_believed_and_passed_on_once() {
        let mut node = node(0, 3);
        let leader = Message::Leader { leader: NodeId(2) };
        assert_eq!(run(&mut node, message(2, leader)), [elected(2), send(1, leader)]);
        assert_eq!(run(&mut node, message(2, leader)), []);
    }

    #[test]
    fn strangers_are_not_heard_and_no_phase_is_too_large() {
        assert_eq!(run(&mut node(0, 2), message(2, probe(30, 0, 1, Way::Back))), []);
        let leader = Message::Leader { leader: NodeId(2) };
        assert_eq!(run(&mut node(0, 2), message(1, leader)), []);
        let far = probe(30, u8::MAX, u32::MAX, Way::Back);
        let on = probe(30, u8::MAX, u32::MAX, Way::Back);
        assert_eq!(run(&mut node(0, 2), message(1, far)), [send(1, on)]);
    }

    #[test]
    fn a_suspicion_is_passed_on_and_nothing_else() {
        let suspect = Event::Indication(detector::Indication::Suspect(NodeId(1)));
        let told = Effect::Indicate(Indication::Suspect(NodeId(1)));
        assert_eq!(run(&mut node(0, 2), suspect), [told]);
    }
}
