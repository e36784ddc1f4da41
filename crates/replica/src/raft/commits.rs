//! Commits ride along (piggybacking): that entries are committed is told to a follower with the
//! next entries, if these come soon.
//!
//! The consensus engine tells a commit by a message without entries as soon as nothing else is to
//! be sent, and sends no entries until that is answered. Under load there would be two messages for
//! each entry, and the next entry would wait for the answer to the one that tells of the last.
//! Nobody who waits for an answer waits for a follower to learn of a commit.

use crate::raft_types::TypeConfig;
use futures_util::stream::{Stream, StreamExt, unfold};
use openraft::raft::AppendEntriesRequest;
use std::pin::Pin;
use std::time::Duration;
use tokio::task::yield_now;
use tokio::time::{Instant, timeout_at};

/// How long a commit waits for company.
const PATIENCE: Duration = Duration::from_millis(10);

type Request = AppendEntriesRequest<TypeConfig>;

/// The same requests without those that the next one makes superfluous. The answer to that one is
/// an answer to both: it is about the same log, and was asked for later. The last one of a stream
/// (a heartbeat, a probe) does not wait.
pub fn gathered<S>(input: S) -> Pin<Box<dyn Stream<Item = Request> + Send>>
where
    S: Stream<Item = Request> + Send + Unpin + 'static,
{
    Box::pin(unfold(input.fuse(), |mut input| async move {
        // All that is about to be proposed comes first: it goes with the same request, which takes
        // what is in the log when it is made.
        yield_now().await;
        let mut request = input.next().await?;
        let until = Instant::now() + PATIENCE;
        while request.entries.is_empty() {
            match timeout_at(until, input.next()).await {
                Ok(Some(next)) => request = next,
                Ok(None) | Err(_) => break,
            }
        }
        Some((request, input))
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::raft::{LogId, Vote};
    use crate::raft_types::Stamped;
    use conclave_table::{Change, LeaseTime};
    use futures_util::stream::iter;
    use openraft::EntryPayload;
    use openraft::entry::RaftEntry;
    use openraft::type_config::alias::EntryOf;
    use openraft::vote::RaftLeaderId;

    fn log_id(index: u64) -> LogId {
        let leader = <TypeConfig as openraft::RaftTypeConfig>::LeaderId::new(3, 1);
        LogId::new(leader.to_committed(), index)
    }

    /// A request that tells of a commit, and has an entry or none.
    fn request(entry: Option<u64>, committed: u64) -> Request {
        let stamped = Stamped { lease_time: LeaseTime(9), change: Change::Tick };
        let payload = EntryPayload::Normal(stamped);
        let entry = entry.map(|index| EntryOf::<TypeConfig>::new(log_id(index), payload));
        Request {
            vote: Vote::new_committed(3, 1),
            prev_log_id: None,
            entries: entry.into_iter().collect(),
            leader_commit: Some(log_id(committed)),
        }
    }

    async fn sent(input: impl Stream<Item = Request> + Send + 'static) -> Vec<(usize, u64)> {
        let told = |request: Request| {
            let committed = request.leader_commit.map_or(0, |id| id.index);
            (request.entries.len(), committed)
        };
        gathered(Box::pin(input)).map(told).collect().await
    }

    #[tokio::test]
    async fn a_commit_goes_with_the_entries_that_follow() {
        let all = [request(Some(1), 0), request(None, 1), request(Some(2), 1), request(None, 2)];
        assert_eq!(sent(iter(all)).await, [(1, 0), (1, 1), (0, 2)]);
    }

    #[tokio::test]
    async fn a_commit_that_nothing_follows_is_told_all_the_same() {
        let idle = iter([request(None, 1)]).chain(futures_util::stream::pending());
        let told = gathered(Box::pin(idle)).next().await;
        assert_eq!(told.map(|request| request.entries.len()), Some(0));
    }
}
