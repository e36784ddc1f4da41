//! Numbers worked out by hand or by independent models, for the standard setting.

use super::support::{all_at_once, assert_none_forgotten, order, rows, setting, simulate, single};
use conclave_algorithms::catalog::Family;
use conclave_core::Ticks;
use conclave_sim::Plan;

/// Parameters and their values.
type Set = &'static [(&'static str, &'static str)];

/// How many messages seven nodes send that all ask at once.
const TOTALS: &[(&str, Set, u64)] = &[
    ("central", &[], 18),
    ("central", &[("coordinator", "separate")], 21),
    ("central", &[("busy", "queued")], 24),
    ("central", &[("busy", "queued"), ("coordinator", "separate")], 27),
    ("total-order", &[], 105),
    ("lamport", &[], 126),
    ("lamport", &[("reply_saving", "true")], 105),
    ("ricart-agrawala", &[], 84),
    ("roucairol-carvalho", &[], 42),
    ("roucairol-carvalho", &[("init", "none")], 84),
    ("maekawa", &[], 50),
    ("token-ring", &[], 7),
    ("suzuki-kasami", &[], 42),
    ("raymond", &[("tree", "star")], 22),
    ("raymond", &[("tree", "chain")], 12),
    ("raymond", &[], 20),
    ("naimi-trehel", &[], 17),
];

/// Locks of which no total can be worked out by hand, and why.
const NO_TOTAL: &[(&str, &str)] = &[
    ("central-failover", "its layers send signs of life all the time"),
    ("token-ring-regenerating", "its layers send signs of life all the time"),
    ("voting", "its pauses are random"),
    ("quorum", "on a split vote nobody enters"),
];

#[test]
fn every_lock_has_a_total_that_was_worked_out_by_hand_or_says_why_not() {
    let has = |id: &str| TOTALS.iter().any(|(known, ..)| *known == id);
    assert_none_forgotten(rows(Family::Mutex), "TOTALS of conformance/oracles.rs", has, NO_TOTAL);
}

#[test]
fn seven_nodes_that_all_ask_at_once_send_as_many_messages_as_the_textbooks_say() {
    for (id, set, messages) in TOTALS {
        let outcome = all_at_once(id, 7, set);
        assert_eq!(outcome.messages, *messages, "{id} {set:?}: {:?}", outcome.messages_by_kind);
        assert_eq!((outcome.mutex().requests, outcome.mutex().entries), (7, 7), "{id} {set:?}");
        assert!(outcome.violations.is_empty(), "{id} {set:?}: {:?}", outcome.violations);
    }
}

#[test]
fn they_enter_in_the_order_that_the_rules_give() {
    let table: &[(&str, Set, [u32; 7])] = &[
        ("central", &[], [0, 1, 2, 3, 4, 5, 6]),
        ("total-order", &[], [0, 1, 2, 3, 4, 5, 6]),
        ("lamport", &[], [0, 1, 2, 3, 4, 5, 6]),
        ("ricart-agrawala", &[], [0, 1, 2, 3, 4, 5, 6]),
        ("roucairol-carvalho", &[], [0, 1, 2, 3, 4, 5, 6]),
        ("maekawa", &[], [1, 0, 2, 3, 4, 5, 6]),
        ("token-ring", &[], [0, 1, 2, 3, 4, 5, 6]),
        ("suzuki-kasami", &[], [0, 1, 2, 3, 4, 5, 6]),
        ("raymond", &[("tree", "star")], [0, 1, 2, 3, 4, 5, 6]),
        ("raymond", &[("tree", "chain")], [0, 1, 2, 3, 4, 5, 6]),
        ("raymond", &[], [0, 1, 3, 4, 2, 5, 6]),
        ("naimi-trehel", &[], [0, 1, 2, 3, 4, 5, 6]),
    ];
    let has = |id: &str| table.iter().any(|(known, ..)| *known == id);
    assert_none_forgotten(rows(Family::Mutex), "this table of orders", has, NO_TOTAL);
    for (id, set, expected) in table {
        assert_eq!(order(&all_at_once(id, 7, set)), expected, "{id} {set:?}");
    }
}

#[test]
fn messages_by_kind_are_as_the_papers_count_them() {
    let table: &[(&str, &[(&str, u64)])] = &[
        ("central", &[("REQUEST", 6), ("GRANT", 6), ("RELEASE", 6)]),
        ("lamport", &[("REQUEST", 42), ("REPLY", 42), ("RELEASE", 42)]),
        ("ricart-agrawala", &[("REQUEST", 42), ("OK", 42)]),
        ("roucairol-carvalho", &[("REQUEST", 21), ("OK", 21)]),
        ("maekawa", &[("REQUEST", 14), ("FAILED", 8), ("GRANT", 14), ("RELEASE", 14)]),
        ("suzuki-kasami", &[("REQUEST", 36), ("TOKEN", 6)]),
        ("raymond", &[("REQUEST", 10), ("PRIVILEGE", 10)]),
        ("naimi-trehel", &[("REQUEST", 11), ("TOKEN", 6)]),
        ("token-ring", &[("TOKEN", 7)]),
    ];
    for (id, kinds) in table {
        let outcome = all_at_once(id, 7, &[]);
        for &(kind, count) in *kinds {
            let counted = outcome.messages_by_kind.iter().find(|(known, _)| *known == kind);
            assert_eq!(counted, Some(&(kind, count)), "{id}: {:?}", outcome.messages_by_kind);
        }
    }
}

