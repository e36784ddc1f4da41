//! The data directory of a replicated node: write-ahead log, snapshots, identity.
//!
//! | file           | holds                                                                     |
//! |----------------|---------------------------------------------------------------------------|
//! | `lock`         | nothing: it is locked while a node runs                                   |
//! | `identity`     | format, cluster, node, random number of this disk, what was promised      |
//! | `log/*.log`    | segments: entries, votes, truncations and purges in the order of writing  |
//! | `snapshots/*`  | the table as it was at an index                                           |
//! | `old-copy`     | only in a copy that was found out: who said so. It is not opened again    |
//! | `removed`      | nothing: this node was removed from its cluster                           |
//!
//! What a node forgets may break what it promised. So a directory that is damaged, half there or
//! somebody else's is refused, never replaced. The only thing that is cut off is the end of a write
//! that the power failure interrupted: nobody was told of it.

mod error;
mod files;
mod frame;
pub(crate) mod hands;
mod identity;
mod log_store;
mod record;
mod recovery;
mod segment;
pub mod snapshot;
mod stats;
mod window;
mod writer;

pub use error::{DiskError, Failure};
pub use hands::{Hands, Job, Threads};
pub use identity::{ClusterId, Engine, Expected, Identity, engine_of};
pub use log_store::LogStore;
pub use snapshot::{Incoming, SnapshotFile, Snapshots};
pub use stats::LogStats;
pub use writer::LogWriter;

use crate::host::Host;
use record::{Begin, Checkpoint};
use segment::Segment;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::watch;
use writer::Layout;

/// How much is kept where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiskOptions {
    /// The length of a segment of the log: 16 MiB. One that is shorter is taken for damaged, so a
    /// later version may make them shorter, but not longer.
    pub segment_bytes: u64,
    /// How much memory recent entries may take: 1 MiB. Older ones are read from disk.
    pub cached_bytes: usize,
}

impl Default for DiskOptions {
    fn default() -> Self {
        Self { segment_bytes: 16 << 20, cached_bytes: 1 << 20 }
    }
}

/// The file that says that a node was removed from its cluster.
const REMOVED: &str = "removed";

/// The open directory of a node; nobody else can open it. Cheap to clone.
#[derive(Clone)]
pub struct Disk {
    directory: PathBuf,
    identity: Arc<Mutex<Identity>>,
    log: LogStore,
    snapshots: Snapshots,
    failure: Failure,
    last_at_start: u64,
}

impl Disk {
    /// Opens a directory, or makes a new one of it if it is empty or does not exist.
    pub fn open(directory: &Path, expected: &Expected<'_>) -> Result<Self, DiskError> {
        Self::open_with(directory, expected, DiskOptions::default())
    }

    /// The same, on this machine.
    pub fn open_on(
        host: &Host,
        directory: &Path,
        expected: &Expected<'_>,
    ) -> Result<Self, DiskError> {
        Self::open_by(&host.hands, directory, expected, host.disk)
    }

    /// The same, with other sizes.
    pub fn open_with(
        directory: &Path,
        expected: &Expected<'_>,
        options: DiskOptions,
    ) -> Result<Self, DiskError> {
        let hands: Arc<dyn Hands> = Arc::new(Threads);
        Self::open_by(&hands, directory, expected, options)
    }

    fn open_by(
        hands: &Arc<dyn Hands>,
        directory: &Path,
        expected: &Expected<'_>,
        options: DiskOptions,
    ) -> Result<Self, DiskError> {
        identity::check_engine(directory)?;
        files::make_directory(directory)?;
        refuse_foreign(directory)?;
        let lock = files::lock(directory)?;
        refuse_removed(directory)?;
        let mut identity = match Identity::read(directory)? {
            Some(identity) => identity,
            None => make(directory, expected, options.segment_bytes)?,
        };
        identity.check(directory, expected)?;
        refuse_old_copy(directory)?;
        let layout = layout(hands, directory, identity.disk, options.segment_bytes)?;
        let (segment_bytes, cached_bytes) = (options.segment_bytes, options.cached_bytes);
        let recovered =
            recovery::recover(&layout.directory, identity.disk, segment_bytes, cached_bytes)?;
        let failure = Failure::default();
        let purged = recovered.checkpoint.purged.as_ref().map(|id| id.index);
        let snapshots = Snapshots::open(hands, &directory.join(SNAPSHOTS), purged, &failure)?;
        count_start(&mut identity, directory)?;
        let logged = recovered.window.last().map_or(0, |id| id.index);
        let installed = snapshots.latest().and_then(|(meta, _)| meta.last_log_id);
        let last_at_start = logged.max(installed.map_or(0, |id| id.index));
        let started = writer::start(layout, recovered, failure.clone(), lock);
        let (queue, shared) = started.map_err(|error| DiskError::system(directory, error))?;
        let directory = directory.to_path_buf();
        let hands = Arc::clone(hands);
        let log = LogStore { queue, shared, hands };
        let identity = Arc::new(Mutex::new(identity));
        Ok(Self { directory, identity, log, snapshots, failure, last_at_start })
    }

