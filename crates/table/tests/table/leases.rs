//! Sessions, leases, deadlines, force, streams, values, repeats.

use crate::kit::*;
use conclave_core::NodeId;
use conclave_table::*;

fn on(name: &str) -> Acquire {
    Acquire::exclusive(name)
}

fn expire(session: u8, renewed: u64) -> Change {
    Change::Expire { session: id(session), if_last_renew: LeaseTime(renewed) }
}

fn renew(session: u8, open: Option<OpenRequests>) -> Change {
    Change::Renew(vec![Renewal { session: id(session), at: NodeId(0), open }])
}

#[test]
fn an_expiry_is_void_if_the_session_was_renewed_or_its_time_is_not_over() {
    let mut cluster = Cluster::with_sessions(1);
    cluster.enter(1, on("a"));
    cluster.after(9_999, expire(1, 0));
    assert_eq!(cluster.holders(&lock("a")), [1], "not yet silent for its time to live");
    cluster.apply(renew(1, None));
    cluster.after(1, expire(1, 0));
    assert_eq!(cluster.holders(&lock("a")), [1], "renewed since");
    cluster.after(9_999, expire(1, 9_999));
    assert!(cluster.holders(&lock("a")).is_empty());
}

#[test]
fn time_alone_ends_no_session() {
    let mut cluster = Cluster::with_sessions(1);
    cluster.enter(1, on("a"));
    cluster.after(1_000_000, Change::Tick);
    assert_eq!(cluster.holders(&lock("a")), [1]);
    assert_eq!(cluster.table.due().expiry, Some((LeaseTime(10_000), id(1))));
}

#[test]
fn the_lease_clock_never_goes_back() {
    let mut cluster = Cluster::with_sessions(1);
    cluster.after(500, Change::Tick);
    cluster.now = 0;
    cluster.apply(renew(1, None));
    assert_eq!(cluster.table.session(id(1)).map(|session| session.renewed), Some(LeaseTime(500)));
}

#[test]
fn who_waits_leaves_at_its_deadline_and_lets_the_next_pass() {
    let mut cluster = Cluster::with_sessions(3);
    let fence = cluster.enter(1, Acquire::of(lock("a"), Mode::Shared));
    let (request, _) = cluster.acquire(2, on("a").waiting(100));
    cluster.queue(3, Acquire::of(lock("a"), Mode::Shared));
    let applied = cluster.after(100, Change::Tick);
    let ticket = Ticket { session: id(2), request };
    assert!(applied.notices.contains(&Notice::Left {
        ticket,
        wants: vec![lock("a")],
        why: Refusal::TimedOut
    }));
    assert_eq!(grants(&applied), [(3, fence)], "it shares the period");
}

#[test]
fn a_repeat_is_answered_and_not_carried_out() {
    let mut cluster = Cluster::with_sessions(2);
    let ask = |lowest, body| {
        let request = RequestId(1);
        Change::Ask(Ask { session: id(1), request, lowest_open: RequestId(lowest), body })
    };
    let acquire = || Body::Acquire(on("a"));
    let first = cluster.apply(ask(0, acquire())).answer;
    assert_eq!(cluster.apply(ask(0, acquire())).answer, first);
    let other = cluster.apply(ask(0, Body::Acquire(on("b")))).answer;
    assert_eq!(refused(&other), &Refusal::AnotherRequest);
    cluster.apply(Change::End { session: id(2) });
    assert_eq!(cluster.apply(ask(0, acquire())).answer, first);
    assert_eq!(refused(&cluster.apply(ask(2, acquire())).answer), &Refusal::Forgotten);
    assert_eq!(cluster.holders(&lock("a")), [1], "the mark says nothing about holds");
}

#[test]
fn a_release_that_comes_twice_counts_once() {
    let mut cluster = Cluster::with_sessions(1);
    let fence = cluster.enter(1, on("a").owned_by("t"));
    cluster.enter(1, on("a").owned_by("t"));
    let release = Body::Release { resource: lock("a"), fence, hold: None };
    let change = Change::Ask(Ask::new(id(1), RequestId(77), release));
    for _ in 0..2 {
        assert_eq!(cluster.apply(change.clone()).answer, Answer::Released { holds: 1 });
    }
}

/// A session whose client never says which answers it has: no more of them can be kept.
fn with_all_answers_kept() -> (Cluster, Fence, RequestId) {
    let mut cluster = Cluster::with_sessions(2);
    cluster.enter(2, on("b"));
    let fence = cluster.enter(1, on("a"));
    let waiting = cluster.queue(1, on("b"));
    let nothing = Body::Release { resource: lock("none"), fence: Fence(1), hold: None };
    let full = |answer: &Answer| matches!(answer, Answer::Refused(Refusal::Full(_)));
    let mut asked = 0;
    while !full(&cluster.ask(1, nothing.clone()).1.answer) {
        asked += 1;
        assert!(asked <= 1_024, "so many answers are kept");
    }
    (cluster, fence, waiting)
}

