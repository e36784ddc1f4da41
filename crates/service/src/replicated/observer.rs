//! The observer of the log: as this node applies it, whoever waits is told, and what happens is
//! noted for people and for monitoring.

use super::audited::Audited;
use super::events::Journal;
use super::metrics::EngineMetrics;
use super::stream::Streams;
use super::waits::Waits;
use conclave_replica::{Entry, Observer};
use conclave_table::{LeaseTime, Notice, Resource, Table};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;
use tokio::sync::Notify;

/// Sees every entry of the log.
pub struct Watcher {
    pub waits: Arc<Waits>,
    pub journal: Arc<Journal>,
    pub metrics: Arc<EngineMetrics>,
    pub pace: Arc<Pace>,
    pub streams: Arc<Streams>,
    pub audited: Option<Audited>,
    /// Somebody else who wants to see them.
    pub auditor: Option<Box<dyn Observer>>,
}

impl Observer for Watcher {
    fn applied(&mut self, entry: &Entry<'_>) {
        let notices = &entry.applied.notices;
        self.waits.tell(notices);
        self.streams.tell(notices);
        self.pace.entry(entry);
        self.metrics.applied(entry);
        self.journal.applied(entry);
        if let Some(audited) = &mut self.audited {
            audited.applied(entry);
        }
        if let Some(auditor) = &mut self.auditor {
            auditor.applied(entry);
        }
    }

    fn installed(&mut self, table: &Table) {
        self.pace.installed(table);
        if let Some(audited) = &mut self.audited {
            audited.installed(table.index());
        }
        self.waits.ask_again();
        self.streams.ask_again();
        if let Some(auditor) = &mut self.auditor {
            auditor.installed(table);
        }
    }
}

/// How far this node has come, and how long locks are usually held.
#[derive(Debug)]
pub struct Pace {
    began: Instant,
    index: AtomicU64,
    /// When the latest entry was applied, in milliseconds since the beginning.
    latest_ms: AtomicU64,
    moved: Notify,
    /// For locks that somebody waits for: how long they were held lately, in milliseconds.
    held_ms: Mutex<HashMap<Resource, u64>>,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            began: Instant::now(),
            index: AtomicU64::new(0),
            latest_ms: AtomicU64::new(0),
            moved: Notify::new(),
            held_ms: Mutex::default(),
        }
    }
}

impl Pace {
    fn entry(&self, entry: &Entry<'_>) {
        for ended in entry.applied.notices.iter().filter_map(Notice::ended) {
            self.held(&ended.resource, ended.held_ms, entry.table.is_used(&ended.resource));
        }
        self.reached(entry.index);
    }

    fn installed(&self, table: &Table) {
        self.times().clear();
        self.reached(table.index());
    }

    fn reached(&self, index: u64) {
        self.latest_ms.store(self.began.elapsed().as_millis() as u64, Ordering::Relaxed);
        self.index.store(index, Ordering::Release);
        self.moved.notify_waiters();
    }

    /// Waits until this node's table has come so far.
    pub async fn until(&self, index: u64) {
        loop {
            let moved = self.moved.notified();
            if self.index.load(Ordering::Acquire) >= index {
                return;
            }
            moved.await;
        }
    }

    /// The lease clock now, as far as it can be told: it went on since the latest entry.
    pub fn now(&self, table: &Table) -> LeaseTime {
        let began = self.latest_ms.load(Ordering::Relaxed);
        table.now().after((self.began.elapsed().as_millis() as u64).saturating_sub(began))
    }

    /// How long it takes for this place in line to be let in, if all before hold it as was usual.
    pub fn estimate(&self, resource: &Resource, position: u32) -> Option<u64> {
        let usual = *self.times().get(resource)?;
        Some(usual.saturating_mul(u64::from(position)))
    }

    /// A hold has ended. A lock that is free now needs no estimate.
    fn held(&self, resource: &Resource, held_ms: u64, is_used: bool) {
        let mut times = self.times();
        match times.get_mut(resource) {
            Some(usual) if is_used => *usual = (*usual * 3 + held_ms) / 4,
            Some(_) => drop(times.remove(resource)),
            None if is_used => drop(times.insert(resource.clone(), held_ms)),
            None => {}
        }
    }

    fn times(&self) -> std::sync::MutexGuard<'_, HashMap<Resource, u64>> {
        self.held_ms.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_estimate_follows_how_long_a_lock_was_held_and_is_forgotten_with_it() {
        let pace = Pace::default();
        let lock = Resource::lock("a");
        assert_eq!(pace.estimate(&lock, 1), None);
        pace.held(&lock, 100, true);
        assert_eq!(pace.estimate(&lock, 3), Some(300));
        pace.held(&lock, 500, true);
        assert_eq!(pace.estimate(&lock, 1), Some(200));
        pace.held(&lock, 500, false);
        assert_eq!(pace.estimate(&lock, 1), None);
    }

    #[tokio::test]
    async fn whoever_waits_for_an_index_goes_on_when_it_is_reached() {
        let pace = Arc::new(Pace::default());
        let waits = tokio::spawn({
            let pace = Arc::clone(&pace);
            async move { pace.until(7).await }
        });
        pace.reached(7);
        waits.await.expect("it went on");
    }
}
