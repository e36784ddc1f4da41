//! Metrics of the replicated engine: counters, gauges and histograms for Prometheus.

use super::engine::ReplicatedEngine;
use super::views::role_name;
use crate::metrics::{Page, catalogue as all};
use conclave_net::Histogram;
use conclave_replica::{Entry, Numbers, Role, Status};
use conclave_table::{Answer, Kind, Notice, SessionEnd, Table};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// What is counted.
#[derive(Debug, Default)]
pub struct EngineMetrics {
    leads: AtomicBool,
    entries: AtomicU64,
    expiries: AtomicU64,
    forced: AtomicU64,
    leader_changes: AtomicU64,
    hold: Histogram,
    commit: Histogram,
    forward: Histogram,
}

impl EngineMetrics {
    /// What an entry of the log brought about. All nodes see it; the leader alone counts it, so
    /// that the numbers of all nodes may be added.
    pub fn applied(&self, entry: &Entry<'_>) {
        if !self.leads.load(Ordering::Relaxed) {
            return;
        }
        for notice in &entry.applied.notices {
            match notice {
                Notice::Granted(_) => add(&self.entries, 1),
                Notice::Ended(ended) => self.hold.observe(Duration::from_millis(ended.held_ms)),
                Notice::SessionEnded { why: SessionEnd::Expired | SessionEnd::Lapsed, .. } => {
                    add(&self.expiries, 1);
                }
                Notice::SessionEnded { why: SessionEnd::Closed, .. }
                | Notice::Left { .. }
                | Notice::Revoked(..)
                | Notice::Proclaimed(..) => {}
            }
        }
        if let Answer::Forced(holders) = &entry.applied.answer {
            add(&self.forced, holders.len() as u64);
        }
    }

    /// Whether this node leads.
    pub fn leads(&self, leads: bool) {
        self.leads.store(leads, Ordering::Relaxed);
    }

    /// Another node leads than before, or the same one anew.
    pub fn leader_changed(&self) {
        add(&self.leader_changes, 1);
    }

    /// A change was committed and applied.
    pub fn committed(&self, took: Duration) {
        self.commit.observe(took);
    }

    /// The leader answered a request of this node.
    pub fn forwarded(&self, took: Duration) {
        self.forward.observe(took);
    }

    fn write(&self, page: &mut Page) {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        page.single(&all::LEADER_CHANGES, count(&self.leader_changes));
        page.single(&all::ENTRIES, count(&self.entries));
        page.single(&all::EXPIRIES, count(&self.expiries));
        page.single(&all::FORCED, count(&self.forced));
        page.histogram(&all::HOLD, &self.hold.read());
        page.histogram(&all::COMMIT, &self.commit.read());
        page.histogram(&all::FORWARD, &self.forward.read());
    }
}

fn add(counter: &AtomicU64, count: u64) {
    counter.fetch_add(count, Ordering::Relaxed);
}

impl ReplicatedEngine {
    /// All that this engine has to tell.
    pub fn exposition(&self) -> String {
        let mut page = Page::default();
        let version = env!("CARGO_PKG_VERSION").to_string();
        let engine = crate::REPLICATED.to_string();
        page.lines(&all::INFO, [([engine, version, self.number().to_string()], 1)]);
        page.single(&all::UPTIME, self.uptime_ms() as f64 / 1_000.0);
        let status = self.status_told();
        self.leader_metrics(&mut page, &status);
        self.member_metrics(&mut page, &status);
        self.metrics().write(&mut page);
        self.look(Crowds::of).write(&mut page);
        page.single(&all::PARKED, self.waits().len());
        page.single(&all::UNDER_WAY, self.under_way());
        if let Some(replica) = self.replica() {
            disk_metrics(&mut page, &replica.numbers());
        }
        page.text()
    }

