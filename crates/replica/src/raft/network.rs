//! The network of the consensus engine: its questions to other replicas, over our own links.
//!
//! Votes, entries and heartbeats share one connection per peer; snapshots have another, so that no
//! heartbeat waits behind one.

use super::message::{Question, Reply, decode, encode};
use super::pacing::{Pacing, paced};
use super::rollback::{Accusations, Memory, Start, older_copy};
use super::sent::Sent;
use super::{LogId, Vote, commits, snapshots, vetting};
use crate::disk::{Disk, SnapshotFile};
use crate::raft_types::{MemberNode, TypeConfig};
use conclave_core::NodeId;
use conclave_net::rpc::{PeerAddress, Purpose, Rpc, RpcError};
use futures_util::Stream;
use openraft::base::{BoxFuture, BoxStream};
use openraft::errors::{NetworkError, RPCError, ReplicationClosed, StreamingError, Unreachable};
use openraft::network::{RPCOption, stream_append_sequential};
use openraft::raft::{
    AppendEntriesRequest, AppendEntriesResponse, SnapshotResponse, StreamAppendResult,
    TransferLeaderRequest, TransferLeaderResponse, VoteRequest, VoteResponse,
};
use openraft::type_config::alias::SnapshotOf;
use openraft::{OptionalSend, RaftNetworkFactory, RaftNetworkV2};
use serde::Serialize;
use std::future::Future;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;
use thiserror::Error;
use tokio::sync::watch;
use tokio::time::Instant;

/// A follower may have to wait for its disk before it answers.
const APPEND_TIMEOUT: Duration = Duration::from_secs(3);

