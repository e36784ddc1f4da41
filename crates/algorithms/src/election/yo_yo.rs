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
//! - R1 every edge goes from the better id to the worse, better being smaller unless `Choose::Max`
//!   says otherwise. A node without in edges is a source, one without out edges a sink;
//! - R2 in each pass the sources send their ids down; everybody hands down the best it heard;
//! - R3 on the way up a node answers S where the best came from and N elsewhere; and N everywhere
//!   if it got an N itself;
//! - R4 an N turns its edge;
//! - R5 pruning, which the end depends on: of several in edges with the same value one is kept, the
//!   others are answered `Dup` and vanish; an N on an edge that vanishes does not count, for its
//!   kept twin carries the same N to the same source. (If it counted, pruning could make new
//!   sources.) Who has no out edge left, one in edge and no N is a `Leaf`: it is done, and waits to
//!   be told by the neighbour on that edge, its parent in a spanning tree;
//! - R6 the source that has lost all its edges leads, and is made known down the spanning tree.
//!
//! Passes are numbered, so that what comes late or twice is known for what it is.
//!
//! `Text::Seed` is lecture notes 003 as printed: a node in the middle answers S where the best came
//! from, whatever it got from below; nothing is pruned, and nobody is told. There, a lone source
//! can never know that it is alone: it goes on, pass after pass, and nobody is ever elected.
//!
//! Has: the best id leads; everybody learns of it.
//! Lacks: any tolerance of loss or crashes, which stop the pass they fall into.
//! Cost: 2m ID, at most 2m(⌈log₂ s⌉+1) YO and UP for s sources after the IDs, n-1 ELECTED.

mod message;
mod why;

pub use message::{Message, Prune};
pub use why::WHY;

