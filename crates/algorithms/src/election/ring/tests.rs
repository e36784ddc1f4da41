use super::super::testbed::{Random, Testbed};
use super::*;
use conclave_core::Effect;
use conclave_core::testkit::{message, run, send};
use std::cmp::Reverse;

const CAMPAIGN: Event<Ring> = Event::Request(Request::Campaign);

fn ranking(n: u32) -> Ranking {
    Ranking::by_key(n, |node| node)
}

fn bed(n: u32) -> Testbed<Ring> {
    Testbed::new(n, move |me| Ring::new(me, ranking(n), None))
}

fn led(n: u32) -> Testbed<Ring> {
    let last = NodeId(n - 1);
    let bed = Testbed::new(n, move |me| Ring::new(me, ranking(n), Some(last)));
    bed.led_by(last.0, ranking(n).term(1, last))
}

fn node(me: u32, n: u32) -> Ring {
    Ring::new(NodeId(me), ranking(n), None)
}

fn list(nodes: &[u32]) -> Box<[NodeId]> {
    nodes.iter().copied().map(NodeId).collect()
}

fn election(counter: u64, nodes: &[u32]) -> Message {
    Message::Election { counter, list: list(nodes) }
}

fn coordinator(round: u64, leader: u32, origin: u32, nodes: &[u32]) -> Message {
    let (leader, origin) = (NodeId(leader), NodeId(origin));
    Message::Coordinator(Announcement { round, leader, origin, list: list(nodes) })
}

fn suspect(node: u32) -> Event<Ring> {
    Event::Indication(detector::Indication::Suspect(NodeId(node)))
}

fn trust(node: u32) -> Event<Ring> {
    Event::Indication(detector::Indication::Trust(NodeId(node)))
}

fn elected(leader: u32, term: u64) -> Effect<Ring> {
    Effect::Indicate(Indication::Elected { leader: NodeId(leader), term })
}

#[test]
fn alone_it_leads_at_once() {
    assert_eq!(run(&mut node(0, 1), CAMPAIGN), [elected(0, 1)]);
    let ran = bed(2).dead(&[1]).start(&[0]).run(u64::MAX);
    assert_eq!((ran.total(), ran.leader()), (0, Some(0)));
}

#[test]
fn each_that_begins_costs_two_laps_and_all_agree() {
    let one = bed(8).dead(&[7]).start(&[2]).run(u64::MAX);
    assert_eq!((one.total(), one.leader(), one.settled), (14, Some(6), 13_000));
    for pair in [[2, 5], [3, 6]] {
        let two = bed(8).dead(&[7]).start(&pair).run(u64::MAX);
        assert_eq!((two.sent["ELECTION"], two.sent["COORDINATOR"]), (14, 14));
        assert_eq!((two.leader(), two.ended()), (Some(6), 14_000));
    }
    let of_two = bed(2).start(&[0]).run(u64::MAX);
    assert_eq!((of_two.total(), of_two.leader()), (4, Some(1)));
}

#[test]
fn the_least_id_leads_where_that_is_the_rule() {
    let least = || Ranking::by_key(8, Reverse);
    let bed = Testbed::new(8, move |me| Ring::new(me, least(), None));
    let ran = bed.dead(&[7]).start(&[2, 5]).run(u64::MAX);
    assert_eq!((ran.total(), ran.leader()), (28, Some(0)));
}

#[test]
fn a_node_that_is_in_the_list_closes_it_and_cuts_off_who_began_and_died() {
    let mut node = node(1, 4);
    let closed = run(&mut node, message(0, election(3, &[3, 1, 2])));
    assert_eq!(closed, [elected(2, 18), send(2, coordinator(4, 2, 1, &[1, 2]))]);
}

#[test]
fn a_round_whose_initiator_dies_ends_at_the_next_node_that_comes_twice() {
    let ran = bed(8).dead(&[7]).start(&[2]).crash(2, 5_000).run(u64::MAX);
    assert!(ran.is_silent());
    assert_eq!(ran.leader(), Some(6));
    assert_eq!(ran.sent["ELECTION"], 8, "the seventh was lost, and repeated");
}

#[test]
fn an_announcement_ends_where_it_was_seen_even_if_its_origin_is_dead() {
    let mut node = node(1, 4);
    let told = coordinator(1, 3, 0, &[0, 1, 3]);
    let first = run(&mut node, message(0, told.clone()));
    assert_eq!(first, [elected(3, 7), send(2, told.clone())]);
    assert_eq!(run(&mut node, message(0, told)), []);
}

#[test]
fn known_dead_successors_are_skipped() {
    let mut node = node(2, 5);
    run(&mut node, suspect(3));
    assert_eq!(run(&mut node, CAMPAIGN), [send(4, election(0, &[2]))]);
    run(&mut node, suspect(4));
    assert_eq!(run(&mut node, CAMPAIGN), [send(0, election(0, &[2]))]);
}

#[test]
fn what_was_last_sent_to_a_successor_that_died_goes_to_the_next() {
    let mut node = node(0, 4);
    run(&mut node, CAMPAIGN);
    assert_eq!(run(&mut node, suspect(1))[1..], [send(2, election(0, &[0]))]);
    assert_eq!(run(&mut node, suspect(3)).len(), 1, "nothing was sent to it");
}

