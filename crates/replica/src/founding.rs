//! Founding a cluster (bootstrap): once, by all, and never by a node that has forgotten.
//!
//! A node alone founds its cluster by itself. Of several the one with the lowest id does, when all
//! of them answer and all their disks are blank. Each first promises, on its disk, to take part in
//! this founding and no other. So a founder that crashed in between goes on with the same record,
//! and a disk that was lost in between is missed. A blank disk whose peers have a cluster already
//! waits to be added.

use crate::disk::{ClusterId, Disk, DiskError};
use crate::face::{Founder, ReplicaConfig};
use crate::node::Node;
use crate::raft::message::{Acquaintance, Question, Reply};
use crate::raft::network::{NoReply, address, node_id};
use crate::raft_types::MemberNode;
use conclave_core::NodeId;
use conclave_net::rpc::{PeerAddress, RpcError};
use conclave_table::GENESIS;
use futures_util::future::join_all;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// How often it is tried.
const PAUSE: Duration = Duration::from_millis(200);

/// How often it is said what is lacking, if that stays the same.
const REMINDER: Duration = Duration::from_secs(10);

/// How long a node may take to answer.
const ANSWER: Duration = Duration::from_secs(2);

/// What all promise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Founding {
    /// The random id of the cluster.
    pub cluster_id: ClusterId,
    /// The version of the table's rules that it begins with.
    pub version: u32,
    /// Its members, with their disks.
    pub members: BTreeMap<u64, MemberNode>,
}

impl Founding {
    /// As bytes.
    pub fn encode(&self) -> Vec<u8> {
        postcard::to_stdvec(self).expect("a record is plain data")
    }

    /// From bytes.
    pub fn decode(bytes: &[u8]) -> Result<Self, String> {
        let record = postcard::from_bytes(bytes);
        record.map_err(|_| "the record of the founding cannot be read".to_string())
    }

    fn founder(&self) -> Option<u64> {
        self.members.keys().next().copied()
    }
}

/// The lock behind which promises are given: one at a time.
static PROMISING: Mutex<()> = Mutex::new(());

/// What this node says to one that wants to found a cluster with it.
pub fn acquaint(disk: &Disk) -> Acquaintance {
    let identity = disk.identity();
    let unbound = identity.cluster_id.is_none() || identity.founding.is_some();
    let blank = disk.is_blank() && unbound;
    Acquaintance { disk: identity.disk, blank, promised: identity.founding, version: GENESIS }
}

/// Promises to take part in this founding and no other. Waits for the disk.
pub fn promise(disk: &Disk, me: u64, bytes: &[u8]) -> Result<u128, String> {
    let _one = PROMISING.lock().unwrap_or_else(PoisonError::into_inner);
    let record = Founding::decode(bytes)?;
    let mine = disk.identity();
    match &mine.founding {
        Some(promised) if promised == bytes => return Ok(mine.disk),
        Some(_) => return Err("it has promised to found another cluster".to_string()),
        None => {}
    }
    if !disk.is_blank() || mine.cluster_id.is_some() {
        return Err("it belongs to a cluster already".to_string());
    }
    if record.members.get(&me).map(|member| member.disk) != Some(mine.disk) {
        return Err("the record has another disk for it".to_string());
    }
    if record.version != GENESIS {
        return Err("it is of another version of the program: found with one version".to_string());
    }
    let kept = disk.promise_founding(bytes.to_vec(), record.cluster_id);
    kept.map_err(|error| error.to_string())?;
    Ok(mine.disk)
}

/// Agrees to become a member of a cluster that exists. Waits for the disk.
pub fn join(disk: &Disk, cluster_id: ClusterId) -> Result<u128, String> {
    let _one = PROMISING.lock().unwrap_or_else(PoisonError::into_inner);
    let mine = disk.identity();
    match mine.cluster_id {
        Some(known) if known == cluster_id => return Ok(mine.disk),
        Some(_) => return Err("it belongs to another cluster".to_string()),
        None => {}
    }
    if !disk.is_blank() || mine.founding.is_some() {
        return Err("its disk is not empty".to_string());
    }
    disk.set_cluster_id(cluster_id).map_err(|error: DiskError| error.to_string())?;
    Ok(mine.disk)
}

/// Founds the cluster, or waits until this node belongs to one.
pub async fn found(node: Arc<Node>) {
    let mut last = (String::new(), Instant::now());
    let mut pause = Duration::ZERO;
    while !belongs(&node).await {
        sleep(pause).await;
        let line = match attempt(&node).await {
            Ok(()) => continue,
            Err(line) => line,
        };
        let is_new = line != last.0;
        if !line.is_empty() && (is_new || last.1.elapsed() >= REMINDER) {
            // Whoever looks at the end of the log sees it among all that goes on meanwhile.
            match is_new {
                true => tracing::info!("{line}"),
                false => tracing::warn!("{line}"),
            }
            last = (line, Instant::now());
        }
        pause = PAUSE;
    }
}

