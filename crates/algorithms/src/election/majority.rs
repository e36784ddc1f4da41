//! Election by majority: time is cut into terms, each node votes once per term, and only a
//! majority makes a leader.
//!
//! Source: D. Ongaro, J. Ousterhout, "In search of an understandable consensus algorithm", USENIX
//! ATC 2014, the part about elections; step down, pre-votes and hand-over after D. Ongaro's thesis,
//! 2014.
//! Assumes: A1 nodes return with their disk or not at all; A2, to elect at all, a majority is up
//! and in touch, and messages are faster than `timeout`, `heartbeat` well below it. Messages may be
//! lost, late or doubled.
//!
//! | message          | from, to          | sent when                       | carries       |
//! |------------------|-------------------|---------------------------------|---------------|
//! | `RequestVote`    | candidate, all    | it has not heard of a leader    | term          |
//! | `Vote`           | anyone, candidate | it was asked                    | term, granted |
//! | `Heartbeat`      | leader, all       | elected, then every `heartbeat` | term, number  |
//! | `HeartbeatAck`   | anyone, leader    | it was told                     | term, number  |
//! | `RequestPreVote` | asker, all        | prevote=on: before it stands    | term          |
//! | `PreVote`        | anyone, asker     | it was asked                    | term, granted |
//! | `TimeoutNow`     | leader, follower  | it is about to leave            | term          |
//!
//! - R1 who hears of no leader for a time drawn between `timeout` and twice that stands for
//!   election;
//! - R2 who stands enters the next term, votes for itself and asks all others. So does a leader
//!   that is called upon to campaign: it steps down first;
//! - R3 a node votes once per term, for whoever asks first;
//! - R4 the votes of a majority make a leader, which shows itself with a heartbeat at once;
//! - R5 who hears of a greater term enters it, and neither leads nor stands any longer; who hears
//!   of a smaller one says so or ignores it;
//! - R6 who hears a heartbeat of its term follows the sender;
//! - R7 a leader goes on only until `timeout` after it sent the last heartbeat that a majority
//!   answered; see `lead`;
//! - R8 with prevote=on a node stands only when a majority misses the leader, too; see `prevote`.
//!   With prevote=off one that a majority hears, but that does not hear the leader, stands again
//!   and again, each time in a greater term, and deposes the leader each time: safe, but nobody
//!   leads for long;
//! - R9 a leader that is to resign steps down and has another stand; see `resign`;
//! - R10 suspicions are passed on and not otherwise used: the heartbeats tell what is needed.
//!
//! Has: at most one leader per term, whatever messages do; in the end one leader, whom all follow.
//! Lacks: the highest leader; silence; a certain end, since candidates may split the votes again
//! and again; one leader at a time: until the old one has stepped down there may be two, of
//! different terms; with prevote=off, a leader that lasts while a single link is cut.
//! Cost: 3(n-1) messages and 3 units of time when one stands alone, and n-1 answers to the first
//! heartbeat; with prevote=on 2(n-1) messages and 2 units more.

mod lead;
mod message;
mod prevote;
mod resign;
#[cfg(test)]
mod tests;
mod why;

pub use message::{Message, Timer};
pub use why::WHY;

use super::why::STRANGER;
use conclave_core::detector::Detector;
use conclave_core::election::{Election, Indication, Request};
use conclave_core::{Context, Delay, Event, NodeId, NodeSet, Process, Recovery, Ticks};
use serde::{Deserialize, Serialize};

/// The choices that all nodes share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Setup {
    /// How many nodes.
    pub n: u32,
    /// How long a follower waits for a leader, at least; at most twice that.
    pub timeout: Ticks,
    /// How often a leader shows itself.
    pub heartbeat: Ticks,
    /// Whether a node asks if others would vote for it before it stands.
    pub prevote: bool,
}

impl Setup {
    fn is_majority(&self, nodes: u32) -> bool {
        nodes >= self.majority()
    }

    /// How many are more than half.
    fn majority(&self) -> u32 {
        self.n / 2 + 1
    }
}

/// One node.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Majority {
    me: NodeId,
    setup: Setup,
    /// Whether this node may lead.
    candidate: bool,
    role: Role,
    term: u64,
    voted_for: Option<NodeId>,
    /// Who leads in this term.
    leader: Option<NodeId>,
    /// Who votes for this node, while it stands; who would, while it asks.
    votes: NodeSet,
    /// The number of the last heartbeat, and of the last that each node answered, while it leads.
    number: u32,
    answered: Vec<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Role {
    Follower,
    /// With pre-votes: has not heard of a leader for a timeout, and will ask whether others have.
    Doubter,
    /// With pre-votes: asks.
    Asker,
    Candidate,
    Leader,
}

impl Process for Majority {
    type Provides = Election;
    type Uses = Detector;
    type Message = Message;
    type Timer = Timer;

