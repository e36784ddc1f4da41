//! Lease loss: a node that is cut off ends its own holds before the algorithm grants them
//! elsewhere. Where an algorithm lends its locks, others may go on without a holder that is not
//! heard of. The algorithm cannot throw it out, and assumes that it leaves within half a lease;
//! the desk sees to it.
//!
//! Whoever has lost a lock finds out with its next keepalive, and gets no more time until it has
//! given the lock back. Only then, or when its session ends, is the lock free for others of this
//! node.
//!
//! A node that was paused for a while does not know what the others did meanwhile. Until it has
//! run for as long as it takes to notice that it is cut off, it lends nothing, and gives nobody
//! more time than it would have given before the pause.

use super::Desk;
use super::audited::Held;
use super::sessions::Kind;
use super::timing::STALL_MAX;
use conclave_core::Ticks;
use conclave_net::HostContext;

impl Desk {
    /// Looks at the clock. While anything depends on it, it is looked at every `TICK`, so a longer
    /// time means that this node was paused, or its disk.
    pub(super) fn advance_clock(&mut self, host: &mut dyn HostContext) {
        let now = host.now();
        let unseen = self.timer.advance(now);
        if self.timer.is_ticking() && unseen > STALL_MAX {
            self.connectivity.note_pause(unseen, now);
            self.timer.due(self.timer.now() + self.config.notice);
        }
        if self.config.lease.is_some_and(|lease| unseen > Ticks(lease.0 / 2)) {
            self.lose_leases("this node was stopped for too long", host);
        }
    }

    /// Whether a lock can be lent, and not be lost again at once.
    pub(super) fn may_lend(&self, host: &dyn HostContext) -> bool {
        let paused = || self.connectivity.paused_since(host.now()).is_some();
        self.config.lease.is_none() || !self.connectivity.is_in_minority(host) && !paused()
    }

    /// Whether this node is in touch with the others may have changed. Whoever holds a lease at a
    /// node in a minority may have been replaced by now.
    pub(super) fn update_connectivity(&mut self, host: &mut dyn HostContext) {
        let in_touch = self.is_in_touch(host);
        self.connectivity.update(in_touch, host.now());
        if self.config.lease.is_some() && self.connectivity.is_in_minority(host) {
            self.lose_leases("this node is out of touch with a majority", host);
        }
    }

    fn lose_leases(&mut self, why: &str, host: &mut dyn HostContext) {
        for (name, holder) in self.queues.locks.lapse() {
            let label = self.sessions.label(&holder.session);
            let words = format!("'{label}' has lost it: {why}");
            tracing::warn!(lock = name, fence = holder.fence, "{words}");
            self.journal.note(host, "lost", Some(&name), words);
            let (kind, session, fence) = (Kind::Lock, &*holder.session, holder.fence);
            self.note_hold("lost", &Held { kind, name: &name, session, fence }, why, host);
        }
    }
}
