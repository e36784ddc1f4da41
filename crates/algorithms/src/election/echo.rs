//! Echo with extinction: every initiator floods the graph and collects the echo; the greatest wave
//! swallows the others.
//!
//! Source: E. J. H. Chang, "Echo algorithms: depth parallel operations on general graphs", IEEE
//! TSE 8(4), 1982; extinction after G. Tel, "Introduction to Distributed Algorithms", 2000, ch. 7.
//! Assumes: A1 every message arrives exactly once, in any order; A2 no crashes; A3 the graph is
//! connected and the ids are distinct.
//!
//! | message | from, to          | sent when                                  | carries        |
//! |---------|-------------------|--------------------------------------------|----------------|
//! | `TOK`   | node, neighbours  | it begins its wave, or joins a greater one | the initiator  |
//! | `TOK`   | node, its parent  | the wave came back from all the others     | the initiator  |
//! | `LDR`   | node, neighbours  | its own wave came back, or it is told      | the leader     |
//!
//! - R1 who calls for an election begins a wave of its own, unless it is in one already;
//! - R2 a node is in one wave at a time, the greatest that it has met; the neighbour that brought
//!   it is its parent, and all other neighbours are told of it;
//! - R3 of a smaller wave it says nothing, so that one never comes back to its initiator;
//! - R4 a wave that has come from all neighbours but the parent goes back to the parent;
//! - R5 the initiator whose wave came back from all neighbours leads;
//! - R6 that it does floods the graph, once through every node.
//!
//! Has: the greatest initiator leads; everybody learns of it.
//! Lacks: any tolerance of loss or crashes, for which the wave waits; a say for those that did not
//! begin.
//! Cost: one initiator: 2m TOK and 2m-n+1 LDR; all: at most 2mn TOK.

mod why;

pub use why::WHY;

use super::why::{NO_HAND_OVER, STRANGER, WAITS, pass_on};
use crate::election::rank::Rank;
use conclave_core::detector::Detector;
use conclave_core::election::{Election, Indication, Request};
use conclave_core::{Context, Event, Named, Never, NodeId, Process, Recovery};
use serde::{Deserialize, Serialize};

/// What the nodes tell each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Message {
    /// The wave of this initiator, on its way out or back.
    Tok(Rank),
    /// This node leads.
    Ldr(Rank),
}

impl Named for Message {
    fn name(&self) -> &'static str {
        match self {
            Self::Tok(_) => "TOK",
            Self::Ldr(_) => "LDR",
        }
    }
}

/// One node.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Echo {
    rank: Rank,
    /// In order.
    neighbours: Box<[NodeId]>,
    /// The wave this node is in.
    wave: Option<Rank>,
    /// Who brought it; nobody if it is this node's own.
    parent: Option<NodeId>,
    /// How many neighbours it has come from, the parent aside.
    count: u32,
    leader: Option<Rank>,
}

impl Process for Echo {
    type Provides = Election;
    type Uses = Detector; // A2: what it says is only passed on.
    type Message = Message;
    type Timer = Never;

    fn step(&mut self, event: Event<Self>, ctx: &mut Context<Self>) {
        match event {
            Event::Start => ctx.because(&WAITS, ()),
            Event::Restart => self.on_restart(ctx),
            Event::Request(Request::Campaign) => self.on_campaign(ctx),
            Event::Request(Request::Resign) => ctx.because(&NO_HAND_OVER, ()),
            Event::Indication(told) => pass_on(told, ctx),
            Event::Message { from, .. } if self.neighbours.binary_search(&from).is_err() => {
                ctx.because(&STRANGER, from); // There is no edge to it.
            }
            Event::Message { from, message: Message::Tok(wave) } => self.on_tok(from, wave, ctx),
            Event::Message { from, message: Message::Ldr(leader) } => {
                self.on_ldr(from, leader, ctx);
            }
        }
    }

    /// All of it: the wave waits for every node.
    fn after_crash(&self) -> Recovery<Self> {
        Recovery::State(self.clone())
    }
}

impl Echo {
    /// A node with that rank and those neighbours, in their order, in its first state.
    pub fn new(rank: Rank, neighbours: &[NodeId]) -> Self {
        let neighbours = neighbours.into();
        Self { rank, neighbours, wave: None, parent: None, count: 0, leader: None }
    }

    fn on_restart(&self, ctx: &mut Context<Self>) {
        match self.leader {
            Some(leader) => ctx.because(&why::STILL_FOLLOWS, leader.node),
            None => ctx.because(&WAITS, ()),
        }
        self.tell(ctx);
    }

    fn on_campaign(&mut self, ctx: &mut Context<Self>) {
        match self.wave {
            Some(wave) => ctx.because(&why::IN_A_WAVE, wave.node),
            None => {
                ctx.because(&why::BEGINS, ());
                self.join(self.rank, None, ctx);
            }
        }
    }

    fn on_tok(&mut self, from: NodeId, wave: Rank, ctx: &mut Context<Self>) {
        if let Some(leader) = self.leader {
            return ctx.because(&why::DECIDED, leader.node);
        }
        match self.wave {
            Some(current) if wave < current => {
                ctx.because(&why::EXTINCT, (wave.node, current.node));
            }
            Some(current) if wave == current => {
                self.count += 1;
                self.echo(ctx);
            }
            Some(current) => {
                ctx.because(&why::JOINS_GREATER, (current.node, wave.node, from));
                self.join(wave, Some(from), ctx);
            }
            None => {
                ctx.because(&why::JOINS, (wave.node, from));
                self.join(wave, Some(from), ctx);
            }
        }
    }

