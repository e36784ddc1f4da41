//! A cluster within one process: real algorithms, real sockets for clients, and between the nodes
//! nothing but a queue.

mod client;
mod described;
pub mod metrics_page;
mod world;

pub use client::{Client, call, raw};
pub use world::run_world;

use conclave_service::http::{HttpConfig, HttpLimits, Server, serve};
use conclave_service::{Address, Chosen, Config, Engine, NodeFacts};
use std::net::SocketAddr;
use std::sync::Arc;
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
}

/// Limits for tests that do not try them.
pub fn patient() -> HttpLimits {
    let (drain, answer) = (Duration::from_millis(100), Duration::from_secs(60));
    HttpLimits { drain, answer, ..HttpLimits::default() }
}

impl Cluster {
    /// So many nodes with this lock algorithm.
    pub async fn start(n: u32, engine: &str, limits: HttpLimits) -> Self {
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
                limits,
                facts: NodeFacts { syncs: Some(Arc::default()), ..NodeFacts::default() },
            };
            servers.push(serve(listener, config, sender));
            commands.push(receiver);
        }
        run_world(config_of(&nodes, engine), commands);
        Self { nodes, servers }
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

fn config_of(nodes: &[SocketAddr], engine: &str) -> Config {
    let chosen = |id: &str| Chosen { id: id.to_string(), set: Vec::new() };
    let address = |api: &SocketAddr| Address { peer: String::new(), api: api.to_string() };
    Config {
        cluster: "test".to_string(),
        id: 1,
        nodes: nodes.iter().map(address).collect(),
        listen: nodes[0],
        http: nodes[0],
        data: std::path::PathBuf::new(),
        engine: Engine::Classic {
            engine: chosen(engine),
            election: chosen("majority"),
            detector: chosen("phi-accrual"),
        },
        tls: None,
        record: None,
        admin_token: None,
    }
}
