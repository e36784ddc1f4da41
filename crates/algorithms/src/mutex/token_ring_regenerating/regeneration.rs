//! Token regeneration, what the leader does about a lost token: it voids all older ones, then makes
//! a new one.

use super::{Message, Setup, Status, Timer, Token, TokenRingRegenerating, why};
use crate::mutex::epoch::{Ballot, Epoch, Mode};
use conclave_core::{Context, Delay, NodeId, NodeSet, Ticks, election};
use serde::{Deserialize, Serialize};

/// The fences of a new token begin at a multiple of this: more entries than any token can have
/// allowed without a trace at those that answered.
pub(super) const FENCES_APART: u32 = 1 << 12;

/// The making of a new token.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Regeneration {
    /// Who has promised to obey no older token.
    reports: NodeSet,
    /// Who is inside, with the greatest fence.
    pub(super) inside: Option<(NodeId, u64)>,
    /// Whether the silent need no longer be waited for.
    waited: bool,
}

impl TokenRingRegenerating {
    /// The election named a leader. It has nothing to do until a token is lost.
    pub(super) fn on_elected(&mut self, leader: NodeId, term: u64, ctx: &mut Context<Self>) {
        let Some(term) = self.setup.term(term) else {
            return ctx.because(&why::TERM_TOO_LARGE, term); // Beyond any fence below 2^53.
        };
        let by_majority = self.setup.ballot == Ballot::Majority;
        if by_majority && term < self.mandate.max(self.epoch.term) {
            return ctx.because(&why::ELECTED_LATE, leader); // A later leader is known.
        }
        self.leader = Some(leader);
        if leader == self.me {
            ctx.because(&why::LEADS, ());
            self.mandate = term;
        } else {
            ctx.because(&why::FOLLOWS, leader);
            self.abandon(ctx);
        }
    }

    /// Somebody else may have been elected, and may be making a token.
    pub(super) fn on_deposed(&mut self, ctx: &mut Context<Self>) {
        ctx.because(&why::DEPOSED, ());
        self.leader = self.leader.filter(|&leader| leader != self.me);
        self.abandon(ctx);
    }

    /// Whoever waits will notice if the token does not come within a lap.
    pub(super) fn await_token(&self, ctx: &mut Context<Self>) {
        if self.status == Status::Waiting {
            let lap = Ticks(self.setup.retransmit.0 * u64::from(self.setup.n));
            ctx.set_timer(Timer::Loss, Delay::exactly(lap));
        }
    }

    /// The token has let in as many as its term has fences for: to the waiting it is lost.
    pub(super) fn give_up_token(&mut self, ctx: &mut Context<Self>) {
        ctx.because(&why::USED_UP, ());
        self.token = None;
        self.await_token(ctx);
        self.report_loss(ctx);
    }

    /// Asks the leader for a new token, or makes it.
    pub(super) fn report_loss(&mut self, ctx: &mut Context<Self>) {
        match self.leader {
            Some(leader) if leader == self.me => self.begin_if_idle(ctx),
            Some(leader) => {
                ctx.because(&why::PROBES, leader);
                ctx.send(leader, Message::Probe { epoch: self.epoch });
            }
            None => ctx.because(&why::NO_LEADER, ()), // Who waits will ask again.
        }
    }

    pub(super) fn on_probe(&mut self, from: NodeId, epoch: Epoch, ctx: &mut Context<Self>) {
        if self.regeneration.is_some() && epoch <= self.epoch {
            // One is being made, and the sender has been asked.
            return ctx.because(&why::BEING_MADE, ());
        }
        if epoch < self.epoch {
            ctx.because(&why::TELLS_EPOCH, (from, self.epoch));
            // It has not heard of the new token yet; if that is lost too, it will ask again.
            return ctx.send(from, Message::Freeze { epoch: self.epoch });
        }
        self.epoch = epoch;
        if self.leader == Some(self.me) {
            self.begin(ctx);
        } else {
            ctx.because(&why::NOT_LEADER, from); // Mistaken, or ahead of what is known here.
        }
    }

    fn begin_if_idle(&mut self, ctx: &mut Context<Self>) {
        if self.regeneration.is_none() {
            self.begin(ctx);
        }
    }

    fn begin(&mut self, ctx: &mut Context<Self>) {
        let claim = self.setup.claim(self.me, self.epoch, self.mandate);
        let Some(epoch) = claim.filter(|_| self.reaches_enough()) else {
            ctx.because(&why::GIVES_UP, ());
            return self.abandon(ctx); // A later leader is known, or may be.
        };
        ctx.because(&why::FREEZES, epoch);
        self.obey(epoch, ctx);
        let inside = (self.status == Status::Inside).then_some((self.me, self.fence));
        let reports = NodeSet::new(self.setup.n);
        self.regeneration = Some(Box::new(Regeneration { reports, inside, waited: false }));
        for other in self.me.others(self.setup.n) {
            ctx.send(other, Message::Freeze { epoch });
        }
        ctx.set_timer(Timer::Round, Delay::exactly(self.setup.retransmit));
        if self.setup.mode == Mode::Lease {
            // A node that is cut off goes on until it suspects so.
            let noticed = self.setup.keepalive() + self.setup.lease_elsewhere();
            let recovery = self.setup.recovery().max(noticed);
            ctx.set_timer(Timer::Lease, Delay::exactly(recovery));
        }
        self.finish_if_known(ctx);
    }

