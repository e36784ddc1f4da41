//! Elections on graphs: known totals, and the right leader on many graphs at random.

use super::support::{
    assert_kept, assert_verdict, crash, restart, rows, seeds, sent, setting, simulate,
};
use crate::cluster;
use conclave_algorithms::catalog::{Entry, Family, Setting};
use conclave_algorithms::election::graph::Graph;
use conclave_core::{NodeId, Property, Ticks, Verdict};
use conclave_sim::trace::{Record, Sending, Step};
use conclave_sim::{Fault, Latency, Options, Outcome, Plan};

/// Everybody of `n` begins.
fn all(n: u32) -> Plan {
    Plan { start: (0..n).map(NodeId).collect(), ..Plan::default() }
}

/// On that graph, with ids 1 to n.
fn on(id: &str, topology: &str, n: u32) -> Setting {
    setting(id, n, &[("topology", topology)])
}

/// Runs it and asserts the total, the leader (counted from 1) and every promise.
#[track_caller]
fn assert_total(setting: &Setting, plan: &Plan, total: u64, leader: u32) -> Outcome {
    let outcome = simulate(setting, plan);
    assert_kept(setting, plan, &outcome);
    let id = setting.entry.id;
    assert_eq!(outcome.messages, total, "{id} of {} {:?}", setting.n, setting.params);
    assert_eq!(outcome.election().leader, Some(NodeId(leader - 1)), "{id}");
    outcome
}

/// When everybody knew.
fn settled(outcome: &Outcome) -> f64 {
    outcome.election().time_to_leader.summary().expect("a leader was found").max
}

/// How many passes a run of yo-yo took: what its messages say.
fn passes(setting: &Setting, plan: &Plan) -> u64 {
    let cluster = cluster(setting).expect("the setting is right");
    let options = Options { trace: true, ..Options::default() };
    let outcome = cluster.run(plan, &options).expect("the plan is right");
    let pass = |send: &Sending| send.effect.pointer("/Send/message/Yo/pass")?.as_u64();
    let of_step = |step: &Step| step.sends().filter_map(pass).max();
    let of = |record: &Record| if let Record::Step(step) = record { of_step(step) } else { None };
    outcome.records.iter().filter_map(of).max().unwrap_or(0)
}

#[test]
fn yo_yo_costs_what_is_known() {
    let with = |topology, ids: &[u64]| {
        on("yo-yo", topology, ids.len() as u32).with_ids(ids.to_vec()).expect("distinct ids")
    };
    for (setting, total, leader, rounds) in [
        (on("yo-yo", "path", 8), 35, 1, 1),
        (on("yo-yo", "ring", 8), 39, 1, 1),
        (with("ring", &[3, 17, 24, 1, 28, 15, 9, 4]), 55, 4, 2),
        (on("yo-yo", "complete", 4), 27, 1, 1),
        (on("yo-yo", "complete", 7), 90, 1, 1),
        (on("yo-yo", "star", 7), 30, 1, 1),
        (with("star", &[7, 1, 2, 3, 4, 5, 6]), 42, 2, 2),
        (with("path", &[1, 5, 2, 6, 3, 7, 4, 8]), 47, 1, 2),
        (on("yo-yo", "grid", 9), 56, 1, 1),
        (on("yo-yo", "ring", 1), 0, 1, 0),
    ] {
        for plan in [Plan::default(), all(setting.n)] {
            assert_total(&setting, &plan, total, leader);
            assert_eq!(passes(&setting, &plan), rounds, "{:?}", setting.params);
        }
    }
    let greatest = setting("yo-yo", 8, &[("choose", "max"), ("topology", "path")]);
    assert_total(&greatest, &Plan::default(), 35, 8);
}

#[test]
fn yo_yo_halves_its_sources_with_every_pass() {
    for seed in 0..seeds() {
        let n = 2 + seed as u32 % 23;
        let topology = format!("random:{}:{seed}", if n < 8 { 0.6 } else { 0.3 });
        let setting = on("yo-yo", &topology, n).with_ids(mixed(n, seed)).expect("distinct ids");
        let plan = by_chance(seed, n, 5_000);
        let outcome = simulate(&setting, &plan);
        assert_kept(&setting, &plan, &outcome);
        let graph = Graph::parse(&topology, n).expect("it is connected");
        assert_eq!(sent(&outcome, "ELECTED"), u64::from(n - 1), "seed {seed}");
        assert_eq!(sent(&outcome, "ID"), 2 * graph.edges(), "seed {seed}");
        let better = |one, other| setting.id(one) < setting.id(other);
        let source = |node: &NodeId| graph.neighbours(*node).iter().all(|&end| better(*node, end));
        let sources = (0..n).map(NodeId).filter(source).count();
        let most = u64::from(sources.next_power_of_two().ilog2()) + 1;
        assert!(passes(&setting, &plan) <= most, "seed {seed}: {sources} sources");
    }
}

