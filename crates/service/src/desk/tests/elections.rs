use super::*;

fn release(session: &str, fence: u64) -> api::Release {
    api::Release { session: session.to_string(), fence, ..api::Release::default() }
}

fn campaign(bench: &mut Bench, session: &str) -> Receiver<Answer<api::Grant>> {
    let value = Some(format!("value of {session}"));
    let request = api::Acquire { value, ..acquire(session, 60_000, None) };
    let (reply, answer) = oneshot::channel();
    bench.command(Command::Campaign { name: "e".to_string(), request, reply });
    bench.commit();
    answer
}

/// A node is elected, and has waited for those who may still lead elsewhere.
fn elected(bench: &mut Bench, leader: u32, term: u64) {
    bench.tell("election", AnyIndication::Elected { leader: NodeId(leader), term });
    for _ in 0..4 {
        bench.pass(1_000);
        for session in bench.desk.sessions.ids() {
            bench
                .now(|reply| Command::KeepAlive { session, request: Default::default(), reply })
                .expect("alive");
        }
    }
}

fn candidates(bench: &mut Bench, ids: &[&str]) {
    ids.iter().for_each(|id| bench.session_for(id, 3_000));
}

fn election(bench: &mut Bench) -> api::Election {
    bench.show(|reply| Question::Election { name: "e".to_string(), reply }).expect("an answer")
}

#[test]
fn the_first_who_stands_at_the_leading_node_leads() {
    let mut bench = Bench::new();
    candidates(&mut bench, &["a", "b"]);
    elected(&mut bench, 0, 3);
    let grant = granted(&mut campaign(&mut bench, "a"));
    assert_eq!((grant.fence, grant.term), ((3 << 26) + 1, Some(3)));
    let mut next = campaign(&mut bench, "b");
    assert!(waits(&mut next));
    let seen = election(&mut bench);
    assert_eq!(seen.leader.expect("a").label, "label of a");
    assert_eq!((seen.value.as_deref(), seen.candidates.len()), (Some("value of a"), 1));
    let request = release("a", grant.fence);
    let name = "e".to_string();
    bench.now(|reply| Command::Resign { name, request, reply }).expect("it leads");
    assert_eq!(granted(&mut next).fence, (3 << 26) + 2);
}

#[test]
fn candidates_elsewhere_are_told_where_to_go() {
    let mut bench = Bench::new();
    candidates(&mut bench, &["a"]);
    assert_eq!(refused(&mut campaign(&mut bench, "a")).error.code.as_str(), "unavailable");
    elected(&mut bench, 1, 3);
    let refusal = refused(&mut campaign(&mut bench, "a"));
    assert_eq!(refusal.error.code.as_str(), "not_leader");
    assert_eq!(refusal.leading_api.as_deref(), Some("a2:1"));
}

#[test]
fn leaderships_are_lost_with_that_of_the_node() {
    for lost in
        [AnyIndication::Deposed { term: 3 }, AnyIndication::Elected { leader: NodeId(1), term: 4 }]
    {
        let mut bench = Bench::new();
        candidates(&mut bench, &["a", "b"]);
        elected(&mut bench, 0, 3);
        let grant = granted(&mut campaign(&mut bench, "a"));
        let mut candidate = campaign(&mut bench, "b");
        bench.tell("election", lost);
        assert!(
            ["not_leader", "unavailable"].contains(&refused(&mut candidate).error.code.as_str())
        );
        assert_eq!(election(&mut bench).leader, None);
        let request = release("a", grant.fence);
        let name = "e".to_string();
        assert_eq!(code(bench.now(|reply| Command::Resign { name, request, reply })), "not_holder");
    }
}

#[test]
fn a_leader_that_is_elected_again_goes_on() {
    let mut bench = Bench::new();
    candidates(&mut bench, &["a"]);
    elected(&mut bench, 0, 3);
    let grant = granted(&mut campaign(&mut bench, "a"));
    elected(&mut bench, 0, 5);
    assert_eq!(election(&mut bench).leader.expect("a").fence, grant.fence);
}

#[test]
fn an_old_dismissal_changes_nothing() {
    let mut bench = Bench::new();
    candidates(&mut bench, &["a"]);
    elected(&mut bench, 0, 5);
    granted(&mut campaign(&mut bench, "a"));
    bench.tell("election", AnyIndication::Deposed { term: 3 });
    assert!(election(&mut bench).leader.is_some());
}

