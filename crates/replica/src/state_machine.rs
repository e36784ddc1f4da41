//! The replicated state machine: applies the log to the table, and makes and installs snapshots.
//!
//! The table is in memory only. On start it is read from the latest snapshot, and the consensus
//! engine applies the committed entries after it once more.

use crate::disk::snapshot::{Head, Meta, Pieces};
use crate::disk::{Disk, DiskError, SnapshotFile, hands};
use crate::face::{Entry, Observer};
use crate::raft_types::{Stamped, TypeConfig};
use crate::state_hashes::{StateHash, StateHashes};
use conclave_table::{Applied, Change, Floor, Table};
use futures_util::{Stream, StreamExt};
use openraft::storage::{EntryResponder, RaftSnapshotBuilder, RaftStateMachine};
use openraft::type_config::alias::{EntryOf, LogIdOf, SnapshotOf, StoredMembershipOf};
use openraft::{EntryPayload, OptionalSend};
use std::io;
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use tokio::sync::Notify;

type LogId = LogIdOf<TypeConfig>;
type Members = StoredMembershipOf<TypeConfig>;

/// So many entries are applied before readers get their turn.
const BATCH: usize = 64;

/// The table of this node, for all who read it. Cheap to clone.
#[derive(Clone)]
pub struct SharedTable(Arc<Shared>);

struct Shared {
    state: RwLock<State>,
    applied: Notify,
}

struct State {
    table: Table,
    applied: Option<LogId>,
    members: Members,
    hashes: StateHashes,
}

impl SharedTable {
    /// Looks at the table. Whoever applies waits meanwhile.
    pub fn look<T>(&self, look: impl FnOnce(&Table) -> T) -> T {
        look(&self.read().table)
    }

    /// Waits until something is applied, from the moment on at which this is first polled.
    pub async fn changed(&self) {
        self.0.applied.notified().await;
    }

    /// The last entry that was applied, blank ones included.
    pub fn applied(&self) -> Option<LogId> {
        self.read().applied
    }

    /// The latest state hashes, to be compared with those of other nodes.
    pub fn hashes(&self) -> Vec<StateHash> {
        self.read().hashes.all()
    }

