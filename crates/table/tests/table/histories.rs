//! Histories by which a running client would lose its lock, two would hold it, or nobody would get
//! it, were a rule missing.

use crate::kit::*;
use conclave_core::NodeId;
use conclave_table::*;

fn on(name: &str) -> Acquire {
    Acquire::exclusive(name)
}

/// The leader that proposes an expiry has not seen the keepalive that is in the log before it.
#[test]
fn a_new_leader_that_knows_an_old_renewal_expires_nobody() {
    let mut cluster = Cluster::with_sessions(1);
    cluster.enter(1, on("a"));
    let renewal = Renewal { session: id(1), at: NodeId(0), open: None };
    cluster.after(9_000, Change::Renew(vec![renewal]));
    let if_last_renew = LeaseTime(0);
    cluster.after(20_000, Change::Expire { session: id(1), if_last_renew });
    assert_eq!(cluster.holders(&lock("a")), [1]);
}

/// The waiter's time-out and the release come in the same entry: one lock, one grant, one fence.
#[test]
fn a_lock_is_granted_once_per_entry_whatever_else_happens_in_it() {
    let mut cluster = Cluster::with_sessions(4);
    let fence = cluster.enter(1, on("a"));
    cluster.acquire(2, on("a").waiting(100));
    cluster.queue(3, on("a"));
    cluster.queue(4, on("a"));
    cluster.now += 100;
    let applied = cluster.release(1, &lock("a"), fence);
    assert_eq!(grants(&applied), [(3, Fence(cluster.table.index()))]);
}

/// A snapshot must carry what was answered: a repeat after it must not be carried out again.
#[test]
fn a_table_that_was_written_down_and_read_again_goes_on_as_before() {
    let mut cluster = Cluster::with_sessions(2);
    let acquire = Change::Ask(Ask::new(id(1), RequestId(1), Body::Acquire(on("a"))));
    let granted = cluster.apply(acquire.clone()).answer;
    let copy = cluster.table.clone();
    assert_eq!(copy.state_hash(), cluster.table.state_hash());
    cluster.table = copy;
    assert_eq!(cluster.apply(acquire).answer, granted);
}

/// A client asks, gives up before it hears anything, and its first request arrives late.
#[test]
fn nobody_holds_a_lock_by_a_request_that_its_client_gave_up() {
    let mut cluster = Cluster::with_sessions(2);
    let fence = cluster.enter(1, on("a"));
    let request = cluster.queue(2, on("a"));
    cluster.ask(2, Body::Cancel { request });
    cluster.release(1, &lock("a"), fence);
    assert!(cluster.holders(&lock("a")).is_empty());
}

/// The grant was committed before the time-out: it is the answer, also to whoever asks again later.
#[test]
fn a_grant_that_came_first_is_the_answer() {
    let mut cluster = Cluster::with_sessions(2);
    let fence = cluster.enter(1, on("a"));
    let body = Body::Acquire(on("a").waiting(100));
    let ask = Change::Ask(Ask::new(id(2), RequestId(9), body));
    cluster.apply(ask.clone());
    cluster.after(99, Change::Tick);
    cluster.release(1, &lock("a"), fence);
    let granted = Fence(cluster.table.index());
    let late = cluster.after(1_000, ask);
    assert_eq!(late.answer.fence(), Some(granted));
}
