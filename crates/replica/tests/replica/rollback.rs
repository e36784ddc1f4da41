//! A node that comes back with an older copy of its disk is refused, and nobody else suffers.

use crate::kit::{Cluster, quick, within};
use conclave_core::NodeId;
use conclave_replica::NotProposed;
use std::fs;
use std::path::Path;

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a directory");
    for entry in fs::read_dir(from).expect("it is there") {
        let entry = entry.expect("it can be read");
        let target = to.join(entry.file_name());
        match entry.file_type().expect("it has one").is_dir() {
            true => copy(&entry.path(), &target),
            false => drop(fs::copy(entry.path(), target).expect("it can be copied")),
        }
    }
}

/// Puts the copy in the place of the disk.
fn put_back(cluster: &Cluster, id: u32, kept: &Path) {
    let disk = cluster.place.disk(id);
    fs::remove_dir_all(&disk).expect("it was there");
    copy(kept, &disk);
}

async fn is_refused(cluster: &Cluster, id: u32) {
    let ended = within(cluster.replica(id).ended()).await.to_string();
    let expected = format!("node {} came back with an older copy of its disk", NodeId(id));
    assert!(ended.starts_with(&expected), "{ended}");
    assert!(ended.contains("conclave cluster remove"), "{ended}");
}

/// Returns when the leader has heard of this start of a node, though nothing was granted since:
/// alone with it, a read needs its word.
async fn heard_by(cluster: &mut Cluster, leader: u32, follower: u32) {
    let other = 3 - leader - follower;
    cluster.status(follower, |status| status.leader == Some(NodeId(leader))).await;
    cluster.kill(other).await;
    within(cluster.replica(leader).read_index()).await.expect("two are a majority");
    cluster.start(other).await.expect("an ordinary restart");
    cluster.status(other, |status| status.leader == Some(NodeId(leader))).await;
}

async fn is_not_opened_again(cluster: &mut Cluster, id: u32) {
    let refusal = cluster.start(id).await.expect_err("it was found out").to_string();
    assert!(refusal.contains("is an old copy, as was found out in an earlier run"), "{refusal}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_follower_with_an_older_copy_of_its_disk_stops_and_the_others_go_on() {
    let mut cluster = Cluster::running(3, quick()).await;
    let leader = cluster.leader().await;
    let follower = (leader + 1) % 3;
    let session = cluster.open(1, 60_000).await;
    let kept = cluster.place.disk(9);
    cluster.kill(follower).await;
    copy(&cluster.place.disk(follower), &kept);
    cluster.start(follower).await.expect("an ordinary restart");
    let mut last = 0;
    for request in 1..20 {
        last = cluster.lock(session, request, &format!("lock-{request}")).await.0;
    }
    cluster.applied(follower, last).await;
    cluster.kill(follower).await;
    put_back(&cluster, follower, &kept);
    cluster.start(follower).await.expect("by itself it cannot know");
    is_refused(&cluster, follower).await;
    cluster.kill(follower).await;
    is_not_opened_again(&mut cluster, follower).await;
    assert_eq!(cluster.leader().await, leader, "nobody else had to suffer");
    assert!(cluster.lock(session, 90, "after").await.0 > last);
}

/// Nothing was acknowledged between the copy and its return, so its log tells nothing; started once
/// more, it has been opened oftener than the one that went on. A vote may have been forgotten.
#[tokio::test(flavor = "multi_thread")]
async fn a_copy_that_was_found_out_once_is_not_taken_in_when_it_starts_again() {
    let mut cluster = Cluster::running(3, quick()).await;
    let leader = cluster.leader().await;
    let follower = (leader + 1) % 3;
    let session = cluster.open(1, 60_000).await;
    let last = cluster.lock(session, 1, "build").await.0;
    cluster.applied(follower, last).await;
    let kept = cluster.place.disk(9);
    cluster.kill(follower).await;
    copy(&cluster.place.disk(follower), &kept);
    cluster.start(follower).await.expect("an ordinary restart");
    heard_by(&mut cluster, leader, follower).await;
    cluster.kill(follower).await;
    put_back(&cluster, follower, &kept);
    cluster.start(follower).await.expect("by itself it cannot know");
    is_refused(&cluster, follower).await;
    cluster.kill(follower).await;
    is_not_opened_again(&mut cluster, follower).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_leader_with_an_older_copy_of_its_disk_stops_too() {
    let mut cluster = Cluster::running(3, quick()).await;
    let first = cluster.leader().await;
    let kept = cluster.place.disk(9);
    cluster.kill(first).await;
    copy(&cluster.place.disk(first), &kept);
    cluster.start(first).await.expect("an ordinary restart");
    let session = cluster.open(1, 60_000).await;
    let fence = cluster.lock(session, 1, "build").await;
    cluster.applied(first, fence.0).await;
    cluster.kill(first).await;
    put_back(&cluster, first, &kept);
    cluster.start(first).await.expect("by itself it cannot know");
    is_refused(&cluster, first).await;
    cluster.kill(first).await;
    assert!(cluster.lock(session, 2, "other").await > fence);
}

#[tokio::test(flavor = "multi_thread")]
async fn ordinary_restarts_are_refused_by_nobody() {
    let mut cluster = Cluster::running(3, quick()).await;
    let session = cluster.open(1, 60_000).await;
    for round in 0..6 {
        let id = round % 3;
        cluster.kill(id).await;
        let request = u64::from(round) + 1;
        let fence = cluster.lock(session, request, &format!("lock-{round}")).await;
        cluster.start(id).await.expect("its disk is in order");
        cluster.applied(id, fence.0).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_leader_of_before_is_not_taken_for_one_after_a_restart() {
    let mut cluster = Cluster::running(3, quick()).await;
    let leader = cluster.leader().await;
    for id in 0..3 {
        cluster.kill(id).await;
    }
    let follower = (leader + 1) % 3;
    cluster.start(follower).await.expect("its disk is in order");
    let status = cluster.replica(follower).status().borrow().clone();
    assert_eq!((status.leader, status.quorum), (None, false), "{status:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_leader_says_that_it_hears_of_no_majority() {
    let mut cluster = Cluster::running(3, quick()).await;
    let leader = cluster.leader().await;
    cluster.open(1, 60_000).await;
    cluster.status(leader, |status| status.quorum).await;
    for id in (0..3).filter(|id| *id != leader) {
        cluster.kill(id).await;
    }
    cluster.status(leader, |status| !status.quorum).await;
    let refusal = cluster.replica(leader).propose(conclave_table::Change::Tick).await;
    assert!(matches!(refusal, Err(NotProposed::NotLeader { .. })), "{refusal:?}");
}
