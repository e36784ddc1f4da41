//! Rate-limited warnings: those that a peer or a client can cause at will, one line per second.

use conclave_core::Ticks;
use std::fmt::Display;

const PAUSE: Ticks = Ticks(1_000_000);

/// So much of a name that somebody else chose is shown.
const NAME_MAX: usize = 80;

/// The name of a machine, in quotes and fit for one line.
pub(super) fn named(key: &str) -> String {
    let shown: String = key.chars().take(NAME_MAX).collect();
    let rest = if shown.len() < key.len() { "…" } else { "" };
    format!("{shown:?}{rest}")
}

#[derive(Default)]
pub(super) struct RateLimitedWarnings {
    next: Ticks,
    unsaid: u64,
}

impl RateLimitedWarnings {
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

#[cfg(test)]
mod tests {
    use super::named;

    #[test]
    fn a_name_of_somebody_else_is_one_short_line() {
        assert_eq!(named("lock/a"), "\"lock/a\"");
        assert_eq!(named("a\nforged"), "\"a\\nforged\"");
        assert_eq!(named(&"x".repeat(500)), format!("\"{}\"…", "x".repeat(80)));
    }
}