/// Whether this node's log says that there is a cluster; or it has stopped.
async fn belongs(node: &Node) -> bool {
    node.raft.is_initialized().await.unwrap_or(true)
}

/// One attempt; a line says what is lacking.
async fn attempt(node: &Node) -> Result<(), String> {
    let record = match node.disk.founding() {
        Some(bytes) => Founding::decode(&bytes)?,
        None => prepare(node).await?,
    };
    if record.founder() != Some(node.me()) {
        return Err(String::new()); // Whoever founds it will tell.
    }
    let bytes = record.encode();
    promise(&node.disk, node.me(), &bytes)?;
    let others = record.members.iter().filter(|(id, _)| **id != node.me());
    let asked = others.map(|(id, member)| {
        let to = address(*id, member);
        let question = Question::Promise(bytes.clone());
        async move { ask(node, &to, &question).await.map_err(|why| lacking(to.id, &why)) }
    });
    for promised in join_all(asked).await {
        promised?;
    }
    let founded = node.raft.initialize(record.members.clone()).await;
    founded.map_err(|error| format!("the cluster cannot be founded: {error}"))?;
    tracing::info!("founded a cluster of {} nodes", record.members.len());
    Ok(())
}

/// Looks whether all nodes are there and all their disks are blank.
async fn prepare(node: &Node) -> Result<Founding, String> {
    let config = &node.config;
    if node.disk.cluster_id().is_some() {
        return Err("waits for the leader of the cluster that this node was added to".to_string());
    }
    let others = config.founders.iter().filter(|founder| founder.id != config.me);
    let asked = others.map(|founder| async move {
        let to = PeerAddress { id: founder.id, address: founder.peer.clone(), disk: None };
        (founder, ask(node, &to, &Question::Acquaint).await)
    });
    let mine = acquaint(&node.disk);
    let mut members = BTreeMap::new();
    let mut missing = Ok(());
    for (founder, reply) in join_all(asked).await {
        match met(founder, reply) {
            Ok(member) => drop(members.insert(u64::from(founder.id.0), member)),
            // That somebody has a cluster matters more than that somebody is away.
            Err(Missing::Member(line)) => return Err(line),
            Err(Missing::Away(line)) => missing = Err(line),
        }
    }
    missing?;
    let me = founder(config, config.me).ok_or("this node is not among those configured")?;
    members.insert(node.me(), member(me, mine.disk));
    if members.keys().next() != Some(&node.me()) {
        return Err(String::new());
    }
    let id = conclave_net::random::bits().map_err(|error| error.to_string())?;
    Ok(Founding { cluster_id: ClusterId { id, generation: 0 }, version: GENESIS, members })
}

enum Missing {
    /// It may come.
    Away(String),
    /// It belongs to a cluster.
    Member(String),
}

fn met(founder: &Founder, reply: Result<Reply, NoReply>) -> Result<MemberNode, Missing> {
    let id = founder.id;
    match reply {
        Ok(Reply::Acquainted(them)) if them.blank && them.promised.is_none() => {
            Ok(member(founder, them.disk))
        }
        Ok(Reply::Acquainted(them)) if them.blank => {
            Err(Missing::Away(format!("node {id} takes part in founding a cluster")))
        }
        Ok(_) => Err(Missing::Member(format!(
            "this disk is empty, and node {id} belongs to a cluster already: waits to be added, by \
             `conclave cluster add`"
        ))),
        Err(NoReply::Rpc(RpcError::Refused { reason, .. })) => Err(Missing::Member(format!(
            "this disk is empty, and no connection with node {id} is allowed ({reason}): waits \
             until that is mended, or, if that node belongs to a cluster already, waits to be \
             added, by `conclave cluster add`"
        ))),
        Err(why) => Err(Missing::Away(lacking(id, &why))),
    }
}

fn lacking(id: NodeId, why: &NoReply) -> String {
    format!("waits for all nodes to found the cluster; node {id}: {why}")
}

async fn ask(node: &Node, to: &PeerAddress, question: &Question) -> Result<Reply, NoReply> {
    node.peers.ask(to, question, Instant::now() + ANSWER).await
}

fn founder(config: &ReplicaConfig, id: NodeId) -> Option<&Founder> {
    config.founders.iter().find(|founder| founder.id == id)
}

fn member(founder: &Founder, disk: u128) -> MemberNode {
    MemberNode { disk, peer: founder.peer.clone(), api: founder.api.clone() }
}

