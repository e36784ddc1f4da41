//! Modes, queues, fences, several locks at once, re-entry.

use crate::kit::*;
use conclave_table::*;

fn exclusive() -> Acquire {
    Acquire::exclusive("a")
}

fn shared() -> Acquire {
    Acquire::of(lock("a"), Mode::Shared)
}

fn permit(of: u32) -> Acquire {
    Acquire::of(lock("a"), Mode::Permits(of))
}

#[test]
fn the_release_that_frees_a_lock_grants_it_to_the_next() {
    let mut cluster = Cluster::with_sessions(3);
    let fence = cluster.enter(1, exclusive());
    cluster.queue(2, exclusive());
    cluster.queue(3, exclusive());
    let applied = cluster.release(1, &lock("a"), fence);
    assert_eq!(grants(&applied), [(2, Fence(cluster.table.index()))]);
    assert_eq!((cluster.holders(&lock("a")), cluster.waiters(&lock("a"))), (vec![2], vec![3]));
}

#[test]
fn it_is_known_beforehand_who_would_have_to_wait() {
    let mut cluster = Cluster::with_sessions(4);
    let kept_out =
        |cluster: &Cluster, session, acquire| cluster.table.keeps_out(id(session), &acquire);
    let fence = cluster.enter(1, shared());
    assert!(kept_out(&cluster, 2, exclusive()) && !kept_out(&cluster, 2, shared()));
    assert!(!kept_out(&cluster, 1, exclusive()), "it may be its own again");
    cluster.queue(2, exclusive());
    assert!(kept_out(&cluster, 3, shared()), "somebody is in line before it");
    cluster.release(1, &lock("a"), fence);
    assert!(kept_out(&cluster, 3, shared()) && kept_out(&cluster, 3, exclusive()));
    assert!(kept_out(&cluster, 3, Acquire::exclusive("b").and(lock("a"), Mode::Shared)));
    let two = |name| Acquire::of(lock(name), Mode::Permits(2));
    cluster.enter(1, two("p"));
    assert!(!kept_out(&cluster, 2, two("p")));
    cluster.enter(2, two("p"));
    assert!(kept_out(&cluster, 3, two("p")));
}

#[test]
fn who_does_not_wait_is_refused_and_leaves_no_trace() {
    let mut cluster = Cluster::with_sessions(2);
    cluster.enter(1, exclusive());
    let (_, answer) = cluster.acquire(2, exclusive());
    assert_eq!(refused(&answer), &Refusal::Busy);
    assert!(cluster.waiters(&lock("a")).is_empty());
}

#[test]
fn all_who_share_a_period_have_its_fence_and_the_next_period_has_a_larger_one() {
    let mut cluster = Cluster::with_sessions(3);
    let first = cluster.enter(1, shared());
    let second = cluster.enter(2, shared());
    assert_eq!(first, second);
    cluster.release(1, &lock("a"), first);
    assert_eq!(cluster.enter(3, shared()), first, "the period is unbroken");
    cluster.release(2, &lock("a"), first);
    cluster.release(3, &lock("a"), first);
    assert!(cluster.enter(1, shared()) > first);
}

#[test]
fn who_shares_does_not_overtake_who_wants_it_alone() {
    let mut cluster = Cluster::with_sessions(3);
    let fence = cluster.enter(1, shared());
    cluster.queue(2, exclusive());
    cluster.queue(3, shared());
    let applied = cluster.release(1, &lock("a"), fence);
    assert_eq!(grants(&applied).len(), 1);
    assert_eq!(cluster.holders(&lock("a")), [2]);
}

#[test]
fn permits_have_slots_and_every_slot_is_held_once() {
    let mut cluster = Cluster::with_sessions(4);
    let slot = |cluster: &Cluster, session: u8| {
        let lock = cluster.table.lock(&lock("a")).expect("held");
        let mine = |(ticket, _): &&(&Ticket, &Hold)| ticket.session == id(session);
        lock.holders.iter().find(mine).map(|(_, hold)| hold.slot)
    };
    let first = cluster.enter(1, permit(2));
    cluster.enter(2, permit(2));
    cluster.queue(3, permit(2));
    assert_eq!((slot(&cluster, 1), slot(&cluster, 2)), (Some(0), Some(1)));
    cluster.release(1, &lock("a"), first);
    assert_eq!(slot(&cluster, 3), Some(0));
}