#[test]
fn yo_yo_as_the_lecture_note_prints_it_elects_nobody() {
    for topology in ["ring", "path", "complete", "grid"] {
        let printed = setting("yo-yo", 8, &[("text", "seed"), ("topology", topology)]);
        let plan = Plan { until: Ticks::units(5_000), ..all(8) };
        let outcome = simulate(&printed, &plan);
        assert_kept(&printed, &plan, &outcome);
        assert_verdict(&outcome, Property::E2, Verdict::Violated);
        assert_eq!(outcome.election().leaders_seen, [], "{topology}");
    }
}

#[test]
fn wireless_costs_what_is_known() {
    for (topology, n, total) in
        [("complete", 4, 21), ("grid", 9, 40), ("path", 8, 21), ("star", 7, 18), ("ring", 1, 0)]
    {
        for start in 0..n {
            let plan = Plan { start: vec![NodeId(start)], ..Plan::default() };
            assert_total(&on("wireless", topology, n), &plan, total, n);
        }
    }
}

#[test]
fn wireless_elects_the_best_battery_and_then_the_greatest_id() {
    let charge = [("topology", "grid"), ("rank", "20\n55\n90\n10\n70\n90\n30\n90\n5")];
    let grid = setting("wireless", 9, &charge);
    assert_total(&grid, &Plan::default(), 40, 8);
    let plan = Plan { dead: vec![NodeId(7)], ..Plan::default() };
    let outcome = simulate(&grid, &plan);
    assert_kept(&grid, &plan, &outcome);
    assert_eq!(outcome.election().leader, Some(NodeId(5)));
}

#[test]
fn flood_max_costs_what_is_known() {
    for (topology, n, plain, optimised, diameter) in [
        ("complete", 7, 42, 42, 1.0),
        ("ring", 8, 64, 46, 4.0),
        ("path", 8, 98, 62, 7.0),
        ("grid", 9, 96, 70, 4.0),
        ("ring", 1, 0, 0, 0.0),
    ] {
        let outcome = assert_total(&on("flood-max", topology, n), &all(n), plain, n);
        assert_eq!(settled(&outcome), diameter, "{topology}");
        assert_total(&on("flood-max", topology, n), &Plan::default(), 3 * plain, n);
        let set = [("topology", topology), ("opt", "true")];
        assert_total(&setting("flood-max", n, &set), &all(n), optimised, n);
    }
}

#[test]
fn lost_messages_can_make_flood_max_elect_two() {
    let pair = setting("flood-max", 2, &[("opt", "true")]);
    let broken = (1..50).any(|seed| {
        let outcome = simulate(&pair, &Plan { loss: 0.4, seed, ..all(2) });
        outcome.verdict(Property::E1) == Verdict::Violated && outcome.election().at_once > 1
    });
    assert!(broken, "no run with losses elected two");
}

#[test]
fn echo_costs_what_is_known() {
    for (topology, n, one, everybody) in [
        ("complete", 7, 78, 189),
        ("ring", 8, 25, 51),
        ("path", 8, 21, 55),
        ("grid", 9, 40, 91),
        ("ring", 1, 0, 0),
    ] {
        assert_total(&on("echo", topology, n), &Plan::default(), one, 1);
        assert_total(&on("echo", topology, n), &all(n), everybody, n);
    }
}

/// A plan of random latencies, up to `most` ticks, in which some of `n` begin.
fn by_chance(seed: u64, n: u32, most: u64) -> Plan {
    let latency = Latency::Uniform(Ticks(1), Ticks(most));
    let start = (0..n).filter(|&node| node == 0 || (seed >> (node % 5)) & 1 == 0);
    Plan { seed, latency, start: start.map(NodeId).collect(), ..Plan::default() }
}

/// Distinct ids in an order that depends on the seed.
fn mixed(n: u32, seed: u64) -> Vec<u64> {
    let mix = |node: u32| (u64::from(node) + seed * 100).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 11;
    (0..n).map(mix).collect()
}

#[test]
fn the_right_node_leads_on_every_random_graph() {
    for seed in 0..seeds() {
        let n = 2 + seed as u32 % 19;
        let random = format!("random:0.4:{seed}");
        let topology =
            if seed % 4 > 0 { &random } else { ["ring", "path", "star"][seed as usize / 4 % 3] };
        for (id, most, set) in [
            ("yo-yo", 9_000, ("choose", "min")),
            ("yo-yo", 9_000, ("choose", "max")),
            ("wireless", 9_000, ("rank", "id")),
            ("flood-max", 1_000, ("opt", "false")),
            ("flood-max", 1_000, ("opt", "true")),
            ("echo", 9_000, ("topology", topology)),
        ] {
            let setting = setting(id, n, &[("topology", topology), set]);
            let setting = setting.with_ids(mixed(n, seed)).expect("distinct ids");
            let mut plan = by_chance(seed, n, most);
            plan.fifo = id == "wireless" || seed % 2 == 0; // The others need no order.
            if id == "yo-yo" {
                plan.duplicate = 0.2;
            }
            let outcome = simulate(&setting, &plan);
            assert_kept(&setting, &plan, &outcome);
            assert!(outcome.election().agreed, "{id}, seed {seed}");
        }
    }
}

