//! Votes of a majority (`majority=true`): a winner leads only when more than half of all nodes
//! agree.

use super::{Bully, Leadership, Message, Phase, Timer, why};
use conclave_core::election::Indication;
use conclave_core::{Context, Delay, NodeId, Ticks};

impl Bully {
    /// Nobody better answered: asks for votes.
    pub(super) fn stand(&mut self, ctx: &mut Context<Self>) {
        self.counter += 1;
        let counter = self.counter;
        ctx.because(&why::STANDS, (self.needed(), self.n(), counter));
        self.phase = Phase::AwaitVotes;
        self.voted = Some(Leadership { leader: self.me, counter });
        self.votes.clear();
        for other in self.me.others(self.n()) {
            ctx.send(other, Message::Candidate { counter });
        }
        ctx.set_timer(Timer::Answer, Delay::exactly(self.setup.round_trip()));
        self.count(self.me, counter, ctx);
    }

    pub(super) fn on_candidate(&mut self, from: NodeId, counter: u64, ctx: &mut Context<Self>) {
        let wanted = Leadership { leader: from, counter };
        let free = self.voted.is_none_or(|voted| counter > voted.counter || voted == wanted);
        let better = self.better_known(from);
        let granted = free && better.is_none();
        match (self.voted, better) {
            (_, Some(better)) => ctx.because(&why::KNOWS_BETTER, (from, better)),
            (Some(voted), None) if !free => {
                ctx.because(&why::VOTED_ALREADY, (from, voted.leader, voted.counter));
            }
            (Some(_) | None, None) => {
                ctx.because(&why::VOTES, (from, counter));
                self.voted = Some(wanted);
            }
        }
        self.hear(counter);
        let counter = if granted { counter } else { self.counter };
        ctx.send(from, Message::Vote { counter, granted });
        if self.setup.ranking.beats(self.me, from) {
            ctx.because(&why::OBJECTS, from); // It cannot have heard that this node is alive.
            self.begin(ctx);
        }
    }

    /// Whether this node has voted for that one, and has not heard since who won.
    pub(super) fn has_hopes_in(&self, node: NodeId) -> bool {
        let is_open = |counter| self.elected.is_none_or(|elected| elected.counter < counter);
        self.voted.is_some_and(|voted| voted.leader == node && is_open(voted.counter))
    }

    pub(super) fn on_vote(
        &mut self,
        from: NodeId,
        counter: u64,
        granted: bool,
        ctx: &mut Context<Self>,
    ) {
        self.hear(counter); // A refusal tells from where to go on.
        if granted {
            self.count(from, counter, ctx);
        } else {
            ctx.because(&why::REFUSED, (from, counter));
        }
    }

    fn count(&mut self, voter: NodeId, counter: u64, ctx: &mut Context<Self>) {
        let candidacy = Leadership { leader: self.me, counter };
        if self.phase != Phase::AwaitVotes || self.voted != Some(candidacy) {
            return ctx.because(&why::LATE_VOTE, ());
        }
        self.votes.insert(voter);
        ctx.because(&why::COUNTS, (self.votes.len(), self.needed()));
        if self.is_majority(self.votes.len()) {
            ctx.cancel_timer(Timer::Answer);
            self.lead(counter, ctx);
        }
    }

    /// Too few votes in time: tries again after a while, if a majority can be alive at all.
    pub(super) fn on_votes_missing(&mut self, ctx: &mut Context<Self>) {
        if self.can_win() {
            ctx.because(&why::TOO_FEW_VOTES, (self.votes.len(), self.needed()));
            self.phase = Phase::BackingOff;
            let round_trip = self.setup.round_trip();
            let after = Delay::between(round_trip, Ticks(round_trip.0 * 4));
            ctx.set_timer(Timer::BackOff, after);
        } else {
            ctx.because(&why::NO_MAJORITY, (self.suspects.len(), self.n()));
            self.phase = Phase::Idle; // Until somebody is trusted again.
        }
    }

    pub(super) fn on_back_off(&mut self, ctx: &mut Context<Self>) {
        if self.phase == Phase::BackingOff {
            self.phase = Phase::Idle;
            self.try_again(ctx);
        } else {
            ctx.because(&why::SETTLED, ());
        }
    }

    /// Holds an election if nobody leads and a majority is in touch again.
    pub(super) fn try_again(&mut self, ctx: &mut Context<Self>) {
        let nobody = self.elected.is_none_or(|elected| self.suspects.contains(elected.leader));
        if self.setup.by_majority && nobody && self.phase == Phase::Idle {
            ctx.because(&why::TRIES_AGAIN, ());
            self.begin(ctx);
        }
    }

    /// A leader that lost its majority must expect that another is elected.
    pub(super) fn step_down_if_alone(&mut self, ctx: &mut Context<Self>) {
        if self.can_win() {
            return;
        }
        if let Some(led) = self.elected.filter(|_| self.leads()) {
            ctx.because(&why::STEPS_DOWN, (self.suspects.len(), self.n()));
            self.elected = None;
            ctx.cancel_timer(Timer::Recheck);
            self.returned.clear();
            ctx.indicate(Indication::Deposed { term: self.term(led) });
        }
    }

    /// Who is better: the leader that this node knows and trusts, or this node itself.
    fn better_known(&self, candidate: NodeId) -> Option<NodeId> {
        let trusted = self.elected.filter(|elected| !self.suspects.contains(elected.leader));
        let leader = trusted.map(|elected| elected.leader);
        let known = leader.into_iter().chain([self.me]);
        known.into_iter().find(|&known| self.setup.ranking.beats(known, candidate))
    }

    /// Whether there can be enough votes for anybody.
    pub(super) fn can_win(&self) -> bool {
        !self.setup.by_majority || self.is_majority(self.n() - self.suspects.len())
    }

    fn is_majority(&self, nodes: u32) -> bool {
        nodes >= self.needed()
    }

    /// How many are more than half.
    fn needed(&self) -> u32 {
        self.n() / 2 + 1
    }
}
