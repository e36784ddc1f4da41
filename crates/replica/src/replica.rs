//! The replica: one node's part in the replicated state machine, started, asked and stopped.

use crate::disk::{Disk, Expected, hands};
use crate::face::{
    CallError, Committed, Founder, NotChanged, NotProposed, Observer, ReplicaConfig, ReplicaError,
    Server, Status,
};
use crate::lease::{Proposer, Proposing};
use crate::node::Node;
use crate::numbers::{self, Health, LastHeard, Numbers};
use crate::quick_election::{self, Permits};
use crate::raft::Raft;
use crate::raft::config::settings;
use crate::raft::network::{Peers, node_id};
use crate::raft::serve::Answering;
use crate::state_machine::StateMachine;
use crate::{agreement, backup, founding, members, status, watches};
use conclave_core::NodeId;
use conclave_net::rpc::{Listener, Purpose, Rpc, RpcConfig, RpcError, RpcLimits};
use conclave_table::{Change, Renewal, Renewed, Table, VERSION};
use openraft::ReadPolicy;
use openraft::async_runtime::WatchReceiver;
use openraft::errors::{LinearizableReadError, RaftError};
use std::collections::BTreeSet;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::time::{Instant, timeout};
use tokio_util::sync::{CancellationToken, DropGuard};

/// How long a read waits for what is committed to be applied.
const APPLY: Duration = Duration::from_secs(5);

/// How long a snapshot may take.
const SNAPSHOT: Duration = Duration::from_secs(120);

/// A future on the heap. The code of an `async fn` is made in the crate that polls it; what names
/// the consensus engine is to be made here, once, and optimised as this crate is.
pub type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The lock table of this node, kept the same as that of all others. Cheap to clone. When the last
/// clone is dropped without [`Replica::stop`], it ends as if the process had died.
#[derive(Clone)]
pub struct Replica {
    node: Arc<Node>,
    proposing: Proposing,
    status: watch::Receiver<Status>,
    /// Whether all of it has ended.
    over: watch::Receiver<bool>,
    _last: Arc<DropGuard>,
}

impl Replica {
    /// Opens the disk, listens, and takes part. `server` answers other nodes' calls, `observer`
    /// sees every entry.
    pub async fn start(
        config: ReplicaConfig,
        server: Arc<dyn Server>,
        observer: Box<dyn Observer>,
    ) -> Result<Self, ReplicaError> {
        let listen = config.listen;
        let listener = TcpListener::bind(listen).await;
        let listener =
            listener.map_err(|error| refused(format!("cannot listen at {listen}: {error}")))?;
        Self::start_on(listener, config, server, observer, VERSION).await
    }

