use super::*;
use AnyRequest::{Acquire, Cancel, Release};

fn keep_alive(bench: &mut Bench, id: &str) -> Answer<api::Session> {
    let session = id.to_string();
    bench.now(|reply| Command::KeepAlive { session, request: Default::default(), reply })
}

#[test]
fn a_session_that_is_not_heard_of_ends_with_all_it_has() {
    let mut bench = Bench::new();
    bench.session_for("a", 2_000);
    bench.session_for("b", 60_000);
    let _answer = bench.acquire("held", "a", 1_000);
    bench.enter("held", 1);
    let mut waiting = bench.acquire("wanted", "a", 60_000);
    let mut next = bench.acquire("held", "b", 60_000);
    bench.pass(1_900);
    assert_eq!(bench.asked("held"), [Acquire]);
    bench.pass(400);
    assert_eq!(bench.asked("held"), [Release, Acquire]);
    assert_eq!(bench.asked("wanted"), [Acquire, Cancel]);
    assert_eq!(refused(&mut waiting).error.code.as_str(), "no_session");
    bench.enter("held", 2);
    assert_eq!(granted(&mut next).fence, 2);
    assert_eq!(code(keep_alive(&mut bench, "a")), "no_session");
    assert!(bench.events().contains(&"expired".to_string()));
}

#[test]
fn a_keepalive_gives_the_whole_life_again() {
    let mut bench = Bench::new();
    bench.session_for("a", 2_000);
    for _ in 0..5 {
        bench.pass(1_800);
        assert_eq!(keep_alive(&mut bench, "a").expect("alive").ttl_ms, 2_000);
    }
    bench.pass(2_300);
    assert_eq!(code(keep_alive(&mut bench, "a")), "no_session");
}

#[test]
fn a_stalled_node_expires_nobody() {
    let mut bench = Bench::new();
    bench.session_for("a", 2_000);
    bench.stall(60_000);
    keep_alive(&mut bench, "a").expect("it was the node that was away");
    bench.pass(1_900);
    keep_alive(&mut bench, "a").expect("alive");
}

#[test]
fn a_session_can_be_ended_and_its_secret_is_never_shown() {
    let mut bench = Bench::new();
    bench.session("secret");
    let _answer = bench.acquire("x", "secret", 1_000);
    bench.enter("x", 1);
    let shown = serde_json::to_string(&bench.lock("x")).expect("JSON");
    assert!(shown.contains("label of secret"));
    let close = |reply| Command::CloseSession { session: "secret".to_string(), reply };
    bench.now(close).expect("there");
    assert_eq!(code(bench.now(close)), "no_session");
    assert_eq!(bench.asked("x"), [Acquire, Release]);
    let feed = bench.show(|reply| Question::Events { reply }).expect("events");
    for numbered in &feed.past {
        let line = serde_json::to_string(&*numbered.event).expect("JSON");
        assert!(!line.replace("label of secret", "").contains("secret"), "{line}");
    }
    assert!(!bench.host.saved.keys().any(|key| key.starts_with("session/")));
}

#[test]
fn the_desk_sleeps_when_nothing_can_run_out() {
    let mut bench = Bench::new();
    bench.tell("election", AnyIndication::Elected { leader: NodeId(1), term: 1 });
    bench.pass(5_000);
    assert_eq!(bench.host.wake, None);
    bench.session_for("a", 1_000);
    assert!(bench.host.wake.is_some());
    bench.pass(2_000);
    assert_eq!(bench.host.wake, None);
}

#[test]
fn watchers_see_each_event_with_its_time() {
    let mut bench = Bench::new();
    let mut feed = bench.show(|reply| Question::Events { reply }).expect("events");
    bench.pass(250);
    bench.session("a");
    let event = feed.coming.try_recv().expect("an event").event;
    assert_eq!((event.at_ms, &*event.kind, event.node), (1_250, "session_opened", 1));
}

/// The engine takes a lock from who is cut off; node 3 leads.
fn leased() -> Bench {
    let config = DeskConfig {
        ttl_max: Some(Ticks::units(3_000)),
        first_leader: Some((NodeId(2), 1)),
        lock_hears: Hears::Election,
        ..config()
    };
    Bench::with(config, Survival::Returns, Vec::new(), &[])
}

#[test]
fn a_session_lives_no_longer_than_a_lease_allows() {
    let mut bench = leased();
    bench.session("a");
    assert_eq!(keep_alive(&mut bench, "a").expect("alive").ttl_ms, 3_000);
}

