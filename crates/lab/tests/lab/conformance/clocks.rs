//! The clocks: the examples of the lectures number by number, and their promise in random runs.

use super::support::{rows, setting};
use crate::cluster;
use conclave_algorithms::catalog::Family;
use conclave_algorithms::{Error, catalog};
use conclave_core::clock::{Refusal, Time};
use conclave_core::timekeeping::Kind;
use conclave_core::{NodeId, Property, Ticks, Verdict};
use conclave_sim::{Act, Keeping, Latency, Options, Outcome, Plan, ScriptLine, Stream, Workload};

const CLOCKS: [&str; 4] = ["lamport-clock", "vector-clock", "matrix-clock", "hybrid-clock"];

fn run(id: &str, set: &[(&str, &str)]) -> Outcome {
    run_by(id, 3, set, &Plan::default())
}

fn run_by(id: &str, n: u32, set: &[(&str, &str)], plan: &Plan) -> Outcome {
    let cluster = cluster(&setting(id, n, set)).expect("it can be built");
    cluster.run(plan, &Options::default()).expect("the plan is sound")
}

fn number(time: Option<&Time>) -> u64 {
    match time {
        None => 0,
        Some(Time::Scalar(time)) => *time,
        Some(other) => panic!("{other} is no number"),
    }
}

/// When, where, carried, before, after: every receipt of the processes.
fn receipts(keeping: &Keeping) -> Vec<(u64, u32, u64, u64, u64)> {
    let receipts = keeping
        .records
        .iter()
        .filter(|record| matches!(record.kind, Kind::Receive { .. }) && record.node != NodeId(3));
    let row = receipts.map(|record| {
        let (carried, before) = (keeping.carried(record), keeping.before(record));
        let after = number(Some(&record.time));
        (record.at.0 / 1_000, record.node.0 + 1, number(carried), number(before), after)
    });
    row.collect()
}

/// When and with what time every message of the processes left.
fn sendings(keeping: &Keeping) -> Vec<(u64, u64)> {
    let sendings = keeping
        .records
        .iter()
        .filter(|record| matches!(record.kind, Kind::Send { .. }) && record.node != NodeId(3));
    sendings.map(|record| (record.at.0 / 1_000, number(Some(&record.time)))).collect()
}

fn readings(keeping: &Keeping, at: Ticks) -> [u64; 3] {
    [0, 1, 2].map(|node| number(keeping.clock_at(NodeId(node), at)))
}

#[test]
fn every_clock_of_the_catalogue_is_here() {
    let listed: Vec<_> = rows(Family::Clock).map(|entry| entry.id).collect();
    assert_eq!(listed, CLOCKS);
}

#[test]
fn the_task_goes_around_as_the_notes_print_it_and_slips_once() {
    let outcome = run("lamport-clock", &[("task", "1231321"), ("text", "seed")]);
    let keeping = outcome.clock();
    assert_eq!(
        receipts(keeping),
        [
            (510, 1, 1, 0, 2),
            (2_520, 2, 4, 4, 4),
            (4_530, 3, 8, 12, 12),
            (6_540, 1, 18, 8, 19),
            (8_550, 3, 21, 24, 24),
            (10_560, 2, 30, 20, 31),
            (12_570, 1, 35, 25, 36),
        ]
    );
    assert_eq!(
        sendings(keeping),
        [
            (2_510, 4),
            (4_520, 8),
            (6_530, 18),
            (8_540, 21),
            (10_550, 30),
            (12_560, 35),
            (14_570, 38)
        ]
    );
    assert_eq!(outcome.end, Ticks::units(14_580));
    assert_eq!(readings(keeping, outcome.end), [38, 39, 42]);
    let [slip] = outcome.violations.as_slice() else { panic!("{:?}", outcome.violations) };
    assert_eq!((slip.property, slip.at), (Property::HB, Ticks::units(2_520)));
}

#[test]
fn the_corrected_rule_keeps_the_order() {
    let outcome = run("lamport-clock", &[("task", "1231321")]);
    let rows: Vec<(u64, u64, u64)> = receipts(outcome.clock())
        .into_iter()
        .map(|(_, _, carried, before, after)| (carried, before, after))
        .collect();
    assert_eq!(
        rows,
        [(1, 0, 2), (5, 4, 6), (11, 12, 13), (20, 9, 21), (24, 26, 27), (34, 23, 35), (40, 28, 41)]
    );
    let sent: Vec<u64> = sendings(outcome.clock()).into_iter().map(|(_, time)| time).collect();
    assert_eq!(sent, [5, 11, 20, 24, 34, 40, 44]);
    assert_eq!(outcome.verdict(Property::HB), Verdict::Holds);
    assert_eq!(outcome.messages, 8);
}

