//! Segments: the preallocated files that the write-ahead log consists of.

use super::error::DiskError;
use super::files::{self, DRAFT};
use super::frame::Draft;
use super::hands::Hands;
use super::record::{self, Begin, LogEntry, PREFIX_BYTES, Record};
use super::stats::LogStats;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How much is read at once.
const CHUNK: usize = 64 << 10;

/// One file of the log.
#[derive(Debug)]
pub struct Segment {
    /// Its number: one more than the one before.
    pub number: u64,
    /// Where it is.
    pub path: PathBuf,
    /// It stays readable for whoever still reads when it is deleted.
    pub file: File,
    /// Its length.
    pub size: u64,
}

/// Where the bytes of an entry are.
#[derive(Clone, Debug)]
pub struct Place {
    /// In which segment.
    pub segment: Arc<Segment>,
    /// At which byte.
    pub offset: u64,
    /// How many.
    pub length: u32,
}

impl Segment {
    /// Makes a new one that holds nothing but its beginning: it is there as a whole or not at all.
    /// Returns it with the offset of what comes next.
    pub fn create(
        directory: &Path,
        size: u64,
        frame: u64,
        begin: Begin,
    ) -> Result<(Self, u64), DiskError> {
        let number = begin.segment;
        let path = path_of(directory, number);
        let draft_path = path.with_extension(DRAFT);
        let mut draft = Draft::new(Vec::new());
        record::put(draft.body(), &Record::Begin(begin));
        let bytes = draft.finish(number, 0, frame);
        let write = || {
            let file = files::create(&draft_path)?;
            files::preallocate(&file, size)?;
            file.write_all_at(&bytes, 0)?;
            file.sync_all()?;
            Ok(file)
        };
        let file = write().map_err(|error| DiskError::system(&draft_path, error))?;
        files::publish(&draft_path, &path)?;
        Ok((Self { number, path, file, size }, bytes.len() as u64))
    }

    /// Opens one that exists.
    pub fn open(path: &Path, number: u64) -> Result<Self, DiskError> {
        let fail = |error| DiskError::system(path, error);
        let file = OpenOptions::new().read(true).write(true).open(path).map_err(fail)?;
        let size = file.metadata().map_err(fail)?.len();
        Ok(Self { number, path: path.to_path_buf(), file, size })
    }

    /// All its bytes up to the last that is not zero, and maybe some zeros: most of a segment may
    /// be room that was never written to, and is not worth memory.
    pub fn read_written(&self) -> Result<Vec<u8>, DiskError> {
        let mut bytes = Vec::new();
        let mut chunk = vec![0; CHUNK];
        for at in (0..self.size).step_by(CHUNK) {
            chunk.truncate((self.size - at).min(CHUNK as u64) as usize);
            let read = self.file.read_exact_at(&mut chunk, at);
            read.map_err(|error| DiskError::system(&self.path, error))?;
            if chunk.iter().any(|byte| *byte != 0) {
                bytes.resize(at as usize, 0);
                bytes.extend_from_slice(&chunk);
            }
        }
        Ok(bytes)
    }

    /// Writes at a place, and syncs.
    pub fn write(
        &self,
        hands: &dyn Hands,
        bytes: &[u8],
        at: u64,
        stats: &LogStats,
    ) -> Result<(), DiskError> {
        let sync = || stats.sync(bytes.len() as u64, || hands.sync(&self.file, &self.path));
        let written = hands.write(&self.file, &self.path, bytes, at).and_then(|()| sync());
        written.map_err(|error| DiskError::system(&self.path, error))
    }

    /// Makes what is between two places zero again. The file never becomes shorter, not even for a
    /// moment: one that is too short was cut by somebody else.
    pub fn clear(&self, from: u64, until: u64) -> Result<(), DiskError> {
        let zeros = vec![0; CHUNK];
        let clear = || {
            for at in (from..until).step_by(CHUNK) {
                let length = (until - at).min(CHUNK as u64) as usize;
                self.file.write_all_at(&zeros[..length], at)?;
            }
            self.file.sync_all()
        };
        clear().map_err(|error| DiskError::system(&self.path, error))
    }
}

impl Place {
    /// Reads the entry again.
    pub fn read(&self) -> Result<LogEntry, DiskError> {
        let path = &self.segment.path;
        let mut bytes = vec![0; PREFIX_BYTES + self.length as usize];
        let from = self.offset - PREFIX_BYTES as u64;
        let read = self.segment.file.read_exact_at(&mut bytes, from);
        read.map_err(|error| DiskError::system(path, error))?;
        let entry = record::check_again(&bytes).and_then(|bytes| record::decode_entry(bytes).ok());
        entry.ok_or_else(|| {
            DiskError::damaged(path, self.offset, "the checksum of an entry is wrong")
        })
    }
}

/// The name of a segment.
pub fn path_of(directory: &Path, number: u64) -> PathBuf {
    directory.join(format!("{number:016}.log"))
}

/// The numbers and paths of all segments in a directory, in order.
pub fn list(directory: &Path) -> Result<Vec<(u64, PathBuf)>, DiskError> {
    let mut found = Vec::new();
    for path in files::list(directory)? {
        let stem = path.file_stem().and_then(|stem| stem.to_str());
        let number = stem.and_then(|stem| stem.parse().ok());
        match number {
            Some(number) if path_of(directory, number) == path => found.push((number, path)),
            Some(_) | None => {
                let what = path.display().to_string();
                return Err(DiskError::Foreign { directory: directory.to_path_buf(), what });
            }
        }
    }
    found.sort();
    Ok(found)
}
