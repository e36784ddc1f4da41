//! Token ring mutual exclusion that survives crashes: each hop is acknowledged, dead nodes are
//! skipped, and a leader makes a new token when the old one seems lost.
//!
//! Source: after G. Le Lann, "Distributed systems: towards a formal approach", IFIP Congress 1977;
//! epochs and modes as in [`super::central_failover`].
//! Assumes: A1 a message sent often enough arrives, in any order; A2 a majority is up and in touch
//! (election=majority), and crashed nodes return with their disk or not at all; A3 suspicions are
//! right (fence, an election not by majority, or strict with a detector that is said to be
//! perfect); A4 a holder that is cut off or slow leaves within half a lease, a token arrives within
//! a quarter of one or never, clocks are at most 1 % off, and who is cut off from the majority
//! suspects so within half a lease (lease); A5 who enters also releases; A6 who is silent for
//! `retransmit` has crashed (fence).
//!
//! | message     | from, to         | sent when                         | carries              |
//! |-------------|------------------|-----------------------------------|----------------------|
//! | `Token`     | node, successor  | it is not wanted here, or on exit | epoch, hop, entries  |
//! | `TokenAck`  | receiver, sender | a token came, wanted or not       | epoch, hop           |
//! | `Fenced`    | receiver, sender | the token was of an older epoch   | epoch                |
//! | `Probe`     | node, leader     | the token seems lost              | epoch                |
//! | `Freeze`    | leader, all      | it will make a new token          | epoch                |
//! | `FreezeAck` | all, leader      | older tokens are void here        | epoch, inside, fence |
//! | `Stale`     | anyone, leader   | it knows a greater epoch          | epoch                |
//!
//! Rules: R1 the first node mints the first token. R2 with the token, who wants in enters; who
//! leaves, or does not want it, passes it to the next node that does not seem to have crashed.
//! R3 each hop is acknowledged, and the token sent again until it is. R4 a token counts only if its
//! epoch and hop are greater than those of every token seen before. R5 who waits for longer than a
//! lap, or has passed the token to a node that seems to have crashed, reports it lost to the leader.
//! R6 the leader claims a new epoch, and has everybody promise to obey no older token. R7 when all
//! have promised, or silence may end the wait by the mode, it makes a new token, for whoever is
//! inside if somebody is. R8 who cannot reach a majority destroys its token.
//!
//! The first node mints the first token; nobody need lead for that. A token counts only if its
//! epoch and hop are greater than every token seen before, so repeated, late and replaced ones die
//! where they arrive. The leader replaces a token only when everybody has promised to obey no older
//! one; a node inside then gets the new token in place of its own. Whether silent nodes are waited
//! for is a matter of mode. A node that cannot reach a majority destroys its token, for when it
//! returns another may be about. Nobody can be thrown out: who is inside with a token that was
//! replaced is kept off the resource by the larger fence of the next. A token that has used up the
//! fences of its term is as good as lost, and is replaced in a new one.
//!
//! Has: mutual exclusion; progress; no starvation; rising fences.
//! Lacks: request order; silence when idle. Mode `fence` and elections not by majority let in a
//! second holder when a suspicion is wrong.
//! Cost: 2 messages per hop, one hop per entry when all want in. A new token costs n-1 `Freeze` and
//! an answer of each live node.

mod message;
mod normal;
mod regeneration;
#[cfg(test)]
mod tests;
mod why;

pub use message::{Message, Timer, Token};
pub use normal::normal;
pub use why::WHY;

use super::epoch::{Epoch, Setup};
use super::why::{NO_CLOCK, STRANGER};
use conclave_core::election::{self, Election};
use conclave_core::mutex::{Indication, Mutex, Request};
use conclave_core::{Context, Delay, Event, NodeId, NodeSet, Process, Recovery, Ticks};
use regeneration::Regeneration;
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Status {
    Idle,
    Waiting,
    Inside,
}

