//! A cluster that is restored from a backup is a new generation of it.

use crate::kit::{Cluster, quick, within};
use conclave_replica::{Restore, is_undated, restore};
use conclave_table::{Acquire, Answer, Ask, Body, Change, Refusal, RequestId, Resource};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock").as_secs()
}

fn into(cluster: &Cluster, now: u64, quiet: Option<Duration>) -> Restore {
    Restore {
        cluster: "test".into(),
        node: cluster.nodes[0].founder.clone(),
        data: cluster.place.disk(9),
        now,
        fence_floor: None,
        quiet,
    }
}

/// A cluster of three with a lock, its backup, and all nodes stopped.
async fn lost() -> (Cluster, Vec<u8>, u64) {
    let mut cluster = Cluster::running(3, quick()).await;
    let session = cluster.open(1, 60_000).await;
    let fence = cluster.lock(session, 1, "build").await;
    let leader = cluster.leader().await;
    let backup = within(cluster.replica(leader).snapshot(true)).await.expect("a backup");
    for id in 0..3 {
        cluster.kill(id).await;
    }
    (cluster, backup, fence.0)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restored_cluster_has_the_table_and_larger_fences() {
    let (mut cluster, backup, fence) = lost().await;
    let later = now() + 100;
    restore(backup, into(&cluster, later, None)).await.expect("it is restored");
    cluster.nodes[0].config.data = cluster.place.disk(9);
    cluster.start(0).await.expect("it starts");
    cluster.leader().await;
    let session = conclave_table::SessionId([1; 16]);
    let held = Resource::lock("build");
    within(cluster.replica(0).read_index()).await.expect("it leads");
    let known = cluster
        .replica(0)
        .look(|table| table.lock(&held).is_some() && table.session(session).is_some());
    assert!(known, "what was backed up is there");
    let next = cluster.lock(session, 2, "other").await;
    assert!(next.0 > fence + 1_000_000_000 + 100_000_000, "{fence}, then {next:?}");
    let id = cluster.stranger().await;
    let founder = cluster.nodes[id as usize].founder.clone();
    within(cluster.replica(0).add(founder)).await.expect("it grows again");
    cluster.applied(id, next.0 - cluster.replica(0).look(|table| table.floor().0)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_is_let_in_until_unknown_leases_have_run_out() {
    let (mut cluster, backup, _) = lost().await;
    let quiet = Some(Duration::from_secs(3_600));
    restore(backup, into(&cluster, now(), quiet)).await.expect("it is restored");
    cluster.nodes[0].config.data = cluster.place.disk(9);
    cluster.start(0).await.expect("it starts");
    let session = cluster.open(2, 60_000).await;
    let body = Body::Acquire(Acquire::exclusive("other"));
    let ask = Change::Ask(Ask::new(session, RequestId(1), body));
    let answer = cluster.propose(ask).await.applied.answer;
    assert_eq!(answer, Answer::Refused(Refusal::Busy));
}

#[tokio::test(flavor = "multi_thread")]
async fn nodes_of_the_generation_before_are_refused() {
    let (mut cluster, backup, _) = lost().await;
    restore(backup, into(&cluster, now() + 5, None)).await.expect("it is restored");
    cluster.nodes[0].config.data = cluster.place.disk(9);
    for id in 0..3 {
        cluster.start(id).await.expect("it starts");
    }
    // The restored one leads itself; the two others are a majority of the cluster of before, which
    // does not know this disk.
    let status = cluster.status(0, |status| status.leader.is_some()).await;
    assert_eq!((status.leader.map(|leader| leader.0), status.members.len()), (Some(0), 1));
    let other = cluster.status(1, |status| status.leader.is_some_and(|leader| leader.0 != 0)).await;
    assert_eq!(other.members.len(), 3);
    assert_ne!(other.cluster_id, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_would_let_fences_fall_or_is_damaged_is_refused() {
    let (cluster, backup, _) = lost().await;
    let early = restore(backup.clone(), into(&cluster, now() - 1_000, None)).await;
    assert!(early.expect_err("fences would fall").to_string().contains("clock"));
    let mut damaged = backup.clone();
    let middle = damaged.len() / 2;
    damaged[middle] ^= 1;
    assert!(restore(damaged, into(&cluster, now(), None)).await.is_err());
    let mut earlier = backup.clone();
    earlier[12] ^= 1;
    assert!(restore(earlier, into(&cluster, now(), None)).await.is_err(), "another time");
    assert!(restore(b"nonsense".to_vec(), into(&cluster, now(), None)).await.is_err());
    restore(backup.clone(), into(&cluster, now() + 1, None)).await.expect("it is restored");
    let again = restore(backup, into(&cluster, now() + 1, None)).await;
    assert!(again.expect_err("it is in use").to_string().contains("in use"));
}

/// Nobody knows how many fences were issued since, so those of the restored cluster are above all
/// that a cluster can have issued since there are clocks.
#[tokio::test(flavor = "multi_thread")]
async fn fences_rise_above_those_that_an_old_table_does_not_know() {
    let mut cluster = Cluster::running(1, quick()).await;
    let session = cluster.open(1, 60_000).await;
    cluster.lock(session, 1, "build").await;
    let backup = within(cluster.replica(0).snapshot(false)).await.expect("a backup");
    assert!(is_undated(&backup));
    cluster.kill(0).await;
    restore(backup, into(&cluster, now(), None)).await.expect("it is restored");
    cluster.nodes[0].config.data = cluster.place.disk(9);
    cluster.start(0).await.expect("it starts");
    let next = cluster.lock(session, 2, "other").await;
    assert!(next.0 > 1_000_000 * (now() - 3_600), "{next:?}");
    assert!(next.0 < 1 << 52, "there is room for more of them");
}
