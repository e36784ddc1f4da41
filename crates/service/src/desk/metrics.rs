//! Metrics of a classic engine: numbers for a monitoring system.

use super::timing::milliseconds;
use super::view::state_of;
use super::{Desk, detector_key, election_key};
use crate::metrics::{Page, catalogue as all};
use conclave_net::HostContext;
use std::collections::BTreeMap;

/// How often something has happened since the node started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Sessions ended by silence.
    pub expiries: u64,
    /// Holds were taken away by force.
    pub forced: u64,
    /// A node came to lead the cluster.
    pub leaders: u64,
}

/// Numbers for a monitoring system.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metrics {
    /// The engine.
    pub engine: String,
    /// The number of this node, from 1.
    pub node: u32,
    /// How long the node has been up.
    pub uptime_ms: u64,
    /// Sessions that live.
    pub sessions: u64,
    /// Locks by state: `free`, `waiting`, `held`.
    pub locks: BTreeMap<&'static str, u64>,
    /// Requests that wait for a lock or a leadership.
    pub waiters: u64,
    /// The most that wait for one.
    pub queue_longest: u64,
    /// Holds of locks and leaderships.
    pub holds: u64,
    /// Elections with a leader at this node.
    pub leaderships: u64,
    /// Locks and leaderships granted since the node started.
    pub entries: u64,
    /// What else happened since then.
    pub counts: Counts,
    /// Messages sent since the node started: by machine (`detector`, `election`, `lock`) and kind.
    pub messages: BTreeMap<(&'static str, String), u64>,
    /// Whether the link to each peer stands.
    pub links: BTreeMap<u32, bool>,
    /// Durable messages that each peer has yet to acknowledge.
    pub unacknowledged: BTreeMap<u32, u64>,
    /// Nodes that seem to be down.
    pub suspects: u64,
    /// The node that leads the cluster, from 1; 0 for none.
    pub leader: u32,
    /// Whether this node leads the cluster.
    pub leads: bool,
    /// The term of the cluster's leader.
    pub term: u64,
}

impl Desk {
    pub(super) fn metrics(&self, host: &dyn HostContext) -> Metrics {
        let mut metrics = Metrics {
            engine: self.config.engine.clone(),
            node: self.node(),
            uptime_ms: milliseconds(host.now()),
            sessions: self.sessions.len() as u64,
            locks: ["free", "waiting", "held"].map(|state| (state, 0)).into(),
            leaderships: self.queues.elections.leaderships() as u64,
            entries: self.queues.entries(),
            counts: self.counts,
            suspects: self.connectivity.suspects().len() as u64,
            leader: self.leadership.leader().map_or(0, |(leader, _)| leader.0 + 1),
            leads: self.leadership.own_term().is_some(),
            term: self.leadership.term(),
            ..Metrics::default()
        };
        self.count_queues(&mut metrics);
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

    fn count_queues(&self, metrics: &mut Metrics) {
        for (_, lock) in self.queues.locks.iter() {
            *metrics.locks.entry(state_of(lock)).or_default() += 1;
        }
        for (_, _, queue) in self.queues.all() {
            let waiting = queue.waiters().len() as u64;
            metrics.waiters += waiting;
            metrics.queue_longest = metrics.queue_longest.max(waiting);
            metrics.holds += u64::from(queue.holder().map_or(0, |holder| holder.count()));
        }
    }
}

impl Metrics {
    /// As Prometheus reads them.
    pub fn exposition(&self) -> String {
        let mut page = Page::default();
        let version = env!("CARGO_PKG_VERSION").to_string();
        page.lines(&all::INFO, [([self.engine.clone(), version, self.node.to_string()], 1)]);
        page.single(&all::UPTIME, self.uptime_ms as f64 / 1_000.0);
        page.single(&all::LEADER, self.leader);
        page.single(&all::LEADS, u8::from(self.leads));
        page.single(&all::TERM, self.term);
        page.single(&all::LEADER_CHANGES, self.counts.leaders.saturating_sub(1));
        self.of_peers(&mut page);
        page.single(&all::SESSIONS, self.sessions);
        let locks = self.locks.iter().map(|(state, count)| ([(*state).to_string()], count));
        page.lines(&all::LOCKS, locks);
        page.single(&all::HOLDS, self.holds);
        page.single(&all::WAITERS, self.waiters);
        page.single(&all::QUEUE_LONGEST, self.queue_longest);
        page.single(&all::LEADERSHIPS, self.leaderships);
        page.single(&all::ENTRIES, self.entries);
        page.single(&all::EXPIRIES, self.counts.expiries);
        page.single(&all::FORCED, self.counts.forced);
        page.text()
    }

    fn of_peers(&self, page: &mut Page) {
        let links = self.links.iter().map(|(node, up)| ([node.to_string()], u8::from(*up)));
        page.lines(&all::LINK_UP, links);
        let sent = self.messages.iter();
        let sent =
            sent.map(|((machine, kind), count)| ([machine.to_string(), kind.clone()], count));
        page.lines(&all::MESSAGES, sent);
        let waiting = self.unacknowledged.iter();
        page.lines(&all::UNACKNOWLEDGED, waiting.map(|(node, count)| ([node.to_string()], count)));
        page.single(&all::SUSPECTS, self.suspects);
    }
}
