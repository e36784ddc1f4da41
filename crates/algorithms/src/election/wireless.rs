//! Election in an ad hoc network: a wave builds a tree and brings the best rank back to its source,
//! which tells everybody down the tree.
//!
//! Source: S. Vasudevan, J. Kurose, D. Towsley, "Design and analysis of a leader election algorithm
//! for mobile ad hoc networks", ICNP 2004.
//! Assumes: A1 every message to a live neighbour arrives exactly once, in the order sent; A2
//! whoever crashes or cannot be reached is suspected, and trusted again when it is back; A3 what is
//! left of the graph is connected and the ids are distinct.
//!
//! | message    | from, to         | sent when                                    | carries    |
//! |------------|------------------|----------------------------------------------|------------|
//! | `ELECTION` | node, neighbours | it begins, or joins a wave (not to a parent) | the wave   |
//! | `ACK`      | node, who sent   | it is in that wave, or a greater, already    | wave, none |
//! | `ACK`      | node, its parent | all its neighbours have sent ACK             | wave, best |
//! | `LEADER`   | node, children   | it is the source with all ACKs, or was told  | wave, best |
//!
//! A rank is an attribute, such as a battery's charge, then the id.
//! - R1 waves are numbered: a source takes one more than the greatest number it knows, so a wave
//!   begun later is greater. Of waves with the same number that of the source with the greater rank
//!   is;
//! - R2 a node leaves its wave for a greater one, and whoever brought that is its parent. (The
//!   paper compares sources first. Then a wave begun after the last one, but by a smaller source,
//!   could be refused where the last one is not over yet.)
//! - R3 it answers its own wave, or a smaller one, with an ACK of none;
//! - R4 when all its neighbours have answered, it tells its parent the best rank below;
//! - R5 the source then knows the best of all: it leads;
//! - R6 that it does is told down the tree;
//! - R7 a lost neighbour whose ACK is awaited: as if it had sent an ACK of none. A lost parent,
//!   while the leader is not known: the node becomes the source of a new wave, which covers its
//!   part, and also the rest if there is another way to it. (The paper's node goes on as the root
//!   of its part; the parts then may follow different leaders although they can meet.) A lost
//!   leader, known or just announced: whoever learns of it becomes the source of a new wave;
//! - R8 a neighbour that is back: a new wave, in which the better of two leaders wins. It begins
//!   when the present one is over; but at once if the neighbour, suspected without reason, took
//!   part in that and was not answered.
//!
//! The term of a leadership is made of a counter, one more than the greatest that anybody in the
//! wave knew, and of the leader, so no two leaders share one.
//!
//! Has: the best rank of those connected leads; everybody learns of it.
//! Lacks: agreement between parts that cannot reach each other; any tolerance of lost messages.
//! Cost: 4m-n+1 messages with one source: ELECTION and ACK 2m-n+1 each, LEADER n-1.

mod message;
mod why;

pub use message::{Message, Wave};
pub use why::WHY;

use super::why::{NO_HAND_OVER, STRANGER, WAITS};
use crate::election::rank::Rank;
use conclave_core::detector::{self, Detector};
use conclave_core::election::{Election, Indication, Request};
use conclave_core::{Context, Event, Never, NodeId, NodeSet, Process, Recovery};
use serde::{Deserialize, Serialize};

/// One node.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Wireless {
    rank: Rank,
    /// How many nodes there are; terms are numbered by it.
    n: u32,
    /// In order.
    neighbours: Box<[NodeId]>,
    suspected: NodeSet,
    /// Those of them whose ELECTION came and was not answered.
    unanswered: NodeSet,
    /// The greatest number of a wave this node has met.
    number: u32,
    /// The greatest wave it took part in.
    wave: Option<Wave>,
    phase: Phase,
    /// Who brought the wave; nobody if it is this node's own.
    parent: Option<NodeId>,
    /// Whose ACK has not come.
    awaited: NodeSet,
    children: NodeSet,
    /// The best rank here and below.
    best: Rank,
    /// The greatest counter of a term here and below.
    counter: u32,
    leader: Option<Rank>,
    /// A neighbour came back during an election: there is to be another.
    again: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Phase {
    /// In no election.
    Idle,
    /// Waits for ACKs.
    Growing,
    /// Has sent the best to its parent and waits for the LEADER.
    Shrinking,
}

impl Process for Wireless {
    type Provides = Election;
    type Uses = Detector;
    type Message = Message;
    type Timer = Never;

