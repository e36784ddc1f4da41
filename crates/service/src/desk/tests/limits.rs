use super::*;
use conclave_api::limits::{
    FENCE_END, HOLDS_MAX, LOCKS_MAX, LOCKS_OF_ONE_MAX, SESSIONS_MAX, VALUE_MAX, WAITERS_MAX,
    WAITERS_OF_ALL_MAX, WAITERS_OF_ONE_MAX,
};

#[test]
fn clients_name_so_many_locks_and_peers_as_many_each() {
    let mut bench = Bench::new();
    bench.session("a");
    let name = |bench: &mut Bench, numbers: std::ops::Range<usize>| {
        for number in numbers {
            let made = bench.desk.machine(&lock_key(&number.to_string()));
            assert!(made.is_some(), "a message for lock {number} would be lost");
        }
    };
    name(&mut bench, 0..LOCKS_MAX);
    let refusal = refused(&mut bench.acquire("one-more", "a", 0));
    assert_eq!(refusal.error.code.as_str(), "too_many");
    assert_eq!(refusal.error.message, "this node knows 10000 locks, and forgets none");
    assert!(!refusal.error.retry, "however long one waits");
    assert!(waits(&mut bench.acquire("7", "a", 1_000)), "known ones go on");
    name(&mut bench, LOCKS_MAX..3 * LOCKS_MAX);
    assert!(waits(&mut bench.acquire("29999", "a", 1_000)), "and so do those of others");
    assert_eq!(refused(&mut bench.acquire("one-more", "a", 0)).error.code.as_str(), "too_many");
    assert!(bench.desk.machine(&lock_key("one-more")).is_none(), "three nodes have no more");
    assert!(bench.desk.machine(&Key::from("lock/no name")).is_none());
}

#[test]
fn a_node_keeps_so_many_sessions_and_no_more() {
    let mut bench = Bench::new();
    for number in 0..SESSIONS_MAX {
        bench.session(&number.to_string());
    }
    let request = api::NewSession::default();
    let id = "one-more".to_string();
    let refusal = bench.now(|reply| Command::OpenSession { request, id, reply });
    let refusal = refusal.expect_err("full").error;
    assert_eq!((refusal.code.as_str(), refusal.retry), ("too_many", true));
}

#[test]
fn one_session_does_not_use_up_all_names() {
    let mut bench = Bench::new();
    bench.session("greedy");
    bench.session("other");
    for number in 0..LOCKS_OF_ONE_MAX {
        assert!(waits(&mut bench.acquire(&number.to_string(), "greedy", 60_000)));
    }
    let refusal = refused(&mut bench.acquire("one-more", "greedy", 0)).error;
    assert_eq!((refusal.code.as_str(), refusal.retry), ("too_many", false));
    assert!(waits(&mut bench.acquire("7", "greedy", 60_000)), "known ones go on");
    assert!(waits(&mut bench.acquire("one-more", "other", 60_000)), "so does everybody else");
    assert!(waits(&mut bench.acquire("one-more", "greedy", 60_000)), "it is known now");
}

#[test]
fn so_many_wait_at_a_node_and_no_more() {
    let mut bench = Bench::new();
    bench.session("c");
    let mut waiting = Vec::new();
    for number in 0..WAITERS_OF_ALL_MAX / WAITERS_OF_ONE_MAX {
        let session = format!("b{number}");
        let name = format!("x{}", number % 20);
        bench.session(&session);
        let often = 0..WAITERS_OF_ONE_MAX;
        waiting.extend(often.map(|_| bench.acquire(&name, &session, 60_000)));
    }
    assert!(waiting.iter_mut().all(waits));
    let refusal = refused(&mut bench.acquire("y", "c", 60_000)).error;
    assert_eq!((refusal.code.as_str(), refusal.retry), ("too_many", true));
    bench.pass(11_000);
    bench.session("d");
    assert!(waits(&mut bench.acquire("y", "d", 60_000)), "the others' sessions have expired");
}

#[test]
fn so_many_wait_for_a_lock_and_no_more() {
    let mut bench = Bench::new();
    bench.session("a");
    let _answer = bench.acquire("x", "a", 60_000);
    bench.enter("x", 1);
    let mut waiting = Vec::new();
    for number in 0..WAITERS_MAX / WAITERS_OF_ONE_MAX {
        let session = format!("b{number}");
        bench.session(&session);
        let often = 0..WAITERS_OF_ONE_MAX;
        waiting.extend(often.map(|_| bench.acquire("x", &session, 60_000)));
        let words = refused(&mut bench.acquire("x", &session, 60_000)).error;
        assert_eq!(words.code.as_str(), "too_many");
    }
    assert!(waiting.iter_mut().all(waits));
    bench.session("c");
    assert_eq!(refused(&mut bench.acquire("x", "c", 60_000)).error.code.as_str(), "too_many");
}

