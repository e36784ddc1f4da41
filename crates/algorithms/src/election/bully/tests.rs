use super::super::ranking::Ranking;
use super::super::testbed::{Random, Testbed};
use super::*;
use conclave_core::testkit::{message, run, send};
use conclave_core::{Effect, Ticks};

const CAMPAIGN: Event<Bully> = Event::Request(Request::Campaign);

fn setup(n: u32) -> Setup {
    Setup::new(Ranking::by_key(n, |node| node))
}

fn bed(setup: &Setup) -> Testbed<Bully> {
    let setup = setup.clone();
    Testbed::new(setup.ranking.n(), move |me| Bully::new(me, setup.clone(), None))
}

fn led(setup: &Setup) -> Testbed<Bully> {
    let (setup, n) = (setup.clone(), setup.ranking.n());
    let term = setup.ranking.term(1, NodeId(n - 1));
    Testbed::new(n, move |me| Bully::new(me, setup.clone(), Some(NodeId(n - 1))))
        .led_by(n - 1, term)
}

fn node(me: u32, setup: &Setup) -> Bully {
    Bully::new(NodeId(me), setup.clone(), None)
}

fn counts(bed: &Testbed<Bully>) -> [u32; 3] {
    ["ELECTION", "OK", "COORDINATOR"].map(|name| bed.sent.get(name).copied().unwrap_or_default())
}

fn suspect(node: u32) -> Event<Bully> {
    Event::Indication(detector::Indication::Suspect(NodeId(node)))
}

fn trust(node: u32) -> Event<Bully> {
    Event::Indication(detector::Indication::Trust(NodeId(node)))
}

#[test]
fn alone_it_leads_at_once() {
    let elected = Effect::Indicate(Indication::Elected { leader: NodeId(0), term: 1 });
    assert_eq!(run(&mut node(0, &setup(1)), CAMPAIGN), [elected]);
}

#[test]
fn seven_processes_of_which_the_fourth_notices() {
    let mut setup = setup(7);
    let ran = bed(&setup).dead(&[6]).start(&[3]).run(u64::MAX);
    assert_eq!((counts(&ran), ran.leader(), ran.settled), ([6, 3, 5], Some(5), 4_000));
    setup.announce = Announce::All;
    assert_eq!(bed(&setup).dead(&[6]).start(&[3]).run(u64::MAX).total(), 15);
}

#[test]
fn the_totals_are_those_of_the_formula() {
    for n in 2..=32 {
        for p in 1..n {
            let ran = bed(&setup(n)).dead(&[n - 1]).start(&[p - 1]).run(u64::MAX);
            let total = (n - p).pow(2) + n - 2;
            assert_eq!((ran.total(), ran.leader()), (total, Some(n - 2)), "{p} of {n}");
            let time = if n == 2 {
                2
            } else if p == n - 1 {
                3
            } else {
                4
            };
            assert_eq!(ran.settled, time * 1_000, "{p} of {n}");
        }
    }
}

#[test]
fn it_does_not_matter_whether_one_or_all_notice() {
    let ran = bed(&setup(7)).dead(&[6]).start(&[0, 1, 2, 3, 4, 5]).run(u64::MAX);
    assert_eq!((ran.total(), ran.leader()), (41, Some(5)));
    let two_dead = bed(&setup(7)).dead(&[5, 6]).start(&[3]).run(u64::MAX);
    assert_eq!((two_dead.total(), two_dead.leader()), (10, Some(4)));
}

#[test]
fn one_that_answers_and_dies_before_it_announces_is_replaced() {
    let ran = bed(&setup(4)).dead(&[3]).start(&[0]).crash(2, 3_000).run(u64::MAX);
    assert_eq!((counts(&ran), ran.leader(), ran.settled), ([11, 4, 1], Some(1), 8_000));
}

#[test]
fn the_second_time_limit_counts_from_the_start() {
    let near = |from: NodeId, to: NodeId| if from.0 + to.0 == 1 { 100 } else { 1_000 };
    let ran = bed(&setup(4)).latency(near).dead(&[3]).start(&[0]).run(u64::MAX);
    assert_eq!(ran.total(), 11);
}

