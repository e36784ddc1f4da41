//! The connection to a peer for one purpose: dialled when it is first needed, kept, and dialled
//! again with exponential back-off when it breaks.

use super::ask::{Asker, Closed, Outcome};
use super::error::{Fault, RpcError};
use super::event::{Direction, Ending, LinkEvent, LinkName};
use super::greeting::connect;
use super::state::RpcState;
use super::{PeerAddress, Purpose};
use crate::link::backoff::Backoff;
use crate::link::error::ConnectionError;
use crate::link::expiry::expired;
use crate::link::wire::Wire;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep, timeout, timeout_at};
use tokio_util::sync::CancellationToken;

/// The way to a peer for one purpose, whether or not a connection stands.
pub(super) struct Channel {
    to: PeerAddress,
    purpose: Purpose,
    state: watch::Sender<ChannelState>,
    /// The peer is known to be there: no reason to pause.
    there: Notify,
    over: CancellationToken,
}

#[derive(Clone)]
enum ChannelState {
    Dialling,
    Up(Arc<Asker>),
    /// The last attempt failed. Until the next one, so do all requests.
    Down(RpcError),
}

impl Channel {
    /// Starts to dial.
    pub fn open(node: &Arc<RpcState>, to: PeerAddress, purpose: Purpose) -> Arc<Self> {
        let state = watch::Sender::new(ChannelState::Dialling);
        let over = node.stop.child_token();
        let channel = Arc::new(Self { to, purpose, state, there: Notify::new(), over });
        let keeper = Keeper { node: Arc::clone(node), channel: Arc::clone(&channel) };
        node.tasks.spawn(keeper.run());
        channel
    }

    /// Whether this is the way to that peer. Who does not name a disk takes any that is there: the
    /// one that was dialled may be gone for good, and the peer be there with another. Who names one
    /// takes the one that was met, though it was dialled by somebody who did not.
    pub fn leads_to(&self, to: &PeerAddress) -> bool {
        let same_disk = match (to.disk, self.to.disk) {
            (None, None) => true,
            (None, Some(_)) => !matches!(&*self.state.borrow(), ChannelState::Down(_)),
            (Some(theirs), Some(ours)) => theirs == ours,
            (Some(theirs), None) => match &*self.state.borrow() {
                ChannelState::Up(asker) => asker.disk == theirs,
                ChannelState::Dialling | ChannelState::Down(_) => false,
            },
        };
        same_disk && self.to.id == to.id && self.to.address == to.address
    }

    /// Whether it stands, and leads to this disk.
    pub fn is_up_with(&self, disk: u128) -> bool {
        matches!(&*self.state.borrow(), ChannelState::Up(asker) if asker.disk == disk)
    }

    pub fn is_up(&self) -> bool {
        matches!(*self.state.borrow(), ChannelState::Up(_))
    }

    /// Ends the next pause, if there is one now.
    pub fn hurry(&self) {
        self.there.notify_waiters();
    }

    /// Ends for good.
    pub fn end(&self) {
        self.over.cancel();
    }

    /// Asks the peer. Waits for a connection only while one is being made.
    pub async fn request(&self, request: &[u8], deadline: Instant) -> Outcome {
        loop {
            let now = self.state.borrow().clone();
            match now {
                ChannelState::Up(asker) => match asker.ask(request, deadline).await {
                    Ok(outcome) => return outcome,
                    // It is another connection by now, or none.
                    Err(Closed) => continue,
                },
                ChannelState::Down(error) => return Err(error),
                ChannelState::Dialling => {}
            }
            let mut state = self.state.subscribe();
            let dialled = state.wait_for(|now| !matches!(now, ChannelState::Dialling));
            if timeout_at(deadline, dialled).await.is_err() {
                let to = self.to.id;
                let reason = "no connection came to be in time".into();
                return Err(RpcError::Unreachable { to, reason });
            }
        }
    }
}

/// Keeps the connection of a channel.
struct Keeper {
    node: Arc<RpcState>,
    channel: Arc<Channel>,
}

impl Keeper {
    async fn run(self) {
        tokio::select! {
            biased;
            () = self.channel.over.cancelled() => {}
            () = self.keep() => {}
        }
        let to = self.channel.to.id;
        let reason = "this node has ended the connection".into();
        self.channel.state.send_replace(ChannelState::Down(RpcError::Unreachable { to, reason }));
    }