/// One node of the ring.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TokenRingRegenerating {
    me: NodeId,
    setup: Setup,
    /// How long an unwanted token stays.
    hold: Ticks,
    status: Status,
    /// The greatest epoch seen, and the last token accepted.
    epoch: Epoch,
    last: Token,
    /// The token, while it is here.
    token: Option<Token>,
    /// The token that was passed on, until it is acknowledged.
    passing: Option<(NodeId, Token)>,
    /// The largest fence known.
    fence: u64,
    /// Whom the election named last, and the greatest term in which it named this node.
    leader: Option<NodeId>,
    mandate: u32,
    suspects: NodeSet,
    regeneration: Option<Box<Regeneration>>,
}

impl Process for TokenRingRegenerating {
    type Provides = Mutex;
    type Uses = Election;
    type Message = Message;
    type Timer = Timer;

    fn step(&mut self, event: Event<Self>, ctx: &mut Context<Self>) {
        match event {
            Event::Start => self.on_start(ctx),
            // Who leads is not known any more. Whoever suspects this node will trust it again, and
            // pass it the token.
            Event::Restart => {
                ctx.because(&why::RESTARTED, ());
                self.leader = None;
            }
            Event::Request(Request::Acquire) => self.on_acquire(ctx),
            Event::Request(Request::Release) => self.on_release(ctx),
            Event::Request(Request::Cancel) => self.on_cancel(ctx),
            Event::Request(Request::Observe(_)) => ctx.because(&NO_CLOCK, ()),
            Event::Indication(election::Indication::Elected { leader, term }) => {
                self.on_elected(leader, term, ctx);
            }
            Event::Indication(election::Indication::Deposed { .. }) => self.on_deposed(ctx),
            Event::Indication(election::Indication::Suspect(node)) => self.on_suspect(node, ctx),
            Event::Indication(election::Indication::Trust(node)) => self.on_trust(node, ctx),
            Event::Message { from, message } => self.on_message(from, message, ctx),
            Event::Timer(Timer::Departure) => self.pass_on(ctx),
            Event::Timer(Timer::Retry) => self.on_retry(ctx),
            Event::Timer(Timer::Loss) => self.on_loss(ctx),
            Event::Timer(Timer::Round) => self.on_round(ctx),
            Event::Timer(Timer::Lease) => self.on_lease(ctx),
        }
    }

    /// The disk keeps the numbers; a token held is lost, and what the application wanted is over.
    fn after_crash(&self) -> Recovery<Self> {
        let mut kept = Self::new(self.me, self.setup).holding(self.hold);
        kept.epoch = self.epoch;
        kept.last = self.last;
        kept.fence = self.fence;
        kept.mandate = self.mandate;
        kept.leader = None;
        Recovery::State(kept)
    }
}

impl TokenRingRegenerating {
    /// Node `me` in its first state: the last node leads.
    pub fn new(me: NodeId, setup: Setup) -> Self {
        assert!(me.0 < setup.n, "{me} is outside a ring of {}", setup.n);
        let last = NodeId(setup.n - 1);
        Self {
            me,
            setup,
            hold: Ticks::ZERO,
            status: Status::Idle,
            epoch: Epoch::default(),
            last: Token::default(),
            token: None,
            passing: None,
            fence: 0,
            leader: Some(last),
            mandate: u32::from(me == last),
            suspects: NodeSet::default(),
            regeneration: None,
        }
    }

    /// The same node, where an unwanted token stays for a while.
    pub fn holding(self, hold: Ticks) -> Self {
        Self { hold, ..self }
    }

    /// The first token rests for one tick, so that who asks in the very moment of the start finds
    /// it at the first node.
    fn on_start(&mut self, ctx: &mut Context<Self>) {
        if self.me == NodeId(0) {
            ctx.because(&why::MINTED, ());
            self.token = Some(Token::default());
            if self.setup.n > 1 {
                ctx.set_timer(Timer::Departure, Delay::exactly(Ticks(1)));
            }
        }
    }

    fn on_acquire(&mut self, ctx: &mut Context<Self>) {
        assert_eq!(self.status, Status::Idle, "acquired twice");
        self.status = Status::Waiting;
        if self.token.is_some() {
            ctx.cancel_timer(Timer::Departure);
            return self.use_token(ctx);
        }
        ctx.because(&why::AWAITS, ());
        self.await_token(ctx);
    }

