//! The elections on a ring: their costs over every order of a small ring, any latencies, and
//! crashes in the middle of an election.

use super::support::{assert_none_forgotten, crash, rows, setting, simulate};
use conclave_algorithms::catalog::{self, Entry, Family, Formula, Setting};
use conclave_core::{Links, NodeId, Ticks, Verdict};
use conclave_sim::{Latency, Outcome, Plan, Stream};

/// The ids of the ring that textbooks draw.
const RING: [u64; 8] = [3, 17, 24, 1, 28, 15, 9, 4];

const SKIP: (&str, &str) = ("skip", "dead");
const INITIATORS: (&str, &str) = ("join", "initiators");
const SEED: (&str, &str) = ("text", "seed");

/// A parameter and its value.
type Set = (&'static str, &'static str);

/// Every variant, and whether its links may reorder.
const VARIANTS: [(&str, &[Set], bool); 6] = [
    ("chang-roberts", &[], true),
    ("chang-roberts", &[INITIATORS], true),
    ("chang-roberts", &[SKIP], true),
    ("chang-roberts", &[SEED], true),
    ("hirschberg-sinclair", &[], true),
    ("peterson", &[], false),
];

/// Elections on a ring that are not looked at here, and why.
const ELSEWHERE: &[(&str, &str)] =
    &[("ring", "it replaces a leader that has just died: elections.rs has its totals")];

/// All elections on a ring.
fn on_a_ring() -> impl Iterator<Item = &'static Entry> {
    rows(Family::Election).filter(|entry| {
        let cluster = crate::cluster(&setting(entry.id, 5, &[]));
        // A graph may be a ring too; those are in graphs.rs.
        cluster.is_ok_and(|cluster| *cluster.links() == Links::Ring)
    })
}

#[test]
fn every_election_on_a_ring_is_here() {
    let has = |id: &str| VARIANTS.iter().any(|(known, ..)| *known == id);
    assert_none_forgotten(on_a_ring(), "VARIANTS of conformance/rings.rs", has, ELSEWHERE);
}

fn ring(id: &str, ids: &[u64], set: &[(&str, &str)]) -> Setting {
    let setting = setting(id, ids.len() as u32, set).with_ids(ids.to_vec());
    setting.unwrap_or_else(|error| panic!("{error}"))
}

/// A run in which no promise may be broken.
fn sound(setting: &Setting, plan: &Plan) -> Outcome {
    let outcome = simulate(setting, plan);
    for property in (setting.entry.has)(&setting.params) {
        let (id, ids, params) = (setting.entry.id, &setting.ids, &setting.params);
        let verdict = outcome.verdict(property);
        assert_eq!(verdict, Verdict::Holds, "{property}: {id} {ids:?} {params:?} {plan:?}");
    }
    outcome
}

/// An undisturbed election that these nodes begin.
fn elect(setting: &Setting, start: &[u32]) -> Outcome {
    let start = start.iter().copied().map(NodeId).collect();
    sound(setting, &Plan { start, ..Plan::default() })
}

fn everybody(n: usize) -> Vec<u32> {
    (0..n as u32).collect()
}

/// How long it took until everybody knew.
fn time(outcome: &Outcome) -> f64 {
    outcome.election().time_to_leader.summary().expect("a leader was found").mean
}

/// All orders of 1 to n in which n comes first: each ring once.
fn orders(n: u64) -> Vec<Vec<u64>> {
    (1..n).fold(vec![vec![n]], |orders, id| {
        let longer = |order: Vec<u64>| {
            (1..=order.len()).map(move |at| [&order[..at], &[id], &order[at..]].concat())
        };
        orders.into_iter().flat_map(longer).collect()
    })
}

/// What it costs when everybody begins, over all orders of the ring.
fn costs_when_all_begin(id: &str, n: u64) -> Vec<u64> {
    let of = |ids: &Vec<u64>| elect(&ring(id, ids, &[]), &everybody(ids.len())).messages;
    orders(n).iter().map(of).collect()
}

fn range(costs: &[u64]) -> Option<(u64, u64)> {
    Some((*costs.iter().min()?, *costs.iter().max()?))
}

#[test]
fn chang_roberts_on_the_ring_that_textbooks_draw() {
    let corrected = ring("chang-roberts", &RING, &[]);
    let one = elect(&corrected, &[1]);
    assert_eq!(one.messages_by_kind, [("ELECTION", 11), ("ELECTED", 8)]);
    assert_eq!(one.election().leader, Some(NodeId(4)));
    assert_eq!(elect(&corrected, &[1, 6]).messages, 22);
    assert_eq!(elect(&corrected, &everybody(8)).messages, 30);
}