#[test]
fn a_short_task_ends_where_the_notes_say() {
    let outcome = run("lamport-clock", &[("task", "3132"), ("text", "seed")]);
    let keeping = outcome.clock();
    let rows: Vec<_> =
        receipts(keeping).into_iter().map(|(_, node, c, b, a)| (node, c, b, a)).collect();
    assert_eq!(rows, [(3, 1, 0, 2), (1, 8, 2, 9), (3, 11, 14, 14), (2, 20, 12, 21)]);
    let sent: Vec<u64> = sendings(keeping).into_iter().map(|(_, time)| time).collect();
    assert_eq!(sent, [8, 11, 20, 25]);
    assert_eq!(readings(keeping, outcome.end), [15, 25, 26]);
}

#[test]
fn a_receipt_at_the_time_of_its_sending_shows_the_slip() {
    for task in ["11", "12", "22", "23", "33"] {
        let slips = run("lamport-clock", &[("task", task), ("text", "seed")]);
        let at: Vec<Ticks> = slips.violations.iter().map(|violation| violation.at).collect();
        assert_eq!(at, [Ticks::units(2_520)], "{task}");
        let holds = run("lamport-clock", &[("task", task)]);
        assert_eq!(holds.verdict(Property::HB), Verdict::Holds, "{task}");
    }
    for id in CLOCKS {
        let outcome = run(id, &[("task", "2132121")]);
        assert_eq!(outcome.verdict(Property::HB), Verdict::Holds, "{id}");
        assert_eq!((outcome.messages, outcome.clock().stamped), (8, 16), "{id}");
    }
}

#[test]
fn an_empty_task_is_answered_at_once_and_a_wrong_one_is_refused() {
    for text in ["corrected", "seed"] {
        let outcome = run("lamport-clock", &[("task", ""), ("text", text)]);
        let [only] = outcome.clock().records.as_slice() else { panic!("one event") };
        assert_eq!((only.node, only.at), (NodeId(3), Ticks::units(500)));
        assert_eq!((number(Some(&only.time)), outcome.messages), (1, 0));
    }
    let refused = |set: &[(&str, &str)]| {
        let setting = catalog::find("vector-clock").and_then(|entry| entry.setting(3, set));
        let error = cluster(&setting.expect("it has these")).map(|_| ());
        error.expect_err("it cannot be built")
    };
    for task in ["124", "1x", "0", "-1", "1 2"] {
        assert!(
            matches!(refused(&[("task", task)]), Error::Unusable { name: "task", .. }),
            "{task}"
        );
    }
    assert!(matches!(refused(&[("task", &"1".repeat(49))]), Error::Unusable { .. }));
    for rates in ["6,8", "6,8,x", "6,8,0", "6,8,10,12", ""] {
        let error = refused(&[("rates", rates)]);
        assert!(matches!(error, Error::Unusable { name: "rates", .. }), "{rates}");
    }
    assert!(matches!(refused(&[("task", "1"), ("rates", "6,8,10")]), Error::Unusable { .. }));
}

#[test]
fn drifting_clocks_are_set_right_by_messages() {
    let outcome = run("lamport-clock", &[("rates", "6,8,10")]);
    let keeping = outcome.clock();
    let rows = [
        [0, 0, 0],
        [6, 8, 10],
        [12, 16, 20],
        [18, 24, 30],
        [24, 32, 40],
        [30, 40, 50],
        [36, 48, 60],
        [42, 61, 70],
        [48, 69, 80],
        [70, 77, 90],
        [76, 85, 100],
    ];
    for (tick, row) in (0..).zip(rows) {
        assert_eq!(readings(keeping, Ticks::units(tick + 1) - Ticks(1)), row, "tick {tick}");
    }
    let sent: Vec<u64> = sendings(keeping).into_iter().map(|(_, time)| time).collect();
    assert_eq!(sent, [6, 24, 60, 69]);
    assert_eq!(outcome.verdict(Property::HB), Verdict::Holds);
}

/// The first clock is twice as fast as the second, whose second tick comes before the message that
/// left at the first one.
#[test]
fn a_drifting_clock_is_set_right_by_a_message_of_the_very_same_time() {
    let outcome = run("lamport-clock", &[("rates", "16,8,10")]);
    let first = receipts(outcome.clock()).into_iter().next().expect("a receipt");
    assert_eq!((first.1, first.2, first.4), (2, 16, 17));
    assert_eq!(outcome.verdict(Property::HB), Verdict::Holds);
}

