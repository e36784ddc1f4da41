//! The network of the consensus engine: its questions to other replicas, over our own links.
//!
//! Votes, entries and heartbeats share one connection per peer; snapshots have another, so that no
//! heartbeat waits behind one.

use super::message::{Question, Reply, decode, encode};
use super::{Vote, snapshots};
use crate::disk::{Disk, SnapshotFile};
use crate::raft_types::{MemberNode, TypeConfig};
use conclave_core::NodeId;
use conclave_net::rpc::{PeerAddress, Purpose, Rpc, RpcError};
use openraft::errors::{NetworkError, RPCError, ReplicationClosed, StreamingError, Unreachable};
use openraft::network::RPCOption;
use openraft::raft::{
    AppendEntriesRequest, AppendEntriesResponse, SnapshotResponse, TransferLeaderRequest,
    TransferLeaderResponse, VoteRequest, VoteResponse,
};
use openraft::type_config::alias::SnapshotOf;
use openraft::{OptionalSend, RaftNetworkFactory, RaftNetworkV2};
use serde::Serialize;
use std::future::Future;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;
use thiserror::Error;
use tokio::time::Instant;

/// A follower may have to wait for its disk before it answers.
const APPEND_TIMEOUT: Duration = Duration::from_secs(3);

/// The way to all other replicas. Cheap to clone.
#[derive(Clone)]
pub struct Peers {
    /// Nothing before this node listens, and after it has stopped.
    rpc: Arc<RwLock<Option<Rpc>>>,
    disk: Disk,
}

/// Why another replica did not answer as it should.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NoReply {
    /// The links have no answer.
    #[error(transparent)]
    Rpc(#[from] RpcError),
    /// It says no.
    #[error("it refuses: {0}")]
    Refused(String),
    /// It says something else.
    #[error("its answer makes no sense")]
    Nonsense,
    /// This node does not listen yet, or any more.
    #[error("this node is starting or stopping")]
    Closed,
}

impl Peers {
    /// Whoever sends over these has to wait for [`Peers::open`].
    pub fn new(disk: Disk) -> Self {
        Self { rpc: Arc::default(), disk }
    }

    /// The links are there.
    pub fn open(&self, rpc: Rpc) {
        *self.rpc.write().unwrap_or_else(PoisonError::into_inner) = Some(rpc);
    }

    /// The links are not used any more.
    pub fn close(&self) -> Option<Rpc> {
        self.rpc.write().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// The links, while they are there.
    pub fn rpc(&self) -> Option<Rpc> {
        self.rpc.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Asks another replica.
    pub async fn ask(
        &self,
        to: &PeerAddress,
        question: &Question,
        deadline: Instant,
    ) -> Result<Reply, NoReply> {
        self.send(to, Purpose::Raft, question, deadline).await
    }

    /// Sends whatever a replica can answer.
    pub async fn send<T: Serialize>(
        &self,
        to: &PeerAddress,
        purpose: Purpose,
        message: &T,
        deadline: Instant,
    ) -> Result<Reply, NoReply> {
        let cluster = self.disk.cluster_id();
        let request = encode(cluster, message);
        let rpc = self.rpc().ok_or(NoReply::Closed)?;
        let reply = rpc.request(to, purpose, request, deadline).await?;
        let reply = decode(cluster, &reply).map_err(|_| NoReply::Nonsense)?;
        if let Reply::Refused(reason) = reply {
            return Err(NoReply::Refused(reason));
        }
        Ok(reply)
    }
}

impl RaftNetworkFactory<TypeConfig> for Peers {
    type Network = Network;

    async fn new_client(&mut self, target: u64, node: &MemberNode) -> Network {
        Network { peers: self.clone(), to: address(target, node) }
    }
}

/// Where a member is.
pub fn address(id: u64, node: &MemberNode) -> PeerAddress {
    PeerAddress { id: node_id(id), address: node.peer.clone(), disk: Some(node.disk) }
}

/// The number of a node in the consensus engine is its index.
pub fn node_id(id: u64) -> NodeId {
    NodeId(u32::try_from(id).expect("ids come from node ids"))
}

/// The way to one other replica.
pub struct Network {
    peers: Peers,
    to: PeerAddress,
}

impl Network {
    async fn ask(
        &self,
        question: Question,
        within: Duration,
    ) -> Result<Reply, RPCError<TypeConfig>> {
        let reply = self.peers.ask(&self.to, &question, Instant::now() + within).await;
        reply.map_err(|error| failed(&error))
    }
}

impl RaftNetworkV2<TypeConfig> for Network {
    type SnapshotData = SnapshotFile;

    async fn append_entries(
        &mut self,
        request: AppendEntriesRequest<TypeConfig>,
        option: RPCOption,
    ) -> Result<AppendEntriesResponse<TypeConfig>, RPCError<TypeConfig>> {
        let heartbeat = request.entries.is_empty();
        let within = if heartbeat { option.soft_ttl() } else { APPEND_TIMEOUT };
        let Reply::Append(answer) = self.ask(Question::Append(request), within).await? else {
            return Err(nonsense());
        };
        Ok(answer)
    }

    async fn vote(
        &mut self,
        request: VoteRequest<TypeConfig>,
        option: RPCOption,
    ) -> Result<VoteResponse<TypeConfig>, RPCError<TypeConfig>> {
        let Reply::Vote(answer) = self.ask(Question::Vote(request), option.soft_ttl()).await?
        else {
            return Err(nonsense());
        };
        Ok(answer)
    }

    async fn pre_vote(
        &mut self,
        request: VoteRequest<TypeConfig>,
        option: RPCOption,
    ) -> Result<VoteResponse<TypeConfig>, RPCError<TypeConfig>> {
        let Reply::Vote(answer) = self.ask(Question::PreVote(request), option.soft_ttl()).await?
        else {
            return Err(nonsense());
        };
        Ok(answer)
    }

    async fn transfer_leader(
        &mut self,
        request: TransferLeaderRequest<TypeConfig>,
        option: RPCOption,
    ) -> Result<TransferLeaderResponse<TypeConfig>, RPCError<TypeConfig>> {
        let Reply::Transfer(answer) =
            self.ask(Question::Transfer(request), option.soft_ttl()).await?
        else {
            return Err(nonsense());
        };
        Ok(answer)
    }

    async fn full_snapshot(
        &mut self,
        vote: Vote,
        snapshot: SnapshotOf<TypeConfig, SnapshotFile>,
        cancel: impl Future<Output = ReplicationClosed> + OptionalSend + 'static,
        _option: RPCOption,
    ) -> Result<SnapshotResponse<TypeConfig>, StreamingError<TypeConfig>> {
        tokio::select! {
            closed = cancel => Err(StreamingError::Closed(closed)),
            sent = snapshots::send(&self.peers, &self.to, vote, snapshot) => sent,
        }
    }
}

/// What is known to be away is not asked again at once; what broke under way is.
fn failed(error: &NoReply) -> RPCError<TypeConfig> {
    match error {
        NoReply::Rpc(RpcError::Unanswered { .. }) => RPCError::Network(NetworkError::new(error)),
        NoReply::Rpc(_) | NoReply::Refused(_) | NoReply::Nonsense | NoReply::Closed => {
            RPCError::Unreachable(Unreachable::new(error))
        }
    }
}

fn nonsense() -> RPCError<TypeConfig> {
    RPCError::Unreachable(Unreachable::new(&NoReply::Nonsense))
}
