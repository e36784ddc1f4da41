//! Snapshot transfer: a snapshot goes to a node that lags behind, in chunks.
//!
//! The receiver says how many bytes it has. So a transfer that broke goes on where it stopped, as
//! long as it is the same snapshot. One comes at a time; another takes its place.

use super::message::{Piece, Reply};
use super::network::{NoReply, Peers};
use super::{Raft, Vote};
use crate::disk::snapshot::{Incoming, Meta, SNAPSHOT_BYTES_MAX};
use crate::disk::{Disk, SnapshotFile};
use crate::raft_types::TypeConfig;
use crate::state_machine::check;
use conclave_net::rpc::{PeerAddress, Purpose};
use openraft::errors::{StreamingError, Unreachable};
use openraft::raft::SnapshotResponse;
use openraft::type_config::alias::SnapshotOf;
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::Instant;

/// How much goes at once.
const CHUNK: usize = 512 << 10;

/// How long one chunk may take.
const CHUNK_TIMEOUT: Duration = Duration::from_secs(10);

/// How long the receiver may take to read and install all of it.
const INSTALL_TIMEOUT: Duration = Duration::from_secs(120);

/// Sends a snapshot until it is installed there.
pub async fn send(
    peers: &Peers,
    to: &PeerAddress,
    vote: Vote,
    snapshot: SnapshotOf<TypeConfig, SnapshotFile>,
) -> Result<SnapshotResponse<TypeConfig>, StreamingError<TypeConfig>> {
    let file = snapshot.snapshot;
    let length = file.length();
    let piece = |offset, bytes| Piece { vote, meta: snapshot.meta.clone(), length, offset, bytes };
    let mut next = piece(0, Vec::new());
    loop {
        let all = next.offset + next.bytes.len() as u64 == length;
        let within = if all { INSTALL_TIMEOUT } else { CHUNK_TIMEOUT };
        let sent = peers.send(to, Purpose::Bulk, &next, Instant::now() + within).await;
        let reply = sent.map_err(|error| broken(&error))?;
        if let Reply::Installed(answer) = reply {
            return Ok(answer);
        }
        let Reply::Has(offset) = reply else { return Err(broken(&NoReply::Nonsense)) };
        if offset >= length {
            return Err(broken(&NoReply::Nonsense));
        }
        let read = file.read_chunk(offset, CHUNK).await;
        let bytes = read.map_err(|error| StreamingError::Unreachable(Unreachable::new(&error)))?;
        next = piece(offset, bytes);
    }
}

fn broken(error: &NoReply) -> StreamingError<TypeConfig> {
    StreamingError::Unreachable(Unreachable::new(error))
}

/// Takes snapshots that come.
pub struct Receiver {
    disk: Disk,
    /// The largest version of the table's rules that this build knows.
    version_max: u32,
    current: Mutex<Option<Receiving>>,
}

struct Receiving {
    meta: Meta,
    length: u64,
    incoming: Incoming,
}

impl Receiver {
    /// Into this directory, if they are of rules up to this version.
    pub fn new(disk: Disk, version_max: u32) -> Self {
        Self { disk, version_max, current: Mutex::new(None) }
    }

    /// Takes a chunk, and has the snapshot installed when it was the last.
    pub async fn take(&self, raft: &Raft, piece: Piece) -> Result<Reply, String> {
        if piece.length > SNAPSHOT_BYTES_MAX {
            return Err("the snapshot is larger than is allowed".to_string());
        }
        let mut current = self.current.lock().await;
        if !current.as_ref().is_some_and(|one| one.meta == piece.meta && one.length == piece.length)
        {
            let incoming = self.disk.snapshots().receive().map_err(|error| error.to_string())?;
            let Piece { meta, length, .. } = &piece;
            *current = Some(Receiving { meta: meta.clone(), length: *length, incoming });
        }
        let receiving = current.as_mut().expect("it was put there");
        if !piece.bytes.is_empty() && piece.offset == receiving.incoming.length() {
            let written = receiving.incoming.write_chunk(piece.offset, piece.bytes).await;
            written.map_err(|error| error.to_string())?;
        }
        let has = receiving.incoming.length();
        if has < piece.length {
            return Ok(Reply::Has(has));
        }
        let Receiving { meta, incoming, .. } = current.take().expect("it was put there");
        let disk = self.disk.clone();
        let version_max = self.version_max;
        let usable = move |head: &_, table: &_| check(&disk, head, table, version_max);
        let finished = incoming.finish_if(&meta, usable).await;
        let snapshot = finished.map_err(|error| error.to_string())?;
        let snapshot = SnapshotOf::<TypeConfig, _> { meta, snapshot };
        let installed = raft.install_full_snapshot(piece.vote, snapshot).await;
        installed.map(Reply::Installed).map_err(|error| error.to_string())
    }
}