    fn read(&self) -> RwLockReadGuard<'_, State> {
        self.0.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, State> {
        self.0.state.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Applies the log to the table.
pub struct StateMachine {
    disk: Disk,
    shared: SharedTable,
    observer: Mutex<Box<dyn Observer>>,
    /// The largest version of the table's rules that this build knows.
    version_max: u32,
}

impl StateMachine {
    /// Reads the latest snapshot; the observer sees it. `version_max` is
    /// [`conclave_table::VERSION`], but for tests.
    pub fn open(
        disk: &Disk,
        observer: Box<dyn Observer>,
        version_max: u32,
    ) -> Result<Self, DiskError> {
        let state = State {
            table: Table::new(Floor(0)),
            applied: None,
            members: Members::default(),
            hashes: StateHashes::default(),
        };
        let state = RwLock::new(state);
        let shared = SharedTable(Arc::new(Shared { state, applied: Notify::new() }));
        let observer = Mutex::new(observer);
        let mut machine = Self { disk: disk.clone(), shared, observer, version_max };
        if let Some((head, table)) = disk.snapshots().load()? {
            check(disk, &head, &table, version_max)?;
            machine.replace(head, table);
        } else {
            let table = machine.shared.read();
            machine
                .observer
                .get_mut()
                .unwrap_or_else(PoisonError::into_inner)
                .installed(&table.table);
        }
        Ok(machine)
    }

    /// The table, for readers.
    pub fn shared(&self) -> SharedTable {
        self.shared.clone()
    }

    fn replace(&mut self, head: Head, table: Table) {
        let mut state = self.shared.write();
        state.applied = head.meta.last_log_id;
        state.members = head.meta.last_membership;
        state.table = table;
        state.hashes.installed();
        let observer = self.observer.get_mut().unwrap_or_else(PoisonError::into_inner);
        observer.installed(&state.table);
    }

    fn apply_all(
        &mut self,
        entries: Vec<Result<EntryResponder<TypeConfig>, io::Error>>,
    ) -> io::Result<()> {
        let mut state = self.shared.write();
        let observer = self.observer.get_mut().unwrap_or_else(PoisonError::into_inner);
        for entry in entries {
            let (entry, responder) = entry?;
            let applied = state.apply(&entry, self.version_max, observer.as_mut());
            let applied = applied.map_err(|error| self.disk.fail(error))?;
            if let Some(responder) = responder {
                responder.send(applied);
            }
        }
        drop(state);
        self.shared.0.applied.notify_waiters();
        Ok(())
    }
}

impl State {
    fn apply(
        &mut self,
        entry: &EntryOf<TypeConfig>,
        version_max: u32,
        observer: &mut dyn Observer,
    ) -> Result<Option<Applied>, DiskError> {
        let index = entry.log_id.index;
        if self.applied.as_ref().is_some_and(|applied| applied.index >= index) {
            return Err(DiskError::Twice { index });
        }
        let answer = match &entry.payload {
            EntryPayload::Blank => None,
            EntryPayload::Normal(stamped) => {
                Some(self.apply_change(index, stamped, version_max, observer)?)
            }
            EntryPayload::Membership(members) => {
                self.members = Members::new(Some(entry.log_id), members.clone());
                None
            }
        };
        self.applied = Some(entry.log_id);
        self.hashes.applied(index, &self.table);
        Ok(answer)
    }

    fn apply_change(
        &mut self,
        index: u64,
        Stamped { lease_time, change }: &Stamped,
        version_max: u32,
        observer: &mut dyn Observer,
    ) -> Result<Applied, DiskError> {
        if let Change::RaiseVersion(version) = change
            && *version > version_max
        {
            return Err(unknown_version(*version));
        }
        let applied = self.table.apply(index, *lease_time, change);
        let lease_time = *lease_time;
        let table = &self.table;
        observer.applied(&Entry { index, lease_time, change, applied: &applied, table });
        Ok(applied)
    }
}

/// Whether a snapshot is of this cluster and of rules that this build knows.
pub fn check(disk: &Disk, head: &Head, table: &Table, version_max: u32) -> Result<(), DiskError> {
    if table.version() > version_max {
        return Err(unknown_version(table.version()));
    }
    if let (Some(known), Some(found)) = (disk.identity().cluster_id, head.cluster_id)
        && known != found
    {
        return Err(disk.other_cluster(known, found));
    }
    Ok(())
}

fn unknown_version(version: u32) -> DiskError {
    DiskError::Unknown { what: format!("the table is of version {version}") }
}

impl RaftStateMachine<TypeConfig> for StateMachine {
    type SnapshotData = SnapshotFile;
    type SnapshotBuilder = Builder;

    async fn applied_state(&mut self) -> Result<(Option<LogId>, Members), io::Error> {
        let state = self.shared.read();
        Ok((state.applied, state.members.clone()))
    }

    async fn apply<Strm>(&mut self, entries: Strm) -> Result<(), io::Error>
    where
        Strm: Stream<Item = Result<EntryResponder<TypeConfig>, io::Error>> + Unpin + OptionalSend,
    {
        let mut batches = entries.ready_chunks(BATCH);
        while let Some(batch) = batches.next().await {
            self.apply_all(batch)?;
        }
        Ok(())
    }

    async fn get_snapshot_builder(&mut self) -> Builder {
        Builder { disk: self.disk.clone(), shared: self.shared.clone() }
    }

    async fn install_snapshot(&mut self, meta: &Meta, file: SnapshotFile) -> Result<(), io::Error> {
        let disk = self.disk.clone();
        let version_max = self.version_max;
        let meta = meta.clone();
        let install = move || {
            let (head, table) = disk.snapshots().read(&meta, &file)?;
            check(&disk, &head, &table, version_max)?;
            disk.snapshots().install(head.clone(), file)?;
            if let (None, Some(found)) = (disk.identity().cluster_id, head.cluster_id) {
                disk.set_cluster_id(found)?;
            }
            Ok((head, table))
        };
        let installed = hands::work(self.disk.hands(), install).await?;
        let (head, table) = installed.map_err(|error| self.disk.fail(error))?;
        self.replace(head, table);
        Ok(())
    }

    async fn get_current_snapshot(
        &mut self,
    ) -> Result<Option<SnapshotOf<TypeConfig, SnapshotFile>>, io::Error> {
        let latest = self.disk.snapshots().latest();
        Ok(latest.map(|(meta, snapshot)| SnapshotOf::<TypeConfig, _> { meta, snapshot }))
    }
}

/// Makes a snapshot of the table, beside whoever reads it.
pub struct Builder {
    disk: Disk,
    shared: SharedTable,
}

impl RaftSnapshotBuilder<TypeConfig> for Builder {
    type SnapshotData = SnapshotFile;

    async fn build_snapshot(&mut self) -> Result<SnapshotOf<TypeConfig, SnapshotFile>, io::Error> {
        let disk = self.disk.clone();
        let shared = self.shared.clone();
        let build = move || {
            let cluster_id = disk.identity().cluster_id;
            // The table is encoded, not cloned. Nothing is applied meanwhile, but nobody waits for
            // the disk.
            let (head, pieces) = {
                let state = shared.read();
                let last_log_id = state.applied;
                let meta = Meta { last_log_id, last_membership: state.members.clone() };
                let head = Head { meta, cluster_id };
                let pieces = Pieces::encode(&head, &state.table);
                (head, pieces)
            };
            let snapshot = disk.snapshots().write(&head, pieces)?;
            Ok(SnapshotOf::<TypeConfig, _> { meta: head.meta, snapshot })
        };
        hands::work(self.disk.hands(), build).await?
    }
}
