//! The election by majority with pre-votes: what they cost, and what they are for.

use super::support::{
    asks, assert_kept, assert_verdict, crash, led, seeds, sent, setting, simulate,
};
use conclave_core::Property::{E1Term, F1, S1, V2};
use conclave_core::Verdict::Holds;
use conclave_core::{NodeId, Ticks};
use conclave_sim::{Action, Fault, MessageRule, Outcome, Plan};

const ON: &[(&str, &str)] = &[("prevote", "on")];

/// Nodes 0 and 4 never hear of each other; both hear of all others.
fn one_link_cut() -> Vec<MessageRule> {
    let mute = |(from, to)| MessageRule {
        from: Some(NodeId(from)),
        to: Some(NodeId(to)),
        kind: None,
        nth: None,
        action: Action::Drop,
    };
    [(0, 4), (4, 0)].map(mute).into()
}

/// Node 4 of 5 calls for an election. The run is never over: node 0 does not learn of it.
fn led_by_the_last(seed: u64, until: u64) -> Plan {
    let (start, until) = (vec![NodeId(4)], Ticks::units(until));
    Plan { seed, start, until, rules: one_link_cut(), ..Plan::default() }
}

fn elections(outcome: &Outcome, n: u64) -> u64 {
    sent(outcome, "REQUEST_VOTE") / (n - 1)
}

#[test]
fn one_that_stands_alone_takes_two_rounds_more() {
    for n in 1..=33 {
        let outcome = simulate(&setting("majority", n, ON), &Plan::default());
        let each = ["REQUEST_PREVOTE", "PREVOTE", "REQUEST_VOTE", "VOTE", "HEARTBEAT"];
        let others = u64::from(n - 1);
        assert_eq!(each.map(|kind| sent(&outcome, kind)), [others; 5], "{n} nodes");
        assert_eq!(outcome.messages, 6 * others, "{n} nodes, each with an answer to a heartbeat");
        let settled = outcome.election().time_to_leader.summary().expect("a leader").max;
        assert_eq!(settled, if n == 1 { 0.0 } else { 5.0 }, "{n} nodes");
    }
}

#[test]
fn all_that_ask_at_once_stand_at_once_and_one_wins_in_the_end() {
    for n in 2..=9 {
        let setting = setting("majority", n, ON);
        let start: Vec<NodeId> = (0..n).map(NodeId).collect();
        let plan = Plan { start, ..Plan::default() };
        let first = simulate(&setting, &Plan { until: Ticks::units(9), ..plan.clone() });
        let (pairs, leaders) = (u64::from(n * (n - 1)), &first.election().leaders_seen);
        assert_eq!((first.messages, leaders.len()), (4 * pairs, 0), "{n} nodes, in vain");
        let whole = simulate(&setting, &plan);
        assert_kept(&setting, &plan, &whole);
        assert!(whole.messages >= 4 * pairs + 6 * u64::from(n - 1), "{n} nodes");
    }
}

/// The control: without pre-votes node 0 deposes whoever it does not hear, and node 4 then does.
#[test]
fn one_cut_link_deposes_leaders_without_end_unless_others_are_asked_first() {
    for seed in 0..seeds().min(20) {
        let after = |units, set| {
            let outcome = simulate(&setting("majority", 5, set), &led_by_the_last(seed, units));
            assert_verdict(&outcome, E1Term, Holds);
            outcome
        };
        let (soon, late) = (after(1_000, &[]), after(2_000, &[]));
        assert!(elections(&soon, 5) >= 20, "seed {seed}: {}", elections(&soon, 5));
        assert!(elections(&late, 5) >= elections(&soon, 5) + 20, "seed {seed}: it goes on");
        assert!(late.election().changes > soon.election().changes, "seed {seed}");
        let calm = after(2_000, ON);
        assert_eq!(elections(&calm, 5), 1, "seed {seed}: the term has not risen");
        assert!(sent(&calm, "REQUEST_PREVOTE") > 4 * 50, "seed {seed}: it asks again and again");
        assert_eq!(calm.election().leaders_seen, [NodeId(4)], "seed {seed}");
        let beliefs = [None, Some(4), Some(4), Some(4), Some(4)];
        assert_eq!(calm.election().beliefs, beliefs.map(|one| one.map(NodeId)), "seed {seed}");
    }
}

