//! Leases, as the log of a real cluster has them.

use crate::kit::{Cluster, quick, within};
use conclave_core::NodeId;
use conclave_replica::NotProposed;
use conclave_table::{Change, LeaseTime, Renewal, Renewed, SessionId};

fn expiry(entries: &[(u64, LeaseTime, Change)], wanted: SessionId) -> Option<LeaseTime> {
    let expires =
        |change: &Change| matches!(change, Change::Expire { session, .. } if *session == wanted);
    entries.iter().find(|(_, _, change)| expires(change)).map(|(_, time, _)| *time)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_silent_session_expires_by_the_lease_clock_of_the_log() {
    let cluster = Cluster::running(3, quick()).await;
    let leader = cluster.leader().await;
    let session = cluster.open(1, 1_000).await;
    let renewed = cluster.replica(leader).look(|table| table.session(session).map(|s| s.renewed));
    let renewed = renewed.expect("it was opened");
    cluster.lock(session, 1, "build").await;
    let gone = |id: u32| cluster.replica(id).look(|table| table.session(session).is_none());
    cluster.status(leader, |_| gone(leader)).await;
    let at = expiry(&cluster.entries(leader), session).expect("it was expired");
    let silent = at.since(renewed);
    assert!((1_000..1_500).contains(&silent), "expired after {silent} ms");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_keepalive_is_answered_after_it_is_in_the_table() {
    let cluster = Cluster::running(3, quick()).await;
    let leader = cluster.leader().await;
    let session = cluster.open(1, 30_000).await;
    let replica = cluster.replica(leader);
    let before = replica.look(|table| table.session(session).map(|known| known.renewed));
    let renewed = within(replica.renew(Renewal { session, at: NodeId(0), open: None })).await;
    assert_eq!(renewed, Ok(Renewed::Alive(vec![])));
    let after = replica.look(|table| table.session(session).map(|known| known.renewed));
    assert!(after > before, "{after:?} is what it was before");
    let stranger = SessionId([9; 16]);
    let renewed =
        within(replica.renew(Renewal { session: stranger, at: NodeId(0), open: None })).await;
    assert_eq!(renewed, Ok(Renewed::NoSession));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_leader_without_a_quorum_expires_nobody_and_answers_no_keepalive() {
    let mut cluster = Cluster::running(3, quick()).await;
    let leader = cluster.leader().await;
    let session = cluster.open(1, 1_000).await;
    for id in (0..3).filter(|id| *id != leader) {
        cluster.kill(id).await;
    }
    let replica = cluster.replica(leader).clone();
    let waiting = tokio::spawn({
        let replica = replica.clone();
        async move { replica.renew(Renewal { session, at: NodeId(0), open: None }).await }
    });
    // A read tells that the quorum is gone, after a good while.
    let read = within(replica.read_index()).await;
    assert!(matches!(read, Err(NotProposed::NotLeader { .. })), "{read:?}");
    let read = within(replica.read_index()).await;
    assert!(matches!(read, Err(NotProposed::NotLeader { .. })), "{read:?}");
    assert!(replica.look(|table| table.session(session).is_some()));
    let renewed = replica.look(|table| table.session(session).map(|known| known.expires()));
    assert!(renewed.is_some());
    drop(replica);
    cluster.kill(leader).await;
    let answer = within(waiting).await.expect("it does not panic");
    assert!(answer.is_err(), "a keepalive was answered without a quorum: {answer:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_lease_clock_goes_on_where_the_last_leader_left_it() {
    let mut cluster = Cluster::running(3, quick()).await;
    cluster.open(1, 60_000).await;
    let leader = cluster.leader().await;
    for _ in 0..5 {
        cluster.propose(Change::Tick).await;
    }
    let before = cluster.replica(leader).look(|table| table.now());
    cluster.kill(leader).await;
    let index = cluster.propose(Change::Tick).await.index;
    let next = cluster.leader().await;
    cluster.applied(next, index).await;
    let entries = cluster.entries(next);
    let times: Vec<LeaseTime> = entries.iter().map(|(_, time, _)| *time).collect();
    assert!(times.windows(2).all(|pair| pair[0] <= pair[1]), "{times:?}");
    let after = cluster.replica(next).look(|table| table.now());
    assert!(after >= before && after.since(before) < 1_000, "from {before:?} to {after:?}");
}

/// Its client has lost the session by then, and must not find it alive. The leader's loop has its
/// turn only when this test waits: there is one thread.
#[tokio::test]
async fn a_keepalive_that_was_given_up_before_its_turn_renews_nothing() {
    let cluster = Cluster::running(1, quick()).await;
    let session = cluster.open(1, 30_000).await;
    let other = cluster.open(2, 30_000).await;
    let replica = cluster.replica(0);
    let renewal = |session| Renewal { session, at: NodeId(0), open: None };
    let renewed = || replica.look(|table| table.session(session).map(|known| known.renewed));
    let before = renewed();
    while Some(replica.look(|table| table.now())) <= before {
        assert!(within(replica.renew(renewal(other))).await.is_ok());
    }
    tokio::select! {
        biased;
        answer = replica.renew(renewal(session)) => panic!("before its turn: {answer:?}"),
        () = std::future::ready(()) => {} // Whoever asked has gone.
    }
    assert!(within(replica.renew(renewal(other))).await.is_ok());
    assert_eq!(renewed(), before);
}
