//! Recovery: reads the segments of the write-ahead log, cuts a torn tail and refuses all else that
//! is not as it was written.

use super::error::DiskError;
use super::files;
use super::frame::{self, Found};
use super::record::{self, Begin, Checkpoint, FORMAT, Located, LogId, Record};
use super::segment::{self, Place, Segment};
use super::window::Window;
use std::fs;
use std::path::Path;
use std::sync::Arc;

/// A segment and the largest index of any entry in it.
#[derive(Debug)]
pub struct Held {
    /// The file.
    pub segment: Arc<Segment>,
    /// When this is purged, the file can go.
    pub highest: Option<u64>,
}

/// The log as it was found.
#[derive(Debug)]
pub struct Recovered {
    /// In memory.
    pub window: Window,
    /// As the next segment will begin.
    pub checkpoint: Checkpoint,
    /// All files, in order; there is at least one.
    pub segments: Vec<Held>,
    /// Where to write next, in the last of them.
    pub tail: u64,
    /// The number of the next frame.
    pub frame: u64,
}

/// Reads a log of this disk.
pub fn recover(
    directory: &Path,
    disk: u128,
    segment_bytes: u64,
    cached_bytes_max: usize,
) -> Result<Recovered, DiskError> {
    files::remove_drafts(directory)?;
    let paths = segment::list(directory)?;
    let mut replay = Replay {
        disk,
        segment_bytes,
        window: Window::new(cached_bytes_max),
        checkpoint: Checkpoint::default(),
        segments: Vec::new(),
        frame: None,
        tail: 0,
        sealed: true,
    };
    for (at, (number, path)) in paths.iter().enumerate() {
        if let Some(before) = replay.segments.last().map(|held| held.segment.number + 1)
            && before != *number
        {
            let path = segment::path_of(directory, before);
            return Err(DiskError::missing(&path, "the segments before and after it are there"));
        }
        if !replay.sealed {
            // Only the making of the next segment can have been cut short here.
            return replay.undo_rotation(path, *number, at + 1 == paths.len());
        }
        replay.segment(path, *number)?;
    }
    replay.finish(directory)
}

struct Replay {
    disk: u128,
    /// No segment is shorter.
    segment_bytes: u64,
    window: Window,
    checkpoint: Checkpoint,
    segments: Vec<Held>,
    /// The number of the next frame, once one was seen.
    frame: Option<u64>,
    tail: u64,
    sealed: bool,
}

impl Replay {
    fn segment(&mut self, path: &Path, number: u64) -> Result<(), DiskError> {
        let file = Arc::new(Segment::open(path, number)?);
        if file.size < self.segment_bytes {
            return Err(self.cut_off(&file));
        }
        let bytes = file.read_written()?;
        self.segments.push(Held { segment: Arc::clone(&file), highest: None });
        self.sealed = false;
        let mut at = 0;
        loop {
            match frame::read(&bytes, number, at) {
                Found::Frame { number, body_at, body, next } => {
                    self.frame(&file, number, at, body_at, body)?;
                    at = next;
                }
                // It was given its name when it had its beginning.
                Found::End | Found::Torn if at == 0 => {
                    return Err(DiskError::damaged(path, 0, "the beginning is gone"));
                }
                Found::End => break,
                Found::Torn
                    if frame::end(&bytes, number, at).is_some_and(|end| end as u64 > file.size) =>
                {
                    return Err(self.cut_off(&file));
                }
                Found::Torn => {
                    let at = at as u64;
                    tracing::warn!(
                        "{} ends in a write that was cut short at byte {at}: cut off; nobody was \
                         told that it was there",
                        path.display()
                    );
                    break;
                }
                Found::Damaged(what) => return Err(DiskError::damaged(path, at as u64, what)),
            }
        }
        self.tail = at as u64;
        Ok(())
    }

    /// All its room was there before it was given its name, and no crash takes it back.
    fn cut_off(&self, file: &Segment) -> DiskError {
        let least = self.segment_bytes;
        let what = format!("it was cut off there: a file of the log has {least} bytes or more");
        DiskError::damaged(&file.path, file.size, what)
    }

    fn frame(
        &mut self,
        file: &Arc<Segment>,
        number: u64,
        at: usize,
        body_at: usize,
        body: &[u8],
    ) -> Result<(), DiskError> {
        let damaged = |what: &str| DiskError::damaged(&file.path, at as u64, what);
        if self.frame.is_some_and(|expected| expected != number) || self.sealed {
            return Err(damaged("a batch is missing before this one"));
        }
        self.frame = Some(number + 1);
        let mut within = 0;
        loop {
            let unknown = |what| {
                let path = file.path.display();
                DiskError::Unknown { what: format!("{path} has, at byte {at}, {what}") }
            };
            let Some(located) = record::take(body, within).map_err(unknown)? else { return Ok(()) };
            within = located.at + located.length;
            let begins = matches!(located.record, Record::Begin(_));
            if begins != (at == 0) {
                return Err(damaged("a segment begins in the wrong place"));
            }
            self.record(file, body_at, located).map_err(|error| match error {
                Wrong::Text(what) => damaged(&what),
                Wrong::Error(error) => error,
            })?;
        }
    }

