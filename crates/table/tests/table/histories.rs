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
    cluster.ask(2, Body::cancel(request));
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

/// Force has marked the hold, but nobody else is inside yet: the fence is still that of the holder.
#[test]
fn a_hold_that_was_taken_away_is_valid_until_it_ends() {
    let mut cluster = Cluster::with_sessions(2);
    let fence = cluster.enter(1, on("a"));
    cluster.queue(2, on("a"));
    cluster.apply(Change::Force(Force::of(lock("a"), Fence(u64::MAX))));
    assert!(cluster.table.verify(&lock("a"), fence, None));
    cluster.after(10_000, Change::Tick);
    assert!(!cluster.table.verify(&lock("a"), fence, None));
    assert_eq!(cluster.holders(&lock("a")), [2]);
}

/// All who share a period show the same fence, so only the session tells them apart.
#[test]
fn of_those_who_share_a_fence_each_is_verified_by_its_session() {
    let mut cluster = Cluster::with_sessions(2);
    let shared = || Acquire::of(lock("a"), Mode::Shared);
    let fence = cluster.enter(1, shared());
    cluster.enter(2, shared());
    cluster.release(1, &lock("a"), fence);
    assert!(cluster.table.verify(&lock("a"), fence, None));
    assert!(!cluster.table.verify(&lock("a"), fence, Some(id(1))));
    assert!(cluster.table.verify(&lock("a"), fence, Some(id(2))));
}

/// A client gives its lock back without waiting for the answer and asks for it anew, on another
/// connection that is quicker: it holds the lock and waits behind one who waits for it.
#[test]
fn who_asks_anew_before_its_release_came_just_queues() {
    for owners in [[None, None], [Some("first".into()), Some("second".into())]] {
        let [first, second] = owners;
        let mut cluster = Cluster::with_sessions(2);
        let fence = cluster.enter(1, Acquire { owner: first, ..on("a") });
        cluster.queue(2, on("a"));
        cluster.queue(1, Acquire { owner: second, ..on("a") });
        cluster.release(1, &lock("a"), fence);
        assert_eq!((cluster.holders(&lock("a")), cluster.waiters(&lock("a"))), (vec![2], vec![1]));
    }
}

/// A permit that is freed is granted with a larger fence; the other slots' fences stay valid.
#[test]
fn the_fences_of_one_slot_rise_and_say_nothing_of_another() {
    let mut cluster = Cluster::with_sessions(3);
    let permit = || Acquire::of(lock("p"), Mode::Permits(2));
    let first = cluster.enter(1, permit());
    let other = cluster.enter(2, permit());
    cluster.release(1, &lock("p"), first);
    let (_, answer) = cluster.acquire(3, permit());
    let Answer::Granted(grants) = answer else { panic!("{answer:?}") };
    assert_eq!(grants[0].inside.slot, 0);
    assert!(grants[0].inside.fence > first);
    assert!(cluster.table.verify(&lock("p"), other, Some(id(2))));
}

/// A late keepalive, sent before the request, does not know it: nothing is withdrawn.
#[test]
fn a_keepalive_that_was_overtaken_by_an_acquire_withdraws_nothing() {
    let mut cluster = Cluster::with_sessions(1);
    let (request, _) = cluster.acquire(1, on("a"));
    let open = Some(OpenRequests { as_of: request, requests: Vec::new() });
    let late = Renewal { session: id(1), at: NodeId(0), open };
    cluster.apply(Change::Renew(vec![late]));
    assert_eq!(cluster.holders(&lock("a")), [1]);
}

/// An old log, applied by a later build, must give what it gave. So the first state never changes:
/// other rules and other limits come by changes.
#[test]
fn a_table_begins_the_same_in_every_build() {
    assert_eq!(Table::new(Floor(0)).state_hash(), 12_892_992_972_119_364_290);
}

/// The version of the rules only rises; an older one changes nothing.
#[test]
fn the_version_of_the_rules_never_falls() {
    let mut cluster = Cluster::with_sessions(1);
    let later = VERSION + 1;
    assert_eq!(cluster.apply(Change::RaiseVersion(later)).answer, Answer::Done);
    let answer = cluster.apply(Change::RaiseVersion(VERSION)).answer;
    assert_eq!(refused(&answer), &Refusal::Senseless(Senseless::Version));
    assert_eq!(cluster.table.version(), later);
}