#[test]
fn the_highest_that_comes_back_takes_over_with_one_round_of_announcements() {
    let ran = bed(&setup(7)).dead(&[6]).start(&[5]).restart(6, 50_000, false).run(u64::MAX);
    assert_eq!((ran.total(), ran.leader()), (6 + 6, Some(6)));
}

/// A process 4 that replaces a dead one under its name while the third is being elected.
fn replaced(terms: bool) -> Testbed<Bully> {
    let setup = Setup { terms, ..setup(4) };
    let latency = |from: NodeId, to: NodeId| match (from.0 + 1, to.0 + 1) {
        (4, 1) | (3, 2) => 200,
        _ => 1_000,
    };
    bed(&setup).latency(latency).dead(&[3]).start(&[2]).restart(3, 1_500, true).run(u64::MAX)
}

#[test]
fn a_replacement_under_an_old_name_splits_the_beliefs_unless_terms_are_compared() {
    assert_eq!(replaced(false).beliefs(), [2, 3, 3, 3].map(Some));
    assert_eq!(replaced(true).beliefs(), [3, 3, 3, 3].map(Some));
}

#[test]
fn a_greater_counter_is_needed_to_be_followed_where_terms_are_compared() {
    let setup = Setup { terms: true, ..setup(3) };
    let mut leader = node(1, &setup);
    run(&mut leader, CAMPAIGN);
    run(&mut leader, message(0, Message::Ok { counter: 7 }));
    leader.phase = Phase::AwaitOk;
    run(&mut leader, Event::Timer(Timer::Answer));
    let answer = send(2, Message::Coordinator { counter: 8 });
    assert_eq!(run(&mut leader, message(2, Message::Coordinator { counter: 1 })), [answer]);
    let mut better = node(2, &setup);
    let told = run(&mut better, message(1, Message::Coordinator { counter: 8 }));
    assert!(told.contains(&send(1, Message::Coordinator { counter: 9 })));
}

#[test]
fn as_printed_whoever_is_asked_only_answers_and_nobody_ever_leads() {
    let setup = Setup { text: Text::Seed, ..setup(4) };
    let ran = bed(&setup).dead(&[3]).start(&[0]).run(u64::MAX);
    assert!(ran.is_silent());
    assert_eq!((counts(&ran), ran.beliefs()), ([3, 2, 0], vec![None; 4]));
}

#[test]
fn the_rank_decides_and_the_id_breaks_ties() {
    let memory = [8, 16, 16, 4];
    let ranking = Ranking::by_key(4, |node| (memory[node.index()], node));
    let ran = bed(&Setup::new(ranking)).dead(&[2]).start(&[3]).run(u64::MAX);
    assert_eq!(ran.leader(), Some(1));
}

#[test]
fn who_is_no_candidate_asks_all_that_are_and_never_leads() {
    let candidates: NodeSet = [0, 1].map(NodeId).into_iter().collect();
    let setup = Setup::new(setup(4).ranking.with_candidates(candidates));
    let ran = bed(&setup).start(&[3]).run(u64::MAX);
    assert_eq!(ran.leader(), Some(1));
    let nobody = bed(&setup).dead(&[0, 1]).start(&[3]).run(u64::MAX);
    assert!(nobody.is_silent());
    assert_eq!((nobody.total(), nobody.leader()), (2, None));
}

#[test]
fn suspecting_the_leader_starts_an_election_and_suspecting_another_does_not() {
    let mut follower = Bully::new(NodeId(0), setup(3), Some(NodeId(2)));
    assert_eq!(run(&mut follower, suspect(1)).len(), 1, "passed on");
    let effects = run(&mut follower, suspect(2));
    assert!(effects.contains(&send(2, Message::Election { counter: 1 })));
    let mut nobody = node(0, &setup(3));
    assert_eq!(run(&mut nobody, suspect(2)).len(), 1, "no leader is known");
}

