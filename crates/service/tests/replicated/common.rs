//! A cluster of real replicas on loopback, within one process.

#[path = "../http/common/client.rs"]
mod client;
#[path = "../http/common/described.rs"]
mod described;
#[path = "../http/common/guarded.rs"]
mod guarded;
#[path = "../http/common/metrics_page.rs"]
pub mod metrics_page;

pub use client::{Client, Response, call, post};
pub use guarded::{by, session_of};

use conclave_api::KeepAlive;
use conclave_core::NodeId;
use conclave_replica::{Founder, Host, ReplicaConfig, Timing};
use conclave_service::audit::Audit;
use conclave_service::http::{HttpConfig, HttpLimits, Server, serve};
use conclave_service::tokens::TokenFile;
use conclave_service::{Command, EngineConfig, NodeFacts, ReplicatedEngine};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

/// The token that lets a test use force.
pub const TOKEN: &str = "token of the test";
/// Longer than anything takes, unless it hangs.
pub const FOR_EVER: Duration = Duration::from_secs(20);

static CLUSTERS: AtomicU32 = AtomicU32::new(0);

/// A node of the cluster.
pub struct Member {
    pub engine: Arc<ReplicatedEngine>,
    /// What its API tells beside its engine.
    pub facts: NodeFacts,
    server: Server,
    commands: mpsc::Sender<Command>,
}

/// Nodes that serve clients.
pub struct Cluster {
    /// Where the API of each node is.
    pub nodes: Vec<SocketAddr>,
    members: Vec<Option<Member>>,
    replicas: Vec<ReplicaConfig>,
    directory: PathBuf,
}

impl Cluster {
    /// So many nodes, which know who leads.
    pub async fn start(n: usize) -> Self {
        let limits = HttpLimits::default();
        Self::limited(n, limits).await
    }

    /// The same, with a file of tokens and an audit log each.
    pub async fn guarded(n: usize) -> Self {
        let cluster = Self::begin_with(n, n, HttpLimits::default(), true).await;
        cluster.know_the_leader().await;
        cluster
    }

    /// What the audit log of a node says.
    pub fn audited(&self, index: usize) -> Vec<Value> {
        let path = self.directory.join(format!("audit-{index}.jsonl"));
        let text = std::fs::read_to_string(path).expect("it is there");
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }

    /// The same, with these limits of the API.
    pub async fn limited(n: usize, limits: HttpLimits) -> Self {
        let cluster = Self::begin(n, n, limits).await;
        cluster.know_the_leader().await;
        cluster
    }

    /// The first of so many nodes; the others were never started.
    pub async fn begin(n: usize, started: usize, limits: HttpLimits) -> Self {
        Self::begin_with(n, started, limits, false).await
    }

    async fn begin_with(n: usize, started: usize, limits: HttpLimits, guarded: bool) -> Self {
        let limits = HttpLimits { drain: Duration::from_millis(500), ..limits };
        let number = CLUSTERS.fetch_add(1, Ordering::Relaxed);
        let name = format!("conclave-engine-{}-{number}", std::process::id());
        let directory = std::env::temp_dir().join(name);
        let mut links = Vec::new();
        let mut apis = Vec::new();
        for _ in 0..n {
            links.push(TcpListener::bind("127.0.0.1:0").await.expect("a port"));
            apis.push(TcpListener::bind("127.0.0.1:0").await.expect("a port"));
        }
        let address = |one: &TcpListener| one.local_addr().expect("bound");
        let nodes: Vec<SocketAddr> = apis.iter().map(address).collect();
        let founder = |(id, link): (u32, &TcpListener)| Founder {
            id: NodeId(id),
            peer: address(link).to_string(),
            api: nodes[id as usize].to_string(),
        };
        let founders: Vec<Founder> = (0..).zip(&links).map(founder).collect();
        let (mut members, mut replicas) = (Vec::new(), Vec::new());
        for ((id, link), api) in (0..).zip(links).zip(apis).take(started) {
            let data = directory.join(id.to_string());
            std::fs::create_dir_all(&data).expect("a directory");
            let replica = ReplicaConfig {
                cluster: "test".to_string(),
                me: NodeId(id),
                founders: founders.clone(),
                listen: address(&link),
                data,
                tls: None,
                timing: Timing::default(),
                host: Host::default(),
            };
            replicas.push(replica.clone());
            let access = access(guarded, &directory, id);
            members.push(Some(Member::start(replica, link, api, limits, access).await));
        }
        Self { nodes, members, replicas, directory }
    }

    /// Waits until all living nodes know who leads.
    async fn know_the_leader(&self) {
        for member in self.members.iter().flatten() {
            timeout(FOR_EVER, member.engine.leader()).await.expect("somebody leads");
        }
    }

    /// The API of node 1.
    pub fn first(&self) -> SocketAddr {
        self.nodes[0]
    }

    /// A living node.
    pub fn member(&self, index: usize) -> &Member {
        self.members[index].as_ref().expect("it lives")
    }

    /// Which node leads, by its index.
    pub async fn leader(&self) -> usize {
        let member = self.members.iter().flatten().next().expect("one lives");
        timeout(FOR_EVER, member.engine.leader()).await.expect("somebody leads").index()
    }

    /// A node that does not lead.
    pub async fn follower(&self) -> usize {
        let leader = self.leader().await;
        (0..self.nodes.len()).find(|index| *index != leader).expect("there are others")
    }

    /// Kills a node: nothing is handed over.
    pub async fn kill(&mut self, index: usize) {
        let Some(member) = self.members[index].take() else { return };
        let Member { engine, server, commands, .. } = member;
        let replica = engine.replica().cloned().expect("it has started");
        replica.kill().await;
        drop((engine, commands));
        server.stop().await;
    }

