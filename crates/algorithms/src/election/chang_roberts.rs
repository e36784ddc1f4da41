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
//! The round is not in the paper, which holds one election only. Each further election has the
//! next number, and whatever belongs to an earlier one is dropped, so that a late or repeated
//! message cannot leave a node waiting for an election that is over.
//!
//! With [`Skip::Dead`] messages go to the next node that is not suspected. Whenever that becomes
//! another one, it is told what the last one was told: the greatest id that went by, or the result.
//! An id that made more than n hops has passed the place of its owner, who must be dead; it is
//! taken off the ring and a new round begins. So it does when the leader is suspected.
//!
//! Has: agreement on the greatest id, or with [`Join::Initiators`] on the greatest that began;
//! everybody learns of it; one leader per term.
//! Lacks: with [`Skip::None`] any tolerance of loss or crashes; with [`Skip::Dead`] of wrong
//! suspicions, which can elect one leader per part of the ring.
//! Cost: one begins: d+2n messages, d its distance to the greatest; all begin: 3n-1 to
//! n(n+1)/2+n. [`Text::Seed`] lets every id that is beaten go on as the greater one, and each
//! makes a full lap and then an `Elected` lap of its own.
use conclave_core::election::{Election, Indication, Request};
use conclave_core::{Context, Event, Named, Never, NodeId, NodeSet, Process, detector};
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;

/// What a node tells the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Message {
    /// Is anybody greater?
    Election {
        /// The id that seeks its way home.
        id: u64,
        /// How many hops it has made, this one included.
        hops: u32,
        /// The number of this election.
        round: u32,
    },
    /// Nobody is.
    Elected {
        /// Who leads.
        leader: NodeId,
        /// The number of this election.
        round: u32,
    },
}

impl Named for Message {
    fn name(&self) -> &'static str {
        match self {
            Self::Election { .. } => "ELECTION",
            Self::Elected { .. } => "ELECTED",
        }
    }
}

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
            Event::Start | Event::Restart => {}
            Event::Request(Request::Campaign) => self.on_campaign(ctx),
            Event::Request(Request::Resign) => {} // Whoever misses it will elect another.
            Event::Message { from, .. } if from.0 >= self.n => {} // A stranger.
            Event::Message { message: Message::Election { id, hops, round }, .. } => {
                if self.hears_of(round) {
                    self.on_election(id, hops, ctx);
                }
            }
            Event::Message { message: Message::Elected { leader, round }, .. } => {
                if leader.0 < self.n && self.hears_of(round) {
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
            Phase::Relaying | Phase::Running => {} // An election is being held already.
            Phase::Done(_) => self.begin_anew(ctx),
        }
    }

    /// An id comes by, one of this round.
    fn on_election(&mut self, id: u64, hops: u32, ctx: &mut Context<Self>) {
        match (self.text, self.phase) {
            (Text::Seed, _) => self.on_election_as_printed(id, hops, ctx),
            (Text::Corrected, Phase::Done(_)) => {} // Overtaken by the result, or sent again.
            (Text::Corrected, Phase::Running) if id == self.id => self.elect(self.me, ctx),
            (Text::Corrected, Phase::Idle | Phase::Relaying) if id == self.id => {} // Not sent.
            (Text::Corrected, _) if hops > self.n => self.begin_anew(ctx), // Its owner is gone.
            (Text::Corrected, _) => self.on_id_of_another(id, hops, ctx),
        }
    }

    fn on_id_of_another(&mut self, id: u64, hops: u32, ctx: &mut Context<Self>) {
        let competes = self.phase == Phase::Running || self.join == Join::Contact;
        if id > self.id || !competes {
            if self.phase == Phase::Idle {
                self.phase = Phase::Relaying;
            }
            self.send_on(id, hops.saturating_add(1), ctx);
        } else if self.phase == Phase::Idle {
            self.run(ctx);
        }
        // Otherwise it is taken off the ring: a greater one has gone before.
    }

    /// The note does not look at whether this node already takes part.
    fn on_election_as_printed(&mut self, id: u64, hops: u32, ctx: &mut Context<Self>) {
        if self.phase == Phase::Idle {
            self.phase = Phase::Relaying;
        }
        match id.cmp(&self.id) {
            Ordering::Less => self.send_on(self.id, 1, ctx),
            Ordering::Equal => self.elect(self.me, ctx),
            Ordering::Greater => self.send_on(id, hops.saturating_add(1), ctx),
        }
    }

    /// Somebody was elected, in this round.
    fn on_elected(&mut self, leader: NodeId, ctx: &mut Context<Self>) {
        if leader == self.me {
            return; // It has been all the way round.
        }
        match (self.text, self.phase) {
            (Text::Corrected, Phase::Done(_)) => {} // Told again by who closed the ring.
            (Text::Corrected, _) if self.suspects(leader) => self.begin_anew(ctx), // It just died.
            (Text::Corrected | Text::Seed, _) => self.elect(leader, ctx),
        }
    }

    fn on_suspect(&mut self, node: NodeId, ctx: &mut Context<Self>) {
        ctx.indicate(Indication::Suspect(node));
        let last = self.successor();
        if let Some(repair) = &mut self.repair {
            repair.suspects.insert(node);
            if self.phase == Phase::Done(node) {
                self.begin_anew(ctx);
            } else if self.successor() != last {
                self.tell_new_successor(ctx);
            }
        }
    }

    fn on_trust(&mut self, node: NodeId, ctx: &mut Context<Self>) {
        ctx.indicate(Indication::Trust(node));
        let last = self.successor();
        if let Some(repair) = &mut self.repair {
            repair.suspects.remove(node);
            if self.successor() != last {
                self.tell_new_successor(ctx);
            }
        }
    }

    /// What the last successor was told may have died with it.
    fn tell_new_successor(&mut self, ctx: &mut Context<Self>) {
        let sent = self.repair.as_ref().and_then(|repair| repair.sent);
        match (self.phase, sent) {
            (Phase::Idle, _) => {}
            (Phase::Relaying | Phase::Running, Some((id, hops))) => self.send_on(id, hops, ctx),
            (Phase::Relaying | Phase::Running, None) => {} // Nothing was sent in this round.
            (Phase::Done(leader), _) => self.announce(leader, ctx),
        }
    }

    /// Whether to act on a message of this round; a new one is entered first.
    fn hears_of(&mut self, round: u32) -> bool {
        if round > self.round {
            self.enter_round(round);
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
        self.phase = Phase::Running;
        self.send_on(self.id, 1, ctx);
    }

    fn send_on(&mut self, id: u64, hops: u32, ctx: &mut Context<Self>) {
        let successor = self.successor();
        if successor == self.me {
            return self.elect(self.me, ctx); // Nobody else is left, or ever was.
        }
        if let Some(repair) = &mut self.repair {
            repair.sent = repair.sent.max(Some((id, hops)));
        }
        ctx.send(successor, Message::Election { id, hops, round: self.round });
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
