use super::*;
use AnyRequest::Acquire;

fn release(bench: &mut Bench, fence: u64, id: &str) -> Answer<api::Released> {
    let request_id = Some(id.to_string());
    let session = "a".to_string();
    let request = api::Release { session, fence, request_id, ..api::Release::default() };
    bench.now(|reply| Command::Release { name: "x".to_string(), request, reply })
}

#[test]
fn a_repeat_waits_with_its_first_and_both_are_answered() {
    let mut bench = Bench::new();
    bench.session("a");
    let mut first = bench.acquire_as("x", acquire("a", 5_000, Some("r")));
    let mut repeat = bench.acquire_as("x", acquire("a", 5_000, Some("r")));
    assert_eq!(bench.lock("x").waiters.len(), 1);
    bench.enter("x", 1);
    assert_eq!(granted(&mut first), granted(&mut repeat));
    assert_eq!(bench.lock("x").entries, Some(1));
}

#[test]
fn a_repeat_of_a_granted_request_holds_no_more_than_once() {
    let mut bench = Bench::new();
    bench.session("a");
    drop(bench.acquire_as("x", acquire("a", 5_000, Some("r"))));
    bench.enter("x", 1);
    for _ in 0..3 {
        let grant = granted(&mut bench.acquire_as("x", acquire("a", 5_000, Some("r"))));
        assert_eq!((grant.fence, grant.holds, grant.released), (1, 1, false));
    }
    assert_eq!(bench.asked("x"), [Acquire]);
}

#[test]
fn a_repeat_after_the_release_gets_the_old_result_marked() {
    let mut bench = Bench::new();
    bench.session("a");
    drop(bench.acquire_as("x", acquire("a", 5_000, Some("r"))));
    bench.enter("x", 1);
    assert_eq!(release(&mut bench, 1, "s").expect("held").holds, 0);
    assert_eq!(release(&mut bench, 1, "s").expect("the same again").holds, 0);
    assert_eq!(code(release(&mut bench, 1, "t")), "not_holder");
    let old = granted(&mut bench.acquire_as("x", acquire("a", 5_000, Some("r"))));
    assert_eq!((old.fence, old.released), (1, true));
    assert_eq!(bench.lock("x").state, "free");
}

#[test]
fn the_same_id_at_another_lock_is_another_request() {
    let mut bench = Bench::new();
    bench.session("a");
    drop(bench.acquire_as("x", acquire("a", 5_000, Some("r"))));
    bench.enter("x", 1);
    let mut other = bench.acquire_as("y", acquire("a", 5_000, Some("r")));
    assert!(waits(&mut other));
    assert_eq!(bench.asked("y"), [Acquire]);
}

#[test]
fn a_request_that_came_to_nothing_can_be_made_again() {
    let mut bench = Bench::new();
    bench.session("a");
    let mut late = bench.acquire_as("x", acquire("a", 1_000, Some("r")));
    bench.pass(1_300);
    assert_eq!(refused(&mut late).error.code.as_str(), "timeout");
    let mut anew = bench.acquire_as("x", acquire("a", 1_000, Some("r")));
    assert!(waits(&mut anew));
}

#[test]
fn a_repeated_opening_gets_the_same_session_until_it_ends() {
    let mut bench = Bench::new();
    let open = |bench: &mut Bench, id: &str| {
        let request_id = Some("0123456789abcdef".to_string());
        let request = api::NewSession { request_id, ..api::NewSession::default() };
        let id = id.to_string();
        bench.now(|reply| Command::OpenSession { request, id, reply }).expect("room").session
    };
    assert_eq!(open(&mut bench, "one"), "one");
    assert_eq!(open(&mut bench, "two"), "one");
    let session = "one".to_string();
    bench.now(|reply| Command::CloseSession { session, reply }).expect("there");
    assert_eq!(open(&mut bench, "three"), "three");
}

#[test]
fn the_id_of_an_opening_tells_nobody_else_the_session() {
    let mut bench = Bench::new();
    let mut open = |label: &str, id: &str| {
        let (label, request_id) = (Some(label.to_string()), Some(id.to_string()));
        let request = api::NewSession { label, request_id, ..api::NewSession::default() };
        bench.now(|reply| Command::OpenSession { request, id: "secret".to_string(), reply })
    };
    open("mine", "0123456789abcdef").expect("room");
    assert_eq!(code(open("yours", "0123456789abcdef")), "conflict");
    assert_eq!(code(open("mine", "1")), "bad_request");
}

#[test]
fn what_nobody_took_note_of_is_withdrawn_alone() {
    let mut bench = Bench::new();
    bench.session("a");
    drop(bench.acquire_as("x", acquire("a", 60_000, Some("lost"))));
    let mut heard = bench.acquire_as("x", acquire("a", 60_000, Some("heard")));
    bench.enter("x", 1);
    assert_eq!(granted(&mut heard).holds, 2);
    bench.pass(5_001);
    assert_eq!(bench.lock("x").state, "held");
    assert_eq!(release(&mut bench, 1, "s").expect("held").holds, 0);
    assert_eq!(bench.lock("x").state, "free");
}

#[test]
fn a_repeat_of_what_was_given_back_is_marked_though_the_session_is_still_inside() {
    let mut bench = Bench::new();
    bench.session("a");
    let _outer = bench.acquire_as("x", acquire("a", 60_000, Some("outer")));
    bench.enter("x", 1);
    let mut inner = bench.acquire_as("x", acquire("a", 0, Some("inner")));
    assert_eq!(granted(&mut inner).holds, 2);
    assert_eq!(release(&mut bench, 1, "s").expect("held").holds, 1);
    for (id, given_back) in [("inner", true), ("outer", false)] {
        let grant = granted(&mut bench.acquire_as("x", acquire("a", 0, Some(id))));
        assert_eq!(grant.released, given_back, "{id}");
    }
}

#[test]
fn a_release_with_the_id_of_a_request_gives_back_what_that_led_to() {
    let mut bench = Bench::new();
    bench.session("a");
    let _outer = bench.acquire_as("x", acquire("a", 60_000, Some("outer")));
    bench.enter("x", 1);
    let mut inner = bench.acquire_as("x", acquire("a", 0, Some("inner")));
    assert_eq!(granted(&mut inner).holds, 2);
    assert_eq!(release(&mut bench, 1, "outer").expect("held").holds, 1);
    for (id, given_back) in [("inner", false), ("outer", true)] {
        let grant = granted(&mut bench.acquire_as("x", acquire("a", 0, Some(id))));
        assert_eq!(grant.released, given_back, "{id}");
    }
}
