use super::super::testbed::{Random, Testbed};
use super::*;
use conclave_core::Effect;
use conclave_core::testkit::{message, run, send};

const CAMPAIGN: Event<Majority> = Event::Request(Request::Campaign);

fn setup(n: u32) -> Setup {
    Setup { n, timeout: Ticks::units(10), heartbeat: Ticks::units(3) }
}

fn node(me: u32, n: u32) -> Majority {
    Majority::new(NodeId(me), setup(n), None)
}

fn bed(n: u32) -> Testbed<Majority> {
    Testbed::new(n, move |me| Majority::new(me, setup(n), None))
}

fn led(n: u32) -> Testbed<Majority> {
    let last = NodeId(n - 1);
    let bed = Testbed::new(n, move |me| Majority::new(me, setup(n), Some(last)));
    bed.led_by(last.0, 1)
}

fn drawn(bed: Testbed<Majority>, seed: u64) -> Testbed<Majority> {
    let mut random = Random(seed);
    bed.draw(move |min, max| random.between(min, max))
}

fn vote(from: u32, term: u64) -> Event<Majority> {
    message(from, Message::Vote { term, granted: true })
}

fn sends(effects: &[Effect<Majority>]) -> Vec<&Effect<Majority>> {
    effects.iter().filter(|effect| matches!(effect, Effect::Send { .. })).collect()
}

fn indications(effects: &[Effect<Majority>]) -> Vec<Indication> {
    let told = |effect: &Effect<Majority>| match effect {
        Effect::Indicate(told) => Some(*told),
        Effect::Send { .. }
        | Effect::SetTimer { .. }
        | Effect::CancelTimer(_)
        | Effect::Request(_) => None,
    };
    effects.iter().filter_map(told).collect()
}

#[test]
fn alone_it_leads_at_once_and_two_must_agree() {
    let elected = Indication::Elected { leader: NodeId(0), term: 1 };
    let effects = run(&mut node(0, 1), CAMPAIGN);
    assert_eq!((indications(&effects), sends(&effects).len()), (vec![elected], 0));
    let mut of_two = node(0, 2);
    assert_eq!(indications(&run(&mut of_two, CAMPAIGN)), []);
    assert_eq!(indications(&run(&mut of_two, vote(1, 1))), [elected]);
}

#[test]
fn one_candidate_of_five_takes_three_rounds() {
    let ran = bed(5).start(&[0]).run(3_000);
    let of = |name| ran.sent[name];
    assert_eq!([of("REQUEST_VOTE"), of("VOTE"), of("HEARTBEAT")], [4, 4, 4]);
    assert_eq!((ran.leader(), ran.settled), (Some(0), 3_000));
    assert_eq!(ran.leaders, [(2_000, NodeId(0), 1)]);
}

#[test]
fn two_candidates_of_four_can_split_the_votes() {
    let near = |from: NodeId, to: NodeId| if (from.0, to.0) == (1, 3) { 900 } else { 1_000 };
    let ran = bed(4).latency(near).start(&[0, 1]).run(9_000);
    assert_eq!((ran.sent["REQUEST_VOTE"], ran.sent["VOTE"]), (6, 6));
    assert_eq!((ran.leaders.len(), ran.total()), (0, 12));
    assert!(drawn(bed(4).start(&[0, 1]), 1).run(200_000).leader().is_some());
}

#[test]
fn a_vote_is_given_once_per_term_and_again_to_the_same() {
    let mut voter = node(0, 3);
    let ask = |from, term| message(from, Message::RequestVote { term });
    let answer = |to, term, granted| send(to, Message::Vote { term, granted });
    assert_eq!(run(&mut voter, ask(1, 4)).last(), Some(&answer(1, 4, true)));
    assert_eq!(run(&mut voter, ask(1, 4)).last(), Some(&answer(1, 4, true)), "a duplicate");
    assert_eq!(run(&mut voter, ask(2, 4)), [answer(2, 4, false)]);
    assert_eq!(run(&mut voter, ask(2, 3)), [answer(2, 4, false)], "an old term");
    assert_eq!(run(&mut voter, ask(2, 5)).last(), Some(&answer(2, 5, true)));
}

#[test]
fn the_same_vote_twice_is_one_vote_and_an_old_one_none() {
    let mut candidate = node(0, 5);
    run(&mut candidate, CAMPAIGN);
    run(&mut candidate, Event::Timer(Timer::Election));
    assert_eq!(run(&mut candidate, vote(1, 1)), [], "of the term before");
    assert_eq!(run(&mut candidate, vote(1, 2)), []);
    assert_eq!(run(&mut candidate, vote(1, 2)), []);
    assert_eq!(indications(&run(&mut candidate, vote(2, 2))).len(), 1);
    assert_eq!(run(&mut candidate, vote(3, 2)), [], "one more than needed");
}

#[test]
fn a_follower_is_told_at_the_first_heartbeat_of_the_term() {
    let mut follower = node(0, 3);
    let beat = |number| message(2, Message::Heartbeat { term: 3, number });
    let elected = Indication::Elected { leader: NodeId(2), term: 3 };
    let first = run(&mut follower, beat(1));
    assert_eq!(indications(&first), [elected]);
    assert!(first.contains(&send(2, Message::HeartbeatAck { term: 3, number: 1 })));
    assert_eq!(indications(&run(&mut follower, beat(2))), []);
}

