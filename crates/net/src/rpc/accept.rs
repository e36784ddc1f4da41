//! Accepting connections: whoever connects has to say who it is, soon and briefly.

use super::Connection;
use super::error::Fault;
use super::event::Ending;
use super::frame::Refuse;
use super::greeting::{Guest, Turned, introduce, refuse};
use super::serve::serve;
use super::state::RpcState;
use crate::RateLimitedLog;
use crate::link::error::ConnectionError;
use crate::link::strangers::greet_strangers;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::time::timeout;

/// Lets connections in, until this node stops.
pub(super) async fn keep_accepting(node: Arc<RpcState>) {
    let warnings = Arc::new(RateLimitedLog::new("connection from"));
    let greet = |stream, address| {
        let door = Door { node: Arc::clone(&node), warnings: Arc::clone(&warnings) };
        async move { door.greet(stream, address).await }
    };
    let strangers = node.config.limits.strangers;
    tokio::select! {
        biased;
        () = node.stop.cancelled() => {}
        () = greet_strangers(|| node.network.accept(), strangers, &warnings, greet) => {}
    }
}

struct Door {
    node: Arc<RpcState>,
    warnings: Arc<RateLimitedLog>,
}

impl Door {
    async fn greet(self, stream: Connection, address: SocketAddr) {
        let limit = self.node.config.limits.handshake;
        match timeout(limit, introduce(&self.node, stream)).await {
            Ok(Ok(guest)) => self.let_in(guest, address),
            Ok(Err(turned)) => self.turn_away(turned, address).await,
            Err(_) => self.warnings.about(address, ConnectionError::SlowGreeting(limit)),
        }
    }

    /// The connection goes on in a task of its own: this one counts as a greeting.
    fn let_in(&self, guest: Guest, address: SocketAddr) {
        let node = Arc::clone(&self.node);
        self.node.tasks.spawn(async move {
            let visit = node.visited(&guest);
            let Guest { from, purpose, wire, .. } = guest;
            tracing::info!("node {from} connected from {address} for {purpose}");
            let how = tokio::select! {
                biased;
                () = visit.end.cancelled() => Ending::Here,
                fault = serve(&node, from, purpose, wire) => {
                    tracing::warn!(
                        "{purpose} connection of node {from} from {address} ended: {fault}"
                    );
                    Ending::of(&fault)
                }
            };
            node.left(from, purpose, &visit, how);
        });
    }

    /// The reason is for the log, and for those who have proved to be one of the nodes.
    async fn turn_away(&self, turned: Turned, address: SocketAddr) {
        let Turned { fault, wire, proved } = turned;
        if matches!(fault, Fault::Mute) {
            return; // Somebody only wanted to know whether this node is there.
        }
        self.warnings.about(address, &fault);
        if let (Some(wire), Fault::Refusing(reason)) = (wire, fault) {
            let answer = Refuse { by: self.node.config.me, reason: proved.then_some(reason) };
            // Whether it hears that is its own affair.
            let _ = timeout(self.node.config.limits.handshake, refuse(wire, answer)).await;
        }
    }
}
