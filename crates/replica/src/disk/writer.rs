//! Group commit: one thread writes the log, and whatever is queued when it comes round is written as
//! one frame and synced once.
//!
//! All writes go through its queue, votes and truncations too, so that their order on disk is the
//! order in which they were asked for. After the first error nothing is written any more: what a
//! failed sync has left on disk is unknown.

use super::error::{DiskError, Failure};
use super::frame::{self, Draft};
use super::record::{self, Begin, Checkpoint, FORMAT, LogId, Record, Vote};
use super::recovery::{Held, Recovered};
use super::segment::{Place, Segment};
use super::window::Window;
use crate::raft_types::TypeConfig;
use conclave_table::LeaseTime;
use openraft::storage::IOFlushed;
use std::fs::{self, File};
use std::io;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use tokio::sync::oneshot;

/// A frame takes no more commands when it is as long as this.
const FRAME_BYTES: usize = 4 << 20;

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

/// What the thread is asked to do.
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
}

/// Starts the thread. It keeps the lock of the directory until it has ended.
pub fn start(
    layout: Layout,
    recovered: Recovered,
    failure: Failure,
    lock: File,
) -> io::Result<(Sender<Command>, Shared)> {
    let Recovered { window, checkpoint, segments, tail, frame } = recovered;
    let shared = Shared { window: Arc::new(Mutex::new(window)), failure };
    let (sender, queue) = channel();
    let writer = Writer {
        layout,
        shared: shared.clone(),
        checkpoint,
        segments,
        tail,
        frame,
        buffer: Vec::new(),
    };
    thread::Builder::new().name("log".into()).spawn(move || {
        let answer = writer.run(&queue);
        drop(lock);
        if let Some(answer) = answer {
            let _ = answer.send(Ok(()));
        }
    })?;
    Ok((sender, shared))
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

/// One frame and what to do when it is on disk.
struct Batch {
    draft: Draft,
    checkpoint: Checkpoint,
    /// Where entries begin in the frame, and how long they are.
    entries: Vec<(u64, usize, u32)>,
    done: Vec<Done>,
}

enum Done {
    Appended(IOFlushed<TypeConfig>),
    Voted(Vote, Answer),
    Truncated(Option<u64>, Answer),
    Purged,
}

impl Writer {
    /// Until it is closed, or nobody is left who could ask for anything.
    fn run(mut self, queue: &Receiver<Command>) -> Option<Answer> {
        let mut closing = None;
        while closing.is_none() {
            let Ok(first) = queue.recv() else { break };
            let mut batch = self.begin();
            let mut next = Some(first);
            while let Some(command) = next {
                closing = batch.add(command);
                let full = batch.draft.length() >= FRAME_BYTES;
                next = if full || closing.is_some() { None } else { queue.try_recv().ok() };
            }
            self.commit(batch);
        }
        closing
    }

    fn begin(&mut self) -> Batch {
        Batch {
            draft: Draft::new(std::mem::take(&mut self.buffer)),
            checkpoint: self.checkpoint.clone(),
            entries: Vec::new(),
            done: Vec::new(),
        }
    }

    fn commit(&mut self, mut batch: Batch) {
        let refused = self.shared.failure.check();
        if let Err(error) = refused {
            return refuse(batch.done, &error);
        }
        let committed = self.shared.window().committed.clone();
        batch.keep_commit(committed);
        if batch.is_empty() {
            return;
        }
        match self.write(batch.draft) {
            Ok(at) => self.settle(at, batch.entries, batch.checkpoint, batch.done),
            Err(error) => {
                let error = self.shared.failure.record(error);
                refuse(batch.done, &error);
            }
        }
    }

    /// Puts a frame on disk; returns where its body begins.
    fn write(&mut self, draft: Draft) -> Result<u64, DiskError> {
        let length = draft.length() as u64;
        if self.tail + length + SEAL_BYTES > self.active().size {
            self.rotate(length)?;
        }
        let segment = Arc::clone(self.active());
        let bytes = draft.finish(segment.number, self.tail, self.frame);
        segment.write(&bytes, self.tail)?;
        let body_at = self.tail + frame::HEADER as u64;
        self.tail += bytes.len() as u64;
        self.frame += 1;
        self.buffer = bytes;
        Ok(body_at)
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
        active.write(&seal.finish(active.number, self.tail, self.frame), self.tail)?;
        self.segments.push(Held { segment: Arc::new(next), highest: None });
        self.tail = tail;
        self.frame += 2;
        Ok(())
    }

    /// Tells those who wait.
    fn settle(
        &mut self,
        body_at: u64,
        entries: Vec<(u64, usize, u32)>,
        checkpoint: Checkpoint,
        done: Vec<Done>,
    ) {
        self.checkpoint = checkpoint;
        let segment = Arc::clone(self.active());
        let header = frame::HEADER as u64;
        let mut window = self.shared.window();
        let held = self.segments.last_mut().expect("a log has a segment");
        for (index, at, length) in entries {
            held.highest = held.highest.max(Some(index));
            let offset = body_at - header + at as u64;
            window.placed(index, Place { segment: Arc::clone(&segment), offset, length });
        }
        let mut purged = false;
        let mut answers: Vec<(Answer, io::Result<()>)> = Vec::new();
        let mut flushed = Vec::new();
        for done in done {
            match done {
                Done::Appended(callback) => flushed.push(callback),
                Done::Voted(vote, answer) => {
                    window.vote = Some(vote);
                    answers.push((answer, Ok(())));
                }
                Done::Truncated(index, answer) => {
                    window.truncate_after(index);
                    answers.push((answer, Ok(())));
                }
                Done::Purged => purged = true,
            }
        }
        drop(window);
        flushed.into_iter().for_each(|callback| callback.io_completed(Ok(())));
        for (answer, result) in answers {
            let _ = answer.send(result);
        }
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
        Ok(())
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
                self.done.push(Done::Appended(callback));
            }
            Command::Vote(vote, answer) => {
                record::put(self.draft.body(), &Record::Vote(vote.clone()));
                self.checkpoint.vote = Some(vote.clone());
                self.done.push(Done::Voted(vote, answer));
            }
            Command::Truncate(id, lease, answer) => {
                record::put(self.draft.body(), &Record::Truncate(id.clone(), lease));
                self.checkpoint.truncate_after(id.clone(), lease);
                self.done.push(Done::Truncated(id.as_ref().map(|id| id.index), answer));
            }
            Command::Purge(id, lease) => {
                record::put(self.draft.body(), &Record::Purge(id.clone(), lease));
                self.checkpoint.purge(id, lease);
                self.done.push(Done::Purged);
            }
            Command::Close(answer) => return Some(answer),
        }
        None
    }

    fn add_entry(&mut self, entry: Encoded) {
        let at = record::put_entry(self.draft.body(), &entry.bytes);
        self.entries.push((entry.id.index, at, entry.bytes.len() as u32));
        self.checkpoint.lease = self.checkpoint.lease.max(entry.lease);
        self.checkpoint.last = Some(entry.id);
    }

    /// What is committed costs no sync of its own: it goes with whatever is written next. Never
    /// ahead of the entry itself.
    fn keep_commit(&mut self, committed: Option<LogId>) {
        let index = |id: &Option<LogId>| id.as_ref().map(|id| id.index);
        if index(&committed) <= index(&self.checkpoint.committed)
            || index(&committed) > index(&self.checkpoint.last)
        {
            return;
        }
        if let Some(id) = committed {
            record::put(self.draft.body(), &Record::Committed(id.clone()));
            self.checkpoint.committed = Some(id);
        }
    }

    fn is_empty(&mut self) -> bool {
        self.draft.body().len() == frame::HEADER
    }
}

fn refuse(done: Vec<Done>, error: &io::Error) {
    let again = || io::Error::new(error.kind(), error.to_string());
    for done in done {
        match done {
            Done::Appended(callback) => callback.io_completed(Err(again())),
            Done::Voted(_, answer) | Done::Truncated(_, answer) => {
                let _ = answer.send(Err(again()));
            }
            Done::Purged => {}
        }
    }
}
