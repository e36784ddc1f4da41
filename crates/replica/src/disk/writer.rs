//! Group commit: one thread writes the log, and whatever is queued when it comes round is written
//! as one frame and synced once.
//!
//! All writes go through its queue, votes and truncations too, so that their order on disk is the
//! order in which they were asked for. After the first error nothing is written any more: what a
//! failed sync has left on disk is unknown.

use super::error::{DiskError, Failure};
use super::frame::{self, Draft};
use super::hands::Hands;
use super::record::{self, Begin, Checkpoint, FORMAT, LogId, Record, Vote};
use super::recovery::{Held, Recovered};
use super::segment::{Place, Segment};
use super::stats::LogStats;
use super::window::Window;
use crate::raft_types::TypeConfig;
use conclave_table::LeaseTime;
use openraft::storage::IOFlushed;
use std::fs::{self, File};
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;

/// A frame takes no more commands when it is as long as this.
const FRAME_BYTES: usize = 4 << 20;

/// Frames up to this length leave their memory to the next.
const BUFFER_BYTES: usize = 256 << 10;

/// An entry that is to be written.
#[derive(Debug)]
pub struct Encoded {
    /// Where it belongs.
    pub id: LogId,
    /// Its lease clock, if it has one.
    pub lease: LeaseTime,
    /// As it is written.
    pub bytes: Vec<u8>,
}

/// What it is asked to do.
pub enum Command {
    /// Write entries.
    Append(Vec<Encoded>, IOFlushed<TypeConfig>),
    /// Write a vote.
    Vote(Vote, Answer),
    /// Forget what is after this entry, or all; and the lease clock that is left.
    Truncate(Option<LogId>, LeaseTime, Answer),
    /// Forget what is up to this entry, and delete files of which nothing is left.
    Purge(LogId, LeaseTime),
    /// Write what is lazily kept back, and end.
    Close(Answer),
}

/// Tells that something is on disk.
pub type Answer = oneshot::Sender<io::Result<()>>;

/// What the thread shares with those who read.
#[derive(Clone, Debug)]
pub struct Shared {
    window: Arc<Mutex<Window>>,
    /// Why it ended, if it had to.
    pub failure: Failure,
    /// What it costs.
    pub stats: Arc<LogStats>,
}

impl Shared {
    /// The log in memory. Nobody holds this while waiting for the disk.
    pub fn window(&self) -> MutexGuard<'_, Window> {
        self.window.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where and how segments are made.
#[derive(Clone, Debug)]
pub struct Layout {
    /// The directory.
    pub directory: PathBuf,
    /// The disk that they belong to.
    pub disk: u128,
    /// How large they are.
    pub segment_bytes: u64,
    /// Who writes them.
    pub hands: Arc<dyn Hands>,
}

/// Begins to write. The lock of the directory is kept until that has ended.
pub fn start(
    layout: Layout,
    recovered: Recovered,
    failure: Failure,
    lock: File,
) -> io::Result<(UnboundedSender<Command>, Shared)> {
    let Recovered { window, checkpoint, segments, tail, frame } = recovered;
    let stats = Arc::default();
    let shared = Shared { window: Arc::new(Mutex::new(window)), failure, stats };
    let (sender, queue) = unbounded_channel();
    let hands = Arc::clone(&layout.hands);
    let writer = Writer {
        layout,
        shared: shared.clone(),
        checkpoint,
        segments,
        tail,
        frame,
        buffer: Vec::new(),
    };
    writer.measure();
    let held = Some((queue, lock));
    hands.keep_writing(LogWriter { held, writer, next: None, batch: None, closing: None })?;
    Ok((sender, shared))
}

/// The writing end of the log: waits for commands, gathers those that have come, and commits them
/// to disk together, in this order, again and again.
pub struct LogWriter {
    /// The queue and the lock of the directory, until it is closed.
    held: Option<(UnboundedReceiver<Command>, File)>,
    writer: Writer,
    /// A command that has come, and is not in a batch yet.
    next: Option<Command>,
    batch: Option<Batch>,
    closing: Option<Answer>,
}

impl LogWriter {
    /// Waits for the next command, in a thread of its own. False when there will be none.
    pub fn wait(&mut self) -> bool {
        self.next = self.held.as_mut().and_then(|(queue, _)| queue.blocking_recv());
        self.next.is_some()
    }

    /// The same, in a task.
    pub async fn ready(&mut self) -> bool {
        self.next = match &mut self.held {
            Some((queue, _)) => queue.recv().await,
            None => None,
        };
        self.next.is_some()
    }