#[test]
fn a_holder_at_a_node_that_is_cut_off_gets_ever_less_time_and_a_waiter_all_of_it() {
    let mut bench = leased();
    bench.sessions(&["holder", "waiter"]);
    let mut grant = bench.acquire("l", "holder", 60_000);
    bench.tell("lock/l", AnyIndication::Entered { fence: 7 });
    granted(&mut grant);
    let _waits = bench.acquire("l", "waiter", 60_000);
    bench.tell("detector", AnyIndication::Suspect(NodeId(2)));
    bench.pass(1_000);
    assert_eq!(keep_alive(&mut bench, "holder").expect("alive").ttl_ms, 2_000);
    assert_eq!(keep_alive(&mut bench, "waiter").expect("alive").ttl_ms, 3_000);
    bench.pass(2_000);
    assert_eq!(keep_alive(&mut bench, "waiter").expect("alive").ttl_ms, 3_000);
    assert!(keep_alive(&mut bench, "holder").is_err());
    bench.tell("election", AnyIndication::Elected { leader: NodeId(1), term: 2 });
    assert_eq!(keep_alive(&mut bench, "waiter").expect("alive").ttl_ms, 3_000);
}

#[test]
fn a_holder_outlives_the_leader_if_another_is_elected_in_time() {
    let mut bench = leased();
    bench.session("holder");
    let mut grant = bench.acquire("l", "holder", 60_000);
    bench.tell("lock/l", AnyIndication::Entered { fence: 7 });
    granted(&mut grant);
    bench.tell("detector", AnyIndication::Suspect(NodeId(2)));
    bench.pass(2_500);
    assert_eq!(keep_alive(&mut bench, "holder").expect("alive").ttl_ms, 500);
    bench.tell("election", AnyIndication::Elected { leader: NodeId(1), term: 2 });
    assert_eq!(keep_alive(&mut bench, "holder").expect("alive").ttl_ms, 3_000);
}

#[test]
fn where_locks_have_leases_a_session_lives_no_longer_than_they_allow() {
    let config = DeskConfig { ttl_max: Some(Ticks::units(3_000)), ..config() };
    let mut bench = Bench::with(config, Survival::Returns, Vec::new(), &[]);
    let mut open = |id: &str, ttl_ms| {
        let request = api::NewSession { ttl_ms: Some(ttl_ms), ..api::NewSession::default() };
        let id = id.to_string();
        bench.now(|reply| Command::OpenSession { request, id, reply }).expect("a session").ttl_ms
    };
    assert_eq!((open("a", 60_000), open("b", 2_000)), (3_000, 2_000));
}

#[test]
fn a_session_that_is_to_end_with_its_stream_is_refused_and_not_left_to_its_ttl() {
    let mut bench = Bench::new();
    let on_disconnect = Some(api::OnDisconnect { grace_ms: 1_000 });
    let request = api::NewSession { on_disconnect, ..api::NewSession::default() };
    let id = "a".to_string();
    let refused = bench.now(|reply| Command::OpenSession { request, id, reply });
    let refused = refused.expect_err("a classic engine has no such streams");
    assert_eq!(refused.error.code.as_str(), "unsupported");
}

/// A holder of `l` at a node that takes locks from who is cut off.
fn holding() -> Bench {
    let mut bench = leased();
    bench.session("holder");
    let mut grant = bench.acquire("l", "holder", 60_000);
    bench.tell("lock/l", AnyIndication::Entered { fence: 7 });
    granted(&mut grant);
    bench
}

#[test]
fn a_node_that_was_stopped_gives_no_more_time_than_before_until_it_would_have_noticed() {
    let mut bench = holding();
    bench.pass(250);
    bench.stall(2_400);
    let left = keep_alive(&mut bench, "holder").expect("alive").ttl_ms;
    assert!((1..=600).contains(&left), "{left}");
    bench.pass(50);
    bench.stall(2_000);
    assert_eq!(code(keep_alive(&mut bench, "holder")), "unavailable");

    let mut bench = holding();
    bench.pass(250);
    bench.stall(1_000);
    let left = keep_alive(&mut bench, "holder").expect("alive").ttl_ms;
    assert!((1_000..=2_000).contains(&left), "{left}");
    bench.pass(1_001);
    assert_eq!(keep_alive(&mut bench, "holder").expect("alive").ttl_ms, 3_000);
}

#[test]
fn who_is_not_heard_by_the_leader_is_cut_off_though_it_hears_it() {
    let mut bench = holding();
    bench.host.peers.insert(NodeId(2), Peer::default());
    bench.desk.link(NodeId(2), false, &mut bench.host);
    bench.pass(1_000);
    assert_eq!(keep_alive(&mut bench, "holder").expect("alive").ttl_ms, 2_000);
    let up = Peer { connected: true, ..Peer::default() };
    bench.host.peers.insert(NodeId(2), up);
    bench.desk.link(NodeId(2), true, &mut bench.host);
    assert_eq!(keep_alive(&mut bench, "holder").expect("alive").ttl_ms, 3_000);
}
