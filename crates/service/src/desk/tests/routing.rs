use super::*;

fn suspect(node: u32) -> AnyIndication {
    AnyIndication::Suspect(NodeId(node))
}

fn told(bench: &mut Bench) -> Vec<(String, AnyIndication)> {
    std::mem::take(&mut bench.host.told)
}

fn campaigns(bench: &mut Bench) -> usize {
    let asked = std::mem::take(&mut bench.host.asked);
    asked.iter().filter(|(key, asked)| key == "election" && *asked == AnyRequest::Campaign).count()
}

#[test]
fn the_detector_is_heard_by_election_and_locks() {
    let mut bench = Bench::new();
    let made: Vec<&str> = bench.host.asked.iter().map(|(key, _)| &**key).collect();
    assert_eq!(made, ["detector", "election"]);
    bench.host.machines = ["detector", "election", "lock/x"].map(Key::from).into();
    bench.tell("detector", suspect(1));
    let heard = ["election", "lock/x"].map(|key| (key.to_string(), suspect(1)));
    assert_eq!(told(&mut bench), heard);
    bench.tell("election", suspect(1));
    assert_eq!(told(&mut bench), [], "these locks hear the detector itself");
}

#[test]
fn the_election_is_heard_by_locks_that_stand_on_it() {
    let config = DeskConfig { lock_hears: Hears::Election, ..config() };
    let mut bench = Bench::with(config, Survival::Returns, Vec::new(), &[]);
    bench.host.machines = ["detector", "election", "lock/x"].map(Key::from).into();
    bench.tell("detector", suspect(1));
    assert_eq!(told(&mut bench), [("election".to_string(), suspect(1))]);
    let leads = AnyIndication::Elected { leader: NodeId(2), term: 4 };
    for word in [suspect(1), leads, AnyIndication::Deposed { term: 4 }] {
        bench.tell("election", word);
        assert_eq!(told(&mut bench), [("lock/x".to_string(), word)]);
    }
}

#[test]
fn a_late_machine_is_told_who_leads_and_who_is_suspected() {
    let config = DeskConfig { lock_hears: Hears::Election, ..config() };
    let mut bench = Bench::with(config, Survival::Returns, Vec::new(), &[]);
    let elected = AnyIndication::Elected { leader: NodeId(0), term: 4 };
    let introduced = |bench: &mut Bench| {
        told(bench);
        bench.desk.created(&Key::from("lock/x"), &mut bench.host);
        told(bench).into_iter().map(|(_, word)| word).collect::<Vec<_>>()
    };
    assert_eq!(introduced(&mut bench), []);
    bench.tell("election", elected);
    bench.tell("election", suspect(2));
    assert_eq!(introduced(&mut bench), [elected, suspect(2)]);
    bench.tell("election", AnyIndication::Deposed { term: 4 });
    assert_eq!(introduced(&mut bench), [AnyIndication::Deposed { term: 4 }, suspect(2)]);
}

#[test]
fn a_lock_that_wants_an_election_gets_one() {
    let mut bench = Bench::new();
    bench.desk.asked(&Key::from("lock/x"), AnyRequest::Campaign, &mut bench.host);
    assert_eq!(campaigns(&mut bench), 1);
}

#[test]
fn the_first_live_node_asks_for_a_leader_until_there_is_one() {
    let mut bench = Bench::new();
    bench.pass(900);
    assert_eq!(campaigns(&mut bench), 0, "it may hear of the leader yet");
    bench.pass(2_600);
    assert_eq!(campaigns(&mut bench), 2);
    bench.tell("election", AnyIndication::Elected { leader: NodeId(2), term: 1 });
    bench.pass(10_000);
    assert_eq!(campaigns(&mut bench), 0);
    bench.tell("detector", suspect(1));
    assert_eq!(campaigns(&mut bench), 0, "that one did not lead");
    bench.tell("detector", suspect(2));
    assert_eq!(campaigns(&mut bench), 1);
}

#[test]
fn another_than_the_first_node_asks_only_when_those_before_seem_dead() {
    let config = DeskConfig { me: NodeId(1), ..config() };
    let mut bench = Bench::with(config, Survival::Whole, Vec::new(), &[]);
    bench.pass(10_000);
    assert_eq!(campaigns(&mut bench), 0);
    bench.tell("detector", suspect(0));
    assert_eq!(campaigns(&mut bench), 1);
}

