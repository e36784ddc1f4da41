//! The engine of one node: it takes the commands of the API, and knows its replica.

use super::audited::Audited;
use super::events::Journal;
use super::hop::Forwarded;
use super::metrics::EngineMetrics;
use super::observer::{Pace, Watcher};
use super::peers::Peers;
use super::stream::Streams;
use super::waits::Waits;
use crate::Command;
use crate::audit::Audit;
use conclave_core::NodeId;
use conclave_net::rpc::Listener;
use conclave_replica::{Observer, Replica, ReplicaConfig, ReplicaError, Role, Status};
use conclave_table::{Table, VERSION};
use std::sync::{Arc, OnceLock, Weak};
use std::time::Instant as Moment;
use tokio::net::TcpListener;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};
use tokio::time::{Instant, sleep_until, timeout_at};

/// So many requests of other nodes may be under way here; more are refused.
const UNDER_WAY_MAX: usize = 16_384;

/// What the engine must know.
#[derive(Clone, Debug)]
pub struct EngineConfig {
    /// The replica below it.
    pub replica: ReplicaConfig,
    /// Where it is written down who did what.
    pub audit: Option<Audit>,
}

/// The replicated engine of a node.
pub struct ReplicatedEngine {
    me: NodeId,
    cluster: String,
    began: Moment,
    itself: Weak<Self>,
    replica: OnceLock<(Replica, watch::Receiver<Status>)>,
    /// Of all that the replica tells, what requests wait for: it changes seldom.
    leadership: watch::Sender<Leadership>,
    waits: Arc<Waits>,
    journal: Arc<Journal>,
    metrics: Arc<EngineMetrics>,
    pace: Arc<Pace>,
    peers: Peers,
    streams: Arc<Streams>,
    audit: Option<Audit>,
    under_way: Arc<Semaphore>,
    /// Set once the node is about to stop.
    stopping: watch::Sender<bool>,
}

impl ReplicatedEngine {
    /// Starts the replica, and carries out commands until nobody can send any more.
    pub async fn start(
        config: EngineConfig,
        commands: mpsc::Receiver<Command>,
    ) -> Result<Arc<Self>, ReplicaError> {
        let listen = config.replica.listen;
        let listener = TcpListener::bind(listen)
            .await
            .map_err(|error| ReplicaError::Refused(format!("--listen {listen}: {error}")))?;
        Self::start_on(listener, config, commands).await
    }

    /// The same with a listener that exists already, on a port that the system chose, perhaps.
    pub async fn start_on(
        listener: impl Into<Listener>,
        config: EngineConfig,
        commands: mpsc::Receiver<Command>,
    ) -> Result<Arc<Self>, ReplicaError> {
        Self::start_audited(listener, config, commands, None).await
    }

    /// The same; somebody else sees every entry, too.
    pub async fn start_audited(
        listener: impl Into<Listener>,
        config: EngineConfig,
        commands: mpsc::Receiver<Command>,
        auditor: Option<Box<dyn Observer>>,
    ) -> Result<Arc<Self>, ReplicaError> {
        let engine = Self::new(&config);
        let watcher = Watcher {
            waits: Arc::clone(&engine.waits),
            journal: Arc::clone(&engine.journal),
            metrics: Arc::clone(&engine.metrics),
            pace: Arc::clone(&engine.pace),
            streams: Arc::clone(&engine.streams),
            audited: config.audit.map(Audited::new),
            auditor,
        };
        let server = Arc::new(Forwarded(Arc::downgrade(&engine)));
        let watcher = Box::new(watcher);
        let replica = Replica::start_on(listener, config.replica, server, watcher, VERSION).await?;
        let status = replica.status();
        tokio::spawn(Self::follow(Arc::downgrade(&engine), status.clone()));
        let _ = engine.replica.set((replica, status)); // It is started once.
        tokio::spawn(Arc::clone(&engine).watch_peers());
        tokio::spawn(Arc::clone(&engine).watch_deserted());
        tokio::spawn(Arc::clone(&engine).take(commands));
        Ok(engine)
    }

    fn new(config: &EngineConfig) -> Arc<Self> {
        let me = config.replica.me;
        Arc::new_cyclic(|itself| Self {
            me,
            cluster: config.replica.cluster.clone(),
            began: Moment::now(),
            itself: itself.clone(),
            replica: OnceLock::new(),
            leadership: watch::Sender::default(),
            waits: Arc::default(),
            journal: Arc::new(Journal::new(me.0 + 1)),
            metrics: Arc::default(),
            pace: Arc::default(),
            peers: Peers::default(),
            streams: Arc::default(),
            audit: config.audit.clone(),
            under_way: Arc::new(Semaphore::new(UNDER_WAY_MAX)),
            stopping: watch::Sender::default(),
        })
    }

    /// Every command is carried out by itself: none waits for another. Their number is that of the
    /// API's connections.
    async fn take(self: Arc<Self>, mut commands: mpsc::Receiver<Command>) {
        while let Some(command) = commands.recv().await {
            tokio::spawn(Arc::clone(&self).execute(command));
        }
    }

    /// Notes who leads. When this node does no longer, whoever is parked here asks again.
    async fn follow(engine: Weak<Self>, mut status: watch::Receiver<Status>) {
        let mut latest = None;
        loop {
            let now = Leadership::of(&status.borrow_and_update());
            let Some(engine) = engine.upgrade() else { return };
            let before = engine.leadership.send_replace(now);
            if before.leads && (!now.leads || before.term != now.term) {
                engine.waits.ask_again();
            }
            let leads = now.leader.map(|leader| (leader, now.term));
            if latest.is_some() && leads.is_some() && latest != leads {
                engine.metrics.leader_changed();
            }
            latest = leads.or(latest);
            if (before.leader, before.deaf) != (now.leader, now.deaf) {
                engine.journal.note("leader", None, now.words());
            }
            engine.metrics.leads(now.leads);
            drop(engine);
            if status.wait_for(|status| Leadership::of(status) != now).await.is_err() {
                return;
            }
        }
    }

