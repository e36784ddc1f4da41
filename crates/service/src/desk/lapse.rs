//! Holds that lapse: where an algorithm lends its locks, others may go on without a holder that is
//! not heard of. The algorithm cannot throw it out, and assumes that it leaves within half a lease;
//! the desk sees to it.

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

    /// Who is out of touch with a majority may have been replaced by now.
    pub(super) fn lapse_when_cut_off(&mut self, hands: &mut dyn Hands) {
        if self.config.lease.is_some() && self.is_cut_off(hands) {
            self.lapse("this node is out of touch with a majority", hands);
        }
    }

    fn lapse(&mut self, why: &str, hands: &mut dyn Hands) {
        let held = self.locks.iter().filter(|(_, lock)| lock.line.holder.is_some());
        let held: Vec<String> = held.map(|(name, _)| name.clone()).collect();
        for name in held {
            let Some(lock) = self.locks.get_mut(&name) else { continue };
            let Some(holder) = lock.line.holder.take() else { continue };
            let words = format!("'{}' has lost it: {why}", self.label(&holder.session));
            tracing::warn!(lock = name, fence = holder.fence, "{words}");
            self.journal.note(hands, "released", Some(&name), words);
            self.settle(&name, hands);
        }
    }
}
