//! Log lines about strangers, never more than a few a second: a flood of connections is not to
//! become a flood of lines.

use std::fmt::Arguments;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

const LINES_MAX: u32 = 20;
const WINDOW: Duration = Duration::from_secs(1);

/// Counts lines.
pub(super) struct Complaints(Mutex<Count>);

struct Count {
    since: Instant,
    lines: u32,
    kept_back: u64,
}

impl Complaints {
    pub fn new() -> Self {
        Self(Mutex::new(Count { since: Instant::now(), lines: 0, kept_back: 0 }))
    }

    /// Writes this line, or counts it.
    pub fn log(&self, line: Arguments<'_>) {
        match self.admit(Instant::now()) {
            None => {}
            Some(0) => tracing::warn!("{line}"),
            Some(more) => tracing::warn!("{line} (and {more} lines like it, kept back)"),
        }
    }

    /// How many lines were kept back before this one, if this one may be written.
    fn admit(&self, now: Instant) -> Option<u64> {
        let mut count = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if now - count.since >= WINDOW {
            (count.since, count.lines) = (now, 0);
        }
        if count.lines == LINES_MAX {
            count.kept_back += 1;
            return None;
        }
        count.lines += 1;
        Some(std::mem::take(&mut count.kept_back))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_is_counted_and_told_later() {
        let complaints = Complaints::new();
        let start = Instant::now();
        let written = (0..100).filter(|_| complaints.admit(start).is_some()).count();
        assert_eq!(written, LINES_MAX as usize);
        assert_eq!(complaints.admit(start + WINDOW), Some(80));
        assert_eq!(complaints.admit(start + WINDOW), Some(0));
    }
}
