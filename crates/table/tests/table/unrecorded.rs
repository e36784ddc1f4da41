//! Requests without a number of their client's: nobody can repeat them, so nothing is kept of them.

use crate::kit::{Cluster, grants, id, lock, refused};
use conclave_table::*;

fn unrecorded(number: u64) -> RequestId {
    RequestId(RequestId::UNRECORDED.0 + number)
}

fn ask(session: u8, request: RequestId, body: Body) -> Change {
    Change::Ask(Ask::new(id(session), request, body))
}

fn acquire(session: u8, number: u64, wait_ms: u64) -> Change {
    let acquire = Acquire::exclusive("a").waiting(wait_ms);
    ask(session, unrecorded(number), Body::Acquire(acquire))
}

#[test]
fn they_are_granted_and_given_back_and_nothing_of_them_is_left() {
    let mut cluster = Cluster::with_sessions(1);
    let before = cluster.table.session(id(1)).cloned();
    for number in 0..2_000 {
        let fence = cluster.apply(acquire(1, number, 0)).answer.fence().expect("granted");
        let body = Body::Release { resource: lock("a"), fence, hold: None };
        let released = cluster.apply(ask(1, unrecorded(10_000 + number), body)).answer;
        assert_eq!(released, Answer::Released { holds: 0 });
    }
    assert_eq!(cluster.table.session(id(1)).cloned(), before);
}

#[test]
fn one_that_waits_is_granted_by_a_notice() {
    let mut cluster = Cluster::with_sessions(2);
    let fence = cluster.apply(acquire(1, 1, 0)).answer.fence().expect("granted");
    assert_eq!(cluster.apply(acquire(2, 2, 60_000)).answer, Answer::Waiting { position: 1 });
    let freed = cluster.release(1, &lock("a"), fence);
    assert_eq!(grants(&freed), [(2, Fence(cluster.table.index()))]);
}

#[test]
fn no_mark_is_above_them_and_no_keepalive_withdraws_them() {
    let mut cluster = Cluster::with_sessions(1);
    cluster.apply(acquire(1, 1, 0));
    let body = Body::Acquire(Acquire::exclusive("b"));
    let marked = Ask { lowest_open: RequestId(50), ..Ask::new(id(1), RequestId(50), body) };
    cluster.apply(Change::Ask(marked));
    let open = OpenRequests { as_of: RequestId(60), requests: vec![RequestId(50)] };
    let at = conclave_core::NodeId(0);
    cluster.apply(Change::Renew(vec![Renewal { session: id(1), at, open: Some(open) }]));
    assert_eq!(cluster.holders(&lock("a")), [1]);
}

/// The connection was closed, and the node's cancel overtook the request on its way.
#[test]
fn one_that_comes_after_its_cancel_is_not_carried_out() {
    let mut cluster = Cluster::with_sessions(1);
    let request = unrecorded(7);
    cluster.apply(ask(1, unrecorded(8), Body::cancel(request)));
    let late = cluster.apply(acquire(1, 7, 60_000)).answer;
    assert_eq!(refused(&late), &Refusal::Withdrawn);
    assert!(cluster.holders(&lock("a")).is_empty());
}

#[test]
fn a_cancel_takes_it_out_of_the_line_or_gives_back_what_it_holds() {
    let mut cluster = Cluster::with_sessions(2);
    cluster.apply(acquire(1, 1, 0));
    cluster.apply(acquire(2, 2, 60_000));
    cluster.apply(ask(2, unrecorded(3), Body::cancel(unrecorded(2))));
    assert!(cluster.waiters(&lock("a")).is_empty());
    cluster.apply(ask(1, unrecorded(4), Body::cancel(unrecorded(1))));
    assert!(cluster.holders(&lock("a")).is_empty());
}
