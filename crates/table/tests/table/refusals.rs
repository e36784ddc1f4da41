//! What is refused with a word of its own: a withdrawal that comes too late, a repeat that asks for
//! something else, a fence that nobody can have.

use crate::kit::*;
use conclave_table::*;

fn on(name: &str) -> Acquire {
    Acquire::exclusive(name)
}

fn leave(request: RequestId, name: &str) -> Body {
    Body::Cancel { request, of: Some(lock(name)), granted_too: false }
}

#[test]
fn only_a_wait_for_that_very_lock_is_ended() {
    let mut cluster = Cluster::with_sessions(2);
    let (held, _) = cluster.acquire(1, on("a"));
    let waits = cluster.queue(2, on("a"));
    let granted = cluster.ask(1, leave(held, "a")).1.answer;
    assert_eq!(refused(&granted), &Refusal::AlreadyGranted);
    for (session, request) in [(1, held), (2, waits)] {
        let of_another = cluster.ask(session, leave(request, "b")).1.answer;
        assert_eq!(refused(&of_another), &Refusal::NotWaiting);
    }
    assert_eq!((cluster.holders(&lock("a")), cluster.waiters(&lock("a"))), (vec![1], vec![2]));
    assert_eq!(cluster.ask(2, leave(waits, "a")).1.answer, Answer::Done);
    assert!(cluster.waiters(&lock("a")).is_empty());
    assert_eq!(cluster.ask(2, leave(waits, "a")).1.answer, Answer::Done); // It is so already.
}

#[test]
fn what_was_granted_and_given_back_does_not_wait() {
    let mut cluster = Cluster::with_sessions(1);
    let (request, answer) = cluster.acquire(1, on("a"));
    cluster.release(1, &lock("a"), answer.fence().expect("granted"));
    assert_eq!(refused(&cluster.ask(1, leave(request, "a")).1.answer), &Refusal::NotWaiting);
}

#[test]
fn a_request_that_comes_after_its_withdrawal_is_not_carried_out() {
    let mut cluster = Cluster::with_sessions(1);
    let request = RequestId(50);
    assert_eq!(cluster.ask(1, leave(request, "a")).1.answer, Answer::Done);
    let late = Change::Ask(Ask::new(id(1), request, Body::Acquire(on("a"))));
    assert_eq!(refused(&cluster.apply(late).answer), &Refusal::Withdrawn);
}

/// Whoever writes with it would be the last to write: no later fence were larger.
#[test]
fn a_fence_that_cannot_have_been_granted_writes_nothing() {
    let mut cluster = Cluster::with_sessions(1);
    let fence = cluster.enter(1, on("a"));
    let put = |fence| Change::Put(Put { name: "a".into(), fence, value: Some("x".into()) });
    let after_this_entry = Fence(cluster.table.index() + 2);
    let refusal = Refusal::Senseless(Senseless::FutureFence);
    assert_eq!(refused(&cluster.apply(put(after_this_entry)).answer), &refusal);
    assert_eq!(refused(&cluster.apply(put(Fence((1 << 53) - 1))).answer), &refusal);
    assert_eq!(cluster.table.value("a"), None);
    assert_eq!(cluster.apply(put(fence)).answer, Answer::Done);
}

#[test]
fn a_session_is_not_opened_again_with_another_body() {
    let mut cluster = Cluster::with_sessions(0);
    let open = Open { opening: Some("7".into()), ..Open::new(id(1), 10_000) };
    let opened = cluster.apply(Change::Open(open.clone())).answer;
    let elsewhere = Open { session: id(2), at: conclave_core::NodeId(2), ..open.clone() };
    assert_eq!(cluster.apply(Change::Open(elsewhere)).answer, opened);
    let others = [
        Open { ttl_ms: 20_000, ..open.clone() },
        Open { label: "x".into(), ..open.clone() },
        Open { on_disconnect: Some(Grace(1_000)), ..open },
    ];
    for other in others {
        let answer = cluster.apply(Change::Open(other)).answer;
        assert_eq!(refused(&answer), &Refusal::AnotherRequest);
    }
}

#[test]
fn who_waits_is_told_that_its_session_is_gone() {
    let mut cluster = Cluster::with_sessions(2);
    cluster.enter(1, on("a"));
    cluster.queue(2, on("a"));
    let applied = cluster.apply(Change::End { session: id(2) });
    let why = |notice: &Notice| {
        if let Notice::Left { why, .. } = notice { Some(why.clone()) } else { None }
    };
    assert_eq!(applied.notices.iter().find_map(why), Some(Refusal::NoSession));
}