    async fn keep(&self) {
        let limits = &self.node.config.limits;
        let PeerAddress { id, address, .. } = &self.channel.to;
        let purpose = self.channel.purpose;
        let seed = self.node.config.disk as u64 ^ (u64::from(id.0) << 32) ^ purpose as u64;
        let mut pause = Backoff::new(limits.pause_min, limits.pause_max, seed);
        let mut last_complaint = String::new();
        loop {
            let started = Instant::now();
            let fault = self.dial_and_talk(&mut last_complaint).await;
            let complaint = fault.to_string();
            if complaint != last_complaint {
                tracing::warn!(
                    "no {purpose} link to node {id} at {address}: {complaint}; trying again"
                );
                last_complaint = complaint;
            }
            if started.elapsed() >= limits.pause_max {
                pause.reset(); // It stood for a while: this is no row of failures.
            }
            let refused = fault.needs_a_person();
            let long = if refused { pause.vary(limits.refused) } else { pause.next() };
            self.rest(fault.unsent(*id), long).await;
        }
    }

    async fn dial_and_talk(&self, last_complaint: &mut String) -> Fault {
        let limit = self.node.config.limits.handshake;
        let connected = connect(&self.node, &self.channel.to, self.channel.purpose);
        match timeout(limit, connected).await {
            Ok(Ok((wire, disk))) => {
                last_complaint.clear();
                self.talk(wire, disk).await
            }
            Ok(Err(fault)) => fault,
            Err(_) => ConnectionError::SlowAnswer(limit).into(),
        }
    }

    /// The connection stands: uses it until it breaks, and says why it did.
    async fn talk(&self, mut wire: Wire, disk: u128) -> Fault {
        let limits = &self.node.config.limits;
        let to = &self.channel.to;
        let purpose = self.channel.purpose;
        tracing::info!("{purpose} link to node {} at {}", to.id, to.address);
        let asker = Asker::new(to.id, disk, purpose, limits);
        let mut standing = Standing::new(self, Arc::new(asker));
        let asker = Arc::clone(&standing.asker);
        let fault = tokio::select! {
            biased;
            Err(fault) = asker.hear(&mut wire.reader) => fault,
            Err(fault) = asker.outgoing.write(&mut wire.writer, limits.ping) => fault.into(),
            fault = expired(wire.end) => fault.into(),
        };
        standing.how = Ending::of(&fault);
        standing.reason = fault.to_string();
        fault
    }

    /// Nobody can ask for a while, unless the peer shows that it is there.
    async fn rest(&self, error: RpcError, long: Duration) {
        let there = self.channel.there.notified();
        self.channel.state.send_replace(ChannelState::Down(error));
        tokio::select! {
            biased;
            () = sleep(long) => {}
            () = there => {}
        }
        self.channel.state.send_replace(ChannelState::Dialling);
    }
}

/// A connection that stands, from when it is told of until all who wait know that it ended.
struct Standing<'a> {
    keeper: &'a Keeper,
    asker: Arc<Asker>,
    how: Ending,
    reason: String,
}

impl<'a> Standing<'a> {
    fn new(keeper: &'a Keeper, asker: Arc<Asker>) -> Self {
        keeper.channel.state.send_replace(ChannelState::Up(Arc::clone(&asker)));
        let reason = "this node has ended the connection".to_string();
        let standing = Self { keeper, asker, how: Ending::Here, reason };
        keeper.node.tell(LinkEvent::Up(standing.link()));
        standing
    }

    fn link(&self) -> LinkName {
        let Channel { to, purpose, .. } = &*self.keeper.channel;
        LinkName { peer: to.id, purpose: *purpose, direction: Direction::Outgoing }
    }
}

impl Drop for Standing<'_> {
    fn drop(&mut self) {
        // First of all, so that whoever finds it closed finds another state.
        self.keeper.channel.state.send_replace(ChannelState::Dialling);
        self.asker.close(&self.reason);
        self.keeper.node.tell(LinkEvent::Down { link: self.link(), how: self.how });
    }
}
