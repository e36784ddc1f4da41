//! Remote procedure calls (RPC): requests and answers between the nodes of a cluster, over TCP.
//!
//! Whoever asks dials, and each [`Purpose`] has a connection of its own. Peers are not fixed:
//! members come and go, and each request says where its peer is. A greeting makes sure that both
//! sides mean the same cluster, nodes and disks, that the one that accepts admits the other, and
//! with TLS that each is who it says it is. Each side says a little of itself
//! ([`RpcServer::about`]), which the other one can read ([`Rpc::about`]).
//!
//! Many requests share a connection, by number, and are answered in any order. The time that is
//! left travels with each. The work on a request ends at its deadline, and when whoever asked has
//! given up or is gone.
//!
//! A request never waits for a peer that is known to be away, and none is sent twice. Of all errors
//! only [`RpcError::Unanswered`] leaves open whether it took effect.
//!
//! Who is refused and has not proved by TLS to be one of the nodes is told where the reason can be
//! read, and nothing else.
//!
//! ```
//! use conclave_core::NodeId;
//! use conclave_net::rpc::{
//!     Introduction, PeerAddress, Purpose, Rpc, RpcConfig, RpcLimits, RpcServer, Serving,
//! };
//! use std::sync::Arc;
//! use std::time::Duration;
//! use tokio::net::TcpListener;
//! use tokio::time::Instant;
//!
//! struct Echo;
//!
//! impl RpcServer for Echo {
//!     fn admit(&self, _: &Introduction) -> Result<(), String> {
//!         Ok(())
//!     }
//!     fn about(&self) -> Vec<u8> {
//!         b"table version 1".to_vec()
//!     }
//!     fn serve(&self, _: NodeId, _: Purpose, request: Vec<u8>, _: Instant) -> Serving {
//!         Box::pin(async move { request })
//!     }
//! }
//!
//! async fn start(me: u32) -> Rpc {
//!     let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
//!     let config = RpcConfig {
//!         cluster: "demo".into(),
//!         me: NodeId(me),
//!         disk: me.into(),
//!         listen: listener.local_addr().expect("its address"),
//!         tls: None,
//!         limits: RpcLimits::default(),
//!     };
//!     Rpc::start_on(listener, config, Arc::new(Echo)).expect("these settings work")
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! let one = start(0).await;
//! let two = start(1).await;
//! let address = two.local_addr().to_string();
//! let to = PeerAddress { id: NodeId(1), address, disk: Some(1) };
//! let deadline = Instant::now() + Duration::from_secs(10);
//! let answer = one.request(&to, Purpose::Raft, b"hello".to_vec(), deadline).await;
//! assert_eq!(answer, Ok(b"hello".to_vec()));
//! assert_eq!(one.about(NodeId(1)), Some(b"table version 1".to_vec()));
//! # }
//! ```

mod accept;
mod ask;
mod config;
mod dial;
mod error;
mod event;
mod frame;
mod greeting;
mod network;
mod outgoing;
mod serve;
mod server;
mod state;

pub use crate::link::wire::Stream;
pub use config::{ABOUT_MAX, PeerAddress, Purpose, RpcConfig, RpcLimits};
pub use error::RpcError;
pub use event::{Direction, Ending, LinkEvent, LinkName, Probe};
pub use network::{Connecting, Connection, Listener, Network};
pub use server::{Introduction, RpcServer, Serving};

use crate::LinkError;
use accept::keep_accepting;
use conclave_core::NodeId;
use state::RpcState;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::sync::broadcast;
use tokio::time::{Instant, timeout};
use tokio_util::sync::DropGuard;

/// The calls of one node. Cheap to clone; all connections are cut when the last clone is dropped.
#[derive(Clone)]
pub struct Rpc {
    node: Arc<RpcState>,
    address: SocketAddr,
    _last: Arc<DropGuard>,
}

impl fmt::Debug for Rpc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rpc").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Rpc {
    /// Takes the address of the settings and starts.
    pub async fn start(config: RpcConfig, server: Arc<dyn RpcServer>) -> Result<Self, LinkError> {
        let address = config.listen;
        let listener = TcpListener::bind(address).await;
        let listener = listener.map_err(|source| LinkError::Listen { address, source })?;
        Self::start_on(listener, config, server)
    }

    /// The same with a listener that exists already, on a port that the system chose, perhaps,
    /// or with another network. Must be called within a tokio runtime.
    pub fn start_on(
        listener: impl Into<Listener>,
        config: RpcConfig,
        server: Arc<dyn RpcServer>,
    ) -> Result<Self, LinkError> {
        config.check()?;
        let Listener(network) = listener.into();
        let listen = config.listen;
        let address = network.local_addr();
        let address = address.map_err(|source| LinkError::Listen { address: listen, source })?;
        let node = Arc::new(RpcState::new(config, network, server));
        node.tasks.spawn(keep_accepting(Arc::clone(&node)));
        let last = Arc::new(node.stop.clone().drop_guard());
        Ok(Self { node, address, _last: last })
    }

    /// Where this node listens.
    pub fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// Asks a peer. The first request for a peer and purpose dials; one that finds the peer away
    /// fails at once. The peer is told when the returned future is dropped, and drops its own work.
    pub async fn request(
        &self,
        to: &PeerAddress,
        purpose: Purpose,
        request: Vec<u8>,
        deadline: Instant,
    ) -> Result<Vec<u8>, RpcError> {
        self.node.channel(to, purpose).request(&request, deadline).await
    }

    /// Whether a connection with this peer stands, whoever has dialled it and whatever it is for.
    pub fn connected(&self, to: NodeId) -> bool {
        self.node.connected(to)
    }

    /// Whether one stands that has shown this disk.
    pub fn connected_with(&self, to: NodeId, disk: u128) -> bool {
        self.node.connected_with(to, disk)
    }

    /// Connections that come up and go down from now on. A connection that the peer's system closes
    /// is told of at once.
    pub fn links(&self) -> broadcast::Receiver<LinkEvent> {
        self.node.events.subscribe()
    }

    /// What this peer said of itself in its latest greeting.
    pub fn about(&self, id: NodeId) -> Option<Vec<u8>> {
        self.node.about(id)
    }

    /// Makes one fresh connection, and nothing of it, to learn whether the process of the peer is
    /// there. Nothing is said about whether it is the right one.
    pub async fn probe(&self, to: &PeerAddress) -> Probe {
        let limit = self.node.config.limits.probe;
        match timeout(limit, self.node.network.connect(&to.address)).await {
            Ok(Ok(_)) => Probe::Answers,
            Ok(Err(error)) if error.kind() == io::ErrorKind::ConnectionRefused => {
                Probe::RefusedConnection
            }
            Ok(Err(_)) | Err(_) => Probe::Unknown,
        }
    }

    /// Cuts all connections with a member that has left. If it connects again, [`RpcServer::admit`]
    /// decides; if it is asked again, it is dialled.
    pub fn forget(&self, id: NodeId) {
        self.node.forget(id);
    }

    /// Cuts all connections and waits until nothing of them is left. Requests under way fail, also
    /// those of other clones.
    pub async fn stop(self) {
        self.node.stop.cancel();
        self.node.tasks.close();
        self.node.tasks.wait().await;
    }
}
