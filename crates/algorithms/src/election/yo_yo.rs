//! Yo-Yo: ids are passed down a graph without circles and votes come back up, until one source is
//! left.
//!
//! Source: N. Santoro, "Design and Analysis of Distributed Algorithms", Wiley 2007, section 3.8.3.
//! The rules for pruning are ours where they are stricter than the book's (see below).
//! Assumes: A1 every message arrives, in any order, be it twice; A2 no crashes; A3 the graph is
//! connected and the ids are distinct.
//!
//! | message   | from, to              | sent when                          | carries            |
//! |-----------|-----------------------|------------------------------------|--------------------|
//! | `ID`      | node, neighbours      | it starts, by itself or woken      | its rank           |
//! | `YO`      | node, its out edges   | a YO came on every in edge         | best rank, pass    |
//! | `UP`      | node, its in edges    | an UP came on every out edge       | S or N, prune mark |
//! | `ELECTED` | node, its children    | it is the last, or was told        | the leader         |
//!
//! Every edge goes from the better id to the worse, better being smaller unless `Choose::Max` says
//! otherwise. A node without in edges is a source, one without out edges a sink. In each pass the
//! sources send their ids down; everybody hands down the best it heard. On the way up a node
//! answers S where the best came from and N elsewhere; and N everywhere if it got an N itself. An N
//! turns its edge. Pruning, which the end depends on:
//! - of several in edges with the same value one is kept, the others are answered `Dup` and vanish;
//!   an N on an edge that vanishes does not count, for its kept twin carries the same N to the same
//!   source. (If it counted, pruning could make new sources.)
//! - who has no out edge left, one in edge and no N is a `Leaf`: it is done, and waits to be told
//!   by the neighbour on that edge, its parent in a spanning tree.
//!
//! The source that has lost all its edges leads. Passes are numbered, so that what comes late or
//! twice is known for what it is.
//!
//! `Text::Seed` is lecture notes 003 as printed: a node in the middle answers S where the best came
//! from, whatever it got from below; nothing is pruned, and nobody is told. There, a lone source
//! can never know that it is alone: it goes on, pass after pass, and nobody is ever elected.
//!
//! Has: the best id leads; everybody learns of it.
//! Lacks: any tolerance of loss or crashes, which stop the pass they fall into.
//! Cost: 2m ID, at most 2m(⌈log₂ s⌉+1) YO and UP for s sources after the IDs, n-1 ELECTED.

use crate::election::rank::{Choose, Rank};
use conclave_core::detector::Detector;
use conclave_core::election::{Election, Indication, Request};
use conclave_core::{Context, Event, Named, Never, NodeId, Process, Recovery};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// What the nodes tell each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Message {
    /// This is who I am.
    Id(Rank),
    /// The best of those above you, as far as I know.
    Yo {
        /// Its rank.
        best: Rank,
        /// In which pass.
        pass: u32,
    },
    /// The answer to a `YO`.
    Up {
        /// S: what you sent is the best of all that met here and below.
        yes: bool,
        /// Whether the edge is to vanish.
        prune: Prune,
        /// In which pass.
        pass: u32,
    },
    /// This node leads.
    Elected(Rank),
}

impl Named for Message {
    fn name(&self) -> &'static str {
        match self {
            Self::Id(_) => "ID",
            Self::Yo { .. } => "YO",
            Self::Up { .. } => "UP",
            Self::Elected(_) => "ELECTED",
        }
    }

    fn is_reply(&self) -> bool {
        matches!(self, Self::Up { .. })
    }
}

/// Why an edge vanishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Prune {
    /// It does not.
    None,
    /// Another edge brings the same.
    Dup,
    /// Whoever answers is done, and this edge is its only one.
    Leaf,
}

/// Which text of the algorithm to follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Text {
    /// With an N for all in edges after an N, and with pruning.
    Corrected,
    /// A lecture note's, which has neither.
    Seed,
}