#[test]
fn chang_roberts_as_printed_makes_a_lap_of_the_result_for_each_initiator() {
    let printed = ring("chang-roberts", &RING, &[SEED]);
    let two = elect(&printed, &[1, 6]);
    assert_eq!(two.messages_by_kind, [("ELECTION", 25), ("ELECTED", 16)]);
    assert_eq!(elect(&printed, &everybody(8)).messages, 156);
}

#[test]
fn among_initiators_the_greatest_initiator_wins() {
    for (id, set) in [("chang-roberts", &[INITIATORS][..]), ("peterson", &[])] {
        let ring = ring(id, &RING, set);
        assert_eq!(elect(&ring, &[1, 6]).election().leader, Some(NodeId(1)), "{id}");
        let alone = elect(&ring, &[6]);
        assert_eq!((alone.election().leader, alone.messages), (Some(NodeId(6)), 16), "{id}");
    }
}

#[test]
fn chang_roberts_costs_the_distance_to_the_greatest_and_two_laps() {
    for n in 2..=7_u32 {
        for ids in orders(n.into()) {
            let ring = ring("chang-roberts", &ids, &[]);
            for start in 0..n {
                let outcome = elect(&ring, &[start]);
                let distance = (n - start) % n; // The greatest comes first.
                assert_eq!(outcome.messages, u64::from(distance + 2 * n));
                assert_eq!(time(&outcome), f64::from(distance + 2 * n - 1));
            }
        }
    }
}

#[test]
fn chang_roberts_when_all_begin() {
    for n in 2..=7_u64 {
        let costs = costs_when_all_begin("chang-roberts", n);
        assert_eq!(range(&costs), Some((3 * n - 1, n * (n + 1) / 2 + n)));
        let mean = costs.iter().sum::<u64>() as f64 / costs.len() as f64;
        let cost = catalog::find("chang-roberts").ok().and_then(|entry| entry.cost.election());
        let formula = cost.and_then(|cost| cost.all_mean.as_ref()).expect("it is known");
        let (exact, _) = (formula.range)(&setting("chang-roberts", n as u32, &[]));
        assert!((mean - exact).abs() < 1e-9, "{n} nodes: {mean}");
    }
    let costs = costs_when_all_begin("chang-roberts", 7);
    assert_eq!(costs.iter().sum::<u64>() * 100 / costs.len() as u64, 2515);
    let ascending = ring("chang-roberts", &[1, 2, 3, 4, 5, 6, 7], &[]);
    assert_eq!(elect(&ascending, &everybody(7)).messages, 20);
    let descending = ring("chang-roberts", &[7, 6, 5, 4, 3, 2, 1], &[]);
    assert_eq!(elect(&descending, &everybody(7)).messages, 35);
}

#[test]
fn hirschberg_and_sinclair_when_all_begin() {
    let known = [(12, 12), (26, 26), (32, 36), (54, 60), (60, 74), (66, 85), (72, 97)];
    for (n, known) in (2..).zip(known) {
        let costs = costs_when_all_begin("hirschberg-sinclair", n);
        assert_eq!(range(&costs), Some(known), "{n} nodes");
    }
    let drawn = ring("hirschberg-sinclair", &RING, &[]);
    assert_eq!(elect(&drawn, &everybody(8)).messages, 78);
    assert_eq!(elect(&drawn, &[1]).messages, 65);
    let sorted = ring("hirschberg-sinclair", &[1, 2, 3, 4, 5, 6, 7, 8], &[]);
    assert_eq!(elect(&sorted, &everybody(8)).messages, 72);
}

#[test]
fn peterson_when_all_begin() {
    let known = [(8, 8), (12, 12), (16, 24), (20, 30), (24, 36), (28, 42), (32, 64)];
    for (n, known) in (2..).zip(known) {
        let costs = costs_when_all_begin("peterson", n);
        assert!(costs.iter().all(|cost| cost % (2 * n) == 0), "{n} nodes: whole phases");
        assert_eq!(range(&costs), Some(known), "{n} nodes");
    }
    assert_eq!(elect(&ring("peterson", &RING, &[]), &everybody(8)).messages, 48);
    let sorted = ring("peterson", &[1, 2, 3, 4, 5, 6, 7, 8], &[]);
    assert_eq!(elect(&sorted, &everybody(8)).messages, 32);
}

#[test]
fn every_order_of_the_ring_stays_within_the_formulas() {
    for (id, set, _) in VARIANTS {
        for ids in (1..=6).flat_map(orders) {
            let ring = ring(id, &ids, set);
            let cost = ring.entry.cost.election().expect("an election");
            let within = |formula: &Formula, value: f64| {
                let (least, most) = (formula.range)(&ring);
                assert!(least <= value && value <= most, "{id} {set:?} {ids:?}: {value}");
            };
            for start in everybody(ids.len()) {
                let outcome = elect(&ring, &[start]);
                within(&cost.one, outcome.messages as f64);
                within(&cost.time, time(&outcome));
            }
            within(&cost.all, elect(&ring, &everybody(ids.len())).messages as f64);
        }
    }
}

