//! Backups: a snapshot with the time at which it was made, and a new cluster restored from one.
//!
//! What was granted after the backup is not in it. So a restored cluster is a new *generation*:
//! its fences begin far above all that can have been issued since (a thousand million, and a
//! million for each second), and for a while nobody is let in, until all leases that it does not
//! know have run out. Nodes of other generations are refused.
//!
//! The restored cluster has one node; others are added to it with empty disks.

use crate::disk::snapshot::{Head, Meta, Pieces, SNAPSHOT_BYTES_MAX, parse};
use crate::disk::{ClusterId, Disk, DiskError, Expected};
use crate::face::{Founder, ReplicaError};
use crate::founding::Founding;
use crate::raft::Vote;
use crate::raft_types::MemberNode;
use conclave_table::{Floor, GENESIS, Table, VERSION};
use openraft::storage::RaftLogStorage;
use openraft::{Membership, StoredMembership};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::task::spawn_blocking;

const MARK: &[u8; 8] = b"cnclback";
const FORMAT: u32 = 1;
const HEADER: usize = 8 + 4 + 8 + 8;

/// When a backup was made whose table may have been old already: at any time, and so long ago that
/// the fences of the restored cluster are above all that a cluster can have issued since.
pub(crate) const UNDATED: u64 = 0;

/// More than one second can issue, whatever the clocks say.
const FLOOR: u64 = 1_000_000_000;
/// More than a leader can issue in one second.
const FLOOR_PER_SECOND: u64 = 1_000_000;

/// The largest fence that clients can read as a number.
const FENCE_MAX: u64 = 1 << 53;

/// Where a backup is restored to, and how.
#[derive(Clone, Debug)]
pub struct Restore {
    /// The name of the cluster.
    pub cluster: String,
    /// The only member of the restored cluster.
    pub node: Founder,
    /// Its data directory, which must be empty.
    pub data: PathBuf,
    /// The time, in seconds since 1970.
    pub now: u64,
    /// Instead of what follows from the time: more than every fence that was ever issued.
    pub fence_floor: Option<u64>,
    /// For how long nobody is let in: the longest time to live that any session may have. Nothing:
    /// at once, and then only fences protect.
    pub quiet: Option<Duration>,
}

/// Whether a backup is of a table that may have been old already when it was made.
pub fn is_undated(backup: &[u8]) -> bool {
    backup.get(12..20) == Some(&UNDATED.to_le_bytes())
}

/// Makes a backup of a snapshot.
pub(crate) fn wrap(snapshot: &[u8], now: u64) -> Vec<u8> {
    let mut bytes = MARK.to_vec();
    bytes.extend_from_slice(&FORMAT.to_le_bytes());
    bytes.extend_from_slice(&now.to_le_bytes());
    bytes.extend_from_slice(&conclave_core::hash(&now).to_le_bytes());
    bytes.extend_from_slice(snapshot);
    bytes
}

/// Makes a new cluster of a backup, in an empty directory. A node that is started there leads it.
pub async fn restore(backup: Vec<u8>, to: Restore) -> Result<(), ReplicaError> {
    let (made, head, table) = read(backup)?;
    let last = head.cluster_id.ok_or_else(|| refused("the backup is of no cluster"))?;
    let floor = floor(&to, made, last.generation, &table)?;
    let cluster_id = ClusterId { id: last.id, generation: to.now.max(last.generation + 1) };
    let quiet = to.quiet.map_or(0, |quiet| u64::try_from(quiet.as_millis()).unwrap_or(u64::MAX));
    let table = table.restored(Floor(floor), quiet);
    let me = u64::from(to.node.id.0);
    let disk = open(&to)?;
    let Founder { peer, api, .. } = to.node;
    let member = MemberNode { disk: disk.identity().disk, peer, api };
    let nodes = BTreeMap::from([(me, member.clone())]);
    let members = Membership::new(vec![BTreeSet::from([me])], nodes);
    let members = members.map_err(refused)?;
    let last_log_id = head.meta.last_log_id;
    let last_membership = StoredMembership::new(last_log_id, members);
    let meta = Meta { last_log_id, last_membership };
    let record = Founding { cluster_id, version: GENESIS, members: [(me, member)].into() };
    // The term of the last entry, so that the next leader has a later one.
    let term = last_log_id.map_or(0, |last| last.committed_leader_id().term);
    disk.log().save_vote(&Vote::new(term, me)).await.map_err(refused)?;
    let written = spawn_blocking({
        let disk = disk.clone();
        move || write(&disk, &Head { meta, cluster_id: Some(cluster_id) }, &table, &record)
    });
    written.await.map_err(refused)??;
    disk.close().await;
    Ok(())
}