/// One node.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct YoYo {
    rank: Rank,
    choose: Choose,
    text: Text,
    /// In order of the neighbour.
    edges: Box<[Edge]>,
    phase: Phase,
    pass: u32,
    leader: Option<Rank>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Phase {
    Asleep,
    /// Waits for the IDs.
    Setup,
    /// Waits for a YO on every in edge.
    Down,
    /// Waits for an UP on every out edge.
    Up,
    /// A leaf, or the leader.
    Done,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Edge {
    to: NodeId,
    way: Way,
    /// The YO of this pass, or of the next, if it has come.
    heard: Option<(Rank, u32)>,
    /// The UP of this pass, if it has come.
    answer: Option<(bool, Prune)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Way {
    /// Its ID has not come.
    Unknown,
    /// From the neighbour to here.
    In,
    /// From here to the neighbour.
    Out,
    /// Vanished.
    Gone,
    /// Vanished; the neighbour is a child in the tree along which the leader is told.
    Child,
}

impl Process for YoYo {
    type Provides = Election;
    type Uses = Detector; // A2: what it says is only passed on.
    type Message = Message;
    type Timer = Never;

    fn step(&mut self, event: Event<Self>, ctx: &mut Context<Self>) {
        match event {
            Event::Start => {}
            Event::Restart => self.tell(ctx),
            Event::Request(Request::Campaign) => self.wake(ctx),
            Event::Request(Request::Resign) => {} // Whoever misses it will elect another.
            Event::Indication(told) => ctx.indicate(told.into()),
            Event::Message { from, message } => {
                let edge = self.edges.binary_search_by_key(&from, |edge| edge.to);
                if let Ok(edge) = edge {
                    self.on_message(edge, message, ctx);
                } // Else a stranger: there is no edge to it.
            }
        }
    }

    /// All of it: every answer is awaited by somebody.
    fn after_crash(&self) -> Recovery<Self> {
        Recovery::State(self.clone())
    }
}

impl YoYo {
    /// A node with that rank and those neighbours, in their order, in its first state.
    pub fn new(rank: Rank, neighbours: &[NodeId], choose: Choose, text: Text) -> Self {
        let edge = |&to: &NodeId| Edge { to, way: Way::Unknown, heard: None, answer: None };
        let edges = neighbours.iter().map(edge).collect();
        Self { rank, choose, text, edges, phase: Phase::Asleep, pass: 0, leader: None }
    }

    /// Begins, if it has not yet: there is one election.
    fn wake(&mut self, ctx: &mut Context<Self>) {
        if self.phase == Phase::Asleep {
            self.phase = Phase::Setup;
            for edge in &self.edges {
                ctx.send(edge.to, Message::Id(self.rank));
            }
            self.go_on(ctx);
        }
    }

    fn on_message(&mut self, at: usize, message: Message, ctx: &mut Context<Self>) {
        self.wake(ctx);
        let edge = &mut self.edges[at];
        match message {
            Message::Id(rank) if edge.way == Way::Unknown => {
                let better = self.choose.prefers(rank, self.rank);
                edge.way = if better { Way::In } else { Way::Out };
            }
            Message::Id(_) => {} // Again.
            // The YO of the next pass may overtake the N that turns the edge, even the ID.
            Message::Yo { best, pass } if pass >= self.pass && edge.heard.is_none() => {
                edge.heard = Some((best, pass));
            }
            Message::Yo { .. } => {} // Again.
            Message::Up { yes, prune, pass }
                if pass == self.pass && edge.way == Way::Out && edge.answer.is_none() =>
            {
                edge.answer = Some((yes, prune));
            }
            Message::Up { .. } => {} // Again.
            Message::Elected(leader) => return self.on_elected(leader, ctx),
        }
        self.go_on(ctx);
    }

    /// Does whatever is due, until a message is missing.
    fn go_on(&mut self, ctx: &mut Context<Self>) {
        loop {
            let all = |done: &dyn Fn(&Edge) -> bool| self.edges.iter().all(done);
            match self.phase {
                Phase::Setup if all(&|edge| edge.way != Way::Unknown) => self.next_pass(ctx),
                Phase::Down if all(&|edge| edge.way != Way::In || self.has_come(edge)) => {
                    self.yo_down(ctx);
                }
                Phase::Up if all(&|edge| edge.way != Way::Out || edge.answer.is_some()) => {
                    self.yo_up(ctx);
                }
                Phase::Asleep | Phase::Setup | Phase::Down | Phase::Up | Phase::Done => return,
            }
        }
    }

    fn has_come(&self, edge: &Edge) -> bool {
        edge.heard.is_some_and(|(_, pass)| pass == self.pass)
    }

    /// Who has lost all its edges, and not as a leaf, is the last source.
    fn next_pass(&mut self, ctx: &mut Context<Self>) {
        if self.edges.iter().any(|edge| matches!(edge.way, Way::In | Way::Out)) {
            self.pass += 1;
            self.phase = Phase::Down;
        } else {
            self.on_elected(self.rank, ctx);
        }
    }

    /// Hands down the best that came, or its own rank if it is a source.
    fn yo_down(&mut self, ctx: &mut Context<Self>) {
        let pass = self.pass;
        let best = self.best();
        for edge in self.edges.iter().filter(|edge| edge.way == Way::Out) {
            ctx.send(edge.to, Message::Yo { best, pass });
        }
        self.phase = Phase::Up;
    }

    /// Answers what came down, and turns and drops edges.
    fn yo_up(&mut self, ctx: &mut Context<Self>) {
        let best = self.best();
        let refused = self.edges.iter().any(|edge| edge.answer == Some((false, Prune::None)));
        let all_no = refused && self.text == Text::Corrected;
        let duplicates = self.duplicates();
        let leaf = self.is_leaf(&duplicates);
        for (edge, duplicate) in self.edges.iter_mut().zip(duplicates) {
            match (edge.way, edge.answer.take()) {
                (Way::In, _) => {
                    let heard = edge.heard.take();
                    let yes = !all_no && heard.is_some_and(|(value, _)| value == best);
                    let prune = match (duplicate, leaf) {
                        (true, _) => Prune::Dup,
                        (false, true) => Prune::Leaf,
                        (false, false) => Prune::None,
                    };
                    ctx.send(edge.to, Message::Up { yes, prune, pass: self.pass });
                    edge.way = match (prune, yes) {
                        (Prune::None, true) => Way::In,
                        (Prune::None, false) => Way::Out,
                        (Prune::Dup | Prune::Leaf, _) => Way::Gone,
                    };
                }
                (Way::Out, Some((_, Prune::Dup))) => edge.way = Way::Gone,
                (Way::Out, Some((_, Prune::Leaf))) => edge.way = Way::Child,
                (Way::Out, Some((false, Prune::None))) => edge.way = Way::In,
                (Way::Out | Way::Unknown | Way::Gone | Way::Child, _) => {}
            }
        }
        if leaf {
            self.phase = Phase::Done;
        } else {
            self.next_pass(ctx);
        }
    }

    /// The best of what came on in edges, or its own rank if there are none.
    fn best(&self) -> Rank {
        let values = self.edges.iter().filter(|edge| edge.way == Way::In);
        let values = values.filter_map(|edge| edge.heard.map(|(value, _)| value));
        self.choose.best(values).unwrap_or(self.rank)
    }

    /// For each edge, whether it is an in edge and an earlier one brought the same.
    fn duplicates(&self) -> Vec<bool> {
        let mut seen = BTreeSet::new();
        let repeats = |edge: &Edge| {
            let value = edge.heard.filter(|_| edge.way == Way::In && self.text == Text::Corrected);
            value.is_some_and(|(value, _)| !seen.insert(value))
        };
        self.edges.iter().map(repeats).collect()
    }

    /// Whether, after this pass, one in edge would be all that is left.
    fn is_leaf(&self, duplicates: &[bool]) -> bool {
        let stays = |edge: &Edge| match edge.way {
            Way::In => true,
            Way::Out => edge.answer.is_none_or(|(_, prune)| prune == Prune::None),
            Way::Unknown | Way::Gone | Way::Child => false,
        };
        let left = self.edges.iter().zip(duplicates);
        let mut left = left.filter(|(edge, duplicate)| stays(edge) && !**duplicate);
        let first = left.next().map(|(edge, _)| edge.way);
        self.text == Text::Corrected && first == Some(Way::In) && left.next().is_none()
    }

    /// Somebody leads: this node, or whom its parent names.
    fn on_elected(&mut self, leader: Rank, ctx: &mut Context<Self>) {
        if self.leader.is_none() {
            self.leader = Some(leader);
            self.phase = Phase::Done;
            self.tell(ctx);
            for child in self.edges.iter().filter(|edge| edge.way == Way::Child) {
                ctx.send(child.to, Message::Elected(leader));
            }
        } // Else told again.
    }

    fn tell(&self, ctx: &mut Context<Self>) {
        if let Some(leader) = self.leader {
            ctx.indicate(Indication::Elected { leader: leader.node, term: 1 });
        }
    }
}

#[cfg(test)]
mod tests;
