//! Views: what the desk shows of itself, in the words of the API. Session ids never appear in them.

use super::locks::{Lock, Stage};
use super::queue::{Holder, Queue, Waiter};
use super::refusal;
use super::sessions::{Granted, Kind, short_hash};
use super::timing::milliseconds;
use super::{Answer, Desk, Question, lock_key};
use crate::listing;
use crate::readiness::{self, Readiness};
use crate::rights::Right;
use conclave_api as api;
use conclave_api::limits::{self, LOCKS_MAX};
use conclave_core::{NodeId, Ticks};
use conclave_net::HostContext;
use std::collections::BTreeMap;

impl Desk {
    /// Who hung up and cannot ask again has left: it is not shown, and not counted.
    pub(super) fn forget_gone(&mut self, question: &Question, host: &mut dyn HostContext) {
        let queues = match question {
            Question::Lock { name, .. } => vec![(Kind::Lock, name.clone())],
            Question::Election { name, .. } => vec![(Kind::Election, name.clone())],
            Question::Locks { .. } | Question::Elections { .. } => self.queues.occupied(),
            Question::Sessions { .. } | Question::Metrics { .. } => self.queues.occupied(),
            Question::Verify { .. }
            | Question::Value { .. }
            | Question::Cluster { .. }
            | Question::Ready { .. }
            | Question::Members { .. }
            | Question::Events { .. } => return,
        };
        for (kind, name) in queues {
            if self.skip_gone(kind, &name, host) {
                self.settle(kind, &name, host);
            }
        }
        let may_lend = self.may_lend(host);
        self.queues.locks.settle_all(may_lend, self.config.everywhere, host);
    }

    pub(super) fn node(&self) -> u32 {
        self.config.me.0 + 1
    }

    pub(super) fn api_of(&self, node: NodeId) -> Option<String> {
        self.config.nodes.get(node.index()).map(|address| address.api.clone())
    }

    pub(super) fn session_view(&self, id: &str, ttl: Ticks) -> api::Session {
        api::Session {
            session: id.to_string(),
            ttl_ms: milliseconds(ttl),
            node: self.node(),
            cluster_id: self.cluster_id.clone(),
            scope: "node".to_string(),
            generation: None,
            holds: None,
        }
    }

    pub(super) fn grant_view(&self, name: &str, granted: Granted) -> api::Grant {
        api::Grant {
            name: name.to_string(),
            fence: granted.fence,
            cluster_id: self.cluster_id.clone(),
            generation: None,
            node: self.node(),
            slot: None,
            holds: granted.holds,
            waited_ms: milliseconds(granted.waited),
            term: granted.term,
            released: false,
        }
    }

    pub(super) fn holder_view(&self, holder: &Holder) -> api::Holder {
        api::Holder {
            label: self.sessions.label(&holder.session).to_string(),
            session: short_hash(&holder.session),
            node: Some(self.node()),
            fence: holder.fence,
            held_ms: milliseconds(self.timer.now().since(holder.since)),
            mode: None,
            slot: None,
            lease_ms: None,
            revoked: false,
        }
    }

    fn waiters_view(&self, kind: Kind, name: &str) -> Vec<api::Waiter> {
        let Some(queue) = self.queues.get(kind, name) else { return Vec::new() };
        let view = |(position, waiter): (u32, &Waiter)| api::Waiter {
            label: self.sessions.label(&waiter.session).to_string(),
            session: short_hash(&waiter.session),
            position,
            waited_ms: milliseconds(self.timer.now().since(waiter.since)),
            eta_ms: queue.estimate(position).map(milliseconds),
            mode: None,
        };
        (1..).zip(queue.waiters()).map(view).collect()
    }

    pub(super) fn locks_view(
        &self,
        page: &api::Page,
        host: &dyn HostContext,
    ) -> Answer<api::Locks> {
        let limit = limits::page(page)?;
        let from = self.queues.locks.after(page.after.as_deref()).map(|(name, _)| name);
        let (names, more) = self.page(Kind::Lock, from, page, limit);
        let next = names.last().filter(|_| more).map(ToString::to_string);
        let locks = names.into_iter().filter_map(|name| {
            let lock = self.queues.locks.get(name)?;
            Some(self.view_of(name, lock, host))
        });
        Ok(api::Locks { locks: locks.collect(), next, as_of_index: None })
    }

    pub(super) fn lock_view(&self, name: &str, host: &dyn HostContext) -> Answer<api::Lock> {
        limits::name(name)?;
        let unknown = || refusal::not_found(format!("this node knows no lock '{name}'"));
        let lock = self.queues.locks.get(name).ok_or_else(unknown)?;
        Ok(self.view_of(name, lock, host))
    }

    fn view_of(&self, name: &str, lock: &Lock, host: &dyn HostContext) -> api::Lock {
        let holder = lock.queue().holder().map(|holder| self.holder_view(holder));
        api::Lock {
            name: name.to_string(),
            state: state_of(lock).to_string(),
            holders: holder.iter().cloned().collect(),
            holder,
            waiters: self.waiters_view(Kind::Lock, name),
            blocked_on: self.blocked(name, host),
            entries: Some(lock.queue().entries()),
            messages: Some(host.sent(&lock_key(name)).into_iter().collect::<BTreeMap<_, _>>()),
            node: self.node(),
            mode: None,
            permits: None,
            as_of_index: None,
            explanation: None,
        }
    }

