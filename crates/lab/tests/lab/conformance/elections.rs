//! The elections that survive crashes: known totals, and what is left after faults.

use super::support::{assert_kept, assert_verdict, crash, restart, seeds, sent, setting, simulate};
use conclave_core::Property::{E1, E1Term, E2};
use conclave_core::Verdict::{Holds, Violated};
use conclave_core::{NodeId, Ticks};
use conclave_sim::{Action, Fault, Latency, MessageRule, Outcome, Plan};

fn nodes(ids: &[u32]) -> Vec<NodeId> {
    ids.iter().map(|id| NodeId(id - 1)).collect()
}

/// These nodes dead from the start, and these the ones that notice, as people number them.
fn plan(dead: &[u32], start: &[u32]) -> Plan {
    Plan { dead: nodes(dead), start: nodes(start), ..Plan::default() }
}

/// What happens to the first message of a kind.
fn first(from: u32, to: u32, kind: &str, action: Action) -> MessageRule {
    let (from, to) = (Some(NodeId(from)), Some(NodeId(to)));
    MessageRule { from, to, kind: Some(kind.into()), nth: Some(1), action }
}

fn run(id: &str, n: u32, set: &[(&str, &str)], plan: &Plan) -> Outcome {
    simulate(&setting(id, n, set), plan)
}

fn leader(outcome: &Outcome) -> Option<u32> {
    outcome.election().leader.map(|leader| leader.0 + 1)
}

/// Whom each node follows, as people number them; 0 for nobody.
fn beliefs(outcome: &Outcome) -> Vec<u32> {
    let beliefs = outcome.election().beliefs.iter();
    beliefs.map(|belief| belief.map_or(0, |leader| leader.0 + 1)).collect()
}

/// When everybody knew.
fn settled(outcome: &Outcome) -> f64 {
    outcome.election().time_to_leader.summary().expect("a leader was found").max
}

fn kinds(outcome: &Outcome) -> [u64; 3] {
    ["ELECTION", "OK", "COORDINATOR"].map(|kind| sent(outcome, kind))
}

/// One unit per message but between these, as people number them.
fn latency(links: &[((u32, u32), u64)]) -> Latency {
    let link = |&((from, to), ticks): &_| {
        ((NodeId(from - 1), NodeId(to - 1)), Latency::Constant(Ticks(ticks)))
    };
    let others = Box::new(Latency::Constant(Ticks::UNIT));
    Latency::Links { others, links: links.iter().map(link).collect() }
}

/// These are cut off from the other of `n` nodes from one time to another, in units.
fn cut(side: &[u32], n: u32, from: u64, until: u64) -> (Ticks, Fault) {
    let rest = (1..=n).filter(|node| !side.contains(node)).collect::<Vec<_>>();
    let groups = vec![nodes(side), nodes(&rest)];
    (Ticks::units(from), Fault::Partition { groups, until: Ticks::units(until) })
}

#[test]
fn bully_costs_what_the_books_count() {
    let of = |n, dead: &[u32], start: &[u32], set: &[_]| {
        let outcome = run("bully", n, set, &plan(dead, start));
        (outcome.messages, leader(&outcome))
    };
    assert_eq!(of(7, &[7], &[4], &[]), (14, Some(6)));
    assert_eq!(of(7, &[7], &[4], &[("announce", "all")]), (15, Some(6)));
    assert_eq!(of(4, &[4], &[2], &[]), (6, Some(3)));
    assert_eq!(of(7, &[7], &[1], &[]), (41, Some(6)));
    assert_eq!(of(7, &[7], &[6], &[]), (6, Some(6)));
    assert_eq!(of(7, &[7], &[1, 2, 3, 4, 5, 6], &[]), (41, Some(6)));
    assert_eq!(of(7, &[6, 7], &[4], &[]), (10, Some(5)));
}

