//! Holds that lapse: where an algorithm lends its locks, others may go on without a holder that is
//! not heard of. The algorithm cannot throw it out, and assumes that it leaves within half a lease;
//! the desk sees to it.
//!
//! Whoever has lost a lock finds out with its next keepalive, and gets no more time until it has
//! given it back. Only then, or when its session ends, is the lock free for others of this node.
//!
//! A node that was stopped for a while does not know what the others did meanwhile. Until it has
//! run for as long as it takes to notice that it is cut off, it lends nothing, and gives nobody
//! more time than it would have given before the stop.

use super::Desk;
use super::timing::STALL_MAX;
use conclave_core::Ticks;
use conclave_net::Hands;

/// A time in which this node did nothing, or too little to notice anything.
#[derive(Clone, Copy, Debug)]
pub struct Stop {
    began: Ticks,
    ended: Ticks,
}

impl Desk {
    /// Looks at the clock. While anything depends on it, it is looked at every
    /// [`super::timing::TICK`], so a longer pause means that this node was stopped, or its disk.
    pub(super) fn look(&mut self, hands: &mut dyn Hands) {
        let now = hands.now();
        let unseen = self.clock.advance(now);
        if self.ticks && unseen > STALL_MAX {
            let began = self.stopped_since(Ticks(now.0 - unseen.0));
            self.stop = Some(Stop { began: began.unwrap_or(Ticks(now.0 - unseen.0)), ended: now });
            self.due(self.clock.now() + self.config.notice);
        }
        if self.config.lease.is_some_and(|lease| unseen > Ticks(lease.0 / 2)) {
            self.lapse("this node was stopped for too long", hands);
        }
    }

    /// Since when this node has been stopped, on and off, if it would not have noticed yet that it
    /// is cut off.
    pub(super) fn stopped_since(&self, now: Ticks) -> Option<Ticks> {
        let Stop { began, ended } = self.stop?;
        (now < ended + self.config.notice).then_some(began)
    }

    /// Whether a lock can be lent, and not be lost again at once.
    pub(super) fn may_lend(&self, hands: &dyn Hands) -> bool {
        let in_touch = || !self.is_cut_off(hands) && self.stopped_since(hands.now()).is_none();
        self.config.lease.is_none() || in_touch()
    }

    /// Who is out of touch with a majority may have been replaced by now.
    pub(super) fn lapse_when_cut_off(&mut self, hands: &mut dyn Hands) {
        if self.config.lease.is_some() && self.is_cut_off(hands) {
            self.lapse("this node is out of touch with a majority", hands);
        }
    }

    fn lapse(&mut self, why: &str, hands: &mut dyn Hands) {
        for (name, lock) in &mut self.locks {
            let Some(holder) = lock.line.holder.as_mut().filter(|holder| !holder.lapsed) else {
                continue;
            };
            holder.lapsed = true;
            self.lapsed.insert(name.clone());
            let session = self.sessions.get(&holder.session);
            let label = session.map_or("", |session| &session.record.label);
            let words = format!("'{label}' has lost it: {why}");
            tracing::warn!(lock = name, fence = holder.fence, "{words}");
            self.journal.note(hands, "lost", Some(name), words);
        }
    }
}
