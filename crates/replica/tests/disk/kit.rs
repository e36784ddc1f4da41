//! What the tests of the disk share: places of their own, entries, an observer that takes notes.

use conclave_core::NodeId;
use conclave_replica::disk::{Disk, DiskError, DiskOptions, Expected, LogStore};
use conclave_replica::raft_types::{Stamped, TypeConfig};
use conclave_replica::state_machine::StateMachine;
use conclave_replica::{Entry, Observer};
use conclave_table::{Ask, Body, Change, LeaseTime, Open, RequestId, SessionId, Table, VERSION};
use openraft::storage::{IOFlushed, RaftLogStorage};
use openraft::type_config::TypeConfigExt;
use openraft::type_config::alias::{EntryOf, LogIdOf, OneshotReceiverOf};
use openraft::vote::RaftLeaderIdExt;
use openraft::{EntryPayload, RaftTypeConfig};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

pub type LogEntry = EntryOf<TypeConfig>;
pub type LogId = LogIdOf<TypeConfig>;

pub const EXPECTED: Expected<'static> = Expected { cluster: "test", node: NodeId(1) };
/// Small enough that a test has several segments.
pub const SMALL: DiskOptions = DiskOptions { segment_bytes: 4_096, cached_bytes: 2_048 };

/// A directory of one test, removed with it.
pub struct Place(pub PathBuf);

impl Place {
    pub fn new() -> Self {
        let random = conclave_net::random::bits().unwrap();
        let path = std::env::temp_dir().join(format!("conclave-disk-{random:032x}"));
        fs::create_dir(&path).unwrap();
        Self(path)
    }

    pub fn data(&self) -> PathBuf {
        self.0.join("data")
    }

    pub fn open(&self) -> Disk {
        open(&self.data()).unwrap()
    }

    /// Why it cannot be opened. It is not changed by that.
    pub fn refusal(&self) -> String {
        refusal(&self.data())
    }

    /// A copy, as a crash at this moment would leave it.
    pub fn copy(&self) -> Self {
        // Old segments are deleted in the background. A copy takes time, which a crash does not:
        // one during which files went or came is not what a crash leaves.
        loop {
            let copy = Self::new();
            let before = (self.segments(), self.snapshots());
            let copied = copy_all(&self.data(), &copy.data());
            if before == (self.segments(), self.snapshots()) {
                copied.expect("nothing went meanwhile");
                return copy;
            }
        }
    }

    /// The files of the log, in order.
    pub fn segments(&self) -> Vec<PathBuf> {
        sorted(&self.data().join("log"))
    }

    pub fn snapshots(&self) -> Vec<PathBuf> {
        sorted(&self.data().join("snapshots"))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub fn open(data: &Path) -> Result<Disk, DiskError> {
    Disk::open_with(data, &EXPECTED, SMALL)
}

pub fn refusal(data: &Path) -> String {
    let error = open(data).err().expect("it is refused").to_string();
    assert!(!error.contains('\n'), "one line: {error}");
    error
}

fn sorted(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

fn copy_all(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir(to)?;
    for path in sorted(from) {
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy_all(&path, &target)?;
        } else {
            fs::copy(&path, &target)?;
        }
    }
    Ok(())
}

pub fn log_id(term: u64, index: u64) -> LogId {
    let leader = <TypeConfig as RaftTypeConfig>::LeaderId::new_committed(term, 1);
    LogId::new(leader, index)
}

pub fn entry(term: u64, index: u64, lease: u64, change: Change) -> LogEntry {
    let stamped = Stamped { lease_time: LeaseTime(lease), change };
    LogEntry { log_id: log_id(term, index), payload: EntryPayload::Normal(stamped) }
}

pub fn blank(term: u64, index: u64) -> LogEntry {
    LogEntry { log_id: log_id(term, index), payload: EntryPayload::Blank }
}

/// An entry that opens a session and is so long.
pub fn long(term: u64, index: u64, length: usize) -> LogEntry {
    let label = "x".repeat(length).into();
    let open = Open { label, ..Open::new(session(index), 10_000) };
    entry(term, index, index * 10, Change::Open(open))
}

pub fn session(number: u64) -> SessionId {
    let mut id = [0; 16];
    id[..8].copy_from_slice(&number.to_le_bytes());
    SessionId(id)
}

pub fn ask(session: SessionId, request: u64, body: Body) -> Change {
    Change::Ask(Ask::new(session, RequestId(request), body))
}

pub fn flushed() -> (IOFlushed<TypeConfig>, OneshotReceiverOf<TypeConfig, io::Result<()>>) {
    let (done, wait) = TypeConfig::oneshot();
    (IOFlushed::signal(done), wait)
}

/// Appends and waits until it is on disk.
pub async fn append(log: &mut LogStore, entries: Vec<LogEntry>) -> io::Result<()> {
    let (callback, wait) = flushed();
    log.append(entries, callback).await?;
    wait.await.expect("it is answered")
}

/// What an observer saw.
#[derive(Clone, Default)]
pub struct Notes(pub Arc<Mutex<Vec<String>>>);

impl Notes {
    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

impl Observer for Notes {
    fn applied(&mut self, entry: &Entry<'_>) {
        assert_eq!(entry.table.index(), entry.index);
        self.0.lock().unwrap().push(format!("applied {}", entry.index));
    }

    fn installed(&mut self, table: &Table) {
        self.0.lock().unwrap().push(format!("installed {}", table.index()));
    }
}

pub fn machine(disk: &Disk) -> (StateMachine, Notes) {
    let notes = Notes::default();
    let machine = StateMachine::open(disk, Box::new(notes.clone()), VERSION).unwrap();
    (machine, notes)
}