    fn on_cancel(&mut self, ctx: &mut Context<Self>) {
        assert_eq!(self.status, Status::Waiting, "cancelled without waiting");
        ctx.because(&why::WITHDREW, ());
        self.status = Status::Idle; // Nobody was asked: the token will pass through.
        ctx.cancel_timer(Timer::Loss);
    }

    fn on_release(&mut self, ctx: &mut Context<Self>) {
        assert_eq!(self.status, Status::Inside, "released without entering");
        self.status = Status::Idle;
        self.token = self.token.filter(|token| token.epoch >= self.epoch);
        if self.token.is_none() {
            ctx.because(&why::REPLACED, self.epoch); // Meanwhile.
        }
        self.pass_on(ctx);
    }

    fn on_message(&mut self, from: NodeId, message: Message, ctx: &mut Context<Self>) {
        if from.0 >= self.setup.n {
            return ctx.because(&STRANGER, from);
        }
        match message {
            Message::Token(token) => self.on_token(from, token, ctx),
            Message::TokenAck { epoch, hop } => self.on_token_ack(from, epoch, hop, ctx),
            Message::Fenced { epoch } => self.on_fenced(epoch, ctx),
            Message::Probe { epoch } => self.on_probe(from, epoch, ctx),
            Message::Freeze { epoch } => self.on_freeze(from, epoch, ctx),
            Message::FreezeAck { epoch, inside, fence } => {
                self.on_freeze_ack(from, epoch, inside, fence, ctx);
            }
            Message::Stale { epoch } => self.on_stale(epoch, ctx),
        }
    }

    fn on_token(&mut self, from: NodeId, token: Token, ctx: &mut Context<Self>) {
        // Whatever becomes of it, the sender need not send it again.
        ctx.send(from, Message::TokenAck { epoch: token.epoch, hop: token.hop });
        if token.epoch < self.epoch {
            ctx.because(&why::FENCED, (token.epoch, self.epoch));
            return ctx.send(from, Message::Fenced { epoch: self.epoch });
        }
        if (token.epoch, token.hop) <= (self.last.epoch, self.last.hop) {
            // Seen before: a second copy must not let in anybody.
            return ctx.because(&why::SEEN, token.hop);
        }
        self.accept(token, ctx);
    }

    /// Takes a token that counts; whatever was here before does not count any more.
    fn accept(&mut self, token: Token, ctx: &mut Context<Self>) {
        self.abandon(ctx); // One that was made later than ours began.
        self.last = token;
        self.epoch = token.epoch;
        self.token = Some(token);
        self.fence = self.fence.max(self.setup.fence(token.epoch, token.entries).unwrap_or(0));
        if self.passing.take().is_some() {
            ctx.cancel_timer(Timer::Retry);
        }
        match self.status {
            Status::Idle if self.hold > Ticks::ZERO && self.setup.n > 1 => {
                ctx.because(&why::RESTS, ());
                ctx.set_timer(Timer::Departure, Delay::exactly(self.hold));
            }
            Status::Idle => self.pass_on(ctx),
            Status::Waiting => self.use_token(ctx),
            // It replaces the one in use, and is passed on at the exit.
            Status::Inside => ctx.because(&why::TOOK_OVER, token.epoch),
        }
    }

    /// Enters with the token that is here, unless this node may have been cut off.
    fn use_token(&mut self, ctx: &mut Context<Self>) {
        if !self.reaches_enough() {
            ctx.because(&why::DESTROYED, &self.suspects);
            self.token = None;
            return self.await_token(ctx);
        }
        let Some(token) = &mut self.token else { return };
        let Some(fence) = self.setup.next_fence(token.epoch, token.entries) else {
            return self.give_up_token(ctx);
        };
        token.entries += 1;
        ctx.because(&why::ENTERED, fence);
        self.status = Status::Inside;
        self.fence = fence;
        ctx.cancel_timer(Timer::Loss);
        ctx.indicate(Indication::Entered { fence });
    }