#[test]
fn a_leader_tells_whom_it_beats_and_sees_come_back() {
    let mut leader = Bully::new(NodeId(2), setup(3), Some(NodeId(2)));
    run(&mut leader, suspect(0));
    let told = send(0, Message::Coordinator { counter: 1 });
    assert_eq!(run(&mut leader, trust(0))[1..], [told]);
    assert_eq!(run(&mut leader, trust(1)).len(), 1, "it never left");
}

#[test]
fn a_leader_that_is_suspected_without_reason_is_asked_once_more() {
    let ran = led(&setup(3)).suspect(0, 2, 1_000, 1_000_000).run(u64::MAX);
    assert!(ran.is_silent());
    assert_eq!(ran.sent["ELECTION"], 2 * 2 + 2, "two elections, and those of the second node");
    assert_eq!((ran.leader(), ran.settled), (Some(2), 0), "nothing has changed");
}

#[test]
fn a_partition_makes_two_leaders_that_agree_when_it_heals() {
    let cut = || led(&setup(5)).cut(&[0, 1], 1_000);
    let during = cut().run(50_000);
    assert_eq!(during.beliefs()[..2], [Some(1), Some(1)], "and the fifth leads the others");
    let healed = cut().cut(&[], 50_000).run(u64::MAX);
    assert_eq!(healed.beliefs()[..2], [Some(4), Some(4)]);
    assert!(healed.is_silent());
}

#[test]
fn with_a_majority_the_smaller_side_has_no_leader() {
    let setup = Setup { by_majority: true, ..setup(5) };
    let ran = led(&setup).cut(&[0, 1], 1_000).run(50_000);
    assert_eq!((ran.leaders.len(), ran.is_silent()), (0, true), "nobody was elected anew");
    let minority = led(&setup).cut(&[3, 4], 1_000).run(50_000);
    assert_eq!(minority.leaders.iter().map(|led| led.1).collect::<Vec<_>>(), [NodeId(2)]);
    let healed = led(&setup).cut(&[3, 4], 1_000).cut(&[], 50_000).run(u64::MAX);
    assert_eq!(healed.leader(), Some(4));
    let alone = bed(&self::setup(1)).start(&[0]).run(u64::MAX);
    assert_eq!(alone.leader(), Some(0));
}

#[test]
fn one_vote_per_counter_and_none_against_a_better_leader() {
    let setup = Setup { by_majority: true, ..setup(5) };
    let mut voter = node(0, &setup);
    let vote = |to, counter, granted| [send(to, Message::Vote { counter, granted })];
    let candidate = |from, counter| message(from, Message::Candidate { counter });
    assert_eq!(run(&mut voter, candidate(2, 1)), vote(2, 1, true));
    assert_eq!(run(&mut voter, candidate(2, 1)), vote(2, 1, true), "the same again");
    assert_eq!(run(&mut voter, candidate(3, 1)), vote(3, 1, false));
    assert_eq!(run(&mut voter, candidate(3, 2)), vote(3, 2, true));
    run(&mut voter, message(3, Message::Coordinator { counter: 2 }));
    assert_eq!(run(&mut voter, candidate(2, 3)), vote(2, 3, false));
    assert_eq!(run(&mut voter, candidate(4, 4)), vote(4, 4, true));
}

#[test]
fn with_hysteresis_who_comes_back_follows_for_a_while_and_then_takes_over() {
    let setup = Setup { hysteresis: Ticks::units(20), ..setup(3) };
    let back = || bed(&setup).dead(&[2]).start(&[1]).restart(2, 50_000, false);
    assert_eq!(back().run(69_000).leader(), Some(1));
    assert_eq!(back().run(u64::MAX).leader(), Some(2));
    let flapping = back().crash(2, 60_000).restart(2, 70_000, false).crash(2, 80_000);
    let ran = flapping.run(u64::MAX);
    assert_eq!((ran.leader(), ran.leaders.len()), (Some(1), 1), "the leader never changed");
}

