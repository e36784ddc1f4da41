//! The settings of the consensus engine.

use crate::face::{ReplicaError, Timing};
use openraft::{Config, SnapshotPolicy};
use std::sync::Arc;
use std::time::Duration;

/// So many entries stay in the log behind a snapshot, for nodes that are a little behind.
const KEPT_MAX: u64 = 10_000;

/// How long a snapshot may take to be sent and installed.
const SNAPSHOT_TIMEOUT: Duration = Duration::from_secs(600);

/// Time-outs as they are given, pre-vote on: a node that was cut off does not disturb when it is
/// back.
///
/// A leader that restarts must not go on in the same term. It sends entries before its own disk
/// has them; those that it lost by the crash may be on other nodes, and it would give their places
/// in the log, with the same term, to others.
pub fn settings(cluster: &str, timing: &Timing) -> Result<Arc<Config>, ReplicaError> {
    let entries = timing.snapshot_entries;
    let config = Config {
        cluster_name: cluster.to_string(),
        heartbeat_interval: millis(timing.heartbeat),
        election_timeout_min: millis(timing.election.0),
        election_timeout_max: millis(timing.election.1),
        enable_pre_vote: Some(true),
        enable_leader_restore: Some(false), // See below.
        snapshot_policy: SnapshotPolicy::LogsSinceLast(entries),
        max_in_snapshot_log_to_keep: entries.min(KEPT_MAX),
        replication_lag_threshold: entries.saturating_mul(2),
        purge_batch_size: (entries / 4).clamp(1, 1_024),
        install_snapshot_timeout: millis(SNAPSHOT_TIMEOUT),
        backoff: "50ms".to_string(),
        ..Config::default()
    };
    let config = config.validate();
    config.map(Arc::new).map_err(|error| ReplicaError::Refused(format!("these time-outs: {error}")))
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_leader_that_restarts_has_to_be_elected_again() {
        let config = settings("test", &Timing::default()).expect("these time-outs work");
        assert_eq!(config.enable_leader_restore, Some(false));
        assert_eq!(config.enable_pre_vote, Some(true));
    }

    #[test]
    fn time_outs_that_cannot_work_are_refused_by_a_line() {
        let heartbeat = Duration::from_secs(5);
        let timing = Timing { heartbeat, ..Timing::default() };
        let error = settings("test", &timing).expect_err("no leader would stay").to_string();
        assert!(error.contains("time-outs"), "{error}");
    }
}
