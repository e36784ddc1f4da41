//! Membership changes and leadership transfer, as the leader does them.

use crate::disk::hands;
use crate::face::{Founder, NotChanged, NotProposed};
use crate::node::Node;
use crate::raft::message::{Question, Reply};
use crate::raft::network::{NoReply, address, node_id};
use crate::raft_types::{MemberNode, TypeConfig};
use conclave_core::NodeId;
use conclave_net::rpc::{PeerAddress, RpcError};
use futures_util::future::join_all;
use openraft::async_runtime::WatchReceiver;
use openraft::errors::{ClientWriteError, RaftError};
use openraft::{ChangeMembers, RaftMetrics, ServerState};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};

/// How long a node may take to answer.
const ANSWER: Duration = Duration::from_secs(5);

/// How long to wait before others are asked again.
const AGAIN: Duration = Duration::from_millis(100);

/// How long it may take until another leads.
const HAND_OVER: Duration = Duration::from_secs(1);

/// Whoever is to vote or to lead may be so many entries behind.
const LAG_MAX: u64 = 1_000;

/// What a node says that is no member any more.
pub const REMOVED: &str =
    "this node was removed from its cluster: its data directory is of no use now";

/// The most members.
const MEMBERS_MAX: usize = 31;

/// Takes a new node in as a learner.
pub async fn add(node: &Node, member: Founder) -> Result<(), NotChanged> {
    must_lead(node)?;
    let id = u64::from(member.id.0);
    let members = node.members();
    if members.nodes.len() >= MEMBERS_MAX && !members.nodes.contains_key(&id) {
        return refused(format!("a cluster has at most {MEMBERS_MAX} members"));
    }
    let disk = ask_to_join(node, &member).await?;
    let Founder { peer, api, .. } = member;
    let new = MemberNode { disk, peer, api };
    match members.nodes.get(&id) {
        Some(known) if *known == new => return Ok(()),
        Some(known) if known.disk != disk => {
            let id = member.id;
            return refused(format!("node {id} is a member with another disk: remove it first"));
        }
        Some(_) => {
            let id = member.id;
            return refused(format!("node {id} is a member at another address: remove it first"));
        }
        None => {}
    }
    written(node.raft.add_learner(id, new, false).await)
}

/// A learner becomes a voter.
pub async fn promote(node: &Node, id: NodeId) -> Result<(), NotChanged> {
    let metrics = must_lead(node)?;
    let members = node.members();
    let number = u64::from(id.0);
    if !members.nodes.contains_key(&number) {
        return refused(format!("node {id} is no member: add it first"));
    }
    if members.voters.contains(&number) {
        return Ok(());
    }
    must_be_close(&metrics, id)?;
    let change = ChangeMembers::AddVoterIds(BTreeSet::from([number]));
    written(node.raft.change_membership(change, true).await)
}

/// A member leaves. A leader that is to leave hands over first, and the next one is to be asked.
pub async fn remove(node: &Node, id: NodeId) -> Result<(), NotChanged> {
    must_lead(node)?;
    let members = node.members();
    let number = u64::from(id.0);
    let Some(known) = members.nodes.get(&number) else { return Ok(()) };
    let voter = members.voters.contains(&number);
    if voter && members.voters.len() == 1 {
        return refused("the only voter of a cluster cannot be removed".to_string());
    }
    if number == node.me() {
        let leader = hand_over(node).await;
        return Err(NotProposed::NotLeader { leader }.into());
    }
    let one = BTreeSet::from([number]);
    let change = match voter {
        true => ChangeMembers::RemoveVoters(one),
        false => ChangeMembers::RemoveNodes(one),
    };
    written(node.raft.change_membership(change, false).await)?;
    // It may be dead, which is why it was removed.
    let deadline = Instant::now() + HAND_OVER;
    let _ = node.peers.ask(&address(number, known), &Question::Removed, deadline).await;
    if let Some(rpc) = node.peers.rpc() {
        rpc.forget(id);
    }
    Ok(())
}

/// The leader says that this node was removed. Others must know of it, since the change was
/// committed: one node alone ends no other by its word.
pub fn on_removed(node: Arc<Node>, leader: NodeId) {
    let stop = node.stop.clone();
    tokio::spawn(async move {
        tokio::select! {
            () = stop.cancelled() => {}
            removed = is_removed(&node, leader) => if removed {
                keep_removed(&node).await;
                node.end(REMOVED);
            } else {
                tracing::warn!("node {leader} says that this node was removed, and nobody else");
            },
        }
    });
}

/// It is kept, so that a node which is started again and again by its supervisor says why it is
/// refused.
async fn keep_removed(node: &Node) {
    let disk = node.disk.clone();
    let kept = hands::work(node.disk.hands(), move || disk.set_removed()).await;
    if let Ok(Err(error)) = kept {
        tracing::warn!("it is not kept that this node was removed: {error}");
    }
}

/// The others may learn of it a moment later than this node does.
async fn is_removed(node: &Node, leader: NodeId) -> bool {
    let deadline = Instant::now() + ANSWER;
    while !others_say_so(node, leader, deadline).await {
        if Instant::now() + AGAIN >= deadline {
            return false;
        }
        sleep(AGAIN).await;
    }
    true
}

