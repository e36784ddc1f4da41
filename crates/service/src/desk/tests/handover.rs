use super::*;

const ELECTED_ELSEWHERE: AnyIndication = AnyIndication::Elected { leader: NodeId(1), term: 5 };

/// Node 1 leads, and has the locks `x` and `y`, which stand on the election.
fn leader() -> Bench {
    let config = DeskConfig { lock_hears: Hears::Election, ..config() };
    let mut bench = Bench::with(config, Survival::Returns, Vec::new(), &["x", "y"]);
    bench.host.machines = ["detector", "election", "lock/x", "lock/y"].map(Key::from).into();
    bench.tell("election", AnyIndication::Elected { leader: NodeId(0), term: 4 });
    bench.host.asked.clear();
    bench
}

fn told_to_stop(bench: &mut Bench) -> Receiver<Answer<()>> {
    let (reply, answer) = oneshot::channel();
    bench.command(Command::HandOver { reply });
    bench.commit();
    answer
}

fn asked_of_election(bench: &mut Bench) -> Vec<AnyRequest> {
    let asked = std::mem::take(&mut bench.host.asked).into_iter();
    asked.filter(|(key, _)| key == "election").map(|(_, asked)| asked).collect()
}

#[test]
fn a_leader_resigns_and_stops_when_another_leads_and_all_locks_have_spoken() {
    let mut bench = leader();
    let mut may_stop = told_to_stop(&mut bench);
    assert_eq!(asked_of_election(&mut bench), [AnyRequest::Resign]);
    bench.tell("election", AnyIndication::Deposed { term: 4 });
    bench.pass(500);
    assert!(waits(&mut may_stop), "nobody leads");
    bench.tell("election", ELECTED_ELSEWHERE);
    bench.host.said.insert("lock/x".to_string(), 1);
    bench.pass(500);
    assert!(waits(&mut may_stop), "the new leader knows nothing of what this node has of `y`");
    bench.host.said.insert("lock/y".to_string(), 1);
    bench.pass(50);
    assert_eq!(may_stop.try_recv(), Ok(Ok(())));
    assert_eq!(asked_of_election(&mut bench), [], "who is about to stop does not stand");
}

#[test]
fn what_nobody_takes_over_is_left_after_two_seconds() {
    let mut bench = leader();
    let mut may_stop = told_to_stop(&mut bench);
    bench.tell("election", AnyIndication::Deposed { term: 4 });
    bench.pass(1_900);
    assert!(waits(&mut may_stop));
    bench.pass(200);
    assert_eq!(may_stop.try_recv(), Ok(Ok(())));
}

#[test]
fn who_does_not_lead_or_cannot_hand_over_or_is_alone_stops_at_once() {
    let elsewhere = |bench: &mut Bench| bench.tell("election", ELECTED_ELSEWHERE);
    let leads_on = |_: &mut Bench| {};
    let alone = |bench: &mut Bench| bench.host.peers.clear();
    for setting in [elsewhere, leads_on, alone] {
        let mut bench = leader();
        setting(&mut bench);
        let mut may_stop = told_to_stop(&mut bench);
        bench.pass(50);
        assert_eq!(may_stop.try_recv(), Ok(Ok(())));
    }
}

#[test]
fn locks_that_do_not_stand_on_the_election_need_not_speak() {
    let mut bench = leader();
    bench.desk.config.lock_hears = Hears::Detector;
    let mut may_stop = told_to_stop(&mut bench);
    bench.tell("election", AnyIndication::Deposed { term: 4 });
    bench.tell("election", ELECTED_ELSEWHERE);
    bench.pass(50);
    assert_eq!(may_stop.try_recv(), Ok(Ok(())));
}

#[test]
fn who_waits_at_a_node_that_stops_is_sent_on_and_gives_up_its_place() {
    let mut bench = leader();
    bench.sessions(&["a", "b"]);
    let mut waiter = bench.acquire("x", "a", 60_000);
    assert_eq!(bench.asked("x"), [AnyRequest::Acquire]);
    let _may_stop = told_to_stop(&mut bench);
    assert_eq!(bench.asked("x"), [AnyRequest::Cancel]);
    let refusal = refused(&mut waiter);
    assert_eq!((refusal.error.code.to_string(), refusal.error.retry), ("unavailable".into(), true));
    assert!(refusal.stopping, "to ask this node again is of no use");
    let mut late = bench.acquire("x", "b", 60_000);
    assert_eq!(refused(&mut late).error.code.to_string(), "unavailable");
    assert_eq!(bench.asked("x"), []);
    let opened = bench.now(|reply| Command::OpenSession {
        request: api::NewSession { ttl_ms: Some(5_000), ..api::NewSession::default() },
        id: "c".to_string(),
        reply,
    });
    assert_eq!(code(opened), "unavailable");
}