/// Nodes 1 to 3 ask for the lock every 100 units, while node 0 does not hear of the coordinator.
#[test]
fn locks_are_granted_by_the_same_leader_while_a_link_is_cut() {
    let script: Vec<(u64, u32)> = (1..=30).map(|k| (k * 100, (k % 3) as u32 + 1)).collect();
    for id in led() {
        for seed in 0..seeds().min(5) {
            // Without pre-votes somebody may wait for ever.
            let until = Ticks::units(6_000);
            let workload = asks(&script);
            let plan = Plan { seed, workload, rules: one_link_cut(), until, ..Plan::default() };
            let calm = simulate(&setting(id, 5, ON), &plan);
            assert_eq!((calm.mutex().entries, elections(&calm, 5)), (30, 0), "{id}, seed {seed}");
            assert!(sent(&calm, "REQUEST_PREVOTE") > 0, "{id}, seed {seed}");
            for property in [S1, F1, V2] {
                assert_verdict(&calm, property, Holds);
            }
            let wild = simulate(&setting(id, 5, &[]), &plan);
            assert!(elections(&wild, 5) >= 20, "{id}, seed {seed}: {}", elections(&wild, 5));
            assert_verdict(&wild, S1, Holds);
        }
    }
}

#[test]
fn a_dead_leader_is_replaced_within_two_timeouts_and_the_messages() {
    for n in [3, 4, 5, 7] {
        let mut at_once = 0;
        for seed in 0..seeds() {
            // It leads from 4; its heartbeat of 49 is the last, and arrives at 50.
            let faults = vec![crash(n - 1, 50)];
            let plan = Plan { seed, faults, start: vec![NodeId(n - 1)], ..Plan::default() };
            let setting = setting("majority", n, ON);
            let whole = simulate(&setting, &plan);
            assert_kept(&setting, &plan, &whole);
            let until = Ticks::units(50 + 2 * 10 + 5);
            let soon = simulate(&setting, &Plan { until, ..plan });
            // Two that ask within a round trip may split the votes, which takes another round.
            let split = sent(&soon, "REQUEST_VOTE") > 2 * u64::from(n - 1);
            assert!(soon.election().agreed || split, "{n} nodes, seed {seed}");
            at_once += u64::from(soon.election().agreed);
        }
        assert!(at_once > seeds() / 2, "{n} nodes: {at_once}");
    }
}

/// Node 4 leads, is cut off and steps down. Back in touch it follows, and deposes nobody.
#[test]
fn a_leader_that_was_cut_off_follows_when_it_is_back_and_nobody_is_elected_for_it() {
    for seed in 0..seeds().min(20) {
        let groups = vec![vec![NodeId(4)], (0..4).map(NodeId).collect()];
        let cut = (Ticks::units(10), Fault::Partition { groups, until: Ticks::units(300) });
        let plan = Plan { seed, faults: vec![cut], start: vec![NodeId(4)], ..Plan::default() };
        let setting = setting("majority", 5, ON);
        let parted = simulate(&setting, &Plan { until: Ticks::units(299), ..plan.clone() });
        let whole = simulate(&setting, &plan);
        assert_kept(&setting, &plan, &whole);
        assert_eq!(elections(&whole, 5), elections(&parted, 5), "seed {seed}");
        assert_eq!(whole.election().leaders_seen, parted.election().leaders_seen, "seed {seed}");
        assert_eq!(whole.election().leader, whole.election().leaders_seen.last().copied());
    }
}
