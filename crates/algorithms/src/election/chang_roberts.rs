//! Chang and Roberts' election: ids go round a ring, and whoever is greater than an id that comes
//! by does not let it pass. The one that comes home is the greatest.
//!
//! Source: E. Chang, R. Roberts, "An improved algorithm for decentralized extrema-finding in
//! circular configurations of processes", CACM 22(5), 1979; with the non-initiators that join in
//! and the `Elected` lap of Coulouris, Dollimore, Kindberg and Blair, "Distributed Systems".
//! Assumes: A1 every message arrives exactly once, in whatever order; A2 no crashes (with
//! [`Skip::Dead`]: a perfect detector, and somebody who knows of the election stays up).
//!
//! | message    | from, to        | sent when                                 | carries         |
//! |------------|-----------------|-------------------------------------------|-----------------|
//! | `Election` | node, successor | it begins, lets an id pass or replaces it | id, hops, round |
//! | `Elected`  | node, successor | its id came home, or it hears of a leader | leader, round   |
//!
//! - R1 who begins sends its own id to its successor;
//! - R2 a greater id passes; a smaller one is taken off the ring by whoever has sent its own, and
//!   replaced by it otherwise;
//! - R3 whose own id comes home leads;
//! - R4 that it does goes round as `Elected`;
//! - R5 not in the paper, which holds one election only: each further election has the number of
//!   the next round, and whatever belongs to an earlier one is dropped, so that a late or repeated
//!   message cannot leave a node waiting for an election that is over;
//! - R6 with [`Skip::Dead`] messages go to the next node that is not suspected. Whenever that
//!   becomes another one, it is told what the last one was told: the greatest id that went by, or
//!   the result. An id that made more than n hops has passed the place of its owner, who must be
//!   dead; it is taken off the ring and a new round begins. So it does when the leader is
//!   suspected.
//!
//! Has: agreement on the greatest id, or with [`Join::Initiators`] on the greatest that began;
//! everybody learns of it; one leader per term.
//! Lacks: with [`Skip::None`] any tolerance of loss or crashes; with [`Skip::Dead`] of wrong
//! suspicions, which can elect one leader per part of the ring.
//! Cost: one begins: d+2n messages, d its distance to the greatest; all begin: 3n-1 to
//! n(n+1)/2+n. [`Text::Seed`] lets every id that is beaten go on as the greater one, and each
//! makes a full lap and then an `Elected` lap of its own.
mod message;
mod why;

pub use message::Message;
pub use why::WHY;

use super::why::{NO_HAND_OVER, STRANGER, WAITS};
use conclave_core::election::{Election, Indication, Request};
use conclave_core::{Context, Event, Never, NodeId, NodeSet, Process, detector};
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;

/// Who is in the race.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Join {
    /// Everybody whom an election reaches.
    Contact,
    /// Only those who began.
    Initiators,
}

/// What to do about a dead successor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Skip {
    /// Nothing.
    None,
    /// Send to the next one that is not suspected.
    Dead,
}

/// Which text of the algorithm to follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Text {
    /// The paper's.
    Corrected,
    /// A lecture note's, in which even a node that already takes part replaces a smaller id by its
    /// own instead of taking it off the ring.
    Seed,
}

/// One node. A million of them should fit in little room: see the assertion below.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ChangRoberts {
    id: u64,
    /// Only with [`Skip::Dead`].
    repair: Option<Box<Repair>>,
    me: NodeId,
    n: u32,
    /// The latest election heard of. The first has number 1.
    round: u32,
    /// Where this node stands in it.
    phase: Phase,
    join: Join,
    text: Text,
}

/// What it takes to close the ring behind a dead node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Repair {
    suspects: NodeSet,
    /// The greatest id sent on in this round, and the hops it had made by then.
    sent: Option<(u64, u32)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Phase {
    /// It knows nothing of this election.
    Idle,
    /// It has let other ids pass, and never sends its own.
    Relaying,
    /// It has sent its own id.
    Running,
    /// This one was elected.
    Done(NodeId),
}

impl Process for ChangRoberts {
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
            Event::Message { message: Message::Election { id, hops, round }, .. } => {
                if self.hears_of(round, ctx) {
                    self.on_election(id, hops, ctx);
                }
            }
            Event::Message { message: Message::Elected { leader, round }, .. } => {
                if leader.0 >= self.n {
                    ctx.because(&why::UNKNOWN_LEADER, ());
                } else if self.hears_of(round, ctx) {
                    self.on_elected(leader, ctx);
                }
            }
            Event::Indication(detector::Indication::Suspect(node)) => self.on_suspect(node, ctx),
            Event::Indication(detector::Indication::Trust(node)) => self.on_trust(node, ctx),
        }
    }
}