#[test]
fn there_is_always_room_to_let_go() {
    let (mut cluster, fence, waiting) = with_all_answers_kept();
    let kept = |number: u64| RequestId(1_000_000 + number);
    let ask = |number, body| Change::Ask(Ask::new(id(1), kept(number), body));
    let full = Refusal::Full(Quota::OpenOfSession);
    assert_eq!(refused(&cluster.apply(ask(1, Body::Acquire(on("c")))).answer), &full);
    let cancel = Body::Cancel { request: waiting, of: Some(lock("b")), granted_too: false };
    let release = Body::Release { resource: lock("a"), fence, hold: None };
    for _ in 0..2 {
        assert_eq!(cluster.apply(ask(2, cancel.clone())).answer, Answer::Done);
        let released = Answer::Released { holds: 0 };
        assert_eq!(cluster.apply(ask(3, release.clone())).answer, released, "a repeat, too");
    }
    assert_eq!(cluster.waiters(&lock("b")), []);
    assert_eq!(cluster.holders(&lock("a")), []);
    // Nothing is left to let go of: what would only fill the table is refused.
    assert_eq!(refused(&cluster.apply(ask(4, release)).answer), &full);
    assert_eq!(refused(&cluster.apply(ask(5, cancel)).answer), &full);
}

#[test]
fn a_request_that_was_cancelled_before_it_came_is_not_carried_out() {
    let mut cluster = Cluster::with_sessions(1);
    let late = RequestId(50);
    cluster.ask(1, Body::cancel(late));
    let change = Change::Ask(Ask::new(id(1), late, Body::Acquire(on("a"))));
    assert_eq!(refused(&cluster.apply(change).answer), &Refusal::Withdrawn);
    assert!(cluster.holders(&lock("a")).is_empty());
}

#[test]
fn a_keepalive_that_does_not_know_a_request_withdraws_it_unless_it_was_sent_before() {
    let mut cluster = Cluster::with_sessions(2);
    let (first, _) = cluster.acquire(1, on("a"));
    let (second, _) = cluster.acquire(1, on("b"));
    let open = OpenRequests { as_of: second, requests: Vec::new() };
    cluster.apply(renew(1, Some(open)));
    assert!(cluster.holders(&lock("a")).is_empty(), "{first:?} is not known to its client");
    assert_eq!(cluster.holders(&lock("b")), [1], "the keepalive was sent before it");
}

#[test]
fn what_waits_below_the_mark_never_becomes_a_hold_that_nobody_knows() {
    let mut cluster = Cluster::with_sessions(2);
    let fence = cluster.enter(1, on("a"));
    cluster.queue(2, on("a"));
    let body = Body::Acquire(on("b"));
    let lowest_open = RequestId(90);
    cluster.apply(Change::Ask(Ask { session: id(2), request: lowest_open, lowest_open, body }));
    cluster.release(1, &lock("a"), fence);
    assert!(cluster.holders(&lock("a")).is_empty());
}

#[test]
fn a_session_that_ends_leaves_all_queues_and_holds() {
    let mut cluster = Cluster::with_sessions(3);
    cluster.enter(1, on("a"));
    cluster.enter(2, on("b"));
    cluster.queue(1, on("b"));
    cluster.queue(3, on("a"));
    let applied = cluster.apply(Change::End { session: id(1) });
    assert_eq!(grants(&applied).len(), 1);
    assert_eq!(cluster.holders(&lock("a")), [3]);
    assert!(cluster.waiters(&lock("b")).is_empty());
}

#[test]
fn force_gives_the_holder_its_time_to_live_and_says_so_in_its_keepalives() {
    let mut cluster = Cluster::with_sessions(2);
    cluster.enter(1, on("a"));
    cluster.queue(2, on("a"));
    let force = |now| Change::Force(Force { now, ..Force::of(lock("a"), Fence(u64::MAX)) });
    cluster.apply(force(false));
    cluster.after(9_000, force(false));
    let Answer::Renewed(answers) = cluster.apply(renew(1, None)).answer else { panic!() };
    let Renewed::Alive(held) = &answers[0] else { panic!() };
    assert!(held[0].revoked);
    assert_eq!(cluster.holders(&lock("a")), [1]);
    assert_eq!(grants(&cluster.after(1_000, Change::Tick)).len(), 1, "to ask twice is no delay");
    let forced = cluster.apply(force(true));
    assert_eq!(
        (forced.answer, cluster.holders(&lock("a"))),
        (holders_of(2, &forced.notices), vec![])
    );
}

