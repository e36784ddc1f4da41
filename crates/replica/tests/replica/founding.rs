//! A cluster is founded once, by all its nodes.

use crate::kit::{Cluster, quick, within};
use conclave_core::NodeId;
use conclave_replica::Role;
use std::time::Duration;
use tokio::time::sleep;

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_is_founded_when_all_are_there() {
    let mut cluster = Cluster::configured(3, quick()).await;
    cluster.start(0).await.expect("it starts");
    cluster.start(1).await.expect("it starts");
    // There is nothing to wait for: several attempts come to nothing.
    sleep(Duration::from_millis(700)).await;
    for id in 0..2 {
        let status = cluster.replica(id).status().borrow().clone();
        assert_eq!((status.role, status.members.len()), (Role::Learner, 0), "{status:?}");
    }
    cluster.start(2).await.expect("it starts");
    let leader = cluster.leader().await;
    let status = cluster.status(leader, |status| status.members.len() == 3).await;
    assert!(status.members.iter().all(|member| member.voter));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_disk_beside_a_cluster_founds_nothing() {
    let mut cluster = Cluster::running(2, quick()).await;
    let session = cluster.open(1, 60_000).await;
    cluster.lock(session, 1, "build").await;
    for id in 0..2 {
        cluster.stop(id).await;
    }
    std::fs::remove_dir_all(cluster.place.disk(0)).expect("it was there");
    cluster.start(0).await.expect("it starts");
    cluster.start(1).await.expect("it starts");
    sleep(Duration::from_millis(700)).await;
    let status = cluster.replica(0).status().borrow().clone();
    assert_eq!((status.members.len(), status.leader), (0, None), "{status:?}");
    let other = cluster.replica(1).status().borrow().clone();
    assert_eq!(other.members.len(), 2, "it has not forgotten");
    assert_ne!(other.role, Role::Leader, "one of two is no majority");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_of_two_that_is_killed_soon_after_its_founding_is_the_same_afterwards() {
    let mut cluster = Cluster::configured(2, quick()).await;
    cluster.start(0).await.expect("it starts");
    cluster.start(1).await.expect("it starts");
    cluster.leader().await;
    let id = cluster.replica(0).status().borrow().cluster_id;
    for node in 0..2 {
        cluster.kill(node).await;
    }
    for node in 0..2 {
        cluster.start(node).await.expect("its disk is in order");
    }
    cluster.leader().await;
    assert_eq!(cluster.replica(1).status().borrow().cluster_id, id);
    assert!(within(cluster.replica(cluster.leader().await).read_index()).await.is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_configuration_that_makes_no_sense_is_refused_by_a_line() {
    let mut cluster = Cluster::configured(2, quick()).await;
    cluster.nodes[0].config.me = NodeId(5);
    let unknown = cluster.start(0).await.expect_err("it is not configured").to_string();
    assert!(unknown.contains("node 6, which is not among"), "{unknown}");
    cluster.nodes[1].config.founders[0].id = NodeId(1);
    let twice = cluster.start(1).await.expect_err("two are the same").to_string();
    assert!(twice.contains("same id"), "{twice}");
}