/// The answer to a grant was lost. The lock is then taken by force, its time is over, and the next
/// is inside when the first asks again: it must not hear of its grant now.
#[test]
fn a_grant_that_has_ended_is_not_told_to_who_asks_again() {
    let ask = Change::Ask(Ask::new(id(2), RequestId(9), Body::Acquire(on("a").waiting(60_000))));
    let granted_unheard = || {
        let mut cluster = Cluster::with_sessions(3);
        let fence = cluster.enter(1, on("a"));
        cluster.apply(ask.clone());
        cluster.queue(3, on("a"));
        cluster.release(1, &lock("a"), fence);
        assert_eq!(cluster.holders(&lock("a")), [2]);
        cluster
    };
    let mut forced = granted_unheard();
    forced.apply(Change::Force(Force::of(lock("a"), Fence(u64::MAX))));
    forced.after(10_000, Change::Tick);
    let mut cancelled = granted_unheard();
    cancelled.ask(2, Body::cancel(RequestId(9)));
    for mut cluster in [forced, cancelled] {
        assert_eq!(cluster.holders(&lock("a")), [3]);
        assert_eq!(refused(&cluster.apply(ask.clone()).answer), &Refusal::Withdrawn);
        assert_eq!(cluster.holders(&lock("a")), [3]);
    }
}

/// The answer to a grant was lost, and force took it away: its holder would enter without knowing
/// that its time is nearly over.
#[test]
fn a_grant_that_was_taken_away_is_not_told_to_who_asks_again() {
    let mut cluster = Cluster::with_sessions(1);
    let ask = Change::Ask(Ask::new(id(1), RequestId(9), Body::Acquire(on("a"))));
    cluster.apply(ask.clone());
    assert!(cluster.apply(ask.clone()).answer.fence().is_some());
    cluster.after(1_000, Change::Force(Force::of(lock("a"), Fence(u64::MAX))));
    let late = cluster.after(9_900, ask).answer;
    assert_eq!(refused(&late), &Refusal::Withdrawn);
    assert_eq!(cluster.holders(&lock("a")), [1], "it is still its own until it ends");
}

/// A write waits at a node that stands still; its client repeats it at another, and writes again.
/// When the first node goes on, the value must not fall back.
#[test]
fn a_write_that_comes_late_does_not_undo_a_later_one() {
    for lowest_open in [0, 12] {
        let mut cluster = Cluster::with_sessions(1);
        let fence = cluster.enter(1, on("a"));
        let put = |request: u64, value: &str| {
            let body = Body::Put(Put { name: "a".into(), fence, value: Some(value.into()) });
            let lowest_open = RequestId(lowest_open).min(RequestId(request));
            Change::Ask(Ask { lowest_open, ..Ask::new(id(1), RequestId(request), body) })
        };
        assert_eq!(cluster.apply(put(11, "first")).answer, Answer::Done);
        assert_eq!(cluster.apply(put(12, "second")).answer, Answer::Done);
        cluster.apply(put(11, "first")); // Answered as before, or no longer known.
        let value = cluster.table.value("a").and_then(|value| value.value.clone());
        assert_eq!(value.as_deref(), Some("second"));
    }
}

/// Force is for whoever was seen. It may come late, or twice, and find the next one inside.
#[test]
fn force_is_void_for_who_was_let_in_later() {
    let mut cluster = Cluster::with_sessions(2);
    let seen = cluster.enter(1, on("a"));
    cluster.queue(2, on("a"));
    let force = Change::Force(Force { now: true, ..Force::of(lock("a"), seen) });
    assert!(matches!(cluster.apply(force.clone()).answer, Answer::Forced(_)));
    assert_eq!(refused(&cluster.apply(force).answer), &Refusal::NotHolder);
    assert_eq!(cluster.holders(&lock("a")), [2]);
}

/// A leadership has ended, and others still stand: its fence must not make the first write.
#[test]
fn a_value_that_was_never_written_refuses_who_led_before() {
    let mut cluster = Cluster::with_sessions(2);
    let stale = cluster.enter(1, Acquire::campaign("a", "one"));
    let election = Resource::election("a");
    cluster.queue(2, Acquire::campaign("a", "two"));
    cluster.release(1, &election, stale);
    let put = |fence| Change::Put(Put { name: "a".into(), fence, value: Some("x".into()) });
    let at_least = Fence(stale.0 + 1);
    assert_eq!(refused(&cluster.apply(put(stale)).answer), &Refusal::StaleFence { at_least });
    let leads = cluster.table.latest_fence(&election).expect("somebody leads");
    assert_eq!(cluster.apply(put(leads)).answer, Answer::Done);
}

