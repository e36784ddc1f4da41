//! A cluster within one process: real algorithms, real sockets for clients, and between the nodes
//! nothing but a queue.

mod client;
mod described;
mod guarded;
pub mod metrics_page;
mod world;

pub use client::{Client, Response, call, raw, send};
pub use guarded::{by, session_of};
pub use world::run_world;

use conclave_core::NodeId;
use conclave_net::{ApiTls, TlsFiles, make_authority, make_server};
use conclave_service::http::{HttpConfig, HttpLimits, Server, serve};
use conclave_service::tokens::TokenFile;
use conclave_service::{Address, ApiAccess, Chosen, Config, Engine, NodeFacts};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::mpsc;

/// The token that lets a test use force.
pub const TOKEN: &str = "token of the test";

/// Nodes that serve clients.
pub struct Cluster {
    /// Where the API of each node is.
    pub nodes: Vec<SocketAddr>,
    servers: Vec<Server>,
    /// The certificates of its API, if it has any.
    pub tls: Option<ApiTls>,
}

/// How the APIs are guarded, and whether they have the lab.
#[derive(Clone, Default)]
struct Served {
    tokens: Option<Arc<TokenFile>>,
    tls: Option<ApiTls>,
    lab: bool,
}

/// Limits for tests that do not try them.
pub fn patient() -> HttpLimits {
    let (drain, answer) = (Duration::from_millis(100), Duration::from_secs(60));
    HttpLimits { drain, answer, ..HttpLimits::default() }
}

impl Cluster {
    /// So many nodes with this lock algorithm.
    pub async fn start(n: u32, engine: &str, limits: HttpLimits) -> Self {
        Self::start_with(n, engine, limits, Served::default()).await
    }

    /// The same, with a file of tokens.
    pub async fn guarded(n: u32, engine: &str) -> Self {
        let served = Served { tokens: Some(tokens()), ..Served::default() };
        Self::start_with(n, engine, patient(), served).await
    }

    /// One node whose page has the lab, with or without a file of tokens.
    pub async fn with_lab(guarded: bool) -> Self {
        let served = Served { tokens: guarded.then(tokens), lab: true, ..Served::default() };
        Self::start_with(1, "central", patient(), served).await
    }

    /// One node, with certificates.
    pub async fn certified(engine: &str, limits: HttpLimits) -> Self {
        let folder = Folder::new("certificates");
        let authority = make_authority("test").expect("an authority");
        let day = Duration::from_secs(24 * 3600);
        let made = make_server(&authority, NodeId(0), &[], day).expect("a certificate");
        let file = |name: &str, text: &str| {
            let path = folder.0.join(name);
            std::fs::write(&path, text).expect("written");
            path
        };
        let files = TlsFiles {
            authority: file("ca.pem", &authority.certified().certificate),
            certificate: file("api.pem", &made.certificate),
            key: file("api.key", &made.key),
        };
        let tls = ApiTls::load(&files, false).expect("they belong together");
        let served = Served { tls: Some(tls), ..Served::default() };
        Self::start_with(1, engine, limits, served).await
    }

    async fn start_with(n: u32, engine: &str, limits: HttpLimits, served: Served) -> Self {
        let Served { tokens, tls, lab } = served;
        let mut listeners = Vec::new();
        for _ in 0..n {
            listeners.push(TcpListener::bind("127.0.0.1:0").await.expect("a port"));
        }
        let nodes: Vec<SocketAddr> =
            listeners.iter().map(|one| one.local_addr().expect("bound")).collect();
        let (mut servers, mut commands) = (Vec::new(), Vec::new());
        for (number, listener) in (1..).zip(listeners) {
            let (sender, receiver) = mpsc::channel(256);
            let config = HttpConfig {
                node: number,
                own: vec!["own.example:7070".to_string()],
                keeper: Some(nodes[0].to_string()),
                admin_token: Some(TOKEN.to_string()),
                tokens: tokens.clone(),
                tls: tls.clone(),
                audit: None,
                lab,
                limits,
                facts: NodeFacts { syncs: Some(Arc::default()), ..NodeFacts::default() },
            };
            servers.push(serve(listener, config, sender));
            commands.push(receiver);
        }
        run_world(config_of(&nodes, engine), commands);
        Self { nodes, servers, tls }
    }

    /// The API of node 1.
    pub fn first(&self) -> SocketAddr {
        self.nodes[0]
    }

    /// Stops all APIs, and with them the nodes.
    pub async fn stop(self) {
        for server in self.servers {
            server.stop().await;
        }
    }
}

/// A directory that is gone when what is in it was read.
struct Folder(PathBuf);

impl Folder {
    fn new(what: &str) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("conclave-http-{what}-{}-{count}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).expect("a directory");
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0); // It is only temporary.
    }
}

fn tokens() -> Arc<TokenFile> {
    let folder = Folder::new("tokens");
    guarded::tokens(&folder.0)
}

fn config_of(nodes: &[SocketAddr], engine: &str) -> Config {
    let chosen = |id: &str| Chosen { id: id.to_string(), set: Vec::new() };
    let address = |api: &SocketAddr| Address { peer: String::new(), api: api.to_string() };
    Config {
        cluster: "test".to_string(),
        id: 1,
        nodes: nodes.iter().map(address).collect(),
        listen: nodes[0],
        http: nodes[0],
        data: PathBuf::new(),
        engine: Engine::Classic {
            engine: chosen(engine),
            election: chosen("majority"),
            detector: chosen("phi-accrual"),
        },
        tls: None,
        record: None,
        access: ApiAccess::default(),
        lab: false,
    }
}
