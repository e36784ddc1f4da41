use super::*;
use AnyRequest::{Acquire, Cancel, Release};

#[test]
fn waiters_enter_in_order_and_each_entry_is_one_of_the_machine() {
    let mut bench = Bench::new();
    bench.sessions(&["a", "b", "c"]);
    let mut answers = ["a", "b", "c"].map(|id| bench.acquire("x", id, 60_000));
    assert_eq!(bench.asked("x"), [Acquire], "the others ask after the release");
    for (turn, id) in (0..).zip(["a", "b", "c"]) {
        let fence = 10 + turn as u64;
        bench.enter("x", fence);
        assert_eq!(granted(&mut answers[turn]).fence, fence);
        for later in &mut answers[turn + 1..] {
            assert!(waits(later));
        }
        assert_eq!(bench.release("x", id, fence).expect("held").holds, 0);
        let next: &[AnyRequest] = if turn < 2 { &[Release, Acquire] } else { &[Release] };
        assert_eq!(bench.asked("x"), next);
    }
}

#[test]
fn nothing_is_answered_before_it_is_on_disk() {
    let mut bench = Bench::new();
    bench.session("a");
    let mut answer = bench.acquire("x", "a", 1_000);
    bench.desk.told(&lock_key("x"), AnyIndication::Entered { fence: 1 }, &mut bench.host);
    assert!(waits(&mut answer), "the step is not on disk yet");
    bench.commit();
    assert_eq!(granted(&mut answer).fence, 1);
}

#[test]
fn the_last_to_wait_cancels_and_is_told_so_only_then() {
    let mut bench = Bench::new();
    bench.session("a");
    let mut answer = bench.acquire("x", "a", 1_000);
    bench.pass(999);
    assert!(waits(&mut answer));
    assert_eq!(bench.asked("x"), [Acquire]);
    bench.host.now = bench.host.now + Ticks::units(2);
    bench.desk.wake(&mut bench.host);
    assert_eq!(bench.asked("x"), [Cancel]);
    assert!(waits(&mut answer), "the cancel is not on disk yet");
    bench.commit();
    let refusal = refused(&mut answer);
    assert_eq!((refusal.error.code.as_str(), refusal.position), ("timeout", Some(1)));
}

#[test]
fn a_grant_that_comes_first_is_the_answer() {
    let mut bench = Bench::new();
    bench.session("a");
    let mut answer = bench.acquire("x", "a", 1_000);
    bench.pass(900);
    bench.enter("x", 5);
    bench.pass(900);
    assert_eq!(granted(&mut answer).fence, 5);
    assert_eq!(bench.lock("x").state, "held");
}

#[test]
fn who_waits_behind_takes_over_the_place_of_one_who_leaves() {
    let mut bench = Bench::new();
    bench.sessions(&["a", "b"]);
    let mut first = bench.acquire("x", "a", 1_000);
    let mut second = bench.acquire("x", "b", 9_000);
    bench.pass(1_500);
    assert_eq!(refused(&mut first).error.code.as_str(), "timeout");
    assert_eq!(bench.asked("x"), [Acquire], "the machine goes on waiting");
    bench.enter("x", 1);
    assert_eq!(granted(&mut second).waited_ms, 1_500);
}

#[test]
fn a_closed_connection_is_no_reason_to_leave() {
    let mut bench = Bench::new();
    bench.sessions(&["a", "b"]);
    drop(bench.acquire_as("x", acquire("a", 9_000, Some("r"))));
    bench.pass(500);
    assert_eq!(bench.lock("x").waiters.len(), 1);
    bench.enter("x", 7);
    let mut repeat = bench.acquire_as("x", acquire("a", 9_000, Some("r")));
    assert_eq!(granted(&mut repeat).fence, 7, "claimed by its repeat");
    bench.pass(8_000);
    assert_eq!(bench.lock("x").state, "held");
}