    fn join(&mut self, wave: Rank, parent: Option<NodeId>, ctx: &mut Context<Self>) {
        self.wave = Some(wave);
        self.parent = parent;
        self.count = 0;
        self.send_to_all_but(parent, Message::Tok(wave), ctx);
        self.echo(ctx);
    }

    /// When the wave has come from all neighbours but the parent, it goes back there; the
    /// initiator, who has none, leads.
    fn echo(&mut self, ctx: &mut Context<Self>) {
        let Some(wave) = self.wave else { return }; // Never: the count is that of a wave.
        let awaited = self.neighbours.len() - usize::from(self.parent.is_some());
        if self.count as usize != awaited {
            return ctx.because(&why::COUNTS, (wave.node, self.count, awaited));
        }
        if let Some(parent) = self.parent {
            ctx.because(&why::ECHOES, (wave.node, parent));
            ctx.send(parent, Message::Tok(wave));
        } else {
            ctx.because(&why::LEADS, ());
            self.learn(None, self.rank, ctx);
        }
    }

    fn on_ldr(&mut self, from: NodeId, leader: Rank, ctx: &mut Context<Self>) {
        if let Some(known) = self.leader {
            return ctx.because(&why::TOLD_AGAIN, known.node); // The flood comes round.
        }
        ctx.because(&why::FOLLOWS, leader.node);
        self.learn(Some(from), leader, ctx);
    }

    fn learn(&mut self, from: Option<NodeId>, leader: Rank, ctx: &mut Context<Self>) {
        self.leader = Some(leader);
        self.tell(ctx);
        self.send_to_all_but(from, Message::Ldr(leader), ctx);
    }

    fn send_to_all_but(&self, but: Option<NodeId>, message: Message, ctx: &mut Context<Self>) {
        for &neighbour in self.neighbours.iter().filter(|&&neighbour| Some(neighbour) != but) {
            ctx.send(neighbour, message);
        }
    }

    fn tell(&self, ctx: &mut Context<Self>) {
        if let Some(leader) = self.leader {
            ctx.indicate(Indication::Elected { leader: leader.node, term: 1 });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use conclave_core::testkit::{message, run, send};
    use conclave_core::{Effect, detector};

    fn node(me: u32, neighbours: &[u32]) -> Echo {
        let neighbours: Vec<NodeId> = neighbours.iter().copied().map(NodeId).collect();
        Echo::new(rank(me), &neighbours)
    }

    fn rank(node: u32) -> Rank {
        Rank::of(NodeId(node), u64::from(node) + 1)
    }

    fn tok(node: u32) -> Message {
        Message::Tok(rank(node))
    }

    fn elected(leader: u32) -> Effect<Echo> {
        Effect::Indicate(Indication::Elected { leader: NodeId(leader), term: 1 })
    }

    #[test]
    fn a_wave_goes_on_to_all_but_who_brought_it_and_back_when_it_has_come_from_them() {
        let mut inner = node(1, &[0, 2, 3]);
        assert_eq!(run(&mut inner, message(2, tok(0))), [send(0, tok(0)), send(3, tok(0))]);
        assert_eq!(run(&mut inner, message(0, tok(0))), []);
        assert_eq!(run(&mut inner, message(3, tok(0))), [send(2, tok(0))]);
        assert_eq!(run(&mut node(4, &[1]), message(1, tok(0))), [send(1, tok(0))], "a dead end");
    }

    #[test]
    fn a_greater_wave_is_joined_and_a_smaller_one_extinct() {
        let mut inner = node(1, &[0, 2]);
        run(&mut inner, Event::Request(Request::Campaign));
        assert_eq!(run(&mut inner, message(0, tok(0))), [], "smaller than its own");
        assert_eq!(run(&mut inner, message(2, tok(2))), [send(0, tok(2))]);
        assert_eq!(run(&mut inner, message(2, tok(1))), [], "its own, left behind");
        assert_eq!(run(&mut inner, Event::Request(Request::Campaign)), [], "in a wave already");
        assert_eq!(run(&mut inner, message(0, tok(2))), [send(2, tok(2))]);
    }

    #[test]
    fn an_initiator_whose_wave_came_back_leads_and_tells() {
        let mut first = node(0, &[1, 2]);
        let toks = run(&mut first, Event::Request(Request::Campaign));
        assert_eq!(toks, [send(1, tok(0)), send(2, tok(0))]);
        run(&mut first, message(1, tok(0)));
        let ldr = Message::Ldr(rank(0));
        assert_eq!(run(&mut first, message(2, tok(0))), [elected(0), send(1, ldr), send(2, ldr)]);
        assert_eq!(run(&mut first, message(1, ldr)), [], "the flood comes round");
        assert_eq!(run(&mut node(0, &[]), Event::Request(Request::Campaign)), [elected(0)]);
    }

    #[test]
    fn a_stranger_is_not_heard_and_suspicions_are_passed_on() {
        let mut first = node(0, &[1]);
        assert_eq!(run(&mut first, message(7, tok(6))), []);
        let told = run(&mut first, Event::Indication(detector::Indication::Suspect(NodeId(1))));
        assert_eq!(told, [Effect::Indicate(Indication::Suspect(NodeId(1)))]);
        assert!(size_of::<Event<Echo>>() <= 32);
    }
}