#[test]
fn bully_costs_the_square_of_how_many_are_better() {
    for n in 2..=32 {
        for p in 1..n {
            let outcome = run("bully", n, &[], &plan(&[n], &[p]));
            let total = u64::from((n - p).pow(2) + n - 2);
            assert_eq!((outcome.messages, leader(&outcome)), (total, Some(n - 1)), "{p} of {n}");
            let time = match n - p {
                _ if n == 2 => 2.0, // Nobody is left to be told.
                1 => 3.0,
                _ => 4.0,
            };
            assert_eq!(settled(&outcome), time, "{p} of {n}");
        }
    }
    assert_eq!(kinds(&run("bully", 7, &[], &plan(&[7], &[4]))), [6, 3, 5]);
}

/// The winner asks all others for their votes, and all that live give them. Nobody loses patience
/// meanwhile.
#[test]
fn bully_by_majority_costs_one_round_of_votes_more() {
    for (n, p, total) in [(5, 1, 26), (7, 4, 25), (9, 3, 58), (9, 7, 26)] {
        let outcome = run("bully", n, &[("majority", "true")], &plan(&[n], &[p]));
        assert_eq!(outcome.messages, total, "{n} nodes, {p} begins");
        let better = u64::from(n - p);
        let n = u64::from(n);
        assert_eq!(total, better * better + n - 2 + (n - 1) + (n - 2));
    }
}

#[test]
fn bully_counts_its_second_time_limit_from_the_start() {
    let near = latency(&[((1, 2), 100), ((2, 1), 100)]);
    let outcome = run("bully", 4, &[], &Plan { latency: near, ..plan(&[4], &[1]) });
    assert_eq!((outcome.messages, leader(&outcome)), (11, Some(3)));
}

#[test]
fn bully_replaces_one_that_answers_and_dies() {
    let plan = Plan { faults: vec![crash(2, 3)], ..plan(&[4], &[1]) };
    let outcome = run("bully", 4, &[], &plan);
    assert_eq!((kinds(&outcome), leader(&outcome)), ([11, 4, 1], Some(2)));
    assert_eq!(settled(&outcome), 8.0);
}

#[test]
fn bully_splits_over_a_replacement_unless_terms_are_compared() {
    let latency = latency(&[((4, 1), 200), ((3, 2), 200)]);
    let faults = vec![(Ticks(1_500), Fault::Restart { node: NodeId(3), amnesia: true })];
    let plan = Plan { latency, faults, ..plan(&[4], &[3]) };
    let outcome = run("bully", 4, &[], &plan);
    assert_verdict(&outcome, E1, Violated);
    assert_eq!(beliefs(&outcome), [3, 4, 4, 4]);
    let outcome = run("bully", 4, &[("terms", "true")], &plan);
    assert_verdict(&outcome, E1, Holds);
    assert_eq!(leader(&outcome), Some(4));
}

#[test]
fn the_highest_that_comes_back_takes_over() {
    let plan = Plan { faults: vec![restart(6, 50, false)], ..plan(&[7], &[6]) };
    let outcome = run("bully", 7, &[], &plan);
    assert_eq!((outcome.messages, leader(&outcome)), (6 + 6, Some(7)));
}

/// Node 2 asks node 3 in vain and believes that it leads, until node 3 hears of it.
#[test]
fn the_highest_does_not_stand_for_a_lower_leader() {
    let rules = vec![first(1, 2, "ELECTION", Action::Drop)];
    let outcome = run("bully", 3, &[], &Plan { rules, ..plan(&[], &[2]) });
    assert_eq!(outcome.election().beliefs, [Some(NodeId(2)); 3]);
}

#[test]
fn bully_as_printed_elects_nobody() {
    let outcome = run("bully", 4, &[("text", "seed")], &plan(&[4], &[1]));
    assert_verdict(&outcome, E2, Violated);
    assert_eq!((kinds(&outcome), beliefs(&outcome)), ([3, 2, 0], vec![0; 4]));
}