#[test]
fn with_hysteresis_a_leader_that_was_cut_off_says_nothing_to_anybody_for_a_while() {
    let setup = Setup { hysteresis: Ticks::units(20), ..setup(3) };
    let mut leader = Bully::new(NodeId(2), setup, Some(NodeId(2)));
    run(&mut leader, suspect(0));
    run(&mut leader, suspect(1));
    let waits =
        Effect::SetTimer { timer: Timer::Hysteresis, after: Delay::exactly(Ticks::units(20)) };
    assert_eq!(run(&mut leader, trust(0))[1..], [waits]);
    assert_eq!(run(&mut leader, trust(1))[1..], [], "nor to the second that is back");
    let told = run(&mut leader, Event::Timer(Timer::Hysteresis));
    let coordinator = |to| send(to, Message::Coordinator { counter: 1 });
    assert_eq!(told, [coordinator(0), coordinator(1)]);
}

#[test]
fn the_counter_and_the_vote_outlive_a_crash_and_the_first_leader_does_not() {
    let mut leader = Bully::new(NodeId(1), setup(2), Some(NodeId(1)));
    let Recovery::State(mut kept) = leader.after_crash() else { panic!("it comes back") };
    let elected = Effect::Indicate(Indication::Elected { leader: NodeId(1), term: 5 });
    assert_eq!(run(&mut kept, Event::Restart)[0], elected);
    let asked = run(&mut leader, Event::Restart);
    assert_eq!(asked[0], elected, "nor does it without a disk");
}

#[test]
fn strangers_and_those_who_may_not_lead_are_ignored() {
    let mut low = node(0, &setup(2));
    assert_eq!(run(&mut low, message(7, Message::Coordinator { counter: 1 })), []);
    assert_eq!(run(&mut low, message(1, Message::Election { counter: 1 })), [], "from a better");
    let only = Setup::new(setup(2).ranking.with_candidates([NodeId(0)].into_iter().collect()));
    assert_eq!(run(&mut node(0, &only), message(1, Message::Coordinator { counter: 1 })), []);
}

/// Crashes and a wrong suspicion in a network within its bounds. Where terms are compared, also
/// restarts and a cut that heals: without, announcements that cross split the beliefs.
fn storm(seed: u64, setup: &Setup) -> Testbed<Bully> {
    let mut random = Random(seed);
    let (mut delays, mut latencies) = (Random(seed + 1), Random(seed + 2));
    let n = setup.ranking.n();
    let mut bed = led(setup)
        .latency(move |_, _| latencies.between(1, 1_000))
        .draw(move |min, max| delays.between(min, max));
    for _ in 0..random.between(0, 4) {
        let (node, at) = (random.between(0, u64::from(n) - 1) as u32, random.between(0, 40_000));
        bed = bed.crash(node, at);
        if setup.terms && random.between(0, 3) > 0 || setup.by_majority {
            bed = bed.restart(node, at + random.between(1, 20_000), false);
        }
    }
    let side: Vec<u32> = (0..n).filter(|_| random.between(0, 1) == 1).collect();
    let at = random.between(0, 30_000);
    if setup.terms {
        bed = bed.cut(&side, at).cut(&[], at + random.between(1, 30_000));
    }
    let (by, of) = (random.between(0, u64::from(n) - 1), random.between(0, u64::from(n) - 1));
    if by != of {
        let (at, span) = (random.between(0, 70_000), random.between(1, 20_000));
        bed = bed.suspect(by as u32, of as u32, at, span);
    }
    bed.campaign(0, 200_000).run(1_000_000)
}

#[test]
fn after_a_storm_all_follow_the_best_that_is_alive() {
    for seed in 0..2_000 {
        for (terms, by_majority) in [(false, false), (true, false), (true, true)] {
            let setup = Setup { terms, by_majority, ..setup(2 + (seed % 5) as u32) };
            let ran = storm(seed * 1_000, &setup);
            let best = setup.ranking.best(ran.up().iter()).map(|best| best.0);
            assert_eq!(ran.leader(), best, "seed {seed}, {terms} {by_majority}");
            assert!(ran.is_silent(), "seed {seed}");
        }
    }
}
