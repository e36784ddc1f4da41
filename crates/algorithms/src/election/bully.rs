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
//! The counter only rises; with the leader it makes the term. As published it decides nothing: of
//! two announcements the later counts. With `terms=true` the greater term does, which also settles
//! the race between a winner and a better node that comes back under an old name.
//!
//! T = 2tt+tp is the time of a question and its answer. Whoever got an answer waits until 2T after
//! it asked, not T after the answer: a near node answers soon, a far one must first ask on its own.
//! With majority=true it waits for 3T, since the winner must be voted for first.
//!
//! Beyond the paper: a leader tells whomever it sees come back, so that the sides of a healed
//! partition agree; one that won without any word of a better node being dead tells that node, too;
//! and a node that follows a suspect asks once more.
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

mod doubt;
mod message;
mod setup;
#[cfg(test)]
mod tests;
mod vote;

pub use message::{Message, Timer};
pub use setup::{Announce, Setup, Text};

use conclave_core::detector::{self, Detector};
use conclave_core::election::{Election, Indication, Request};
use conclave_core::{Context, Delay, Event, NodeId, NodeSet, Process, Recovery};
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
            Event::Start => {}
            Event::Restart => self.on_restart(ctx),
            Event::Request(Request::Campaign) => self.begin(ctx),
            Event::Request(Request::Resign) => {} // Whoever misses it will elect another.
            Event::Indication(detector::Indication::Suspect(node)) => self.on_suspect(node, ctx),
            Event::Indication(detector::Indication::Trust(node)) => self.on_trust(node, ctx),
            Event::Message { from, .. } if from.0 >= self.n() || from == self.me => {} // Stranger.
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
            Message::Ok { counter } => self.on_ok(counter),
            Message::Coordinator { counter } => self.on_coordinator(from, counter, ctx),
            Message::Candidate { counter } => self.on_candidate(from, counter, ctx),
            Message::Vote { counter, granted } => self.on_vote(from, counter, granted, ctx),
        }
    }

    /// A node that lost its disk must not take the first leader for the present one.
    fn on_restart(&mut self, ctx: &mut Context<Self>) {
        self.elected = None;
        self.come_back(ctx);
    }

    fn come_back(&mut self, ctx: &mut Context<Self>) {
        if self.setup.hysteresis.0 == 0 {
            return self.begin(ctx);
        }
        self.phase = Phase::Returning;
        ctx.set_timer(Timer::Hysteresis, Delay::exactly(self.setup.hysteresis));
    }

    /// Holds an election, unless one is under way.
    fn begin(&mut self, ctx: &mut Context<Self>) {
        match self.phase {
            Phase::AwaitOk | Phase::AwaitCoordinator | Phase::AwaitVotes => return,
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
            self.phase = Phase::AwaitOk;
            ctx.set_timer(Timer::Answer, Delay::exactly(self.setup.round_trip()));
        } else {
            self.win(ctx);
        }
    }

    fn on_election(&mut self, from: NodeId, counter: u64, ctx: &mut Context<Self>) {
        self.hear(counter);
        if !self.setup.ranking.beats(self.me, from) {
            return; // It thinks too highly of this node.
        }
        ctx.send(from, Message::Ok { counter: self.counter });
        if self.setup.text != Text::Seed {
            self.begin(ctx);
        }
    }

    fn on_ok(&mut self, counter: u64) {
        self.hear(counter);
        if self.phase == Phase::AwaitOk {
            self.phase = Phase::AwaitCoordinator; // The timer goes on: all count from the start.
        } // Otherwise one of several, or late.
    }

    fn on_answer_time(&mut self, ctx: &mut Context<Self>) {
        match self.phase {
            Phase::AwaitOk if self.setup.ranking.is_candidate(self.me) => self.win(ctx),
            Phase::AwaitOk => self.phase = Phase::Idle, // Nobody who may lead is alive.
            Phase::AwaitCoordinator if self.setup.text == Text::Corrected => {
                ctx.set_timer(Timer::Announcement, Delay::exactly(self.setup.announcement()));
            }
            Phase::AwaitCoordinator => {} // As printed: it waits for ever.
            Phase::AwaitVotes => self.on_votes_missing(ctx),
            Phase::Idle | Phase::BackingOff | Phase::Returning => {} // Settled meanwhile.
        }
    }

    /// Whoever answered has died since.
    fn on_announcement_time(&mut self, ctx: &mut Context<Self>) {
        if self.phase == Phase::AwaitCoordinator {
            self.phase = Phase::Idle;
            if self.can_win() {
                self.begin(ctx);
            }
        }
    }

    fn win(&mut self, ctx: &mut Context<Self>) {
        if self.leads() && self.elected.is_some_and(|elected| elected.counter == self.counter) {
            self.announce(ctx); // Somebody did not know.
        } else if self.setup.by_majority {
            self.stand(ctx);
        } else {
            self.lead(self.counter + 1, ctx);
        }
    }

    fn lead(&mut self, counter: u64, ctx: &mut Context<Self>) {
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
            return; // It may not lead.
        }
        if better && self.phase != Phase::Returning {
            return self.begin(ctx); // This is the bullying.
        }
        let late = |known: Leadership| known.leader == from && known.counter > counter;
        if self.elected.is_some_and(late) {
            return; // Overtaken by a later one of the same leader.
        }
        if self.setup.terms
            && self.elected.is_some_and(|known| self.term(known) > self.term(announced))
        {
            return self.tell(from, ctx); // It must take a greater counter to be followed.
        }
        self.follow(announced, ctx);
    }

    fn follow(&mut self, announced: Leadership, ctx: &mut Context<Self>) {
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

    fn on_suspect(&mut self, node: NodeId, ctx: &mut Context<Self>) {
        ctx.indicate(Indication::Suspect(node));
        self.suspects.insert(node);
        self.returned.remove(node);
        if self.elected.is_some_and(|elected| elected.leader == node) || self.has_hopes_in(node) {
            self.doubted = false;
            self.begin(ctx);
        }
        self.step_down_if_alone(ctx);
    }

    fn on_trust(&mut self, node: NodeId, ctx: &mut Context<Self>) {
        ctx.indicate(Indication::Trust(node));
        let cut_off = self.suspects.len() + 1 == self.n();
        if !self.suspects.remove(node) {
            return; // It was never suspected.
        }
        let hysteresis = self.setup.hysteresis.0 > 0;
        if !self.leads() {
            self.try_again(ctx);
        } else if cut_off && hysteresis {
            self.come_back(ctx); // It may have been replaced meanwhile.
        } else if self.phase == Phase::Returning {
            // It lets the others be for now.
        } else if hysteresis || self.setup.ranking.better_than(self.me).next().is_none() {
            self.tell(node, ctx);
        } else {
            // If a better one is back, too, it is for that one to speak first.
            self.returned.insert(node);
            ctx.set_timer(Timer::Recheck, Delay::exactly(self.setup.election()));
        }
    }

    fn on_hysteresis(&mut self, ctx: &mut Context<Self>) {
        if self.phase == Phase::Returning {
            self.phase = Phase::Idle;
            self.begin(ctx);
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