    /// The same with a listener that exists already, on a port that the system chose, perhaps, or
    /// with another network, and as a build that knows the rules of the table up to this version.
    pub fn start_on(
        listener: impl Into<Listener>,
        config: ReplicaConfig,
        server: Arc<dyn Server>,
        observer: Box<dyn Observer>,
        version_max: u32,
    ) -> Boxed<'static, Result<Self, ReplicaError>> {
        Box::pin(Self::take_part(listener.into(), config, server, observer, version_max))
    }

    async fn take_part(
        listener: Listener,
        config: ReplicaConfig,
        server: Arc<dyn Server>,
        observer: Box<dyn Observer>,
        version_max: u32,
    ) -> Result<Self, ReplicaError> {
        check(&config)?;
        let (disk, machine) = open(&config, observer, version_max).await?;
        let table = machine.shared();
        let peers = Peers::new(disk.clone());
        let settings = settings(&config.cluster, &config.timing)?;
        let me = u64::from(config.me.0);
        let raft = Raft::new(me, settings, peers.clone(), disk.log(), machine).await;
        let raft = raft.map_err(|error| refused(format!("the log cannot be used: {error}")))?;
        let stop = CancellationToken::new();
        let permits = Permits::default();
        let ended = watch::Sender::new(None);
        let heard = watch::Sender::new(false);
        let node = Arc::new(Node {
            config,
            version_max,
            disk,
            table,
            raft,
            peers,
            permits,
            heard,
            last_heard: LastHeard::default(),
            ended,
            stop,
        });
        let last = Arc::new(node.stop.clone().drop_guard());
        let answering = Arc::new(Answering::new(Arc::clone(&node), server));
        let rpc = Rpc::start_on(listener, rpc_config(&node), answering);
        node.peers.open(rpc.map_err(|error| refused(error.to_string()))?);
        Ok(Self::run(node, last))
    }

    fn run(node: Arc<Node>, last: Arc<DropGuard>) -> Self {
        let (proposer, proposing) = Proposer::new(&node);
        let now = watch::Sender::new(status::status(&node));
        let status = now.subscribe();
        let (over, is_over) = watch::channel(false);
        spawn(&node, proposer.run());
        spawn(&node, status::keep(Arc::clone(&node), proposing.leading(), now));
        spawn(&node, founding::found(Arc::clone(&node)));
        spawn(&node, quick_election::watch(Arc::clone(&node)));
        spawn(&node, agreement::keep(Arc::clone(&node), proposing.clone()));
        spawn(&node, watches::disk(Arc::clone(&node)));
        spawn(&node, watches::accusers(Arc::clone(&node)));
        tokio::spawn(end(Arc::clone(&node), over));
        Self { node, proposing, status, over: is_over, _last: last }
    }

    /// Leader only: puts a change into the log, stamped with the lease clock, and answers when this
    /// node has applied it.
    pub async fn propose(&self, change: Change) -> Result<Committed, NotProposed> {
        self.proposing.propose(change).await
    }

    /// Leader only: returns when this node has applied all that the leaders before it committed.
    pub async fn established(&self) -> Result<(), NotProposed> {
        self.proposing.established().await
    }

    /// Leader only: renews a session. Answered after the batch that it joins is committed.
    pub async fn renew(&self, renewal: Renewal) -> Result<Renewed, NotProposed> {
        self.proposing.renew(renewal).await
    }

    /// Leader only: returns when this node has applied all that was committed before the call, and
    /// is known to lead still (ReadIndex).
    pub fn read_index(&self) -> Boxed<'_, Result<(), NotProposed>> {
        Box::pin(self.linearize())
    }

    async fn linearize(&self) -> Result<(), NotProposed> {
        let raft = &self.node.raft;
        let read = raft.get_read_linearizer(ReadPolicy::ReadIndex).await;
        let read = read.map_err(|error| match error {
            RaftError::Fatal(_) => NotProposed::Stopped,
            RaftError::APIError(LinearizableReadError::ForwardToLeader(forward)) => {
                NotProposed::NotLeader { leader: forward.leader_id.map(node_id) }
            }
            RaftError::APIError(LinearizableReadError::QuorumNotEnough(_)) => {
                NotProposed::NotLeader { leader: None }
            }
        })?;
        match read.try_await_ready(raft, Some(APPLY)).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(_)) => Err(NotProposed::NotLeader { leader: None }),
            Err(_) => Err(NotProposed::Stopped),
        }
    }

    /// Looks at this node's own table, which may be behind. Nothing is applied meanwhile: be quick.
    pub fn look<T>(&self, look: impl FnOnce(&Table) -> T) -> T {
        self.node.table.look(look)
    }

    /// Asks another node's [`Server`].
    pub async fn call(
        &self,
        to: NodeId,
        request: Vec<u8>,
        deadline: Instant,
    ) -> Result<Vec<u8>, CallError> {
        let unreachable = || CallError::Unreachable(to);
        let address = self.node.address(to).ok_or_else(unreachable)?;
        let rpc = self.node.peers.rpc().ok_or_else(unreachable)?;
        let answer = rpc.request(&address, Purpose::Service, request, deadline).await;
        answer.map_err(|error| match error {
            RpcError::Unanswered { .. } => CallError::Unanswered(to),
            RpcError::Unreachable { .. }
            | RpcError::Refused { .. }
            | RpcError::Busy { .. }
            | RpcError::TooLarge { .. } => CallError::Unreachable(to),
        })
    }

    /// The replica as it is now, and whenever it changes.
    pub fn status(&self) -> watch::Receiver<Status> {
        self.status.clone()
    }

    /// Numbers for a monitoring system.
    pub fn numbers(&self) -> Numbers {
        numbers::numbers(&self.node)
    }

    /// What speaks for this node, or against it, beside its status.
    pub fn health(&self) -> Health {
        numbers::health(&self.node)
    }

    /// Leader only: takes a new member in as a learner. It must be running, with an empty disk.
    pub fn add(&self, member: Founder) -> Boxed<'_, Result<(), NotChanged>> {
        Box::pin(async move {
            self.proposing.established().await?;
            members::add(&self.node, member).await
        })
    }

    /// Leader only: a learner becomes a voter.
    pub fn promote(&self, id: NodeId) -> Boxed<'_, Result<(), NotChanged>> {
        Box::pin(async move {
            self.proposing.established().await?;
            members::promote(&self.node, id).await
        })
    }

    /// Leader only: a member leaves. A leader that is to leave hands over first, and answers that
    /// it does not lead: the next one is to be asked.
    pub fn remove(&self, id: NodeId) -> Boxed<'_, Result<(), NotChanged>> {
        Box::pin(async move {
            self.proposing.established().await?;
            members::remove(&self.node, id).await
        })
    }

    /// Leader only: another member is to lead.
    pub fn transfer(&self, to: NodeId) -> Boxed<'_, Result<(), NotChanged>> {
        Box::pin(async move {
            self.proposing.established().await?;
            members::transfer(&self.node, to).await
        })
    }

    /// Makes a backup of this node's table: its bytes. See [`crate::restore`], which must know
    /// whether the table was up to date at some moment of this call.
    pub fn snapshot(&self, up_to_date: bool) -> Boxed<'_, Result<Vec<u8>, ReplicaError>> {
        Box::pin(self.back_up(up_to_date))
    }

    async fn back_up(&self, up_to_date: bool) -> Result<Vec<u8>, ReplicaError> {
        let raft = &self.node.raft;
        let begun = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let mut metrics = raft.metrics();
        let applied = metrics.borrow_watched().last_applied;
        if metrics.borrow_watched().snapshot < applied {
            let asked = raft.trigger().snapshot().await;
            asked.map_err(|error| refused(error.to_string()))?;
        }
        let made = async {
            while metrics.borrow_watched().snapshot < applied {
                if metrics.changed().await.is_err() {
                    return;
                }
            }
        };
        timeout(SNAPSHOT, made).await.map_err(|_| refused("a snapshot takes too long".into()))?;
        let latest = self.node.disk.snapshots().latest();
        let (_, file) = latest.ok_or_else(|| refused("there is nothing to back up yet".into()))?;
        let snapshot = file.read_all().await.map_err(|error| refused(error.to_string()))?;
        Ok(backup::wrap(&snapshot, if up_to_date { begun.as_secs() } else { backup::UNDATED }))
    }

    /// Ends when this replica had to stop by itself, and says why.
    pub async fn ended(&self) -> ReplicaError {
        let mut ended = self.node.ended.subscribe();
        match ended.wait_for(Option::is_some).await {
            Ok(line) => refused(line.as_deref().unwrap_or_default().to_string()),
            Err(_) => refused("this node has stopped".into()),
        }
    }

    /// Hands over if it leads, and stops.
    pub fn stop(self) -> Boxed<'static, ()> {
        Box::pin(async move {
            members::hand_over(&self.node).await;
            self.kill().await;
        })
    }

    /// Ends as if the process had died: nothing is handed over. Its directory is free afterwards.
    pub async fn kill(mut self) {
        self.node.stop.cancel();
        // The other side is dropped only when it has ended.
        let _ = self.over.wait_for(|over| *over).await;
    }
}