    fn step(&mut self, event: Event<Self>, ctx: &mut Context<Self>) {
        match event {
            Event::Start => self.on_start(ctx),
            Event::Restart => self.on_restart(ctx),
            Event::Request(Request::Campaign) => self.campaign(ctx),
            Event::Request(Request::Resign) => self.on_resign(ctx),
            Event::Indication(told) => {
                ctx.because(&why::ONLY_TOLD, ());
                ctx.indicate(told.into());
            }
            Event::Message { from, .. } if from.0 >= self.setup.n || from == self.me => {
                ctx.because(&STRANGER, from);
            }
            Event::Message { from, message } => self.on_message(from, message, ctx),
            Event::Timer(Timer::Election) => self.on_election_time(ctx),
            Event::Timer(Timer::Heartbeat) => self.on_heartbeat_time(ctx),
            Event::Timer(Timer::Quorum) => self.on_quorum_time(ctx),
        }
    }

    /// The disk keeps the term and the vote: forgotten, it could be given twice.
    fn after_crash(&self) -> Recovery<Self> {
        let mut kept = Self::new(self.me, self.setup, None).standing(self.candidate);
        kept.term = self.term;
        kept.voted_for = self.voted_for;
        Recovery::State(kept)
    }
}

impl Majority {
    /// Node `me`; everybody has voted for the first leader, if there is one.
    pub fn new(me: NodeId, setup: Setup, first: Option<NodeId>) -> Self {
        assert!(me.0 < setup.n, "{me} is outside a cluster of {}", setup.n);
        Self {
            me,
            setup,
            candidate: true,
            role: if first == Some(me) { Role::Leader } else { Role::Follower },
            term: u64::from(first.is_some()),
            voted_for: first,
            leader: first,
            votes: NodeSet::new(setup.n),
            number: 0,
            answered: Vec::new(),
        }
    }

    /// Who leads as far as this node knows, and in which term.
    pub fn leader(&self) -> Option<(NodeId, u64)> {
        self.leader.map(|leader| (leader, self.term))
    }

    /// The same node, which may lead or only votes.
    pub fn standing(self, candidate: bool) -> Self {
        Self { candidate, ..self }
    }

    fn on_start(&mut self, ctx: &mut Context<Self>) {
        match self.role {
            Role::Leader => {
                ctx.because(&why::FIRST_LEADER, ());
                self.show_itself(ctx);
            }
            Role::Follower | Role::Doubter | Role::Asker | Role::Candidate => {
                ctx.because(&why::WAITS, self.setup.timeout);
                self.wait_for_leader(ctx);
            }
        }
    }

    /// Even with a disk, or without one, it must first hear who leads.
    fn on_restart(&mut self, ctx: &mut Context<Self>) {
        ctx.because(&why::CAME_BACK, self.term);
        self.role = Role::Follower;
        self.leader = None;
        self.wait_for_leader(ctx);
    }

    fn on_election_time(&mut self, ctx: &mut Context<Self>) {
        match self.role {
            Role::Leader => return, // Who was elected has stopped this timer.
            Role::Follower if self.setup.prevote => return self.doubt(ctx),
            Role::Follower | Role::Doubter => ctx.because(&why::MISSES_LEADER, ()),
            Role::Asker => ctx.because(&why::ASKED_IN_VAIN, self.votes.len()),
            Role::Candidate => ctx.because(&why::SPLIT, self.votes.len()),
        }
        self.campaign(ctx);
    }

    fn campaign(&mut self, ctx: &mut Context<Self>) {
        if !self.candidate {
            return ctx.because(&why::ONLY_VOTES, ());
        }
        if self.role == Role::Leader {
            ctx.because(&why::LEADER_STANDS, ());
            // Whoever has it campaign needs a new term. That nobody misses the leader is no matter.
            self.step_down(ctx);
            self.stand(ctx);
        } else if self.setup.prevote {
            self.ask_first(ctx);
        } else {
            self.stand(ctx);
        }
    }

    fn stand(&mut self, ctx: &mut Context<Self>) {
        self.term += 1;
        ctx.because(&why::STANDS, (self.term, self.setup.majority(), self.setup.n));
        self.role = Role::Candidate;
        self.leader = None;
        self.voted_for = Some(self.me);
        self.votes.clear();
        for other in self.me.others(self.setup.n) {
            ctx.send(other, Message::RequestVote { term: self.term });
        }
        self.wait_for_leader(ctx);
        self.count(self.me, ctx);
    }