/// The answer to a use of force at once, from what it ended.
fn holders_of(session: u8, notices: &[Notice]) -> Answer {
    let ended = notices.iter().filter_map(Notice::ended).map(|ended| ended.ticket);
    let ended = ended.filter(|ticket| ticket.session == id(session));
    Answer::Forced(ended.collect())
}

#[test]
fn what_is_said_of_an_old_stream_is_void() {
    let mut cluster = Cluster::with_sessions(0);
    let open = Open { on_disconnect: Some(Grace(200)), ..Open::new(id(1), 10_000) };
    cluster.apply(Change::Open(open));
    let session = id(1);
    cluster.apply(Change::Attach { session, stream: 1 });
    let attach = |stream| Change::Attach { session, stream };
    assert_eq!(cluster.apply(attach(2)).answer, Answer::Done);
    assert_eq!(cluster.apply(attach(2)).answer, Answer::Done, "a repeat");
    assert_eq!(refused(&cluster.apply(attach(1)).answer), &Refusal::StaleStream);
    cluster.apply(Change::Detach { session, stream: 1 });
    assert_eq!(cluster.table.due().lapse, None);
    cluster.apply(Change::Detach { session, stream: 2 });
    assert_eq!(refused(&cluster.apply(attach(2)).answer), &Refusal::StaleStream, "it is over");
    assert_eq!(cluster.table.due().lapse, Some((LeaseTime(200), 2, session)));
    cluster.after(199, Change::Lapse { session, stream: 2 });
    assert!(cluster.table.session(session).is_some(), "its grace is not over");
    cluster.after(1, Change::Lapse { session, stream: 2 });
    assert!(cluster.table.session(session).is_none());
}

#[test]
fn a_repeated_opening_gets_the_session_that_is_there() {
    let mut cluster = Cluster::with_sessions(0);
    let open = |number, principal: &str| {
        let opening = Some("same".into());
        let principal = principal.into();
        Change::Open(Open { opening, principal, ..Open::new(id(number), 10_000) })
    };
    let opened = |number| Answer::Opened { session: id(number), ttl_ms: 10_000 };
    assert_eq!(cluster.apply(open(1, "alice")).answer, opened(1));
    assert_eq!(cluster.apply(open(2, "alice")).answer, opened(1));
    assert_eq!(cluster.apply(open(3, "bob")).answer, opened(3));
    assert_eq!(refused(&cluster.apply(open(3, "carol")).answer), &Refusal::TakenId);
}

#[test]
fn a_value_refuses_a_stale_fence_even_when_the_lock_is_forgotten() {
    let mut cluster = Cluster::with_sessions(2);
    let put = |fence, value: &str| {
        Change::Put(Put { name: "a".into(), fence, value: Some(value.into()) })
    };
    let stale = cluster.enter(1, on("a"));
    cluster.release(1, &lock("a"), stale);
    let at_least = Fence(stale.0 + 1);
    let answer = cluster.apply(put(stale, "late")).answer;
    assert_eq!(refused(&answer), &Refusal::StaleFence { at_least });
    let fresh = cluster.enter(2, on("a"));
    cluster.enter(1, on("b"));
    assert_eq!(cluster.apply(put(fresh, "good")).answer, Answer::Done);
    assert_eq!(cluster.apply(put(fresh, "again")).answer, Answer::Done);
    assert!(matches!(cluster.apply(put(stale, "late")).answer, Answer::Refused(_)));
    let deleted = Change::Put(Put { name: "a".into(), fence: fresh, value: None });
    cluster.apply(deleted);
    let value = cluster.table.value("a").expect("name and fence stay");
    assert_eq!((value.fence, value.value.as_deref()), (fresh, None));
}

#[test]
fn a_holder_may_write_first_though_other_locks_were_forgotten_since() {
    let mut cluster = Cluster::with_sessions(2);
    let mine = cluster.enter(1, on("a"));
    let other = cluster.enter(2, on("b"));
    cluster.release(2, &lock("b"), other);
    let put = Change::Put(Put { name: "a".into(), fence: mine, value: Some("x".into()) });
    assert_eq!(cluster.apply(put).answer, Answer::Done);
}

#[test]
#[should_panic(expected = "comes after")]
fn an_entry_is_never_applied_twice() {
    let mut table = Table::new(Floor(0));
    table.apply(1, LeaseTime(0), &Change::Tick);
    table.apply(1, LeaseTime(0), &Change::Tick);
}
