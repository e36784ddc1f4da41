//! Runs one node: links, host, desk and API, put together and shut down.

use crate::audit::Audit;
use crate::data_watch::DataWatch;
use crate::desk::{Needs, has_holds};
use crate::prepared_api::{self, PreparedApi};
use crate::{Command, Config, Desk, DeskConfig, Engine, NodeFacts, config, replicated_node};
use conclave_core::NodeId;
use conclave_lab::Usage;
use conclave_lab::machines::{ELECTION, Machines};
use conclave_net::recording::{Header, Recorder};
use conclave_net::store::{Expected, Store, StoreError};
use conclave_net::{
    Host, HostConfig, HostError, Limits, LinkConfig, LinkError, Links, TEXT_MAX, Tls, TlsError,
    TlsFiles,
};
use conclave_replica::ReplicaError;
use std::future::Future;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::pin::Pin;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use thiserror::Error;
use tokio::sync::{mpsc, oneshot};
use tracing::{info, warn};

/// How many orders, news and commands may wait for whoever takes them.
pub(crate) const QUEUE: usize = 1_024;
/// A host that is too busy to hand over is stopped all the same.
const HANDOVER: Duration = Duration::from_secs(4);

/// Why a node cannot start, or had to stop.
#[derive(Debug, Error)]
pub enum NodeError {
    /// The algorithms cannot be had.
    #[error(transparent)]
    Engine(#[from] Usage),
    /// The disk refuses.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The certificates cannot be used.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The links cannot be had.
    #[error(transparent)]
    Links(#[from] LinkError),
    /// The API cannot be served there.
    #[error("--http {address}: {source}")]
    Http {
        /// Where.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// The recording cannot be written there.
    #[error("--record {}: {source}", path.display())]
    Record {
        /// Where.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file of tokens cannot be used.
    #[error("--tokens {}: {problem}", path.display())]
    Tokens {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// The audit log cannot be written there.
    #[error("--audit {}: {source}", path.display())]
    Audit {
        /// Where.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The disk is that of a node of the replicated engine.
    #[error("{}: was made with the replicated engine; take another directory", _0.display())]
    OtherEngine(PathBuf),
    /// The host could not start, or ended.
    #[error(transparent)]
    Host(#[from] HostError),
    /// The replica could not start, or had to stop.
    #[error(transparent)]
    Replica(#[from] ReplicaError),
}

/// A node that runs, as a future without its type. What is `async` is compiled where it is
/// awaited, unless it is a trait object, and a binary that only reads flags is not optimised: the
/// whole node, consensus included, would then be as slow as a debug build.
pub type Running = Pin<Box<dyn Future<Output = Result<(), NodeError>>>>;

/// Runs a node until it is told to stop, or has to.
pub fn run(config: Config, shutdown: impl Future<Output = ()> + 'static) -> Running {
    running(config, Box::pin(shutdown))
}

fn running(config: Config, shutdown: Shutdown) -> Running {
    Box::pin(async move {
        let audit = prepared_api::audit(&config)?;
        let written = audit.clone();
        let ended = match config.engine {
            Engine::Replicated => replicated_node::run(config, audit, shutdown).await,
            Engine::Classic { .. } => run_classic(config, audit, shutdown).await,
        };
        if let Some(audit) = written {
            audit.flush();
        }
        ended
    })
}

/// Ends when the node is to stop.
pub(crate) type Shutdown = Pin<Box<dyn Future<Output = ()>>>;
/// How it ended.
pub(crate) type Ended = Result<(), NodeError>;

async fn run_classic(config: Config, audit: Option<Audit>, shutdown: Shutdown) -> Ended {
    let machines = config.machines()?;
    if Engine::Replicated.made(&config.data) {
        return Err(NodeError::OtherEngine(config.data));
    }
    let me = config.me();
    let api = PreparedApi::prepare(&config, audit).await?;
    let expected = Expected { cluster: &config.cluster, node: me, settings: machines.text() };
    let tls = config.tls.as_ref().map(|tls| load_tls(tls, me)).transpose()?;
    let store = Store::open_uncounted(&config.data, &expected)?;
    let mut shutdown = std::pin::pin!(shutdown);
    tokio::select! {
        () = &mut shutdown => return Ok(()),
        waited = outwait_old_holds(&machines, store.store()) => waited?,
    }
    let listener = Links::listen(config.listen).await?;
    let recorder = recorder(&config, &machines, store.store())?;
    let link_config = link_config(&config, &machines, store.store(), tls)?;
    let store = store.count()?; // Whatever can fail, and would fail again, is done.
    let (_data, facts) = watch(&store, link_config.tls.as_ref());
    let (order, orders) = mpsc::channel(QUEUE);
    let (tell, news) = mpsc::channel(QUEUE);
    let (command, commands) = mpsc::channel::<Command>(QUEUE);
    let links = Links::start_on(listener, link_config, orders, tell)?;
    log_start(&config, &links, &api, store.incarnation());
    let host = HostConfig { me, n: config.nodes.len() as u32, seed: random(), recorder };
    let started = Host::start(host, store, desk(&config, machines, &api), order, news, commands);
    let mut host = started.map_err(|error| HostError::Failed(error.to_string()))?;
    let server = api.serve(&config, facts, command.clone());
    let ended = tokio::select! {
        () = hand_over_after(shutdown, &command) => Ok(()),
        ended = host.ended() => ended,
    };
    server.stop().await;
    let stopped = host.stop().await;
    links.stop().await;
    ended.and(stopped)?;
    info!("stopped");
    Ok(())
}

/// What the API tells of the node, and the watch that keeps it true for as long as it is kept.
fn watch(store: &Store, tls: Option<&Tls>) -> (DataWatch, NodeFacts) {
    let watch = DataWatch::start(store.path().to_path_buf());
    let certificate_end = tls.map(Tls::end);
    let facts = NodeFacts { data: watch.state(), certificate_end, syncs: Some(store.syncs()) };
    (watch, facts)
}

fn log_start(config: &Config, links: &Links, api: &PreparedApi, start: u32) {
    info!(
        node = config.id,
        cluster = %config.cluster,
        links = %links.local_addr(),
        api = %api.address(),
        start,
        "started"
    );
}

/// Once told to stop, whoever leads has another take over, for as long as the desk finds right, and
/// not for ever.
pub(crate) async fn hand_over_after(
    stop: impl Future<Output = ()>,
    command: &mpsc::Sender<Command>,
) {
    stop.await;
    let (reply, answer) = oneshot::channel();
    let asked = async {
        if command.send(Command::HandOver { reply }).await.is_ok() {
            let _ = answer.await; // A host that has ended has nothing to hand over.
        }
    };
    if tokio::time::timeout(HANDOVER, asked).await.is_err() {
        warn!("nobody took over in time");
    }
}

/// A node that comes back gives its locks to others at once where its engine has leases. Whoever
/// held one must have noticed before that its node was gone.
async fn outwait_old_holds(machines: &Machines, store: &Store) -> Result<(), NodeError> {
    if let Some(longest) = machines.ttl_max()
        && has_holds(&store.load()?.application)
    {
        let left = Duration::from_micros(longest.0);
        info!("waiting {left:?} for clients that held locks when this node went down");
        tokio::time::sleep(left).await;
    }
    Ok(())
}

fn recorder(
    config: &Config,
    machines: &Machines,
    store: &Store,
) -> Result<Option<Recorder>, NodeError> {
    let Some(path) = &config.record else { return Ok(None) };
    let header = Header {
        cluster: config.cluster.clone(),
        settings: machines.text().to_string(),
        node: NodeId(config.id - 1),
        n: config.nodes.len() as u32,
        incarnation: store.incarnation(),
        started: since_1970().as_micros() as u64,
    };
    let failed = |source| NodeError::Record { path: path.clone(), source };
    Recorder::create(path, &header).map(Some).map_err(failed)
}

fn link_config(
    config: &Config,
    machines: &Machines,
    store: &Store,
    tls: Option<Tls>,
) -> Result<LinkConfig, NodeError> {
    Ok(LinkConfig {
        cluster: config.cluster.clone(),
        me: config.me(),
        n: config.nodes.len() as u32,
        identity: store.identity(),
        incarnation: store.incarnation(),
        nonce: store.nonce(),
        listen: config.listen,
        peers: config.nodes.iter().map(|node| node.peer.clone()).collect(),
        algorithm: greeting(machines.text()),
        past: store.past(config.nodes.len() as u32)?,
        tls,
        limits: Limits::default(),
    })
}

pub(crate) fn load_tls(tls: &config::Tls, me: NodeId) -> Result<Tls, TlsError> {
    let config::Tls { authority, certificate, key, deny } = tls.clone();
    let files = TlsFiles { authority, certificate, key };
    Ok(Tls::load(&files, me)?.deny(deny))
}

/// What nodes compare when they meet: of a long text, one with a file in it, its beginning and
/// what tells it from others.
fn greeting(text: &str) -> String {
    if text.len() <= TEXT_MAX {
        return text.to_string();
    }
    let beginning: String = text.chars().take(TEXT_MAX / 8).collect();
    format!("{beginning}… ({} bytes, {:016x})", text.len(), conclave_core::hash(&text))
}

fn desk(config: &Config, machines: Machines, api: &PreparedApi) -> Desk {
    let locks = machines.locks();
    let parameters = locks.entry.parameters.iter();
    let values =
        parameters.map(|one| (one.name.to_string(), locks.params.text(one.name).to_string()));
    let (election, detector) = match &config.engine {
        Engine::Classic { election, detector, .. } => (election.id.clone(), detector.id.clone()),
        Engine::Replicated => Default::default(),
    };
    let desk = DeskConfig {
        me: config.me(),
        nodes: config.nodes.clone(),
        cluster: config.cluster.clone(),
        engine: locks.entry.id.to_string(),
        parameters: values.collect(),
        election,
        detector,
        election_hears: machines.hears(&ELECTION.into()),
        lock_hears: machines.hears(&"lock/".into()),
        everywhere: machines.must_be_everywhere(),
        first_leader: machines.first_leader(),
        needs: Needs::of(locks),
        ttl_max: machines.ttl_max(),
        notice: machines.notice(),
        lease: machines.lease(),
        started_ms: since_1970().as_millis() as u64,
    };
    let desk = Desk::new(desk, Box::new(move |key, late| machines.machine(key, late)));
    desk.with_audit(api.audit())
}

fn since_1970() -> Duration {
    // A clock before 1970 is wrong, and no reason to stop: the time is only shown.
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

fn random() -> u64 {
    RandomState::new().hash_one(std::process::id())
}