/// The last entry of each, in units: first entry plus six hand-overs.
/// One multicast and N-1 replies, and as much again where the exit is told to all.
#[test]
fn where_a_multicast_counts_as_one_each_reply_still_counts() {
    let plan = Plan { multicast: true, ..Plan::default() };
    for (id, expected) in [("ricart-agrawala", 7 * (1 + 6)), ("lamport", 7 * (1 + 6 + 1))] {
        assert_eq!(simulate(&setting(id, 7, &[]), &plan).messages, expected, "{id}");
    }
}

#[test]
fn the_last_of_seven_enters_when_the_delays_add_up() {
    let table: &[(&str, u64)] = &[
        ("central", 71),
        ("total-order", 81),
        ("lamport", 67),
        ("ricart-agrawala", 68),
        ("token-ring", 66),
    ];
    for (id, last) in table {
        let outcome = all_at_once(id, 7, &[]);
        let longest = outcome.mutex().wait.summary().expect("seven entered").max;
        assert_eq!(longest, Ticks::units(*last).as_units(), "{id}");
    }
}

#[test]
fn maekawa_on_planes_and_grids() {
    for (n, messages) in [(3, 10), (7, 50), (13, 144), (21, 318), (31, 590)] {
        assert_eq!(all_at_once("maekawa", n, &[]).messages, messages, "plane of {n}");
    }
    for (n, messages) in [(2, 7), (4, 29), (9, 136), (16, 369)] {
        let outcome = all_at_once("maekawa", n, &[("quorums", "grid")]);
        assert_eq!(outcome.messages, messages, "grid of {n}");
    }
    for (n, set, messages) in [
        (3, "plane", 3),
        (7, "plane", 6),
        (13, "plane", 9),
        (21, "plane", 12),
        (31, "plane", 15),
        (9, "grid", 12),
        (16, "grid", 18),
    ] {
        let alone = single("maekawa", n, &[("quorums", set)], n / 2);
        assert_eq!(alone.messages, messages, "{set} of {n}");
    }
}

#[test]
fn one_client_alone() {
    let table: &[(&str, Set, u32, u64, f64)] = &[
        ("central", &[], 0, 0, 0.0),
        ("central", &[], 3, 3, 2.0),
        ("voting", &[], 3, 15, 2.0),
        ("quorum", &[("coordinators", "7"), ("votes", "4")], 3, 21, 2.0),
        ("roucairol-carvalho", &[], 0, 0, 0.0),
        ("roucairol-carvalho", &[], 6, 12, 2.0),
        ("suzuki-kasami", &[], 0, 0, 0.0),
        ("suzuki-kasami", &[], 6, 7, 2.0),
        ("raymond", &[("tree", "chain")], 5, 10, 10.0),
        ("raymond", &[], 3, 4, 4.0),
        ("naimi-trehel", &[], 0, 0, 0.0),
        ("naimi-trehel", &[], 4, 2, 2.0),
        ("ricart-agrawala", &[], 2, 12, 2.0),
        ("lamport", &[], 2, 18, 2.0),
    ];
    for (id, set, node, messages, delay) in table {
        let outcome = single(id, 7, set, *node);
        assert_eq!(outcome.messages, *messages, "{id} {set:?} node {node}");
        let measured = outcome.mutex().client_delay.summary().expect("it entered alone").mean;
        assert_eq!(measured, *delay, "{id} {set:?} node {node}");
    }
}

#[test]
fn other_sizes_worked_out_by_hand() {
    assert_eq!(all_at_once("central", 2, &[]).messages, 3);
    assert_eq!(all_at_once("lamport", 2, &[]).messages, 6);
    assert_eq!(all_at_once("lamport", 2, &[("reply_saving", "true")]).messages, 5);
    assert_eq!(all_at_once("raymond", 15, &[]).messages, 50);
    assert_eq!(all_at_once("naimi-trehel", 3, &[]).messages, 5);
}

#[test]
fn the_serially_counted_delay_is_the_one_some_textbooks_print() {
    let serial = |id, n| {
        let outcome = single(id, n, &[], 1);
        outcome.mutex().client_delay_serial.summary().expect("it entered alone").mean
    };
    assert_eq!(serial("ricart-agrawala", 7), 12.0); // 2(N-1)
    assert_eq!(serial("voting", 7), 10.0); // 2mk with m = 5, k = 1
    assert_eq!(serial("central", 7), 2.0);
}