fn open(to: &Restore) -> Result<Disk, ReplicaError> {
    let expected = Expected { cluster: &to.cluster, node: to.node.id };
    let disk = Disk::open(&to.data, &expected).map_err(refused)?;
    if !disk.is_blank() || disk.cluster_id().is_some() || disk.founding().is_some() {
        return Err(refused(format!("{} is in use: choose an empty directory", to.data.display())));
    }
    Ok(disk)
}

fn write(disk: &Disk, head: &Head, table: &Table, record: &Founding) -> Result<(), ReplicaError> {
    let pieces = Pieces::encode(head, table);
    disk.snapshots().write(head, pieces).map_err(refused)?;
    disk.promise_founding(record.encode(), record.cluster_id).map_err(refused)
}

/// When it was made, and what is in it.
fn read(mut backup: Vec<u8>) -> Result<(u64, Head, Table), ReplicaError> {
    let damaged = || refused("this is no backup, or it is damaged");
    if backup.len() < HEADER || backup[..8] != *MARK {
        return Err(damaged());
    }
    if backup.len() as u64 > SNAPSHOT_BYTES_MAX {
        return Err(refused("the backup is larger than is allowed"));
    }
    if backup[8..12] != FORMAT.to_le_bytes() {
        return Err(refused("the backup is of another version of the program: use that one"));
    }
    let number = |at: usize| {
        let mut word = [0; 8];
        word.copy_from_slice(&backup[at..at + 8]);
        u64::from_le_bytes(word)
    };
    let made = number(12);
    if number(20) != conclave_core::hash(&made) {
        return Err(damaged());
    }
    let snapshot = backup.split_off(HEADER);
    let parsed = parse(Path::new("the backup"), snapshot);
    let (head, table) = parsed.map_err(|error| {
        let DiskError::Damaged { what, .. } = error else { return refused(error) };
        refused(format!("the backup is damaged or not complete ({what}): take another one"))
    })?;
    if table.version() > VERSION {
        return Err(refused("the backup is of a later version of the program: use that one"));
    }
    Ok((made, head, table))
}

/// What every fence of the restored cluster is above, less the index of its grant.
fn floor(to: &Restore, made: u64, last_restored: u64, table: &Table) -> Result<u64, ReplicaError> {
    let floor = match to.fence_floor {
        Some(floor) => floor,
        None => {
            if to.now < made.max(last_restored) {
                return Err(refused(
                    "the clock of this machine reads earlier than the backup, or than the last \
                     restore: set it right, or give --fence-floor",
                ));
            }
            let since = (to.now - made).saturating_mul(FLOOR_PER_SECOND);
            table.floor().0.saturating_add(FLOOR).saturating_add(since)
        }
    };
    // The backup itself knows of fences up to this one, and others came after it.
    let least = table.floor().0.saturating_add(table.index());
    if floor <= least || floor >= FENCE_MAX / 2 {
        return Err(refused(format!("a fence floor must be above {least} and below 2^52")));
    }
    Ok(floor)
}

fn refused(error: impl ToString) -> ReplicaError {
    ReplicaError::Refused(error.to_string())
}