#[test]
fn only_the_node_before_the_leader_begins_when_it_dies() {
    let mut before = Ring::new(NodeId(1), ranking(4), Some(NodeId(3)));
    assert_eq!(run(&mut before, suspect(3)).len(), 1, "there is one between");
    assert_eq!(run(&mut before, suspect(2))[1..], [send(0, election(1, &[1]))]);
    let ran = led(7).crash(6, 1_000).run(u64::MAX);
    assert_eq!((ran.total(), ran.leader()), (12, Some(5)));
    let others = led(7).crash(2, 1_000).run(u64::MAX);
    assert_eq!((others.total(), others.leader()), (0, Some(6)), "the leader is alive");
    let neighbours = led(7).crash(6, 1_000).crash(0, 1_000).run(u64::MAX);
    assert_eq!((neighbours.total(), neighbours.leader()), (10, Some(5)));
}

#[test]
fn of_two_results_the_later_round_counts_and_then_the_better_leader() {
    let mut node = node(0, 5);
    run(&mut node, message(4, coordinator(2, 3, 1, &[])));
    let effects = run(&mut node, message(4, coordinator(2, 4, 2, &[])));
    assert_eq!(effects[0], elected(4, 14));
    assert_eq!(run(&mut node, message(4, coordinator(2, 3, 3, &[]))), []);
    let effects = run(&mut node, message(4, coordinator(3, 3, 3, &[])));
    assert_eq!(effects[0], elected(3, 18));
}

#[test]
fn who_is_better_than_the_announced_begins_and_does_not_pass_it_on() {
    let mut node = node(3, 5);
    let effects = run(&mut node, message(2, coordinator(2, 1, 1, &[1, 2])));
    assert_eq!(effects, [send(4, election(2, &[3]))]);
}

#[test]
fn a_successor_that_comes_back_is_told_who_leads() {
    let mut node = Ring::new(NodeId(0), ranking(3), Some(NodeId(2)));
    run(&mut node, suspect(1));
    assert_eq!(run(&mut node, trust(1))[1..], [send(1, coordinator(1, 2, 2, &[0, 1, 2]))]);
    assert_eq!(run(&mut node, trust(2)).len(), 1, "it never left");
}

#[test]
fn who_may_not_lead_passes_the_list_on() {
    let candidates: NodeSet = [0, 2].map(NodeId).into_iter().collect();
    let ranking = move || ranking(5).with_candidates(candidates.clone());
    let some = Testbed::new(5, move |me| Ring::new(me, ranking(), None));
    assert_eq!(some.start(&[4]).run(u64::MAX).leader(), Some(2));
}

#[test]
fn a_healed_partition_agrees_on_the_best() {
    for side in [vec![0, 1], vec![3, 4], vec![0, 2], vec![1, 4]] {
        let ran = led(5).cut(&side, 1_000).cut(&[], 50_000).run(u64::MAX);
        assert_eq!((ran.leader(), ran.is_silent()), (Some(4), true), "{side:?}");
    }
}

#[test]
fn the_number_of_the_round_outlives_a_crash_and_the_first_leader_does_not() {
    let mut node = Ring::new(NodeId(0), ranking(3), Some(NodeId(2)));
    let Recovery::State(mut kept) = node.after_crash() else { panic!("it comes back") };
    assert_eq!(run(&mut kept, Event::Restart), [send(1, election(1, &[0]))]);
    assert_eq!(run(&mut node, Event::Restart), [send(1, election(1, &[0]))]);
    assert_eq!((kept.elected, node.elected), (None, None));
}

#[test]
fn what_no_ring_can_send_is_ignored() {
    let mut node = node(0, 2);
    assert_eq!(run(&mut node, message(1, election(1, &[1, 7]))), []);
    assert_eq!(run(&mut node, message(7, election(1, &[1]))), []);
    assert_eq!(run(&mut node, message(1, coordinator(1, 9, 1, &[]))), []);
}

/// Crashes, restarts, a cut that heals and a wrong suspicion.
fn storm(seed: u64, n: u32) -> Testbed<Ring> {
    let mut random = Random(seed);
    let (mut delays, mut latencies) = (Random(seed + 1), Random(seed + 2));
    let mut bed = led(n)
        .latency(move |_, _| latencies.between(1, 1_000))
        .draw(move |min, max| delays.between(min, max));
    let any = |random: &mut Random| random.between(0, u64::from(n) - 1) as u32;
    for _ in 0..random.between(0, 4) {
        let (node, at) = (any(&mut random), random.between(0, 40_000));
        bed = bed.crash(node, at);
        if random.between(0, 3) > 0 {
            let amnesia = random.between(0, 3) == 0;
            bed = bed.restart(node, at + random.between(1, 20_000), amnesia);
        }
    }
    if random.between(0, 1) == 0 {
        let side: Vec<u32> = (0..n).filter(|_| random.between(0, 1) == 1).collect();
        let at = random.between(0, 30_000);
        bed = bed.cut(&side, at).cut(&[], at + random.between(5_000, 30_000));
    }
    let (by, of) = (any(&mut random), any(&mut random));
    if by != of {
        bed = bed.suspect(by, of, random.between(0, 70_000), random.between(1, 20_000));
    }
    bed.run(1_000_000)
}

#[test]
fn after_a_storm_all_follow_the_best_that_is_alive() {
    for seed in 0..5_000 {
        let n = 2 + (seed % 6) as u32;
        let ran = storm(seed * 1_000, n);
        let best = ranking(n).best(ran.up().iter()).map(|best| best.0);
        assert_eq!(ran.leader(), best, "seed {seed}");
        assert!(ran.is_silent(), "seed {seed}");
    }
}