#[test]
fn a_grant_that_nobody_claims_is_withdrawn() {
    let mut bench = Bench::new();
    bench.sessions(&["a", "b"]);
    drop(bench.acquire_as("x", acquire("a", 9_000, Some("r"))));
    let mut next = bench.acquire("x", "b", 60_000);
    bench.enter("x", 7);
    bench.pass(4_900);
    assert_eq!(bench.asked("x"), [Acquire]);
    bench.pass(400);
    assert_eq!(bench.asked("x"), [Release, Acquire]);
    bench.enter("x", 8);
    assert_eq!(granted(&mut next).fence, 8);
    assert_eq!(code(bench.release("x", "a", 7)), "not_holder");
    let mut anew = bench.acquire_as("x", acquire("a", 9_000, Some("r")));
    assert!(waits(&mut anew), "the withdrawn request can be made again");
}

#[test]
fn the_holder_enters_again_with_the_same_fence() {
    let mut bench = Bench::new();
    bench.sessions(&["a", "b"]);
    let mut first = bench.acquire("x", "a", 1_000);
    bench.enter("x", 3);
    assert_eq!(granted(&mut first).holds, 1);
    let mut other = bench.acquire("x", "b", 5_000);
    let again = granted(&mut bench.acquire("x", "a", 0));
    assert_eq!((again.fence, again.holds), (3, 2));
    assert_eq!(bench.release("x", "a", 3).expect("held").holds, 1);
    assert_eq!(bench.asked("x"), [Acquire], "still inside");
    assert_eq!(bench.release("x", "a", 3).expect("held").holds, 0);
    assert_eq!(bench.asked("x"), [Release, Acquire]);
    assert!(waits(&mut other));
}

#[test]
fn two_requests_of_one_session_enter_together() {
    let mut bench = Bench::new();
    bench.sessions(&["a", "b"]);
    let mut answers = ["a", "b", "a"].map(|id| bench.acquire("x", id, 5_000));
    bench.enter("x", 3);
    assert_eq!(granted(&mut answers[0]).holds, 1);
    assert_eq!(granted(&mut answers[2]).holds, 2, "it would wait for itself otherwise");
    assert!(waits(&mut answers[1]));
}

#[test]
fn who_does_not_want_to_wait_is_told_at_once_that_it_is_held() {
    let mut bench = Bench::new();
    bench.sessions(&["a", "b"]);
    let _answer = bench.acquire("x", "a", 5_000);
    bench.enter("x", 3);
    let refusal = refused(&mut bench.acquire("x", "b", 0));
    assert_eq!(refusal.error.code.as_str(), "held");
    assert_eq!(refusal.holders[0].label, "label of a");
    assert!(refusal.error.retry);
}

#[test]
fn a_free_lock_can_be_had_without_waiting() {
    let mut bench = Bench::new();
    bench.session("a");
    let mut answer = bench.acquire("x", "a", 0);
    bench.pass(100);
    bench.enter("x", 1);
    assert_eq!(granted(&mut answer).fence, 1, "the algorithm had its moment");
    bench.release("x", "a", 1).expect("held");
    let mut answer = bench.acquire("x", "a", 0);
    bench.pass(600);
    assert_eq!(refused(&mut answer).error.code.as_str(), "held", "but no more than that");
}

#[test]
fn a_fence_is_valid_while_it_is_that_of_the_holder() {
    let mut bench = Bench::new();
    bench.session("a");
    let _answer = bench.acquire("x", "a", 5_000);
    bench.enter("x", 3);
    let verify = |bench: &mut Bench, fence| {
        let name = "x".to_string();
        bench
            .show(|reply| Question::Verify { name, request: verify(fence), reply })
            .expect("an answer")
    };
    assert!(verify(&mut bench, 3).valid);
    assert!(!verify(&mut bench, 2).valid);
    bench.release("x", "a", 3).expect("held");
    let after = verify(&mut bench, 3);
    assert_eq!((after.valid, after.latest, &*after.scope), (false, Some(3), "node"));
}

#[test]
fn force_takes_a_lock_away_and_is_written_down() {
    let mut bench = Bench::new();
    bench.sessions(&["a", "b"]);
    let _answer = bench.acquire("x", "a", 5_000);
    bench.enter("x", 3);
    let mut next = bench.acquire("x", "b", 5_000);
    let force = |reply| Command::Force {
        name: "x".to_string(),
        request: api::Force { reason: "it hangs".to_string(), now: false },
        reply,
    };
    let forced = bench.now(force).expect("held");
    assert_eq!((forced.holder.fence, &*forced.safety), (3, "fence-only"));
    assert_eq!(bench.asked("x"), [Acquire, Release, Acquire]);
    bench.enter("x", 4);
    assert_eq!(granted(&mut next).fence, 4);
    assert_eq!(code(bench.release("x", "a", 3)), "not_holder");
    assert!(bench.events().contains(&"forced".to_string()));
    bench.release("x", "b", 4).expect("held");
    assert_eq!(code(bench.now(force)), "not_found");
}