    fn record(
        &mut self,
        file: &Arc<Segment>,
        body_at: usize,
        located: Located,
    ) -> Result<(), Wrong> {
        match located.record {
            Record::Begin(begin) => return self.begin(file, begin),
            Record::Entry(entry) => {
                let id = entry.log_id;
                let offset = (body_at + located.at) as u64;
                let segment = Arc::clone(file);
                let place = Place { segment, offset, length: located.length as u32 };
                self.window.push(entry, located.length, Some(place))?;
                self.checkpoint.lease = self.window.lease();
                if let Some(held) = self.segments.last_mut() {
                    held.highest = held.highest.max(Some(id.index));
                }
                self.checkpoint.last = Some(id);
            }
            Record::Vote(vote) => self.checkpoint.vote = Some(vote),
            Record::Committed(id) => self.checkpoint.committed = Some(id),
            Record::Truncate(id, lease) => {
                self.window.truncate_after(id.as_ref().map(|id| id.index));
                self.checkpoint.truncate_after(id, lease);
                self.settle_empty();
            }
            Record::Purge(id, lease) => {
                self.window.purge(id);
                self.checkpoint.purge(id, lease);
                self.settle_empty();
            }
            Record::Seal => self.sealed = true,
        }
        Ok(())
    }

    /// Without entries the window begins after whatever was last.
    fn settle_empty(&mut self) {
        if self.window.first().is_none() {
            self.window.start_after(self.checkpoint.last, self.checkpoint.lease);
        }
    }

    fn begin(&mut self, file: &Arc<Segment>, begin: Begin) -> Result<(), Wrong> {
        let path = file.path.clone();
        if begin.format != FORMAT {
            let error = DiskError::Format { path, found: begin.format, known: FORMAT };
            return Err(Wrong::Error(error));
        }
        if begin.disk != self.disk || begin.segment != file.number {
            return Err(Wrong::Text("it is a file of another node, or has another's name".into()));
        }
        if self.segments.len() == 1 {
            self.checkpoint = begin.checkpoint;
            self.settle_empty();
        } else if self.checkpoint != begin.checkpoint {
            return Err(Wrong::Text("it does not continue the segment before it".into()));
        }
        Ok(())
    }

    /// The next segment was made, and then the power failed before this one was sealed.
    fn undo_rotation(
        mut self,
        next: &Path,
        number: u64,
        is_last: bool,
    ) -> Result<Recovered, DiskError> {
        let bytes = Segment::open(next, number)?.read_written()?;
        let only_begun = match frame::read(&bytes, number, 0) {
            Found::Frame { next, .. } => frame::read(&bytes, number, next) == Found::End,
            Found::End | Found::Torn | Found::Damaged(_) => false,
        };
        let Some(held) = self.segments.last_mut() else {
            return Err(DiskError::damaged(next, 0, "it follows nothing"));
        };
        if !is_last || !only_begun {
            let what = "it ends too soon: the segment after it was written to";
            return Err(DiskError::damaged(&held.segment.path, self.tail, what));
        }
        fs::remove_file(next).map_err(|error| DiskError::system(next, error))?;
        let directory = next.parent().unwrap_or(Path::new(".")).to_path_buf();
        files::sync_directory(&directory)?;
        self.finish(&directory)
    }

    fn finish(mut self, directory: &Path) -> Result<Recovered, DiskError> {
        let Some(held) = self.segments.last_mut() else {
            let path = segment::path_of(directory, 1);
            return Err(DiskError::missing(&path, "the log has no file at all"));
        };
        if self.sealed {
            let path = segment::path_of(directory, held.segment.number + 1);
            return Err(DiskError::missing(&path, "the segment before it says that it exists"));
        }
        let due = self.checkpoint.purged.as_ref().map_or(0, |purged| purged.index + 1);
        if self.window.first().is_some_and(|first| first > due)
            || self.window.first().is_none() && self.checkpoint.has_entries()
        {
            let first = self.segments.first().map_or(1, |held| held.segment.number);
            let path = segment::path_of(directory, first.saturating_sub(1));
            let what = format!("the entries from {due} on are not in those that are left");
            return Err(DiskError::missing(&path, what));
        }
        self.clear_tail()?;
        self.window.vote = self.checkpoint.vote;
        self.window.committed = self.checkpoint.committed;
        self.window.start_after(self.checkpoint.purged, self.checkpoint.purged_lease);
        let Self { window, checkpoint, segments, frame, tail, .. } = self;
        Ok(Recovered { window, checkpoint, segments, tail, frame: frame.unwrap_or_default() })
    }

    /// What is behind the last whole frame becomes zero, so that nothing of it is met again.
    fn clear_tail(&self) -> Result<(), DiskError> {
        let Some(Held { segment, .. }) = self.segments.last() else { return Ok(()) };
        let bytes = segment.read_written()?;
        if frame::read(&bytes, segment.number, self.tail as usize) == Found::End {
            return Ok(());
        }
        segment.clear(self.tail, bytes.len() as u64)
    }
}

impl Checkpoint {
    fn has_entries(&self) -> bool {
        let index = |id: &Option<LogId>| id.as_ref().map(|id| id.index);
        index(&self.last) != index(&self.purged)
    }

    /// What is after this entry is gone.
    pub fn truncate_after(&mut self, id: Option<LogId>, lease: conclave_table::LeaseTime) {
        self.last = id.or(self.purged);
        self.lease = lease;
    }

    /// What is up to this entry is gone.
    pub fn purge(&mut self, id: LogId, lease: conclave_table::LeaseTime) {
        if self.last.as_ref().is_none_or(|last| last.index < id.index) {
            self.last = Some(id);
            self.lease = lease;
        }
        if self.purged.as_ref().is_none_or(|purged| purged.index < id.index) {
            self.purged = Some(id);
            self.purged_lease = lease;
        }
    }
}

enum Wrong {
    Text(String),
    Error(DiskError),
}

impl From<super::window::Hole> for Wrong {
    fn from(hole: super::window::Hole) -> Self {
        Self::Text(hole.to_string())
    }
}