/// Whether this node may connect to one that has no log yet.
pub fn admit(disk: &Disk, id: NodeId, theirs: u128) -> Result<(), String> {
    let Some(record) = disk.founding().and_then(|bytes| Founding::decode(&bytes).ok()) else {
        return Ok(()); // It may be the leader of a cluster that takes this node in.
    };
    let known = record.members.iter().find(|(known, _)| node_id(**known) == id);
    match known {
        Some((_, member)) if member.disk == theirs => Ok(()),
        Some(_) => {
            Err(format!("node {id} comes with another disk than it founded the cluster with"))
        }
        None => Err(format!("node {id} does not take part in founding this cluster")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_that_is_refused_is_not_said_to_have_a_cluster() {
        let founder = Founder { id: NodeId(2), peer: "a:1".into(), api: "a:2".into() };
        let refused = RpcError::Refused { to: NodeId(2), reason: "it is denied".into() };
        let Err(Missing::Member(line)) = met(&founder, Err(NoReply::Rpc(refused))) else {
            panic!("a person has to do something");
        };
        assert!(line.contains("node 3 is allowed (it is denied): waits until"), "{line}");
    }
    use crate::disk::Expected;
    use std::path::PathBuf;

    /// An empty disk of node 1, gone afterwards.
    struct Empty {
        disk: Disk,
        path: PathBuf,
    }

    impl Empty {
        fn new() -> Self {
            let random = conclave_net::random::bits().expect("random numbers");
            let path = std::env::temp_dir().join(format!("conclave-founding-{random:032x}"));
            let expected = Expected { cluster: "test", node: NodeId(0) };
            Self { disk: Disk::open(&path, &expected).expect("a new disk"), path }
        }

        fn record(&self, id: u128) -> Vec<u8> {
            let disk = self.disk.identity().disk;
            let member = MemberNode { disk, ..MemberNode::default() };
            let cluster_id = ClusterId { id, generation: 0 };
            Founding { cluster_id, version: GENESIS, members: [(0, member)].into() }.encode()
        }
    }

    impl Drop for Empty {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.path);
        }
    }

    #[test]
    fn a_disk_promises_one_founding_and_no_other() {
        let empty = Empty::new();
        let record = empty.record(1);
        assert!(acquaint(&empty.disk).blank);
        promise(&empty.disk, 0, &record).expect("it is blank");
        promise(&empty.disk, 0, &record).expect("it is the same");
        let other = promise(&empty.disk, 0, &empty.record(2)).expect_err("another one");
        assert!(other.contains("another cluster"), "{other}");
        let cluster = ClusterId { id: 9, generation: 0 };
        assert!(join(&empty.disk, cluster).is_err());
        assert_eq!(acquaint(&empty.disk).promised, Some(record));
        assert_eq!(empty.disk.cluster_id().map(|cluster| cluster.id), Some(1), "known at once");
    }

    #[test]
    fn a_disk_that_was_taken_in_founds_nothing() {
        let empty = Empty::new();
        let cluster = ClusterId { id: 9, generation: 0 };
        join(&empty.disk, cluster).expect("it is blank");
        join(&empty.disk, cluster).expect("it is the same");
        assert!(join(&empty.disk, ClusterId { id: 9, generation: 1 }).is_err());
        assert!(!acquaint(&empty.disk).blank);
        assert!(promise(&empty.disk, 0, &empty.record(1)).is_err());
    }

    #[test]
    fn a_promise_is_for_this_disk_and_these_rules() {
        let empty = Empty::new();
        let mut record = Founding::decode(&empty.record(1)).expect("it was encoded");
        record.version += 1;
        assert!(promise(&empty.disk, 0, &record.encode()).is_err(), "other rules");
        record.version = GENESIS;
        assert!(promise(&empty.disk, 1, &record.encode()).is_err(), "another node");
        record.members.insert(0, MemberNode::default());
        assert!(promise(&empty.disk, 0, &record.encode()).is_err(), "another disk");
        assert!(promise(&empty.disk, 0, b"nonsense").is_err());
        assert!(acquaint(&empty.disk).promised.is_none());
    }

    #[test]
    fn only_those_who_founded_it_with_their_disks_may_connect_before_there_is_a_log() {
        let empty = Empty::new();
        assert_eq!(
            admit(&empty.disk, NodeId(7), 1),
            Ok(()),
            "it may be a leader that adds this one"
        );
        promise(&empty.disk, 0, &empty.record(1)).expect("it is blank");
        assert!(admit(&empty.disk, NodeId(7), 1).is_err());
        assert!(admit(&empty.disk, NodeId(0), 1).is_err());
        assert_eq!(admit(&empty.disk, NodeId(0), empty.disk.identity().disk), Ok(()));
    }
}
