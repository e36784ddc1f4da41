//! The log storage of the consensus engine: its traits, on top of the write-ahead log.

use super::error::DiskError;
use super::hands::{self, Hands};
use super::record::{LogEntry, LogId, Vote, encode_entry, lease_of};
use super::window::Hit;
use super::writer::{Answer, Command, Encoded, Shared};
use crate::raft_types::TypeConfig;
use openraft::storage::{IOFlushed, LogState, RaftLogReader, RaftLogStorage};
use openraft::{OptionalSend, RaftTypeConfig};
use std::fmt::Debug;
use std::io;
use std::ops::RangeBounds;
use std::sync::Arc;
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::oneshot;

/// What goes to another node in one message, at most.
const READ_BYTES: usize = 1 << 20;

/// The log of this node. All copies are the same log.
#[derive(Clone)]
pub struct LogStore {
    pub(super) queue: UnboundedSender<Command>,
    pub(super) shared: Shared,
    pub(super) hands: Arc<dyn Hands>,
}

impl LogStore {
    /// The largest lease clock of all entries, uncommitted ones too.
    pub fn last_lease_time(&self) -> conclave_table::LeaseTime {
        self.shared.window().lease()
    }

    /// Writes what was kept back and ends the thread that writes. Nothing can be written after it.
    pub async fn close(&self) {
        // A thread that has ended before needs not be told.
        let _ = self.ask(Command::Close).await;
    }

    async fn ask(&self, command: impl FnOnce(Answer) -> Command) -> io::Result<()> {
        let (answer, answered) = oneshot::channel();
        self.send(command(answer))?;
        answered.await.unwrap_or_else(|_| self.closed())
    }

    fn send(&self, command: Command) -> io::Result<()> {
        self.queue.send(command).or_else(|_| self.closed())
    }

    /// Why nobody writes any more.
    fn closed(&self) -> io::Result<()> {
        self.shared.failure.check()?;
        Err(DiskError::Closed.into())
    }

    async fn read<RB: RangeBounds<u64>>(
        &self,
        range: RB,
        bytes_max: usize,
    ) -> io::Result<Vec<LogEntry>> {
        let hits = self.shared.window().read(&range, bytes_max);
        let entry = |hit: Hit| match hit {
            Hit::Cached(entry) => Ok(entry),
            Hit::OnDisk(place) => place.read(),
        };
        let cached = hits.iter().all(|hit| matches!(hit, Hit::Cached(_)));
        let read: Result<Vec<LogEntry>, DiskError> = if cached {
            hits.into_iter().map(entry).collect()
        } else {
            let read = move || hits.into_iter().map(entry).collect();
            hands::work(&*self.hands, read).await?
        };
        read.map_err(|error| self.shared.failure.record(error))
    }
}

impl RaftLogReader<TypeConfig> for LogStore {
    async fn try_get_log_entries<RB: RangeBounds<u64> + Clone + Debug + OptionalSend>(
        &mut self,
        range: RB,
    ) -> Result<Vec<LogEntry>, io::Error> {
        self.read(range, usize::MAX).await
    }

    async fn read_vote(&mut self) -> Result<Option<Vote>, io::Error> {
        Ok(self.shared.window().vote)
    }

    async fn limited_get_log_entries(
        &mut self,
        start: u64,
        end: u64,
    ) -> Result<Vec<LogEntry>, io::Error> {
        self.read(start..end, READ_BYTES).await
    }
}

impl RaftLogStorage<TypeConfig> for LogStore {
    type LogReader = Self;

    async fn get_log_state(&mut self) -> Result<LogState<TypeConfig>, io::Error> {
        let window = self.shared.window();
        let last_purged_log_id = window.purged;
        Ok(LogState { last_purged_log_id, last_log_id: window.last() })
    }

    async fn get_log_reader(&mut self) -> Self {
        self.clone()
    }

    async fn save_vote(&mut self, vote: &Vote) -> Result<(), io::Error> {
        let vote = *vote;
        self.ask(|answer| Command::Vote(vote, answer)).await
    }

    async fn save_committed(&mut self, committed: Option<LogId>) -> Result<(), io::Error> {
        self.shared.window().committed = committed;
        Ok(())
    }

    async fn read_committed(&mut self) -> Result<Option<LogId>, io::Error> {
        Ok(self.shared.window().committed)
    }

    async fn append<I>(
        &mut self,
        entries: I,
        callback: IOFlushed<TypeConfig>,
    ) -> Result<(), io::Error>
    where
        I: IntoIterator<Item = <TypeConfig as RaftTypeConfig>::Entry> + OptionalSend,
        I::IntoIter: OptionalSend,
    {
        let encode = |entry: LogEntry| {
            let bytes = encode_entry(&entry);
            (entry, bytes)
        };
        let entries: Vec<(LogEntry, Vec<u8>)> = entries.into_iter().map(encode).collect();
        let mut encoded = Vec::with_capacity(entries.len());
        {
            let mut window = self.shared.window();
            for (entry, bytes) in entries {
                let id = entry.log_id;
                let lease = lease_of(&entry);
                window.push(entry, bytes.len(), None).map_err(io::Error::other)?;
                encoded.push(Encoded { id, lease, bytes });
            }
        }
        self.send(Command::Append(encoded, callback))
    }

    async fn truncate_after(&mut self, last: Option<LogId>) -> Result<(), io::Error> {
        let lease = self.shared.window().lease_at(last.as_ref().map(|id| id.index));
        self.ask(|answer| Command::Truncate(last, lease, answer)).await
    }

    async fn purge(&mut self, id: LogId) -> Result<(), io::Error> {
        let lease = self.shared.window().purge(id);
        self.send(Command::Purge(id, lease))
    }
}