impl ChangRoberts {
    /// Node `me` of `n`, in its first state.
    pub fn new(me: NodeId, n: u32, id: u64, join: Join, skip: Skip, text: Text) -> Self {
        assert!(me.0 < n, "{me} is outside a ring of {n}");
        let repair = match skip {
            Skip::None => None,
            Skip::Dead => Some(Box::default()),
        };
        Self { id, repair, me, n, round: 1, phase: Phase::Idle, join, text }
    }

    fn on_campaign(&mut self, ctx: &mut Context<Self>) {
        match self.phase {
            Phase::Idle => self.run(ctx),
            Phase::Relaying | Phase::Running => ctx.because(&why::ALREADY, ()),
            Phase::Done(_) => {
                ctx.because(&why::OVER, self.round);
                self.begin_anew(ctx);
            }
        }
    }

    /// An id comes by, one of this round.
    fn on_election(&mut self, id: u64, hops: u32, ctx: &mut Context<Self>) {
        match (self.text, self.phase) {
            (Text::Seed, _) => self.on_election_as_printed(id, hops, ctx),
            (Text::Corrected, Phase::Done(leader)) => ctx.because(&why::DECIDED, leader),
            (Text::Corrected, Phase::Running) if id == self.id => self.win(ctx),
            (Text::Corrected, Phase::Idle | Phase::Relaying) if id == self.id => {
                ctx.because(&why::NOT_SENT, self.id);
            }
            (Text::Corrected, _) if hops > self.n => {
                ctx.because(&why::TOO_FAR, (id, hops)); // Its owner is gone.
                self.begin_anew(ctx);
            }
            (Text::Corrected, _) => self.on_id_of_another(id, hops, ctx),
        }
    }

    fn on_id_of_another(&mut self, id: u64, hops: u32, ctx: &mut Context<Self>) {
        let competes = self.phase == Phase::Running || self.join == Join::Contact;
        if id > self.id || !competes {
            if id > self.id {
                ctx.because(&why::PASSES, (id, self.id));
            } else {
                ctx.because(&why::NOT_IN_RACE, id);
            }
            if self.phase == Phase::Idle {
                self.phase = Phase::Relaying;
            }
            self.send_on(id, hops.saturating_add(1), ctx);
        } else if self.phase == Phase::Idle {
            ctx.because(&why::REPLACED, (self.id, id));
            self.run(ctx);
        } else {
            ctx.because(&why::SWALLOWED, (self.id, id)); // A greater one has gone before.
        }
    }

    /// The note does not look at whether this node already takes part.
    fn on_election_as_printed(&mut self, id: u64, hops: u32, ctx: &mut Context<Self>) {
        if self.phase == Phase::Idle {
            self.phase = Phase::Relaying;
        }
        match id.cmp(&self.id) {
            Ordering::Less => {
                ctx.because(&why::REPLACED_AS_PRINTED, (self.id, id));
                self.send_on(self.id, 1, ctx);
            }
            Ordering::Equal => self.win(ctx),
            Ordering::Greater => {
                ctx.because(&why::PASSES, (id, self.id));
                self.send_on(id, hops.saturating_add(1), ctx);
            }
        }
    }

    /// Somebody was elected, in this round.
    fn on_elected(&mut self, leader: NodeId, ctx: &mut Context<Self>) {
        if leader == self.me {
            return ctx.because(&why::LAP_OVER, ());
        }
        match (self.text, self.phase) {
            (Text::Corrected, Phase::Done(known)) => ctx.because(&why::DECIDED, known),
            (Text::Corrected, _) if self.suspects(leader) => {
                ctx.because(&why::LEADER_DEAD, leader);
                self.begin_anew(ctx);
            }
            (Text::Corrected | Text::Seed, _) => {
                ctx.because(&why::FOLLOWS, leader);
                self.elect(leader, ctx);
            }
        }
    }

    fn on_suspect(&mut self, node: NodeId, ctx: &mut Context<Self>) {
        ctx.indicate(Indication::Suspect(node));
        let last = self.successor();
        let Some(repair) = &mut self.repair else {
            return ctx.because(&why::NO_RULE, ());
        };
        repair.suspects.insert(node);
        if self.phase == Phase::Done(node) {
            ctx.because(&why::LEADER_LOST, node);
            self.begin_anew(ctx);
        } else {
            self.tell_new_successor(last, ctx);
        }
    }

