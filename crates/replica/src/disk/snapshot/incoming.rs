//! Snapshots on their way: read in chunks to be sent, written in chunks as they come.

use super::{Head, Meta, SNAPSHOT_BYTES_MAX};
use crate::disk::error::{DiskError, Failure};
use crate::disk::files::{self, DRAFT};
use crate::disk::hands::{self, Hands};
use conclave_table::Table;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

/// The most that is read or written at once.
pub const CHUNK_BYTES_MAX: usize = 1 << 20;

/// A whole snapshot on disk. It stays readable when a newer one takes its place.
#[derive(Clone, Debug)]
pub struct SnapshotFile {
    hands: Arc<dyn Hands>,
    file: Arc<File>,
    path: Arc<Path>,
    length: u64,
    made: Option<SystemTime>,
    /// Removes it, if it never gets its name.
    _draft: Option<Arc<Draft>>,
}

impl SnapshotFile {
    pub(super) fn open(hands: &Arc<dyn Hands>, path: &Path) -> Result<Self, DiskError> {
        let fail = |error| DiskError::system(path, error);
        let file = files::open(path).map_err(fail)?;
        let metadata = file.metadata().map_err(fail)?;
        let length = metadata.len();
        let made = metadata.modified().ok(); // Only shown.
        let (hands, file) = (Arc::clone(hands), Arc::new(file));
        Ok(Self { hands, file, path: path.into(), length, made, _draft: None })
    }

    /// One that is whole, and has no name yet.
    pub(super) fn of_draft(hands: &Arc<dyn Hands>, draft: Draft) -> Result<Self, DiskError> {
        let file = Self::open(hands, draft.path())?;
        Ok(Self { _draft: Some(Arc::new(draft)), ..file })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// How many bytes it has.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// When it was written, if the system knows.
    pub fn made(&self) -> Option<SystemTime> {
        self.made
    }

    /// Reads up to so many bytes from a place on; none at its end.
    pub async fn read_chunk(&self, offset: u64, bytes_max: usize) -> io::Result<Vec<u8>> {
        let left = self.length.saturating_sub(offset);
        let length = left.min(bytes_max.min(CHUNK_BYTES_MAX) as u64) as usize;
        let file = Arc::clone(&self.file);
        let read = move || {
            let mut chunk = vec![0; length];
            file.read_exact_at(&mut chunk, offset)?;
            Ok(chunk)
        };
        hands::work(&*self.hands, read).await?
    }

    /// All of it.
    pub async fn read_all(&self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::with_capacity(self.length as usize);
        while (bytes.len() as u64) < self.length {
            bytes.extend(self.read_chunk(bytes.len() as u64, CHUNK_BYTES_MAX).await?);
        }
        Ok(bytes)
    }
}

/// A snapshot that comes in chunks from another node. It is gone when it is dropped.
#[derive(Debug)]
pub struct Incoming {
    hands: Arc<dyn Hands>,
    file: Arc<File>,
    draft: Draft,
    length: u64,
    failure: Failure,
}

/// Why a snapshot that came is not taken. The sender may try again.
#[derive(Debug, thiserror::Error)]
pub enum NotTaken {
    /// A chunk is missing, or came twice.
    #[error("a chunk at byte {found} came where one at byte {expected} is due")]
    Gap {
        /// Where it should be put.
        found: u64,
        /// How much there is.
        expected: u64,
    },
    /// It is too large.
    #[error("a chunk or the whole is larger than is allowed")]
    TooLarge,
    /// It is not what it should be.
    #[error("{0}")]
    Wrong(String),
    /// This node's disk refuses; the node has to stop.
    #[error(transparent)]
    Disk(#[from] io::Error),
}

impl Incoming {
    pub(super) fn create(
        hands: &Arc<dyn Hands>,
        directory: &Path,
        failure: Failure,
    ) -> io::Result<Self> {
        let draft = Draft::new(directory)?;
        let created = files::create(draft.path());
        let fail = |error| failure.record(DiskError::system(draft.path(), error));
        let file = Arc::new(created.map_err(fail)?);
        Ok(Self { hands: Arc::clone(hands), file, draft, length: 0, failure })
    }

    /// How many bytes have come.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Takes the next chunk.
    pub async fn write_chunk(&mut self, offset: u64, chunk: Vec<u8>) -> Result<(), NotTaken> {
        let expected = self.length;
        if offset != expected {
            return Err(NotTaken::Gap { found: offset, expected });
        }
        let length = expected + chunk.len() as u64;
        if chunk.len() > CHUNK_BYTES_MAX || length > SNAPSHOT_BYTES_MAX {
            return Err(NotTaken::TooLarge);
        }
        let file = Arc::clone(&self.file);
        self.on_disk(move || file.write_all_at(&chunk, offset)).await?;
        self.length = length;
        Ok(())
    }

    /// All has come: checks that it is the snapshot that was announced, and syncs it.
    pub async fn finish(self, meta: &Meta) -> Result<SnapshotFile, NotTaken> {
        self.finish_if(meta, |_, _| Ok(())).await
    }

    /// The same, if this node can use it.
    pub async fn finish_if(
        self,
        meta: &Meta,
        usable: impl FnOnce(&Head, &Table) -> Result<(), DiskError> + Send + 'static,
    ) -> Result<SnapshotFile, NotTaken> {
        let file = Arc::clone(&self.file);
        self.on_disk(move || file.sync_all()).await?;
        let path = self.draft.path().to_path_buf();
        let check = move || {
            let (head, table) = super::decode(&path)?;
            usable(&head, &table)?;
            Ok::<_, DiskError>(head)
        };
        let head = hands::work(&*self.hands, check).await?;
        let head = head.map_err(|error| NotTaken::Wrong(error.to_string()))?;
        if head.meta != *meta {
            return Err(NotTaken::Wrong("it is not the snapshot that was announced".into()));
        }
        let Self { hands, draft, failure, .. } = self;
        let file = SnapshotFile::of_draft(&hands, draft).map_err(|error| failure.record(error))?;
        Ok(file)
    }

    async fn on_disk(
        &self,
        write: impl FnOnce() -> io::Result<()> + Send + 'static,
    ) -> io::Result<()> {
        let written = hands::work(&*self.hands, write).await?;
        let fail = |error| self.failure.record(DiskError::system(self.draft.path(), error));
        written.map_err(fail)
    }
}

/// A file that is not whole yet, or has no name yet. It is removed with this, unless it has got
/// another name.
#[derive(Debug)]
pub(super) struct Draft(PathBuf);

impl Draft {
    /// A name that nobody has.
    pub(super) fn new(directory: &Path) -> io::Result<Self> {
        let random = conclave_net::random::bits()?;
        Ok(Self(directory.join(format!("{random:032x}.{DRAFT}"))))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        // What stays behind is removed at the next start.
        let _ = fs::remove_file(&self.0);
    }
}