/// Of several locks that were granted together, and whose answer was lost, force takes one at once.
/// Who asks again must not hear that it has all of them.
#[test]
fn a_grant_of_which_a_part_has_ended_is_not_told_to_who_asks_again() {
    let mut cluster = Cluster::with_sessions(2);
    let both = on("a").and(lock("b"), Mode::Exclusive);
    let ask = Change::Ask(Ask::new(id(1), RequestId(9), Body::Acquire(both)));
    cluster.apply(ask.clone());
    cluster.queue(2, on("a"));
    let force = Force::of(lock("a"), Fence(u64::MAX));
    cluster.apply(Change::Force(Force { now: true, ..force }));
    assert_eq!(cluster.holders(&lock("a")), [2]);
    assert_eq!(refused(&cluster.apply(ask).answer), &Refusal::Withdrawn);
}

fn put(name: &str, fence: Fence) -> Change {
    Change::Put(Put { name: name.into(), fence, value: Some("v".into()) })
}

/// A lock is held when the election of the same name comes and goes: who led then is late, and who
/// holds the lock is not.
#[test]
fn a_value_refuses_who_led_an_election_that_is_forgotten_while_the_lock_is_held() {
    let mut cluster = Cluster::with_sessions(2);
    let alice = cluster.enter(1, on("db"));
    let carol = cluster.enter(2, Acquire::campaign("db", ""));
    cluster.release(2, &Resource::election("db"), carol);
    let late = cluster.apply(put("db", carol)).answer;
    assert!(matches!(refused(&late), Refusal::StaleFence { .. }), "{late:?}");
    assert_eq!(cluster.apply(put("db", alice)).answer, Answer::Done);
}

/// One of those who share a lock, or have a permit of it, has left: the others are still inside.
#[test]
fn a_value_takes_its_first_fence_from_any_who_is_inside() {
    let shared = || Acquire::of(lock("v"), Mode::Shared);
    let permit = || Acquire::of(lock("v"), Mode::Permits(2));
    for (acquire, leaves) in [(shared(), 1), (permit(), 2)] {
        let mut cluster = Cluster::with_sessions(2);
        let fences = [1, 2].map(|session| cluster.enter(session, acquire.clone()));
        let stays = 3 - leaves;
        cluster.release(leaves, &lock("v"), fences[usize::from(leaves) - 1]);
        let fence = fences[usize::from(stays) - 1];
        assert_eq!(cluster.apply(put("v", fence)).answer, Answer::Done, "{acquire:?}");
    }
}

/// Who shared a lock and then had it alone gives back the latter: it is still inside by the former.
#[test]
fn a_fence_is_verified_as_long_as_what_it_was_told_for_is_there() {
    let mut cluster = Cluster::with_sessions(1);
    let shared = cluster.enter(1, Acquire::of(lock("a"), Mode::Shared).owned_by("x"));
    let alone = cluster.enter(1, on("a").owned_by("x"));
    assert!(cluster.table.verify(&lock("a"), shared, None));
    assert!(cluster.table.verify(&lock("a"), alone, None));
    cluster.release(1, &lock("a"), alone);
    assert!(cluster.table.verify(&lock("a"), shared, None));
    assert!(!cluster.table.verify(&lock("a"), alone, None), "it was given back");
}

/// What force has taken away ends with whatever change comes when its time is up.
#[test]
fn every_end_of_a_hold_says_why() {
    let why = |applied: Applied| {
        applied.notices.iter().filter_map(Notice::ended).map(|ended| ended.why).collect::<Vec<_>>()
    };
    let mut cluster = Cluster::with_sessions(2);
    cluster.enter(1, on("a"));
    let other = cluster.enter(2, on("b"));
    cluster.apply(Change::Force(Force::of(lock("a"), Fence(u64::MAX))));
    cluster.now += 10_000;
    let ended = why(cluster.release(2, &lock("b"), other));
    assert_eq!(ended, [HoldEnd::Revoked, HoldEnd::Released]);
    cluster.enter(2, on("b"));
    let closed = why(cluster.apply(Change::End { session: id(2) }));
    assert_eq!(closed, [HoldEnd::Session(SessionEnd::Closed)]);
}
