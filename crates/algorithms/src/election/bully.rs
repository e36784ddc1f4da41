//! The bully election: ask all that are better; if none answers in time, lead and tell the rest.
//!
//! Source: H. Garcia-Molina, "Elections in a distributed computing system", IEEE Transactions on
//! Computers C-31(1), 1982, with the timing of Coulouris et al., "Distributed Systems".
//! Assumes: A1 every message arrives exactly once and within `tt`; A2 a node answers within `tp`;
//! A3 suspicions are right in the end; A4 no node returns and no partition heals while an election
//! is under way (terms=false); A5 a majority is up and in touch (majority=true).
//!
//! | message       | from, to           | sent when                              | carries       |
//! |---------------|--------------------|----------------------------------------|---------------|
//! | `Election`    | anyone, all better | it misses the leader, or came back     | counter       |
//! | `Ok`          | anyone, worse      | it was asked                           | counter       |
//! | `Coordinator` | winner, all worse  | nobody better answered, or one is back | counter       |
//! | `Candidate`   | winner, all        | majority=true: before it leads         | counter       |
//! | `Vote`        | anyone, candidate  | it was asked                           | counter, said |
//!
//! - R1 who misses the leader, or comes back, asks all that are better;
//! - R2 who is asked answers OK, and asks those that are better than itself, unless it has;
//! - R3 who gets no answer within T = 2tt+tp, the time of a question and its answer, leads, and
//!   tells all that are worse;
//! - R4 who got an answer waits for a `Coordinator` until 2T after it asked, then asks again. Not T
//!   after the answer: a near node answers soon, a far one must first ask on its own. With
//!   majority=true it waits for 3T, since the winner must be voted for first;
//! - R5 who is told of a leader follows it; but one that is better bullies it: it asks as in R1;
//! - R6 with majority=true the winner leads only with the votes of more than half (see `vote`);
//! - R7 beyond the paper: a leader tells whomever it sees come back, so that the sides of a healed
//!   partition agree; one that won without any word of a better node being dead tells that node,
//!   too; and a node that follows a suspect asks once more;
//! - R8 the counter only rises; with the leader it makes the term. As published it decides nothing:
//!   of two announcements the later counts. With `terms=true` the greater term does, which also
//!   settles the race between a winner and a better node that comes back under an old name;
//! - R9 with hysteresis a node that is back lets the leader be for a while before it asks.
//!
//! Has: one leader, the best of the live, known to all; a result after at most 2T and a message
//! (majority=true: 3T).
//! Lacks: one leader while the network is cut (majority=true: while it is cut, one at most), or
//! when a message is late; elects without need when a better node returns (hysteresis delays it);
//! a leader that answered while it was suspected, and dies later, is only missed by who calls.
//! [`Text::Slides`] has no second time limit: if whoever answered dies, all that asked it wait for
//! ever.
//! Cost: (n-p)^2+n-2 messages when the best of n is dead and the p-th notices; at most n^2-n-1.
//! majority=true: n-1 `Candidate` and n-2 `Vote` more.

mod detection;
mod doubt;
mod message;
mod setup;
#[cfg(test)]
mod tests;
mod vote;
mod why;

pub use message::{Message, Timer};
pub use setup::{Announce, Setup, Text};
pub use why::WHY;

use super::why::{NO_HAND_OVER, STRANGER, WAITS};
use conclave_core::detector::{self, Detector};
use conclave_core::election::{Election, Indication, Request};
use conclave_core::{Context, Delay, Each, Event, NodeId, NodeSet, Process, Recovery};
use serde::{Deserialize, Serialize};

