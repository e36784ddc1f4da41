//! Readiness of the replicated engine: a member that is near the leader, and can write.

use super::engine::ReplicatedEngine;
use crate::readiness::{self, Readiness};
use conclave_core::NodeId;
use conclave_replica::{Health, Role, Status, Timing};
use std::time::Duration;

/// A node whose table is further behind than this cannot serve.
const LAG_MAX: u64 = 10_000;
/// A disk that has not answered for so long does not work.
const SYNC_MAX: Duration = Duration::from_secs(5);

impl ReplicatedEngine {
    /// Whether this node can serve now.
    pub fn readiness(&self) -> Readiness {
        let Some(replica) = self.replica() else {
            let why = "this node has not started yet".to_string();
            return Readiness::default().check(readiness::RUNNING, Some(why));
        };
        let facts = Facts {
            me: self.me(),
            stopping: *self.stopping().borrow(),
            status: &self.status(),
            health: &replica.health(),
            heard_max: Timing::default().election.1,
            is_up: &|id| self.peers().state(id).0,
        };
        facts.readiness()
    }
}

/// What readiness depends on.
struct Facts<'a> {
    me: NodeId,
    stopping: bool,
    status: &'a Status,
    health: &'a Health,
    /// A leader that was heard of longer ago may be dead.
    heard_max: Duration,
    /// Which other nodes answer this one.
    is_up: &'a dyn Fn(NodeId) -> bool,
}

impl Facts<'_> {
    fn readiness(&self) -> Readiness {
        let stopping = self.stopping.then(|| "this node is about to stop".to_string());
        Readiness::default()
            .check(readiness::RUNNING, stopping)
            .check(readiness::DISK, self.disk())
            .check(readiness::MEMBER, self.member())
            .check(readiness::LEADER, self.leader())
            .check(readiness::MAJORITY, self.majority())
            .check(readiness::APPLIED, self.applied())
    }

    fn disk(&self) -> Option<String> {
        if let Some(failure) = &self.health.disk_failure {
            return Some(failure.to_string());
        }
        let slow = self.health.sync.filter(|sync| *sync > SYNC_MAX);
        slow.map(|sync| format!("the disk has not answered for {} s", sync.as_secs()))
    }

    fn member(&self) -> Option<String> {
        let named = self.status.members.iter().any(|member| member.id == self.me);
        let why = "this node does not belong to a cluster yet: it waits for the others, or to be \
                   added";
        (!named).then(|| why.to_string())
    }

    /// A leader may be dead, or cut off, before anybody else leads.
    fn leader(&self) -> Option<String> {
        let Some(leader) = self.status.leader else {
            return Some("no node leads now".to_string());
        };
        if self.status.role == Role::Leader {
            let alone = "this node leads, and no majority answers it";
            return (!self.status.quorum).then(|| alone.to_string());
        }
        let number = leader.0 + 1;
        match self.health.heard {
            Some(heard) if heard <= self.heard_max => None,
            Some(heard) => {
                let seconds = heard.as_secs_f64();
                Some(format!("node {number} led, and was last heard of {seconds:.1} s ago"))
            }
            None => Some(format!("node {number} is to lead, and was not heard of yet")),
        }
    }

    fn majority(&self) -> Option<String> {
        let is_up = |id: NodeId| id == self.me || (self.is_up)(id);
        let voters: Vec<NodeId> =
            self.status.members.iter().filter(|it| it.voter).map(|it| it.id).collect();
        let up = voters.iter().filter(|id| is_up(**id)).count();
        let all = voters.len();
        (2 * up <= all).then(|| format!("in touch with {up} of {all} voters, itself included"))
    }

    fn applied(&self) -> Option<String> {
        let lag = self.status.committed.saturating_sub(self.status.applied);
        (lag > LAG_MAX).then(|| format!("this node has yet to apply {lag} changes"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use conclave_replica::Member;
    use std::sync::Arc;

    fn member(id: u32) -> Member {
        Member { id: NodeId(id), disk: 1, peer: String::new(), api: String::new(), voter: true }
    }

    /// Node 1 follows node 2, of three.
    fn sound() -> (Status, Health) {
        let status = Status {
            role: Role::Follower,
            term: 3,
            leader: Some(NodeId(1)),
            quorum: true,
            applied: 90,
            committed: 100,
            last: 100,
            lag: Vec::new(),
            members: (0..3).map(member).collect(),
            cluster_id: Some(7),
            generation: Some(0),
        };
        let heard = Some(Duration::from_millis(100));
        (status, Health { heard, sync: Some(Duration::from_millis(20)), disk_failure: None })
    }

    /// The checks that fail, after something is changed; all others answer, or none.
    fn failing(change: impl FnOnce(&mut Status, &mut Health), others: bool) -> Vec<String> {
        let (mut status, mut health) = sound();
        change(&mut status, &mut health);
        let facts = Facts {
            me: NodeId(0),
            stopping: false,
            status: &status,
            health: &health,
            heard_max: Duration::from_secs(1),
            is_up: &|_| others,
        };
        facts.readiness().answer().err().map(|refusal| refusal.not_ready).unwrap_or_default()
    }

    #[test]
    fn a_follower_that_hears_of_its_leader_is_ready() {
        assert!(failing(|_, _| {}, true).is_empty());
    }

    #[test]
    fn a_disk_that_failed_or_hangs_cannot_serve() {
        let failed = |_: &mut Status, health: &mut Health| {
            health.disk_failure = Some(Arc::from("no space"));
        };
        assert_eq!(failing(failed, true), ["disk"]);
        let hangs = |_: &mut Status, health: &mut Health| {
            health.sync = Some(SYNC_MAX + Duration::from_millis(1));
        };
        assert_eq!(failing(hangs, true), ["disk"]);
    }

    #[test]
    fn who_belongs_to_no_cluster_cannot_serve() {
        let stranger = |status: &mut Status, _: &mut Health| drop(status.members.remove(0));
        assert_eq!(failing(stranger, true), ["member"]);
    }

    #[test]
    fn a_leader_must_be_known_and_heard_of_lately() {
        assert_eq!(failing(|status, _| status.leader = None, true), ["leader"]);
        let silent = |heard: Option<Duration>| {
            move |_: &mut Status, health: &mut Health| health.heard = heard
        };
        assert_eq!(failing(silent(None), true), ["leader"]);
        assert_eq!(failing(silent(Some(Duration::from_millis(1_001))), true), ["leader"]);
    }

    #[test]
    fn who_leads_needs_no_other_leader_but_a_majority() {
        let leads = |quorum: bool| {
            move |status: &mut Status, health: &mut Health| {
                (status.role, status.leader) = (Role::Leader, Some(NodeId(0)));
                (status.quorum, health.heard) = (quorum, None);
            }
        };
        assert!(failing(leads(true), true).is_empty());
        assert_eq!(failing(leads(false), false), ["leader", "majority"]);
    }

    #[test]
    fn who_is_in_touch_with_a_minority_cannot_serve() {
        assert_eq!(failing(|_, _| {}, false), ["majority"]);
    }

    #[test]
    fn who_is_far_behind_cannot_serve() {
        let behind = |by: u64| move |status: &mut Status, _: &mut Health| status.committed += by;
        assert!(failing(behind(LAG_MAX - 10), true).is_empty());
        assert_eq!(failing(behind(LAG_MAX - 9), true), ["applied"]);
    }
}