#[test]
fn a_candidate_follows_the_leader_of_its_term_and_a_stale_leader_is_told() {
    let mut candidate = node(0, 3);
    run(&mut candidate, CAMPAIGN);
    run(&mut candidate, message(2, Message::Heartbeat { term: 1, number: 1 }));
    assert_eq!(candidate.role, Role::Follower);
    run(&mut candidate, message(1, Message::RequestVote { term: 2 }));
    let stale = run(&mut candidate, message(2, Message::Heartbeat { term: 1, number: 2 }));
    assert_eq!(stale, [send(2, Message::HeartbeatAck { term: 2, number: 2 })]);
}

#[test]
fn a_greater_term_deposes_a_leader() {
    let mut leader = Majority::new(NodeId(0), setup(3), Some(NodeId(0)));
    run(&mut leader, Event::Start);
    let told = run(&mut leader, message(1, Message::HeartbeatAck { term: 2, number: 1 }));
    assert_eq!(indications(&told), [Indication::Deposed { term: 1 }]);
    assert_eq!((leader.role, leader.term, leader.voted_for), (Role::Follower, 2, None));
}

#[test]
fn a_leader_steps_down_a_timeout_after_the_last_heartbeat_that_a_majority_answered() {
    // The second heartbeat, sent at 3, was the last to be answered.
    let until = |time| led(3).cut(&[2], 7_000).run(time).beliefs()[2];
    assert_eq!((until(12_999), until(13_000)), (Some(2), None));
}

#[test]
fn who_loses_the_leader_elects_another_and_the_old_one_follows_when_it_is_back() {
    for seed in 0..20 {
        let gone = || drawn(led(5), seed).crash(4, 5_000);
        let leader = gone().run(200_000).leader();
        assert!(leader.is_some_and(|leader| leader != 4), "seed {seed}");
        let back = gone().restart(4, 100_000, false).run(200_000);
        assert_eq!(back.leader(), leader, "it learns who leads");
    }
}

#[test]
fn the_smaller_side_of_a_partition_has_no_leader() {
    for seed in 0..20 {
        let cut = || drawn(led(5), seed).cut(&[3, 4], 5_000);
        let ran = cut().run(200_000);
        assert!(ran.leaders.iter().all(|(_, leader, _)| leader.0 < 3), "seed {seed}");
        assert_eq!(ran.beliefs()[4], None, "the old leader stepped down");
        assert!(cut().cut(&[], 200_000).run(400_000).leader().is_some(), "seed {seed}");
    }
}

#[test]
fn a_vote_that_is_forgotten_makes_two_leaders_of_one_term() {
    let (mut one, mut two, mut voter) = (node(0, 3), node(1, 3), node(2, 3));
    let elected = |leader| [Indication::Elected { leader: NodeId(leader), term: 1 }];
    run(&mut one, CAMPAIGN);
    run(&mut two, CAMPAIGN);
    let yes = |to| send(to, Message::Vote { term: 1, granted: true });
    let ask = |from| message(from, Message::RequestVote { term: 1 });
    assert!(run(&mut voter, ask(0)).contains(&yes(0)));
    assert_eq!(indications(&run(&mut one, vote(2, 1))), elected(0));
    let Recovery::State(mut with_disk) = voter.after_crash() else { panic!("it comes back") };
    run(&mut with_disk, Event::Restart);
    assert!(!run(&mut with_disk, ask(1)).contains(&yes(1)));
    let mut without = node(2, 3);
    run(&mut without, Event::Restart);
    assert!(run(&mut without, ask(1)).contains(&yes(1)));
    assert_eq!(indications(&run(&mut two, vote(2, 1))), elected(1));
}

#[test]
fn who_may_not_lead_only_votes() {
    let mut voter = node(0, 3).standing(false);
    assert_eq!(run(&mut voter, Event::Start), []);
    assert_eq!(run(&mut voter, CAMPAIGN), []);
    let Recovery::State(kept) = voter.after_crash() else { panic!("it comes back") };
    assert!(!kept.candidate);
}

#[test]
fn a_restarted_first_leader_does_not_lead() {
    let mut leader = Majority::new(NodeId(0), setup(3), Some(NodeId(0)));
    assert_eq!(sends(&run(&mut leader, Event::Restart)).len(), 0);
    assert_eq!((leader.role, leader.leader), (Role::Follower, None));
}

#[test]
fn a_stranger_is_not_answered() {
    assert_eq!(run(&mut node(0, 2), message(2, Message::RequestVote { term: 9 })), []);
}

#[test]
fn after_a_storm_all_follow_one_and_no_term_had_two() {
    for seed in 0..500 {
        let mut random = Random(seed * 1_000);
        let n = 2 + (seed % 5) as u32;
        let mut latencies = Random(seed * 1_000 + 2);
        let bed = if seed % 2 == 0 { led(n) } else { bed(n) };
        let mut bed = drawn(bed, seed * 1_000 + 1);
        bed = bed.latency(move |_, _| latencies.between(1, 1_500));
        for _ in 0..random.between(0, 5) {
            let (node, at) =
                (random.between(0, u64::from(n) - 1) as u32, random.between(0, 90_000));
            bed = bed.crash(node, at).restart(node, at + random.between(1, 50_000), false);
        }
        let side: Vec<u32> = (0..n).filter(|_| random.between(0, 1) == 1).collect();
        let at = random.between(0, 90_000);
        bed = bed.cut(&side, at).cut(&[], at + random.between(1, 50_000));
        let ran = bed.run(1_000_000);
        assert!(ran.leader().is_some(), "seed {seed}: {:?}", ran.beliefs());
    }
}
