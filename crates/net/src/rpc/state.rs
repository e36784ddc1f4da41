//! The state that all tasks of the calls share: the peers, as they come and go.

use super::dial::Channel;
use super::event::{Direction, Ending, LinkEvent, LinkName};
use super::greeting::Guest;
use super::{Network, PeerAddress, Purpose, RpcConfig, RpcServer};
use conclave_core::NodeId;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::broadcast;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// So many link events wait for a slow listener; it learns that it has missed some.
const EVENTS: usize = 1024;

/// This node, as its connections see it.
pub(super) struct RpcState {
    pub config: RpcConfig,
    pub network: Arc<dyn Network>,
    pub server: Arc<dyn RpcServer>,
    pub tasks: TaskTracker,
    pub stop: CancellationToken,
    pub events: broadcast::Sender<LinkEvent>,
    peers: Mutex<Peers>,
}

#[derive(Default)]
struct Peers {
    known: BTreeMap<NodeId, Peer>,
    /// How many connections have been accepted so far.
    visits: u64,
}

/// What is known of a peer, and the connections with it.
#[derive(Default)]
struct Peer {
    about: Option<Vec<u8>>,
    channels: BTreeMap<Purpose, Arc<Channel>>,
    visits: BTreeMap<Purpose, Visit>,
}

/// A connection that the peer has dialled. It ends when its token is cancelled.
#[derive(Clone)]
pub(super) struct Visit {
    number: u64,
    disk: u128,
    pub end: CancellationToken,
}

impl RpcState {
    pub fn new(config: RpcConfig, network: Arc<dyn Network>, server: Arc<dyn RpcServer>) -> Self {
        Self {
            config,
            network,
            server,
            tasks: TaskTracker::new(),
            stop: CancellationToken::new(),
            events: broadcast::Sender::new(EVENTS),
            peers: Mutex::default(),
        }
    }

    /// The channel to this peer. If there is none, or the peer has moved, a new one is made.
    pub fn channel(self: &Arc<Self>, to: &PeerAddress, purpose: Purpose) -> Arc<Channel> {
        let mut peers = self.peers();
        let channels = &mut peers.known.entry(to.id).or_default().channels;
        if let Some(channel) = channels.get(&purpose) {
            if channel.leads_to(to) {
                return Arc::clone(channel);
            }
            channel.end();
        }
        let channel = Channel::open(self, to.clone(), purpose);
        channels.insert(purpose, Arc::clone(&channel));
        channel
    }

    /// A peer has said this of itself.
    pub fn heard(&self, peer: NodeId, about: Vec<u8>) {
        self.peers().known.entry(peer).or_default().about = Some(about);
    }

    /// What this peer last said of itself.
    pub fn about(&self, peer: NodeId) -> Option<Vec<u8>> {
        self.peers().known.get(&peer)?.about.clone()
    }

    /// Whether a connection with this peer stands, whoever has dialled it.
    pub fn connected(&self, peer: NodeId) -> bool {
        let peers = self.peers();
        let Some(peer) = peers.known.get(&peer) else { return false };
        !peer.visits.is_empty() || peer.channels.values().any(|channel| channel.is_up())
    }

    /// Whether a connection with this peer stands that has shown this disk.
    pub fn connected_with(&self, peer: NodeId, disk: u128) -> bool {
        let peers = self.peers();
        let Some(peer) = peers.known.get(&peer) else { return false };
        peer.visits.values().any(|visit| visit.disk == disk)
            || peer.channels.values().any(|channel| channel.is_up_with(disk))
    }

    /// A peer has connected, and takes the place of its older connection for the same purpose: it
    /// has given that up, even if nobody here has noticed. Since it is there, it is dialled at once
    /// if it was to be dialled again.
    pub fn visited(&self, guest: &Guest) -> Visit {
        let Guest { from, disk, purpose, .. } = *guest;
        let mut peers = self.peers();
        peers.visits += 1;
        let visit = Visit { number: peers.visits, disk, end: self.stop.child_token() };
        let peer = peers.known.entry(from).or_default();
        peer.about = Some(guest.about.clone());
        let link = LinkName { peer: from, purpose, direction: Direction::Incoming };
        if let Some(older) = peer.visits.insert(purpose, visit.clone()) {
            older.end.cancel();
            self.tell(LinkEvent::Down { link, how: Ending::Replaced });
        }
        self.tell(LinkEvent::Up(link));
        peer.channels.values().for_each(|channel| channel.hurry());
        visit
    }

    /// A visit is over. One that was replaced or forgotten was told of then.
    pub fn left(&self, from: NodeId, purpose: Purpose, visit: &Visit, how: Ending) {
        let mut peers = self.peers();
        let Some(peer) = peers.known.get_mut(&from) else { return };
        if peer.visits.get(&purpose).is_some_and(|last| last.number == visit.number) {
            peer.visits.remove(&purpose);
            let link = LinkName { peer: from, purpose, direction: Direction::Incoming };
            self.tell(LinkEvent::Down { link, how });
        }
    }

    /// Cuts all connections with this peer, and knows nothing of it any more.
    pub fn forget(&self, id: NodeId) {
        let mut peers = self.peers();
        let Some(peer) = peers.known.remove(&id) else { return };
        peer.channels.values().for_each(|channel| channel.end());
        for (purpose, visit) in peer.visits {
            visit.end.cancel();
            let link = LinkName { peer: id, purpose, direction: Direction::Incoming };
            self.tell(LinkEvent::Down { link, how: Ending::Here });
        }
    }

    /// Tells whoever listens; that may be nobody.
    pub fn tell(&self, event: LinkEvent) {
        let _ = self.events.send(event);
    }

    fn peers(&self) -> MutexGuard<'_, Peers> {
        self.peers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
