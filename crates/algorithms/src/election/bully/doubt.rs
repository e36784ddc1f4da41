//! Second looks: at better nodes that may be alive after all, and at a leader that is suspected.

use super::{Bully, why};
use conclave_core::Context;

impl Bully {
    /// A better node that is alive after all will not stand for a worse leader. If there is none,
    /// those that came back should know who leads.
    pub(super) fn on_recheck(&mut self, ctx: &mut Context<Self>) {
        if !self.leads() {
            self.returned.clear();
            return ctx.because(&why::SETTLED, ());
        }
        let mut outranked = false;
        for better in self.setup.ranking.better_than(self.me) {
            if !self.suspects.contains(better) {
                outranked = true;
                ctx.because(&why::CHALLENGES, better);
                self.tell(better, ctx);
            }
        }
        if !outranked {
            ctx.because(&why::NOBODY_CHALLENGED, &self.returned);
        }
        for node in self.returned.iter().filter(|_| !outranked) {
            self.tell(node, ctx);
        }
        self.returned.clear();
    }

    pub(super) fn on_doubt(&mut self, ctx: &mut Context<Self>) {
        let suspected = self.elected.filter(|elected| self.suspects.contains(elected.leader));
        if let Some(elected) = suspected {
            ctx.because(&why::DOUBTS, elected.leader);
            self.doubted = true; // Whatever comes now was said after the suspicion.
            self.begin(ctx);
        } else {
            ctx.because(&why::TRUSTED_AGAIN, ());
        }
    }
}
