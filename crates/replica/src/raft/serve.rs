//! The server side of a replica: what it answers to other nodes.

use super::Vote;
use super::message::{Piece, Question, Reply, decode, encode};
use super::snapshots::Receiver;
use super::vetting;
use crate::agreement;
use crate::disk::hands;
use crate::face::{Call, Server};
use crate::founding;
use crate::members;
use crate::node::Node;
use crate::quick_election;
use crate::raft_types::TypeConfig;
use conclave_core::NodeId;
use conclave_net::rpc::{Introduction, Purpose, RpcServer, Serving};
use openraft::raft::{AppendEntriesRequest, AppendEntriesResponse};
use serde::de::DeserializeOwned;
use std::sync::Arc;
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
        let snapshots = Arc::new(Receiver::new(node.disk.clone(), node.version_max));
        Self { node, service, snapshots }
    }
}

impl RpcServer for Answering {
    /// This node may be the one that is behind, and not know yet who belongs to the cluster by now.
    /// So it hears consensus from all that speak of its cluster, as Raft has it (Ongaro, 4.1): whom
    /// it does not know it only votes for or follows, and whoever counts votes and acknowledgements
    /// dials members, with their disks. So whoever speaks of its cluster knows which disk this node
    /// has; to anybody else that is not told. What clients want is taken from members alone.
    fn admit(&self, other: &Introduction) -> Result<(), String> {
        let Introduction { from, disk, purpose, knows_this_disk } = *other;
        let members = self.node.members();
        if members.nodes.is_empty() {
            return founding::admit(&self.node.disk, from, disk);
        }
        if !knows_this_disk {
            return Err(format!(
                "node {from} does not know which disk this node has: it is no member, or its own \
                 disk is empty, and then `conclave cluster add` takes it in"
            ));
        }
        let admitted = members.admit(from, disk);
        match purpose {
            Purpose::Service => admitted,
            Purpose::Raft | Purpose::Bulk => admitted.or_else(|reason| {
                // One with another disk must not push the member's own connections aside.
                let member = members.nodes.get(&u64::from(from.0));
                let is_here = member.zip(self.node.peers.rpc());
                let is_here = is_here.is_some_and(|(it, rpc)| rpc.connected_with(from, it.disk));
                if is_here { Err(reason) } else { Ok(()) }
            }),
        }
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
            Purpose::Raft => Box::pin(async move {
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
                        Ok(piece) => {
                            let vetted = vetting::snapshot(&piece.vote, &piece.meta, &node.known());
                            let taken = match vetted {
                                Ok(()) => snapshots.take(&node.raft, piece).await,
                                Err(reason) => Err(reason),
                            };
                            reply(&node, taken)
                        }
                        Err(reason) => reply(&node, Err(reason)),
                    }
                })
            }
            Purpose::Service => self.service.serve(Call { from, deadline, request }),
        }
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
            vetting::candidate(&request, &node.known())?;
            let request = quick_election::vet(node, request).await;
            raft.vote(request).await.map(Reply::Vote).map_err(stopped)
        }
        Question::PreVote(request) => {
            vetting::candidate(&request, &node.known())?;
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
        Question::Removed => removed(node, from),
        Question::Suspect(suspicion) => {
            Ok(Reply::Suspect(quick_election::on_suspicion(node, from, &suspicion).await))
        }
        Question::Hashes => Ok(Reply::Hashes(node.table.hashes())),
        Question::Belongs => Ok(match node.members().nodes.contains_key(&u64::from(from.0)) {
            true => Reply::Done,
            false => Reply::Stranger,
        }),
    }
}

fn removed(node: &Arc<Node>, by: NodeId) -> Result<Reply, String> {
    if node.metrics().current_leader != Some(u64::from(by.0)) {
        return Err("only the leader can tell".to_string());
    }
    members::on_removed(Arc::clone(node), by);
    Ok(Reply::Done)
}

async fn append(node: &Node, request: AppendEntriesRequest<TypeConfig>) -> Result<Reply, String> {
    vetting::entries(&request, &node.known())?;
    node.on_leader();
    let answer = node.raft.append_entries(request).await.map_err(stopped)?;
    // One that was deposed is not followed.
    if !matches!(answer, AppendEntriesResponse::HigherVote(_)) {
        node.last_heard.note();
    }
    Ok(Reply::Append(answer))
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
    let hands = Arc::clone(&node.config.host.hands);
    let written = hands::work(&*hands, move || write(&node)).await;
    written.map_err(|error| error.to_string())?.map(Reply::Disk)
}

fn stopped(error: impl std::fmt::Display) -> String {
    format!("it has stopped: {error}")
}

#[cfg(test)]
mod tests;
