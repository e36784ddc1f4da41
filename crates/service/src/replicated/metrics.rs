//! Metrics of the replicated engine: counters, gauges and histograms for Prometheus.

use super::engine::ReplicatedEngine;
use super::views::role_name;
use crate::http::metrics::Page;
use conclave_api::Code;
use conclave_replica::Role;
use conclave_table::{Kind, Notice, SessionEnd};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The upper ends of the buckets, in microseconds: a tenth of a millisecond to a minute.
const BUCKETS: [u64; 18] = [
    100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000,
    1_000_000, 2_500_000, 5_000_000, 10_000_000, 30_000_000, 60_000_000,
];

/// How long something took, in buckets.
#[derive(Debug, Default)]
pub struct Histogram {
    counts: [AtomicU64; BUCKETS.len()],
    all: AtomicU64,
    sum_us: AtomicU64,
}

impl Histogram {
    /// It took so long.
    pub fn observe(&self, took: Duration) {
        let us = took.as_micros() as u64;
        let bucket = BUCKETS.partition_point(|end| *end < us);
        if let Some(count) = self.counts.get(bucket) {
            count.fetch_add(1, Ordering::Relaxed);
        }
        self.all.fetch_add(1, Ordering::Relaxed);
        self.sum_us.fetch_add(us, Ordering::Relaxed);
    }

    fn write(&self, page: &mut Page, name: &str, help: &str) {
        page.begin(name, "histogram", help);
        let bucket = format!("{name}_bucket");
        let mut below = 0;
        for (end, count) in BUCKETS.iter().zip(&self.counts) {
            below += count.load(Ordering::Relaxed);
            page.line(&bucket, &[("le", &(*end as f64 / 1e6).to_string())], below);
        }
        let all = self.all.load(Ordering::Relaxed).max(below);
        page.line(&bucket, &[("le", "+Inf")], all);
        let sum = self.sum_us.load(Ordering::Relaxed) as f64 / 1e6;
        page.line(&format!("{name}_sum"), &[], sum);
        page.line(&format!("{name}_count"), &[], all);
    }
}

/// What is counted.
#[derive(Debug, Default)]
pub struct EngineMetrics {
    leads: AtomicBool,
    entries: AtomicU64,
    expiries: AtomicU64,
    leader_changes: AtomicU64,
    refusals: Mutex<BTreeMap<&'static str, u64>>,
    acquire: Histogram,
    hold: Histogram,
    commit: Histogram,
    forward: Histogram,
}

impl EngineMetrics {
    /// What an entry of the log brought about. All nodes see it; the leader alone counts it, so
    /// that the numbers of all nodes may be added.
    pub fn applied(&self, notices: &[Notice]) {
        if !self.leads.load(Ordering::Relaxed) {
            return;
        }
        for notice in notices {
            match notice {
                Notice::Granted(_) => add(&self.entries),
                Notice::Ended(ended) => self.hold.observe(Duration::from_millis(ended.held_ms)),
                Notice::SessionEnded { why: SessionEnd::Expired | SessionEnd::Lapsed, .. } => {
                    add(&self.expiries);
                }
                Notice::SessionEnded { why: SessionEnd::Closed, .. }
                | Notice::Left { .. }
                | Notice::Revoked(..)
                | Notice::Proclaimed(..) => {}
            }
        }
    }

    /// Whether this node leads.
    pub fn leads(&self, leads: bool) {
        self.leads.store(leads, Ordering::Relaxed);
    }

    /// Another node leads than before, or none.
    pub fn leader_changed(&self) {
        add(&self.leader_changes);
    }

    /// A client was refused.
    pub fn refused(&self, code: Code) {
        let mut refusals = self.refusals.lock().unwrap_or_else(PoisonError::into_inner);
        *refusals.entry(code.as_str()).or_default() += 1;
    }

    /// A request to be let in was answered after so long.
    pub fn acquired(&self, took: Duration) {
        self.acquire.observe(took);
    }

    /// A change was committed and applied.
    pub fn committed(&self, took: Duration) {
        self.commit.observe(took);
    }

    /// The leader answered a request of this node.
    pub fn forwarded(&self, took: Duration) {
        self.forward.observe(took);
    }
}

