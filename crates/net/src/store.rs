//! The disk of a node: one file, changed by one synced transaction at a time.
//!
//! | table         | key           | holds                                                      |
//! |---------------|---------------|------------------------------------------------------------|
//! | `meta`        | a word        | format, cluster, node, settings, identity, incarnation     |
//! | `peers`       | node          | its identity, start, last durable numbers in and out       |
//! | `starts`      | node          | the number of that start, and the nonce that it came with  |
//! | `machines`    | key           | survival, state, running timers                            |
//! | `outbox`      | node, number  | a message that this peer has not acknowledged              |
//! | `application` | a name        | whatever the application asked to have saved               |
//!
//! What a node forgets may break what its algorithms promise. So a file that is damaged, empty or
//! somebody else's is refused, never replaced.
//!
//! One loss cannot be seen in the file itself. After an unclean end the library underneath takes
//! the last transaction that is whole. If the one after it is not, it was either under way when the
//! power failed, in which case nothing of it had left, or it was synced and has been damaged since:
//! the two look the same, and a second sync per transaction would be the price of telling them
//! apart. In the second case the node goes back by one transaction. Its peers remember the numbers
//! of messages, so if any were sent or acknowledged in it, the node is told by the first of them
//! that it meets, and ends; a vote or a promise of an algorithm that lives with lost messages may
//! go unnoticed.

mod error;
mod opening;

pub use error::StoreError;

use crate::{Histogram, Key, Lane, Packet, Past, Survival};
use conclave_core::{Delay, NodeId};
use error::Failed;
use redb::{Database, ReadableDatabase, ReadableTable, TableDefinition, WriteTransaction};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

const META: TableDefinition<&str, &[u8]> = TableDefinition::new("meta");
const PEERS: TableDefinition<u32, &[u8]> = TableDefinition::new("peers");
/// Apart from `peers`, whose rows are as long as those of files that do not have this table yet.
const STARTS: TableDefinition<u32, (u32, u64)> = TableDefinition::new("starts");
const MACHINES: TableDefinition<&str, &[u8]> = TableDefinition::new("machines");
const OUTBOX: TableDefinition<(u32, u64), (&str, &[u8])> = TableDefinition::new("outbox");
const APPLICATION: TableDefinition<&str, &[u8]> = TableDefinition::new("application");

/// Whose file it has to be.
#[derive(Clone, Copy, Debug)]
pub struct Expected<'a> {
    /// The name of the cluster.
    pub cluster: &'a str,
    /// The node.
    pub node: NodeId,
    /// The algorithms and parameters of the cluster. States of others mean nothing to these.
    pub settings: &'a str,
}

/// What is kept of a peer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptPeer {
    /// Who it said it was when first met.
    pub identity: Option<u128>,
    /// The latest of its starts that was seen.
    pub incarnation: u32,
    /// The random number that it made on that start. It has a table of its own.
    #[serde(skip)]
    pub nonce: Option<u64>,
    /// The last durable message that came from it.
    pub received: u64,
    /// The last durable message that went to it.
    pub sent: u64,
}

/// What is kept of a machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptMachine {
    /// How it lives through a crash.
    pub survival: Survival,
    /// What [`crate::Automaton::saved`] gave.
    pub saved: Vec<u8>,
    /// The timers that run, and how long each one does.
    pub timers: Vec<(Vec<u8>, Delay)>,
}

/// All that the disk knows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    /// The peers that were met.
    pub peers: BTreeMap<NodeId, KeptPeer>,
    /// The machines that survive.
    pub machines: BTreeMap<Key, KeptMachine>,
    /// What is not known to have arrived, by receiver and in order.
    pub outbox: Vec<(NodeId, Packet)>,
    /// What the application had saved.
    pub application: Vec<(String, Vec<u8>)>,
}