fn check(config: &ReplicaConfig) -> Result<(), ReplicaError> {
    let ids: BTreeSet<NodeId> = config.founders.iter().map(|founder| founder.id).collect();
    if ids.len() != config.founders.len() {
        return Err(refused("two of the configured nodes have the same id".into()));
    }
    if !ids.contains(&config.me) {
        let me = config.me;
        return Err(refused(format!("this is node {me}, which is not among the configured nodes")));
    }
    Ok(())
}

async fn open(
    config: &ReplicaConfig,
    observer: Box<dyn Observer>,
    version_max: u32,
) -> Result<(Disk, StateMachine), ReplicaError> {
    let directory = config.data.clone();
    let cluster = config.cluster.clone();
    let node = config.me;
    let host = config.host.clone();
    let open = move || {
        let disk = Disk::open_on(&host, &directory, &Expected { cluster: &cluster, node })?;
        let machine = StateMachine::open(&disk, observer, version_max)?;
        Ok((disk, machine))
    };
    let opened =
        hands::work(&*config.host.hands, open).await.map_err(|error| refused(error.to_string()))?;
    opened.map_err(|error: crate::disk::DiskError| refused(error.to_string()))
}

fn rpc_config(node: &Node) -> RpcConfig {
    RpcConfig {
        cluster: node.config.cluster.clone(),
        me: node.config.me,
        disk: node.disk.identity().disk,
        listen: node.config.listen,
        tls: node.config.tls.clone(),
        limits: RpcLimits::default(),
    }
}

/// Runs a task until the node stops.
fn spawn(node: &Node, task: impl Future<Output = ()> + Send + 'static) {
    let stop = node.stop.clone();
    tokio::spawn(async move {
        tokio::select! {
            biased;
            () = stop.cancelled() => {}
            () = task => {}
        }
    });
}

/// Waits until the node is stopped, or has to stop, and ends all of it.
async fn end(node: Arc<Node>, over: watch::Sender<bool>) {
    let mut ended = node.ended.subscribe();
    tokio::select! {
        biased;
        () = node.stop.cancelled() => {}
        _ = ended.wait_for(Option::is_some) => {}
    }
    // First of all, so that nobody is answered any more.
    if let Some(rpc) = node.peers.close() {
        rpc.stop().await;
    }
    // It may have stopped by itself.
    let _ = node.raft.shutdown().await;
    node.stop.cancel();
    node.disk.close().await;
    over.send_replace(true);
}

fn refused(line: String) -> ReplicaError {
    ReplicaError::Refused(line)
}