#[test]
fn the_smallest_slot_that_is_free_is_given_out() {
    let mut cluster = Cluster::with_sessions(1);
    let slot = |answer: Answer| {
        let Answer::Granted(grants) = answer else { panic!("{answer:?}") };
        (grants[0].inside.slot, grants[0].inside.fence)
    };
    let all: Vec<(u32, Fence)> = (0..5).map(|_| slot(cluster.acquire(1, permit(5)).1)).collect();
    assert!(all.iter().map(|(slot, _)| *slot).eq(0..5));
    for gone in [3, 1, 4] {
        cluster.release(1, &lock("a"), all[gone].1);
    }
    let again = [(); 3].map(|()| slot(cluster.acquire(1, permit(5)).1).0);
    assert_eq!(again, [1, 3, 4]);
}

/// Whether somebody is let in takes steps in proportion to who stands before it, at most: holders
/// are looked at only for who may be among them.
#[test]
fn with_permits_nobody_goes_through_pairs() {
    const MANY: u32 = 2_000;
    let mut cluster = Cluster::with_sessions(3);
    let many = Limits { open_of_session: 2 * MANY, ..Limits::default() };
    cluster.apply(Change::SetLimits(many));
    let holds: Vec<Fence> = (0..MANY).map(|_| cluster.enter(1, permit(MANY))).collect();
    // All in line ask for another lock too, which is not free, so that they stay there.
    cluster.enter(3, Acquire::exclusive("b"));
    for number in 0..200 {
        let waiter = permit(MANY).and(lock("b"), Mode::Exclusive);
        let named = waiter.clone().owned_by(&format!("thread {number}"));
        cluster.queue(2, if number % 2 == 0 { waiter } else { named });
    }
    for fence in &holds[..300] {
        cluster.release(1, &lock("a"), *fence);
    }
    let view = cluster.table.lock(&lock("a")).expect("it is held");
    let last = view.waiters.last().expect("they wait").0;
    let steps = cluster.table.steps_to_admit(&lock("a"), last);
    assert!((199..=1_000).contains(&steps), "{steps}");
}

#[test]
fn a_capacity_is_fixed_while_the_lock_is_used() {
    let mut cluster = Cluster::with_sessions(2);
    let fence = cluster.enter(1, permit(2));
    for other in [permit(3), exclusive(), shared()] {
        assert_eq!(refused(&cluster.acquire(2, other).1), &Refusal::ModeConflict);
    }
    cluster.release(1, &lock("a"), fence);
    cluster.enter(2, permit(3));
}

#[test]
fn several_locks_are_granted_together_or_not_at_all_and_nobody_overtakes() {
    let mut cluster = Cluster::with_sessions(3);
    let fence = cluster.enter(1, Acquire::exclusive("b"));
    cluster.queue(2, exclusive().and(lock("b"), Mode::Exclusive));
    assert!(cluster.holders(&lock("a")).is_empty(), "it holds nothing until it holds all");
    cluster.queue(3, exclusive());
    let applied = cluster.release(1, &lock("b"), fence);
    let granted = applied.notices.iter().find_map(Notice::granted).expect("both are free");
    assert_eq!((granted.ticket.session, granted.grants.len()), (id(2), 2));
    assert_eq!(cluster.waiters(&lock("a")), [3]);
}

#[test]
fn a_second_request_of_a_session_queues_unless_it_names_its_owner() {
    let mut cluster = Cluster::with_sessions(1);
    let fence = cluster.enter(1, exclusive().owned_by("thread"));
    assert_eq!(cluster.enter(1, exclusive().owned_by("thread")), fence);
    cluster.queue(1, exclusive());
    let released = |holds| Answer::Released { holds };
    assert_eq!(cluster.release(1, &lock("a"), fence).answer, released(1));
    assert_eq!(cluster.release(1, &lock("a"), fence).answer, released(0));
    assert_eq!(cluster.holders(&lock("a")), [1], "its own second request is next");
}

