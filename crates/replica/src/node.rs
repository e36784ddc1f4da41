//! A node of the replicated cluster: what all its tasks share.

use crate::disk::Disk;
use crate::face::{Member, ReplicaConfig};
use crate::numbers::LastHeard;
use crate::quick_election::Permits;
use crate::raft::network::{Peers, address, node_id};
use crate::raft::vetting::Known;
use crate::raft::{LogId, Raft, Vote};
use crate::raft_types::{MemberNode, TypeConfig};
use crate::state_machine::SharedTable;
use conclave_core::NodeId;
use conclave_net::rpc::PeerAddress;
use openraft::RaftMetrics;
use openraft::async_runtime::WatchReceiver;
use openraft::storage::RaftLogStorage;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// One node.
pub struct Node {
    /// What it was started with.
    pub config: ReplicaConfig,
    /// The largest version of the table's rules that it knows.
    pub version_max: u32,
    /// Its data directory.
    pub disk: Disk,
    /// Its table.
    pub table: SharedTable,
    /// Its part in the consensus.
    pub raft: Raft,
    /// The way to the others.
    pub peers: Peers,
    /// Which votes may pass before their time.
    pub permits: Permits,
    /// Whether a leader was heard of since this node started.
    pub heard: watch::Sender<bool>,
    /// When the leader that this node follows was last heard of.
    pub last_heard: LastHeard,
    /// Why it had to stop by itself.
    pub ended: watch::Sender<Option<Arc<str>>>,
    /// Ends all its tasks.
    pub stop: CancellationToken,
}

/// Who belongs to the cluster, by the last membership in this node's log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Members {
    /// All of them.
    pub nodes: BTreeMap<u64, MemberNode>,
    /// Those that have a vote.
    pub voters: BTreeSet<u64>,
}

impl Node {
    /// This node, as the consensus engine knows it.
    pub fn me(&self) -> u64 {
        u64::from(self.config.me.0)
    }

    /// What the consensus engine says of itself.
    pub fn metrics(&self) -> RaftMetrics<TypeConfig> {
        self.raft.metrics().borrow_watched().clone()
    }

    /// Who belongs to the cluster.
    pub fn members(&self) -> Members {
        Members::of(&self.raft.metrics().borrow_watched())
    }

    /// How far this node is.
    pub fn known(&self) -> Known {
        let metrics = self.raft.metrics();
        let metrics = metrics.borrow_watched();
        let committed = metrics.local_committed.max(metrics.last_applied);
        Known { term: metrics.current_term, committed, version_max: self.version_max }
    }

    /// Where a member is.
    pub fn address(&self, id: NodeId) -> Option<PeerAddress> {
        let id = u64::from(id.0);
        let metrics = self.raft.metrics();
        let metrics = metrics.borrow_watched();
        metrics.membership_config.get_node(&id).map(|node| address(id, node))
    }

    /// All members but this node.
    pub fn others(&self) -> Vec<PeerAddress> {
        let me = self.me();
        let nodes = self.members().nodes;
        nodes.iter().filter(|(id, _)| **id != me).map(|(id, node)| address(*id, node)).collect()
    }

    /// The vote of this node, and its last entry.
    pub async fn log_end(&self) -> Option<(Vote, Option<LogId>)> {
        let vote = self.raft.with_raft_state(|state| *state.vote_ref()).await.ok()?;
        let log = self.disk.log().get_log_state().await.ok()?;
        Some((vote, log.last_log_id))
    }

    /// A leader was heard of: what was stored of it is no mere memory.
    pub fn on_leader(&self) {
        self.heard.send_if_modified(|heard| !std::mem::replace(heard, true));
    }

    /// Stops for good, and says why. Only the first reason counts.
    pub fn end(&self, line: impl Into<Arc<str>>) {
        let line = line.into();
        self.ended.send_if_modified(|ended| {
            let first = ended.is_none();
            if first {
                tracing::error!("{line}");
                *ended = Some(line);
            }
            first
        });
    }
}

impl Members {
    /// As the consensus engine has them.
    pub fn of(metrics: &RaftMetrics<TypeConfig>) -> Self {
        let stored = &metrics.membership_config;
        let nodes = stored.nodes().map(|(id, node)| (*id, node.clone())).collect();
        Self { nodes, voters: stored.voter_ids().collect() }
    }

    /// As others are shown them.
    pub fn list(&self) -> Vec<Member> {
        let member = |(id, node): (&u64, &MemberNode)| Member {
            id: node_id(*id),
            disk: node.disk,
            peer: node.peer.clone(),
            api: node.api.clone(),
            voter: self.voters.contains(id),
        };
        self.nodes.iter().map(member).collect()
    }

    /// Whether this node with this disk may connect, by these members; if not, why.
    pub fn admit(&self, id: NodeId, disk: u128) -> Result<(), String> {
        match self.nodes.get(&u64::from(id.0)) {
            Some(node) if node.disk == disk => Ok(()),
            Some(_) => Err(format!(
                "node {id} comes with another disk than it is a member with: an empty disk joins \
                 as a new member, by `conclave cluster remove` and `conclave cluster add`"
            )),
            None => Err(format!(
                "node {id} is no member of this cluster: `conclave cluster add` makes it one"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_is_a_node_with_its_disk() {
        let node = MemberNode { disk: 7, ..MemberNode::default() };
        let members = Members { nodes: [(0, node)].into(), voters: [0].into() };
        assert_eq!(members.admit(NodeId(0), 7), Ok(()));
        let lost = members.admit(NodeId(0), 8).expect_err("its memory is gone");
        assert!(lost.contains("another disk"), "{lost}");
        let stranger = members.admit(NodeId(1), 7).expect_err("nobody knows it");
        assert!(stranger.contains("no member"), "{stranger}");
    }
}