/// As slides print it, who got an answer stops; here whoever gave it dies.
#[test]
fn bully_without_a_second_time_limit_waits_for_one_that_answers_and_dies() {
    let dies = Plan { faults: vec![crash(2, 3)], ..plan(&[4], &[1]) };
    let outcome = run("bully", 4, &[("text", "000")], &dies);
    assert_verdict(&outcome, E2, Violated);
    assert_eq!(kinds(&outcome), [6, 3, 0], "asked by 1, 2 and 3, answered thrice");
    let lives = run("bully", 4, &[("text", "000")], &plan(&[4], &[1]));
    assert_eq!((lives.messages, leader(&lives)), (11, Some(3)));
}

/// As slides print it, only the node that made an announcement takes it from the ring.
#[test]
fn a_ring_as_printed_never_gets_rid_of_the_announcement_of_a_node_that_died() {
    let dies =
        |until| Plan { faults: vec![crash(1, 5)], until: Ticks::units(until), ..plan(&[5], &[2]) };
    let sent = |set: &[_], until| run("ring", 5, set, &dies(until)).messages;
    assert_eq!((sent(&[], 100), sent(&[], 1_000)), (12, 12));
    let printed: &[_] = &[("text", "000")];
    assert_eq!(sent(printed, 1_000) - sent(printed, 100), 900, "one message at a time, for ever");
    let lives = run("ring", 5, printed, &plan(&[5], &[2]));
    assert_eq!((lives.messages, leader(&lives)), (8, Some(4)));
}

#[test]
fn bully_elects_by_rank_and_then_by_id() {
    let outcome = run("bully", 4, &[("rank", "8\n16\n16\n4")], &plan(&[3], &[4]));
    assert_eq!(leader(&outcome), Some(2));
}

#[test]
fn only_a_candidate_is_elected() {
    for (id, best) in [("bully", 3), ("ring", 3), ("majority", 1)] {
        let some = setting(id, 5, &[]).with_candidates([0, 2].map(NodeId).into_iter().collect());
        let outcome = simulate(&some, &plan(&[], &[1, 5]));
        assert_eq!(leader(&outcome), Some(best), "{id}");
    }
    let two = setting("bully", 4, &[]).with_candidates([0, 1].map(NodeId).into_iter().collect());
    let outcome = simulate(&two, &plan(&[1, 2], &[4]));
    assert_eq!((outcome.messages, leader(&outcome)), (2, None), "those who may are dead");
}

#[test]
fn bully_asks_a_leader_that_is_suspected_without_reason_once_more() {
    let (by, of, span) = (NodeId(0), NodeId(2), Some(Ticks::units(1_000)));
    let faults = vec![(Ticks::units(50), Fault::Suspect { by, of, span })];
    let outcome = run("bully", 3, &[], &Plan { faults, ..plan(&[], &[3]) });
    let first = settled(&run("bully", 3, &[], &plan(&[], &[3])));
    assert_eq!(sent(&outcome, "ELECTION"), 2 * 2 + 2, "two elections, and two by the second node");
    assert_eq!((leader(&outcome), settled(&outcome)), (Some(3), first), "nothing has changed");
}

#[test]
fn a_partition_makes_two_bullies_that_agree_when_it_heals() {
    let parted = Plan { faults: vec![cut(&[1, 2], 5, 10, 50)], ..plan(&[], &[5]) };
    let during = run("bully", 5, &[], &Plan { until: Ticks::units(49), ..parted.clone() });
    assert_eq!((beliefs(&during), during.election().at_once), (vec![2, 2, 5, 5, 5], 2));
    assert_eq!(leader(&run("bully", 5, &[], &parted)), Some(5));
}

#[test]
fn bully_with_a_majority_has_no_leader_on_the_smaller_side() {
    let with = |side: &[u32], until| {
        let faults = vec![cut(side, 5, 10, 50)];
        let plan = Plan { faults, until: Ticks::units(until), ..plan(&[], &[5]) };
        run("bully", 5, &[("majority", "true")], &plan)
    };
    assert_eq!(with(&[1, 2], 49).election().leaders_seen, nodes(&[5]), "nobody is elected anew");
    let minority = with(&[4, 5], 49);
    assert_eq!(minority.election().leaders_seen, nodes(&[5, 3]));
    assert_eq!(beliefs(&minority)[..3], [3; 3]);
    assert_eq!(leader(&with(&[4, 5], 1_000)), Some(5));
}