#[test]
fn left_alone_they_let_two_messages_arrive_before_they_were_sent() {
    let outcome = run("lamport-clock", &[("rates", "6,8,10"), ("correct", "false")]);
    let impossible: Vec<(u64, u64)> = receipts(outcome.clock())
        .into_iter()
        .map(|(_, _, carried, _, after)| (carried, after))
        .filter(|(carried, after)| carried >= after)
        .collect();
    assert_eq!(impossible, [(60, 56), (64, 54)]);
    assert_eq!(outcome.violations.len(), 2);
}

#[test]
fn a_clock_too_far_ahead_is_refused() {
    let outcome = run("hybrid-clock", &[("skew", "15"), ("ahead", "9")]);
    let [refused] = outcome.clock().refusals.as_slice() else { panic!("one refusal") };
    assert_eq!((refused.node, refused.from), (NodeId(1), NodeId(0)));
    assert_eq!(refused.why, Refusal::TooFarAhead);
    assert_eq!(outcome.verdict(Property::HB), Verdict::Holds);
}

/// Things happening at random, over a network that loses, doubles and delays.
fn random_plan(seed: u64, n: u32) -> Plan {
    let mut random = Stream::new(seed, 9);
    let mut node = || NodeId(random.below(u64::from(n)) as u32);
    let mut script: Vec<ScriptLine> = (0..60)
        .map(|line| {
            let (actor, other) = (node(), node());
            let act = if line % 3 == 0 || actor == other { Act::Event } else { Act::Tell(other) };
            ScriptLine { at: Ticks(line * 700), node: actor, act }
        })
        .collect();
    script.sort_by_key(|line| line.at);
    Plan {
        seed,
        latency: Latency::Exponential(Ticks::units(4)),
        fifo: seed.is_multiple_of(2),
        loss: 0.1,
        duplicate: 0.2,
        workload: Workload::Script(script),
        ..Plan::default()
    }
}

#[test]
fn every_clock_keeps_its_promise_in_random_runs() {
    for seed in 0..100 {
        let n = 1 + (seed % 5) as u32;
        for id in CLOCKS {
            let outcome = run_by(id, n, &[], &random_plan(seed, n));
            assert_eq!(outcome.violations, [], "{id}, seed {seed}");
            let keeping = outcome.clock();
            let pairs = keeping.pairs.expect("few events");
            for record in &keeping.records {
                match &record.time {
                    Time::Scalar(time) => assert_eq!(*time, record.lamport, "seed {seed}"),
                    Time::Vector(time) => assert_eq!(*time, record.vector, "seed {seed}"),
                    Time::Matrix(time) => assert_eq!(time.row(record.node), record.vector),
                    Time::Hybrid(_) => {}
                }
            }
            let exact = ["vector-clock", "matrix-clock"].contains(&id);
            assert!(!exact || pairs.ordered_by_clock == 0, "{id}, seed {seed}");
            assert!(pairs.ordered_by_lamport <= pairs.concurrent);
        }
    }
}

#[test]
fn a_clock_that_forgets_breaks_its_promise() {
    let mut plan = random_plan(1, 3);
    let node = NodeId(0);
    let forgets = conclave_sim::Fault::Restart { node, amnesia: true };
    plan.faults = vec![(Ticks::units(20), forgets)];
    for id in ["lamport-clock", "vector-clock", "matrix-clock"] {
        let outcome = run_by(id, 3, &[], &plan);
        assert_eq!(outcome.verdict(Property::HB), Verdict::Violated, "{id}");
        // Nobody can tell any more which event was the sending of a message.
        assert_eq!(outcome.verdict(Property::HBExact), Verdict::NotChecked, "{id}");
    }
    let remembers = conclave_sim::Fault::Restart { node, amnesia: false };
    plan.faults = vec![(Ticks::units(20), remembers)];
    for id in CLOCKS {
        let outcome = run_by(id, 3, &[], &plan);
        assert_eq!(outcome.verdict(Property::HB), Verdict::Holds, "{id}");
    }
}

#[test]
fn alone_a_clock_tells_nobody() {
    for id in CLOCKS {
        let outcome = run_by(id, 1, &[], &Plan::default());
        let kinds: Vec<Kind> = outcome.clock().records.iter().map(|record| record.kind).collect();
        assert_eq!(kinds, [Kind::Local], "{id}");
    }
}
