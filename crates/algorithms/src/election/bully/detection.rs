//! What the detector below says: who is suspected, and who is back (rules R1, R6, R7 and R9).

use super::{Bully, Phase, Timer, why};
use conclave_core::election::Indication;
use conclave_core::{Context, Delay, NodeId};

impl Bully {
    pub(super) fn on_suspect(&mut self, node: NodeId, ctx: &mut Context<Self>) {
        ctx.indicate(Indication::Suspect(node));
        self.suspects.insert(node);
        self.returned.remove(node);
        if self.elected.is_some_and(|elected| elected.leader == node) || self.has_hopes_in(node) {
            ctx.because(&why::LEADER_LOST, node);
            self.doubted = false;
            self.begin(ctx);
        } else {
            ctx.because(&why::NOT_MISSED, node);
        }
        self.step_down_if_alone(ctx);
    }

    pub(super) fn on_trust(&mut self, node: NodeId, ctx: &mut Context<Self>) {
        ctx.indicate(Indication::Trust(node));
        let cut_off = self.suspects.len() + 1 == self.n();
        if !self.suspects.remove(node) {
            return ctx.because(&why::NEVER_SUSPECTED, node);
        }
        let hysteresis = self.setup.hysteresis.0 > 0;
        if !self.leads() {
            ctx.because(&why::LEADER_TELLS, node);
            self.try_again(ctx);
        } else if cut_off && hysteresis {
            ctx.because(&why::WAS_CUT_OFF, ());
            self.come_back(ctx);
        } else if self.phase == Phase::Returning {
            ctx.because(&why::STILL_RETURNING, node);
        } else if hysteresis || self.setup.ranking.better_than(self.me).next().is_none() {
            ctx.because(&why::TELLS_RETURNED, node);
            self.tell(node, ctx);
        } else {
            // If a better one is back, too, it is for that one to speak first.
            ctx.because(&why::BETTER_SPEAKS_FIRST, (node, self.setup.election()));
            self.returned.insert(node);
            ctx.set_timer(Timer::Recheck, Delay::exactly(self.setup.election()));
        }
    }
}
