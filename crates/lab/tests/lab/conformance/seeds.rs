//! Random runs within the assumptions: random latency, contention, pauses, withdrawals and whatever
//! crashes the algorithm says it survives. No promise of the catalogue may be broken. Those that
//! stand on an election have runs of their own.
//!
//! `CONCLAVE_SEEDS` says how many seeds each algorithm gets: 100 by default, 1,000 in
//! `scripts/soak`.

use super::support::{assert_kept, crash, restart, rows, seeds, setting, simulate};
use conclave_algorithms::catalog::{Entry, Family};
use conclave_core::{Bounds, Network, NodeId, Ticks};
use conclave_sim::{Act, Fault, Latency, Plan, ScriptLine, Stream, Workload};

/// What an algorithm survives, beyond slow messages and slow nodes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Survives {
    Nothing,
    /// The crash of this many of the separate coordinators.
    Coordinators(u32),
}

#[derive(Clone, Copy)]
struct Row {
    id: &'static str,
    set: &'static [(&'static str, &'static str)],
    fifo: bool,
    survives: Survives,
}

const fn row(id: &'static str, set: &'static [(&'static str, &'static str)]) -> Row {
    Row { id, set, fifo: false, survives: Survives::Nothing }
}

const fn ordered(id: &'static str, set: &'static [(&'static str, &'static str)]) -> Row {
    Row { id, set, fifo: true, survives: Survives::Nothing }
}

const fn tough(
    id: &'static str,
    set: &'static [(&'static str, &'static str)],
    survives: Survives,
) -> Row {
    Row { id, set, fifo: false, survives }
}

/// Variants that are worth a run of their own, and what some survive. An algorithm that is not here
/// runs with its usual parameters: see [`all`].
const ROWS: &[Row] = &[
    row("central", &[]),
    row("central", &[("coordinator", "separate"), ("busy", "queued")]),
    row("central", &[("busy", "try")]),
    row("central", &[("order", "random")]),
    row("central", &[("order", "lifo")]),
    row("central", &[("order", "timestamp")]),
    tough("voting", &[], Survives::Coordinators(2)),
    tough("quorum", &[("abort_after", "200")], Survives::Coordinators(2)),
    tough("total-order", &[], Survives::Nothing),
    ordered("lamport", &[]),
    ordered("lamport", &[("reply_saving", "true")]),
    row("ricart-agrawala", &[]),
    row("roucairol-carvalho", &[]),
    row("roucairol-carvalho", &[("init", "none")]),
    ordered("maekawa", &[]),
    ordered("maekawa", &[("quorums", "grid")]),
    row("token-ring", &[]),
    row("token-ring", &[("idle", "park")]),
    ordered("token-ring", &[("loss_detection", "ping-pong")]),
    row("suzuki-kasami", &[]),
    row("raymond", &[]),
    row("raymond", &[("tree", "chain")]),
    row("naimi-trehel", &[]),
];

/// The table, and every lock that is not in it: messages overtake each other unless it assumes that
/// they do not, and nobody crashes.
fn all() -> impl Iterator<Item = Row> {
    let unlisted = |entry: &&Entry| !entry.is_led() && ROWS.iter().all(|row| row.id != entry.id);
    let usual = |entry: &'static Entry| Row { fifo: assumes_order(entry), ..row(entry.id, &[]) };
    ROWS.iter().copied().chain(rows(Family::Mutex).filter(unlisted).map(usual))
}

/// Whether messages overtake each other where one of its assumptions is dropped.
fn assumes_order(entry: &Entry) -> bool {
    entry.assumptions.iter().filter_map(|assumption| assumption.dropped.runs).any(|runs| {
        let mut bounds = Bounds::default();
        (runs.bounds)(&mut bounds);
        bounds.network == Network::Bag
    })
}

/// A run that the row's assumptions allow.
fn plan(row: &Row, seed: u64, n: u32, coordinators: u32) -> Plan {
    let mut random = Stream::new(seed, 9);
    let mut plan = Plan {
        seed,
        latency: Latency::Uniform(Ticks::units(1), Ticks::units(20)),
        fifo: row.fifo || random.below(2) == 0,
        workload: Workload::Closed(Ticks::units(random.below(16))),
        rounds: 6,
        critical_section: Ticks::units(random.below(9)),
        cancel: [0.0, 0.1, 0.5][random.below(3) as usize],
        ..Plan::default()
    };
    for _ in 0..random.below(3) {
        let node = NodeId(random.below(u64::from(n)) as u32);
        let span = Ticks::units(random.below(60));
        plan.faults.push((Ticks::units(random.below(200)), Fault::Pause { node, span }));
    }
    match row.survives {
        Survives::Nothing => {}
        Survives::Coordinators(count) => {
            for index in 0..random.below(u64::from(count) + 1) as u32 {
                // The first coordinator may be special; the last ones are as good as any.
                plan.faults.push(crash(n + coordinators - 1 - index, random.below(200)));
            }
        }
    }
    plan
}