#[test]
fn who_holds_at_a_node_that_stops_may_still_give_back() {
    let mut bench = leader();
    bench.session("a");
    let mut holder = bench.acquire("x", "a", 60_000);
    bench.enter("x", 9);
    assert_eq!(granted(&mut holder).fence, 9);
    let _may_stop = told_to_stop(&mut bench);
    assert!(!bench.asked("x").contains(&AnyRequest::Release), "it is held");
    bench.release("x", "a", 9).expect("held");
    assert_eq!(bench.asked("x"), [AnyRequest::Release]);
}

#[test]
fn who_is_elected_again_while_it_stops_resigns_again() {
    let mut bench = leader();
    let mut may_stop = told_to_stop(&mut bench);
    bench.tell("election", AnyIndication::Deposed { term: 4 });
    bench.pass(500);
    assert_eq!(asked_of_election(&mut bench), [AnyRequest::Resign]);
    let again = AnyIndication::Elected { leader: NodeId(0), term: 5 };
    bench.tell("election", again);
    bench.tell("election", again); // No news.
    assert_eq!(asked_of_election(&mut bench), [AnyRequest::Resign], "once a term");
    bench.pass(500);
    assert!(waits(&mut may_stop), "it leads only until the election has stepped down");
    bench.tell("election", AnyIndication::Deposed { term: 5 });
    bench.pass(500);
    assert!(waits(&mut may_stop), "nobody leads");
    bench.tell("election", AnyIndication::Elected { leader: NodeId(1), term: 6 });
    for lock in ["lock/x", "lock/y"] {
        bench.host.said.insert(lock.to_string(), 1);
    }
    bench.pass(50);
    assert_eq!(may_stop.try_recv(), Ok(Ok(())));
}

#[test]
fn who_comes_to_lead_while_it_stops_resigns_too() {
    let mut bench = leader();
    bench.tell("election", ELECTED_ELSEWHERE);
    let mut may_stop = told_to_stop(&mut bench);
    assert_eq!(asked_of_election(&mut bench), [], "another leads");
    bench.tell("election", AnyIndication::Elected { leader: NodeId(0), term: 6 });
    assert_eq!(asked_of_election(&mut bench), [AnyRequest::Resign]);
    bench.tell("election", AnyIndication::Deposed { term: 6 });
    bench.pass(500);
    assert!(waits(&mut may_stop), "nobody leads");
    bench.pass(2_000);
    assert_eq!(may_stop.try_recv(), Ok(Ok(())));
    bench.tell("election", AnyIndication::Elected { leader: NodeId(0), term: 7 });
    assert_eq!(asked_of_election(&mut bench), [], "it is too late");
}

#[test]
fn nobody_is_given_more_time_by_a_node_that_stops() {
    let mut bench = leader();
    bench.session("a");
    bench.pass(4_000);
    let _may_stop = told_to_stop(&mut bench);
    for left in [6_000, 5_000] {
        let kept = bench.now(|reply| Command::KeepAlive {
            session: "a".to_string(),
            request: Default::default(),
            reply,
        });
        assert_eq!(kept.expect("it lives").ttl_ms, left);
        bench.pass(1_000);
    }
}

#[test]
fn a_node_that_stops_is_not_ready() {
    let mut bench = leader();
    let ready = |bench: &mut Bench| {
        bench.show(|reply| Question::Ready { reply }).expect("it says how it is").answer()
    };
    assert!(ready(&mut bench).is_ok());
    let _may_stop = told_to_stop(&mut bench);
    let refusal = ready(&mut bench).expect_err("it stops");
    assert_eq!((refusal.error.code, refusal.stopping), (api::Code::Unavailable, true));
    assert!(bench.show(|reply| Question::Cluster { reply }).is_ok(), "it is there to be seen");
}