    fn on_trust(&mut self, node: NodeId, ctx: &mut Context<Self>) {
        ctx.indicate(Indication::Trust(node));
        let last = self.successor();
        let Some(repair) = &mut self.repair else {
            return ctx.because(&why::NO_RULE, ());
        };
        repair.suspects.remove(node);
        self.tell_new_successor(last, ctx);
    }

    /// If it is another one now: what the last successor was told may have died with it.
    fn tell_new_successor(&mut self, last: NodeId, ctx: &mut Context<Self>) {
        let next = self.successor();
        if next == last {
            return ctx.because(&why::SAME_SUCCESSOR, next);
        }
        let sent = self.repair.as_ref().and_then(|repair| repair.sent);
        match (self.phase, sent) {
            (Phase::Relaying | Phase::Running, Some((id, hops))) => {
                ctx.because(&why::SENDS_AGAIN, (next, id));
                self.send_on(id, hops, ctx);
            }
            // Nothing was sent in this round.
            (Phase::Idle, _) | (Phase::Relaying | Phase::Running, None) => {
                ctx.because(&why::NOTHING_TO_TELL, next);
            }
            (Phase::Done(leader), _) => {
                ctx.because(&why::TELLS_SUCCESSOR, (next, leader));
                self.announce(leader, ctx);
            }
        }
    }

    /// Whether to act on a message of this round; a new one is entered first.
    fn hears_of(&mut self, round: u32, ctx: &mut Context<Self>) -> bool {
        if round > self.round {
            ctx.because(&why::NEW_ROUND, round);
            self.enter_round(round);
        } else if round < self.round {
            ctx.because(&why::OLD_ROUND, (round, self.round));
        }
        round == self.round // What is left of an earlier election says nothing any more.
    }

    fn enter_round(&mut self, round: u32) {
        self.round = round;
        self.phase = Phase::Idle;
        if let Some(repair) = &mut self.repair {
            repair.sent = None;
        }
    }

    fn begin_anew(&mut self, ctx: &mut Context<Self>) {
        self.enter_round(self.round.saturating_add(1));
        self.run(ctx);
    }

    /// Sends the own id into the race.
    fn run(&mut self, ctx: &mut Context<Self>) {
        ctx.because(&why::BEGINS, (self.id, self.round));
        self.phase = Phase::Running;
        self.send_on(self.id, 1, ctx);
    }

    fn send_on(&mut self, id: u64, hops: u32, ctx: &mut Context<Self>) {
        let successor = self.successor();
        if successor == self.me {
            ctx.because(&why::ALONE, ()); // Nobody else is left, or ever was.
            return self.elect(self.me, ctx);
        }
        if let Some(repair) = &mut self.repair {
            repair.sent = repair.sent.max(Some((id, hops)));
        }
        ctx.send(successor, Message::Election { id, hops, round: self.round });
    }

    fn win(&mut self, ctx: &mut Context<Self>) {
        ctx.because(&why::HOME, self.id);
        self.elect(self.me, ctx);
    }

    fn elect(&mut self, leader: NodeId, ctx: &mut Context<Self>) {
        if self.phase != Phase::Done(leader) {
            self.phase = Phase::Done(leader);
            ctx.indicate(Indication::Elected { leader, term: self.term_of(leader) });
        }
        self.announce(leader, ctx);
    }

    fn announce(&self, leader: NodeId, ctx: &mut Context<Self>) {
        let successor = self.successor();
        if successor != self.me {
            ctx.send(successor, Message::Elected { leader, round: self.round });
        }
    }

    /// Without crashes a round has one leader. With them, who wins a round may die before anybody
    /// hears of it, and the next of the same round must not get the same term.
    fn term_of(&self, leader: NodeId) -> u64 {
        match self.repair {
            None => u64::from(self.round),
            Some(_) => u64::from(self.round) * u64::from(self.n) + u64::from(leader.0),
        }
    }

    fn suspects(&self, node: NodeId) -> bool {
        self.repair.as_ref().is_some_and(|repair| repair.suspects.contains(node))
    }

    /// The next node on the ring that is not suspected; this very one if all others are.
    fn successor(&self) -> NodeId {
        let mut next = self.me.successor(self.n);
        while next != self.me && self.suspects(next) {
            next = next.successor(self.n);
        }
        next
    }
}

const _: () = assert!(size_of::<Event<ChangRoberts>>() <= 32);
const _: () = assert!(size_of::<ChangRoberts>() <= 40);

#[cfg(test)]
mod tests;
