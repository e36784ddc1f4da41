//! Snapshots: the replicated table as it was at an index, in a file that is there as a whole or not
//! at all (atomic rename).
//!
//! | bytes | what                                                                      |
//! |-------|---------------------------------------------------------------------------|
//! | 8     | a mark                                                                    |
//! | 4     | the format                                                                |
//! | 4     | the length of the head                                                    |
//! | ...   | the head: last entry, members, cluster                                    |
//! | ...   | the table                                                                 |
//! | 8     | a hash of all that precedes, taken over pieces of 64 KiB                  |
//!
//! The same bytes go to a node that lags behind, and into a backup.

mod incoming;

pub use incoming::{CHUNK_BYTES_MAX, Incoming, NotTaken, SnapshotFile};

use super::error::{DiskError, Failure};
use super::files::{self, DRAFT};
use super::hands::Hands;
use super::identity::ClusterId;
use crate::raft_types::TypeConfig;
use conclave_core::Hasher;
use conclave_table::Table;
use openraft::type_config::alias::SnapshotMetaOf;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What a snapshot covers.
pub type Meta = SnapshotMetaOf<TypeConfig>;

/// The largest snapshot that is written, sent or taken: more than the limits of a table allow.
pub const SNAPSHOT_BYTES_MAX: u64 = 4 << 30;

const MARK: &[u8; 8] = b"cnclsnap";
const FORMAT: u32 = 1;
const PREFIX: usize = 8 + 4 + 4;
/// The hash is taken over, and memory given back in, pieces of this length.
const PIECE: usize = 64 << 10;

/// What precedes the table in a snapshot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// Up to which entry, and who belonged to the cluster then.
    pub meta: Meta,
    /// The cluster that it is of.
    pub cluster_id: Option<ClusterId>,
}

/// The snapshots of a node: the latest one, and the making of the next.
#[derive(Clone, Debug)]
pub struct Snapshots {
    directory: PathBuf,
    /// Nobody holds this while waiting for the disk.
    current: Arc<Mutex<Option<Current>>>,
    /// The number of the latest file. Held by whoever gives a file its name.
    number: Arc<Mutex<u64>>,
    failure: Failure,
    hands: Arc<dyn Hands>,
}

#[derive(Clone, Debug)]
struct Current {
    head: Head,
    file: SnapshotFile,
}

/// A snapshot in memory, in pieces, so that those can go that are written.
#[derive(Debug, Default)]
pub struct Pieces(Vec<Vec<u8>>);

impl Write for Pieces {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.last().is_none_or(|piece| piece.len() == PIECE) {
            self.0.push(Vec::with_capacity(PIECE));
        }
        let piece = self.0.last_mut().expect("there is one");
        let taken = bytes.len().min(PIECE - piece.len());
        piece.extend_from_slice(&bytes[..taken]);
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Pieces {
    /// Encodes a table.
    pub fn encode(head: &Head, table: &Table) -> Self {
        let head = postcard::to_stdvec(head).expect("a head is plain data");
        let mut prefix = MARK.to_vec();
        prefix.extend_from_slice(&FORMAT.to_le_bytes());
        prefix.extend_from_slice(&(head.len() as u32).to_le_bytes());
        let mut pieces = Self::default();
        let written = pieces.write_all(&prefix).and_then(|()| pieces.write_all(&head));
        written.expect("memory takes it");
        postcard::to_io(table, pieces).expect("a table is plain data")
    }

    /// How many bytes they are as a file.
    fn length(&self) -> u64 {
        self.0.iter().map(|piece| piece.len() as u64).sum::<u64>() + 8
    }
}

impl Snapshots {
    /// Opens the directory. What the log no longer has must be in a snapshot.
    pub(super) fn open(
        hands: &Arc<dyn Hands>,
        directory: &Path,
        purged: Option<u64>,
        failure: &Failure,
    ) -> Result<Self, DiskError> {
        let snapshots = Self {
            directory: directory.to_path_buf(),
            current: Arc::default(),
            number: Arc::default(),
            failure: failure.clone(),
            hands: Arc::clone(hands),
        };
        if !directory.is_dir() {
            return Err(DiskError::missing(directory, "the snapshots of this node were there"));
        }
        files::remove_drafts(directory)?;
        let newest = snapshots.list()?.pop();
        if let Some((number, path)) = newest {
            let file = SnapshotFile::open(hands, &path)?;
            let head = read(&path)?.head;
            *snapshots.current() = Some(Current { head, file });
            *snapshots.number.lock().unwrap_or_else(PoisonError::into_inner) = number;
            snapshots.remove_older(number)?;
        }
        let covered = snapshots.current().as_ref().and_then(|current| current.last_index());
        if purged > covered {
            let path = directory.join("*.snap");
            let what = "the log begins after an entry that no snapshot covers";
            return Err(DiskError::missing(&path, what));
        }
        Ok(snapshots)
    }

