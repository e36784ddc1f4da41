//! What makes a node stop by itself: a disk that fails, or others who know a newer copy of it.

use crate::disk::hands;
use crate::node::Node;
use crate::raft::network::node_id;
use conclave_core::NodeId;
use openraft::async_runtime::WatchReceiver;
use std::sync::Arc;

/// A node whose disk fails must stop.
pub async fn disk(node: Arc<Node>) {
    let mut failures = node.disk.failures();
    if let Ok(line) = failures.wait_for(Option::is_some).await {
        node.end(line.clone().unwrap_or_default());
    }
}

/// Who leads, as far as this node knows; or led when it was last heard of, for whom nobody takes in
/// hears of no leader.
async fn last_leader(node: &Node) -> Option<NodeId> {
    let current = node.metrics().current_leader;
    let voted = node.log_end().await.map(|(vote, _)| vote).filter(|vote| vote.committed);
    current.or(voted.map(|vote| vote.leader_id.node_id)).map(node_id)
}

/// An older copy of a node must stop: it has forgotten what it promised.
pub async fn accusers(node: Arc<Node>) {
    let mut accused = node.peers.accused();
    let mut status = node.raft.server_metrics();
    let line = loop {
        let leader = last_leader(&node).await;
        let voters = node.members().voters.len();
        let proved = node.config.tls.is_some();
        let line = accused.borrow_and_update().believed(leader, voters, proved);
        if let Some(line) = line {
            break line;
        }
        let changed = tokio::select! {
            changed = accused.changed() => changed.is_ok(),
            changed = status.changed() => changed.is_ok(),
        };
        if !changed {
            return;
        }
    };
    let (disk, mark) = (node.disk.clone(), Arc::clone(&line));
    // The node ends whether or not its disk can be marked.
    let mark = move || disk.mark_old_copy(&mark);
    if let Ok(Err(error)) = hands::work(node.disk.hands(), mark).await {
        tracing::warn!("cannot mark the directory as an old copy: {error}");
    }
    node.end(line);
}