    /// Hands the token to the next node that seems to be there; if none is, it stays.
    fn pass_on(&mut self, ctx: &mut Context<Self>) {
        if !self.reaches_enough() && self.token.take().is_some() {
            // When we are back in touch, another may be about.
            ctx.because(&why::DESTROYED, &self.suspects);
        }
        if self.status == Status::Inside || self.token.is_none() {
            return;
        }
        let Some(to) = self.next_after(self.me) else { return ctx.because(&why::STAYS, ()) };
        if let Some(token) = self.token.take() {
            ctx.because(&why::PASSED, to);
            self.send_token(to, Token { hop: token.hop + 1, ..token }, ctx);
        }
    }

    fn send_token(&mut self, to: NodeId, token: Token, ctx: &mut Context<Self>) {
        self.passing = Some((to, token));
        ctx.send(to, Message::Token(token));
        ctx.set_timer(Timer::Retry, Delay::exactly(self.setup.retransmit));
    }

    fn on_token_ack(&mut self, from: NodeId, epoch: Epoch, hop: u64, ctx: &mut Context<Self>) {
        let answers =
            |&(to, token): &(NodeId, Token)| (to, token.epoch, token.hop) == (from, epoch, hop);
        if self.passing.take_if(|passing| answers(passing)).is_some() {
            ctx.because(&why::ACKNOWLEDGED, from);
            ctx.cancel_timer(Timer::Retry);
        } else {
            ctx.because(&why::ACKNOWLEDGED_BEFORE, from); // It acknowledges a copy.
        }
    }

    fn on_retry(&mut self, ctx: &mut Context<Self>) {
        if let Some((to, token)) = self.passing {
            ctx.because(&why::SENT_AGAIN, to);
            self.send_token(to, token, ctx);
        }
    }

    fn on_suspect(&mut self, node: NodeId, ctx: &mut Context<Self>) {
        if node == self.me || node.0 >= self.setup.n || !self.suspects.insert(node) {
            return ctx.because(&why::SUSPECTED_BEFORE, node); // Or nonsense.
        }
        if !self.reaches_enough() {
            ctx.because(&why::CUT_OFF, &self.suspects);
            self.regeneration = None;
            for timer in [Timer::Retry, Timer::Round, Timer::Lease] {
                ctx.cancel_timer(timer);
            }
            self.passing = None;
            self.token = self.token.filter(|_| self.status == Status::Inside);
            return;
        }
        if self.passing.take_if(|(to, _)| *to == node).is_some() {
            ctx.because(&why::PASSED_TO_DEAD, node);
            // Not skipped any more: it may have come there, and even gone on, unacknowledged.
            ctx.cancel_timer(Timer::Retry);
            self.report_loss(ctx);
        } else {
            ctx.because(&why::SKIPS, node);
        }
        self.finish_if_known(ctx);
    }

    fn on_trust(&mut self, node: NodeId, ctx: &mut Context<Self>) {
        ctx.because(&why::TRUSTS, node);
        if self.suspects.remove(node) && self.status == Status::Idle {
            self.pass_on(ctx); // It may have rested here because nobody else was left.
        }
    }

    /// The token has been away for longer than a lap should take.
    fn on_loss(&mut self, ctx: &mut Context<Self>) {
        if self.status == Status::Waiting {
            ctx.because(&why::AWAY_TOO_LONG, ());
            self.await_token(ctx);
            self.report_loss(ctx);
        }
    }

    /// The next node on the ring that seems to be there; none if it would be this one.
    fn next_after(&self, node: NodeId) -> Option<NodeId> {
        let n = self.setup.n;
        let ring = std::iter::successors(Some(node.successor(n)), |node| Some(node.successor(n)));
        let next = ring.take(n as usize).find(|node| !self.suspects.contains(*node))?;
        (next != self.me).then_some(next)
    }

    fn reaches_enough(&self) -> bool {
        self.setup.suffices(self.setup.n - self.suspects.len())
    }
}