async fn others_say_so(node: &Node, leader: NodeId, deadline: Instant) -> bool {
    let voters = node.members().voters;
    let others = node.others();
    let others = others.iter().filter(|to| to.id != leader && voters.contains(&to.id.0.into()));
    let asked = others.map(|to| node.peers.ask(to, &Question::Belongs, deadline));
    let answers = join_all(asked).await;
    let says_so = |answer: &Result<Reply, NoReply>| match answer {
        Ok(Reply::Stranger) | Err(NoReply::Rpc(RpcError::Refused { .. })) => true,
        Ok(_) | Err(_) => false,
    };
    answers.is_empty() || answers.iter().any(says_so)
}

/// Another member is to lead.
pub async fn transfer(node: &Node, to: NodeId) -> Result<(), NotChanged> {
    let metrics = must_lead(node)?;
    let number = u64::from(to.0);
    if number == node.me() {
        return Ok(());
    }
    if !node.members().voters.contains(&number) {
        return refused(format!("node {to} has no vote"));
    }
    must_be_close(&metrics, to)?;
    if !node.peers.rpc().is_some_and(|rpc| rpc.connected(to)) {
        return refused(format!("node {to} cannot be reached"));
    }
    if transfer_to(node, number).await == Some(to) {
        return Ok(());
    }
    Err(NotProposed::Unknown.into())
}

/// If this node leads, the voter with the most of its log leads next. Says who leads then.
pub async fn hand_over(node: &Node) -> Option<NodeId> {
    let metrics = must_lead(node).ok()?;
    let me = node.me();
    let voters = node.members().voters;
    let rpc = node.peers.rpc()?;
    let replication = metrics.replication.iter().flatten();
    let able = replication
        .filter(|(id, _)| **id != me && voters.contains(id) && rpc.connected(node_id(**id)));
    let best = able.max_by_key(|(_, matched)| matched.as_ref().map_or(0, |last| last.index));
    let (to, _) = best?;
    tracing::info!("hands over to node {}", node_id(*to));
    transfer_to(node, *to).await
}

/// Returns who else leads, unless that takes too long.
async fn transfer_to(node: &Node, to: u64) -> Option<NodeId> {
    node.permits.hand_to(to);
    node.raft.trigger().transfer_leader(to).await.ok()?;
    let mut metrics = node.raft.server_metrics();
    let me = node.me();
    let led_by_another = async {
        loop {
            let leader = metrics.borrow_watched().current_leader;
            if leader.is_some_and(|leader| leader != me) || metrics.changed().await.is_err() {
                return leader.map(node_id);
            }
        }
    };
    // If it takes longer, an ordinary election comes.
    timeout(HAND_OVER, led_by_another).await.ok()?
}

async fn ask_to_join(node: &Node, member: &Founder) -> Result<u128, NotChanged> {
    let Some(cluster) = node.disk.cluster_id() else {
        return refused("this node does not know its cluster yet".to_string());
    };
    let id = member.id;
    let disk = node.members().nodes.get(&u64::from(id.0)).map(|known| known.disk);
    let to = PeerAddress { id, address: member.peer.clone(), disk };
    let reply = node.peers.ask(&to, &Question::Join(cluster), Instant::now() + ANSWER).await;
    match reply {
        Ok(Reply::Disk(disk)) => Ok(disk),
        Ok(_) => refused(format!("node {id} answers something else")),
        Err(why) => refused(format!("node {id} cannot be added: {why}")),
    }
}

fn must_lead(node: &Node) -> Result<RaftMetrics<TypeConfig>, NotProposed> {
    let metrics = node.metrics();
    if metrics.state == ServerState::Leader {
        return Ok(metrics);
    }
    Err(NotProposed::NotLeader { leader: metrics.current_leader.map(node_id) })
}

fn must_be_close(metrics: &RaftMetrics<TypeConfig>, id: NodeId) -> Result<(), NotChanged> {
    let last = metrics.last_log_index.unwrap_or(0);
    let replication = metrics.replication.as_ref();
    let matched = replication.and_then(|all| all.get(&u64::from(id.0)).cloned().flatten());
    let lag = last.saturating_sub(matched.map_or(0, |last| last.index));
    if lag > LAG_MAX {
        return refused(format!("node {id} is {lag} entries behind: wait until it has caught up"));
    }
    Ok(())
}

fn refused<T>(line: String) -> Result<T, NotChanged> {
    Err(NotChanged::Refused(line))
}

fn written<T>(
    result: Result<T, RaftError<TypeConfig, ClientWriteError<TypeConfig>>>,
) -> Result<(), NotChanged> {
    match result {
        Ok(_) => Ok(()),
        Err(RaftError::Fatal(_)) => Err(NotProposed::Stopped.into()),
        Err(RaftError::APIError(ClientWriteError::ForwardToLeader(forward))) => {
            Err(NotProposed::NotLeader { leader: forward.leader_id.map(node_id) }.into())
        }
        Err(RaftError::APIError(ClientWriteError::LogEntryDiscarded(_))) => {
            Err(NotProposed::Unknown.into())
        }
        Err(RaftError::APIError(
            error @ (ClientWriteError::ChangeMembershipError(_)
            | ClientWriteError::PreconditionFailed(_)),
        )) => Err(NotChanged::Refused(error.to_string())),
    }
}
