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
//! A rank is an attribute, such as a battery's charge, then the id. Waves are numbered: a source
//! takes one more than the greatest number it knows, so a wave begun later is greater. Of waves
//! with the same number that of the source with the greater rank is greater. A node leaves its
//! wave for a greater one; it answers a smaller one with an ACK of none. (The paper compares
//! sources first. Then a wave begun after the last one, but by a smaller source, could be refused
//! where the last one is not over yet.) Rules for the loss of neighbours:
//! - one whose ACK is awaited: as if it had sent an ACK of none;
//! - the parent, while the leader is not known: the node becomes the source of a new wave, which
//!   covers its part, and also the rest if there is another way to it. (The paper's node goes on as
//!   the root of its part; the parts then may follow different leaders although they can meet.)
//! - the leader, known or just announced: whoever learns of it becomes the source of a new wave;
//! - a neighbour that is back: a new wave, in which the better of two leaders wins. It begins when
//!   the present one is over; but at once if the neighbour, suspected without reason, took part in
//!   that and was not answered.
//!
//! The term of a leadership is made of a counter, one more than the greatest that anybody in the
//! wave knew, and of the leader, so no two leaders share one.
//!
//! Has: the best rank of those connected leads; everybody learns of it.
//! Lacks: agreement between parts that cannot reach each other; any tolerance of lost messages.
//! Cost: 4m-n+1 messages with one source: ELECTION and ACK 2m-n+1 each, LEADER n-1.

use crate::election::rank::Rank;
use conclave_core::detector::{self, Detector};
use conclave_core::election::{Election, Indication, Request};
use conclave_core::{Context, Event, Named, Never, NodeId, NodeSet, Process, Recovery};
use serde::{Deserialize, Serialize};

/// What the nodes tell each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Message {
    /// Join this wave.
    Election(Wave),
    /// The answer to an `ELECTION`.
    Ack {
        /// The number of the wave.
        number: u32,
        /// Its source.
        source: NodeId,
        /// The best rank among the sender and those it brought into the wave; none if it is no
        /// child of the receiver.
        best: Option<Rank>,
        /// The greatest counter of a term that they know.
        counter: u32,
    },
    /// The wave is over, and this node leads.
    Leader {
        /// The number of the wave.
        number: u32,
        /// Its source.
        source: NodeId,
        /// The leader.
        leader: Rank,
        /// The counter of its term.
        counter: u32,
    },
}

impl Named for Message {
    fn name(&self) -> &'static str {
        match self {
            Self::Election(_) => "ELECTION",
            Self::Ack { .. } => "ACK",
            Self::Leader { .. } => "LEADER",
        }
    }
}

/// A wave, in the order in which waves are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Wave {
    /// One more than its source had met.
    pub number: u32,
    /// The node that began it.
    pub source: Rank,
}

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
            Event::Start => {}
            Event::Restart => self.on_restart(ctx),
            Event::Request(Request::Campaign) => self.begin_if_idle(ctx),
            Event::Request(Request::Resign) => {} // Whoever misses it will elect another.
            Event::Indication(detector::Indication::Suspect(node)) => self.on_suspect(node, ctx),
            Event::Indication(detector::Indication::Trust(node)) => self.on_trust(node, ctx),
            // A stranger: there is no edge to it.
            Event::Message { from, .. } if self.neighbours.binary_search(&from).is_err() => {}
            Event::Message { from, message } if self.suspected.contains(from) => {
                self.on_word_from_lost(from, message);
            }
            Event::Message { from, message: Message::Election(wave) } => {
                self.on_election(from, wave, ctx);
            }
            Event::Message { from, message: Message::Ack { number, source, best, counter } } => {
                if self.is_in(number, source) {
                    self.on_ack(from, best, counter, ctx);
                } // Else of a wave that was left.
            }
            Event::Message {
                from,
                message: Message::Leader { number, source, leader, counter },
            } => {
                if self.is_in(number, source) && self.parent == Some(from) {
                    self.on_leader(leader, counter, ctx);
                } // Else of a wave that was left.
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
            self.begin(ctx);
        }
    }

    fn begin_if_idle(&mut self, ctx: &mut Context<Self>) {
        if self.phase == Phase::Idle {
            self.begin(ctx);
        } // Else there is an election already.
    }

    /// Becomes the source of a wave greater than all it has met.
    fn begin(&mut self, ctx: &mut Context<Self>) {
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
        if self.wave.is_none_or(|current| wave > current) {
            return self.join(wave, Some(from), ctx);
        }
        self.send_ack(from, wave, None, ctx);
        if self.wave != Some(wave) {
            self.begin_if_idle(ctx); // The sender's number is behind, so its wave leads to nothing.
        }
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
            return; // Given up when it was suspected; a wave follows its return.
        }
        self.counter = self.counter.max(counter);
        if let Some(best) = best {
            self.children.insert(from);
            self.best = self.best.max(best);
        }
        self.finish(ctx);
    }

    /// When no ACK is awaited any more, the best goes to the parent; a source decides.
    fn finish(&mut self, ctx: &mut Context<Self>) {
        let Some(wave) = self.wave.filter(|_| self.phase == Phase::Growing) else { return };
        if !self.awaited.is_empty() {
            return;
        }
        if let Some(parent) = self.parent {
            self.phase = Phase::Shrinking;
            self.send_ack(parent, wave, Some(self.best), ctx);
        } else {
            self.on_leader(self.best, self.counter + 1, ctx);
        }
    }

    /// The wave is over here: adopts its leader and tells the children; or, if that one is lost by
    /// now, brings them a new wave.
    fn on_leader(&mut self, leader: Rank, counter: u32, ctx: &mut Context<Self>) {
        let Some(Wave { number, source }) = self.wave else { return };
        self.counter = self.counter.max(counter);
        if self.suspected.contains(leader.node) {
            return self.begin(ctx);
        }
        self.phase = Phase::Idle;
        self.leader = Some(leader);
        let term = u64::from(counter) * u64::from(self.n) + u64::from(leader.node.0);
        ctx.indicate(Indication::Elected { leader: leader.node, term });
        for child in self.children.iter() {
            ctx.send(child, Message::Leader { number, source: source.node, leader, counter });
        }
        if self.again {
            self.begin(ctx);
        }
    }

    fn on_suspect(&mut self, node: NodeId, ctx: &mut Context<Self>) {
        ctx.indicate(Indication::Suspect(node));
        self.suspected.insert(node);
        let leader_lost = self.leader.is_some_and(|leader| leader.node == node);
        match self.phase {
            Phase::Idle if leader_lost => self.begin(ctx),
            Phase::Idle => {}
            Phase::Growing | Phase::Shrinking if self.parent == Some(node) => self.begin(ctx),
            Phase::Growing | Phase::Shrinking => {
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
            Phase::Idle if back && self.number > 0 => self.begin(ctx),
            // It never left, and waits for an ACK: the present wave may be waiting for that, too.
            Phase::Growing | Phase::Shrinking if unanswered => self.begin(ctx),
            Phase::Growing | Phase::Shrinking if back => self.again = true,
            Phase::Idle | Phase::Growing | Phase::Shrinking => {} // No neighbour, or no election.
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