/// Runs a row with a plan that was changed in some way.
fn assert_keeps(row: &Row, seed: u64, change: impl Fn(&mut Plan, &mut Stream, u32)) {
    let n = 5 + (seed % 3) as u32;
    let setting = setting(row.id, n, row.set);
    let coordinators = setting.entry.parameters.iter().any(|p| p.name == "coordinators");
    let coordinators = if coordinators { 5 } else { 0 };
    let mut plan = plan(row, seed, n, coordinators);
    change(&mut plan, &mut Stream::new(seed, 10), n);
    let outcome = simulate(&setting, &plan);
    assert_kept(&setting, &plan, &outcome);
}

#[test]
fn random_runs_within_the_assumptions_break_no_promise() {
    for row in all() {
        for seed in 0..seeds() {
            assert_keeps(&row, seed, |_, _, _| {});
        }
    }
}

/// Who comes back in the same moment, with its disk, has lost what it wanted and no message.
#[test]
fn random_runs_in_which_clients_come_back_with_their_disks_break_no_promise() {
    for row in all() {
        for seed in 0..seeds() / 2 {
            assert_keeps(&row, seed, |plan, random, n| {
                // What waits for a paused node is lost if it crashes: no row survives that.
                plan.faults.retain(|(_, fault)| !matches!(fault, Fault::Pause { .. }));
                for _ in 0..=random.below(2) {
                    let node = random.below(u64::from(n)) as u32;
                    plan.faults.push(restart(node, random.below(200), false));
                }
            });
        }
    }
}

/// Those whose messages carry no number: a copy may be taken for news.
const TAKE_NO_COPIES: &[(&str, &[(&str, &str)])] = &[
    ("suzuki-kasami", &[]),
    ("raymond", &[]),
    ("raymond", &[("tree", "chain")]),
    ("naimi-trehel", &[]),
    ("token-ring", &[("loss_detection", "ping-pong")]),
];

#[test]
fn random_runs_with_copied_messages_break_no_promise_of_who_takes_them() {
    for row in all().filter(|row| !TAKE_NO_COPIES.contains(&(row.id, row.set))) {
        for seed in 0..seeds() / 2 {
            assert_keeps(&row, seed, |plan, _, _| (plan.duplicate, plan.fifo) = (0.1, true));
        }
    }
}

/// Everybody asks now and then, withdraws half of the time, and rests in between.
fn restful(random: &mut Stream, n: u32) -> Workload {
    let mut lines = Vec::new();
    for node in (0..n).map(NodeId) {
        let mut at = random.below(40);
        for _ in 0..4 {
            lines.push(ScriptLine { at: Ticks::units(at), node, act: Act::Acquire });
            if random.below(2) == 0 {
                let gives_up = Ticks::units(at + random.below(30));
                lines.push(ScriptLine { at: gives_up, node, act: Act::Cancel });
            }
            at += 40 + random.below(60);
        }
    }
    lines.sort_by_key(|line| line.at);
    Workload::Script(lines)
}

/// Answers come to a node that has withdrawn and wants nothing.
#[test]
fn what_comes_late_to_a_node_that_has_withdrawn_does_no_harm() {
    for row in all() {
        for seed in 0..seeds() / 2 {
            assert_keeps(&row, seed, |plan, random, n| plan.workload = restful(random, n));
        }
    }
}

/// Where coordinators ask too, their requests are sent and passed on by messages of several kinds:
/// nobody is taken for registered before its own have arrived.
#[test]
fn coordinators_that_ask_too_are_bypassed_no_more_than_promised() {
    let set = [("coordinator", "colocated"), ("coordinators", "3")];
    let setting = setting("total-order", 4, &set);
    for seed in 1..=seeds() {
        let plan = Plan {
            seed,
            rounds: 6,
            workload: Workload::Closed(Ticks::ZERO),
            critical_section: Ticks(500),
            latency: Latency::Exponential(Ticks::units(3)),
            ..Plan::default()
        };
        assert_kept(&setting, &plan, &simulate(&setting, &plan));
    }
}

#[test]
fn every_algorithm_has_a_row() {
    for entry in rows(Family::Mutex) {
        let listed = all().any(|row| row.id == entry.id);
        // Those that stand on an election have runs of their own, in `stacks.rs`.
        assert_eq!(listed, !entry.is_led(), "{}", entry.id);
    }
}

/// The table says more than is assumed of messages only where a parameter asks for it.
#[test]
fn links_keep_the_order_where_that_is_assumed() {
    for row in ROWS.iter().filter(|row| row.set.is_empty() && row.id != "token-ring") {
        let entry = setting(row.id, 5, row.set).entry;
        assert_eq!(row.fifo, assumes_order(entry), "{}", row.id);
    }
}
