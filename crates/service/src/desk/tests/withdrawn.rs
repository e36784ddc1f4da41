use super::*;
use AnyRequest::{Acquire, Cancel};

fn withdraw(bench: &mut Bench, kind: Kind, session: &str, id: &str) -> Answer<api::Withdrawn> {
    let session = session.to_string();
    let request = api::Withdraw { session, ..api::Withdraw::default() };
    let (name, request_id) = ("x".to_string(), id.to_string());
    bench.now(|reply| Command::Withdraw { kind, name, request_id, request, reply })
}

#[test]
fn who_withdraws_leaves_the_line_at_once() {
    let mut bench = Bench::new();
    bench.sessions(&["a", "b", "c"]);
    let mut first = bench.acquire("x", "a", 60_000);
    bench.enter("x", 1);
    assert_eq!(granted(&mut first).fence, 1);
    let mut second = bench.acquire_as("x", acquire("b", 60_000, Some("two")));
    let mut third = bench.acquire_as("x", acquire("c", 60_000, Some("three")));
    assert_eq!(withdraw(&mut bench, Kind::Lock, "b", "two").expect("it waits").position, 1);
    assert_eq!(refused(&mut second).error.code.as_str(), "withdrawn");
    assert!(waits(&mut third));
    assert_eq!(bench.lock("x").waiters[0].label, "label of c");
    let unknown = [("b", "two"), ("b", "three"), ("c", "two")];
    for (session, id) in unknown {
        assert_eq!(code(withdraw(&mut bench, Kind::Lock, session, id)), "not_found");
    }
    assert_eq!(code(withdraw(&mut bench, Kind::Lock, "d", "two")), "no_session");
}

#[test]
fn the_last_who_withdraws_cancels() {
    let mut bench = Bench::new();
    bench.session("a");
    let _answer = bench.acquire_as("x", acquire("a", 60_000, Some("one")));
    withdraw(&mut bench, Kind::Lock, "a", "one").expect("it waits");
    assert_eq!(bench.asked("x"), [Acquire, Cancel]);
}

#[test]
fn what_was_granted_first_stays_granted() {
    let mut bench = Bench::new();
    bench.session("a");
    let mut answer = bench.acquire_as("x", acquire("a", 60_000, Some("one")));
    bench.enter("x", 7);
    assert_eq!(code(withdraw(&mut bench, Kind::Lock, "a", "one")), "granted");
    assert_eq!(granted(&mut answer).fence, 7);
    assert_eq!(bench.lock("x").state, "held");
}

#[test]
fn a_candidate_can_withdraw_too_and_elections_are_listed() {
    let mut bench = Bench::new();
    bench.tell("election", AnyIndication::Elected { leader: NodeId(0), term: 3 });
    bench.pass(5_000); // Until nobody can lead elsewhere any more.
    ["a", "b"].into_iter().for_each(|id| bench.session_for(id, 3_000));
    let mut stand = |session: &str| {
        let (request, name) = (acquire(session, 60_000, Some(session)), "x".to_string());
        let (reply, answer) = oneshot::channel();
        bench.command(Command::Campaign { name, request, reply });
        bench.commit();
        answer
    };
    let (_leads, mut stands) = (stand("a"), stand("b"));
    let listed = bench
        .show(|reply| Question::Elections { page: api::Page::default(), reply })
        .expect("a list")
        .elections;
    assert_eq!((listed.len(), &*listed[0].name, listed[0].candidates.len()), (1, "x", 1));
    withdraw(&mut bench, Kind::Election, "b", "b").expect("it stands");
    assert_eq!(refused(&mut stands).error.code.as_str(), "withdrawn");
}

#[test]
fn the_estimate_is_the_place_times_the_usual_hold() {
    let mut bench = Bench::new();
    bench.sessions(&["a", "b", "c"]);
    for (fence, held) in [(1, 2_000), (2, 4_000)] {
        let mut answer = bench.acquire("x", "a", 60_000);
        bench.enter("x", fence);
        assert_eq!(granted(&mut answer).fence, fence);
        assert!(bench.acquire("x", "b", 0).try_recv().expect("at once").is_err());
        for _ in 0..held / 250 {
            bench.pass(250);
            let session = "a".to_string();
            bench
                .now(|reply| Command::KeepAlive { session, request: Default::default(), reply })
                .expect("it lives");
        }
        bench.release("x", "a", fence).expect("held");
    }
    let _holds = bench.acquire("x", "a", 60_000);
    bench.enter("x", 3);
    let mut answers = ["b", "c"].map(|session| bench.acquire("x", session, 1_000));
    let waiters = bench.lock("x").waiters;
    let estimates: Vec<_> = waiters.iter().map(|waiter| waiter.eta_ms).collect();
    assert_eq!(estimates, [Some(3_000), Some(6_000)]);
    bench.pass(1_001);
    let refusal = refused(&mut answers[1]);
    assert_eq!((refusal.position, refusal.eta_ms), (Some(2), Some(6_000)));
    assert_eq!(refusal.waited_ms, Some(1_000));
}

#[test]
fn who_hung_up_without_an_id_is_passed_over() {
    let mut bench = Bench::new();
    bench.sessions(&["a", "b", "c"]);
    drop(bench.acquire("x", "a", 60_000));
    drop(bench.acquire_as("x", acquire("b", 60_000, Some("two"))));
    let mut third = bench.acquire("x", "c", 60_000);
    bench.enter("x", 1);
    let lock = bench.lock("x");
    let holder = lock.holder.expect("held").label;
    assert_eq!(holder, "label of b", "one with an id may ask again");
    assert_eq!(lock.waiters.len(), 1);
    assert!(waits(&mut third));
}

#[test]
fn when_all_have_hung_up_the_lock_is_given_back_at_once() {
    let mut bench = Bench::new();
    bench.session("a");
    drop(bench.acquire("x", "a", 60_000));
    bench.enter("x", 1);
    assert_eq!(bench.asked("x"), [Acquire, AnyRequest::Release]);
    assert_eq!(bench.lock("x").holder, None);
}

#[test]
fn who_hung_up_without_an_id_is_neither_listed_nor_counted() {
    let mut bench = Bench::new();
    bench.sessions(&["a", "b", "c", "d"]);
    let _holds = bench.acquire("x", "a", 60_000);
    bench.enter("x", 1);
    drop(bench.acquire("x", "b", 60_000));
    let mut third = bench.acquire("x", "c", 1_000);
    let waiters = bench.lock("x").waiters;
    let shown: Vec<_> = waiters.iter().map(|it| (&*it.label, it.position)).collect();
    assert_eq!(shown, [("label of c", 1)]);
    drop(bench.acquire("x", "d", 60_000));
    let page = api::Page::default();
    let listed = bench.show(|reply| Question::Locks { page, reply }).expect("a list").locks;
    assert_eq!(listed[0].waiters.len(), 1);
    drop(bench.acquire("x", "d", 60_000));
    let metrics = bench.show(|reply| Question::Metrics { reply }).expect("metrics");
    assert!(metrics.contains("conclave_waiters 1\n"), "{metrics}");
    drop(bench.acquire("x", "d", 60_000));
    bench.pass(1_001);
    assert_eq!(refused(&mut third).position, Some(1));
}

#[test]
fn a_lock_that_all_who_wait_for_have_hung_up_is_not_waited_for() {
    let mut bench = Bench::new();
    bench.session("a");
    drop(bench.acquire("x", "a", 60_000));
    assert_eq!(bench.lock("x").state, "free");
    assert_eq!(bench.asked("x"), [Acquire, Cancel]);
}