#[test]
fn only_the_leader_may_proclaim() {
    let mut bench = Bench::new();
    candidates(&mut bench, &["a", "b"]);
    elected(&mut bench, 0, 3);
    let fence = granted(&mut campaign(&mut bench, "a")).fence;
    let proclaim = |bench: &mut Bench, session: &str, fence| {
        let (session, value) = (session.to_string(), "new".to_string());
        let request = api::Proclaim { session, fence, value, ..api::Proclaim::default() };
        bench.now(|reply| Command::Proclaim { name: "e".to_string(), request, reply })
    };
    assert_eq!(code(proclaim(&mut bench, "b", fence)), "not_holder");
    assert_eq!(code(proclaim(&mut bench, "a", fence + 1)), "not_holder");
    let value = proclaim(&mut bench, "a", fence).expect("it leads").value;
    assert_eq!(value.as_deref(), Some("new"));
}

#[test]
fn fences_rise_over_a_restart() {
    let mut bench = Bench::new();
    candidates(&mut bench, &["a"]);
    elected(&mut bench, 0, 3);
    let before = granted(&mut campaign(&mut bench, "a")).fence;
    let mut bench = Bench::with(config(), Survival::Whole, bench.disk(), &[]);
    elected(&mut bench, 0, 3);
    assert!(granted(&mut campaign(&mut bench, "a")).fence > before);
}

/// The counter is given as a disk of any version has it.
#[test]
fn when_the_fences_of_a_term_are_used_up_another_is_asked_for() {
    let campaigns = |bench: &mut Bench| {
        let asked = std::mem::take(&mut bench.host.asked);
        asked.iter().filter(|(_, asked)| *asked == AnyRequest::Campaign).count()
    };
    let mut bench = Bench::new();
    candidates(&mut bench, &["a"]);
    let counter = serde_json::from_str(r#"{"term":3,"granted":67108863}"#).expect("a counter");
    bench.desk.queues.elections.restore(counter);
    elected(&mut bench, 0, 3);
    campaigns(&mut bench);
    assert_eq!(refused(&mut campaign(&mut bench, "a")).error.code.as_str(), "unavailable");
    assert_eq!(campaigns(&mut bench), 1);
    bench.tell("election", AnyIndication::Deposed { term: 3 });
    elected(&mut bench, 0, 4);
    assert_eq!(granted(&mut campaign(&mut bench, "a")).fence, (4 << 26) + 1);
    let last = (1 << 27) - 1;
    let counter = serde_json::json!({ "term": last, "granted": 67_108_863 });
    bench.desk.queues.elections.restore(serde_json::from_value(counter).expect("a counter"));
    bench.desk.queues.elections.remove("e");
    elected(&mut bench, 0, last);
    campaigns(&mut bench);
    assert_eq!(refused(&mut campaign(&mut bench, "a")).error.code.as_str(), "unavailable");
    assert_eq!(campaigns(&mut bench), 0, "no later term has fences");
}

#[test]
fn an_election_that_nobody_cares_for_is_forgotten() {
    let mut bench = Bench::new();
    candidates(&mut bench, &["a"]);
    elected(&mut bench, 0, 3);
    granted(&mut campaign(&mut bench, "a"));
    let session = "a".to_string();
    bench.now(|reply| Command::CloseSession { session, reply }).expect("there");
    assert_eq!(bench.desk.queues.elections.len(), 0);
}

#[test]
fn a_new_leader_waits_until_those_who_led_elsewhere_must_have_noticed() {
    let mut bench = Bench::new();
    bench.tell("election", AnyIndication::Elected { leader: NodeId(0), term: 3 });
    bench.pass(1_900);
    candidates(&mut bench, &["a"]);
    let mut grant = campaign(&mut bench, "a");
    bench.pass(2_000);
    assert!(waits(&mut grant));
    bench.pass(500);
    assert_eq!(granted(&mut grant).fence, (3 << 26) + 1);
}

#[test]
fn a_candidate_must_not_live_for_long() {
    let mut bench = Bench::new();
    bench.session("a");
    elected(&mut bench, 0, 3);
    assert_eq!(refused(&mut campaign(&mut bench, "a")).error.code.as_str(), "bad_request");
}