/// One node.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Bully {
    me: NodeId,
    setup: Setup,
    phase: Phase,
    elected: Option<Leadership>,
    /// The greatest counter seen.
    counter: u64,
    /// Whom this node last voted for.
    voted: Option<Leadership>,
    /// Who voted for this node, while it stands.
    votes: NodeSet,
    suspects: NodeSet,
    /// Who came back and is to be told by this node that it leads.
    returned: NodeSet,
    /// Whether the leader, suspected, was asked after already.
    doubted: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Leadership {
    leader: NodeId,
    counter: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Phase {
    Idle,
    AwaitOk,
    AwaitCoordinator,
    AwaitVotes,
    BackingOff,
    /// Back, and following whoever leads for a while.
    Returning,
}

impl Process for Bully {
    type Provides = Election;
    type Uses = Detector;
    type Message = Message;
    type Timer = Timer;

    fn step(&mut self, event: Event<Self>, ctx: &mut Context<Self>) {
        match event {
            Event::Start => ctx.because(&WAITS, ()),
            Event::Restart => self.on_restart(ctx),
            Event::Request(Request::Campaign) => self.begin(ctx),
            Event::Request(Request::Resign) => ctx.because(&NO_HAND_OVER, ()),
            Event::Indication(detector::Indication::Suspect(node)) => self.on_suspect(node, ctx),
            Event::Indication(detector::Indication::Trust(node)) => self.on_trust(node, ctx),
            Event::Message { from, .. } if from.0 >= self.n() || from == self.me => {
                ctx.because(&STRANGER, from);
            }
            Event::Message { from, message } => self.on_message(from, message, ctx),
            Event::Timer(Timer::Answer) => self.on_answer_time(ctx),
            Event::Timer(Timer::Announcement) => self.on_announcement_time(ctx),
            Event::Timer(Timer::BackOff) => self.on_back_off(ctx),
            Event::Timer(Timer::Hysteresis) => self.on_hysteresis(ctx),
            Event::Timer(Timer::Recheck) => self.on_recheck(ctx),
            Event::Timer(Timer::Doubt) => self.on_doubt(ctx),
        }
    }

    /// The disk keeps the numbers; who leads must be learnt anew.
    fn after_crash(&self) -> Recovery<Self> {
        let fresh = Self::new(self.me, self.setup.clone(), None);
        Recovery::State(Self { counter: self.counter, voted: self.voted, ..fresh })
    }
}

impl Bully {
    /// Node `me`; everybody knows the first leader, if there is one.
    pub fn new(me: NodeId, setup: Setup, first: Option<NodeId>) -> Self {
        let n = setup.ranking.n();
        assert!(me.0 < n, "{me} is outside a cluster of {n}");
        let elected = first.map(|leader| Leadership { leader, counter: 1 });
        Self {
            me,
            setup,
            phase: Phase::Idle,
            elected,
            counter: u64::from(elected.is_some()),
            voted: elected,
            votes: NodeSet::new(n),
            suspects: NodeSet::new(n),
            returned: NodeSet::new(n),
            doubted: false,
        }
    }

    /// Who leads as far as this node knows, and in which term.
    pub fn leader(&self) -> Option<(NodeId, u64)> {
        self.elected.map(|elected| (elected.leader, self.term(elected)))
    }

    fn n(&self) -> u32 {
        self.setup.ranking.n()
    }

    fn on_message(&mut self, from: NodeId, message: Message, ctx: &mut Context<Self>) {
        match message {
            Message::Election { counter } => self.on_election(from, counter, ctx),
            Message::Ok { counter } => self.on_ok(from, counter, ctx),
            Message::Coordinator { counter } => self.on_coordinator(from, counter, ctx),
            Message::Candidate { counter } => self.on_candidate(from, counter, ctx),
            Message::Vote { counter, granted } => self.on_vote(from, counter, granted, ctx),
        }
    }

    /// A node that lost its disk must not take the first leader for the present one.
    fn on_restart(&mut self, ctx: &mut Context<Self>) {
        ctx.because(&why::CAME_BACK, ());
        self.elected = None;
        self.come_back(ctx);
    }

    fn come_back(&mut self, ctx: &mut Context<Self>) {
        if self.setup.hysteresis.0 == 0 {
            return self.begin(ctx);
        }
        ctx.because(&why::LETS_BE, self.setup.hysteresis);
        self.phase = Phase::Returning;
        ctx.set_timer(Timer::Hysteresis, Delay::exactly(self.setup.hysteresis));
    }

    /// Holds an election, unless one is under way.
    fn begin(&mut self, ctx: &mut Context<Self>) {
        match self.phase {
            Phase::AwaitOk | Phase::AwaitCoordinator | Phase::AwaitVotes => {
                return ctx.because(&why::ALREADY_CALLING, ());
            }
            Phase::Idle => {}
            Phase::BackingOff => ctx.cancel_timer(Timer::BackOff),
            Phase::Returning => ctx.cancel_timer(Timer::Hysteresis),
        }
        // Where terms are compared, whoever wins must outbid the leader that is missed.
        let missed = self.elected.is_some_and(|known| self.suspects.contains(known.leader));
        let counter = self.counter + u64::from(self.setup.terms && missed);
        let mut asked = false;
        for better in self.setup.ranking.better_than(self.me) {
            asked = true;
            ctx.send(better, Message::Election { counter });
        }
        if asked {
            let better = Each(self.setup.ranking.better_than(self.me));
            ctx.because(&why::CALLS, (better, self.setup.round_trip()));
            self.phase = Phase::AwaitOk;
            ctx.set_timer(Timer::Answer, Delay::exactly(self.setup.round_trip()));
        } else {
            ctx.because(&why::NOBODY_BETTER, ());
            self.win(ctx);
        }
    }

    fn on_election(&mut self, from: NodeId, counter: u64, ctx: &mut Context<Self>) {
        self.hear(counter);
        if !self.setup.ranking.beats(self.me, from) {
            return ctx.because(&why::ASKED_BY_BETTER, from); // It thinks too highly of this node.
        }
        ctx.because(&why::ANSWERS, from);
        ctx.send(from, Message::Ok { counter: self.counter });
        match self.setup.text {
            Text::Corrected | Text::Slides => self.begin(ctx),
            Text::Seed => ctx.because(&why::ONLY_ANSWERS, ()),
        }
    }

    fn on_ok(&mut self, from: NodeId, counter: u64, ctx: &mut Context<Self>) {
        self.hear(counter);
        match self.phase {
            Phase::AwaitOk => {
                ctx.because(&why::BEATEN, from);
                self.phase = Phase::AwaitCoordinator; // The timer goes on.
            }
            Phase::AwaitCoordinator => ctx.because(&why::BEATEN_AGAIN, ()),
            Phase::Idle | Phase::AwaitVotes | Phase::BackingOff | Phase::Returning => {
                ctx.because(&why::LATE_OK, ());
            }
        }
    }

    fn on_answer_time(&mut self, ctx: &mut Context<Self>) {
        match self.phase {
            Phase::AwaitOk if self.setup.ranking.is_candidate(self.me) => {
                ctx.because(&why::NO_ANSWER, ());
                self.win(ctx);
            }
            Phase::AwaitOk => {
                ctx.because(&why::NOBODY_MAY_LEAD, ());
                self.phase = Phase::Idle;
            }
            Phase::AwaitCoordinator if self.setup.text == Text::Corrected => {
                ctx.because(&why::WAITS_LONGER, self.setup.announcement());
                ctx.set_timer(Timer::Announcement, Delay::exactly(self.setup.announcement()));
            }
            Phase::AwaitCoordinator => ctx.because(&why::WAITS_FOR_EVER, ()),
            Phase::AwaitVotes => self.on_votes_missing(ctx),
            Phase::Idle | Phase::BackingOff | Phase::Returning => ctx.because(&why::SETTLED, ()),
        }
    }

    /// Whoever answered has died since.
    fn on_announcement_time(&mut self, ctx: &mut Context<Self>) {
        if self.phase != Phase::AwaitCoordinator {
            return ctx.because(&why::SETTLED, ());
        }
        ctx.because(&why::SILENT_WINNER, ());
        self.phase = Phase::Idle;
        if self.can_win() {
            self.begin(ctx);
        } else {
            ctx.because(&why::NO_MAJORITY, (self.suspects.len(), self.n()));
        }
    }

    fn win(&mut self, ctx: &mut Context<Self>) {
        if self.leads() && self.elected.is_some_and(|elected| elected.counter == self.counter) {
            ctx.because(&why::LEADS_ALREADY, ()); // Somebody did not know.
            self.announce(ctx);
        } else if self.setup.by_majority {
            self.stand(ctx);
        } else {
            self.lead(self.counter + 1, ctx);
        }
    }

    fn lead(&mut self, counter: u64, ctx: &mut Context<Self>) {
        ctx.because(&why::LEADS, counter);
        self.hear(counter);
        self.believe(Leadership { leader: self.me, counter }, ctx);
        self.announce(ctx);
    }

    fn announce(&mut self, ctx: &mut Context<Self>) {
        self.phase = Phase::Idle;
        for other in self.me.others(self.n()) {
            let told = self.setup.ranking.beats(self.me, other);
            if told || self.setup.announce == Announce::All {
                self.tell(other, ctx);
            }
        }
        if self.setup.ranking.better_than(self.me).any(|better| !self.suspects.contains(better)) {
            ctx.because(&why::RECHECKS, self.setup.election());
            ctx.set_timer(Timer::Recheck, Delay::exactly(self.setup.election()));
        }
    }

    /// Says that this node leads, if it does.
    fn tell(&self, other: NodeId, ctx: &mut Context<Self>) {
        if let Some(Leadership { counter, .. }) = self.elected.filter(|_| self.leads()) {
            ctx.send(other, Message::Coordinator { counter });
        }
    }

    fn on_coordinator(&mut self, from: NodeId, counter: u64, ctx: &mut Context<Self>) {
        self.hear(counter);
        let announced = Leadership { leader: from, counter };
        let better = self.setup.ranking.beats(self.me, from);
        if !self.setup.ranking.is_candidate(from) {
            return ctx.because(&why::MAY_NOT_LEAD, from);
        }
        if better && self.phase != Phase::Returning {
            ctx.because(&why::BULLIES, from); // This is the bullying.
            return self.begin(ctx);
        }
        let late = |known: &Leadership| known.leader == from && known.counter > counter;
        if let Some(known) = self.elected.filter(late) {
            return ctx.because(&why::OVERTAKEN, (counter, from, known.counter));
        }
        let greater = |known: &Leadership| self.term(*known) > self.term(announced);
        if let Some(known) = self.elected.filter(greater).filter(|_| self.setup.terms) {
            ctx.because(&why::SMALLER_TERM, (counter, from, known.counter, known.leader));
            return self.tell(from, ctx); // It must take a greater counter to be followed.
        }
        self.follow(announced, ctx);
    }

    fn follow(&mut self, announced: Leadership, ctx: &mut Context<Self>) {
        ctx.because(&why::FOLLOWS, (announced.leader, announced.counter));
        match self.phase {
            Phase::AwaitOk | Phase::AwaitVotes => ctx.cancel_timer(Timer::Answer),
            Phase::AwaitCoordinator => {
                ctx.cancel_timer(Timer::Answer);
                ctx.cancel_timer(Timer::Announcement);
            }
            Phase::BackingOff => ctx.cancel_timer(Timer::BackOff),
            Phase::Idle | Phase::Returning => {}
        }
        if self.phase != Phase::Returning {
            self.phase = Phase::Idle;
        }
        if self.leads() {
            ctx.cancel_timer(Timer::Recheck);
            self.returned.clear();
        }
        self.believe(announced, ctx);
        if self.suspects.contains(announced.leader) && !self.doubted {
            let after = self.setup.election();
            ctx.because(&why::FOLLOWS_SUSPECT, (announced.leader, after));
            ctx.set_timer(Timer::Doubt, Delay::exactly(self.setup.election()));
        }
    }

    fn believe(&mut self, leadership: Leadership, ctx: &mut Context<Self>) {
        if self.elected != Some(leadership) {
            self.elected = Some(leadership);
            self.doubted = false;
            let term = self.term(leadership);
            ctx.indicate(Indication::Elected { leader: leadership.leader, term });
        }
    }

    fn on_hysteresis(&mut self, ctx: &mut Context<Self>) {
        if self.phase == Phase::Returning {
            ctx.because(&why::WAITED, ());
            self.phase = Phase::Idle;
            self.begin(ctx);
        } else {
            ctx.because(&why::SETTLED, ());
        }
    }

    fn leads(&self) -> bool {
        self.elected.is_some_and(|elected| elected.leader == self.me)
    }

    fn term(&self, leadership: Leadership) -> u64 {
        self.setup.ranking.term(leadership.counter, leadership.leader)
    }

    fn hear(&mut self, counter: u64) {
        self.counter = self.counter.max(counter);
    }
}

const _: () = assert!(size_of::<Event<Bully>>() <= 32);