/// The way to all other replicas. Cheap to clone.
#[derive(Clone)]
pub struct Peers {
    /// Nothing before this node listens, and after it has stopped.
    rpc: Arc<RwLock<Option<Rpc>>>,
    disk: Disk,
    /// This node, of which every message tells.
    start: Start,
    memory: Arc<Memory>,
    /// Who of them is needed for a majority.
    pacing: Arc<Pacing>,
    /// What other nodes have said against this one.
    accused: Arc<watch::Sender<Accusations>>,
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
    /// It is an older copy of itself.
    #[error("{0}")]
    Older(String),
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
        let identity = disk.identity();
        let start = Start {
            disk: identity.disk,
            number: identity.starts,
            nonce: identity.nonce,
            last: disk.last_at_start(),
        };
        Self {
            rpc: Arc::default(),
            disk,
            start,
            memory: Arc::default(),
            pacing: Arc::default(),
            accused: Arc::default(),
        }
    }

    /// This start of this node.
    pub fn start(&self) -> &Start {
        &self.start
    }

    /// What is known of the others' disks.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Who is needed for a majority, while this node leads.
    pub fn pacing(&self) -> &Pacing {
        &self.pacing
    }

    /// Who takes this node for an older copy of itself.
    pub fn accused(&self) -> watch::Receiver<Accusations> {
        self.accused.subscribe()
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
        let request = encode(cluster, &self.start, message);
        let rpc = self.rpc().ok_or(NoReply::Closed)?;
        let reply = rpc.request(to, purpose, request, deadline).await?;
        let (start, reply) = decode(cluster, &reply).map_err(|_| NoReply::Nonsense)?;
        if let Reply::Refused(reason) = reply {
            if reason.starts_with(&older_copy(NodeId(self.disk.identity().node))) {
                self.accuse(to.id, &reason);
            }
            return Err(NoReply::Refused(reason));
        }
        self.memory.heard(to.id, &start).map_err(NoReply::Older)?;
        Ok(reply)
    }

    fn accuse(&self, by: NodeId, reason: &str) {
        self.accused.send_if_modified(|accused| accused.add(by, reason));
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

/// A number that no node has.
const NOBODY: u32 = u32::MAX - 1;

/// The number of a node in the consensus engine is its index.
pub fn node_id(id: u64) -> NodeId {
    NodeId(u32::try_from(id).unwrap_or(NOBODY))
}

/// Requests under way to another replica, and their answers.
type Appending<'s> = BoxFuture<'s, Result<BoxStream<'s, Answer>, RPCError<TypeConfig>>>;
/// What is told to the consensus engine of one request.
type Answer = Result<StreamAppendResult<TypeConfig>, RPCError<TypeConfig>>;

/// The way to one other replica.
pub struct Network {
    peers: Peers,
    to: PeerAddress,
}

impl Network {
    /// Sends entries, or a heartbeat.
    pub async fn append(
        &self,
        request: AppendEntriesRequest<TypeConfig>,
        option: RPCOption,
    ) -> Result<AppendEntriesResponse<TypeConfig>, RPCError<TypeConfig>> {
        if self.peers.memory().is_refused(self.to.id) {
            return Err(failed(&NoReply::Older(older_copy(self.to.id))));
        }
        let heartbeat = request.entries.is_empty();
        let within = if heartbeat { option.soft_ttl() } else { APPEND_TIMEOUT };
        let sent = Sent::of(&request, self.peers.memory().acknowledged(self.to.id, &request.vote));
        if heartbeat {
            return self.append_and_judge(request, within, &sent).await;
        }
        self.peers.pacing.on_asked(self.to.id);
        let answer = self.append_and_judge(request, within, &sent).await;
        let matches = matches!(answer, Ok(AppendEntriesResponse::Success));
        self.peers.pacing.on_answer(self.to.id, matches);
        answer
    }

    async fn append_and_judge(
        &self,
        request: AppendEntriesRequest<TypeConfig>,
        within: Duration,
        sent: &Sent,
    ) -> Result<AppendEntriesResponse<TypeConfig>, RPCError<TypeConfig>> {
        let Reply::Append(answer) = self.ask(Question::Append(request), within).await? else {
            return Err(nonsense());
        };
        self.judge(sent, answer)
    }

    async fn ask(
        &self,
        question: Question,
        within: Duration,
    ) -> Result<Reply, RPCError<TypeConfig>> {
        let reply = self.peers.ask(&self.to, &question, Instant::now() + within).await;
        reply.map_err(|error| failed(&error))
    }

    /// An answer that takes back what was acknowledged before is not for the consensus engine,
    /// which takes it for impossible.
    fn judge(
        &self,
        sent: &Sent,
        answer: AppendEntriesResponse<TypeConfig>,
    ) -> Result<AppendEntriesResponse<TypeConfig>, RPCError<TypeConfig>> {
        let memory = self.peers.memory();
        let matching = match &answer {
            AppendEntriesResponse::Success => sent.last,
            AppendEntriesResponse::PartialSuccess(last) => {
                let last = last.map(|id| id.index);
                if last < sent.previous || last > sent.last {
                    return Err(nonsense());
                }
                last
            }
            AppendEntriesResponse::HigherVote(vote) => {
                possible(vote, &sent.vote)?;
                None
            }
            AppendEntriesResponse::Conflict => {
                if sent.previous <= sent.acknowledged {
                    memory.on_reverted(self.to.id);
                }
                if sent.previous <= memory.acknowledged(self.to.id, &sent.vote) {
                    let error = NoReply::Older(older_copy(self.to.id));
                    return Err(failed(&error));
                }
                None
            }
        };
        if let Some(index) = matching {
            memory.on_acknowledged(self.to.id, &sent.vote, index, sent.committed);
        }
        Ok(answer)
    }
}

impl RaftNetworkV2<TypeConfig> for Network {
    type SnapshotData = SnapshotFile;

    async fn append_entries(
        &mut self,
        request: AppendEntriesRequest<TypeConfig>,
        option: RPCOption,
    ) -> Result<AppendEntriesResponse<TypeConfig>, RPCError<TypeConfig>> {
        self.append(request, option).await
    }

    fn stream_append<'s, S>(&'s mut self, input: S, option: RPCOption) -> Appending<'s>
    where
        S: Stream<Item = AppendEntriesRequest<TypeConfig>> + OptionalSend + Unpin + 'static,
    {
        let pacing = Arc::clone(&self.peers.pacing);
        let paced = paced(commits::gathered(input), pacing, self.to.id);
        stream_append_sequential(self, paced, option)
    }

    async fn vote(
        &mut self,
        request: VoteRequest<TypeConfig>,
        option: RPCOption,
    ) -> Result<VoteResponse<TypeConfig>, RPCError<TypeConfig>> {
        let mine = request.vote;
        let Reply::Vote(answer) = self.ask(Question::Vote(request), option.soft_ttl()).await?
        else {
            return Err(nonsense());
        };
        possible(&answer.vote, &mine)?;
        Ok(answer)
    }

    async fn pre_vote(
        &mut self,
        request: VoteRequest<TypeConfig>,
        option: RPCOption,
    ) -> Result<VoteResponse<TypeConfig>, RPCError<TypeConfig>> {
        let mine = request.vote;
        let Reply::Vote(answer) = self.ask(Question::PreVote(request), option.soft_ttl()).await?
        else {
            return Err(nonsense());
        };
        possible(&answer.vote, &mine)?;
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
        let last = snapshot.meta.last_log_id;
        let sent = tokio::select! {
            biased;
            closed = cancel => return Err(StreamingError::Closed(closed)),
            sent = snapshots::send(&self.peers, &self.to, vote, snapshot) => sent?,
        };
        if vetting::vote(&sent.vote, vote.leader_id.term).is_err() {
            let error = NoReply::Nonsense;
            return Err(StreamingError::Unreachable(Unreachable::new(&error)));
        }
        if let Some(LogId { index, .. }) = last
            && sent.vote == vote
        {
            self.peers.memory().on_acknowledged(self.to.id, &vote, index, Some(index));
        }
        Ok(sent)
    }
}

/// What is known to be away is not asked again at once; what broke under way is.
fn failed(error: &NoReply) -> RPCError<TypeConfig> {
    match error {
        NoReply::Rpc(RpcError::Unanswered { .. }) => RPCError::Network(NetworkError::new(error)),
        NoReply::Rpc(_)
        | NoReply::Refused(_)
        | NoReply::Older(_)
        | NoReply::Nonsense
        | NoReply::Closed => RPCError::Unreachable(Unreachable::new(error)),
    }
}

/// Whether another node can have this vote.
fn possible(vote: &Vote, mine: &Vote) -> Result<(), RPCError<TypeConfig>> {
    vetting::vote(vote, mine.leader_id.term).map_err(|_| nonsense())
}

fn nonsense() -> RPCError<TypeConfig> {
    RPCError::Unreachable(Unreachable::new(&NoReply::Nonsense))
}