#[test]
fn with_hysteresis_who_comes_back_follows_for_a_while_and_then_takes_over() {
    let with = |faults: &[_], until| {
        let plan = plan(&[3], &[2]);
        let plan = Plan { faults: faults.to_vec(), until: Ticks::units(until), ..plan };
        run("bully", 3, &[("hysteresis", "20")], &plan)
    };
    let back = restart(2, 50, false);
    assert_eq!(leader(&with(std::slice::from_ref(&back), 69)), Some(2));
    assert_eq!(leader(&with(std::slice::from_ref(&back), 1_000)), Some(3));
    let flapping = with(&[back, crash(2, 60), restart(2, 70, false), crash(2, 80)], 1_000);
    assert_eq!((leader(&flapping), flapping.election().leaders_seen.len()), (Some(2), 1));
}

#[test]
fn ring_costs_two_laps_for_each_that_begins() {
    let of = |n, dead: &[u32], start: &[u32], set: &[_]| {
        let outcome = run("ring", n, set, &plan(dead, start));
        (outcome.messages, leader(&outcome))
    };
    assert_eq!(of(8, &[8], &[3, 6], &[]), (28, Some(7)));
    assert_eq!(of(8, &[8], &[4, 7], &[]), (28, Some(7)));
    assert_eq!(of(8, &[8], &[3], &[]), (14, Some(7)));
    assert_eq!(of(8, &[8], &[3], &[("choose", "min")]), (14, Some(1)));
    assert_eq!(of(8, &[8], &[3, 6], &[("choose", "min")]), (28, Some(1)));
    assert_eq!(of(2, &[], &[1], &[]), (4, Some(2)));
    assert_eq!(of(2, &[2], &[1], &[]), (0, Some(1)));
}

/// Node 5 begins and dies. Its list comes to node 1 again, who counts from its own place in it.
#[test]
fn a_list_whose_owner_died_does_not_elect_it() {
    let outcome = run("ring", 5, &[], &Plan { faults: vec![crash(4, 1)], ..plan(&[], &[5]) });
    assert_eq!((outcome.messages, leader(&outcome)), (5 + 4, Some(4)));
}

#[test]
fn a_ring_is_settled_one_hop_before_its_last_message() {
    let outcome = run("ring", 8, &[], &plan(&[8], &[3]));
    assert_eq!((settled(&outcome), outcome.end), (13.0, Ticks::units(14)));
    let two = run("ring", 8, &[], &plan(&[8], &[3, 6]));
    assert_eq!((kinds(&two), two.end), ([14, 0, 14], Ticks::units(14)));
}

/// Nodes 1 and 2 stand in the same term. Node 3 votes for node 1, goes down, comes back, and only
/// then is asked by node 2, who has not heard of node 1 yet.
#[test]
fn a_voter_votes_once_in_a_term_whatever_happens_in_between_unless_it_loses_its_disk() {
    let late = Action::Delay(Ticks::units(6));
    let rules = vec![first(1, 2, "REQUEST_VOTE", late), first(0, 1, "HEARTBEAT", late)];
    let in_one_term = |faults| {
        let plan = Plan { rules: rules.clone(), faults, ..plan(&[], &[1, 2]) };
        run("majority", 3, &[], &plan)
    };
    for amnesia in [false, true] {
        let outcome = in_one_term(vec![crash(2, 3), restart(2, 4, amnesia)]);
        assert_verdict(&outcome, E1Term, if amnesia { Violated } else { Holds });
    }
    assert_verdict(&in_one_term(Vec::new()), E1Term, Holds);
}

#[test]
fn a_lap_whose_initiator_dies_ends_at_the_next_node_that_comes_twice() {
    let plan = Plan { faults: vec![crash(2, 5)], ..plan(&[8], &[3]) };
    let outcome = run("ring", 8, &[], &plan);
    assert_eq!(sent(&outcome, "ELECTION"), 8, "the seventh was lost, and repeated");
    assert_eq!(leader(&outcome), Some(7));
}

