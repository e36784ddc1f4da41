//! Metrics: numbers for a monitoring system.

use super::timing::milliseconds;
use super::view::state_of;
use super::{Desk, detector_key, election_key};
use conclave_net::HostContext;
use std::collections::BTreeMap;

/// Numbers for a monitoring system.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metrics {
    /// The engine.
    pub engine: String,
    /// How long the node has been up.
    pub uptime_ms: u64,
    /// Sessions that live.
    pub sessions: u64,
    /// Locks by state: `free`, `waiting`, `held`.
    pub locks: BTreeMap<&'static str, u64>,
    /// Sessions that wait for a lock.
    pub waiters: u64,
    /// Elections with a leader at this node.
    pub leaderships: u64,
    /// Locks and leaderships granted since the node started.
    pub entries: u64,
    /// Messages sent since the node started: by machine (`detector`, `election`, `lock`) and kind.
    pub messages: BTreeMap<(&'static str, String), u64>,
    /// Whether the link to each peer stands.
    pub links: BTreeMap<u32, bool>,
    /// Durable messages that each peer has yet to acknowledge.
    pub unacknowledged: BTreeMap<u32, u64>,
    /// Nodes that seem to be down.
    pub suspects: u64,
    /// Whether this node leads the cluster.
    pub leads: bool,
    /// The term of the cluster's leader.
    pub term: u64,
}

impl Desk {
    pub(super) fn metrics(&self, host: &dyn HostContext) -> Metrics {
        let mut metrics = Metrics {
            engine: self.config.engine.clone(),
            uptime_ms: milliseconds(host.now()),
            sessions: self.sessions.len() as u64,
            locks: ["free", "waiting", "held"].map(|state| (state, 0)).into(),
            leaderships: self.queues.elections.leaderships() as u64,
            entries: self.queues.entries(),
            suspects: self.connectivity.suspects().len() as u64,
            leads: self.leadership.own_term().is_some(),
            term: self.leadership.term(),
            ..Metrics::default()
        };
        for (_, lock) in self.queues.locks.iter() {
            *metrics.locks.entry(state_of(lock)).or_default() += 1;
            metrics.waiters += lock.queue().waiters().len() as u64;
        }
        for key in host.machines() {
            let machine = match &*key {
                key if key == &*detector_key() => "detector",
                key if key == &*election_key() => "election",
                _ => "lock",
            };
            for (kind, count) in host.sent(&key) {
                *metrics.messages.entry((machine, kind)).or_default() += count;
            }
        }
        for peer in self.connectivity.peers() {
            let link = host.peer(peer);
            metrics.links.insert(peer.0 + 1, link.connected);
            metrics.unacknowledged.insert(peer.0 + 1, link.unacknowledged);
        }
        metrics
    }
}
