//! A cluster in one process: replicas with disks in a temporary directory.

use conclave_core::NodeId;
use conclave_replica::{
    Call, Committed, Entry, Founder, Host, NotProposed, Observer, Replica, ReplicaConfig,
    ReplicaError, Role, Server, Status, Timing,
};
use conclave_table::{
    Acquire, Ask, Body, Change, Fence, LeaseTime, Open, RequestId, SessionId, Table, VERSION,
};
use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::time::timeout;

/// No test takes so long unless it fails.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// What one node has applied.
pub type Log = Arc<Mutex<Vec<(u64, LeaseTime, Change)>>>;

struct Recorder(Log);

impl Observer for Recorder {
    fn applied(&mut self, entry: &Entry<'_>) {
        let seen = (entry.index, entry.lease_time, entry.change.clone());
        self.0.lock().expect("nobody panicked").push(seen);
    }

    fn installed(&mut self, _: &Table) {}
}

/// Says who asked, and what.
struct Echo;

impl Server for Echo {
    fn serve(&self, call: Call) -> Pin<Box<dyn Future<Output = Vec<u8>> + Send>> {
        Box::pin(async move { [format!("{}:", call.from).into_bytes(), call.request].concat() })
    }
}

/// A place for the disks of one test, gone afterwards.
pub struct Place(PathBuf);

impl Place {
    pub fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("conclave-replica-{}-{count}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).expect("a temporary directory");
        Self(path)
    }