    fn leader_metrics(&self, page: &mut Page, status: &Status) {
        page.single(&all::LEADER, status.sure_leader().map_or(0, |leader| leader.0 + 1));
        page.single(&all::LEADS, u8::from(status.sure_leader() == Some(self.me())));
        page.single(&all::TERM, status.term);
        let heard = self.replica().and_then(|replica| replica.health().heard);
        let heard = if status.role == Role::Leader { Some(Duration::ZERO) } else { heard };
        page.lines(&all::LEADER_HEARD, heard.map(|heard| ([], heard.as_secs_f64())));
        let roles = [Role::Leader, Role::Follower, Role::Candidate, Role::Learner];
        let is = |role: Role| ([role_name(role).to_string()], u8::from(status.role == role));
        page.lines(&all::ROLE, roles.map(is));
        page.single(&all::APPLIED, status.applied);
        page.single(&all::COMMITTED, status.committed);
        page.single(&all::LAG, status.committed.saturating_sub(status.applied));
    }

    fn member_metrics(&self, page: &mut Page, status: &Status) {
        let voters = status.members.iter().filter(|member| member.voter).count();
        let votes = [("voter", voters), ("learner", status.members.len() - voters)];
        page.lines(&all::MEMBERS, votes.map(|(vote, count)| ([vote.to_string()], count)));
        let behind = status.lag.iter().map(|(id, lag)| ([(id.0 + 1).to_string()], *lag));
        page.lines(&all::MEMBER_LAG, behind);
        let others = status.members.iter().filter(|member| member.id != self.me());
        let link = |id: conclave_core::NodeId| u8::from(self.peers().state(id).0);
        let links = others.map(|member| ([(member.id.0 + 1).to_string()], link(member.id)));
        page.lines(&all::LINK_UP, links);
    }
}

/// Who is in the table.
#[derive(Debug, Default)]
struct Crowds {
    sessions: usize,
    held: usize,
    waited_for: usize,
    holds: usize,
    waiters: usize,
    longest: usize,
    leaderships: usize,
}

impl Crowds {
    fn of(table: &Table) -> Self {
        let mut crowds =
            Self { sessions: table.sessions_len(), waiters: table.waiters(), ..Self::default() };
        for (resource, holders, waiters) in table.crowds() {
            crowds.holds += holders;
            crowds.longest = crowds.longest.max(waiters);
            match (resource.kind, holders) {
                (Kind::Lock, 0) => crowds.waited_for += 1,
                (Kind::Lock, _) => crowds.held += 1,
                (Kind::Election, 0) => {}
                (Kind::Election, _) => crowds.leaderships += 1,
            }
        }
        crowds
    }

    fn write(&self, page: &mut Page) {
        page.single(&all::SESSIONS, self.sessions);
        let locks = [("held", self.held), ("waiting", self.waited_for)];
        page.lines(&all::LOCKS, locks.map(|(state, count)| ([state.to_string()], count)));
        page.single(&all::HOLDS, self.holds);
        page.single(&all::WAITERS, self.waiters);
        page.single(&all::QUEUE_LONGEST, self.longest);
        page.single(&all::LEADERSHIPS, self.leaderships);
    }
}

fn disk_metrics(page: &mut Page, numbers: &Numbers) {
    page.histogram(&all::FSYNC, &numbers.syncs);
    page.single(&all::SYNCED_BYTES, numbers.synced_bytes);
    page.single(&all::LOG_BYTES, numbers.log_bytes);
    page.single(&all::LOG_SEGMENTS, numbers.log_segments);
    let snapshot = numbers.snapshot;
    let age = snapshot.and_then(|snapshot| snapshot.age);
    page.lines(&all::SNAPSHOT_AGE, age.map(|age| ([], age.as_secs_f64())));
    page.single(&all::SNAPSHOT_INDEX, snapshot.map_or(0, |snapshot| snapshot.index));
    page.single(&all::SNAPSHOT_BYTES, snapshot.map_or(0, |snapshot| snapshot.bytes));
    // A page has floating-point numbers: of these, not all of 64 bits would be left.
    let hash = numbers.state_hash.map_or(0, |state| state.hash & u64::from(u32::MAX));
    page.single(&all::STATE_HASH, hash);
    page.single(&all::STATE_HASH_INDEX, numbers.state_hash.map_or(0, |state| state.index));
}
