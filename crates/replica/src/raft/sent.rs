//! What was sent to a follower, for its answer to be compared with.

use super::{LogId, Vote};
use crate::raft_types::TypeConfig;
use openraft::raft::AppendEntriesRequest;

/// What an answer to entries is compared with.
pub struct Sent {
    /// By which leader they were sent.
    pub vote: Vote,
    /// The entry before those that were sent.
    pub previous: Option<u64>,
    /// The last of them.
    pub last: Option<u64>,
    /// The last that is committed.
    pub committed: Option<u64>,
    /// What the other side had acknowledged when they were sent.
    pub acknowledged: Option<u64>,
}

impl Sent {
    /// Of a request; the other side had acknowledged so much before.
    pub fn of(request: &AppendEntriesRequest<TypeConfig>, acknowledged: Option<u64>) -> Self {
        let index = |id: &LogId| id.index;
        let previous = request.prev_log_id.as_ref().map(index);
        let last = request.entries.last().map(|entry| entry.log_id.index).or(previous);
        let committed = request.leader_commit.as_ref().map(index);
        Self { vote: request.vote, previous, last, committed, acknowledged }
    }
}
