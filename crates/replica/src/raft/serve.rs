//! The server side of a replica: what it answers to other nodes.

use super::Vote;
use super::message::{Piece, Question, Reply, decode, encode};
use super::snapshots::Receiver;
use crate::agreement;
use crate::face::{Call, Server};
use crate::founding;
use crate::node::Node;
use crate::quick_election;
use crate::raft_types::TypeConfig;
use conclave_core::NodeId;
use conclave_net::rpc::{Purpose, RpcServer, Serving};
use openraft::raft::AppendEntriesRequest;
use serde::de::DeserializeOwned;
use std::future::{Future, ready};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use tokio::task::coop::unconstrained;
use tokio::task::spawn_blocking;
use tokio::time::Instant;

/// Answers other nodes.
pub struct Answering {
    node: Arc<Node>,
    service: Arc<dyn Server>,
    snapshots: Arc<Receiver>,
}

impl Answering {
    /// `service` answers what is not the replica's own.
    pub fn new(node: Arc<Node>, service: Arc<dyn Server>) -> Self {
        let snapshots = Arc::new(Receiver::new(node.disk.clone()));
        Self { node, service, snapshots }
    }
}

impl RpcServer for Answering {
    fn admit(&self, from: NodeId, disk: u128) -> Result<(), String> {
        let members = self.node.members();
        if members.nodes.is_empty() {
            return founding::admit(&self.node.disk, from, disk);
        }
        members.admit(from, disk)
    }

    fn about(&self) -> Vec<u8> {
        agreement::About { version_max: self.node.version_max }.encode()
    }

    fn serve(
        &self,
        from: NodeId,
        purpose: Purpose,
        request: Vec<u8>,
        deadline: Instant,
    ) -> Serving {
        let node = Arc::clone(&self.node);
        match purpose {
            Purpose::Raft => begun(async move {
                match read(&node, from, &request) {
                    Ok(question) => reply(&node, answer(&node, from, question).await),
                    Err(reason) => reply(&node, Err(reason)),
                }
            }),
            Purpose::Bulk => {
                let snapshots = Arc::clone(&self.snapshots);
                Box::pin(async move {
                    match read::<Piece>(&node, from, &request) {
                        Ok(piece) if !speaks_for(from, &piece.vote) => reply(&node, impostor()),
                        Ok(piece) => reply(&node, snapshots.take(&node.raft, piece).await),
                        Err(reason) => reply(&node, Err(reason)),
                    }
                })
            }
            Purpose::Service => self.service.serve(Call { from, deadline, request }),
        }
    }
}

/// Begins at once, and goes on in the task that waits for it: entries reach the consensus engine in
/// the order in which they came. Unconstrained, for a task that has done much may have to pause.
fn begun(serving: impl Future<Output = Vec<u8>> + Send + 'static) -> Serving {
    let mut serving: Serving = Box::pin(unconstrained(serving));
    match serving.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(answer) => Box::pin(ready(answer)),
        Poll::Pending => serving,
    }
}

fn read<T: DeserializeOwned>(node: &Node, from: NodeId, request: &[u8]) -> Result<T, String> {
    let read = decode(node.disk.cluster_id(), request);
    let (start, message) = read.map_err(|error| error.to_string())?;
    node.peers.memory().heard(from, &start)?;
    Ok(message)
}

fn reply(node: &Node, reply: Result<Reply, String>) -> Vec<u8> {
    encode(node.disk.cluster_id(), node.peers.start(), &reply.unwrap_or_else(Reply::Refused))
}

async fn answer(node: &Arc<Node>, from: NodeId, question: Question) -> Result<Reply, String> {
    let raft = &node.raft;
    if question.vote().is_some_and(|vote| !speaks_for(from, vote)) {
        return impostor();
    }
    match question {
        Question::Append(request) => append(node, request).await,
        Question::Vote(request) => {
            let request = quick_election::vet(node, request).await;
            raft.vote(request).await.map(Reply::Vote).map_err(stopped)
        }
        Question::PreVote(request) => {
            raft.pre_vote(request).await.map(Reply::Vote).map_err(stopped)
        }
        Question::Transfer(request) => {
            node.permits.on_transfer(request.from_leader());
            raft.handle_transfer_leader(request).await.map(Reply::Transfer).map_err(stopped)
        }
        Question::Acquaint => Ok(Reply::Acquainted(founding::acquaint(&node.disk))),
        Question::Promise(record) => {
            on_disk(node, move |node| founding::promise(&node.disk, node.me(), &record)).await
        }
        Question::Join(cluster) => {
            on_disk(node, move |node| founding::join(&node.disk, cluster)).await
        }
        Question::Removed => {
            if node.metrics().current_leader != Some(u64::from(from.0)) {
                return Err("only the leader can tell".to_string());
            }
            node.end("this node was removed from its cluster: its data directory is of no use now");
            Ok(Reply::Done)
        }
        Question::Suspect(suspicion) => {
            Ok(Reply::Suspect(quick_election::on_suspicion(node, &suspicion).await))
        }
        Question::Hashes => Ok(Reply::Hashes(node.table.hashes())),
    }
}

async fn append(node: &Node, request: AppendEntriesRequest<TypeConfig>) -> Result<Reply, String> {
    node.on_leader();
    node.raft.append_entries(request).await.map(Reply::Append).map_err(stopped)
}

/// Whether a node speaks for itself, and not for another candidate or leader.
fn speaks_for(from: NodeId, vote: &Vote) -> bool {
    vote.leader_id.node_id == u64::from(from.0)
}

fn impostor() -> Result<Reply, String> {
    Err("it speaks for another node".to_string())
}

/// What waits for the disk keeps no other from its turn.
async fn on_disk(
    node: &Arc<Node>,
    write: impl FnOnce(&Node) -> Result<u128, String> + Send + 'static,
) -> Result<Reply, String> {
    let node = Arc::clone(node);
    let written = spawn_blocking(move || write(&node)).await;
    written.map_err(|error| error.to_string())?.map(Reply::Disk)
}

fn stopped(error: impl std::fmt::Display) -> String {
    format!("it has stopped: {error}")
}

#[cfg(test)]
mod tests;
