//! The state that all tasks of the links share.

use super::accusers::Accusers;
use super::config::{LinkConfig, Past};
use super::error::ConnectionError;
use super::frame::{Code, Hello, Refusal, Start, Welcome};
use super::outbox::Outbox;
use crate::{News, Order, Packet};
use conclave_core::NodeId;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::{Notify, mpsc, watch};
use tokio::time::Instant;

/// How often a node may have started since it was last met, unless it proves by TLS who it is: once
/// a second for a day. A larger jump is somebody else's, and would shut out the real node, whose
/// numbers are smaller from then on.
const STARTS_MAX: u32 = 86_400;

/// This node, as its links see it.
pub(super) struct LinkState {
    pub config: LinkConfig,
    news: mpsc::Sender<News>,
    peers: Vec<Peer>,
    accusers: Accusers,
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
    nonce: Option<u64>,
}

impl Known {
    fn start(&self) -> Option<Start> {
        Some(Start { incarnation: self.incarnation, nonce: self.nonce? })
    }
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
                nonce: past.nonce,
            }),
        });
        let peers = peers.collect();
        let accusers = Accusers::new(config.n, config.tls.is_some());
        Self { config, news, peers, accusers }
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

    pub async fn hello(&self, to: NodeId) -> Hello {
        let met = self.peer(to).known.lock().await.start();
        let config = &self.config;
        Hello {
            cluster: config.cluster.clone(),
            n: config.n,
            from: config.me,
            to,
            identity: config.identity,
            start: self.start(),
            met,
            acknowledged: self.peer(to).outbox().acknowledged(),
            algorithm: config.algorithm.clone(),
        }
    }

    pub fn welcome(&self, received: u64) -> Welcome {
        Welcome { identity: self.config.identity, start: self.start(), received }
    }

    fn start(&self) -> Start {
        let LinkConfig { incarnation, nonce, .. } = self.config;
        Start { incarnation, nonce }
    }

    /// Whether this is the peer that was met before; if none was, it is from now on.
    pub async fn meet(
        &self,
        id: NodeId,
        identity: u128,
        start: Start,
    ) -> Result<(), ConnectionError> {
        let Start { incarnation, nonce } = start;
        let mut known = self.peer(id).known.lock().await;
        if known.identity.is_some_and(|met| met != identity) {
            return Err(ConnectionError::Stranger(another(id)));
        }
        if incarnation < known.incarnation {
            return Err(ConnectionError::OldPeer(format!(
                "node {id} has been seen in its start {}, this is its start {incarnation}: an \
                 old copy of its disk, or a process that should be gone",
                known.incarnation
            )));
        }
        if known.start().is_some_and(|met| met.incarnation == incarnation && met.nonce != nonce) {
            return Err(ConnectionError::OldPeer(format!(
                "node {id} has been seen in another start {incarnation} than this one: its disk \
                 has been copied, and this is not the copy that went on first"
            )));
        }
        let jump = incarnation - known.incarnation;
        if self.config.tls.is_none() && known.identity.is_some() && jump > STARTS_MAX {
            return Err(ConnectionError::Jump(format!(
                "node {id} has been seen in its start {}, and this one calls itself its start \
                 {incarnation}: nobody starts so often",
                known.incarnation
            )));
        }
        let now = Known { identity: Some(identity), incarnation, nonce: Some(nonce) };
        if *known != now {
            self.tell(News::Met { peer: id, identity, incarnation, nonce }).await?;
            *known = now;
        }
        Ok(())
    }

    /// What a refusal comes to. Without TLS anybody may have said it, and no reason is believed.
    /// Somebody who is not the peer that was met before may take this node for whomever it likes.
    pub async fn refused(&self, by: NodeId, refusal: Refusal) -> ConnectionError {
        let Refusal { by: answering, identity, code, reason } = refusal;
        if self.config.tls.is_none() {
            return ConnectionError::RefusedUntold(answering);
        }
        let met = self.peer(by).known.lock().await.identity;
        match code {
            Code::Untold => ConnectionError::RefusedUntold(answering),
            Code::Disowned | Code::OldCopy if met.is_some_and(|met| met != identity) => {
                let too = format!("{}; it refuses this node too: {reason}", another(by));
                ConnectionError::Stranger(too)
            }
            Code::Disowned => ConnectionError::Disowned(reason),
            Code::OldCopy => ConnectionError::OldCopy(format!("says: {reason}")),
            Code::Version
            | Code::Cluster
            | Code::Size
            | Code::Sender
            | Code::Receiver
            | Code::Algorithm
            | Code::Certificate
            | Code::Tls
            | Code::Doubted => ConnectionError::Refused(reason),
        }
    }

    /// A peer says which start of this node it has met, and up to which number this disk had its
    /// messages. If the disk knows less now, it is an old copy, or the peer is wrong.
    pub fn look_back(&self, hello: &Hello) -> Result<(), ConnectionError> {
        let own = self.start();
        if let Some(Start { incarnation, .. }) = hello.met
            && incarnation > own.incarnation
        {
            return Err(ConnectionError::OldCopy(format!(
                "has met this node in its start {incarnation}, and this is its start {}",
                own.incarnation
            )));
        }
        if hello.met.is_some_and(|met| met.incarnation == own.incarnation && met != own) {
            return Err(ConnectionError::OldCopy(format!(
                "has met this node in another start {} than this one",
                own.incarnation
            )));
        }
        let acknowledged = hello.acknowledged;
        let received = *self.peer(hello.from).acknowledged.borrow();
        if acknowledged > received {
            return Err(ConnectionError::OldCopy(format!(
                "was told that its message {acknowledged} had arrived, of which this disk knows \
                 {received} only"
            )));
        }
        Ok(())
    }

    /// If this fault is a word against this very node, remembers it. The host is told to end when
    /// it need not be believed of one peer alone.
    pub async fn accused(
        &self,
        by: NodeId,
        fault: &ConnectionError,
    ) -> Result<(), ConnectionError> {
        let Some(news) = fault.accusation(by) else { return Ok(()) };
        match self.accusers.add(by, fault) {
            true => self.tell(news).await,
            false => Ok(()),
        }
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
