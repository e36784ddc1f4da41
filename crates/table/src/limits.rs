//! Limits and quotas. They are part of the replicated state: were they a setting of each node, two
//! nodes could apply the same entry differently.

use serde::{Deserialize, Serialize};

/// How much there may be.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Limits {
    /// Sessions.
    pub sessions: u32,
    /// Locks and elections that somebody holds or waits for.
    pub names: u32,
    /// Of these, with the same first segment.
    pub names_of_prefix: u32,
    /// Requests that wait.
    pub waiters: u32,
    /// Of these, for one lock.
    pub waiters_of_lock: u32,
    /// Requests of one session that wait or hold.
    pub requests_of_session: u32,
    /// Requests of one session whose answers its client may still ask for.
    pub open_of_session: u32,
    /// What those of all sessions together take, in bytes. What gives something back has twice the
    /// room.
    pub answers_bytes: u64,
    /// Values.
    pub values: u32,
    /// Their names and contents together, in bytes.
    pub values_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            sessions: 100_000,
            names: 1_000_000,
            names_of_prefix: 200_000,
            waiters: 100_000,
            waiters_of_lock: 10_000,
            requests_of_session: 10_000,
            open_of_session: 1_024,
            answers_bytes: 256 << 20,
            values: 100_000,
            values_bytes: 64 << 20,
        }
    }
}