#[test]
fn only_the_death_of_the_leader_starts_the_ring_and_only_once() {
    let after = |faults| {
        let outcome = run("ring", 7, &[], &Plan { faults, ..plan(&[], &[7]) });
        (outcome.messages - 14, leader(&outcome)) // Two laps made the first leader.
    };
    assert_eq!(after(vec![crash(6, 50)]), (12, Some(6)));
    assert_eq!(after(vec![crash(2, 50)]), (1, Some(7)), "the last message to it goes on, once");
    assert_eq!(after(vec![crash(6, 50), crash(0, 50)]), (10, Some(6)));
}

#[test]
fn a_healed_ring_agrees_on_the_best() {
    for side in [[1, 2], [4, 5], [1, 3], [2, 5]] {
        let plan = Plan { faults: vec![cut(&side, 5, 20, 70)], ..plan(&[], &[5]) };
        let setting = setting("ring", 5, &[]);
        let outcome = simulate(&setting, &plan);
        assert_kept(&setting, &plan, &outcome);
        assert_eq!(leader(&outcome), Some(5), "{side:?}");
    }
}

#[test]
fn a_majority_takes_three_rounds() {
    let outcome = run("majority", 5, &[], &plan(&[], &[1]));
    let kinds = ["REQUEST_VOTE", "VOTE", "HEARTBEAT"].map(|kind| sent(&outcome, kind));
    assert_eq!((kinds, leader(&outcome), settled(&outcome)), ([4; 3], Some(1), 3.0));
}

#[test]
fn two_of_four_can_split_the_votes_of_a_majority() {
    let near = Plan { latency: latency(&[((2, 4), 900)]), ..plan(&[], &[1, 2]) };
    let split = run("majority", 4, &[], &Plan { until: Ticks::units(9), ..near.clone() });
    let kinds = ["REQUEST_VOTE", "VOTE", "HEARTBEAT"].map(|kind| sent(&split, kind));
    assert_eq!((kinds, split.election().leaders_seen.len()), ([6, 6, 0], 0));
    assert!(run("majority", 4, &[], &near).election().agreed, "in a later term");
}

#[test]
fn a_leader_steps_down_a_timeout_after_the_last_heartbeat_that_a_majority_answered() {
    // It leads from 2; its heartbeat of 5 is the last to be answered, that of 8 is lost.
    let until = |ticks| {
        let faults = vec![cut(&[3], 3, 9, 500)];
        let plan = Plan { faults, until: Ticks(ticks), ..plan(&[], &[3]) };
        beliefs(&run("majority", 3, &[("timeout", "10"), ("heartbeat", "3")], &plan))[2]
    };
    assert_eq!((until(14_999), until(15_000)), (3, 0));
}

#[test]
fn a_majority_replaces_a_leader_that_follows_when_it_is_back() {
    for seed in 0..seeds().min(20) {
        let gone = Plan { seed, faults: vec![crash(4, 10)], ..plan(&[], &[5]) };
        let without = leader(&run("majority", 5, &[], &gone));
        assert!(without.is_some_and(|leader| leader != 5), "seed {seed}");
        let mut back = gone;
        back.faults.push(restart(4, 150, false));
        assert_eq!(leader(&run("majority", 5, &[], &back)), without, "it learns who leads");
    }
}

#[test]
fn the_smaller_side_of_a_partition_has_no_leader_by_majority() {
    for seed in 0..seeds().min(20) {
        let parted = Plan { seed, faults: vec![cut(&[4, 5], 5, 10, 200)], ..plan(&[], &[5]) };
        let during = run("majority", 5, &[], &Plan { until: Ticks::units(199), ..parted.clone() });
        let others = &during.election().leaders_seen[1..];
        assert!(others.iter().all(|leader| leader.0 < 3), "seed {seed}: {others:?}");
        assert_eq!(beliefs(&during)[4], 0, "the old leader stepped down");
        assert!(run("majority", 5, &[], &parted).election().agreed, "seed {seed}");
    }
}
