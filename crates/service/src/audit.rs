//! The audit log: who took, gave back, lost or was forced out of what, one line of JSON each.
//!
//! Neither a session id nor a token is ever written, only the principal, the label and a short hash
//! of the session. The file is for its owner alone and is never opened through a symbolic link. A
//! thread of its own writes, so that a slow disk holds up no lock. What cannot be written is
//! counted and warned of; the node goes on. A file that was moved away (log rotation) is made anew.

use conclave_net::RateLimitedLog;
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// So many batches may wait for the disk; what comes then is lost, and counted.
const WAITING_MAX: usize = 65_536;
/// So long does a node that stops wait for its last lines to be written.
const FLUSH: Duration = Duration::from_secs(2);
/// What a node may do again when it starts is within so many bytes of the end.
const TAIL_BYTES: u64 = 16 << 20;

/// What happened.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// When, in milliseconds since 1970, by this node's clock.
    pub at_ms: u64,
    /// At which node this was written, from 1.
    pub node: u32,
    /// Replicated engine: the index in the log of the cluster, the same at every node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<u64>,
    /// `granted`, `released`, `expired`, `revoked`, `forced`, `lost`, `force` or `gap`.
    pub event: String,
    /// `lock` or `election`.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub kind: String,
    /// Its name.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub name: String,
    /// The fence of the hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fence: Option<u64>,
    /// Who held it; or, of `force`, who used it.
    #[serde(default)]
    pub principal: String,
    /// What the holder's session is called.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub label: String,
    /// A short hash of the session.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub session: String,
    /// Why it ended.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub reason: String,
}

impl Record {
    /// What tells it from others, whenever it is written. An index alone does not: a cluster that
    /// was made anew begins at 1.
    fn key(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        let Self { index, event, name, fence, session, .. } = self;
        (index, event, name, fence, session).hash(&mut hasher);
        hasher.finish()
    }
}

/// Where records go to. Clones write to the same file.
#[derive(Clone, Debug)]
pub struct Audit {
    node: u32,
    orders: SyncSender<Order>,
    counts: Arc<Counts>,
    /// What the file had at its end when it was opened.
    known: Arc<HashSet<u64>>,
}

/// What the writer is told.
enum Order {
    /// Whole lines.
    Write(Vec<u8>),
    /// To say when all before is done.
    Flush(SyncSender<()>),
}

#[derive(Debug, Default)]
struct Counts {
    written: AtomicU64,
    lost: AtomicU64,
}

impl Audit {
    /// Opens the file of this node, from 1, or makes it.
    pub fn open(path: &Path, node: u32) -> io::Result<Self> {
        let mut file = open(path)?;
        let (known, torn) = tail(&mut file)?;
        let (orders, taken) = sync_channel(WAITING_MAX);
        let counts = Arc::<Counts>::default();
        let writer = Writer {
            path: path.to_path_buf(),
            file,
            torn,
            counts: Arc::clone(&counts),
            warnings: RateLimitedLog::new("audit log"),
        };
        thread::Builder::new().name("audit".into()).spawn(move || writer.run(&taken))?;
        Ok(Self { node, orders, counts, known: Arc::new(known) })
    }

    /// Whether the file had this already when it was opened: a node that starts again does again
    /// what came after its snapshot.
    pub fn has(&self, record: &Record) -> bool {
        self.known.contains(&record.key())
    }

    /// Writes these down together, soon.
    pub fn write(&self, records: impl IntoIterator<Item = Record>) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let at_ms = now.as_millis() as u64;
        let mut lines = Vec::new();
        for record in records {
            let record = Record { at_ms, node: self.node, ..record };
            // Plain data can always be written down, and to memory.
            let _ = serde_json::to_writer(&mut lines, &record);
            lines.push(b'\n');
        }
        let count = count(&lines);
        if count > 0 && self.orders.try_send(Order::Write(lines)).is_err() {
            self.counts.lost.fetch_add(count, Ordering::Relaxed);
        }
    }

    /// Waits until all is written, but not for ever: for a node that stops.
    pub fn flush(&self) {
        let (done, written) = sync_channel(1);
        if self.orders.try_send(Order::Flush(done)).is_ok() {
            let _ = written.recv_timeout(FLUSH); // A disk that hangs does not keep it.
        }
    }

    /// How many lines were written.
    pub fn written(&self) -> u64 {
        self.counts.written.load(Ordering::Relaxed)
    }

    /// How many lines could not be written.
    pub fn lost(&self) -> u64 {
        self.counts.lost.load(Ordering::Relaxed)
    }
}

fn count(lines: &[u8]) -> u64 {
    lines.iter().filter(|byte| **byte == b'\n').count() as u64
}

fn open(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new()
        .read(true)
        .append(true)
        .create(true)
        .mode(0o600)
        .custom_flags(OFlags::NOFOLLOW.bits().cast_signed())
        .open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("is no plain file"));
    }
    Ok(file)
}

/// What is at the end of a file, and whether its last line is cut short.
fn tail(file: &mut File) -> io::Result<(HashSet<u64>, bool)> {
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES)))?;
    let mut bytes = Vec::new();
    file.take(TAIL_BYTES).read_to_end(&mut bytes)?;
    let torn = bytes.last().is_some_and(|last| *last != b'\n');
    let whole = bytes.split(|byte| *byte == b'\n');
    let key = |line: &[u8]| Some(serde_json::from_slice::<Record>(line).ok()?.key());
    Ok((whole.filter_map(key).collect(), torn))
}

/// Writes, on a thread of its own.
struct Writer {
    path: PathBuf,
    file: File,
    /// Whether the last line in the file is cut short: nothing is to be added to it.
    torn: bool,
    counts: Arc<Counts>,
    warnings: RateLimitedLog,
}

impl Writer {
    fn run(mut self, orders: &Receiver<Order>) {
        while let Ok(order) = orders.recv() {
            let lines = match order {
                Order::Write(lines) => lines,
                Order::Flush(done) => {
                    let _ = done.send(()); // Whoever asked may have given up.
                    continue;
                }
            };
            let written = self.follow_rotation().and_then(|()| self.write(&lines));
            let counter = if written.is_ok() { &self.counts.written } else { &self.counts.lost };
            counter.fetch_add(count(&lines), Ordering::Relaxed);
            if let Err(error) = written {
                let path = self.path.display();
                let lost = self.counts.lost.load(Ordering::Relaxed);
                self.warnings
                    .say(format_args!("--audit {path}: {error}; {lost} lines are lost so far"));
            }
        }
    }

    fn write(&mut self, lines: &[u8]) -> io::Result<()> {
        if self.torn {
            self.file.write_all(b"\n")?;
        }
        self.torn = true; // Until all of it is there.
        self.file.write_all(lines)?;
        self.torn = false;
        Ok(())
    }

    /// If the file was moved away, the next lines go to a new one.
    fn follow_rotation(&mut self) -> io::Result<()> {
        let here = self.file.metadata()?;
        let there = std::fs::symlink_metadata(&self.path);
        if there.is_ok_and(|there| (there.dev(), there.ino()) == (here.dev(), here.ino())) {
            return Ok(());
        }
        self.file = open(&self.path)?;
        self.torn = tail(&mut self.file)?.1;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
