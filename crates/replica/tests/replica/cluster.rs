//! What is granted is on all nodes, and survives the leader's end, restarts and lag.

use crate::kit::{Cluster, quick, within};
use conclave_core::NodeId;
use conclave_replica::{CallError, NotProposed, Role, Status, Timing};
use conclave_table::{Change, Fence, Resource, Table};
use std::time::Duration;
use tokio::time::Instant;

fn holds(table: &Table, name: &str, fence: Fence) -> bool {
    table.verify(&Resource::lock(name), fence, None)
}

#[tokio::test(flavor = "multi_thread")]
async fn one_node_alone_is_a_cluster() {
    let mut cluster = Cluster::running(1, quick()).await;
    let session = cluster.open(1, 10_000).await;
    let fence = cluster.lock(session, 1, "build").await;
    within(cluster.replica(0).read_index()).await.expect("it leads");
    cluster.kill(0).await;
    cluster.start(0).await.expect("its disk is in order");
    cluster.leader().await;
    within(cluster.replica(0).read_index()).await.expect("it leads again");
    assert!(cluster.replica(0).look(|table| holds(table, "build", fence)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lock_is_granted_and_seen_on_all_nodes() {
    let cluster = Cluster::running(3, quick()).await;
    let session = cluster.open(1, 10_000).await;
    let fence = cluster.lock(session, 1, "build").await;
    for id in 0..3 {
        cluster.applied(id, fence.0).await;
        assert!(cluster.replica(id).look(|table| holds(table, "build", fence)));
    }
    let ids: Vec<Option<u128>> =
        (0..3).map(|id| cluster.replica(id).status().borrow().cluster_id).collect();
    assert!(ids[0].is_some() && ids.iter().all(|id| *id == ids[0]), "{ids:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_follower_refuses_and_names_the_leader() {
    let cluster = Cluster::running(3, quick()).await;
    let leader = cluster.leader().await;
    let follower = (leader + 1) % 3;
    let refusal = cluster.replica(follower).propose(Change::Tick).await;
    assert_eq!(refusal, Err(NotProposed::NotLeader { leader: Some(NodeId(leader)) }));
    let read = within(cluster.replica(follower).read_index()).await;
    assert!(matches!(read, Err(NotProposed::NotLeader { .. })), "{read:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn nodes_call_each_other() {
    let cluster = Cluster::running(2, quick()).await;
    let deadline = Instant::now() + Duration::from_secs(20);
    let answer = cluster.replica(0).call(NodeId(1), b"hello".to_vec(), deadline).await;
    assert_eq!(answer, Ok(b"1:hello".to_vec()));
    let nobody = cluster.replica(0).call(NodeId(7), b"hello".to_vec(), deadline).await;
    assert_eq!(nobody, Err(CallError::Unreachable(NodeId(7))));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_leader_that_stops_hands_over_and_the_next_one_grants() {
    let mut cluster = Cluster::running(3, quick()).await;
    let session = cluster.open(1, 60_000).await;
    let first = cluster.lock(session, 1, "one").await;
    let leader = cluster.leader().await;
    let term = cluster.replica(leader).status().borrow().term;
    cluster.stop(leader).await;
    let next = cluster.leader().await;
    assert_ne!(next, leader);
    // One election, and nobody had to wait for a time-out to find out.
    assert_eq!(cluster.replica(next).status().borrow().term, term + 1);
    let second = cluster.lock(session, 2, "two").await;
    assert!(second > first);
    assert!(cluster.replica(next).look(|table| holds(table, "one", first)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_leader_that_is_killed_is_replaced() {
    let mut cluster = Cluster::running(3, quick()).await;
    let session = cluster.open(1, 60_000).await;
    let first = cluster.lock(session, 1, "one").await;
    let leader = cluster.leader().await;
    cluster.kill(leader).await;
    let second = cluster.lock(session, 2, "two").await;
    assert!(second > first);
    cluster.start(leader).await.expect("its disk is in order");
    cluster.applied(leader, second.0).await;
    assert!(cluster.replica(leader).look(|table| holds(table, "one", first)));
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_waits_for_a_leader_that_loses_its_quorum_is_answered() {
    let mut cluster = Cluster::running(3, quick()).await;
    let leader = cluster.leader().await;
    let session = cluster.open(1, 60_000).await;
    for id in (0..3).filter(|id| *id != leader) {
        cluster.kill(id).await;
    }
    let replica = cluster.replica(leader);
    let read = within(replica.read_index()).await;
    assert!(matches!(read, Err(NotProposed::NotLeader { .. })), "{read:?}");
    // What is proposed while the leader still believes in itself waits for a quorum; when the
    // replica stops, nobody is left waiting.
    let waiting = tokio::spawn({
        let replica = replica.clone();
        async move { replica.propose(Change::End { session }).await }
    });
    cluster.kill(leader).await;
    let answer = within(waiting).await.expect("it does not panic");
    assert!(answer.is_err(), "{answer:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restart_of_all_nodes_keeps_everything() {
    let mut cluster = Cluster::running(3, quick()).await;
    let session = cluster.open(1, 60_000).await;
    let fence = cluster.lock(session, 1, "build").await;
    let id = cluster.replica(0).status().borrow().cluster_id;
    for id in 0..3 {
        cluster.kill(id).await;
    }
    for id in 0..3 {
        cluster.start(id).await.expect("its disk is in order");
    }
    let leader = cluster.leader().await;
    within(cluster.replica(leader).read_index()).await.expect("it leads");
    assert!(cluster.replica(leader).look(|table| holds(table, "build", fence)));
    assert_eq!(cluster.replica(leader).status().borrow().cluster_id, id);
    assert!(cluster.lock(session, 2, "other").await > fence);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_lags_behind_catches_up_by_a_snapshot() {
    let timing = Timing { snapshot_entries: 50, ..quick() };
    let mut cluster = Cluster::running(3, timing).await;
    let leader = cluster.leader().await;
    let lagging = (leader + 1) % 3;
    let session = cluster.open(1, 60_000).await;
    let fence = cluster.lock(session, 1, "build").await;
    cluster.kill(lagging).await;
    let before = cluster.entries(lagging).len();
    let mut last = 0;
    for _ in 0..400 {
        last = cluster.propose(Change::Tick).await.index;
    }
    cluster.start(lagging).await.expect("its disk is in order");
    cluster.applied(lagging, last).await;
    assert!(cluster.replica(lagging).look(|table| holds(table, "build", fence)));
    let seen = cluster.entries(lagging).len() - before;
    assert!(seen < 400, "it applied {seen} entries one by one");
    assert_eq!(cluster.replica(lagging).status().borrow().role, Role::Follower);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_is_the_table_as_bytes() {
    let cluster = Cluster::running(1, quick()).await;
    let session = cluster.open(1, 60_000).await;
    cluster.lock(session, 1, "build").await;
    let first = within(cluster.replica(0).snapshot(true)).await.expect("a snapshot");
    let again = within(cluster.replica(0).snapshot(true)).await.expect("a snapshot");
    assert!(first.len() > 100 && again.len() >= first.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_leader_does_not_say_how_far_behind_a_node_is_that_it_never_heard() {
    let mut cluster = Cluster::running(3, quick()).await;
    let leader = cluster.leader().await;
    let (silent, next) = ((leader + 1) % 3, (leader + 2) % 3);
    cluster.kill(silent).await;
    let heir = NodeId(next);
    within(cluster.replica(leader).transfer(heir)).await.expect("it hands over");
    let last = cluster.propose(Change::Tick).await.index;
    cluster.applied(next, last).await;
    let heard = |status: &Status| status.lag.iter().any(|(id, _)| *id == NodeId(leader));
    let status = cluster.status(next, heard).await;
    assert_eq!(status.lag.len(), 1, "of the one that is dead nothing is known: {:?}", status.lag);
}