use super::why::{NO_HAND_OVER, STRANGER, WAITS, pass_on};
use crate::election::rank::{Choose, Rank};
use conclave_core::detector::Detector;
use conclave_core::election::{Election, Indication, Request};
use conclave_core::{Context, Each, Event, Never, NodeId, Process, Recovery};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

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
            Event::Start => ctx.because(&WAITS, ()),
            Event::Restart => self.on_restart(ctx),
            Event::Request(Request::Campaign) => self.on_campaign(ctx),
            Event::Request(Request::Resign) => ctx.because(&NO_HAND_OVER, ()),
            Event::Indication(told) => pass_on(told, ctx),
            Event::Message { from, message } => {
                match self.edges.binary_search_by_key(&from, |edge| edge.to) {
                    Ok(edge) => self.on_message(edge, message, ctx),
                    Err(_) => ctx.because(&STRANGER, from), // There is no edge to it.
                }
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

    fn on_restart(&self, ctx: &mut Context<Self>) {
        match self.leader {
            Some(leader) => ctx.because(&why::STILL_FOLLOWS, leader.node),
            None => ctx.because(&why::GOES_ON, ()),
        }
        self.tell(ctx);
    }

    /// Begins, if it has not yet: there is one election.
    fn on_campaign(&mut self, ctx: &mut Context<Self>) {
        match self.phase {
            Phase::Asleep => {
                self.wake(ctx);
                self.go_on(ctx);
            }
            Phase::Setup | Phase::Down | Phase::Up | Phase::Done => {
                ctx.because(&why::ALREADY, ());
            }
        }
    }

    fn wake(&mut self, ctx: &mut Context<Self>) {
        ctx.because(&why::WAKES, ());
        self.phase = Phase::Setup;
        for edge in &self.edges {
            ctx.send(edge.to, Message::Id(self.rank));
        }
    }

    fn on_message(&mut self, at: usize, message: Message, ctx: &mut Context<Self>) {
        if self.phase == Phase::Asleep {
            self.wake(ctx);
        }
        let edge = &mut self.edges[at];
        match message {
            Message::Id(rank) if edge.way == Way::Unknown => {
                let better = self.choose.prefers(rank, self.rank);
                edge.way = if better { Way::In } else { Way::Out };
                ctx.because(if better { &why::EDGE_IN } else { &why::EDGE_OUT }, rank.node);
            }
            // The YO of the next pass may overtake the N that turns the edge, even the ID.
            Message::Yo { best, pass } if pass >= self.pass && edge.heard.is_none() => {
                ctx.because(&why::HEARD, (edge.to, best.node, pass));
                edge.heard = Some((best, pass));
            }
            Message::Up { yes, prune, pass }
                if pass == self.pass && edge.way == Way::Out && edge.answer.is_none() =>
            {
                ctx.because(why::answered(yes, prune), edge.to);
                edge.answer = Some((yes, prune));
            }
            Message::Id(_) | Message::Yo { .. } | Message::Up { .. } => {
                ctx.because(&why::CAME_BEFORE, ());
            }
            Message::Elected(leader) => return self.on_elected(leader, ctx),
        }
        self.go_on(ctx);
    }

    /// Does whatever is due, until a message is missing.
    fn go_on(&mut self, ctx: &mut Context<Self>) {
        loop {
            let any = |missing: fn(&Edge, u32) -> bool| {
                self.edges.iter().any(|edge| missing(edge, self.pass))
            };
            match self.phase {
                Phase::Setup if !any(Edge::lacks_id) => self.next_pass(ctx),
                Phase::Down if !any(Edge::lacks_yo) => self.yo_down(ctx),
                Phase::Up if !any(Edge::lacks_up) => self.yo_up(ctx),
                Phase::Asleep | Phase::Setup | Phase::Down | Phase::Up | Phase::Done => {
                    return self.say_what_is_missing(ctx);
                }
            }
        }
    }

    fn say_what_is_missing(&self, ctx: &mut Context<Self>) {
        let from = |missing: fn(&Edge, u32) -> bool| {
            let edges = self.edges.iter().filter(move |edge| missing(edge, self.pass));
            Each(edges.map(|edge| edge.to))
        };
        match self.phase {
            Phase::Asleep => ctx.because(&WAITS, ()),
            Phase::Setup => ctx.because(&why::WAITS_FOR_IDS, from(Edge::lacks_id)),
            Phase::Down => ctx.because(&why::WAITS_FOR_YO, from(Edge::lacks_yo)),
            Phase::Up => ctx.because(&why::WAITS_FOR_UP, from(Edge::lacks_up)),
            Phase::Done => ctx.because(&why::IS_DONE, ()),
        }
    }

    /// Who has lost all its edges, and not as a leaf, is the last source.
    fn next_pass(&mut self, ctx: &mut Context<Self>) {
        if self.edges.iter().any(|edge| matches!(edge.way, Way::In | Way::Out)) {
            self.pass += 1;
            self.phase = Phase::Down;
        } else {
            ctx.because(&why::LEADS, ());
            self.learn(self.rank, ctx);
        }
    }

    /// Hands down the best that came, or its own rank if it is a source.
    fn yo_down(&mut self, ctx: &mut Context<Self>) {
        let pass = self.pass;
        let best = self.best();
        if !self.has(Way::In) {
            ctx.because(&why::SOURCE, pass);
        } else if self.has(Way::Out) {
            ctx.because(&why::HANDS_DOWN, (pass, best.node));
        } else {
            ctx.because(&why::SINK, (pass, best.node));
        }
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
                    let value = edge.heard.take().map(|(value, _)| value);
                    let yes = !all_no && value == Some(best);
                    let prune = match (duplicate, leaf) {
                        (true, _) => Prune::Dup,
                        (false, true) => Prune::Leaf,
                        (false, false) => Prune::None,
                    };
                    ctx.because(why::answering(yes, prune, all_no), (edge.to, best.node));
                    ctx.send(edge.to, Message::Up { yes, prune, pass: self.pass });
                    edge.way = match (prune, yes) {
                        (Prune::None, true) => Way::In,
                        (Prune::None, false) => Way::Out,
                        (Prune::Dup | Prune::Leaf, _) => Way::Gone,
                    };
                }
                (Way::Out, Some((_, Prune::Dup))) => edge.way = Way::Gone,
                (Way::Out, Some((_, Prune::Leaf))) => edge.way = Way::Child,
                (Way::Out, Some((false, Prune::None))) => {
                    ctx.because(&why::TURNED, edge.to);
                    edge.way = Way::In;
                }
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

    fn has(&self, way: Way) -> bool {
        self.edges.iter().any(|edge| edge.way == way)
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
        if let Some(known) = self.leader {
            return ctx.because(&why::TOLD_AGAIN, known.node);
        }
        ctx.because(&why::FOLLOWS, leader.node);
        self.learn(leader, ctx);
    }

    fn learn(&mut self, leader: Rank, ctx: &mut Context<Self>) {
        self.leader = Some(leader);
        self.phase = Phase::Done;
        self.tell(ctx);
        for child in self.edges.iter().filter(|edge| edge.way == Way::Child) {
            ctx.send(child.to, Message::Elected(leader));
        }
    }

    fn tell(&self, ctx: &mut Context<Self>) {
        if let Some(leader) = self.leader {
            ctx.indicate(Indication::Elected { leader: leader.node, term: 1 });
        }
    }
}

impl Edge {
    fn lacks_id(&self, _: u32) -> bool {
        self.way == Way::Unknown
    }

    fn lacks_yo(&self, pass: u32) -> bool {
        self.way == Way::In && self.heard.is_none_or(|(_, of)| of != pass)
    }

    fn lacks_up(&self, _: u32) -> bool {
        self.way == Way::Out && self.answer.is_none()
    }
}

#[cfg(test)]
mod tests;