#[test]
fn a_session_holds_a_lock_only_so_often() {
    let mut bench = Bench::new();
    bench.session("a");
    let _answer = bench.acquire("x", "a", 60_000);
    bench.enter("x", 1);
    for holds in 2..=HOLDS_MAX as u32 {
        assert_eq!(granted(&mut bench.acquire("x", "a", 0)).holds, holds);
    }
    assert_eq!(refused(&mut bench.acquire("x", "a", 0)).error.code.as_str(), "too_many");
    assert_eq!(bench.release("x", "a", 1).expect("held").holds, HOLDS_MAX as u32 - 1);
}

#[test]
fn a_full_outbox_blocks_new_requests() {
    let mut bench = Bench::new();
    bench.session("a");
    let full = Peer { full: true, unacknowledged: 65_536, ..Peer::default() };
    bench.host.peers.insert(NodeId(2), full);
    let refusal = refused(&mut bench.acquire("x", "a", 1_000));
    assert_eq!(refusal.error.code.as_str(), "blocked");
    let blocked = refusal.blocked_on.expect("by whom");
    assert_eq!(blocked.nodes, [3]);
    assert_eq!(blocked.message, "blocked on node 3, 65536 messages not yet acknowledged");
    assert_eq!(bench.asked("x"), []);
}

#[test]
fn what_a_classic_engine_lacks_is_refused() {
    let mut bench = Bench::new();
    bench.session("a");
    let shared = api::Acquire { mode: Some("shared".to_string()), ..acquire("a", 0, None) };
    let permits = api::Acquire { permits: Some(2), ..acquire("a", 0, None) };
    for request in [shared, permits] {
        assert_eq!(refused(&mut bench.acquire_as("x", request)).error.code.as_str(), "unsupported");
    }
    let long = api::Acquire { wait_ms: Some(3_600_001), ..acquire("a", 0, None) };
    assert_eq!(refused(&mut bench.acquire_as("x", long)).error.code.as_str(), "bad_request");
    assert_eq!(refused(&mut bench.acquire("x", "nobody", 0)).error.code.as_str(), "no_session");
    let unknown = bench.show(|reply| Question::Lock {
        name: "x".to_string(),
        look: Default::default(),
        reply,
    });
    assert_eq!(code(unknown), "not_found", "a refused request leaves nothing behind");
}

#[test]
fn a_value_that_is_too_long_or_final_is_refused() {
    let mut bench = Bench::new();
    let mut set = |value: String, fence| {
        let request = api::NewValue { value: value.into(), fence, ..api::NewValue::default() };
        bench.now(|reply| Command::SetValue { name: "v".to_string(), request, reply })
    };
    assert_eq!(code(set("x".repeat(VALUE_MAX - 1), 1)), "too_large");
    for end in [FENCE_END, u64::MAX] {
        assert_eq!(code(set("frozen".to_string(), end)), "bad_request");
    }
    assert!(set("x".repeat(VALUE_MAX - 2), 1).is_ok(), "with its quotes it just fits");
    assert!(set("last".to_string(), FENCE_END - 1).is_ok());
}

#[test]
fn values_refuse_a_stale_fence() {
    let mut bench = Bench::new();
    let set = |bench: &mut Bench, fence| {
        let request =
            api::NewValue { value: serde_json::json!(fence), fence, ..api::NewValue::default() };
        bench.now(|reply| Command::SetValue { name: "v".to_string(), request, reply })
    };
    let get = |reply| Question::Value { name: "v".to_string(), reply };
    assert_eq!(code(bench.show(get)), "not_found");
    assert_eq!(set(&mut bench, 5).expect("new").fence, 5);
    set(&mut bench, 5).expect("the same writer again");
    assert_eq!(code(set(&mut bench, 4)), "stale_fence");
    let value = bench.show(get).expect("kept");
    assert_eq!((value.value, value.node, value.replicated), (serde_json::json!(5), 1, false));
    let mut again = Bench::with(config(), Survival::Whole, bench.disk(), &[]);
    assert_eq!(again.show(get).expect("on disk").fence, 5);
}