/// Changes that become lasting together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Batch {
    /// Peers, as they are now.
    pub peers: Vec<(NodeId, KeptPeer)>,
    /// Machines, as they are now: encoded [`KeptMachine`]s.
    pub machines: Vec<(Key, Vec<u8>)>,
    /// Messages sent.
    pub outbox: Vec<(NodeId, Packet)>,
    /// Up to which number a peer has everything: so much leaves the outbox.
    pub delivered: Vec<(NodeId, u64)>,
    /// What the application wants saved or removed.
    pub application: Vec<(String, Option<Vec<u8>>)>,
}

impl Batch {
    /// Whether nothing is lost if this is not written now: delivered messages can wait, for they
    /// are recognised when sent again.
    pub fn can_wait(&self) -> bool {
        self.peers.is_empty()
            && self.machines.is_empty()
            && self.outbox.is_empty()
            && self.application.is_empty()
    }
}

/// The open file of a node; nobody else can open it.
#[derive(Debug)]
pub struct Store {
    database: Database,
    path: PathBuf,
    identity: u128,
    incarnation: u32,
    nonce: u64,
    syncs: Arc<Histogram>,
}

/// The open file of a node whose start does not count yet. Nobody may hear of that start before.
#[derive(Debug)]
pub struct Uncounted(Store);

impl Uncounted {
    /// To read what is there.
    pub fn store(&self) -> &Store {
        &self.0
    }

    /// From now on the next start has another number.
    pub fn count(self) -> Result<Store, StoreError> {
        let Self(store) = self;
        let counted = opening::count(&store.database, store.incarnation);
        counted.map_err(|failed| failed.at(&store.path))?;
        Ok(store)
    }
}

impl Store {
    /// Opens the file in this directory, or makes both on the very first start. Every call that
    /// succeeds is one more incarnation of the node.
    pub fn open(directory: &Path, expected: &Expected) -> Result<Self, StoreError> {
        Self::open_uncounted(directory, expected)?.count()
    }

    /// The same, for a node that may still fail to start: its peers take no node that seems to
    /// have started too often, and one that fails is started again and again.
    pub fn open_uncounted(directory: &Path, expected: &Expected) -> Result<Uncounted, StoreError> {
        opening::open(directory, expected).map(Uncounted)
    }

    /// The settings that the file in this directory was made with; nothing if there is no file.
    pub fn settings(directory: &Path) -> Result<Option<String>, StoreError> {
        opening::settings(directory)
    }

    /// The random number by which others know this node from an impostor.
    pub fn identity(&self) -> u128 {
        self.identity
    }

    /// How many times it has been opened, this time included.
    pub fn incarnation(&self) -> u32 {
        self.incarnation
    }

    /// The random number of this opening: another copy of the file makes another one.
    pub fn nonce(&self) -> u64 {
        self.nonce
    }

    /// Remembers that the file is an old copy: it is never opened again, however often somebody
    /// tries, until the peers have forgotten what they know.
    pub fn condemn(&self, reason: &str) -> Result<(), StoreError> {
        opening::condemn(&self.database, reason).map_err(|failed| failed.at(&self.path))
    }