    fn step(&mut self, event: Event<Self>, ctx: &mut Context<Self>) {
        match event {
            Event::Start => ctx.because(&WAITS, ()),
            Event::Restart => self.on_restart(ctx),
            Event::Request(Request::Campaign) => self.begin_if_idle(ctx),
            Event::Request(Request::Resign) => ctx.because(&NO_HAND_OVER, ()),
            Event::Indication(detector::Indication::Suspect(node)) => self.on_suspect(node, ctx),
            Event::Indication(detector::Indication::Trust(node)) => self.on_trust(node, ctx),
            Event::Message { from, .. } if self.neighbours.binary_search(&from).is_err() => {
                ctx.because(&STRANGER, from); // There is no edge to it.
            }
            Event::Message { from, message } if self.suspected.contains(from) => {
                ctx.because(&why::WORD_FROM_LOST, from);
                self.on_word_from_lost(from, message);
            }
            Event::Message { from, message: Message::Election(wave) } => {
                self.on_election(from, wave, ctx);
            }
            Event::Message { from, message: Message::Ack { number, source, best, counter } } => {
                if self.is_in(number, source) {
                    self.on_ack(from, best, counter, ctx);
                } else {
                    ctx.because(&why::OLD_WAVE, (number, source));
                }
            }
            Event::Message {
                from,
                message: Message::Leader { number, source, leader, counter },
            } => {
                if self.is_in(number, source) && self.parent == Some(from) {
                    self.on_leader(leader, counter, ctx);
                } else {
                    ctx.because(&why::OLD_WAVE, (number, source));
                }
            }
        }
    }

    /// The numbers, so that none is used twice; the rest is for the next wave to find out.
    fn after_crash(&self) -> Recovery<Self> {
        let fresh = Self::new(self.rank, &self.neighbours, self.n);
        Recovery::State(Self { number: self.number, counter: self.counter, ..fresh })
    }
}

impl Wireless {
    /// A node with that rank and those neighbours, in their order, in its first state; one of `n`.
    pub fn new(rank: Rank, neighbours: &[NodeId], n: u32) -> Self {
        Self {
            rank,
            n,
            neighbours: neighbours.into(),
            suspected: NodeSet::default(),
            unanswered: NodeSet::default(),
            number: 0,
            wave: None,
            phase: Phase::Idle,
            parent: None,
            awaited: NodeSet::default(),
            children: NodeSet::default(),
            best: rank,
            counter: 0,
            leader: None,
            again: false,
        }
    }

    /// Asks for a leader again, if there ever was an election.
    fn on_restart(&mut self, ctx: &mut Context<Self>) {
        if self.number > 0 {
            ctx.because(&why::CAME_BACK, ());
            self.begin(ctx);
        } else {
            ctx.because(&why::NEVER_BEGAN, ());
        }
    }

    fn begin_if_idle(&mut self, ctx: &mut Context<Self>) {
        if self.phase == Phase::Idle {
            self.begin(ctx);
        } else {
            ctx.because(&why::ALREADY, ());
        }
    }

    /// Becomes the source of a wave greater than all it has met.
    fn begin(&mut self, ctx: &mut Context<Self>) {
        ctx.because(&why::BEGINS, self.number + 1);
        self.again = false; // Whoever came back meanwhile will join this one.
        self.join(Wave { number: self.number + 1, source: self.rank }, None, ctx);
    }

    /// It was sent before the sender was lost, or the sender is back. That will be told, and begins
    /// a wave: one which is greater than the sender's own.
    fn on_word_from_lost(&mut self, from: NodeId, message: Message) {
        match message {
            Message::Election(Wave { number, .. }) => {
                self.number = self.number.max(number);
                self.unanswered.insert(from);
            }
            Message::Ack { .. } | Message::Leader { .. } => {}
        }
    }

    fn on_election(&mut self, from: NodeId, wave: Wave, ctx: &mut Context<Self>) {
        let Some(current) = self.wave.filter(|current| wave <= *current) else {
            ctx.because(&why::JOINS, (wave.number, wave.source.node, from));
            return self.join(wave, Some(from), ctx);
        };
        self.send_ack(from, wave, None, ctx);
        if wave == current {
            return ctx.because(&why::NO_CHILD, from);
        }
        let known = current.source.node;
        ctx.because(&why::REFUSES, (from, wave.number, current.number, known));
        self.begin_if_idle(ctx); // The sender's number is behind, so its wave leads to nothing.
    }

    /// Leaves whatever wave it is in, and brings this one to its neighbours.
    fn join(&mut self, wave: Wave, parent: Option<NodeId>, ctx: &mut Context<Self>) {
        self.wave = Some(wave);
        self.parent = parent;
        self.phase = Phase::Growing;
        self.number = self.number.max(wave.number);
        self.best = self.rank;
        self.children.clear();
        self.awaited.clear();
        for &neighbour in &self.neighbours {
            if Some(neighbour) != parent && !self.suspected.contains(neighbour) {
                self.awaited.insert(neighbour);
                ctx.send(neighbour, Message::Election(wave));
            }
        }
        self.finish(ctx);
    }