    fn on_message(&mut self, from: NodeId, message: Message, ctx: &mut Context<Self>) {
        if let Some(term) = message.term().filter(|term| *term > self.term) {
            ctx.because(&why::NEWER_TERM, (term, self.term));
            self.enter(term, ctx);
        }
        match message {
            Message::RequestVote { term } => self.on_request_vote(from, term, ctx),
            Message::Heartbeat { term, number } if term == self.term => {
                self.on_heartbeat(from, number, ctx);
            }
            Message::Heartbeat { term, number } => {
                ctx.because(&why::STALE_LEADER, (from, term, self.term)); // It should know.
                ctx.send(from, Message::HeartbeatAck { term: self.term, number });
            }
            Message::Vote { term, granted: true } if term == self.term => self.count(from, ctx),
            Message::HeartbeatAck { term, number } if term == self.term => {
                self.on_heartbeat_ack(from, number, ctx);
            }
            Message::RequestPreVote { term } => self.on_request_pre_vote(from, term, ctx),
            Message::PreVote { term, granted: true } if term.checked_sub(1) == Some(self.term) => {
                self.count_pre_vote(from, ctx);
            }
            Message::TimeoutNow { term } if term == self.term => self.on_timeout_now(from, ctx),
            Message::PreVote { granted: true, .. } => ctx.because(&why::LATE_PRE_VOTE, ()),
            Message::PreVote { .. } => ctx.because(&why::PRE_REFUSED, from),
            Message::Vote { term, granted: false } if term == self.term => {
                ctx.because(&why::REFUSED, from);
            }
            Message::Vote { term, .. }
            | Message::HeartbeatAck { term, .. }
            | Message::TimeoutNow { term } => ctx.because(&why::OLD_TERM, (term, self.term)),
        }
    }

    /// A greater term began elsewhere.
    fn enter(&mut self, term: u64, ctx: &mut Context<Self>) {
        self.step_down(ctx);
        self.term = term;
        self.voted_for = None;
    }

    /// Leads or stands no longer.
    fn step_down(&mut self, ctx: &mut Context<Self>) {
        let led = self.role == Role::Leader;
        self.role = Role::Follower;
        self.leader = None;
        if led {
            ctx.because(&why::STEPS_DOWN, self.term);
            ctx.indicate(Indication::Deposed { term: self.term });
            ctx.cancel_timer(Timer::Heartbeat);
            ctx.cancel_timer(Timer::Quorum);
            self.wait_for_leader(ctx);
        }
    }

    fn on_request_vote(&mut self, from: NodeId, term: u64, ctx: &mut Context<Self>) {
        let other = self.voted_for.filter(|&voted| voted != from);
        let granted = term == self.term && other.is_none();
        if granted {
            ctx.because(&why::VOTES, (from, self.term));
            self.voted_for = Some(from);
            self.wait_for_leader(ctx);
        } else if let Some(other) = other.filter(|_| term == self.term) {
            ctx.because(&why::VOTED_ALREADY, (from, other, self.term));
        } else {
            ctx.because(&why::OLD_REQUEST, (from, term, self.term));
        }
        ctx.send(from, Message::Vote { term: self.term, granted });
    }

    fn count(&mut self, voter: NodeId, ctx: &mut Context<Self>) {
        if self.role != Role::Candidate {
            return ctx.because(&why::LATE_VOTE, ());
        }
        self.votes.insert(voter);
        if self.setup.is_majority(self.votes.len()) {
            ctx.because(&why::ELECTED, (self.votes.len(), self.setup.n, self.term));
            self.role = Role::Leader;
            self.leader = Some(self.me);
            ctx.cancel_timer(Timer::Election);
            ctx.indicate(Indication::Elected { leader: self.me, term: self.term });
            self.show_itself(ctx);
        } else {
            ctx.because(&why::COUNTS, (self.votes.len(), self.setup.majority()));
        }
    }

    fn on_heartbeat(&mut self, from: NodeId, number: u32, ctx: &mut Context<Self>) {
        match self.role {
            // Only where a vote was forgotten can a term have two leaders. Each goes on.
            Role::Leader => return ctx.because(&why::TWO_LEADERS, self.term),
            Role::Follower | Role::Doubter | Role::Asker | Role::Candidate => {
                self.role = Role::Follower;
            }
        }
        if self.leader == Some(from) {
            ctx.because(&why::STILL_FOLLOWS, from);
        } else {
            ctx.because(&why::FOLLOWS, (from, self.term));
            self.leader = Some(from);
            ctx.indicate(Indication::Elected { leader: from, term: self.term });
        }
        self.wait_for_leader(ctx);
        ctx.send(from, Message::HeartbeatAck { term: self.term, number });
    }

    /// Whoever may lead will stand when it hears of nobody for a while, each after another.
    fn wait_for_leader(&self, ctx: &mut Context<Self>) {
        if self.setup.prevote && self.role == Role::Follower {
            ctx.set_timer(Timer::Election, Delay::exactly(self.setup.timeout)); // Then it doubts.
        } else if self.candidate {
            let twice = Ticks((self.setup.timeout.0 * 2).max(1) - 1);
            let latest = twice.max(self.setup.timeout);
            ctx.set_timer(Timer::Election, Delay::between(self.setup.timeout, latest));
        }
    }
}

const _: () = assert!(size_of::<Event<Majority>>() <= 32);
