//! Numbers of the write-ahead log, for a monitoring system: kept by the thread that writes it.

use conclave_net::{Durations, Histogram};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// What the log of a node costs its disk.
#[derive(Debug)]
pub struct LogStats {
    born: Instant,
    syncs: Histogram,
    synced_bytes: AtomicU64,
    /// When the sync under way began, in microseconds since this was made; 0 if none is.
    under_way: AtomicU64,
    bytes: AtomicU64,
    segments: AtomicU64,
}

impl Default for LogStats {
    fn default() -> Self {
        Self {
            born: Instant::now(),
            syncs: Histogram::default(),
            synced_bytes: AtomicU64::default(),
            under_way: AtomicU64::default(),
            bytes: AtomicU64::default(),
            segments: AtomicU64::default(),
        }
    }
}

impl LogStats {
    /// Times a sync of so many bytes. One that fails is under way for ever: nothing is written
    /// after it.
    pub fn sync<E>(&self, bytes: u64, sync: impl FnOnce() -> Result<(), E>) -> Result<(), E> {
        let begun = Instant::now();
        let since = (begun - self.born).as_micros() as u64;
        self.under_way.store(since.max(1), Ordering::Relaxed);
        sync()?;
        self.under_way.store(0, Ordering::Relaxed);
        self.syncs.observe(begun.elapsed());
        self.synced_bytes.fetch_add(bytes, Ordering::Relaxed);
        Ok(())
    }

    /// The log has so many files now, of so many bytes together.
    pub fn files(&self, segments: usize, bytes: u64) {
        self.segments.store(segments as u64, Ordering::Relaxed);
        self.bytes.store(bytes, Ordering::Relaxed);
    }

    /// How long the syncs took.
    pub fn syncs(&self) -> Durations {
        self.syncs.read()
    }

    /// How many bytes were synced.
    pub fn synced_bytes(&self) -> u64 {
        self.synced_bytes.load(Ordering::Relaxed)
    }

    /// For how long the sync under way has been; nothing if none is.
    pub fn under_way(&self) -> Option<Duration> {
        let since = self.under_way.load(Ordering::Relaxed);
        (since > 0).then(|| self.born.elapsed().saturating_sub(Duration::from_micros(since)))
    }

    /// How many files the log has, and how many bytes they take on disk.
    pub fn size(&self) -> (u64, u64) {
        (self.segments.load(Ordering::Relaxed), self.bytes.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sync_is_under_way_until_it_is_done_and_for_ever_if_it_fails() {
        let stats = LogStats::default();
        let done: Result<(), ()> = stats.sync(7, || {
            assert!(stats.under_way().is_some());
            Ok(())
        });
        assert_eq!((done, stats.under_way()), (Ok(()), None));
        assert_eq!((stats.syncs().count, stats.synced_bytes()), (1, 7));
        assert_eq!(stats.sync(7, || Err("no")), Err("no"));
        assert!(stats.under_way().is_some());
        assert_eq!((stats.syncs().count, stats.synced_bytes()), (1, 7));
    }
}
