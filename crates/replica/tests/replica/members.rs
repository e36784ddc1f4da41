//! Members come and go.

use crate::kit::{Cluster, quick, within};
use conclave_core::NodeId;
use conclave_replica::{NotChanged, NotProposed, Role};

#[tokio::test(flavor = "multi_thread")]
async fn a_new_node_is_added_promoted_and_removed() {
    let mut cluster = Cluster::running(1, quick()).await;
    let session = cluster.open(1, 60_000).await;
    let fence = cluster.lock(session, 1, "build").await;
    let id = cluster.stranger().await;
    let founder = cluster.nodes[id as usize].founder.clone();
    let first = cluster.replica(0).clone();
    within(first.add(founder.clone())).await.expect("it is added");
    within(first.add(founder)).await.expect("it is there already");
    cluster.applied(id, fence.0).await;
    let status = cluster.status(id, |status| status.role == Role::Learner).await;
    assert_eq!(status.cluster_id, first.status().borrow().cluster_id);
    within(first.promote(NodeId(id))).await.expect("it is promoted");
    let voters = |count| {
        move |status: &conclave_replica::Status| {
            status.members.iter().filter(|member| member.voter).count() == count
        }
    };
    cluster.status(id, voters(2)).await;
    within(first.remove(NodeId(id))).await.expect("it is removed");
    cluster.status(0, voters(1)).await;
    let ended = within(cluster.replica(id).ended()).await.to_string();
    assert!(ended.contains("removed"), "{ended}");
    cluster.kill(id).await;
    let again = cluster.start(id).await.expect_err("its directory is of no use").to_string();
    assert!(again.contains("was removed") && again.contains("empty directory"), "{again}");
    assert!(cluster.lock(session, 2, "other").await > fence);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_leader_that_is_to_be_removed_hands_over_first() {
    let cluster = Cluster::running(3, quick()).await;
    let leader = cluster.leader().await;
    let answer = within(cluster.replica(leader).remove(NodeId(leader))).await;
    let Err(NotChanged::NotProposed(NotProposed::NotLeader { leader: Some(next) })) = answer else {
        panic!("{answer:?}");
    };
    assert_ne!(next, NodeId(leader));
    let next = cluster.leader().await;
    within(cluster.replica(next).remove(NodeId(leader))).await.expect("it is removed");
    let ended = within(cluster.replica(leader).ended()).await.to_string();
    assert!(ended.contains("removed"), "{ended}");
}

/// What is told to whoever lost a disk: remove the node, and add it again with an empty directory.
/// The log has the member that it was before, and that one's removal.
#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_was_removed_comes_again_with_an_empty_disk_under_its_number() {
    let mut cluster = Cluster::running(3, quick()).await;
    let leader = cluster.leader().await;
    let (id, other) = ((leader + 1) % 3, (leader + 2) % 3);
    within(cluster.replica(leader).remove(NodeId(id))).await.expect("it is removed");
    within(cluster.replica(id).ended()).await;
    cluster.kill(id).await;
    std::fs::remove_dir_all(cluster.place.disk(id)).expect("it had a disk");
    cluster.start(id).await.expect("its disk is empty");
    // Not by the one that removed it: what another knows of its links is older.
    within(cluster.replica(leader).transfer(NodeId(other))).await.expect("it hands over");
    let founder = cluster.nodes[id as usize].founder.clone();
    within(cluster.replica(other).add(founder)).await.expect("it is added");
    let last = cluster.replica(other).status().borrow().applied;
    cluster.applied(id, last).await;
    within(cluster.replica(other).promote(NodeId(id))).await.expect("it is promoted");
    let voters = |status: &conclave_replica::Status| {
        status.members.iter().filter(|member| member.voter).count() == 3
    };
    cluster.status(id, voters).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn leadership_goes_to_the_node_that_is_named() {
    let cluster = Cluster::running(3, quick()).await;
    let leader = cluster.leader().await;
    let to = (leader + 1) % 3;
    within(cluster.replica(leader).transfer(NodeId(to))).await.expect("it hands over");
    assert_eq!(cluster.leader().await, to);
    let again = within(cluster.replica(leader).transfer(NodeId(leader))).await;
    assert!(matches!(again, Err(NotChanged::NotProposed(NotProposed::NotLeader { .. }))));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_makes_no_sense_is_refused_by_a_line() {
    let cluster = Cluster::running(1, quick()).await;
    let first = cluster.replica(0);
    let unknown = within(first.promote(NodeId(4))).await.expect_err("nobody knows it");
    assert!(unknown.to_string().contains("add it first"), "{unknown}");
    let only = within(first.remove(NodeId(0))).await.expect_err("it is the only one");
    assert!(only.to_string().contains("only voter"), "{only}");
    within(first.remove(NodeId(4))).await.expect("it is not there");
    let to = within(first.transfer(NodeId(4))).await.expect_err("nobody knows it");
    assert!(to.to_string().contains("no vote"), "{to}");
    let mut absent = cluster.nodes[0].founder.clone();
    absent.id = NodeId(3);
    absent.peer = "127.0.0.1:1".into();
    let absent = within(first.add(absent)).await.expect_err("nobody is there");
    assert!(absent.to_string().contains("cannot be added"), "{absent}");
}

/// It knows nothing of the node that leads by now. It must follow it all the same: otherwise a
/// majority might be alive that never finds together.
#[tokio::test(flavor = "multi_thread")]
async fn a_member_that_was_away_follows_a_leader_that_joined_meanwhile() {
    let mut cluster = Cluster::running(3, quick()).await;
    let leader = cluster.leader().await;
    let away = (leader + 1) % 3;
    cluster.kill(away).await;
    let id = cluster.stranger().await;
    let founder = cluster.nodes[id as usize].founder.clone();
    within(cluster.replica(leader).add(founder)).await.expect("it is added");
    let last = cluster.replica(leader).status().borrow().applied;
    cluster.applied(id, last).await;
    within(cluster.replica(leader).promote(NodeId(id))).await.expect("it is promoted");
    within(cluster.replica(leader).transfer(NodeId(id))).await.expect("it leads");
    cluster.kill(leader).await;
    cluster.start(away).await.expect("its disk is in order");
    assert_eq!(cluster.leader().await, id, "nobody else has all of the log and a majority");
    let session = cluster.open(1, 60_000).await;
    let fence = cluster.lock(session, 1, "build").await;
    cluster.applied(away, fence.0).await;
}