    fn on_ack(&mut self, from: NodeId, best: Option<Rank>, counter: u32, ctx: &mut Context<Self>) {
        if !self.awaited.remove(from) {
            return ctx.because(&why::NOT_AWAITED, from); // A wave follows its return.
        }
        self.counter = self.counter.max(counter);
        if best.is_none() {
            ctx.because(&why::NOT_CHILD, from);
        }
        if let Some(best) = best {
            ctx.because(&why::CHILD, (from, best.node));
            self.children.insert(from);
            self.best = self.best.max(best);
        }
        self.finish(ctx);
    }

    /// When no ACK is awaited any more, the best goes to the parent; a source decides.
    fn finish(&mut self, ctx: &mut Context<Self>) {
        let Some(wave) = self.wave.filter(|_| self.phase == Phase::Growing) else { return };
        if !self.awaited.is_empty() {
            return ctx.because(&why::WAITS_FOR_ACKS, &self.awaited);
        }
        if let Some(parent) = self.parent {
            ctx.because(&why::REPORTS, (parent, self.best.node));
            self.phase = Phase::Shrinking;
            self.send_ack(parent, wave, Some(self.best), ctx);
        } else {
            ctx.because(&why::DECIDES, self.best.node);
            self.on_leader(self.best, self.counter + 1, ctx);
        }
    }

    /// The wave is over here: adopts its leader and tells the children; or, if that one is lost by
    /// now, brings them a new wave.
    fn on_leader(&mut self, leader: Rank, counter: u32, ctx: &mut Context<Self>) {
        let Some(Wave { number, source }) = self.wave else { return };
        self.counter = self.counter.max(counter);
        if self.suspected.contains(leader.node) {
            ctx.because(&why::WINNER_LOST, leader.node);
            return self.begin(ctx);
        }
        ctx.because(&why::FOLLOWS, (leader.node, &self.children));
        self.phase = Phase::Idle;
        self.leader = Some(leader);
        let term = u64::from(counter) * u64::from(self.n) + u64::from(leader.node.0);
        ctx.indicate(Indication::Elected { leader: leader.node, term });
        for child in self.children.iter() {
            ctx.send(child, Message::Leader { number, source: source.node, leader, counter });
        }
        if self.again {
            ctx.because(&why::AGAIN, ());
            self.begin(ctx);
        }
    }

    fn on_suspect(&mut self, node: NodeId, ctx: &mut Context<Self>) {
        ctx.indicate(Indication::Suspect(node));
        self.suspected.insert(node);
        let leader_lost = self.leader.is_some_and(|leader| leader.node == node);
        match self.phase {
            Phase::Idle if leader_lost => {
                ctx.because(&why::LEADER_LOST, node);
                self.begin(ctx);
            }
            Phase::Idle => ctx.because(&why::NOT_MISSED, node),
            Phase::Growing | Phase::Shrinking if self.parent == Some(node) => {
                ctx.because(&why::PARENT_LOST, node);
                self.begin(ctx);
            }
            Phase::Growing | Phase::Shrinking => {
                ctx.because(&why::NEIGHBOUR_LOST, node);
                self.awaited.remove(node);
                self.children.remove(node); // It cannot be told; a leader that is lost is noticed.
                self.finish(ctx);
            }
        }
    }

    fn on_trust(&mut self, node: NodeId, ctx: &mut Context<Self>) {
        ctx.indicate(Indication::Trust(node));
        let back = self.suspected.remove(node) && self.neighbours.binary_search(&node).is_ok();
        let unanswered = self.unanswered.remove(node);
        match self.phase {
            Phase::Idle if back && self.number > 0 => {
                ctx.because(&why::NEIGHBOUR_BACK, node);
                self.begin(ctx);
            }
            // It never left, and waits for an ACK: the present wave may be waiting for that, too.
            Phase::Growing | Phase::Shrinking if unanswered => {
                ctx.because(&why::UNANSWERED, node);
                self.begin(ctx);
            }
            Phase::Growing | Phase::Shrinking if back => {
                ctx.because(&why::AFTER_THIS_WAVE, node);
                self.again = true;
            }
            Phase::Idle | Phase::Growing | Phase::Shrinking => {
                ctx.because(&why::NOTHING_TO_HOLD, node); // No neighbour, or no election.
            }
        }
    }

    fn is_in(&self, number: u32, source: NodeId) -> bool {
        let same = |wave: Wave| wave.number == number && wave.source.node == source;
        self.phase != Phase::Idle && self.wave.is_some_and(same)
    }

    fn send_ack(&self, to: NodeId, wave: Wave, best: Option<Rank>, ctx: &mut Context<Self>) {
        let number = wave.number;
        let source = wave.source.node;
        ctx.send(to, Message::Ack { number, source, best, counter: self.counter });
    }
}

#[cfg(test)]
mod tests;