    pub fn disk(&self, id: u32) -> PathBuf {
        self.0.join(format!("node-{id}"))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// One node, running or not.
pub struct TestNode {
    pub founder: Founder,
    pub replica: Option<Replica>,
    pub log: Log,
    pub config: ReplicaConfig,
    /// From the beginning until it first starts: the port is nobody else's.
    listener: Option<TcpListener>,
}

impl TestNode {
    fn new(config: ReplicaConfig, founder: Founder, listener: TcpListener) -> Self {
        Self { founder, replica: None, log: Log::default(), config, listener: Some(listener) }
    }

    /// The port of a node that ran before may be somebody else's for a moment.
    async fn listen(&mut self) -> TcpListener {
        if let Some(listener) = self.listener.take() {
            return listener;
        }
        within(async {
            loop {
                if let Ok(listener) = TcpListener::bind(self.config.listen).await {
                    return listener;
                }
                tokio::task::yield_now().await;
            }
        })
        .await
    }
}

/// Several nodes, some of which run.
pub struct Cluster {
    pub nodes: Vec<TestNode>,
    pub place: Place,
}

/// Ordinary elections take longer than any test may.
pub fn no_time_outs() -> Timing {
    Timing { election: (2 * PATIENCE, 3 * PATIENCE), ..quick() }
}

pub fn quick() -> Timing {
    Timing { snapshot_entries: 100_000, ..Timing::default() }
}

impl Cluster {
    /// So many nodes are configured; none runs.
    pub async fn configured(count: u32, timing: Timing) -> Self {
        let place = Place::new();
        let mut founders = Vec::new();
        let mut listeners = Vec::new();
        for id in 0..count {
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
            let peer = listener.local_addr().expect("its address").to_string();
            founders.push(Founder { id: NodeId(id), peer, api: format!("127.0.0.1:{id}") });
            listeners.push(listener);
        }
        let node = |(founder, listener): (&Founder, TcpListener)| {
            let config = ReplicaConfig {
                cluster: "test".into(),
                me: founder.id,
                founders: founders.clone(),
                listen: founder.peer.parse().expect("an address"),
                data: place.disk(founder.id.0),
                tls: None,
                timing,
                host: Host::default(),
            };
            TestNode::new(config, founder.clone(), listener)
        };
        let nodes = founders.iter().zip(listeners).map(node).collect();
        Self { nodes, place }
    }

    /// All of them run, and one leads.
    pub async fn running(count: u32, timing: Timing) -> Self {
        let mut cluster = Self::configured(count, timing).await;
        for id in 0..count {
            cluster.start(id).await.expect("it starts");
        }
        cluster.leader().await;
        cluster
    }

    pub async fn start(&mut self, id: u32) -> Result<(), ReplicaError> {
        self.start_as(id, VERSION).await
    }

    /// As a build that knows the rules of the table up to this version.
    pub async fn start_as(&mut self, id: u32, version: u32) -> Result<(), ReplicaError> {
        let node = &mut self.nodes[id as usize];
        let observer = Box::new(Recorder(Arc::clone(&node.log)));
        let listener = node.listen().await;
        let config = node.config.clone();
        let echo = Arc::new(Echo);
        let started = Replica::start_on(listener, config, echo, observer, version).await;
        node.replica = Some(started?);
        Ok(())
    }

    /// One more node, which knows one of the others.
    pub async fn stranger(&mut self) -> u32 {
        let id = self.nodes.len() as u32;
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let peer = listener.local_addr().expect("its address").to_string();
        let founder = Founder { id: NodeId(id), peer, api: format!("127.0.0.1:{id}") };
        let first = &self.nodes[0].config;
        let config = ReplicaConfig {
            me: founder.id,
            founders: vec![self.nodes[0].founder.clone(), founder.clone()],
            listen: founder.peer.parse().expect("an address"),
            data: self.place.disk(id),
            ..first.clone()
        };
        self.nodes.push(TestNode::new(config, founder, listener));
        self.start(id).await.expect("it starts");
        id
    }

    pub fn replica(&self, id: u32) -> &Replica {
        self.nodes[id as usize].replica.as_ref().expect("it runs")
    }

    /// Hands over if it leads, and stops.
    pub async fn stop(&mut self, id: u32) {
        let replica = self.nodes[id as usize].replica.take().expect("it runs");
        within(replica.stop()).await;
    }

    /// Ends as if the process had died.
    pub async fn kill(&mut self, id: u32) {
        let replica = self.nodes[id as usize].replica.take().expect("it runs");
        replica.kill().await;
    }

    /// The node that leads, once all that run agree on it.
    pub async fn leader(&self) -> u32 {
        let running = || self.nodes.iter().filter_map(|node| node.replica.as_ref());
        let mut first = running().next().expect("one runs").status();
        within(async {
            loop {
                let leaders: Vec<Option<NodeId>> =
                    running().map(|replica| replica.status().borrow().leader).collect();
                let leading = running()
                    .filter(|replica| replica.status().borrow().role == Role::Leader)
                    .count();
                if let Some(Some(leader)) = leaders.first().copied()
                    && leaders.iter().all(|other| *other == Some(leader))
                    && leading == 1
                    // It may have been elected an instant ago, and not know it everywhere yet.
                    && self.replica(leader.0).established().await.is_ok()
                {
                    return leader.0;
                }
                // Another node's status may be what changes next.
                let _ = timeout(Duration::from_millis(20), first.changed()).await;
            }
        })
        .await
    }

    /// Proposes at whoever leads, again and again until it is answered.
    pub async fn propose(&self, change: Change) -> Committed {
        within(async {
            loop {
                let leader = self.leader().await;
                match self.replica(leader).propose(change.clone()).await {
                    Ok(committed) => return committed,
                    Err(NotProposed::NotLeader { .. } | NotProposed::Unknown) => {}
                    Err(NotProposed::Stopped) => panic!("the leader has stopped"),
                }
            }
        })
        .await
    }

    pub async fn open(&self, number: u8, ttl_ms: u64) -> SessionId {
        let session = SessionId([number; 16]);
        self.propose(Change::Open(Open::new(session, ttl_ms))).await;
        session
    }

    /// Takes a lock that is free.
    pub async fn lock(&self, session: SessionId, request: u64, name: &str) -> Fence {
        let body = Body::Acquire(Acquire::exclusive(name));
        let ask = Change::Ask(Ask::new(session, RequestId(request), body));
        let committed = self.propose(ask).await;
        committed.applied.answer.fence().expect("it was free")
    }

    /// Waits until a node has applied this entry.
    pub async fn applied(&self, id: u32, index: u64) {
        self.status(id, |status| status.applied >= index).await;
    }

    pub async fn status(&self, id: u32, wanted: impl Fn(&Status) -> bool) -> Status {
        let mut status = self.replica(id).status();
        within(async { status.wait_for(wanted).await.expect("it runs").clone() }).await
    }

    pub fn entries(&self, id: u32) -> Vec<(u64, LeaseTime, Change)> {
        self.nodes[id as usize].log.lock().expect("nobody panicked").clone()
    }
}

/// Fails if it takes for ever.
pub async fn within<T>(future: impl Future<Output = T>) -> T {
    timeout(PATIENCE, future).await.expect("it takes too long")
}
