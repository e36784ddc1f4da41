//! Deadlocks are found when a request would close the circle, and only then.

use crate::kit::*;
use conclave_table::*;

fn on(name: &str) -> Acquire {
    Acquire::exclusive(name)
}

fn deadlocked(answer: &Answer) -> Vec<u8> {
    let Refusal::Deadlock(cycle) = refused(answer) else { panic!("{answer:?}") };
    cycle.iter().map(|ticket| ticket.session.0[0]).collect()
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
