//! The rules of the table change when all members know the new ones.

use crate::kit::{Cluster, quick, within};
use conclave_replica::NotProposed;
use conclave_table::{Change, VERSION};

#[tokio::test(flavor = "multi_thread")]
async fn the_version_is_raised_once_all_members_know_it() {
    let mut cluster = Cluster::running(2, quick()).await;
    cluster.open(1, 60_000).await;
    let leader = cluster.leader().await;
    let follower = 1 - leader;
    // The follower knows more than the leader: nothing happens.
    cluster.stop(follower).await;
    cluster.start_as(follower, VERSION + 1).await.expect("it starts");
    cluster.leader().await;
    cluster.propose(Change::Tick).await;
    let version = cluster.replica(follower).look(|table| table.version());
    assert_eq!(version, VERSION);
    // Now the other one does too.
    let other = 1 - follower;
    cluster.stop(other).await;
    cluster.start_as(other, VERSION + 1).await.expect("it starts");
    for id in 0..2 {
        let raised = || cluster.replica(id).look(|table| table.version() == VERSION + 1);
        cluster.status(id, |_| raised()).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_stops_before_it_applies_what_it_does_not_know() {
    let cluster = Cluster::running(1, quick()).await;
    let replica = cluster.replica(0).clone();
    let proposed = tokio::spawn({
        let replica = replica.clone();
        async move {
            loop {
                let answer = replica.propose(Change::RaiseVersion(VERSION + 1)).await;
                // On a busy machine one that was elected just now may not lead yet.
                if !matches!(answer, Err(NotProposed::NotLeader { .. })) {
                    return answer;
                }
            }
        }
    });
    let ended = within(replica.ended()).await.to_string();
    assert!(ended.contains("does not know"), "{ended}");
    let answer = within(proposed).await.expect("it does not panic");
    assert!(answer.is_err(), "{answer:?}");
    assert_eq!(replica.look(|table| table.version()), VERSION);
}