    /// Takes all that has come into one batch.
    pub fn gather(&mut self) {
        let Some((queue, _)) = &mut self.held else { return };
        let mut batch = self.writer.begin();
        while let Some(command) = self.next.take() {
            self.closing = batch.add(command);
            let full = batch.draft.length() >= FRAME_BYTES;
            let last = full || self.closing.is_some();
            self.next = if last { None } else { queue.try_recv().ok() };
        }
        self.batch = Some(batch);
    }

    /// Writes and syncs what was gathered, and tells those who wait.
    pub fn commit(&mut self) {
        if let Some(batch) = self.batch.take() {
            self.writer.commit(batch);
        }
        if let Some(answer) = self.closing.take() {
            // Whoever asks from now on is refused, before anybody hears that it is closed.
            self.held = None;
            let _ = answer.send(Ok(()));
        }
    }
}

struct Writer {
    layout: Layout,
    shared: Shared,
    /// Everything but the entries, as it is on disk.
    checkpoint: Checkpoint,
    segments: Vec<Held>,
    tail: u64,
    frame: u64,
    /// Memory of the last frame, to be used again.
    buffer: Vec<u8>,
}

/// One frame that is being filled.
struct Batch {
    draft: Draft,
    outcome: Outcome,
}

/// What is so when a frame is on disk.
struct Outcome {
    checkpoint: Checkpoint,
    entries: Vec<Written>,
    done: Vec<Done>,
}

/// Where an entry is in its frame.
struct Written {
    index: u64,
    at: usize,
    length: u32,
}

/// Who is told.
enum Done {
    Appended(IOFlushed<TypeConfig>),
    Voted(Vote, Answer),
    Truncated(Option<u64>, Answer),
    Purged,
}

impl Done {
    fn tell(self, result: io::Result<()>) {
        match self {
            Self::Appended(callback) => callback.io_completed(result),
            Self::Voted(_, answer) | Self::Truncated(_, answer) => {
                let _ = answer.send(result);
            }
            Self::Purged => {}
        }
    }
}

impl Writer {
    fn begin(&mut self) -> Batch {
        let draft = Draft::new(std::mem::take(&mut self.buffer));
        let checkpoint = self.checkpoint.clone();
        Batch { draft, outcome: Outcome { checkpoint, entries: Vec::new(), done: Vec::new() } }
    }

    fn commit(&mut self, mut batch: Batch) {
        let committed = self.shared.window().committed;
        batch.keep_commit(committed);
        let Batch { draft, outcome } = batch;
        let written = self.shared.failure.check().and_then(|()| {
            let frame_at = self.write(draft);
            frame_at.map_err(|error| self.shared.failure.record(error))
        });
        match written {
            Ok(frame_at) => self.settle(frame_at, outcome),
            Err(error) => {
                let again = || io::Error::new(error.kind(), error.to_string());
                outcome.done.into_iter().for_each(|done| done.tell(Err(again())));
            }
        }
    }

    /// Puts a frame on disk, if there is anything in it; returns where it begins.
    fn write(&mut self, mut draft: Draft) -> Result<u64, DiskError> {
        if draft.body().len() == frame::HEADER {
            return Ok(self.tail);
        }
        let length = draft.length() as u64;
        if self.tail + length + SEAL_BYTES > self.active().size {
            self.rotate(length)?;
        }
        let segment = Arc::clone(self.active());
        let bytes = draft.finish(segment.number, self.tail, self.frame);
        let frame_at = self.tail;
        segment.write(&*self.layout.hands, &bytes, frame_at, &self.shared.stats)?;
        self.tail += bytes.len() as u64;
        self.frame += 1;
        if bytes.len() <= BUFFER_BYTES {
            self.buffer = bytes;
        }
        Ok(frame_at)
    }

    fn active(&self) -> &Arc<Segment> {
        &self.segments.last().expect("a log has a segment").segment
    }

    /// Makes the next segment, then seals this one: a sealed segment has a successor.
    fn rotate(&mut self, length: u64) -> Result<(), DiskError> {
        let active = Arc::clone(self.active());
        let begin = Begin {
            format: FORMAT,
            disk: self.layout.disk,
            segment: active.number + 1,
            checkpoint: self.checkpoint.clone(),
        };
        let size = self.layout.segment_bytes.max(length + BEGIN_BYTES + SEAL_BYTES);
        let (next, tail) = Segment::create(&self.layout.directory, size, self.frame + 1, begin)?;
        let mut seal = Draft::new(Vec::new());
        record::put(seal.body(), &Record::Seal);
        let seal = seal.finish(active.number, self.tail, self.frame);
        active.write(&*self.layout.hands, &seal, self.tail, &self.shared.stats)?;
        self.segments.push(Held { segment: Arc::new(next), highest: None });
        self.measure();
        self.tail = tail;
        self.frame += 2;
        Ok(())
    }

