//! Links: messages between the nodes of a cluster, over TCP.
//!
//! Each pair of nodes has two connections, one per direction: whoever has messages dials, whoever
//! receives them accepts. A greeting makes sure that both sides mean the same cluster, size,
//! algorithm and node, and that each is the one that was met before.
//!
//! Numbers make the lanes of [`Lane`](crate::Lane) out of connections that come and go. The
//! receiver says in its greeting what it has received, and the sender goes on from there. Durable
//! messages stay with the sender until the receiver's disk has them.
//!
//! The numbers also show when a disk went back in time. In its greeting each side says what it has
//! received, what the other has acknowledged, and which start of the other it has met. A node whose
//! own disk knows less has an old copy of it. A peer may be wrong or lie, so the host is told to
//! end when a second one says so.
//!
//! Who is refused and has not proved by TLS to be one of the nodes is told where the reason can be
//! read, and nothing else.
//!
//! Nothing grows without bound. Inwards, a host that is busy makes the reader wait, and TCP makes
//! the sender wait. Outwards, nobody waits: durable messages are as many as the host allows,
//! and of the transient ones the oldest gives way.

mod accept;
mod accusers;
pub(crate) mod backoff;
mod config;
mod dial;
pub(crate) mod error;
pub(crate) mod expiry;
pub(crate) mod frame;
mod inbox;
mod outbox;
mod serve;
mod state;
pub(crate) mod strangers;
pub(crate) mod wire;

pub use config::{Limits, LinkConfig, Past, TEXT_MAX};
pub use error::LinkError;

use crate::{News, Order, RateLimitedLog};
use accept::{Door, keep_accepting};
use dial::keep_dialing;
use serve::keep_serving;
use state::LinkState;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// How many orders are carried out at a time.
const ORDERS: usize = 256;

/// The links of one node. They are cut when this is dropped.
#[derive(Debug)]
pub struct Links {
    address: SocketAddr,
    tasks: JoinSet<()>,
}

impl Links {
    /// Listens where the settings say, and dials all other nodes. Whoever holds the other ends of
    /// the two channels may wait for room in `orders`: they are always taken, whether or not `news`
    /// are read meanwhile.
    pub async fn start(
        config: LinkConfig,
        orders: mpsc::Receiver<Order>,
        news: mpsc::Sender<News>,
    ) -> Result<Self, LinkError> {
        let listener = Self::listen(config.listen).await?;
        Self::start_on(listener, config, orders, news)
    }

    /// Takes the address, for [`Links::start_on`].
    pub async fn listen(address: SocketAddr) -> Result<TcpListener, LinkError> {
        let listener = TcpListener::bind(address).await;
        listener.map_err(|source| LinkError::Listen { address, source })
    }

    /// The same with a listener that exists already, on a port that the system chose, perhaps.
    pub fn start_on(
        listener: TcpListener,
        config: LinkConfig,
        mut orders: mpsc::Receiver<Order>,
        news: mpsc::Sender<News>,
    ) -> Result<Self, LinkError> {
        config.check()?;
        let listen = config.listen;
        let address = listener.local_addr();
        let address = address.map_err(|source| LinkError::Listen { address: listen, source })?;
        let node = Arc::new(LinkState::new(config, news));
        let mut tasks = JoinSet::new();
        let mut rooms = Vec::new();
        for id in (0..node.config.n).map(conclave_core::NodeId) {
            let (room, guests) = mpsc::channel(1);
            rooms.push(room);
            if id != node.config.me {
                tasks.spawn(keep_serving(Arc::clone(&node), id, guests));
                tasks.spawn(keep_dialing(Arc::clone(&node), id));
            }
        }
        let warnings = RateLimitedLog::new("connection from");
        let door = Door { node: Arc::clone(&node), rooms, warnings };
        tasks.spawn(keep_accepting(listener, door));
        tasks.spawn(async move {
            let mut batch = Vec::with_capacity(ORDERS);
            while orders.recv_many(&mut batch, ORDERS).await > 0 {
                batch.drain(..).for_each(|order| node.obey(order));
            }
        });
        Ok(Self { address, tasks })
    }

    /// Where this node listens.
    pub fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// Cuts all links and waits until nothing of them is left.
    pub async fn stop(mut self) {
        self.tasks.shutdown().await;
    }
}
