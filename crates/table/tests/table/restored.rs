//! A table that is restored from a backup.

use crate::kit::*;
use conclave_table::*;

fn restored(mut cluster: Cluster, floor: u64, quiet_ms: u64) -> Cluster {
    cluster.table = cluster.table.restored(Floor(floor), quiet_ms);
    cluster
}

#[test]
fn fences_are_above_the_new_floor() {
    let mut cluster = Cluster::with_sessions(2);
    let before = cluster.enter(1, Acquire::exclusive("a"));
    let mut cluster = restored(cluster, 1_000_000, 0);
    let after = cluster.enter(2, Acquire::exclusive("b"));
    assert!(after.0 > before.0 + 1_000_000 - 1, "{before:?}, then {after:?}");
}

#[test]
fn nobody_is_let_in_while_it_is_quiet_and_all_who_wait_are_afterwards() {
    let mut cluster = restored(Cluster::with_sessions(3), 7, 5_000);
    let (_, answer) = cluster.acquire(1, Acquire::exclusive("a"));
    assert_eq!(refused(&answer), &Refusal::Busy, "it does not wait");
    cluster.queue(2, Acquire::exclusive("a").waiting(60_000));
    cluster.queue(3, Acquire::exclusive("a").waiting(60_000));
    cluster.after(4_999, Change::Tick);
    assert!(cluster.holders(&lock("a")).is_empty());
    assert_eq!(
        cluster.table.due().timer,
        Some(LeaseTime(5_000)),
        "the leader has to tell the time"
    );
    let applied = cluster.after(1, Change::Tick);
    assert_eq!(grants(&applied).len(), 1);
    assert_eq!(cluster.holders(&lock("a")), [2]);
    assert_eq!(cluster.waiters(&lock("a")), [3]);
}

#[test]
fn a_lock_that_is_freed_while_it_is_quiet_goes_to_the_next_afterwards() {
    let mut cluster = Cluster::with_sessions(2);
    let fence = cluster.enter(1, Acquire::exclusive("a"));
    cluster.queue(2, Acquire::exclusive("a").waiting(60_000));
    let mut cluster = restored(cluster, 7, 5_000);
    cluster.release(1, &lock("a"), fence);
    assert!(cluster.holders(&lock("a")).is_empty());
    cluster.after(5_000, Change::Tick);
    assert_eq!(cluster.holders(&lock("a")), [2]);
}