fn add(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

impl ReplicatedEngine {
    /// The whole page.
    pub fn exposition(&self) -> String {
        let mut page = Page::default();
        page.begin("conclave_info", "gauge", "The engine of this node.");
        page.line("conclave_info", &[("engine", crate::REPLICATED)], 1);
        self.table_metrics(&mut page);
        self.log_metrics(&mut page);
        let metrics = self.metrics();
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let help = "Locks and leaderships granted while this node led.";
        page.single("conclave_entries_total", "counter", help, count(&metrics.entries));
        let help = "Sessions that ended by silence while this node led.";
        page.single("conclave_expiries_total", "counter", help, count(&metrics.expiries));
        let help = "How often another node led than before.";
        let changes = count(&metrics.leader_changes);
        page.single("conclave_leader_changes_total", "counter", help, changes);
        page.begin("conclave_refusals_total", "counter", "Requests refused here, by code.");
        let refusals = metrics.refusals.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for (code, count) in refusals {
            page.line("conclave_refusals_total", &[("code", code)], count);
        }
        let help = "From a request to be let in to its answer, whichever.";
        metrics.acquire.write(&mut page, "conclave_acquire_seconds", help);
        let help = "How long locks were held, by the lease clock, while this node led.";
        metrics.hold.write(&mut page, "conclave_hold_seconds", help);
        let help = "From the proposal of a change to its application, while this node led.";
        metrics.commit.write(&mut page, "conclave_commit_seconds", help);
        let help = "From a request to the leader's answer, where that is another node.";
        metrics.forward.write(&mut page, "conclave_forward_seconds", help);
        page.begin("conclave_uptime_seconds", "gauge", "How long this node has been up.");
        page.line("conclave_uptime_seconds", &[], self.uptime_ms() as f64 / 1_000.0);
        page.text()
    }

    fn table_metrics(&self, page: &mut Page) {
        let seen = self.look(|table| {
            let locks = table.resources().filter(|one| one.kind == Kind::Lock).count();
            (table.sessions_len(), locks, table.names() - locks, table.waiters())
        });
        let (sessions, locks, elections, waiters) = seen;
        page.single("conclave_sessions", "gauge", "Sessions that live.", sessions as u64);
        page.begin("conclave_locks", "gauge", "Locks that somebody holds or waits for.");
        page.line("conclave_locks", &[("state", "used")], locks);
        page.single("conclave_waiters", "gauge", "Requests that wait.", waiters as u64);
        let help = "Elections with a leader.";
        page.single("conclave_leaderships", "gauge", help, elections as u64);
        let help = "Requests that wait at this node, which leads.";
        page.single("conclave_parked", "gauge", help, self.waits().len() as u64);
        let help = "Requests of other nodes that are under way at this one.";
        page.single("conclave_under_way", "gauge", help, self.under_way() as u64);
    }

    fn log_metrics(&self, page: &mut Page) {
        let status = self.status();
        let leads = u64::from(status.role == Role::Leader);
        page.single("conclave_leads", "gauge", "Whether this node leads the cluster.", leads);
        page.single("conclave_term", "gauge", "The term of the leading node.", status.term);
        page.begin("conclave_role", "gauge", "What this node is.");
        page.line("conclave_role", &[("role", role_name(status.role))], 1);
        let help = "The last change in this node's table.";
        page.single("conclave_applied_index", "gauge", help, status.applied);
        let help = "The last change that a majority has, as far as this node knows.";
        page.single("conclave_committed_index", "gauge", help, status.committed);
        let lag = status.committed.saturating_sub(status.applied);
        page.single("conclave_lag", "gauge", "Changes that this node has yet to apply.", lag);
        page.begin("conclave_member_lag", "gauge", "How far a member is behind this leader's log.");
        for (id, lag) in &status.lag {
            page.line("conclave_member_lag", &[("node", &(id.0 + 1).to_string())], lag);
        }
        page.begin("conclave_link_up", "gauge", "Whether a node answers this one.");
        for member in status.members.iter().filter(|member| member.id != self.me()) {
            let (up, _) = self.peers().state(member.id);
            let node = (member.id.0 + 1).to_string();
            page.line("conclave_link_up", &[("node", &node)], u8::from(up));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_histogram_counts_each_duration_in_its_bucket_and_in_all_above() {
        let histogram = Histogram::default();
        for us in [100, 101, 70_000_000] {
            histogram.observe(Duration::from_micros(us));
        }
        let mut page = Page::default();
        histogram.write(&mut page, "took", "How long.");
        let page = page.text();
        for line in [
            "took_bucket{le=\"0.0001\"} 1\n",
            "took_bucket{le=\"0.00025\"} 2\n",
            "took_bucket{le=\"60\"} 2\n",
            "took_bucket{le=\"+Inf\"} 3\n",
            "took_count 3\n",
        ] {
            assert!(page.contains(line), "{line} in {page}");
        }
    }
}
