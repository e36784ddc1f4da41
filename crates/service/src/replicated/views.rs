//! Views of locks, elections, values and the cluster, in the words of the API.

use super::answers::{self, blocker, holder, mode_name};
use super::engine::ReplicatedEngine;
use super::explain::ExplanationSeen;
use super::sights::{LockSeen, WaiterSeen};
use conclave_api as api;
use conclave_core::NodeId;
use conclave_replica::{Member, Role, Status, Timing};
use std::collections::BTreeMap;

impl ReplicatedEngine {
    /// A lock.
    pub fn lock_view(&self, seen: LockSeen) -> api::Lock {
        let holders: Vec<api::Holder> = seen.holders.iter().map(holder).collect();
        let state = match (&*seen.holders, &*seen.waiters) {
            ([], []) => "free",
            ([], [_, ..]) => "waiting",
            ([_, ..], _) => "held",
        };
        let modes = seen.holders.iter().map(|holder| holder.mode);
        let mode = modes.chain(seen.waiters.iter().map(|waiter| waiter.mode)).next();
        api::Lock {
            name: seen.name.to_string(),
            state: state.to_string(),
            holder: holders.first().cloned(),
            holders,
            waiters: seen.waiters.iter().map(waiter).collect(),
            blocked_on: None,
            entries: None,
            messages: None,
            node: self.number(),
            mode: mode.map(|mode| mode_name(mode).to_string()),
            permits: seen.permits,
            as_of_index: Some(seen.index),
            explanation: seen.explanation.map(explanation),
        }
    }

    /// The replica as people are told of it: who was silent for longer than a leader may be leads
    /// no more, though nobody else may yet.
    pub fn status_told(&self) -> Status {
        let mut status = self.status();
        let heard = self.replica().and_then(|replica| replica.health().heard);
        let silent = heard.is_some_and(|heard| heard > Timing::default().election.1);
        if status.role != Role::Leader && silent {
            status.leader = None;
        }
        status
    }

    /// An election.
    pub fn election_view(&self, seen: LockSeen) -> api::Election {
        let status = self.status_told();
        let leading = status.sure_leader();
        api::Election {
            name: seen.name.to_string(),
            leader: seen.holders.first().map(holder),
            value: seen.value.map(|value| value.to_string()),
            candidates: seen.waiters.iter().map(waiter).collect(),
            leading_node: leading.map(|leader| leader.0 + 1),
            leading_api: leading.and_then(|leader| api_of(&status, leader)),
            term: status.term,
            as_of_index: Some(seen.index),
        }
    }

    /// The cluster as this node sees it.
    pub fn cluster_view(&self) -> api::Cluster {
        let status = self.status_told();
        let (locks, sessions) = self.look(|table| (table.names(), table.sessions_len()));
        api::Cluster {
            cluster: self.cluster().to_string(),
            cluster_id: self.cluster_id(),
            version: env!("CARGO_PKG_VERSION").to_string(),
            engine: crate::REPLICATED.to_string(),
            parameters: BTreeMap::new(),
            election: None,
            detector: None,
            node: self.number(),
            uptime_ms: self.uptime_ms(),
            leader: status.sure_leader().map(|leader| leader.0 + 1),
            term: status.term,
            nodes: status.members.iter().map(|member| self.node_view(&status, member)).collect(),
            locks: locks as u64,
            locks_max: None,
            sessions: sessions as u64,
            scope: "cluster".to_string(),
            generation: self.generation(),
            role: Some(role_name(status.role).to_string()),
            majority: (status.role == Role::Leader).then_some(status.quorum),
            applied: Some(status.applied),
            committed: Some(status.committed),
            lag: Some(status.committed.saturating_sub(status.applied)),
            members: Some(members(&status)),
        }
    }

    fn node_view(&self, status: &Status, member: &Member) -> api::Node {
        let (up, since) = self.peers().state(member.id);
        let state = match up {
            _ if member.id == self.me() => "self",
            true => "up",
            false => "unreachable",
        };
        api::Node {
            id: member.id.0 + 1,
            address: member.peer.clone(),
            api: member.api.clone(),
            state: state.to_string(),
            for_ms: if member.id == self.me() { self.uptime_ms() } else { since },
            unacknowledged: lag(status, member.id).unwrap_or(0),
        }
    }
}

/// Who belongs to the cluster, by their numbers.
pub fn members(status: &Status) -> Vec<api::Member> {
    let view = |member: &Member| api::Member {
        id: member.id.0 + 1,
        // Without TLS, whoever knows all of it can pose as that node.
        disk: format!("{:08x}", member.disk >> 96),
        peer: member.peer.clone(),
        api: member.api.clone(),
        vote: if member.voter { "voter" } else { "learner" }.to_string(),
        leads: status.sure_leader() == Some(member.id),
        lag: lag(status, member.id),
    };
    let mut members: Vec<api::Member> = status.members.iter().map(view).collect();
    members.sort_by_key(|member| member.id);
    members
}

fn lag(status: &Status, id: NodeId) -> Option<u64> {
    status.lag.iter().find(|(other, _)| *other == id).map(|(_, lag)| *lag)
}

fn api_of(status: &Status, id: NodeId) -> Option<String> {
    status.members.iter().find(|member| member.id == id).map(|member| member.api.clone())
}

/// A role in one word.
pub fn role_name(role: Role) -> &'static str {
    match role {
        Role::Leader => "leader",
        Role::Follower => "follower",
        Role::Candidate => "candidate",
        Role::Learner => "learner",
    }
}

fn waiter(seen: &WaiterSeen) -> api::Waiter {
    api::Waiter {
        label: seen.who.label.to_string(),
        session: answers::hash(&seen.who),
        position: seen.position,
        waited_ms: seen.waited_ms,
        eta_ms: seen.eta_ms,
        mode: Some(mode_name(seen.mode).to_string()),
    }
}

fn explanation(seen: ExplanationSeen) -> api::Explanation {
    let waits = seen.waits.iter().map(|wait| api::Wait {
        label: wait.who.label.to_string(),
        session: answers::hash(&wait.who),
        locks: wait.locks.iter().map(ToString::to_string).collect(),
        blocked_by: wait.blocked_by.iter().map(blocker).collect(),
    });
    api::Explanation {
        waits: waits.collect(),
        message: seen.message,
        unblocked_by: seen.unblocked_by,
    }
}