#[test]
fn who_shares_becomes_exclusive_with_a_new_fence_when_it_is_alone() {
    let mut cluster = Cluster::with_sessions(2);
    let old = cluster.enter(1, shared().owned_by("t"));
    let other = cluster.enter(2, shared());
    cluster.queue(1, exclusive().owned_by("t"));
    let applied = cluster.release(2, &lock("a"), other);
    let [(1, new)] = grants(&applied)[..] else { panic!("{applied:?}") };
    assert!(new > old);
    cluster.release(1, &lock("a"), new);
    assert_eq!(cluster.holders(&lock("a")), [1], "still inside by its first request");
}

/// Both guards of an upgrade live on: each request is known by the fence that it was told.
#[test]
fn who_became_exclusive_gives_both_back_each_by_its_own_fence() {
    let mut cluster = Cluster::with_sessions(1);
    let (shared_by, answer) = cluster.acquire(1, shared().owned_by("me"));
    let shared_with = answer.fence().expect("granted");
    let (alone_by, answer) = cluster.acquire(1, exclusive().owned_by("me"));
    let alone_with = answer.fence().expect("alone inside");
    let renewal = Renewal { session: id(1), at: conclave_core::NodeId(0), open: None };
    let renewed = cluster.apply(Change::Renew(vec![renewal])).answer;
    let Answer::Renewed(renewed) = renewed else { panic!("{renewed:?}") };
    let held = |request, fence| Held { resource: lock("a"), fence, request, revoked: false };
    let both = vec![held(shared_by, shared_with), held(alone_by, alone_with)];
    assert_eq!(renewed, [Renewed::Alive(both)]);
    for (request, fence, holds) in [(shared_by, shared_with, 1), (alone_by, alone_with, 0)] {
        let body = Body::Release { resource: lock("a"), fence, hold: Some(request) };
        assert_eq!(cluster.ask(1, body).1.answer, Answer::Released { holds });
    }
}

#[test]
fn a_name_vanishes_with_its_last_user_and_its_fences_still_rise() {
    let mut cluster = Cluster::with_sessions(1);
    let first = cluster.enter(1, exclusive());
    cluster.release(1, &lock("a"), first);
    assert_eq!(cluster.table.resources().count(), 0);
    assert!(cluster.enter(1, exclusive()) > first);
}

#[test]
fn requests_that_make_no_sense_change_nothing() {
    let mut cluster = Cluster::with_sessions(1);
    let many = (0..16).fold(exclusive(), |all, i| all.and(lock(&i.to_string()), Mode::Shared));
    let lead = |mode| Acquire::of(Resource::election("e"), mode);
    let cases = [
        (Acquire { wants: Vec::new(), ..exclusive() }, Senseless::HowMany),
        (many, Senseless::HowMany),
        (exclusive().and(lock("a"), Mode::Shared), Senseless::NameTwice),
        (permit(0), Senseless::NoPermits),
        (lead(Mode::Shared), Senseless::ElectionAlone),
        (exclusive().and(Resource::election("e"), Mode::Exclusive), Senseless::ElectionAlone),
    ];
    for (acquire, why) in cases {
        assert_eq!(refused(&cluster.acquire(1, acquire).1), &Refusal::Senseless(why));
        assert_eq!(cluster.table.resources().count(), 0);
    }
}

#[test]
fn limits_are_those_of_the_log() {
    let mut cluster = Cluster::with_sessions(2);
    let limits = Limits { names_of_prefix: 1, waiters_of_lock: 1, ..Limits::default() };
    cluster.apply(Change::SetLimits(limits));
    cluster.enter(1, Acquire::exclusive("x/1"));
    let full = |quota| Refusal::Full(quota);
    let (_, answer) = cluster.acquire(1, Acquire::exclusive("x/2"));
    assert_eq!(refused(&answer), &full(Quota::NamesOfPrefix));
    cluster.enter(1, Acquire::exclusive("y/1"));
    cluster.queue(2, Acquire::exclusive("x/1"));
    let (_, answer) = cluster.acquire(2, Acquire::exclusive("x/1").waiting(5));
    assert_eq!(refused(&answer), &full(Quota::WaitersOfLock));
}
