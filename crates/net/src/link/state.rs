//! The state that all tasks of the links share.

use super::config::{LinkConfig, Past};
use super::error::ConnectionError;
use super::frame::{Code, Hello, Refusal, Welcome};
use super::outbox::Outbox;
use crate::{News, Order, Packet};
use conclave_core::NodeId;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::{Notify, mpsc, watch};
use tokio::time::Instant;

/// How often a node may have started since it was last met: once a second for a day. A larger jump
/// is somebody else's, and would disown the real node, whose numbers are smaller from then on.
const STARTS_MAX: u32 = 86_400;

/// This node, as its links see it.
pub(super) struct LinkState {
    pub config: LinkConfig,
    news: mpsc::Sender<News>,
    peers: Vec<Peer>,
}

/// What is known of one node, and what it is to be told. (This node's own place stays unused.)
pub(super) struct Peer {
    outbox: Mutex<Outbox>,
    /// There is more in the outbox.
    pub more: Notify,
    /// Up to which number the durable messages from it are on this disk.
    pub acknowledged: watch::Sender<u64>,
    /// Held while the host is told of a meeting, so that it hears of that before anything else.
    known: tokio::sync::Mutex<Known>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Known {
    identity: Option<u128>,
    incarnation: u32,
}

impl Peer {
    pub fn outbox(&self) -> MutexGuard<'_, Outbox> {
        self.outbox.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LinkState {
    pub fn new(mut config: LinkConfig, news: mpsc::Sender<News>) -> Self {
        let mut past = std::mem::take(&mut config.past);
        past.resize_with(config.n as usize, Past::default);
        let peers = past.into_iter().map(|past| Peer {
            outbox: Mutex::new(Outbox::new(&past, &config.limits)),
            more: Notify::new(),
            acknowledged: watch::Sender::new(past.received),
            known: tokio::sync::Mutex::new(Known {
                identity: past.identity,
                incarnation: past.incarnation,
            }),
        });
        let peers = peers.collect();
        Self { config, news, peers }
    }

    pub fn peer(&self, id: NodeId) -> &Peer {
        &self.peers[id.index()]
    }

    /// Tells the host something, when it has room for it.
    pub async fn tell(&self, news: News) -> Result<(), ConnectionError> {
        self.news.send(news).await.map_err(|_| ConnectionError::Stopping)
    }

    /// Room for one message to the host. To wait for it can be given up at any time; once it is
    /// there, the message is as good as delivered.
    pub async fn room(&self) -> Result<mpsc::Permit<'_, News>, ConnectionError> {
        self.news.reserve().await.map_err(|_| ConnectionError::Stopping)
    }

    pub fn hello(&self, to: NodeId) -> Hello {
        let config = &self.config;
        Hello {
            cluster: config.cluster.clone(),
            n: config.n,
            from: config.me,
            to,
            identity: config.identity,
            incarnation: config.incarnation,
            acknowledged: self.peer(to).outbox().acknowledged(),
            algorithm: config.algorithm.clone(),
        }
    }

    pub fn welcome(&self, received: u64) -> Welcome {
        let LinkConfig { identity, incarnation, .. } = self.config;
        Welcome { identity, incarnation, received }
    }

    /// Whether this is the peer that was met before; if none was, it is from now on.
    pub async fn meet(
        &self,
        id: NodeId,
        identity: u128,
        incarnation: u32,
    ) -> Result<(), ConnectionError> {
        let mut known = self.peer(id).known.lock().await;
        if known.identity.is_some_and(|met| met != identity) {
            return Err(ConnectionError::Stranger(another(id)));
        }
        if incarnation < known.incarnation {
            return Err(ConnectionError::Stranger(format!(
                "node {id} has been seen in its start {}, this is its start {incarnation}: an \
                 old copy of its disk, or a process that should be gone",
                known.incarnation
            )));
        }
        if known.identity.is_some() && incarnation - known.incarnation > STARTS_MAX {
            return Err(ConnectionError::Stranger(format!(
                "node {id} has been seen in its start {}, and this one calls itself its start \
                 {incarnation}: nobody starts so often",
                known.incarnation
            )));
        }
        let now = Known { identity: Some(identity), incarnation };
        if *known != now {
            self.tell(News::Met { peer: id, identity, incarnation }).await?;
            *known = now;
        }
        Ok(())
    }

    /// What a refusal comes to. Somebody who is not the peer that was met before may take this node
    /// for whomever it likes.
    pub async fn refused(&self, by: NodeId, refusal: Refusal) -> ConnectionError {
        let Refusal { identity, code, reason } = refusal;
        let met = self.peer(by).known.lock().await.identity;
        match code {
            Code::Disowned if met.is_some_and(|met| met != identity) => ConnectionError::Stranger(
                format!("{}; it refuses this node too: {reason}", another(by)),
            ),
            Code::Disowned => ConnectionError::Disowned(reason),
            Code::Version
            | Code::Cluster
            | Code::Size
            | Code::Sender
            | Code::Receiver
            | Code::Algorithm
            | Code::Certificate
            | Code::Tls => ConnectionError::Refused(reason),
        }
    }

    /// A peer says up to which number this disk had its messages. If it has fewer now, it is an old
    /// copy, and the host must not go on.
    pub async fn look_back(&self, from: NodeId, acknowledged: u64) -> Result<(), ConnectionError> {
        let received = *self.peer(from).acknowledged.borrow();
        if acknowledged <= received {
            return Ok(());
        }
        let reason = format!(
            "was told that its message {acknowledged} had arrived, of which this disk knows \
             {received} only"
        );
        self.tell(News::OldCopy { by: from, reason }).await
    }

    /// Carries out what the host orders. It never waits for a peer, so the host, which may wait for
    /// us, cannot be held up by one.
    pub fn obey(&self, order: Order) {
        match order {
            Order::Send { to, packet } => self.send(to, packet),
            Order::Acknowledge { from, number } => {
                if let Some(peer) = self.peers.get(from.index()) {
                    peer.acknowledged.send_if_modified(|known| {
                        let news = number > *known;
                        *known = number.max(*known);
                        news
                    });
                }
            }
        }
    }

    fn send(&self, to: NodeId, packet: Packet) {
        let Some(peer) = self.peers.get(to.index()).filter(|_| to != self.config.me) else {
            tracing::error!("a message for node {to}, to which there is no link, was not sent");
            return;
        };
        peer.outbox().push(packet, Instant::now());
        peer.more.notify_one();
    }
}

fn another(id: NodeId) -> String {
    format!(
        "another node {id} was met before: this one has lost its disk, or is a second node of the \
         same name"
    )
}