    /// The latest one.
    pub fn latest(&self) -> Option<(Meta, SnapshotFile)> {
        self.current().as_ref().map(|current| (current.head.meta.clone(), current.file.clone()))
    }

    /// Reads the latest one. Waits for the disk.
    pub fn load(&self) -> Result<Option<(Head, Table)>, DiskError> {
        let path = self.current().as_ref().map(|current| current.file.path().to_path_buf());
        path.map(|path| decode(&path)).transpose()
    }

    /// Writes one. Waits for the disk. One that nobody could read is not written: the log, which
    /// has all of it, must not be cut short for it.
    pub fn write(&self, head: &Head, pieces: Pieces) -> io::Result<SnapshotFile> {
        let result = fits(&self.directory, pieces.length())
            .and_then(|()| self.write_draft(pieces))
            .and_then(|draft| self.adopt(head.clone(), draft));
        result.map_err(|error| self.failure.record(error))
    }

    /// Reads one that came from another node, or the latest one. Waits for the disk.
    pub fn read(&self, meta: &Meta, file: &SnapshotFile) -> Result<(Head, Table), DiskError> {
        let (head, table) = decode(file.path())?;
        if head.meta != *meta {
            let what = "it is not the snapshot that was announced";
            return Err(DiskError::damaged(file.path(), 0, what));
        }
        Ok((head, table))
    }

    /// It takes the place of the latest one. Waits for the disk.
    pub fn install(&self, head: Head, file: SnapshotFile) -> Result<(), DiskError> {
        let known = self.current().as_ref().map(|current| current.file.path().to_path_buf());
        if known.as_deref() != Some(file.path()) {
            self.adopt(head, file)?;
        }
        Ok(())
    }

    /// Where one that comes from another node is put.
    pub fn receive(&self) -> io::Result<Incoming> {
        Incoming::create(&self.hands, &self.directory, self.failure.clone())
    }

    fn current(&self) -> MutexGuard<'_, Option<Current>> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_draft(&self, Pieces(pieces): Pieces) -> Result<SnapshotFile, DiskError> {
        let draft = incoming::Draft::new(&self.directory)
            .map_err(|error| DiskError::system(&self.directory, error))?;
        let write = || {
            let mut file = files::create(draft.path())?;
            let mut hasher = Hasher::default();
            for piece in pieces {
                hasher.write(&piece);
                file.write_all(&piece)?;
            }
            file.write_all(&hasher.finish().to_le_bytes())?;
            file.sync_all()
        };
        write().map_err(|error| DiskError::system(draft.path(), error))?;
        SnapshotFile::of_draft(&self.hands, draft)
    }

    /// Gives a whole and synced file its name, and removes those before it. One that covers less
    /// than the latest is not taken: the log may begin later by now.
    fn adopt(&self, head: Head, draft: SnapshotFile) -> Result<SnapshotFile, DiskError> {
        let mut latest = self.number.lock().unwrap_or_else(PoisonError::into_inner);
        let covered = self.latest().and_then(|(meta, _)| meta.last_log_id);
        if head.meta.last_log_id < covered {
            return Ok(draft);
        }
        let number = *latest + 1;
        let path = self.directory.join(format!("{number:016}.snap"));
        files::publish(draft.path(), &path)?;
        *latest = number;
        let file = SnapshotFile::open(&self.hands, &path)?;
        *self.current() = Some(Current { head, file: file.clone() });
        self.remove_older(number)?;
        Ok(file)
    }

    fn remove_older(&self, than: u64) -> Result<(), DiskError> {
        for (number, path) in self.list()? {
            if number < than {
                fs::remove_file(&path).map_err(|error| DiskError::system(&path, error))?;
            }
        }
        Ok(())
    }

