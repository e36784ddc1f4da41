//! The other nodes, as this one sees them: each is asked twice a second whether it is there.

use super::engine::ReplicatedEngine;
use conclave_core::NodeId;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::time::sleep;

/// How often they are asked, and for how long they may take to answer.
const PERIOD: Duration = Duration::from_millis(500);

/// Which nodes answer.
#[derive(Debug, Default)]
pub struct Peers {
    known: Mutex<BTreeMap<NodeId, (bool, Instant)>>,
}

impl Peers {
    /// Whether a node answers, and for how long that has been so, in milliseconds.
    pub fn state(&self, id: NodeId) -> (bool, u64) {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let state = |(up, since): &(bool, Instant)| (*up, since.elapsed().as_millis() as u64);
        known.get(&id).map_or((false, 0), state)
    }

    /// A node answered, or did not. Says whether that is new.
    fn note(&self, id: NodeId, up: bool) -> bool {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        match known.get(&id) {
            Some((before, _)) if *before == up => false,
            Some(_) | None => {
                known.insert(id, (up, Instant::now()));
                true
            }
        }
    }
}

impl ReplicatedEngine {
    /// Asks the other members, again and again, until the engine is gone.
    pub async fn watch_peers(self: Arc<Self>) {
        let engine = Arc::downgrade(&self);
        drop(self);
        while let Some(engine) = engine.upgrade() {
            let members = engine.status().members;
            for member in members.iter().filter(|member| member.id != engine.me()) {
                tokio::spawn(Arc::clone(&engine).look_after(member.id));
            }
            drop(engine);
            sleep(PERIOD).await;
        }
    }

    async fn look_after(self: Arc<Self>, id: NodeId) {
        let up = self.is_there(id, PERIOD).await;
        if self.peers().note(id, up) {
            let number = id.0 + 1;
            let (kind, words) = match up {
                true => ("connected", format!("node {number} answers")),
                false => ("disconnected", format!("node {number} does not answer")),
            };
            self.journal().note(kind, None, words);
        }
    }
}