/// A ring in any order, begun by anybody, with any latencies; and somebody who begins.
fn random(seed: u64, reorders: bool) -> (Vec<u64>, Plan, NodeId) {
    let mut random = Stream::new(seed, 1);
    let mut ids = vec![1];
    for id in 2..=2 + random.below(6) {
        ids.insert(random.below(id) as usize, id);
    }
    let first = NodeId(random.below(ids.len() as u64) as u32);
    let mut start: Vec<NodeId> = everybody(ids.len()).into_iter().map(NodeId).collect();
    start.retain(|&node| node == first || random.below(2) == 0);
    let latency = match random.below(3) {
        0 => Latency::Constant(Ticks::UNIT),
        1 => Latency::Uniform(Ticks(1), Ticks::units(3)),
        _ => Latency::Exponential(Ticks::units(2)),
    };
    let fifo = !reorders || random.below(2) == 0;
    (ids, Plan { seed, latency, fifo, start, ..Plan::default() }, first)
}

#[test]
fn latencies_and_initiators_do_not_change_the_result() {
    for (id, set, reorders) in VARIANTS {
        for seed in 0..500 {
            let (ids, plan, _) = random(seed, reorders);
            sound(&ring(id, &ids, set), &plan);
        }
    }
}

#[test]
fn peterson_needs_links_that_keep_the_order() {
    let ring = ring("peterson", &RING, &[]);
    let latency = Latency::Uniform(Ticks(1), Ticks::units(3));
    let start: Vec<NodeId> = everybody(8).into_iter().map(NodeId).collect();
    let stalls = |seed| {
        let (latency, start) = (latency.clone(), start.clone());
        let plan = Plan { seed, latency, start, fifo: false, ..Plan::default() };
        simulate(&ring, &plan).election().leader.is_none()
    };
    assert!((0..100).any(stalls));
}

#[test]
fn a_dead_member_stops_the_election_unless_it_is_skipped() {
    for (dead, start) in (0..8).flat_map(|dead| (0..8).map(move |start| (dead, start))) {
        if dead == start {
            continue;
        }
        let (dead, start) = (NodeId(dead), NodeId(start));
        let plan = Plan { start: vec![start], dead: vec![dead], ..Plan::default() };
        for id in ["chang-roberts", "hirschberg-sinclair", "peterson"] {
            assert_eq!(simulate(&ring(id, &RING, &[]), &plan).election().leader, None, "{id}");
        }
        let outcome = sound(&ring("chang-roberts", &RING, &[SKIP]), &plan);
        let greatest = NodeId(if dead == NodeId(4) { 2 } else { 4 });
        assert_eq!(outcome.election().leader, Some(greatest));
        let place = |node: NodeId| node.0 - u32::from(node > dead);
        let distance = (place(greatest) + 7 - place(start)) % 7;
        assert_eq!(outcome.messages, u64::from(distance + 14), "as if the ring were one shorter");
    }
}

#[test]
fn crashes_in_the_middle_are_survived_by_skipping() {
    let mut disturbed = 0;
    for seed in 0..2_000 {
        let (ids, mut plan, survivor) = random(seed, true);
        let mut random = Stream::new(seed, 2);
        for node in everybody(ids.len()).into_iter().filter(|&node| node != survivor.0) {
            if random.below(3) > 0 {
                let (_, fault) = crash(node, 0);
                plan.faults.push((Ticks(1 + random.below(Ticks::units(40).0)), fault));
            }
        }
        let outcome = sound(&ring("chang-roberts", &ids, &[SKIP]), &plan);
        disturbed += u32::from(outcome.election().leaders_seen.len() > 1);
        assert!(outcome.election().agreed);
        sound(&ring("chang-roberts", &ids, &[SKIP, INITIATORS]), &plan);
    }
    assert!(disturbed > 500, "only {disturbed} runs lost a leader");
}

#[test]
fn what_cannot_be_combined_is_refused() {
    let refused = |setting: Setting| match crate::cluster(&setting) {
        Ok(_) => panic!("{:?} was built", setting.params),
        Err(error) => error.to_string(),
    };
    let both = "--set text: seed has no rule for join=initiators or skip=dead";
    assert_eq!(refused(ring("chang-roberts", &RING, &[SEED, SKIP])), both);
    assert_eq!(refused(ring("chang-roberts", &RING, &[SEED, INITIATORS])), both);
    let few = ring("peterson", &RING, &[]).with_candidates([NodeId(0)].into_iter().collect());
    assert!(refused(few).contains("candidates"));
}