    /// From here on older tokens are void; one in use stays until the exit.
    fn obey(&mut self, epoch: Epoch, ctx: &mut Context<Self>) {
        self.epoch = epoch;
        self.token = self.token.filter(|_| self.status == Status::Inside);
        if self.passing.take().is_some() {
            ctx.cancel_timer(Timer::Retry);
        }
        self.await_token(ctx);
    }

    pub(super) fn on_freeze(&mut self, from: NodeId, epoch: Epoch, ctx: &mut Context<Self>) {
        if epoch < self.epoch {
            ctx.because(&why::REFUSED, (from, epoch, self.epoch));
            return ctx.send(from, Message::Stale { epoch: self.epoch });
        }
        if self.last.epoch == epoch {
            // The token of that epoch has been here: nobody waits for the answer.
            return ctx.because(&why::TOKEN_WAS_HERE, epoch);
        }
        ctx.because(&why::OBEYS, epoch);
        if epoch > self.epoch {
            self.abandon(ctx); // The greater one wins.
        }
        self.obey(epoch, ctx);
        let inside = self.status == Status::Inside;
        ctx.send(from, Message::FreezeAck { epoch, inside, fence: self.fence });
    }

    pub(super) fn on_freeze_ack(
        &mut self,
        from: NodeId,
        epoch: Epoch,
        inside: bool,
        fence: u64,
        ctx: &mut Context<Self>,
    ) {
        let Some(regeneration) = &mut self.regeneration else {
            return ctx.because(&why::PROMISED_LATE, from); // The token is made.
        };
        if epoch != self.epoch || !regeneration.reports.insert(from) {
            return ctx.because(&why::PROMISED_LATE, from); // To an earlier round, or again.
        }
        self.fence = self.fence.max(fence);
        if inside && regeneration.inside.is_none_or(|(_, known)| known < fence) {
            regeneration.inside = Some((from, fence));
        }
        self.finish_if_known(ctx);
    }

    pub(super) fn on_stale(&mut self, epoch: Epoch, ctx: &mut Context<Self>) {
        if self.regeneration.is_some() {
            self.on_fenced(epoch, ctx);
        } else {
            ctx.because(&why::EPOCH_KNOWN, epoch); // It is about an earlier attempt.
        }
    }

    /// There is a greater epoch, whose token is somebody else's to make.
    pub(super) fn on_fenced(&mut self, epoch: Epoch, ctx: &mut Context<Self>) {
        if epoch <= self.epoch {
            return ctx.because(&why::EPOCH_KNOWN, epoch);
        }
        ctx.because(&why::EPOCH_LEARNT, epoch);
        self.epoch = epoch;
        if self.regeneration.is_some() {
            self.begin(ctx);
        }
    }

    /// Makes the new token when no older one can let in anybody any more.
    pub(super) fn finish_if_known(&mut self, ctx: &mut Context<Self>) {
        let excused = self.setup.excuses_suspects();
        let Some(regeneration) = &self.regeneration else { return };
        let settled = |node: NodeId| {
            regeneration.reports.contains(node) || excused && self.suspects.contains(node)
        };
        let all = self.me.others(self.setup.n).all(settled);
        if !self.setup.suffices(regeneration.reports.len() + 1) || !(regeneration.waited || all) {
            return ctx.because(&why::WAITS_FOR_PROMISES, &regeneration.reports);
        }
        let inside = regeneration.inside;
        self.abandon(ctx);
        let epoch = self.epoch;
        let known = self.setup.counter_of(epoch, self.fence);
        let entries = (known / FENCES_APART + 1) * FENCES_APART;
        let Some(fence) = self.setup.fence(epoch, entries) else {
            return self.renew_term(ctx);
        };
        ctx.because(&why::MADE, epoch);
        self.fence = fence;
        let token = Token { epoch, hop: 1, entries };
        match inside {
            Some((holder, _)) if holder != self.me => {
                ctx.because(&why::GAVE_TO_HOLDER, holder);
                self.send_token(holder, token, ctx);
            }
            Some(_) | None => self.accept(token, ctx),
        }
    }

    /// This term has no fences left for another token. The next attempt is made in a later one:
    /// only an election by majority must be asked for it.
    fn renew_term(&self, ctx: &mut Context<Self>) {
        ctx.because(&why::NO_FENCES, ());
        if self.setup.ballot == Ballot::Majority {
            ctx.request(election::Request::Campaign);
        }
    }

    pub(super) fn abandon(&mut self, ctx: &mut Context<Self>) {
        if self.regeneration.take().is_some() {
            ctx.cancel_timer(Timer::Round);
            ctx.cancel_timer(Timer::Lease);
        }
    }

    /// Those that do not answer are asked again; in mode `fence`, silence ends the wait.
    pub(super) fn on_round(&mut self, ctx: &mut Context<Self>) {
        let Setup { n, mode, retransmit, .. } = self.setup;
        let excused = self.setup.excuses_suspects();
        let Some(regeneration) = &mut self.regeneration else { return };
        regeneration.waited |= mode == Mode::Fence;
        ctx.because(&why::ASKS_SILENT, &regeneration.reports);
        for other in self.me.others(n) {
            let gone = excused && self.suspects.contains(other);
            if !gone && !regeneration.reports.contains(other) {
                ctx.send(other, Message::Freeze { epoch: self.epoch });
            }
        }
        ctx.set_timer(Timer::Round, Delay::exactly(retransmit));
        self.finish_if_known(ctx);
    }

    pub(super) fn on_lease(&mut self, ctx: &mut Context<Self>) {
        if let Some(regeneration) = &mut self.regeneration {
            ctx.because(&why::LAPSED, ());
            regeneration.waited = true;
            self.finish_if_known(ctx);
        }
    }
}