    /// Waits until this node knows who leads.
    pub async fn leader(&self) -> NodeId {
        if let Some(leader) = self.leadership.borrow().leader {
            return leader;
        }
        let mut leadership = self.leadership.subscribe();
        let known = leadership.wait_for(|now| now.leader.is_some()).await;
        match known.ok().and_then(|now| now.leader) {
            Some(leader) => leader,
            None => std::future::pending().await, // Nobody is left who could say.
        }
    }

    /// Waits until another leads than this one, or the time has come.
    pub async fn leader_changed(&self, leader: NodeId, until: Instant) {
        let mut leadership = self.leadership.subscribe();
        let changed = leadership.wait_for(|now| now.leader != Some(leader));
        let _ = timeout_at(until, changed).await; // Either is what was waited for.
    }

    /// Whether this node leads and hears of no majority.
    pub fn is_deaf(&self) -> bool {
        self.leadership.borrow().deaf
    }

    /// Waits until the time has come and this node leads and hears of no majority.
    pub async fn deaf(&self, from: Instant) {
        sleep_until(from).await;
        let mut leadership = self.leadership.subscribe();
        if leadership.wait_for(|now| now.deaf).await.is_err() {
            std::future::pending().await // Nobody is left who could say.
        }
    }

    /// The same engine, to be used by a task of its own.
    pub fn itself(&self) -> Option<Arc<Self>> {
        self.itself.upgrade()
    }

    /// The replica, once it has started.
    pub fn replica(&self) -> Option<&Replica> {
        self.replica.get().map(|(replica, _)| replica)
    }

    /// The replica as it is now.
    pub fn status(&self) -> Status {
        match self.replica.get() {
            Some((_, status)) => status.borrow().clone(),
            None => Status {
                role: Role::Learner,
                term: 0,
                leader: None,
                quorum: false,
                applied: 0,
                committed: 0,
                last: 0,
                lag: Vec::new(),
                members: Vec::new(),
                cluster_id: None,
                generation: None,
            },
        }
    }

    /// Whether this node leads, as far as it knows.
    pub fn leads(&self) -> bool {
        self.leadership.borrow().leads
    }

    /// The term of the log.
    pub fn term(&self) -> u64 {
        self.leadership.borrow().term
    }

    /// The cluster's random id; empty until it is known.
    pub fn cluster_id(&self) -> String {
        let known = self.replica.get().and_then(|(_, status)| status.borrow().cluster_id);
        known.map(|id| format!("{id:032x}")).unwrap_or_default()
    }

    /// Which life of the cluster this is, once it is known.
    pub fn generation(&self) -> Option<u64> {
        self.replica.get().and_then(|(_, status)| status.borrow().generation)
    }

    /// Looks at this node's own table, which may be behind.
    pub fn look<T: Default>(&self, look: impl FnOnce(&Table) -> T) -> T {
        self.replica().map(|replica| replica.look(look)).unwrap_or_default()
    }

    /// A turn for a request of another node, unless too much is under way.
    pub fn turn(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.under_way).try_acquire_owned().ok()
    }

    /// How many requests of other nodes are under way.
    pub fn under_way(&self) -> usize {
        UNDER_WAY_MAX - self.under_way.available_permits()
    }

    /// Whether the node is about to stop, and whenever that changes.
    pub fn stopping(&self) -> &watch::Sender<bool> {
        &self.stopping
    }

    /// This node.
    pub fn me(&self) -> NodeId {
        self.me
    }

    /// Its number, from 1.
    pub fn number(&self) -> u32 {
        self.me.0 + 1
    }

    /// The name of the cluster.
    pub fn cluster(&self) -> &str {
        &self.cluster
    }

    /// How long it has been up.
    pub fn uptime_ms(&self) -> u64 {
        self.began.elapsed().as_millis() as u64
    }

    /// Who is parked here.
    pub fn waits(&self) -> &Arc<Waits> {
        &self.waits
    }

    /// What happens.
    pub fn journal(&self) -> &Journal {
        &self.journal
    }

    /// Numbers for a monitoring system.
    pub fn metrics(&self) -> &EngineMetrics {
        &self.metrics
    }

    /// How far this node has come, and how long locks are held.
    pub fn pace(&self) -> &Pace {
        &self.pace
    }

    /// The other nodes.
    pub fn peers(&self) -> &Peers {
        &self.peers
    }

    /// Where it is written down who did what.
    pub fn audit(&self) -> Option<&Audit> {
        self.audit.as_ref()
    }

    /// The streams of sessions.
    pub fn streams(&self) -> &Streams {
        &self.streams
    }
}

/// Who leads, as far as this node knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Leadership {
    leader: Option<NodeId>,
    term: u64,
    /// Whether this node does.
    leads: bool,
    /// Whether it does and hears of no majority: nothing is decided, and its clock stands still.
    deaf: bool,
}

impl Leadership {
    fn of(status: &Status) -> Self {
        let Status { leader, term, role, .. } = *status;
        Self { leader, term, leads: role == Role::Leader, deaf: status.is_deaf() }
    }

    /// For people.
    fn words(self) -> String {
        let node = |leader: NodeId| leader.0 + 1;
        match self.leader {
            Some(leader) if self.deaf => format!("node {} hears of no majority", node(leader)),
            Some(leader) => format!("node {} leads, in term {}", node(leader), self.term),
            None => "no node leads".to_string(),
        }
    }
}
