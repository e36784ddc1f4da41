//! The status of a replica, from the metrics of the consensus engine.

use crate::face::{Role, Status};
use crate::node::{Members, Node};
use crate::raft::network::node_id;
use crate::raft_types::TypeConfig;
use conclave_core::NodeId;
use openraft::async_runtime::WatchReceiver;
use openraft::{RaftMetrics, ServerState};
use std::sync::Arc;
use tokio::sync::watch;

/// As it is now.
pub fn status(node: &Node) -> Status {
    of(&node.raft.metrics().borrow_watched(), node.disk.cluster_id().map(|it| it.id))
}

/// Keeps the status up to date; only changes are told.
pub async fn keep(node: Arc<Node>, status: watch::Sender<Status>) {
    let mut metrics = node.raft.metrics();
    let mut member = false;
    while metrics.changed().await.is_ok() {
        watch_end(&node, &metrics.borrow_watched(), &mut member);
        let cluster_id = node.disk.cluster_id().map(|it| it.id);
        let now = of(&metrics.borrow_watched(), cluster_id);
        status.send_if_modified(|known| {
            let changed = *known != now;
            *known = now;
            changed
        });
    }
}

/// A node that stopped by itself, or was a member and is none any more, has to say so.
fn watch_end(node: &Node, metrics: &RaftMetrics<TypeConfig>, member: &mut bool) {
    if let Err(error) = &metrics.running_state {
        node.end(format!("the consensus engine has stopped: {error}"));
    }
    let committed = &metrics.committed_membership_config;
    let named = committed.get_node(&metrics.id).is_some();
    if *member && !named {
        node.end("this node was removed from its cluster: its data directory is of no use now");
    }
    *member = named;
}

fn of(metrics: &RaftMetrics<TypeConfig>, cluster_id: Option<u128>) -> Status {
    let last = metrics.last_log_index.unwrap_or(0);
    Status {
        role: role(metrics.state),
        term: metrics.current_term,
        leader: metrics.current_leader.map(node_id),
        applied: metrics.last_applied.as_ref().map_or(0, |id| id.index),
        committed: metrics.cluster_committed.as_ref().map_or(0, |id| id.index),
        last,
        lag: lag(metrics, last),
        members: Members::of(metrics).list(),
        cluster_id,
    }
}

fn role(state: ServerState) -> Role {
    match state {
        ServerState::Leader => Role::Leader,
        ServerState::Candidate => Role::Candidate,
        ServerState::Follower => Role::Follower,
        ServerState::Learner | ServerState::Shutdown => Role::Learner,
    }
}

fn lag(metrics: &RaftMetrics<TypeConfig>, last: u64) -> Vec<(NodeId, u64)> {
    let replication = metrics.replication.iter().flatten();
    let others = replication.filter(|(id, _)| **id != metrics.id);
    let behind = |(id, matched): (&u64, &Option<crate::raft::LogId>)| {
        let matched = matched.as_ref().map_or(0, |id| id.index);
        (node_id(*id), last.saturating_sub(matched))
    };
    others.map(behind).collect()
}
