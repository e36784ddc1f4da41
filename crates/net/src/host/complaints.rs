//! Warnings that a peer or a client can cause at will: one line per second at most.

use conclave_core::Ticks;
use std::fmt::Display;

const PAUSE: Ticks = Ticks(1_000_000);

#[derive(Default)]
pub(super) struct Complaints {
    next: Ticks,
    unsaid: u64,
}

impl Complaints {
    pub(super) fn say(&mut self, now: Ticks, what: impl Display) {
        if now < self.next {
            self.unsaid += 1;
            return;
        }
        match std::mem::take(&mut self.unsaid) {
            0 => tracing::warn!("{what}"),
            unsaid => tracing::warn!("{what} (and {unsaid} more warnings like this)"),
        }
        self.next = now + PAUSE;
    }
}
