//! Pre-vote (`prevote=on`): a node raises its term only when a majority would vote for it.
//!
//! Whoever waited for a leader in vain first asks the others whether they would vote for it in the
//! next term, and stands when a majority says yes. Neither side changes its term or its vote, so
//! there is nothing to write to a disk, and a pre-vote binds nobody: what is safe rests on the
//! votes alone.
//!
//! A node says no while it leads, and for `timeout` after each heartbeat that it hears, unless it
//! is called upon to campaign. There is only the election timer to tell. A heartbeat sets it to
//! `timeout`; when it fires, the node has become a doubter, who says yes. It is then set to a part
//! of `timeout` by chance, after which the doubter asks. So nobody waits for longer than without
//! pre-votes before it asks, and a node that is cut off from the leader alone asks for ever, in the
//! same term, and the leader stays. Whoever is called upon to campaign asks at once, but stands
//! only when a majority has missed the leader for as long as that.
//!
//! - A leader that is cut off steps down, as without pre-votes. It then asks in vain, and follows
//!   when it is back: its term is not greater than that of the others.
//! - A crashed leader is replaced when a majority has missed it for `timeout`. Whoever asked too
//!   early asks again, and those who doubt later ask later, so somebody asks with success.
//! - A yes that is late counts if it is for the same term, even if the node has asked again since.
//!   At worst it stands without need, once. One for a past term, or to a node that has heard of a
//!   leader meanwhile, is ignored.
//! - When all ask at once, all get a yes from everybody and all stand. Pre-votes do not keep votes
//!   from being split: the random timers do, as before.
//! - A node that came back follows nobody yet and says yes. Until it hears a heartbeat, a node that
//!   is cut off may be elected by its help; then nobody doubts the new leader.
//! - A no carries the term of the voter: whoever has fallen behind catches up, and asks for the one
//!   after it.
//! - Who may not lead has an election timer as well, and doubts, but does not ask.

#[cfg(test)]
mod tests;

use super::{Majority, Message, Role, Timer, why};
use conclave_core::{Context, Delay, NodeId, Ticks};

impl Majority {
    /// No heartbeat for `timeout`.
    pub(super) fn doubt(&mut self, ctx: &mut Context<Self>) {
        ctx.because(&why::DOUBTS, self.setup.timeout);
        self.role = Role::Doubter;
        if self.candidate {
            let latest = self.setup.timeout.since(Ticks(1));
            ctx.set_timer(Timer::Election, Delay::between(Ticks::ZERO, latest));
        }
    }

    /// Asks who would vote for it.
    pub(super) fn ask_first(&mut self, ctx: &mut Context<Self>) {
        ctx.because(&why::ASKS_FIRST, (self.term + 1, self.term));
        self.role = Role::Asker;
        self.votes.clear();
        for other in self.me.others(self.setup.n) {
            ctx.send(other, Message::RequestPreVote { term: self.term + 1 });
        }
        self.wait_for_leader(ctx);
        self.count_pre_vote(self.me, ctx);
    }

    pub(super) fn on_request_pre_vote(&self, from: NodeId, term: u64, ctx: &mut Context<Self>) {
        let granted = term > self.term && !self.hears_of_leader();
        if granted {
            ctx.because(&why::PRE_VOTES, (from, term));
        } else if term <= self.term {
            ctx.because(&why::PRE_VOTE_BEHIND, (from, term, self.term));
        } else {
            ctx.because(&why::HEARS_LEADER, (from, self.term));
        }
        let term = if granted { term } else { self.term };
        ctx.send(from, Message::PreVote { term, granted });
    }

    pub(super) fn count_pre_vote(&mut self, voter: NodeId, ctx: &mut Context<Self>) {
        if self.role != Role::Asker {
            return ctx.because(&why::LATE_PRE_VOTE, ()); // It stands, or has heard of a leader.
        }
        self.votes.insert(voter);
        if self.setup.is_majority(self.votes.len()) {
            ctx.because(&why::PRE_ELECTED, self.votes.len());
            self.stand(ctx);
        } else {
            ctx.because(&why::PRE_COUNTS, (self.votes.len(), self.setup.majority()));
        }
    }

    fn hears_of_leader(&self) -> bool {
        match self.role {
            Role::Leader => true,
            Role::Follower => self.leader.is_some(),
            Role::Doubter | Role::Asker | Role::Candidate => false,
        }
    }
}