    /// Who does its work.
    pub(crate) fn hands(&self) -> &dyn Hands {
        &*self.log.hands
    }

    /// Whose directory it is.
    pub fn identity(&self) -> Identity {
        self.identity.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The cluster that this node belongs to, once it does.
    pub fn cluster_id(&self) -> Option<ClusterId> {
        self.identity.lock().unwrap_or_else(PoisonError::into_inner).cluster_id
    }

    /// Keeps the cluster that this node belongs to, once and for all; a restored one has a larger
    /// generation. Waits for the disk.
    pub fn set_cluster_id(&self, cluster_id: ClusterId) -> Result<(), DiskError> {
        self.change(|identity| identity.cluster_id = Some(cluster_id))
    }

    /// Keeps what this node promises when a cluster is founded, and the cluster itself, at once: a
    /// node that knew only one of them would take messages of any. Waits for the disk.
    pub fn promise_founding(&self, record: Vec<u8>, cluster: ClusterId) -> Result<(), DiskError> {
        self.change(|identity| {
            identity.founding = Some(record);
            identity.cluster_id = Some(cluster);
        })
    }

    /// Keeps that this node was removed from its cluster: nobody can open the directory again.
    /// Waits for the disk.
    pub fn set_removed(&self) -> Result<(), DiskError> {
        files::replace(&self.directory.join(REMOVED), &[])
    }

    /// What this node promised when the cluster was founded.
    pub fn founding(&self) -> Option<Vec<u8>> {
        self.identity().founding
    }

    /// The index of the last entry, of the log or of a snapshot, when this directory was opened; 0
    /// if there was none.
    pub fn last_at_start(&self) -> u64 {
        self.last_at_start
    }

    /// The log.
    pub fn log(&self) -> LogStore {
        self.log.clone()
    }

    /// What the log costs.
    pub fn log_stats(&self) -> &LogStats {
        &self.log.shared.stats
    }

    /// The snapshots.
    pub fn snapshots(&self) -> Snapshots {
        self.snapshots.clone()
    }

    /// The largest lease clock of all entries of the log, uncommitted ones too.
    pub fn last_lease_time(&self) -> conclave_table::LeaseTime {
        self.log.last_lease_time()
    }

    /// Whether nothing was ever written to the log, voted for or installed: only such a disk may
    /// found a cluster.
    pub fn is_blank(&self) -> bool {
        let window = self.log.shared.window();
        window.vote.is_none() && window.last().is_none() && self.snapshots.latest().is_none()
    }

    /// The line that says why nothing is written any more.
    pub fn failure(&self) -> Option<Arc<str>> {
        self.failure.line()
    }

    /// The same, to be waited for.
    pub fn failures(&self) -> watch::Receiver<Option<Arc<str>>> {
        self.failure.watch()
    }

    /// A snapshot of another cluster has come.
    pub(crate) fn other_cluster(&self, known: ClusterId, found: ClusterId) -> DiskError {
        let name = |cluster: ClusterId| format!("{:032x}/{}", cluster.id, cluster.generation);
        DiskError::Other {
            path: self.directory.join(SNAPSHOTS),
            what: "another cluster",
            found: name(found),
            expected: name(known),
        }
    }

    /// Another node has found out that this is an older copy: it is never to be opened again, also
    /// when it has been started as often as the one that went on. Waits for the disk.
    pub fn mark_old_copy(&self, line: &str) -> Result<(), DiskError> {
        files::replace(&self.directory.join(OLD_COPY), line.as_bytes())
    }

    /// Remembers why this node has to stop, and gives it back as what the consensus engine
    /// understands.
    pub fn fail(&self, error: DiskError) -> io::Error {
        self.failure.record(error)
    }

    /// Writes what was kept back and gives the directory free.
    pub async fn close(&self) {
        self.log.close().await;
    }

    fn change(&self, change: impl FnOnce(&mut Identity)) -> Result<(), DiskError> {
        let mut identity = self.identity.lock().unwrap_or_else(PoisonError::into_inner);
        let mut changed = identity.clone();
        change(&mut changed);
        changed.write(&self.directory)?;
        *identity = changed;
        Ok(())
    }
}

const LOG: &str = "log";
const SNAPSHOTS: &str = "snapshots";
const OLD_COPY: &str = "old-copy";
/// All that a node puts into its directory, and what file systems have there.
const KNOWN: &[&str] = &["lock", identity::FILE, "identity.part", LOG, SNAPSHOTS, "lost+found"];

/// A directory without an identity must have nothing that anybody could miss.
fn refuse_foreign(directory: &Path) -> Result<(), DiskError> {
    if directory.join(identity::FILE).exists() {
        return Ok(());
    }
    for path in files::list(directory)? {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if !KNOWN.contains(&name) {
            let directory = directory.to_path_buf();
            return Err(DiskError::Foreign { directory, what: name.to_string() });
        }
    }
    Ok(())
}

/// What was found out once stays so: those who know may have forgotten it since.
fn refuse_old_copy(directory: &Path) -> Result<(), DiskError> {
    let path = directory.join(OLD_COPY);
    match fs::read(&path) {
        Ok(line) => {
            let line = String::from_utf8_lossy(&line).into_owned();
            Err(DiskError::OldCopy { directory: directory.to_path_buf(), line })
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(DiskError::system(&path, error)),
    }
}

/// Where the log of this disk is.
fn layout(
    hands: &Arc<dyn Hands>,
    directory: &Path,
    disk: u128,
    segment_bytes: u64,
) -> Result<Layout, DiskError> {
    let directory = directory.join(LOG);
    if !directory.is_dir() {
        return Err(DiskError::missing(&directory, "the log of this node was there"));
    }
    Ok(Layout { directory, disk, segment_bytes, hands: Arc::clone(hands) })
}

fn refuse_removed(directory: &Path) -> Result<(), DiskError> {
    match directory.join(REMOVED).exists() {
        true => Err(DiskError::Removed { directory: directory.to_path_buf() }),
        false => Ok(()),
    }
}

/// Counts this start, durably, before anything is said to anybody.
fn count_start(identity: &mut Identity, directory: &Path) -> Result<(), DiskError> {
    let random = conclave_net::random::bits();
    let random = random.map_err(|error| DiskError::system(directory, error))?;
    identity.starts += 1;
    identity.nonce = random as u32;
    identity.write(directory)
}

/// The identity comes last: what is there without one was never used.
fn make(
    directory: &Path,
    expected: &Expected<'_>,
    segment_bytes: u64,
) -> Result<Identity, DiskError> {
    let disk = conclave_net::random::bits().map_err(|error| DiskError::system(directory, error))?;
    let log = directory.join(LOG);
    let snapshots = directory.join(SNAPSHOTS);
    for path in [&log, &snapshots] {
        files::make_directory(path)?;
    }
    refuse_without_identity(directory, &log, &snapshots)?;
    let checkpoint = Checkpoint::default();
    let begin = Begin { format: record::FORMAT, disk, segment: 1, checkpoint };
    Segment::create(&log, segment_bytes, 0, begin)?;
    files::sync_directory(directory)?;
    let identity = Identity::new(expected, disk);
    identity.write(directory)?;
    if let Some(parent) = directory.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        files::sync_directory(parent)?;
    }
    Ok(identity)
}

/// A first segment that holds nothing may be left of a start that was cut short.
fn refuse_without_identity(
    directory: &Path,
    log: &Path,
    snapshots: &Path,
) -> Result<(), DiskError> {
    files::remove_drafts(log)?;
    let path = directory.join(identity::FILE);
    let missing = || Err(DiskError::missing(&path, "but a log or snapshots are there"));
    if !files::list(snapshots)?.is_empty() {
        return missing();
    }
    for (number, path) in segment::list(log)? {
        let bytes = Segment::open(&path, number)?.read_written()?;
        let unused = match frame::read(&bytes, number, 0) {
            frame::Found::Frame { next, .. } => {
                frame::read(&bytes, number, next) == frame::Found::End
            }
            frame::Found::End | frame::Found::Torn | frame::Found::Damaged(_) => false,
        };
        if number != 1 || !unused {
            return missing();
        }
        fs::remove_file(&path).map_err(|error| DiskError::system(&path, error))?;
    }
    Ok(())
}
