//! Numbers of a replica, for monitoring: what its disk costs, and when it last heard of a leader.

use crate::node::Node;
use crate::state_hashes::StateHash;
use conclave_net::Durations;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};

/// Numbers for a monitoring system, as they are now.
#[derive(Clone, Debug, PartialEq)]
pub struct Numbers {
    /// How long the syncs of the log took, since this node started.
    pub syncs: Durations,
    /// How many bytes of the log were synced since then.
    pub synced_bytes: u64,
    /// How many files the log has.
    pub log_segments: u64,
    /// How many bytes they take on disk.
    pub log_bytes: u64,
    /// The latest snapshot, if there is one.
    pub snapshot: Option<SnapshotNumbers>,
    /// The latest hash of this node's table, if one was taken since it started.
    pub state_hash: Option<StateHash>,
}

/// Of a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SnapshotNumbers {
    /// The last change that is in it.
    pub index: u64,
    /// Its length.
    pub bytes: u64,
    /// How long ago it was written, if the system knows.
    pub age: Option<Duration>,
}

/// What speaks for a replica, or against it, beside its status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Health {
    /// How long ago a leader was heard of that this node follows; nothing if none was since it
    /// started.
    pub heard: Option<Duration>,
    /// For how long the sync under way has been; nothing if none is.
    pub sync: Option<Duration>,
    /// Why nothing is written any more, if that is so.
    pub disk_failure: Option<Arc<str>>,
}

/// Reads all numbers; the disk is not asked.
pub fn numbers(node: &Node) -> Numbers {
    let stats = node.disk.log_stats();
    let (log_segments, log_bytes) = stats.size();
    let snapshot = node.disk.snapshots().latest().map(|(meta, file)| SnapshotNumbers {
        index: meta.last_log_id.map_or(0, |id| id.index),
        bytes: file.length(),
        // A clock that was set back makes it new, which it once was.
        age: file.made().map(|made| SystemTime::now().duration_since(made).unwrap_or_default()),
    });
    Numbers {
        syncs: stats.syncs(),
        synced_bytes: stats.synced_bytes(),
        log_segments,
        log_bytes,
        snapshot,
        state_hash: node.table.hashes().pop(),
    }
}

/// What speaks for this node, or against it.
pub fn health(node: &Node) -> Health {
    let disk_failure = node.disk.failure();
    Health { heard: node.last_heard.ago(), sync: node.disk.log_stats().under_way(), disk_failure }
}

/// When something was last heard of: one atomic store each time.
#[derive(Debug)]
pub struct LastHeard {
    born: Instant,
    /// In milliseconds since then, and one more; 0 for never.
    at: AtomicU64,
}

impl Default for LastHeard {
    fn default() -> Self {
        Self { born: Instant::now(), at: AtomicU64::new(0) }
    }
}

impl LastHeard {
    /// Now.
    pub fn note(&self) {
        self.at.store(self.born.elapsed().as_millis() as u64 + 1, Ordering::Relaxed);
    }

    /// How long ago.
    pub fn ago(&self) -> Option<Duration> {
        let at = self.at.load(Ordering::Relaxed).checked_sub(1)?;
        Some(self.born.elapsed().saturating_sub(Duration::from_millis(at)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_never_heard_of_is_not_heard_of_long_ago() {
        let heard = LastHeard::default();
        assert_eq!(heard.ago(), None);
        heard.note();
        assert!(heard.ago().is_some());
    }
}
