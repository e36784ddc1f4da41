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

/// Each withdrawal of a request that never came is remembered, lest it comes late.
#[test]
fn so_many_withdrawals_are_remembered_and_no_more() {
    let mut cluster = Cluster::with_sessions(1);
    let cancel = |number: u64| ask(1, unrecorded(number), Body::cancel(RequestId(number)));
    let answers: Vec<Answer> = (1..=2_000).map(|n| cluster.apply(cancel(n)).answer).collect();
    assert!(answers[..1_024].iter().all(|answer| *answer == Answer::Done));
    let full = Refusal::Full(Quota::OpenOfSession);
    assert!(answers[1_024..].iter().all(|answer| refused(answer) == &full));
    assert_eq!(cluster.table.answers_kept(id(1)), 1_024);
    assert_eq!(cluster.apply(cancel(7)).answer, Answer::Done, "what is known is no news");
}

#[test]
fn all_answers_of_the_cluster_have_so_much_room_and_what_gives_back_has_more() {
    let mut cluster = Cluster::with_sessions(2);
    let few = Limits { answers_bytes: 1_000, ..Limits::default() };
    cluster.apply(Change::SetLimits(few));
    let full = |answer: &Answer| *answer == Answer::Refused(Refusal::Full(Quota::AnswersBytes));
    let fence = cluster.enter(1, Acquire::exclusive("a"));
    let asked = (0..50).map(|n| cluster.acquire(2, Acquire::exclusive(&n.to_string())).1);
    let asked: Vec<Answer> = asked.collect();
    assert!(!full(&asked[0]) && full(&asked[49]), "{asked:?}");
    let released = cluster.release(1, &lock("a"), fence).answer;
    assert_eq!(released, Answer::Released { holds: 0 });
    cluster.apply(Change::End { session: id(2) });
    assert!(cluster.acquire(1, Acquire::exclusive("b")).1.fence().is_some(), "room again");
}