    /// Kills the only node and starts it again with its disk, with tokens or without. Its ports are
    /// new: somebody else may have taken the old ones meanwhile.
    pub async fn restart(&mut self, guarded: bool) {
        assert_eq!(self.members.len(), 1, "others would look for it at its old port");
        self.kill(0).await;
        let link = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let api = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let listen = link.local_addr().expect("bound");
        self.nodes = vec![api.local_addr().expect("bound")];
        let replica = ReplicaConfig { listen, ..self.replicas[0].clone() };
        let access = access(guarded, &self.directory, 0);
        let limits = HttpLimits::default();
        self.members = vec![Some(Member::start(replica, link, api, limits, access).await)];
        self.know_the_leader().await;
    }

    /// Stops all nodes.
    pub async fn stop(mut self) {
        for index in 0..self.members.len() {
            self.kill(index).await;
        }
        let _ = std::fs::remove_dir_all(&self.directory); // It is only temporary.
    }
}

/// Tokens and an audit log, if a node is to have them.
type Access = (Option<Arc<TokenFile>>, Option<Audit>);

fn access(guarded: bool, directory: &Path, id: u32) -> Access {
    let tokens = guarded.then(|| guarded::tokens(directory));
    let path = directory.join(format!("audit-{id}.jsonl"));
    (tokens, guarded.then(|| Audit::open(&path, id + 1).expect("a file")))
}

impl Member {
    async fn start(
        replica: ReplicaConfig,
        link: TcpListener,
        api: TcpListener,
        limits: HttpLimits,
        (tokens, audit): Access,
    ) -> Self {
        let (commands, taken) = mpsc::channel(1_024);
        let facts = NodeFacts::default();
        let config = HttpConfig {
            node: replica.me.0 + 1,
            own: Vec::new(),
            keeper: None,
            admin_token: Some(TOKEN.to_string()),
            tokens,
            tls: None,
            audit: audit.clone(),
            lab: false,
            limits,
            facts: facts.clone(),
        };
        let config_of_engine = EngineConfig { replica, audit };
        let engine = ReplicatedEngine::start_on(link, config_of_engine, taken).await;
        let engine = engine.expect("the replica starts");
        let server = serve(api, config, commands.clone());
        Self { engine, facts, server, commands }
    }

    /// A keepalive as a node without tokens sends it: in nobody's name. Whether it was taken.
    pub async fn nobody_keeps(&self, session: &str) -> bool {
        let (reply, answer) = oneshot::channel();
        let (session, request) = (session.to_string(), KeepAlive::default());
        let keep = Command::KeepAlive { session, request, reply };
        self.commands.send(keep).await.expect("it takes commands");
        let answer = timeout(FOR_EVER, answer).await.expect("it does not hang");
        answer.expect("an answer").is_ok()
    }

    /// Tells the node that it is about to stop, and waits until it may.
    pub async fn hand_over(&self) {
        let (reply, answer) = oneshot::channel();
        self.commands.send(Command::HandOver { reply }).await.expect("it takes commands");
        let answer = timeout(FOR_EVER, answer).await.expect("it does not hang");
        assert!(answer.is_ok_and(|answer| answer.is_ok()), "it is handed over");
    }
}

impl Client {
    /// The same session at another node.
    pub fn at(&self, address: SocketAddr) -> Self {
        Self { address, session: self.session.clone() }
    }

    /// Asks for a lock with these words.
    pub async fn ask(&self, name: &str, words: Value) -> Response {
        self.post(&format!("/v1/locks/{name}/acquire"), words).await
    }

    /// A request that will have to wait, in a task of its own; returns when it stands in line.
    pub async fn queue(&self, name: &str, words: Value) -> Waiting {
        let before = waiters(self.address, name).await;
        let client = self.clone();
        let path = format!("/v1/locks/{name}/acquire");
        let asked = tokio::spawn(async move { client.post(&path, words).await });
        let joined = async {
            while waiters(self.address, name).await <= before {
                tokio::task::yield_now().await;
            }
        };
        timeout(FOR_EVER, joined).await.expect("it joins the line");
        asked
    }
}

/// A request under way.
pub type Waiting = tokio::task::JoinHandle<Response>;

/// How many wait for a lock.
pub async fn waiters(address: SocketAddr, name: &str) -> usize {
    let lock = call(address, &format!("GET /v1/locks/{name}"), &[], "").await;
    lock.json()["waiters"].as_array().map_or(0, Vec::len)
}

/// The fence of a grant.
pub fn fence(response: &Response) -> u64 {
    assert_eq!(response.status, 200, "{response:?}");
    response.json()["fence"].as_u64().expect("a fence")
}

/// A request with the admin token.
pub async fn admin(address: SocketAddr, request: &str, body: Value) -> Response {
    let token = format!("Bearer {TOKEN}");
    let headers = [("content-type", "application/json"), ("authorization", &*token)];
    call(address, request, &headers, &body.to_string()).await
}

/// Asks for one lock, and says what is wrong if it is not had.
pub fn numbered(request_id: u64, wait_ms: u64) -> Value {
    json!({ "request_id": request_id.to_string(), "wait_ms": wait_ms })
}

/// Waits until something is so, and asks again and again.
pub async fn until(mut so: impl AsyncFnMut() -> bool) {
    let asked = async {
        while !so().await {
            tokio::task::yield_now().await;
        }
    };
    timeout(FOR_EVER, asked).await.expect("it comes to pass");
}
