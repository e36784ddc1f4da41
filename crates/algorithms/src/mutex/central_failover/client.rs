//! The client: what it answers a coordinator, and when it enters.

use super::{CentralFailover, Epoch, Message, Mode, NO_PLACE, Status, Timer, why};
use conclave_core::mutex::Indication;
use conclave_core::{Context, NodeId};

/// What a grant says.
pub(super) struct Grant {
    pub(super) epoch: Epoch,
    pub(super) seq: u32,
    pub(super) beat: u32,
    pub(super) fence: u64,
}

impl CentralFailover {
    pub(super) fn on_new_coord(
        &mut self,
        from: NodeId,
        epoch: Epoch,
        known: u32,
        over: u32,
        ctx: &mut Context<Self>,
    ) {
        if epoch < self.epoch || self.coordinator.is_some() {
            ctx.because(&why::REFUSED, (from, epoch, self.epoch));
            return ctx.send(from, Message::Stale { epoch: self.epoch });
        }
        ctx.because(&why::REPORTED, (from, epoch));
        self.epoch = epoch;
        self.coordinated_by = from;
        // What was asked for before a restart is over; so is what a coordinator gave up on.
        let over = if self.joined { over } else { known };
        self.joined = true;
        if self.seq <= over {
            self.seq = over + u32::from(self.status == Status::Waiting);
            self.ticket = None;
        }
        self.beat += 1; // A sign of life like any other, and the timer starts anew.
        let number = match self.status {
            Status::Waiting => self.ticket.unwrap_or(NO_PLACE),
            Status::Idle | Status::Inside => self.fence,
        };
        let Self { seq, beat, status, .. } = *self;
        ctx.send(from, Message::State { epoch, seq, beat, status, number });
        self.keep_beating(ctx);
    }

    pub(super) fn on_queued(&mut self, seq: u32, ticket: u64, ctx: &mut Context<Self>) {
        if self.status == Status::Waiting && seq == self.seq {
            ctx.because(&why::TOLD_PLACE, ());
            self.ticket = Some(ticket);
            if self.setup.mode != Mode::Lease && self.follows_leader() {
                ctx.cancel_timer(Timer::Beat); // Nothing is left to be said.
            }
        } else {
            ctx.because(&why::TOLD_PLACE_LATE, seq); // That request is over.
        }
    }

    pub(super) fn on_ping(
        &mut self,
        from: NodeId,
        epoch: Epoch,
        seq: u32,
        ctx: &mut Context<Self>,
    ) {
        if epoch < self.epoch {
            ctx.because(&why::REFUSED, (from, epoch, self.epoch));
            return ctx.send(from, Message::Stale { epoch: self.epoch });
        }
        let answer = match self.status {
            Status::Inside if seq == self.seq => {
                ctx.because(&why::ALIVE, from);
                Message::Pong { epoch, seq }
            }
            // The grant was lost: a sign of life will bring another.
            Status::Waiting if seq == self.seq => {
                ctx.because(&why::GRANT_LOST, from);
                Message::Keepalive { epoch, seq, beat: self.beat }
            }
            Status::Idle | Status::Waiting | Status::Inside => {
                ctx.because(&why::GAVE_BACK, seq);
                Message::Release { epoch, seq }
            }
        };
        ctx.send(from, answer);
    }

    pub(super) fn on_grant(&mut self, from: NodeId, grant: Grant, ctx: &mut Context<Self>) {
        let Grant { epoch, seq, beat, fence } = grant;
        match self.status {
            Status::Waiting if seq == self.seq && self.joined => {
                if self.setup.mode == Mode::Lease && self.beat > beat {
                    // More than half a lease may have passed since that beat: is it still ours?
                    ctx.because(&why::TOO_OLD, from);
                    let beat = self.beat;
                    return ctx.send(from, Message::Keepalive { epoch, seq, beat });
                }
                ctx.because(&why::ENTERED, (from, fence));
                self.epoch = epoch;
                self.coordinated_by = from;
                self.status = Status::Inside;
                self.fence = fence;
                ctx.cancel_timer(Timer::Beat);
                ctx.indicate(Indication::Entered { fence });
            }
            // The second copy of a grant in use.
            Status::Inside if seq == self.seq => ctx.because(&why::GRANTED_BEFORE, fence),
            // It answers a request that is over: the coordinator must not wait for us.
            Status::Idle | Status::Waiting | Status::Inside => {
                ctx.because(&why::GAVE_BACK, seq);
                ctx.send(from, Message::Release { epoch, seq });
            }
        }
    }
}
