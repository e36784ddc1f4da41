//! Leaders change without waiting for a time-out, where a node can know.

use crate::kit::{Cluster, no_time_outs, within};
use conclave_core::NodeId;
use conclave_table::Fence;

#[tokio::test(flavor = "multi_thread")]
async fn a_leader_whose_process_died_is_replaced_before_any_time_out() {
    let mut cluster = Cluster::running(3, no_time_outs()).await;
    let session = cluster.open(1, 60_000).await;
    let first = cluster.lock(session, 1, "one").await;
    let leader = cluster.leader().await;
    let term = cluster.replica(leader).status().borrow().term;
    cluster.kill(leader).await;
    let second = cluster.lock(session, 2, "two").await;
    assert!(second > first);
    let next = cluster.leader().await;
    assert_eq!(cluster.replica(next).status().borrow().term, term + 1, "one election");
}

#[tokio::test(flavor = "multi_thread")]
async fn so_is_each_one_that_dies_soon_after_the_one_before() {
    let mut cluster = Cluster::running(3, no_time_outs()).await;
    let session = cluster.open(1, 60_000).await;
    let mut latest = Fence(0);
    for number in 1..=6 {
        let fence = cluster.lock(session, number, &format!("lock-{number}")).await;
        assert!(fence > latest);
        latest = fence;
        let leader = cluster.leader().await;
        cluster.kill(leader).await;
        cluster.leader().await;
        cluster.start(leader).await.expect("its disk is in order");
        // It must be in touch again: a death is known by the end of a link.
        cluster.status(leader, |status| status.leader.is_some()).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_leader_that_stops_is_replaced_before_any_time_out() {
    let mut cluster = Cluster::running(3, no_time_outs()).await;
    let session = cluster.open(1, 60_000).await;
    let leader = cluster.leader().await;
    cluster.stop(leader).await;
    cluster.lock(session, 1, "one").await;
    assert_ne!(cluster.leader().await, leader);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_leader_whose_links_break_while_it_lives_stays() {
    let mut cluster = Cluster::running(3, no_time_outs()).await;
    let leader = cluster.leader().await;
    let term = cluster.replica(leader).status().borrow().term;
    // A follower that goes closes its links, and comes back to the same leader.
    let follower = (leader + 1) % 3;
    cluster.kill(follower).await;
    cluster.start(follower).await.expect("its disk is in order");
    cluster.status(follower, |status| status.leader == Some(NodeId(leader))).await;
    let status = cluster.replica(leader).status().borrow().clone();
    assert_eq!((status.term, status.leader), (term, Some(NodeId(leader))));
    within(cluster.replica(leader).read_index()).await.expect("it leads");
}