    pub(super) fn elections_view(&self, page: &api::Page) -> Answer<api::Elections> {
        let limit = limits::page(page)?;
        let from = self.queues.elections.after(page.after.as_deref());
        let (names, more) = self.page(Kind::Election, from, page, limit);
        let next = names.last().filter(|_| more).map(ToString::to_string);
        let elections = names.into_iter().map(|name| self.view_of_election(name));
        Ok(api::Elections { elections: elections.collect(), next, as_of_index: None })
    }

    /// Which of these names are shown, and whether there are more.
    fn page<'a>(
        &'a self,
        kind: Kind,
        from: impl Iterator<Item = &'a String>,
        page: &api::Page,
        limit: usize,
    ) -> (Vec<&'a String>, bool) {
        let from = from.filter(|name| listing::has(name, page.search.as_deref()));
        let from = from.filter(|name| self.asker.may(Right::Read, name));
        let queue = |name: &&String| self.queues.get(kind, name);
        match page.sort {
            api::Order::Name => listing::first(from, limit),
            api::Order::Waiters => {
                let rank = |name: &_| queue(name).map_or(0, |queue| queue.waiters().len() as u64);
                (listing::greatest(from, limit, rank), false)
            }
            api::Order::Held => {
                let now = self.timer.now();
                let since = |name: &_| Some(now.since(queue(name)?.holder()?.since).0 + 1);
                (listing::greatest(from, limit, |name| since(name).unwrap_or(0)), false)
            }
        }
    }

    pub(super) fn election_view(&self, name: &str) -> Answer<api::Election> {
        limits::name(name)?;
        Ok(self.view_of_election(name))
    }

    fn view_of_election(&self, name: &str) -> api::Election {
        let holder = self.queues.elections.queue(name).and_then(Queue::holder);
        let leader = self.leadership.leader().map(|(leader, _)| leader);
        api::Election {
            name: name.to_string(),
            leader: holder.map(|holder| self.holder_view(holder)),
            value: holder.map(|holder| holder.value.clone()),
            candidates: self.waiters_view(Kind::Election, name),
            leading_node: leader.map(|leader| leader.0 + 1),
            leading_api: leader.and_then(|leader| self.api_of(leader)),
            term: self.leadership.term(),
            as_of_index: None,
        }
    }

    pub(super) fn cluster_view(&self, host: &dyn HostContext) -> api::Cluster {
        let config = &self.config;
        api::Cluster {
            cluster: config.cluster.clone(),
            cluster_id: self.cluster_id.clone(),
            version: env!("CARGO_PKG_VERSION").to_string(),
            engine: config.engine.clone(),
            parameters: config.parameters.clone(),
            election: Some(config.election.clone()),
            detector: Some(config.detector.clone()),
            node: self.node(),
            uptime_ms: milliseconds(host.now()),
            leader: self.leadership.leader().map(|(leader, _)| leader.0 + 1),
            term: self.leadership.term(),
            nodes: (0..config.nodes.len() as u32)
                .map(|i| self.node_view(NodeId(i), host))
                .collect(),
            locks: self.queues.locks.len() as u64,
            locks_max: Some(LOCKS_MAX as u64),
            sessions: self.sessions.len() as u64,
            scope: "node".to_string(),
            generation: None,
            role: None,
            majority: None,
            applied: None,
            committed: None,
            lag: None,
            members: None,
        }
    }

    /// Whether this node can do its work: it is not about to stop, and links to a majority stand.
    pub(super) fn readiness(&self, host: &dyn HostContext) -> Readiness {
        let stops = self.check_stays().err().map(|refusal| refusal.error.message);
        let cluster = self.cluster_view(host);
        let linked = cluster.nodes.iter().filter(|node| node.state != "unreachable").count();
        let all = cluster.nodes.len();
        let words = || format!("in touch with {linked} of {all} nodes, itself included");
        let alone = (2 * linked <= all).then(words);
        Readiness::default().check(readiness::RUNNING, stops).check(readiness::MAJORITY, alone)
    }

    fn node_view(&self, node: NodeId, host: &dyn HostContext) -> api::Node {
        let address = &self.config.nodes[node.index()];
        let peer = host.peer(node);
        let (state, since) = match self.connectivity.suspected_since(node) {
            _ if node == self.config.me => ("self", Ticks::ZERO),
            _ if !peer.connected => ("unreachable", peer.since),
            Some(since) => ("suspected", since),
            None => ("up", peer.since),
        };
        api::Node {
            id: node.0 + 1,
            address: address.peer.clone(),
            api: address.api.clone(),
            state: state.to_string(),
            for_ms: milliseconds(host.now().since(since)),
            unacknowledged: peer.unacknowledged,
        }
    }
}

/// The state of a lock in one word.
pub(super) fn state_of(lock: &Lock) -> &'static str {
    match lock.state() {
        Stage::Idle => "free",
        Stage::Asked => "waiting",
        Stage::Inside => "held",
    }
}