    fn list(&self) -> Result<Vec<(u64, PathBuf)>, DiskError> {
        let number = |path: &PathBuf| {
            let whole = path.extension().is_some_and(|extension| extension != DRAFT);
            path.file_stem()?.to_str()?.parse().ok().filter(|_| whole)
        };
        let numbered = |path: PathBuf| number(&path).map(|number| (number, path));
        Ok(files::list(&self.directory)?.into_iter().filter_map(numbered).collect())
    }
}

impl Current {
    fn last_index(&self) -> Option<u64> {
        self.head.meta.last_log_id.as_ref().map(|id| id.index)
    }
}

/// Whether a snapshot of this length can be read again.
fn fits(directory: &Path, length: u64) -> Result<(), DiskError> {
    if length <= SNAPSHOT_BYTES_MAX {
        return Ok(());
    }
    let what = format!("the table takes {length} bytes, more than {SNAPSHOT_BYTES_MAX}");
    Err(DiskError::system(directory, io::Error::new(io::ErrorKind::FileTooLarge, what)))
}

/// A snapshot whose checksum is right.
struct Checked {
    head: Head,
    bytes: Vec<u8>,
    table_at: usize,
}

/// Reads a whole snapshot from memory; errors call it by this name.
pub fn parse(name: &Path, bytes: Vec<u8>) -> Result<(Head, Table), DiskError> {
    whole(name, check(name, bytes)?)
}

/// Reads a whole snapshot.
fn decode(path: &Path) -> Result<(Head, Table), DiskError> {
    whole(path, read(path)?)
}

fn whole(path: &Path, checked: Checked) -> Result<(Head, Table), DiskError> {
    let Checked { head, bytes, table_at } = checked;
    match postcard::take_from_bytes(&bytes[table_at..]) {
        Ok((table, [])) => Ok((head, table)),
        Ok(_) | Err(_) => {
            Err(DiskError::Unknown { what: format!("{} has a table", path.display()) })
        }
    }
}

/// Reads a snapshot, but for the table.
fn read(path: &Path) -> Result<Checked, DiskError> {
    let mut bytes = Vec::new();
    // One byte more than there may be shows that it is too long, rather than damaged.
    let read = |file: File| file.take(SNAPSHOT_BYTES_MAX + 1).read_to_end(&mut bytes);
    let opened = files::open(path).and_then(read);
    let length = opened.map_err(|error| DiskError::system(path, error))?;
    fits(path, length as u64)?;
    check(path, bytes)
}

fn check(path: &Path, mut bytes: Vec<u8>) -> Result<Checked, DiskError> {
    let damaged = |what: &str| DiskError::damaged(path, 0, what);
    let end = bytes.len().checked_sub(8).ok_or_else(|| damaged("too short"))?;
    let expected = bytes.split_off(end);
    let prefix = bytes.get(..PREFIX).ok_or_else(|| damaged("too short"))?;
    if prefix[..8] != *MARK {
        return Err(damaged("not a snapshot of conclave"));
    }
    let number = |at: usize| {
        let mut word = [0; 4];
        word.copy_from_slice(&prefix[at..at + 4]);
        u32::from_le_bytes(word)
    };
    let found = number(8);
    let head_length = number(12) as usize;
    let mut hasher = Hasher::default();
    bytes.chunks(PIECE).for_each(|piece| hasher.write(piece));
    if hasher.finish().to_le_bytes() != *expected {
        return Err(damaged("the checksum is wrong"));
    }
    if found != FORMAT {
        return Err(DiskError::Format { path: path.to_path_buf(), found, known: FORMAT });
    }
    let head =
        bytes.get(PREFIX..PREFIX + head_length).and_then(|head| postcard::from_bytes(head).ok());
    let head = head.ok_or_else(|| damaged("the head cannot be read"))?;
    Ok(Checked { head, bytes, table_at: PREFIX + head_length })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_snapshot_is_written_that_could_not_be_read() {
        let place = Path::new("snapshots");
        assert!(fits(place, SNAPSHOT_BYTES_MAX).is_ok());
        let long = fits(place, SNAPSHOT_BYTES_MAX + 1).expect_err("it is too long").to_string();
        assert!(long.contains("4294967297 bytes, more than 4294967296"), "{long}");
        let mut pieces = Pieces::default();
        pieces.write_all(&[7; PIECE + 1]).expect("memory takes it");
        assert_eq!(pieces.length(), PIECE as u64 + 1 + 8, "with its checksum");
    }
}
