//! Deadlocks are found when a request would close the circle, and only then.

use crate::kit::*;
use conclave_table::*;

fn on(name: &str) -> Acquire {
    Acquire::exclusive(name)
}

fn deadlocked(answer: &Answer) -> Vec<u8> {
    let Refusal::Deadlock(cycle) = refused(answer) else { panic!("{answer:?}") };
    cycle.iter().map(|link| link.ticket.session.0[0]).collect()
}

#[test]
fn the_request_that_closes_a_circle_is_refused_with_its_name() {
    let mut cluster = Cluster::with_sessions(2);
    cluster.enter(1, on("a"));
    cluster.enter(2, on("b"));
    cluster.queue(1, on("b"));
    let (_, answer) = cluster.acquire(2, on("a").waiting(1_000));
    assert_eq!(deadlocked(&answer), [2, 1]);
    assert!(cluster.waiters(&lock("a")).is_empty());
}

#[test]
fn to_wait_behind_who_waits_is_to_wait_for_it() {
    let mut cluster = Cluster::with_sessions(3);
    cluster.enter(1, on("a"));
    cluster.enter(2, on("b"));
    cluster.queue(2, on("a")); // 2 waits for 1.
    cluster.queue(3, on("a")); // 3 waits for 1 and 2.
    let (_, answer) = cluster.acquire(1, on("b").waiting(1_000));
    assert_eq!(deadlocked(&answer), [1, 2]);
    let both = on("c").and(lock("b"), Mode::Exclusive);
    cluster.queue(3, both); // Behind a circle that was not closed.
}

#[test]
fn two_who_share_cannot_both_become_exclusive() {
    let mut cluster = Cluster::with_sessions(2);
    let shared = || Acquire::of(lock("a"), Mode::Shared).owned_by("t");
    cluster.enter(1, shared());
    cluster.enter(2, shared());
    cluster.queue(1, on("a").owned_by("t"));
    let (_, answer) = cluster.acquire(2, on("a").owned_by("t").waiting(1_000));
    assert_eq!(deadlocked(&answer), [2, 1]);
}

#[test]
fn with_permits_there_is_a_deadlock_only_if_nobody_outside_can_free_one() {
    let mut cluster = Cluster::with_sessions(3);
    let permit = || Acquire::of(lock("p"), Mode::Permits(2));
    let first = cluster.enter(1, permit());
    cluster.enter(2, permit());
    cluster.enter(3, on("a"));
    cluster.queue(2, on("a")); // 2 waits for 3.
    cluster.queue(3, permit()); // 3 waits for 1 or 2, and 1 is free to go.
    cluster.release(1, &lock("p"), first);
    assert_eq!(cluster.holders(&lock("p")), [2, 3]);
}

#[test]
fn owners_are_told_apart_and_sessions_without_owners_are_one_each() {
    let mut cluster = Cluster::with_sessions(2);
    cluster.enter(1, on("a").owned_by("t1"));
    cluster.enter(2, on("b"));
    cluster.queue(1, on("b").owned_by("t2")); // Not the one that holds a.
    cluster.queue(2, on("a"));
}

#[test]
fn a_hand_over_that_closes_a_circle_costs_the_newest_request_in_it() {
    let mut cluster = Cluster::with_sessions(3);
    let lead = || Acquire::campaign("e", "");
    let fence = cluster.enter(1, lead());
    cluster.enter(2, on("a"));
    cluster.queue(2, lead()); // 2 waits for 1.
    cluster.queue(3, lead()); // 3 waits for 1 and 2.
    let newest = cluster.queue(3, on("a")); // 3 waits for 2.
    let election = Resource::election("e");
    let (_, applied) = cluster.ask(1, Body::HandOver { election, fence, to: "s3".into() });
    assert_eq!(grants(&applied).first().map(|(session, _)| *session), Some(3));
    let left = applied.notices.iter().find_map(Notice::deadlocked);
    assert_eq!(left.map(|ticket| ticket.request), Some(newest));
}

/// Rule 2: without an owner a second request of the same session queues, whoever stands between.
#[test]
fn a_second_request_behind_somebody_else_is_no_deadlock() {
    let mut cluster = Cluster::with_sessions(3);
    let fence = cluster.enter(1, on("hot"));
    for session in [2, 3, 2] {
        cluster.queue(session, on("hot"));
    }
    cluster.release(1, &lock("hot"), fence);
    assert_eq!(cluster.holders(&lock("hot")), [2]);
}

#[test]
fn three_in_a_ring_are_named_with_what_each_has() {
    let mut cluster = Cluster::with_sessions(3);
    for (session, name) in [(1, "a"), (2, "b"), (3, "c")] {
        cluster.enter(session, on(name));
    }
    cluster.queue(1, on("b"));
    cluster.queue(2, on("c"));
    let (_, answer) = cluster.acquire(3, on("a").waiting(1_000));
    let Refusal::Deadlock(cycle) = refused(&answer) else { panic!("{answer:?}") };
    let link = |link: &Link| (link.ticket.session.0[0], link.resource.clone(), link.holds);
    let links: Vec<_> = cycle.iter().map(link).collect();
    assert_eq!(links, [(3, lock("c"), true), (1, lock("a"), true), (2, lock("b"), true)]);
}

/// One thread of a session could still have given something back. When it waits no longer, nobody
/// can.
#[test]
fn a_deadlock_that_comes_about_by_a_time_out_costs_the_newest_request_in_it() {
    let mut cluster = Cluster::with_sessions(3);
    cluster.enter(1, on("a"));
    cluster.enter(2, on("b"));
    cluster.enter(3, on("c"));
    cluster.queue(1, on("b"));
    cluster.acquire(1, on("c").waiting(100));
    let newest = cluster.queue(2, on("a"));
    let applied = cluster.after(100, Change::Tick);
    let left = applied.notices.iter().find_map(Notice::deadlocked);
    assert_eq!(left.map(|ticket| ticket.request), Some(newest));
}

/// A search takes steps in proportion to who waits, in a queue as well as along a chain.
#[test]
fn a_search_does_not_go_through_pairs() {
    const MANY: u64 = 5_000;
    let mut table = Table::new(Floor(0));
    let mut apply = |change| table.apply(table.index() + 1, LeaseTime(0), &change).answer;
    let session = |number: u64| SessionId((u128::from(number) + 1).to_be_bytes());
    let name = |number: u64| format!("own/{number}");
    let ask = |number: u64, request, name: &str| {
        let body = Body::Acquire(on(name).waiting(1_000));
        Change::Ask(Ask::new(session(number), RequestId(request), body))
    };
    for number in 0..MANY {
        apply(Change::Open(Open::new(session(number), 10_000)));
        apply(ask(number, 1, &name(number)));
    }
    for number in 0..MANY {
        // Everybody waits in one queue; a tenth of them also for the lock of the next.
        apply(ask(number, 2, "hot"));
        if number % 10 != 0 && number < MANY / 10 {
            let answer = apply(ask(number, 3, &name(number + 1)));
            assert!(matches!(answer, Answer::Waiting { .. }), "{answer:?}");
        }
    }
    let last = table.lock(&lock("hot")).and_then(|lock| lock.waiters.last().copied());
    let steps = table.steps_to_search(last.expect("they wait").0);
    assert!(steps as u64 > MANY && (steps as u64) < 20 * MANY, "{steps}");
}