#[test]
fn a_machine_is_asked_for_what_is_left_to_want_when_all_has_happened() {
    let mut bench = Bench::new();
    bench.session_for("a", 2_000);
    bench.session_for("b", 60_000);
    let _answer = bench.acquire("x", "a", 1_000);
    bench.enter("x", 1);
    let mut late = bench.acquire("x", "b", 2_000);
    assert_eq!(bench.asked("x"), [Acquire]);
    bench.stall(400);
    bench.stall(400);
    bench.stall(400);
    bench.stall(400);
    bench.stall(400); // The session of the holder and the patience of the waiter end together.
    assert_eq!(refused(&mut late).error.code.as_str(), "timeout");
    assert_eq!(bench.asked("x"), [Release], "asked to enter, it might be inside before the cancel");
}

#[test]
fn lists_come_in_pages() {
    let mut bench = Bench::new();
    bench.session("a");
    let _answers = ["c", "a", "b"].map(|name| bench.acquire(name, "a", 60_000));
    let mut page = |limit, after: Option<&str>| {
        let after = after.map(str::to_string);
        let page = api::Page { limit: Some(limit), after, ..api::Page::default() };
        let listed = bench.show(|reply| Question::Locks { page, reply })?;
        let names: Vec<String> = listed.locks.into_iter().map(|lock| lock.name).collect();
        Ok::<_, Refusal>((names.join(" "), listed.next))
    };
    assert_eq!(page(2, None), Ok(("a b".to_string(), Some("b".to_string()))));
    assert_eq!(page(2, Some("b")), Ok(("c".to_string(), None)));
    assert_eq!(page(3, None), Ok(("a b c".to_string(), None)), "nothing comes after it");
    assert_eq!(page(1, Some("bb")), Ok(("c".to_string(), None)), "a name that nobody uses");
    assert!(page(0, None).is_err() && page(1_001, None).is_err() && page(1, Some("")).is_err());
}

#[test]
fn lists_are_searched_and_sorted_and_sessions_are_listed() {
    let mut bench = Bench::new();
    bench.sessions(&["a", "b"]);
    let _held = bench.acquire("team/x", "a", 60_000);
    bench.enter("team/x", 1);
    bench.stall(10);
    let _also = bench.acquire("other", "a", 60_000);
    bench.enter("other", 1);
    let _waits = bench.acquire("other", "b", 60_000);
    let mut names = |search: Option<&str>, sort| {
        let search = search.map(str::to_string);
        let page = api::Page { search, sort, ..api::Page::default() };
        let listed = bench.show(|reply| Question::Locks { page, reply }).expect("a list");
        assert_eq!(listed.next, None);
        let names: Vec<String> = listed.locks.into_iter().map(|lock| lock.name).collect();
        names.join(" ")
    };
    assert_eq!(names(None, api::Order::Name), "other team/x");
    assert_eq!(names(None, api::Order::Held), "team/x other");
    assert_eq!(names(None, api::Order::Waiters), "other team/x");
    assert_eq!(names(Some("am/"), api::Order::Name), "team/x");
    let mut sessions = |limit, search: Option<&str>| {
        let search = search.map(str::to_string);
        let page = api::SessionPage { limit: Some(limit), search, stale: false };
        bench.show(|reply| Question::Sessions { page, reply }).expect("a list")
    };
    let all = sessions(10, None);
    let busy: Vec<(u64, u64)> = all.sessions.iter().map(|one| (one.holds, one.waits)).collect();
    assert_eq!((busy, all.total), (vec![(2, 0), (0, 1)], 2));
    let one = sessions(1, None);
    assert_eq!((one.sessions.len(), one.total), (1, 2));
    assert_eq!(sessions(10, Some("nobody has this label")).total, 0);
}
