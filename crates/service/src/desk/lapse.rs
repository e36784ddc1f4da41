//! Holds that lapse: where an algorithm lends its locks, others may go on without a holder that is
//! not heard of. The algorithm cannot throw it out, and assumes that it leaves within half a lease;
//! the desk sees to it.
//!
//! Whoever has lost a lock finds out with its next keepalive, and gets no more time until it has
//! given it back. Only then, or when its session ends, is the lock free for others of this node.

use super::Desk;
use conclave_core::Ticks;
use conclave_net::Hands;

impl Desk {
    /// Looks at the clock. While there is a hold it is looked at every [`super::limits::TICK`], so
    /// a longer pause means that this node was stopped, or its disk was.
    pub(super) fn look(&mut self, hands: &mut dyn Hands) {
        let unseen = self.clock.advance(hands.now());
        if self.config.lease.is_some_and(|lease| unseen > Ticks(lease.0 / 2)) {
            self.lapse("this node was stopped for too long", hands);
        }
    }

    /// Whether a lock can be lent, and not be lost again at once.
    pub(super) fn may_lend(&self, hands: &dyn Hands) -> bool {
        self.config.lease.is_none() || !self.is_cut_off(hands)
    }

    /// Who is out of touch with a majority may have been replaced by now.
    pub(super) fn lapse_when_cut_off(&mut self, hands: &mut dyn Hands) {
        if !self.may_lend(hands) {
            self.lapse("this node is out of touch with a majority", hands);
        }
    }

    fn lapse(&mut self, why: &str, hands: &mut dyn Hands) {
        for (name, lock) in &mut self.locks {
            let Some(holder) = lock.line.holder.as_mut().filter(|holder| !holder.lapsed) else {
                continue;
            };
            holder.lapsed = true;
            let session = self.sessions.get(&holder.session);
            let label = session.map_or("", |session| &session.record.label);
            let words = format!("'{label}' has lost it: {why}");
            tracing::warn!(lock = name, fence = holder.fence, "{words}");
            self.journal.note(hands, "lost", Some(name), words);
        }
    }
}
