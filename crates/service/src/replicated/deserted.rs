//! Deserted waiters: requests without an id whose connection ended together with its node.
//!
//! Such a request leaves with its connection, and its node says so. A node that dies says nothing,
//! and nobody could ask for the request again: it would be granted to nobody. So the leader looks
//! for requests in line that nobody waits for. Whoever waits is parked at the leader; the others
//! are withdrawn.

use super::engine::ReplicatedEngine;
use conclave_table::{Table, Text, Ticket};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::sleep;

/// How often the leader looks.
const PERIOD: Duration = Duration::from_secs(1);
/// So many are withdrawn at a time.
const BATCH: usize = 256;

impl ReplicatedEngine {
    /// Looks again and again, until the engine is gone.
    pub async fn watch_deserted(self: Arc<Self>) {
        let engine = Arc::downgrade(&self);
        drop(self);
        loop {
            sleep(PERIOD).await;
            let Some(engine) = engine.upgrade() else { return };
            if !engine.leads() {
                continue;
            }
            for (ticket, principal) in engine.deserted() {
                engine.leave(ticket, principal).await;
            }
        }
    }

    /// A request is parked before it is proposed: one that the table knows and that is not parked
    /// came by another leader. With each, whose it is.
    fn deserted(&self) -> Vec<(Ticket, Text)> {
        let waits = self.waits();
        let nobodys = |ticket: &Ticket| !waits.is_parked(*ticket);
        self.look(|table: &Table| {
            let whose = |ticket: Ticket| {
                let session = table.session(ticket.session);
                (ticket, session.map(|session| session.principal.clone()).unwrap_or_default())
            };
            table.waiting_unrecorded().filter(nobodys).take(BATCH).map(whose).collect()
        })
    }
}
