//! The status of a replica, from the metrics of the consensus engine.

use crate::face::{Role, Status};
use crate::lease::Leading;
use crate::node::{Members, Node};
use crate::raft::network::node_id;
use crate::raft_types::TypeConfig;
use conclave_core::NodeId;
use openraft::async_runtime::WatchReceiver;
use openraft::type_config::alias::StoredMembershipOf;
use openraft::{RaftMetrics, ServerState};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::sleep;

/// As it is when the node starts.
pub fn status(node: &Node) -> Status {
    let metrics = node.raft.metrics();
    let metrics = metrics.borrow_watched();
    let members = Members::of(&metrics).list();
    Status { members, ..without_members(node, &metrics, false) }
}

/// How long it rests when it has told how far the log has come.
const REST: Duration = Duration::from_millis(20);

/// Keeps the status up to date; only changes are told. Who leads and who belongs to it is told at
/// once; how far the log has come, which changes with every entry, from time to time.
pub async fn keep(node: Arc<Node>, mut leading: Leading, status: watch::Sender<Status>) {
    let mut metrics = node.raft.metrics();
    let mut server = node.raft.server_metrics();
    let mut rest = REST;
    let mut heard = node.heard.subscribe();
    let mut member = false;
    let mut membership = None;
    loop {
        update(&node, &metrics.borrow_watched(), leading.now(), &mut membership, &status);
        watch_end(&node, &metrics.borrow_watched(), &mut member);
        let log = async {
            sleep(rest).await;
            metrics.changed().await
        };
        let (changed, next_rest) = tokio::select! {
            biased;
            changed = log => (changed.is_ok(), REST),
            // The other metrics are about to say the same.
            changed = server.changed() => (changed.is_ok(), Duration::ZERO),
            () = leading.changed() => (true, rest),
            Ok(()) = heard.changed() => (true, rest),
        };
        rest = next_rest;
        if !changed {
            return watch_end(&node, &metrics.borrow_watched(), &mut member);
        }
    }
}

fn update(
    node: &Node,
    metrics: &RaftMetrics<TypeConfig>,
    leading: bool,
    membership: &mut Option<Arc<StoredMembershipOf<TypeConfig>>>,
    status: &watch::Sender<Status>,
) {
    status.send_if_modified(|known| {
        // This is for every entry, and members change hardly ever: they are not made anew.
        let latest = Some(Arc::clone(&metrics.membership_config));
        let same = *membership == latest;
        *membership = latest;
        let members = match same {
            true => std::mem::take(&mut known.members),
            false => {
                let members = Members::of(metrics);
                node.peers.pacing().on_voters(node.me(), members.voters.iter().copied());
                members.list()
            }
        };
        let now = without_members(node, metrics, leading);
        let changed = !same || *known != now;
        *known = Status { members, ..now };
        changed
    });
}

/// A node that stopped by itself, or was a member and is none any more, has to say so.
fn watch_end(node: &Node, metrics: &RaftMetrics<TypeConfig>, member: &mut bool) {
    // One that is told to stop stops its engine too, which is no mishap.
    let mishap = metrics.running_state.as_ref().err().filter(|_| !node.stop.is_cancelled());
    if let Some(error) = mishap {
        node.end(format!("the consensus engine has stopped: {error}"));
    }
    let committed = &metrics.committed_membership_config;
    let known = committed.get_node(&metrics.id);
    // One that came again with an empty disk meets the member that it was before in the log, and
    // that one's end.
    let named = known.is_some_and(|known| known.disk == node.disk.identity().disk);
    if *member && !named {
        node.end(crate::members::REMOVED);
    }
    *member = named;
}

fn without_members(node: &Node, metrics: &RaftMetrics<TypeConfig>, leading: bool) -> Status {
    let cluster = node.disk.cluster_id();
    let last = metrics.last_log_index.unwrap_or(0);
    let role = role(metrics.state);
    let heard = role == Role::Leader || *node.heard.borrow();
    let leader = metrics.current_leader.filter(|_| heard).map(node_id);
    Status {
        role,
        term: metrics.current_term,
        leader,
        quorum: if role == Role::Leader { leading } else { leader.is_some() },
        applied: metrics.last_applied.as_ref().map_or(0, |id| id.index),
        committed: metrics.cluster_committed.as_ref().map_or(0, |id| id.index),
        last,
        lag: lag(metrics, last),
        members: Vec::new(),
        cluster_id: cluster.map(|cluster| cluster.id),
        generation: cluster.map(|cluster| cluster.generation),
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
        let matched = matched.as_ref()?.index;
        Some((node_id(*id), last.saturating_sub(matched)))
    };
    others.filter_map(behind).collect()
}
