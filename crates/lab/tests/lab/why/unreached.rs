//! Reasons that no run of this test gives, each with why not; and settings in which more are given.

use conclave_algorithms::catalog::{Entry, Family, Setting};

/// The algorithm (`*` for all), the code, and why it is not seen.
const UNREACHED: &[(&str, &str, &str)] = &[
    ("*", "stranger", "no run has messages of nodes that are not part of it"),
    ("*", "misdirected", "nobody writes to one that does not coordinate"),
    ("*", "no-hand-over", "no workload has a node resign"),
    ("majority", "does-not-lead", "no workload has a node resign"),
    ("majority", "nobody-to-follow", "no workload has a node resign"),
    ("majority", "hands-over", "no workload has a node resign"),
    ("majority", "told-to-stand", "no workload has a node resign"),
    ("*", "unknown-leader", "no run has messages of nodes that are not part of it"),
    ("ring", "not-of-this-ring", "no run has messages of nodes that are not part of it"),
    ("*", "absurd", "no clock here is so wrong"),
    ("*", "too-far-ahead", "no clock here is so wrong"),
];

/// Why a reason is not seen in any run, if it is not.
pub fn excuse(id: &str, code: &str) -> Option<&'static str> {
    let found = UNREACHED.iter().find(|(of, known, _)| (*of == id || *of == "*") && *known == code);
    found.map(|(_, _, why)| *why)
}

/// Settings of an algorithm with several parameters set.
pub fn settings(entry: &'static Entry) -> Vec<Setting> {
    let sets: &[&[(&str, &str)]] = match entry.id {
        "central-failover" | "token-ring-regenerating" => &[
            &[("mode", "fence"), ("detector", "perfect"), ("election", "bully")],
            &[("mode", "strict"), ("detector", "perfect"), ("election", "ring")],
        ],
        "lamport-clock" => &[
            &[("task", "213")],
            &[("rates", "6,8,10")],
            &[("rates", "6,8,10"), ("correct", "false")],
            &[("rates", "6,8,10"), ("text", "seed")],
        ],
        "vector-clock" | "matrix-clock" | "hybrid-clock" => {
            &[&[("task", "213")], &[("rates", "6,8,10")]]
        }
        _ => &[],
    };
    let n = if entry.family == Family::Clock { 3 } else { 5 };
    sets.iter().filter_map(|set| entry.setting(n, set).ok()).collect()
}