#[test]
fn only_a_candidate_is_elected() {
    for (id, leader) in [("yo-yo", 3), ("wireless", 5), ("flood-max", 5)] {
        let some = setting(id, 7, &[]).with_candidates([2, 4].map(NodeId).into_iter().collect());
        let outcome = simulate(&some, &all(7));
        assert_kept(&some, &all(7), &outcome);
        assert_eq!(outcome.election().leader, Some(NodeId(leader - 1)), "{id}");
    }
}

/// The greatest number of messages is what each wave would cost alone.
#[test]
fn waves_that_meet_cost_no_more_than_each_alone() {
    for seed in 0..seeds() {
        let n = 2 + seed as u32 % 23;
        let topology = format!("random:0.4:{seed}");
        let plan = by_chance(seed, n, 4_000);
        let waves = plan.start.len() as u64;
        let m = Graph::parse(&topology, n).expect("it is connected").edges();
        let total = |id| {
            let setting = on(id, &topology, n).with_ids(mixed(n, seed)).expect("distinct ids");
            simulate(&setting, &plan).messages
        };
        let flood = 2 * m - u64::from(n) + 1;
        let echo = total("echo");
        assert!((2 * m + flood..=2 * m * waves + flood).contains(&echo), "seed {seed}: {echo}");
        let (least, wireless) = (2 * m + flood, total("wireless"));
        assert!((least..=least * waves).contains(&wireless), "seed {seed}: {wireless}");
    }
}

#[test]
fn wireless_survives_one_crash_on_a_ring() {
    for seed in 0..seeds() {
        let n = 3 + seed as u32 % 12;
        let setting = on("wireless", "ring", n).with_ids(mixed(n, seed)).expect("distinct ids");
        // Not the first, without which there might be no election at all.
        let victim = 1 + (seed / 12) as u32 % (n - 1);
        let faults = vec![(Ticks(seed.wrapping_mul(7_919) % 40_000), Fault::Crash(NodeId(victim)))];
        let plan = Plan { faults, ..by_chance(seed, n, 3_000) };
        let outcome = simulate(&setting, &plan);
        assert_kept(&setting, &plan, &outcome);
        assert!(outcome.election().agreed, "seed {seed}");
    }
}

#[test]
fn wireless_survives_crashes_returns_and_partitions() {
    for seed in 0..seeds() {
        let n = 5 + seed as u32 % 4;
        let victim = |salt: u64| (seed.wrapping_mul(7 + salt) % u64::from(n - 1)) as u32 + 1;
        let setting = on("wireless", "complete", n);
        let setting = setting.with_ids(mixed(n, seed)).expect("distinct ids");
        let cut = 1 + seed as u32 % (n - 1);
        let groups = vec![(0..cut).map(NodeId).collect(), (cut..n).map(NodeId).collect()];
        let parted = Fault::Partition { groups, until: Ticks::units(70 + seed % 30) };
        let faults = match seed % 4 {
            0 => vec![crash(victim(0), seed % 9), crash(victim(1), 3 + seed % 11)],
            1 => vec![crash(victim(0), seed % 9), restart(victim(0), 20 + seed % 7, false)],
            2 => vec![crash(victim(0), seed % 9), restart(victim(0), 20 + seed % 7, true)],
            _ => vec![(Ticks::units(seed % 40), parted)],
        };
        let plan = Plan { faults, ..by_chance(seed, n, 3_000) };
        let outcome = simulate(&setting, &plan);
        assert_kept(&setting, &plan, &outcome);
        assert!(outcome.election().agreed, "seed {seed}");
    }
}

#[test]
fn a_crash_stops_the_others() {
    for (id, topology) in [("yo-yo", "path"), ("echo", "path")] {
        let setting = on(id, topology, 8);
        let outcome = simulate(&setting, &Plan { faults: vec![crash(4, 1)], ..Plan::default() });
        assert_verdict(&outcome, Property::E2, Verdict::Violated);
    }
}

#[test]
fn messages_and_time_are_what_the_formulas_say() {
    let takes_a_graph = |entry: &&Entry| entry.parameters.iter().any(|one| one.name == "topology");
    for id in rows(Family::Election).filter(takes_a_graph).map(|entry| entry.id) {
        for topology in ["ring", "complete", "grid", "star", "path", "random:0.5"] {
            for n in [1, 2, 3, 4, 6, 9, 15, 40] {
                let setting = on(id, topology, n).with_ids(mixed(n, 1)).expect("distinct ids");
                let cost = setting.entry.cost.election().expect("an election");
                let within = |range: (f64, f64), measured: f64, what: &str| {
                    let fits = range.0 <= measured && measured <= range.1;
                    assert!(fits, "{id} {topology} {n}: {what} {measured}, said {range:?}");
                };
                for start in 0..n {
                    let plan = Plan { start: vec![NodeId(start)], ..Plan::default() };
                    let outcome = simulate(&setting, &plan);
                    within((cost.one.range)(&setting), outcome.messages as f64, "one");
                    let time = outcome.election().time_to_leader.summary().expect("agreed").max;
                    within((cost.time.range)(&setting), time, "time");
                }
                let outcome = simulate(&setting, &all(n));
                within((cost.all.range)(&setting), outcome.messages as f64, "all");
            }
        }
    }
}
