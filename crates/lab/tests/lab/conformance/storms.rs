//! Elections in storms: crashes, returns, a cut that heals and wrong suspicions that are withdrawn,
//! all by chance. When it is over, everybody follows the node that should lead.
//!
//! `CONCLAVE_SEEDS` says how many seeds each algorithm gets, as it does for the other random runs.

use super::support::{
    assert_kept, assert_none_forgotten, crash, restart, rows, seeds, setting, simulate,
};
use conclave_algorithms::catalog::Family;
use conclave_core::{NodeId, Ticks};
use conclave_sim::{Act, Fault, Latency, Plan, ScriptLine, Stream, Workload};

/// What becomes of a node that crashed.
#[derive(Clone, Copy, PartialEq)]
enum Returns {
    Never,
    /// Three of four do, with the disk.
    Some,
    /// Three of four do, one of four of them without the disk.
    SomeForgetful,
    /// All do, with the disk.
    All,
}

struct Row {
    id: &'static str,
    set: &'static [(&'static str, &'static str)],
    returns: Returns,
    /// For how many ticks at least the network is cut, if it is. Nobody is told of what is over
    /// within two units, and some must know that what they sent was lost.
    cut: Option<u64>,
    /// For how many ticks at least a node is away that returns.
    away: u64,
    /// Whether links must keep the order.
    fifo: bool,
    /// The longest that a message takes.
    slowest: Ticks,
    /// Whether everybody calls for an election when the storm is over.
    called: bool,
}

const ROW: Row = Row {
    id: "",
    set: &[],
    returns: Returns::All,
    cut: Some(1),
    away: 1,
    fifo: false,
    slowest: Ticks::UNIT,
    called: false,
};

/// A leader that answers although it is suspected is believed; when it dies after that, nobody is
/// told anything new, and somebody must miss it.
const BULLY: Row = Row { id: "bully", called: true, ..ROW };

const MAJORITY: Row = Row { id: "majority", slowest: Ticks(1_500), ..ROW };

const ROWS: [Row; 7] = [
    // Without terms, announcements that cross split the beliefs: nobody may return, nothing heal.
    Row { returns: Returns::Never, cut: None, ..BULLY },
    Row { set: &[("terms", "true")], returns: Returns::Some, ..BULLY },
    Row { set: &[("terms", "true"), ("majority", "true")], ..BULLY },
    Row { id: "ring", returns: Returns::SomeForgetful, cut: Some(5_000), ..ROW },
    MAJORITY,
    Row { set: &[("prevote", "on")], ..MAJORITY },
    Row {
        id: "wireless",
        set: &[("topology", "complete")],
        // Who is left alone and forgot that there ever was an election holds none.
        returns: Returns::Some,
        cut: Some(5_000),
        away: 5_000,
        fifo: true,
        slowest: Ticks(3_000),
        ..ROW
    },
];

/// Elections that are not for storms, and why. They have runs of their own, without any.
const CALM: &[(&str, &str)] = &[
    ("chang-roberts", "it assumes that no node crashes"),
    ("hirschberg-sinclair", "it assumes that no node crashes"),
    ("peterson", "it assumes that no node crashes"),
    ("yo-yo", "it assumes that no node crashes"),
    ("flood-max", "it assumes that no node crashes"),
    ("echo", "it assumes that no node crashes"),
];

/// The election begins at 0; the storm begins when it is over.
fn storm(row: &Row, seed: u64, n: u32) -> Plan {
    let mut random = Stream::new(seed, 9);
    let mut plan = Plan {
        seed,
        latency: Latency::Uniform(Ticks(1), row.slowest),
        fifo: row.fifo || random.below(2) == 0,
        start: vec![NodeId(random.below(n.into()) as u32)],
        ..Plan::default()
    };
    let mut crashed = Vec::new();
    for _ in 0..random.below(5) {
        let (node, at) = (random.below(n.into()) as u32, 20 + random.below(40));
        if !crashed.contains(&node) {
            crashed.push(node);
            plan.faults.push(crash(node, at));
            plan.faults.extend(return_of(node, at, row, &mut random));
        }
    }
    if row.called {
        let line = |node| ScriptLine { at: Ticks::units(200), node, act: Act::Campaign };
        plan.workload = Workload::Script((0..n).map(NodeId).map(line).collect());
    }
    plan.faults.extend(row.cut.map(|least| cut(&mut random, n, least)));
    for _ in 0..random.below(3) {
        plan.faults.extend(wrong_suspicion(&mut random, n));
    }
    plan
}

fn return_of(node: u32, at: u64, row: &Row, random: &mut Stream) -> Option<(Ticks, Fault)> {
    let back = match row.returns {
        Returns::Never => false,
        Returns::Some | Returns::SomeForgetful => random.below(4) > 0,
        Returns::All => true,
    };
    let amnesia = row.returns == Returns::SomeForgetful && random.below(4) == 0;
    let (_, fault) = restart(node, 0, amnesia);
    back.then(|| (Ticks::units(at) + Ticks(row.away + random.below(20_000)), fault))
}

fn cut(random: &mut Stream, n: u32, least: u64) -> (Ticks, Fault) {
    let (one, other) = (0..n).map(NodeId).partition(|_| random.below(2) == 1);
    let at = Ticks(20_000 + random.below(30_000));
    let until = at + Ticks(least + random.below(30_000));
    (at, Fault::Partition { groups: vec![one, other], until })
}

fn wrong_suspicion(random: &mut Stream, n: u32) -> Option<(Ticks, Fault)> {
    let (by, of) = (NodeId(random.below(n.into()) as u32), NodeId(random.below(n.into()) as u32));
    let at = Ticks(20_000 + random.below(70_000));
    let span = Some(Ticks(1 + random.below(20_000)));
    (by != of).then_some((at, Fault::Suspect { by, of, span }))
}

/// How many nodes crash and do not return.
fn lost(plan: &Plan) -> u32 {
    let count = |fault: fn(&Fault) -> bool| plan.faults.iter().filter(|(_, it)| fault(it)).count();
    let crashes = count(|fault| matches!(fault, Fault::Crash(_)));
    (crashes - count(|fault| matches!(fault, Fault::Restart { .. }))) as u32
}

#[test]
fn after_a_storm_all_follow_the_one_that_should_lead() {
    for row in &ROWS {
        for seed in 0..seeds() {
            let n = 2 + (seed % 6) as u32;
            let setting = setting(row.id, n, row.set);
            let plan = storm(row, seed, n);
            let outcome = simulate(&setting, &plan);
            assert_kept(&setting, &plan, &outcome);
            let agreed = outcome.election().agreed || lost(&plan) == n;
            assert!(agreed, "{} seed {seed}: {:?}", row.id, outcome.election().beliefs);
        }
    }
}

#[test]
fn every_election_is_in_a_storm_or_says_why_not() {
    let has = |id: &str| ROWS.iter().any(|row| row.id == id);
    assert_none_forgotten(rows(Family::Election), "ROWS of conformance/storms.rs", has, CALM);
}