#[test]
fn a_lock_says_whom_it_waits_for() {
    let mut bench = Bench::new();
    bench.session_for("a", 600_000);
    let _answer = bench.acquire("x", "a", 600_000);
    assert_eq!(bench.lock("x").blocked_on, None);
    bench.tell("detector", suspect(2));
    bench.pass(40_000);
    let blocked = bench.lock("x").blocked_on.expect("on node 3");
    assert_eq!((blocked.nodes, blocked.for_ms), (vec![3], 40_000));
    assert_eq!(blocked.message, "blocked on node 3, down 40 s");
    let gone = Peer { connected: false, since: bench.host.now, ..Peer::default() };
    bench.host.peers.insert(NodeId(1), gone);
    let blocked = bench.lock("x").blocked_on.expect("on both");
    assert_eq!(blocked.message, "blocked on nodes 2 and 3, down 40 s");
    bench.enter("x", 1);
    assert_eq!(bench.lock("x").blocked_on, None, "it has what it waited for");
}

#[test]
fn an_engine_that_goes_on_without_a_minority_says_so() {
    let config = DeskConfig { needs: Needs::Majority, ..config() };
    let mut bench = Bench::with(config, Survival::Whole, Vec::new(), &[]);
    bench.session("a");
    let _answer = bench.acquire("x", "a", 600_000);
    bench.tell("detector", suspect(2));
    assert_eq!(bench.lock("x").blocked_on, None);
    bench.tell("detector", suspect(1));
    assert_eq!(bench.lock("x").blocked_on.expect("two of three").nodes, [2, 3]);
    bench.tell("detector", AnyIndication::Trust(NodeId(1)));
    assert_eq!(bench.lock("x").blocked_on, None);
}

#[test]
fn a_lock_says_what_the_missing_node_has_to_do_with_it() {
    let config = DeskConfig { needs: Needs::Coordinator(NodeId(1)), ..config() };
    let mut bench = Bench::with(config, Survival::Whole, Vec::new(), &[]);
    bench.session("a");
    let _answer = bench.acquire("x", "a", 600_000);
    let words = |bench: &mut Bench| bench.lock("x").blocked_on.expect("it is blocked").message;
    bench.tell("detector", suspect(2));
    assert_eq!(words(&mut bench), "waiting; node 3, down 0 s, may hold it");
    bench.tell("detector", suspect(1));
    assert_eq!(words(&mut bench), "blocked on node 2, down 0 s, which coordinates it");
}

#[test]
fn the_cluster_is_shown_as_this_node_sees_it() {
    let mut bench = Bench::new();
    bench.tell("detector", suspect(1));
    bench.host.peers.insert(NodeId(2), Peer::default());
    bench.tell("election", AnyIndication::Elected { leader: NodeId(0), term: 9 });
    let cluster = bench.show(|reply| Question::Cluster { reply }).expect("an answer");
    let states: Vec<&str> = cluster.nodes.iter().map(|node| &*node.state).collect();
    assert_eq!(states, ["self", "suspected", "unreachable"]);
    assert_eq!((cluster.leader, cluster.term), (Some(1), 9));
}

fn first_input(bench: &mut Bench) -> Input {
    bench.desk.machine(&lock_key("x")).expect("a lock").1
}

#[test]
fn a_lock_made_after_the_first_leader_is_late() {
    let config = DeskConfig { first_leader: Some((NodeId(2), 1)), ..config() };
    let mut bench = Bench::with(config.clone(), Survival::Returns, Vec::new(), &[]);
    bench.pass(5_000);
    assert_eq!(campaigns(&mut bench), 0, "there is a leader");
    elected(&mut bench, 2, 1);
    assert_eq!(first_input(&mut bench), Input::Start);
    elected(&mut bench, 1, 2);
    assert_eq!(first_input(&mut bench), Input::Restart);
    let mut again = Bench::with(config, Survival::Returns, bench.disk(), &[]);
    assert_eq!(first_input(&mut again), Input::Restart, "it has come back");
    let cluster = again.show(|reply| Question::Cluster { reply }).expect("an answer");
    assert_eq!(cluster.leader, None, "the first leader may be another by now");
}

fn elected(bench: &mut Bench, leader: u32, term: u64) {
    bench.tell("election", AnyIndication::Elected { leader: NodeId(leader), term });
}

#[test]
fn a_lock_that_all_must_have_is_opened_once() {
    let config = DeskConfig { everywhere: true, ..config() };
    let mut bench = Bench::with(config, Survival::Whole, Vec::new(), &[]);
    bench.session("a");
    let _answer = bench.acquire("x", "a", 1_000);
    assert_eq!(bench.host.opened, ["lock/x"]);
    first_input(&mut bench);
    bench.enter("x", 1);
    bench.release("x", "a", 1).expect("held");
    let _answer = bench.acquire("x", "a", 1_000);
    assert_eq!(bench.host.opened, ["lock/x"]);
}

#[test]
fn questions_do_not_put_off_an_election() {
    let mut bench = Bench::new();
    for _ in 0..40 {
        bench.pass(100);
        bench.show(|reply| Question::Cluster { reply }).expect("an answer");
    }
    assert_eq!(campaigns(&mut bench), 2, "after one second and after three");
}
