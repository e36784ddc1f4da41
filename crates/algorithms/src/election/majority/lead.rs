//! How a leader shows itself, and how it notices that it has lost its majority (rule R7).
//!
//! A leader goes on only until `timeout` after it sent the last heartbeat that a majority answered.
//! It reads no clock: it counts its heartbeats, which are `heartbeat` apart.

use super::{Majority, Message, Role, Timer, why};
use conclave_core::{Context, Delay, NodeId, Ticks};

impl Majority {
    /// The first heartbeat of a term.
    pub(super) fn show_itself(&mut self, ctx: &mut Context<Self>) {
        self.number = 0;
        // A vote was given before this heartbeat was sent, and answers at most the one before.
        self.answered = vec![0; self.setup.n as usize];
        self.beat(ctx);
    }

    pub(super) fn on_heartbeat_time(&mut self, ctx: &mut Context<Self>) {
        // Who leads no longer has stopped this timer.
        if self.role == Role::Leader {
            self.beat(ctx);
        }
    }

    fn beat(&mut self, ctx: &mut Context<Self>) {
        self.number += 1;
        if self.setup.n == 1 {
            return ctx.because(&why::ALONE, ());
        }
        ctx.because(&why::BEATS, self.number);
        for other in self.me.others(self.setup.n) {
            ctx.send(other, Message::Heartbeat { term: self.term, number: self.number });
        }
        ctx.set_timer(Timer::Heartbeat, Delay::exactly(self.setup.heartbeat));
        if let Some(left) = self.left_before_next_beat() {
            ctx.because(&why::MAY_LOSE, left);
            ctx.set_timer(Timer::Quorum, Delay::exactly(left));
        }
    }

    pub(super) fn on_heartbeat_ack(&mut self, from: NodeId, number: u32, ctx: &mut Context<Self>) {
        if self.role != Role::Leader || number > self.number {
            return ctx.because(&why::NEVER_SENT, ());
        }
        ctx.because(&why::ANSWERED, (from, number));
        let short = self.left_before_next_beat().is_some();
        let answered = &mut self.answered[from.index()];
        *answered = number.max(*answered);
        if short && self.left_before_next_beat().is_none() {
            ctx.because(&why::MAJORITY_ANSWERS, ());
            ctx.cancel_timer(Timer::Quorum);
        }
    }

    pub(super) fn on_quorum_time(&mut self, ctx: &mut Context<Self>) {
        ctx.because(&why::LOST_MAJORITY, ());
        self.step_down(ctx);
    }

    /// How long after the last heartbeat was sent this node must step down, if that is before it
    /// sends another.
    fn left_before_next_beat(&self) -> Option<Ticks> {
        let unanswered = u64::from(self.number - self.answered_by_majority());
        let left = self.setup.timeout.since(Ticks(unanswered * self.setup.heartbeat.0));
        (left < self.setup.heartbeat).then_some(left)
    }

    /// The last heartbeat that a majority answered, this node included.
    fn answered_by_majority(&self) -> u32 {
        let mut others: Vec<u32> = self.answered.clone();
        others[self.me.index()] = self.number;
        others.sort_unstable_by(|a, b| b.cmp(a));
        others[self.setup.n as usize / 2].min(self.number)
    }
}