    /// The frame is on disk: readers may rely on it, and those who wait are told.
    fn settle(&mut self, frame_at: u64, batch: Outcome) {
        self.checkpoint = batch.checkpoint;
        let segment = Arc::clone(self.active());
        let held = self.segments.last_mut().expect("a log has a segment");
        held.highest = held.highest.max(batch.entries.iter().map(|entry| entry.index).max());
        let mut window = self.shared.window();
        for Written { index, at, length } in batch.entries {
            let offset = frame_at + at as u64;
            window.placed(index, Place { segment: Arc::clone(&segment), offset, length });
        }
        for done in &batch.done {
            match done {
                Done::Voted(vote, _) => window.vote = Some(*vote),
                Done::Truncated(index, _) => window.truncate_after(*index),
                Done::Appended(_) | Done::Purged => {}
            }
        }
        drop(window);
        let purged = batch.done.iter().any(|done| matches!(done, Done::Purged));
        batch.done.into_iter().for_each(|done| done.tell(Ok(())));
        if purged && let Err(error) = self.delete_purged() {
            self.shared.failure.record(error);
        }
    }

    /// Deletes the oldest files, as long as nothing of them is left.
    fn delete_purged(&mut self) -> Result<(), DiskError> {
        let purged = self.checkpoint.purged.as_ref().map(|id| id.index);
        while self.segments.len() > 1 && self.segments[0].highest <= purged {
            let path = self.segments[0].segment.path.clone();
            fs::remove_file(&path).map_err(|error| DiskError::system(&path, error))?;
            self.segments.remove(0);
        }
        self.measure();
        Ok(())
    }

    fn measure(&self) {
        let bytes = self.segments.iter().map(|held| held.segment.size).sum();
        self.shared.stats.files(self.segments.len(), bytes);
    }
}

/// Room that a seal needs.
const SEAL_BYTES: u64 = 64;
/// Room that a beginning needs, at most.
const BEGIN_BYTES: u64 = 512;

impl Batch {
    /// Adds what a command asks for. One that closes is given back.
    fn add(&mut self, command: Command) -> Option<Answer> {
        match command {
            Command::Append(entries, callback) => {
                for entry in entries {
                    self.add_entry(entry);
                }
                self.outcome.done.push(Done::Appended(callback));
            }
            Command::Vote(vote, answer) => {
                record::put(self.draft.body(), &Record::Vote(vote));
                self.outcome.checkpoint.vote = Some(vote);
                self.outcome.done.push(Done::Voted(vote, answer));
            }
            Command::Truncate(id, lease, answer) => {
                record::put(self.draft.body(), &Record::Truncate(id, lease));
                self.outcome.checkpoint.truncate_after(id, lease);
                self.outcome.done.push(Done::Truncated(id.as_ref().map(|id| id.index), answer));
            }
            Command::Purge(id, lease) => {
                record::put(self.draft.body(), &Record::Purge(id, lease));
                self.outcome.checkpoint.purge(id, lease);
                self.outcome.done.push(Done::Purged);
            }
            Command::Close(answer) => return Some(answer),
        }
        None
    }

    fn add_entry(&mut self, entry: Encoded) {
        let at = record::put_entry(self.draft.body(), &entry.bytes);
        let length = entry.bytes.len() as u32;
        self.outcome.entries.push(Written { index: entry.id.index, at, length });
        self.outcome.checkpoint.lease = self.outcome.checkpoint.lease.max(entry.lease);
        self.outcome.checkpoint.last = Some(entry.id);
    }

    /// What is committed costs no sync of its own: it goes with whatever is written next. Never
    /// ahead of the entry itself.
    fn keep_commit(&mut self, committed: Option<LogId>) {
        let index = |id: &Option<LogId>| id.as_ref().map(|id| id.index);
        if index(&committed) <= index(&self.outcome.checkpoint.committed)
            || index(&committed) > index(&self.outcome.checkpoint.last)
        {
            return;
        }
        if let Some(id) = committed {
            record::put(self.draft.body(), &Record::Committed(id));
            self.outcome.checkpoint.committed = Some(id);
        }
    }
}