    /// How long its transactions took to be on disk, counted as they are made.
    pub fn syncs(&self) -> Arc<Histogram> {
        Arc::clone(&self.syncs)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What the links of a cluster of this size need to know of each node.
    pub fn past(&self, n: u32) -> Result<Vec<Past>, StoreError> {
        self.read_past(n).map_err(|failed| failed.at(&self.path))
    }

    /// Reads everything.
    pub fn load(&self) -> Result<Kept, StoreError> {
        self.read_all().map_err(|failed| failed.at(&self.path))
    }

    /// Makes these changes, all or none. When it returns they are on disk.
    pub fn commit(&self, batch: &Batch) -> Result<(), StoreError> {
        self.write(batch).map_err(|failed| failed.at(&self.path))
    }

    fn read_peers(&self) -> Result<BTreeMap<NodeId, KeptPeer>, Failed> {
        let read = self.database.begin_read()?;
        let starts = read.open_table(STARTS)?;
        let table = read.open_table(PEERS)?;
        let rows = table.iter()?.map(|row| {
            let (node, bytes) = row?;
            let mut peer: KeptPeer = decode(bytes.value())?;
            // A version without this table may have met a later start since.
            let start = starts.get(node.value())?.map(|start| start.value());
            let known = start.filter(|(incarnation, _)| *incarnation == peer.incarnation);
            peer.nonce = known.map(|(_, nonce)| nonce);
            Ok((NodeId(node.value()), peer))
        });
        rows.collect()
    }

    fn read_past(&self, n: u32) -> Result<Vec<Past>, Failed> {
        let peers = self.read_peers()?;
        let outbox = self.database.begin_read()?.open_table(OUTBOX)?;
        let past = |node| {
            let KeptPeer { identity, incarnation, nonce, received, sent } =
                peers.get(&NodeId(node)).copied().unwrap_or_default();
            let acknowledged = match outbox.range((node, 0)..=(node, u64::MAX))?.next() {
                Some(first) => first?.0.value().1.saturating_sub(1),
                None => sent,
            };
            Ok(Past { identity, incarnation, nonce, received, sent, acknowledged })
        };
        (0..n).map(past).collect()
    }

    fn read_all(&self) -> Result<Kept, Failed> {
        let read = self.database.begin_read()?;
        let mut kept = Kept { peers: self.read_peers()?, ..Kept::default() };
        for row in read.open_table(MACHINES)?.iter()? {
            let (key, bytes) = row?;
            kept.machines.insert(key.value().into(), decode(bytes.value())?);
        }
        for row in read.open_table(OUTBOX)?.iter()? {
            let (place, message) = row?;
            let ((to, number), (key, bytes)) = (place.value(), message.value());
            let key = key.into();
            let bytes = bytes.to_vec();
            let packet = Packet { lane: Lane::Durable, number, key, bytes };
            kept.outbox.push((NodeId(to), packet));
        }
        for row in read.open_table(APPLICATION)?.iter()? {
            let (name, value) = row?;
            kept.application.push((name.value().to_string(), value.value().to_vec()));
        }
        Ok(kept)
    }

    fn write(&self, batch: &Batch) -> Result<(), Failed> {
        let write = self.database.begin_write()?;
        write_rows(&write, batch)?;
        // The default is to return when the disk has it.
        let begun = Instant::now();
        write.commit()?;
        self.syncs.observe(begun.elapsed());
        Ok(())
    }
}

fn write_rows(write: &WriteTransaction, batch: &Batch) -> Result<(), Failed> {
    let mut peers = write.open_table(PEERS)?;
    let mut starts = write.open_table(STARTS)?;
    for (node, peer) in &batch.peers {
        peers.insert(node.0, &*encode(peer))?;
        if let Some(nonce) = peer.nonce {
            starts.insert(node.0, (peer.incarnation, nonce))?;
        }
    }
    let mut machines = write.open_table(MACHINES)?;
    for (key, row) in &batch.machines {
        machines.insert(&**key, &**row)?;
    }
    let mut outbox = write.open_table(OUTBOX)?;
    for (to, packet) in &batch.outbox {
        outbox.insert((to.0, packet.number), (&*packet.key, &*packet.bytes))?;
    }
    for (to, number) in &batch.delivered {
        outbox.retain_in((to.0, 0)..=(to.0, *number), |_, _| false)?;
    }
    let mut application = write.open_table(APPLICATION)?;
    for (name, value) in &batch.application {
        match value {
            Some(value) => application.insert(&**name, &**value)?,
            None => application.remove(&**name)?,
        };
    }
    Ok(())
}

pub(crate) fn encode(data: &impl Serialize) -> Vec<u8> {
    postcard::to_allocvec(data).expect("plain data of known length")
}

fn decode<T: for<'a> Deserialize<'a>>(bytes: &[u8]) -> Result<T, Failed> {
    match postcard::take_from_bytes(bytes) {
        Ok((data, [])) => Ok(data),
        Ok(_) | Err(_) => Err(Failed::Damaged("a row that cannot be read".into())),
    }
}

#[cfg(test)]
mod tests;
